//! A JSON object whose values stay as they are written, in their order.

use std::collections::HashSet;
use std::fmt;

use breakfall::without_halves;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// The fields of an object, their values untouched.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fields(Vec<(String, Box<RawValue>)>);

impl Fields {
    /// The fields of a JSON object; none of anything else.
    pub(crate) fn of(raw: Option<&RawValue>) -> Self {
        raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&RawValue> {
        self.0.iter().find(|(field, _)| field == name).map(|(_, value)| &**value)
    }

    /// The text of a field that is one.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        read(self.get(name)?.get())
    }

    /// Sets a field where it stands, or at the end.
    pub(crate) fn set(&mut self, name: &str, value: Box<RawValue>) {
        match self.0.iter_mut().find(|(field, _)| field == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name.to_owned(), value)),
        }
    }

    pub(crate) fn remove(&mut self, name: &str) {
        self.0.retain(|(field, _)| field != name);
    }

    /// Only the first of fields that have the same name.
    pub(crate) fn first_of_each(self) -> Self {
        let mut seen = HashSet::new();
        Self(self.0.into_iter().filter(|(name, _)| seen.insert(name.clone())).collect())
    }

    /// Takes a field out.
    pub(crate) fn take(&mut self, name: &str) -> Option<Box<RawValue>> {
        let at = self.0.iter().position(|(field, _)| field == name)?;
        Some(self.0.remove(at).1)
    }

    pub(crate) fn raw(&self) -> Box<RawValue> {
        raw(self)
    }
}

/// Anything of ours as JSON.
pub(crate) fn raw(value: &impl Serialize) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).unwrap_or_default()
}

/// A field that is there although it stands there as `null`.
pub(crate) fn there<'de: 'a, 'a, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<&'a RawValue>, D::Error> {
    <&RawValue>::deserialize(from).map(Some)
}

/// What JSON says, with a mark in place of each half of a character: languages that count in halves
/// cut texts there, and no text of ours can hold one.
pub(crate) fn read<T: DeserializeOwned>(json: &str) -> Option<T> {
    let said = serde_json::from_str(json).ok();
    said.or_else(|| serde_json::from_str(&without_halves(json)?).ok())
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_character_is_read_as_a_mark() {
        assert_eq!(read::<String>(r#""a\ud83d""#).as_deref(), Some("a\u{fffd}"));
    }
}
