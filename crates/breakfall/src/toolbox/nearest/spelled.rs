//! Resemblance of names with any letters, a name at a time: for names of few people, and the model
//! that the faster ways are held to.

use super::letters::READ;

/// A name with case and separators aside, and its parts.
pub(super) struct Spelled {
    whole: String,
    parts: Vec<String>,
}

impl Spelled {
    pub(super) fn new(name: &str) -> Self {
        let name: String = name.chars().take(READ).collect();
        let parts = parts(&name).map(fold).filter(|part| !part.is_empty()).collect();
        Self { whole: fold(&name), parts }
    }

    /// Between 1 (barely) and 1,000 (the same but for case and separators).
    pub(super) fn resemblance(&self, name: &str) -> Option<u32> {
        let name: &str = name.char_indices().nth(READ).map_or(name, |(end, _)| &name[..end]);
        let whole = fold(name);
        if whole.is_empty() || self.whole.is_empty() {
            return None;
        }
        if whole == self.whole {
            return Some(1_000);
        }
        let longer = whole.chars().count().max(self.whole.chars().count());
        let distance = strsim::osa_distance(&self.whole, &whole);
        let by_edits = (distance * 3 <= longer)
            .then(|| 900 - u32::try_from(distance * 800 / longer).unwrap_or(800));
        let by_part = parts(name)
            .map(fold)
            .any(|part| part == self.whole || self.parts.contains(&part) && part.len() > 2)
            .then_some(500);
        let by_inclusion = (self.whole.len() >= 3
            && (whole.contains(&self.whole) || self.whole.contains(&whole) && whole.len() >= 3))
            .then_some(400);
        by_edits.max(by_part).max(by_inclusion)
    }
}

/// The parts of a namespaced name: `github__search`, `files.read`, `a/b`, `a:b`.
fn parts(name: &str) -> impl Iterator<Item = &str> {
    name.split("__").flat_map(|part| part.split(['.', '/', ':']))
}

fn fold(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
