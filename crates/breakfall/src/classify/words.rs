//! The last resort: how much each word speaks for each kind. Asked when no rule knows a phrase of
//! the text, or only one of the vaguest; learned from the corpus (`cargo xtask corpus learn`).

use std::ops::Range;
use std::sync::LazyLock;

use super::keys::{ByKey, key, pair};
use super::quotes::Quotes;
use crate::{Disposition, FailureKind};

const KINDS: usize = FailureKind::ALL.len();

/// How much of a text is read at each end.
const READ: usize = 800;

/// How many words of a text must be known; the name of its type does not count.
const KNOWN: usize = 4;

/// How many, where they speak for a kind as clearly as this.
const KNOWN_AT_LEAST: usize = 2;
const CLEARLY: f32 = 0.45;

/// How likely a kind must be, and one that stops a run.
const LIKELY: f32 = 0.12;
const LIKELY_FATAL: f32 = 0.3;

struct Table {
    /// Where the weights of a word or of a pair of words stand.
    words: ByKey<Range<usize>>,
    weights: Vec<(usize, f32)>,
    /// How likely each kind is before a word is read.
    before: [f32; KINDS],
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table { words: ByKey::default(), weights: Vec::new(), before: [0.0; KINDS] };
    let lines = include_str!("words.tsv").lines().filter(|line| !line.starts_with('#'));
    for line in lines {
        let Some((word, weights)) = line.split_once('\t') else { continue };
        let start = table.weights.len();
        table.weights.extend(weights.split(' ').filter_map(|pair| {
            let (kind, weight) = pair.split_once(':')?;
            let index = FailureKind::ALL.iter().position(|known| known.name() == kind)?;
            Some((index, weight.parse().ok()?))
        }));
        if word == "(any)" {
            table.weights.drain(start..).for_each(|(kind, weight)| table.before[kind] = weight);
            continue;
        }
        let key = match word.split_once(' ') {
            Some((one, other)) => pair(key("", one), key("", other)),
            None => key("", word),
        };
        table.words.insert(key, start..table.weights.len());
    }
    table
});

/// What the words of an error speak for.
pub(super) struct Guess {
    pub(super) kind: FailureKind,
    /// How likely that is.
    pub(super) likely: f32,
    /// The words that speak loudest.
    pub(super) words: String,
}

/// The kind that the words of an error speak for, if they speak for any.
pub(super) fn guess(text: &str, type_name: Option<&str>) -> Option<Guess> {
    let table = &*TABLE;
    let words = Words::of(text, type_name);
    let mut known: Vec<(u64, Feature)> = words.features().collect();
    known.retain(|(key, _)| table.words.contains_key(key));
    known.sort_by_key(|(key, _)| *key);
    known.dedup_by_key(|(key, _)| *key);
    let named = words.named.first().map_or(usize::MAX, |first| first.start);
    let told = known.iter().filter(|(_, (_, word))| word.start < named).count();
    if told < KNOWN_AT_LEAST {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "hundreds of words")]
    let share = (known.len() as f32).sqrt().recip();
    let weights = |key: &u64| &table.weights[table.words[key].clone()];
    let mut scores = table.before;
    for (kind, weight) in known.iter().flat_map(|(key, _)| weights(key)) {
        scores[*kind] += weight * share;
    }
    let most = scores.iter().copied().fold(f32::MIN, f32::max);
    let all: f32 = scores.iter().map(|score| (score - most).exp()).sum();
    let best = (0..KINDS).max_by(|one, other| scores[*one].total_cmp(&scores[*other]))?;
    let (kind, likely) = (FailureKind::ALL[best], all.recip());
    let fatal = kind.disposition() == Disposition::Fatal;
    let enough = match (told < KNOWN, fatal) {
        (true, _) => CLEARLY,
        (false, true) => LIKELY_FATAL,
        (false, false) => LIKELY,
    };
    if likely < enough {
        return None;
    }
    let speaks = |key: &u64| {
        weights(key).iter().find(|(of, _)| *of == best).map_or(0.0, |(_, weight)| *weight)
    };
    known.sort_by(|one, other| speaks(&other.0).total_cmp(&speaks(&one.0)));
    let mut loudest: Vec<String> = Vec::with_capacity(3);
    for (_, feature) in &known {
        let word = words.spell(feature);
        if loudest.len() < 3 && !loudest.contains(&word) {
            loudest.push(word);
        }
    }
    Some(Guess { kind, likely, words: loudest.join(", ") })
}

/// The words of an error in lower case, without quotations, paths and numbers.
pub(super) struct Words {
    all: String,
    said: Vec<Range<usize>>,
    /// The words of the type's name.
    named: Vec<Range<usize>>,
}

/// A word, or two that follow each other.
type Feature = (Option<usize>, Range<usize>);

impl Words {
    pub(super) fn of(text: &str, type_name: Option<&str>) -> Self {
        let mut words =
            Self { all: String::with_capacity(text.len()), said: Vec::new(), named: Vec::new() };
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
                split(token, &mut words.all, &mut words.said);
            }
        }
        if let Some(name) = type_name {
            split(name, &mut words.all, &mut words.named);
        }
        words
    }

    /// Every word and every pair of neighbours; the words of the type's name also as such.
    fn features(&self) -> impl Iterator<Item = (u64, Feature)> {
        let key_of = |word: &Range<usize>| key("", &self.all[word.clone()]);
        let mut before: Option<(usize, u64)> = None;
        let said = self.said.iter().flat_map(move |word| {
            let own = key_of(word);
            let last = before.replace((word.start, own));
            let two = last.map(|(start, last)| (pair(last, own), (Some(start), word.clone())));
            [Some((own, (None, word.clone()))), two]
        });
        let of_type = key("", "type");
        let named = self.named.iter().flat_map(move |word| {
            let own = key_of(word);
            let name = (None, word.clone());
            [Some((own, name.clone())), Some((pair(of_type, own), name))]
        });
        said.chain(named).flatten()
    }

    fn spell(&self, (first, word): &Feature) -> String {
        let start = first.unwrap_or(word.start);
        self.all[start..word.end].trim_end().to_owned()
    }

    /// The same spelled out, as the table has them.
    pub(super) fn spelled(&self) -> Vec<String> {
        let mut all: Vec<String> =
            self.features().map(|(_, feature)| self.spell(&feature)).collect();
        all.extend(self.named.iter().map(|word| format!("type {}", &self.all[word.clone()])));
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// `connectTimeoutMS` as `connect`, `timeout`, `ms`.
fn split(token: &str, all: &mut String, words: &mut Vec<Range<usize>>) {
    let mut start = all.len();
    let mut before = ' ';
    let mut close = |all: &mut String, start: &mut usize| {
        if all.len() > *start {
            words.push(*start..all.len());
            all.push(' ');
        }
        *start = all.len();
    };
    for c in token.chars() {
        let letter = c.is_ascii_alphabetic()
            || c == '\'' && before.is_ascii_alphabetic()
            || !c.is_ascii() && c.is_alphabetic();
        let turns = c.is_ascii_uppercase()
            && (before.is_ascii_lowercase() || before.is_ascii_digit())
            || c.is_ascii() != before.is_ascii();
        if !letter || turns {
            close(all, &mut start);
        }
        if letter {
            all.push(c.to_ascii_lowercase());
        }
        before = c;
    }
    close(all, &mut start);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_taken_without_names_and_numbers() {
        let found = Words::of(
            "Can't open 'secret name' in /a/b.c at connectTimeoutMS=30: 错误",
            Some("FooError"),
        )
        .spelled();
        for word in
            ["can't", "open", "connect", "timeout", "ms", "错误", "type foo", "open in", "error"]
        {
            assert!(found.iter().any(|known| known == word), "{word}: {found:?}");
        }
        assert!(!found.iter().any(|known| known.contains("secret") || known == "b"), "{found:?}");
    }
}
