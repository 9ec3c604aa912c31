//! Ids of calls: no two are the same in a history. A call keeps the id that its model gave it; in a
//! request to another model it has one that every provider takes.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use crate::message::Message;
use crate::provider::Shape;

/// The longest id that is kept: some models hide the signature of a thought in it.
const LONGEST: usize = 64 << 10;

/// The longest id that every provider takes.
const LONGEST_ANYWHERE: usize = 40;

/// Room for a number behind an id.
const NUMBER: usize = 12;

/// The ids that a history has.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ids {
    used: HashSet<String>,
    /// The last number that was put behind a name.
    numbers: HashMap<String, usize>,
}

impl Ids {
    /// The id, if it is one and no call has it; else one like it.
    pub(crate) fn told_apart(&mut self, id: &str) -> String {
        let is_fit = !id.trim().is_empty() && id.len() <= LONGEST && !id.contains(char::is_control);
        let shortened = || {
            let id = &id[..id.floor_char_boundary(LONGEST - NUMBER)];
            id.chars().filter(|c| !c.is_control()).collect::<String>()
        };
        self.like(id, is_fit, shortened)
    }

    /// The id, if every provider takes it and no call has it; else one like it.
    fn taken_anywhere(&mut self, id: &str) -> String {
        let shortened =
            || id.chars().filter(|c| fits(*c)).take(LONGEST_ANYWHERE - NUMBER).collect();
        self.like(id, is_taken_anywhere(id), shortened)
    }

    fn like(&mut self, id: &str, is_fit: bool, shortened: impl Fn() -> String) -> String {
        if is_fit && self.used.insert(id.to_owned()) {
            return id.to_owned();
        }
        // Room for a number is left, so that every id is fit.
        let name = shortened();
        let name = if name.trim().is_empty() { "call".to_owned() } else { name };
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

fn fits(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

fn is_taken_anywhere(id: &str) -> bool {
    (1..=LONGEST_ANYWHERE).contains(&id.len()) && id.chars().all(fits)
}

/// A history as a model takes it: calls that it made itself under their ids, all others under ids
/// that every provider takes.
pub(crate) fn taken_by<'h>(
    shape: Shape,
    model: &str,
    history: &'h [Message],
) -> Cow<'h, [Message]> {
    let said = history.iter().filter_map(|message| match message {
        Message::Assistant(said) => Some(said),
        _ => None,
    });
    let (mut ids, mut foreign) = (Ids::default(), Vec::new());
    for said in said {
        let is_its_own = said.is_of(shape, model);
        for id in said.calls.iter().map(|call| call.id.as_str()) {
            if is_its_own || is_taken_anywhere(id) {
                ids.used.insert(id.to_owned());
            } else {
                foreign.push(id);
            }
        }
    }
    if foreign.is_empty() {
        return Cow::Borrowed(history);
    }
    let mut instead: HashMap<&str, String> = HashMap::new();
    for id in foreign {
        instead.entry(id).or_insert_with(|| ids.taken_anywhere(id));
    }
    Cow::Owned(history.iter().map(|message| renamed(message, &instead)).collect())
}

/// The same message, its calls or its reply under other ids.
fn renamed(message: &Message, instead: &HashMap<&str, String>) -> Message {
    let rename = |id: &mut String| {
        if let Some(other) = instead.get(id.as_str()) {
            id.clone_from(other);
        }
    };
    let mut message = message.clone();
    match &mut message {
        Message::Assistant(said) => said.calls.iter_mut().for_each(|call| rename(&mut call.id)),
        Message::Reply(reply) => rename(&mut reply.id),
        Message::User { .. } | Message::Notice { .. } => {}
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_stay_where_they_can_and_are_told_apart_where_not() {
        let mut ids = Ids::default();
        let given = ["a", "a", "a_2", "a", "", " ", "ü?", "f.g:0", "f.g:0", "a\n"];
        let told: Vec<String> = given.iter().map(|id| ids.told_apart(id)).collect();
        let expected =
            ["a", "a_2", "a_2_2", "a_3", "call", "call_2", "ü?", "f.g:0", "f.g:0_2", "a_4"];
        assert_eq!(told, expected);
        let long = "x".repeat(LONGEST);
        assert_eq!(ids.told_apart(&long), long);
        assert!([long.clone(), long + "x"].iter().all(|id| ids.told_apart(id).len() <= LONGEST));
    }

    #[test]
    fn ids_that_not_all_take_are_shortened_and_told_apart() {
        let mut ids = Ids::default();
        let long = "x".repeat(100);
        let given = ["a", "a", "", "ü?", "f.g:0", &long, &long];
        let told: Vec<String> = given.iter().map(|id| ids.taken_anywhere(id)).collect();
        let x = "x".repeat(28);
        let x_2 = format!("{x}_2");
        assert_eq!(told, ["a", "a_2", "call", "call_2", "fg0", &x, &x_2]);
    }
}
