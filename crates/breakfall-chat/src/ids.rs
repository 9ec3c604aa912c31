//! Ids of calls: every provider takes them, and no two are the same in a history.

use std::collections::{HashMap, HashSet};

/// The longest id that every provider takes.
const LONGEST: usize = 40;

/// The ids that a history has.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ids {
    used: HashSet<String>,
    /// The last number that was put behind a name.
    numbers: HashMap<String, usize>,
}

impl Ids {
    /// The id, if every provider takes it and no call has it; else one like it.
    pub(crate) fn told_apart(&mut self, id: &str) -> String {
        let fits = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let is_fit = (1..=LONGEST).contains(&id.len()) && id.chars().all(|c| fits(&c));
        if is_fit && self.used.insert(id.to_owned()) {
            return id.to_owned();
        }
        // Room for a number is left, so that every id is fit.
        let name: String = id.chars().filter(fits).take(LONGEST - 12).collect();
        let name = if name.is_empty() { "call".to_owned() } else { name };
        if !is_fit && self.used.insert(name.clone()) {
            return name;
        }
        let number = self.numbers.entry(name.clone()).or_insert(1);
        loop {
            *number += 1;
            let id = format!("{name}_{number}");
            if self.used.insert(id.clone()) {
                return id;
            }
        }
    }

    /// No call has the id any more. What is told apart next goes on from the numbers before.
    pub(crate) fn forget(&mut self, id: &str) {
        self.used.remove(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_stay_where_they_can_and_are_told_apart_where_not() {
        let mut ids = Ids::default();
        let long = "x".repeat(100);
        let given = ["a", "a", "a_2", "a", "", "", "ü?", &long, &long];
        let told: Vec<String> = given.iter().map(|id| ids.told_apart(id)).collect();
        let x = "x".repeat(28);
        let x_2 = format!("{x}_2");
        assert_eq!(told, ["a", "a_2", "a_2_2", "a_3", "call", "call_2", "call_3", &x, &x_2]);
    }
}
