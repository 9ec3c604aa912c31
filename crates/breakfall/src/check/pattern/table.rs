//! A pattern of any kind as a table: one step for each byte of a text, whatever the pattern says.

use jsonschema_regex::to_rust_regex;
use regex_automata::Input;
use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::nfa::thompson;
use regex_automata::util::primitives::StateID;

/// Schemas come from strangers: how much room one table may take, and what it is made with.
const TABLE_BYTES: usize = 16 << 10;
const MAKING_BYTES: usize = 128 << 10;

/// How long a pattern may be.
const LONGEST: usize = 1 << 10;

/// What the validator's engine matches, in as many steps as a text has bytes.
pub(in super::super) struct Table {
    steps: dense::DFA<Vec<u32>>,
    start: StateID,
}

impl Table {
    /// The table of a pattern, read as the validator reads it; nothing where it takes too much room.
    pub(super) fn of(pattern: &str) -> Option<Self> {
        let pattern = (pattern.len() <= LONGEST).then(|| to_rust_regex(pattern).ok())??;
        let steps = dense::Builder::new()
            .configure(
                dense::Config::new()
                    .start_kind(StartKind::Unanchored)
                    // Then what is special of a state is that all is told in it.
                    .accelerate(false)
                    .dfa_size_limit(Some(TABLE_BYTES))
                    .determinize_size_limit(Some(MAKING_BYTES)),
            )
            .thompson(thompson::Config::new().nfa_size_limit(Some(MAKING_BYTES)))
            .build(&pattern)
            .ok()?;
        let start = steps.start_state_forward(&Input::new("")).ok()?;
        Some(Self { steps, start })
    }

    pub(super) fn matches(&self, text: &str) -> bool {
        let mut state = self.start;
        for byte in text.bytes() {
            state = self.steps.next_state(state, byte);
            if self.steps.is_special_state(state) {
                return self.steps.is_match_state(state);
            }
        }
        self.steps.is_match_state(self.steps.next_eoi_state(state))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// What the validator says.
    fn is_valid(pattern: &str, text: &str) -> Option<bool> {
        let schema = json!({"type": "string", "pattern": pattern});
        let options =
            jsonschema::options().with_pattern_options(jsonschema::PatternOptions::regex());
        Some(options.build(&schema).ok()?.is_valid(&json!(text)))
    }

    #[test]
    fn what_people_write_has_a_table() {
        for (pattern, text) in [
            (r"^(?:[^*]|[*][^*])", "*a"),
            (r"^(https?|ftp)://[^\s/$.?#].[^\s]*$", "http://example.org"),
            (r"(foo|bar)+$", "a foobar"),
            (r"^[a-z0-9]+(?:-[a-z0-9]+)*$", "a-slug-of-1"),
            (r"\.(png|jpe?g)$", "a.jpeg"),
            (r"^\S+@\S+\.\S+$", "name@example.org"),
            (r"^\d+(\.\d{1,2})?$", "12.5"),
            (r"^([01]\d|2[0-3]):[0-5]\d$", "23:59"),
            (r"ü+", "grün"),
            (r"^(v)?\d+\.\d+\.\d+(-[\w.]+)?$", "v1.2.3-rc.1"),
            (r"^$|^a", ""),
        ] {
            let table = Table::of(pattern);
            let table = table.unwrap_or_else(|| panic!("{pattern}"));
            assert!(table.matches(text), "{pattern} {text}");
            for text in ["", "a", "*", "**", "a b", "ü", "http://", "24:00", "1.", "\n"] {
                assert_eq!(Some(table.matches(text)), is_valid(pattern, text), "{pattern} {text}");
            }
        }
    }

    #[test]
    fn what_takes_too_much_room_has_none() {
        for pattern in [
            r"^.{1,4096}$",
            r"(a|b)*a(a|b){12}",
            r"\p{L}+\p{L}{100}",
            r"^(?=a)b",
            r"^(a)\1$",
            "(",
            &"a".repeat(LONGEST + 1),
        ] {
            assert!(Table::of(pattern).is_none(), "{pattern}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn what_a_table_says_the_validator_says(
            pattern in r"(\^?(([ab\-.ü]|\\[dDwWsSbB.\-]|\[\^?([ab1_ \-ü]|a-c|\\[dws])+\]|\((\?:)?[ab]?\|?[bc.]?\))([*+?]|\{[0-2]\}|\{1,\}|\{1,3\})?\??){1,4}\|?[ab]?\$?){1,2}",
            text in r"[abcü1_ .\-\u{a0}\n]{0,6}",
        ) {
            if let (Some(table), Some(valid)) = (Table::of(&pattern), is_valid(&pattern, &text)) {
                prop_assert_eq!(table.matches(&text), valid);
            }
        }

        #[test]
        fn no_pattern_is_too_odd(pattern in r"[\[\]\\^$*+?{},0-9a-c\-&~|().üdbBpPuxkc]{0,12}", text in "[a-cü]{0,4}") {
            if let Some(table) = Table::of(&pattern) && table.matches(&text) {
                prop_assert!(is_valid(&pattern, &text).unwrap_or(true));
            }
        }
    }
}
