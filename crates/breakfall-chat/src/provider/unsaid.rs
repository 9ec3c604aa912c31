//! A model that says the key of its own provider: nobody hears it, however it is cut in pieces.

use breakfall::{Call, RawArguments};

use crate::model::{Answer, Delta};

/// What stands in its place.
const INSTEAD: &str = "[redacted:api-key]";

/// Shorter keys are words that stand for none, and would tear every text apart.
const SHORTEST: usize = 8;

/// Passes pieces on, without the key. What may be the beginning of it waits for the next piece.
pub(super) struct Unsaid<'h> {
    key: Option<&'h str>,
    held: Option<Delta>,
    hear: &'h mut (dyn FnMut(Delta) + Send),
}

impl<'h> Unsaid<'h> {
    pub(super) fn new(key: Option<&'h str>, hear: &'h mut (dyn FnMut(Delta) + Send)) -> Self {
        let key = key.filter(|key| key.len() >= SHORTEST);
        Self { key, held: None, hear }
    }

    pub(super) fn tell(&mut self, delta: Delta) {
        let Some(key) = self.key else { return (self.hear)(delta) };
        let mut delta = match self.held.take() {
            Some(before) if goes_on(&before, &delta) => joined(before, delta),
            Some(before) => {
                (self.hear)(before);
                delta
            }
            None => delta,
        };
        let words = words(&mut delta);
        *words = words.replace(key, INSTEAD);
        let rest = words.split_off(may_begin(words, key));
        let is_empty = words.is_empty();
        if !rest.is_empty() {
            let mut held = delta.clone();
            *self::words(&mut held) = rest;
            self.held = Some(held);
        }
        if !is_empty || (self.held.is_none() && matches!(delta, Delta::Call { .. })) {
            (self.hear)(delta);
        }
    }

    /// The end: what waited was no key.
    pub(super) fn ends(&mut self) {
        if let Some(held) = self.held.take() {
            (self.hear)(held);
        }
    }

    /// The answer without the key.
    pub(super) fn answer(&self, mut answer: Answer) -> Answer {
        let Some(key) = self.key else { return answer };
        for text in [&mut answer.text, &mut answer.reasoning] {
            if text.contains(key) {
                *text = text.replace(key, INSTEAD);
            }
        }
        for Call { arguments, .. } in &mut answer.calls {
            match arguments {
                RawArguments::Text(text) | RawArguments::CutOff(text) => {
                    *text = text.replace(key, INSTEAD);
                }
                RawArguments::Json(value) => {
                    let text = value.to_string();
                    if text.contains(key) {
                        *arguments = RawArguments::Text(text.replace(key, INSTEAD));
                    }
                }
            }
        }
        // What is signed cannot be changed.
        answer.kept.retain(|kept| !kept.to_string().contains(key));
        answer
    }
}

fn words(delta: &mut Delta) -> &mut String {
    match delta {
        Delta::Text(words) | Delta::Reasoning(words) => words,
        Delta::Call { arguments, .. } => arguments,
    }
}

fn goes_on(before: &Delta, next: &Delta) -> bool {
    match (before, next) {
        (Delta::Call { index: one, .. }, Delta::Call { index: other, .. }) => one == other,
        _ => std::mem::discriminant(before) == std::mem::discriminant(next),
    }
}

fn joined(mut before: Delta, mut next: Delta) -> Delta {
    let words = words(&mut before);
    words.push_str(self::words(&mut next));
    *self::words(&mut next) = std::mem::take(words);
    next
}

/// Where the end of a text may be the beginning of the key.
fn may_begin(text: &str, key: &str) -> usize {
    let from = text.ceil_char_boundary(text.len().saturating_sub(key.len() - 1));
    let ends = text[from..].char_indices().map(|(at, _)| from + at);
    ends.into_iter().find(|at| key.starts_with(&text[*at..])).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_the_model_says_is_heard_by_nobody_however_it_is_cut() {
        let key = ["not", "a", "key", "not", "b"].join("-");
        let said = format!("It is {key}, or not-a-ke{key}. Done: not-a");
        let expected = format!("It is {INSTEAD}, or not-a-ke{INSTEAD}. Done: not-a");
        for size in 1..said.len() {
            let mut heard = String::new();
            let mut hear = |delta: Delta| {
                if let Delta::Text(words) = delta {
                    heard.push_str(&words);
                }
            };
            let mut unsaid = Unsaid::new(Some(&key), &mut hear);
            for piece in said.as_bytes().chunks(size) {
                unsaid.tell(Delta::Text(String::from_utf8_lossy(piece).into_owned()));
            }
            unsaid.ends();
            assert_eq!(heard, expected, "{size}");
        }
    }

    #[test]
    fn what_waits_is_heard_before_something_else_is() {
        let key = "n".repeat(9);
        let mut heard = Vec::new();
        let mut hear = |delta: Delta| heard.push(delta);
        let call = |arguments: &str| Delta::Call {
            index: 0,
            tool: "echo".to_owned(),
            arguments: arguments.to_owned(),
        };
        let mut unsaid = Unsaid::new(Some(&key), &mut hear);
        for delta in [Delta::Text("on".into()), call(""), call("nnnnnnnn"), call("n}")] {
            unsaid.tell(delta);
        }
        unsaid.ends();
        let text = |text: &str| Delta::Text(text.to_owned());
        let expected = [text("o"), text("n"), call(""), call(&format!("{INSTEAD}}}"))];
        assert_eq!(heard, expected);
    }
}
