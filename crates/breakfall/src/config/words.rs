//! Closed lists of words as configuration reads them, and what switches rules off.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::{Disposition, FailureKind, Preset};

macro_rules! named {
    ($kind:ident) => {
        impl<'de> Deserialize<'de> for $kind {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Cow::<str>::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }

        impl JsonSchema for $kind {
            fn schema_name() -> Cow<'static, str> {
                stringify!($kind).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                let names: Vec<&str> = Self::ALL.iter().map(|one| one.name()).collect();
                json_schema!({ "type": "string", "enum": names })
            }
        }
    };
}

named!(FailureKind);
named!(Preset);

/// Whether the run goes on, by kind of failure.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub(crate) struct ByKind(pub(crate) BTreeMap<FailureKind, Disposition>);

impl JsonSchema for ByKind {
    fn schema_name() -> Cow<'static, str> {
        "Dispositions".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let disposition = generator.subschema_for::<Disposition>();
        let kinds = FailureKind::ALL.iter();
        let properties: Map<String, Value> =
            kinds.map(|kind| (kind.name().to_owned(), disposition.clone().to_value())).collect();
        json_schema!({ "type": "object", "properties": properties })
    }
}

/// Rules that may be switched off.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(crate) enum Switch<T> {
    /// `false`.
    Off(False),
    /// The rules.
    On(T),
}

impl<T: JsonSchema> JsonSchema for Switch<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}OrFalse", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let rules = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [{ "const": false }, rules] })
    }
}

/// The word `false`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct False;

impl<'de> Deserialize<'de> for False {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if bool::deserialize(deserializer)? {
            return Err(serde::de::Error::custom("`true` is not accepted"));
        }
        Ok(Self)
    }
}
