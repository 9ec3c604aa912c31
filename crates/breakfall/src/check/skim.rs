//! A JSON text that surely fits is seen to do so where it stands: no value is made of it until
//! somebody asks for one. What is written in an uncommon way is left to who reads it whole.

mod text;

pub(super) use text::Opening;
use text::{Scalar, Skimmed};

use super::accepts::{Accepts, List, same};
use super::limits::is_as_long;
use super::simple::Simple;

/// How many fields of an object are told apart: a bit for each.
const MOST: usize = 64;

impl Simple {
    /// Whether a text surely is an object that it accepts, and nothing else.
    pub(super) fn accepts_text(&self, text: &str) -> bool {
        let mut skimmed = Skimmed::of(text);
        self.skims(&mut skimmed).is_some() && skimmed.peek().is_none()
    }

    fn skims(&self, text: &mut Skimmed<'_>) -> Option<()> {
        (self.fields.len() <= MOST && self.more.is_none()).then_some(())?;
        text.take(b'{')?;
        let (mut given, mut required, mut next) = (0_u64, 0, 0);
        if !text.ends_at_once(b'}')? {
            loop {
                let Ok(place) = text.field(&self.fields, next)? else {
                    // It may be there twice: that is told by who reads the whole.
                    (self.least == 0 && self.most == usize::MAX).then_some(())?;
                    self.others.as_ref()?.skims(text)?;
                    match text.next()? {
                        b',' => continue,
                        b'}' => break,
                        _ => return None,
                    }
                };
                let (field, bit) = (self.fields.get(place)?, 1 << place);
                // Of one that is there twice, the last counts.
                (given & bit == 0).then_some(())?;
                given |= bit;
                required += usize::from(field.is_required);
                field.accepts.skims(text)?;
                next = place + 1;
                match text.next()? {
                    b',' => {}
                    b'}' => break,
                    _ => return None,
                }
            }
        }
        let has_all = required == self.required;
        (has_all && (self.least..=self.most).contains(&(given.count_ones() as usize))).then_some(())
    }
}

impl Accepts {
    /// Passes over a value that it surely accepts. What it may hold is bounded by the schema.
    #[inline]
    fn skims(&self, text: &mut Skimmed<'_>) -> Option<()> {
        let is_accepted = match self {
            // What most fields are.
            Self::Text { min, max } => {
                text.take(b'"')?;
                is_as_long(text.text()?, *min, *max)
            }
            Self::Integer { min, max } => {
                text.peek()?;
                matches!(text.number()?, Scalar::Whole(number) if (min..=max).contains(&&number))
            }
            more => return more.skims_more(text),
        };
        is_accepted.then_some(())
    }

    #[inline(never)]
    fn skims_more(&self, text: &mut Skimmed<'_>) -> Option<()> {
        match text.peek()? {
            b'{' => match self.only(|one| matches!(one, Self::Object(_) | Self::Table))? {
                Self::Object(object) => object.skims(text),
                Self::Table | Self::Anything => text.anything(),
                _ => None,
            },
            b'[' => match self.only(|one| matches!(one, Self::List(_)))? {
                Self::List(list) => list.skims(text),
                Self::Anything => text.anything(),
                _ => None,
            },
            _ => {
                let scalar = text.scalar()?;
                self.accepts_scalar(scalar).then_some(())
            }
        }
    }

    /// The only one of several that is such: none is tried after another.
    fn only(&self, is: impl Fn(&Self) -> bool) -> Option<&Self> {
        let Self::Either(all) = self else { return Some(self) };
        let mut those = all.iter().filter(|one| is(one));
        let only = those.next()?;
        those.next().is_none().then_some(only)
    }

    fn accepts_scalar(&self, scalar: Scalar<'_>) -> bool {
        match (self, scalar) {
            (Self::Text { min, max }, Scalar::Text(text)) => is_as_long(text, *min, *max),
            (Self::Word(word), Scalar::Text(text)) => same(word, text),
            (Self::Worded(worded), Scalar::Text(text)) => worded.accepts_text(text),
            (Self::Integer { min, max }, Scalar::Whole(number)) => (min..=max).contains(&&number),
            (Self::Null, Scalar::Null)
            | (Self::Boolean, Scalar::Truth(_))
            | (Self::Number, Scalar::Whole(_) | Scalar::Point(_))
            | (Self::Anything, _) => true,
            (Self::Either(any), scalar) => any.iter().any(|one| one.accepts_scalar(scalar)),
            (
                Self::Real { .. }
                | Self::Multiple(_)
                | Self::Just(_)
                | Self::NoneOf(_)
                | Self::Odd(_)
                | Self::One(_)
                | Self::Not(_)
                | Self::If(_)
                | Self::All(_),
                scalar,
            ) => scalar.value().is_some_and(|value| self.accepts(&value)),
            _ => false,
        }
    }
}

impl List {
    fn skims(&self, text: &mut Skimmed<'_>) -> Option<()> {
        (!self.is_unique).then_some(())?;
        text.take(b'[')?;
        let mut many = 0;
        if !text.ends_at_once(b']')? {
            loop {
                self.items.skims(text)?;
                many += 1;
                match text.next()? {
                    b',' => {}
                    b']' => break,
                    _ => return None,
                }
            }
        }
        (self.min..=self.max).contains(&many).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::super::samples::{field, schema, value};
    use super::super::schema::validator;
    use super::*;

    fn simple(schema: &Value) -> Simple {
        Simple::of(schema).unwrap_or_else(|| panic!("not simple: {schema}"))
    }

    /// A search, as schemars and zod write it.
    fn search() -> Simple {
        simple(&json!({
            "type": "object",
            "properties": {
                "exact": { "type": ["boolean", "null"] },
                "limit": { "type": "integer", "format": "uint32", "minimum": 0 },
                "order": { "anyOf": [{ "enum": ["newest", "oldest"] }, { "type": "null" }] },
                "paths": { "type": "array", "items": { "type": "string" } },
                "query": { "type": "string", "minLength": 1, "pattern": "^[^*]" },
                "score": { "type": "number" },
                "with": { "type": "object", "properties": { "deep": { "type": "object" } } },
            },
            "required": ["query"],
        }))
    }

    #[test]
    fn what_models_write_is_skimmed() {
        let search = search();
        for text in [
            r#"{"query":"a"}"#,
            r#"{"query": "where is the error", "limit": 10, "order": "newest"}"#,
            r#" { "limit" : 0 , "query" : "ü" , "order" : null } "#,
            "{\n  \"exact\": true,\n  \"query\": \"a\",\n  \"paths\": [\"b\", \"c\"]\n}\n",
            r#"{"query":"a","paths":[],"score":-0.5,"with":{}}"#,
            r#"{"query":"a","score":7,"with":{"deep":{"a":[1,{"b":[]},"c",{}],"d":{"e":null}}}}"#,
            r#"{"query":"a","colour":"red","page":[{"x":1.25}]}"#,
        ] {
            assert!(search.accepts_text(text), "{text}");
        }
    }

    #[test]
    fn what_is_not_sure_is_left() {
        let search = search();
        for text in [
            "",
            "{",
            "null",
            "[]",
            r#""query""#,
            "{}",
            r#"{"query":"a"} x"#,
            r#"{"query":"a"}{"#,
            r#"{"query":"a",}"#,
            r#"{,"query":"a"}"#,
            r#"{"query":"a" "limit":1}"#,
            r#"{"query" "a"}"#,
            r"{'query':'a'}",
            r#"{"query":"a","query":"b"}"#,
            r#"{"qu\u0065ry":"a"}"#,
            r#"{"query":"a\n"}"#,
            "{\"query\":\"a\nb\"}",
            "{\"query\":\"a\u{0}\"}",
            r#"{"query":""}"#,
            r#"{"query":"*"}"#,
            r#"{"query":7}"#,
            r#"{"query":"a","limit":-1}"#,
            r#"{"query":"a","limit":01}"#,
            r#"{"query":"a","limit":-0}"#,
            r#"{"query":"a","limit":1.0}"#,
            r#"{"query":"a","limit":1e2}"#,
            r#"{"query":"a","limit":+1}"#,
            r#"{"query":"a","limit":1234567890123456789}"#,
            r#"{"query":"a","score":1.}"#,
            r#"{"query":"a","score":.5}"#,
            r#"{"query":"a","score":-}"#,
            r#"{"query":"a","score":1.5e999}"#,
            r#"{"query":"a","score":NaN}"#,
            r#"{"query":"a","exact":tru}"#,
            r#"{"query":"a","exact":truely}"#,
            r#"{"query":"a","order":"biggest"}"#,
            r#"{"query":"a","paths":["b",1]}"#,
            r#"{"query":"a","paths":["b"}"#,
            r#"{"query":"a","with":{"deep":{"a":[}]}}"#,
            r#"{"query":"a","with":{"deep":{"a":1,}}}"#,
            r#"{"query":"a","with":{"deep":[]}}"#,
        ] {
            assert!(!search.accepts_text(text), "{text}");
        }
        let nested = format!(r#"{{"query":"a","x":{}{}}}"#, "[".repeat(200), "]".repeat(200));
        assert!(!search.accepts_text(&nested));
    }

    #[test]
    fn how_many_fields_there_are_is_counted() {
        let few = simple(&json!({ "type": "object", "properties": { "a": true, "b": true },
            "minProperties": 1, "maxProperties": 1 }));
        assert!(few.accepts_text(r#"{"b":1}"#));
        for text in ["{}", r#"{"a":1,"b":2}"#, r#"{"c":1}"#] {
            assert!(!few.accepts_text(text), "{text}");
        }
        let many: serde_json::Map<_, _> = (0..65).map(|n| (format!("a{n}"), json!(true))).collect();
        assert!(!simple(&json!({ "type": "object", "properties": many })).accepts_text("{}"));
    }

    /// What is seen to fit, and what the whole of it says.
    fn agree(schema: &Value, text: &str) -> Result<bool, TestCaseError> {
        let skimmed = simple(schema).accepts_text(text);
        if skimmed {
            let value: Value = serde_json::from_str(text)
                .map_err(|error| TestCaseError::fail(format!("{error}: {text}")))?;
            let validator =
                validator(schema).map_err(|error| TestCaseError::fail(error.to_string()))?;
            prop_assert!(validator.is_valid(&value), "{schema} {text}");
        }
        Ok(skimmed)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn what_is_skimmed_the_validator_accepts(
            schema in schema("[abc]", field()),
            value in value(),
            way in 0..5,
        ) {
            let text = match way {
                0 => value.to_string(),
                1 => serde_json::to_string_pretty(&value).unwrap_or_default(),
                // Twice the same name; a letter written otherwise; something behind it.
                2 => value.to_string().replacen('{', r#"{"a":1,"#, 1),
                3 => value.to_string().replace('a', r"\u0061"),
                _ => value.to_string() + "]",
            };
            let skimmed = agree(&schema, &text)?;
            // What is surely written in the common way, and of a kind that is told from its
            // beginning, is skimmed where it is accepted.
            let is_flat = value.as_object().is_some_and(|fields| {
                fields.values().all(|field| !field.is_array() && !field.is_object())
            });
            if way < 2 && is_flat && !text.contains("18446744073709551615") {
                prop_assert_eq!(skimmed, simple(&schema).accepts(&value), "{} {}", schema, text);
            }
        }

        #[test]
        fn no_text_is_too_odd(
            schema in schema("[ab]", field()),
            text in r#"[ \n]?\{("[abc]":([\[{]{0,2}("[ab\\]{0,2}"|-?[01]{1,2}|0?\.5|null|true|1e3|[\]}])[\]}]{0,2}),? ?){0,4}\}?"#,
        ) {
            agree(&schema, &text)?;
        }
    }
}
