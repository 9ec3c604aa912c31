//! The last resort: how often each word was seen in errors of each kind. Asked only when no rule
//! knows a phrase of the text; the counts are learned from the corpus (`cargo xtask corpus learn`).

use std::collections::HashMap;
use std::sync::LazyLock;

use super::quotes::Quotes;
use crate::{Disposition, FailureKind};

const KINDS: usize = FailureKind::ALL.len();

/// How sure a word must be before it counts: kinds are smoothed with this many errors.
const SMOOTHING: f32 = 4.0;

/// How many words of a text count, the most telling ones.
const TELLING: usize = 30;

/// How much of a text is read at each end.
const READ: usize = 800;

struct Table {
    /// How many errors of each kind were learned.
    errors: [f32; KINDS],
    words: HashMap<&'static str, [f32; KINDS]>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table { errors: [0.0; KINDS], words: HashMap::new() };
    let lines = include_str!("words.tsv").lines().filter(|line| !line.starts_with('#'));
    for line in lines {
        let Some((word, counts)) = line.split_once('\t') else { continue };
        let mut of_kind = [0.0; KINDS];
        for pair in counts.split(' ') {
            let Some((kind, count)) = pair.split_once(':') else { continue };
            let index = FailureKind::ALL.iter().position(|known| known.name() == kind);
            if let (Some(index), Ok(count)) = (index, count.parse()) {
                of_kind[index] = count;
            }
        }
        if word == "(errors)" {
            table.errors = of_kind;
        } else {
            table.words.insert(word, of_kind);
        }
    }
    table
});

/// The kind that the words of an error speak for, and those that speak loudest.
pub(super) fn kind(text: &str, type_name: Option<&str>) -> Option<(FailureKind, String)> {
    let table = &*TABLE;
    let all: f32 = table.errors.iter().sum();
    let mut telling: Vec<(f32, String, [f32; KINDS])> = Vec::new();
    for word in features(text, type_name) {
        let Some(counts) = table.words.get(word.as_str()) else { continue };
        let share = counts.iter().sum::<f32>() / all;
        let weights: [f32; KINDS] = std::array::from_fn(|kind| {
            let here = (counts[kind] + SMOOTHING * share) / (table.errors[kind] + SMOOTHING);
            (here / share).ln()
        });
        let loudest = weights.iter().fold(0.0, |most: f32, weight| most.max(weight.abs()));
        telling.push((loudest, word, weights));
    }
    telling.sort_by(|one, other| other.0.total_cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    telling.dedup_by(|one, other| one.1 == other.1);
    telling.truncate(TELLING);
    let score = |kind: usize| {
        let prior =
            if table.errors[kind] > 0.0 { 0.5 * (table.errors[kind] / all).ln() } else { f32::MIN };
        prior + telling.iter().map(|(_, _, weights)| weights[kind]).sum::<f32>()
    };
    let best = (0..KINDS).max_by(|one, other| score(*one).total_cmp(&score(*other)))?;
    let second = (0..KINDS).filter(|kind| *kind != best).map(score).fold(f32::MIN, f32::max);
    // A few words of the text itself must speak for it, and not for another as well; a guess that
    // stops a run must be a better one.
    let spoken =
        features(text, None).iter().filter(|word| table.words.contains_key(word.as_str())).count();
    let fatal = FailureKind::ALL[best].disposition() == Disposition::Fatal;
    if spoken < 4 || score(best) - second < if fatal { 3.0 } else { 0.5 } {
        return None;
    }
    telling.sort_by(|one, other| other.2[best].total_cmp(&one.2[best]));
    let words: Vec<&str> = telling.iter().take(3).map(|(_, word, _)| word.as_str()).collect();
    Some((FailureKind::ALL[best], words.join(", ")))
}

/// The words of an error and the pairs of neighbours, without quotations, paths and numbers.
pub fn features(text: &str, type_name: Option<&str>) -> Vec<String> {
    let mut words = Vec::new();
    let (head, tail) = if text.len() > 2 * READ {
        let (head, tail) =
            (text.floor_char_boundary(READ), text.ceil_char_boundary(text.len() - READ));
        (&text[..head], &text[tail..])
    } else {
        (text, "")
    };
    for part in [head, tail] {
        let mut plain = String::with_capacity(part.len());
        let mut at = 0;
        for quote in &Quotes::of(part).0 {
            plain.push_str(&part[at..quote.start]);
            at = quote.end;
        }
        plain.push_str(&part[at..]);
        let said = if plain.trim().len() > 20 { plain.as_str() } else { part };
        for token in said.split_whitespace().filter(|token| !token.contains(['/', '\\'])) {
            split(token, &mut words);
        }
    }
    let mut features: Vec<String> =
        words.windows(2).map(|pair| format!("{} {}", pair[0], pair[1])).collect();
    features.append(&mut words);
    if let Some(name) = type_name {
        let mut parts = Vec::new();
        split(name, &mut parts);
        features.extend(parts.iter().map(|part| format!("type {part}")));
        features.extend(parts);
    }
    features.sort_unstable();
    features.dedup();
    features
}

/// `connectTimeoutMS` as `connect`, `timeout`, `ms`.
fn split(token: &str, words: &mut Vec<String>) {
    let mut word = String::new();
    let mut before = ' ';
    for c in token.chars() {
        let letter =
            c.is_ascii_alphabetic() || c == '\'' && before.is_ascii_alphabetic() || !c.is_ascii();
        let turns = c.is_ascii_uppercase()
            && (before.is_ascii_lowercase() || before.is_ascii_digit())
            || c.is_ascii() != before.is_ascii();
        if (!letter || turns) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if letter {
            word.push(c.to_ascii_lowercase());
        }
        before = c;
    }
    if !word.is_empty() {
        words.push(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_taken_without_names_and_numbers() {
        let found = features(
            "Can't open 'secret name' in /a/b.c at connectTimeoutMS=30: 错误",
            Some("FooError"),
        );
        for word in
            ["can't", "open", "connect", "timeout", "ms", "错误", "type foo", "open in", "error"]
        {
            assert!(found.iter().any(|known| known == word), "{word}: {found:?}");
        }
        assert!(!found.iter().any(|known| known.contains("secret") || known == "b"), "{found:?}");
    }
}
