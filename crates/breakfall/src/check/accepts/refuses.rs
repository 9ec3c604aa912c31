//! What is surely not accepted: asked where a schema takes what another one does not. As with what is
//! accepted, no means that the validator is to be asked.

use serde_json::Value;

use super::super::limits::{is_as_long, is_exact};
use super::super::simple::Simple;
use super::{Accepts, Condition, List, Worded};

impl Accepts {
    pub(in super::super) fn refuses(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Null, value) => !value.is_null(),
            (Self::Boolean, value) => !value.is_boolean(),
            (Self::Number, value) => !value.is_number(),
            (Self::Table, value) => !value.is_object(),
            (Self::Text { min, max }, Value::String(text)) => !is_as_long(text, *min, *max),
            (Self::Worded(worded), Value::String(text)) => worded.refuses(text),
            (Self::Integer { min, max }, Value::Number(number)) => {
                number.as_i64().is_some_and(|number| !(min..=max).contains(&&number))
            }
            (Self::Real { min, max }, Value::Number(number)) => {
                is_exact(number) && number.as_f64().is_some_and(|x| !(*min..=*max).contains(&x))
            }
            (Self::Multiple(of), Value::Number(number)) => {
                number.as_i64().is_some_and(|number| number % of != 0)
            }
            (Self::List(list), Value::Array(items)) => list.refuses(items),
            // Each of these is of one type, and the value of another.
            (
                Self::Text { .. }
                | Self::Worded(_)
                | Self::Integer { .. }
                | Self::Real { .. }
                | Self::List(_),
                _,
            ) => true,
            // The second says nothing of other types.
            (Self::Anything | Self::Multiple(_), _) => false,
            (Self::Object(object), value) => object.refuses(value),
            (Self::Word(word), value) => value != word,
            // The same number may be written with a point.
            (Self::Just(Value::Number(_)), Value::Number(number)) if number.as_i64().is_none() => {
                false
            }
            (Self::Just(just), value) => value != just,
            (Self::NoneOf(words), value) => words.iter().any(|word| value == word),
            (Self::Odd(odd), value) => odd.refuses(value),
            (Self::Either(any), value) => any.iter().all(|one| one.refuses(value)),
            (Self::All(all), value) => all.iter().any(|one| one.refuses(value)),
            (Self::One(all), value) => {
                all.iter().all(|one| one.refuses(value))
                    || all.iter().filter(|one| one.accepts(value)).nth(1).is_some()
            }
            (Self::Not(not), value) => not.accepts(value),
            (Self::If(condition), value) => condition.refuses(value),
        }
    }
}

impl Condition {
    fn refuses(&self, value: &Value) -> bool {
        match (self.then.refuses(value), self.otherwise.refuses(value)) {
            (true, true) => true,
            (true, false) => self.fits.accepts(value),
            (false, true) => self.fits.refuses(value),
            (false, false) => false,
        }
    }
}

impl Worded {
    /// Whether a text is too short or too long, or a word that it is not. What no pattern matches here
    /// may match it all the same.
    fn refuses(&self, text: &str) -> bool {
        !is_as_long(text, self.min, self.max) || self.not.iter().any(|word| *word == text)
    }
}

impl List {
    fn refuses(&self, items: &[Value]) -> bool {
        !(self.min..=self.max).contains(&items.len())
            || items.iter().any(|item| self.items.refuses(item))
    }
}

impl Simple {
    /// Whether a value is surely no such object.
    fn refuses(&self, value: &Value) -> bool {
        let Some(given) = value.as_object() else { return true };
        let refuses_one = |(name, value): (&String, &Value)| match self
            .fields
            .iter()
            .find(|field| field.name == *name)
        {
            Some(field) => field.accepts.refuses(value),
            None => self.others.as_ref().is_none_or(|others| others.refuses(value)),
        };
        let mut required = self.fields.iter().filter(|field| field.is_required);
        !(self.least..=self.most).contains(&given.len())
            || required.any(|field| !given.contains_key(&field.name))
            || given.iter().any(refuses_one)
            || self.more.as_ref().is_some_and(|more| more.refuses(value))
    }
}
