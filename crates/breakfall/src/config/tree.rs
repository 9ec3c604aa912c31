//! TOML becomes a value as JSON has it, beside which stands where each part was written. The one
//! file that names the TOML library's types.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::{Map, Number, Value};
use toml::de::{DeTable, DeValue};

use crate::check::MAX_DEPTH;

/// Where a value was written, and what is inside it.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    pub(super) at: Option<At>,
    pub(super) inside: BTreeMap<String, Places>,
}

/// Where a value was written.
#[derive(Clone, Debug)]
pub(super) enum At {
    /// In the file: its key, and itself.
    File { key: Range<usize>, value: Range<usize> },
    /// In a variable of the environment.
    Variable { name: String, text: String },
}

/// What is wrong with the text itself, and where.
pub(super) struct Unreadable {
    pub(super) span: Range<usize>,
    pub(super) why: String,
}

/// A document: a table.
pub(super) fn document(text: &str) -> Result<(Value, Places), Vec<Unreadable>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        let unreadable = errors.iter().map(|error| Unreadable {
            span: error.span().unwrap_or_default(),
            why: format!("this is not TOML: {}", error.message()),
        });
        return Err(unreadable.collect());
    }
    let mut reading = Reading { unreadable: Vec::new() };
    let (value, inside) = reading.table(table.get_ref(), 0);
    if reading.unreadable.is_empty() {
        Ok((value, Places { at: None, inside }))
    } else {
        Err(reading.unreadable)
    }
}

/// A value alone, as a variable of the environment has it.
pub(super) fn value(text: &str) -> Option<Value> {
    let parsed = DeValue::parse(text).ok()?;
    if matches!(parsed.get_ref(), DeValue::Datetime(_)) {
        return None;
    }
    let mut reading = Reading { unreadable: Vec::new() };
    let (value, _) = reading.value(parsed.get_ref(), &parsed.span(), 0);
    (reading.unreadable.is_empty() && unread(&value).is_empty()).then_some(value)
}

/// Where numbers were written that could not be read.
pub(super) fn unread(value: &Value) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut ahead = vec![(Vec::new(), value)];
    while let Some((path, value)) = ahead.pop() {
        let within = |name: String| path.iter().cloned().chain([name]).collect();
        match value {
            Value::Null => found.push(path),
            Value::Array(items) => {
                ahead.extend(
                    items.iter().enumerate().map(|(i, item)| (within(i.to_string()), item)),
                );
            }
            Value::Object(fields) => {
                ahead.extend(fields.iter().map(|(name, field)| (within(name.clone()), field)));
            }
            _ => {}
        }
    }
    found
}

struct Reading {
    unreadable: Vec<Unreadable>,
}

type Inside = BTreeMap<String, Places>;

impl Reading {
    fn table(&mut self, table: &DeTable, depth: usize) -> (Value, Inside) {
        let mut fields = Map::new();
        let mut inside = Inside::new();
        for (key, value) in table {
            let (read, within) = self.value(value.get_ref(), &value.span(), depth + 1);
            let at = At::File { key: key.span(), value: value.span() };
            fields.insert(key.get_ref().to_string(), read);
            inside.insert(key.get_ref().to_string(), Places { at: Some(at), inside: within });
        }
        (Value::Object(fields), inside)
    }

    fn value(&mut self, value: &DeValue, span: &Range<usize>, depth: usize) -> (Value, Inside) {
        if depth > MAX_DEPTH {
            let why = format!("this is nested more than {MAX_DEPTH} levels deep");
            self.unreadable.push(Unreadable { span: span.clone(), why });
            return (Value::Null, Inside::new());
        }
        let scalar = match value {
            DeValue::Table(table) => return self.table(table, depth),
            DeValue::Array(items) => {
                let mut inside = Inside::new();
                let mut read = Vec::new();
                for (index, item) in items.iter().enumerate() {
                    let (value, within) = self.value(item.get_ref(), &item.span(), depth + 1);
                    let at = At::File { key: item.span(), value: item.span() };
                    inside.insert(index.to_string(), Places { at: Some(at), inside: within });
                    read.push(value);
                }
                return (Value::Array(read), inside);
            }
            DeValue::String(text) => Some(Value::String(text.to_string())),
            DeValue::Boolean(is) => Some(Value::Bool(*is)),
            DeValue::Datetime(date) => Some(Value::String(date.to_string())),
            DeValue::Integer(number) => {
                i64::from_str_radix(number.as_str(), number.radix()).ok().map(Value::from)
            }
            DeValue::Float(number) => {
                number.as_str().parse().ok().and_then(Number::from_f64).map(Value::Number)
            }
        };
        // A number that is too large, or none at all. TOML has no `null`: it stands for nothing else.
        (scalar.unwrap_or_default(), Inside::new())
    }
}

impl Places {
    /// Where a path was written: itself, or what it is missing in.
    pub(super) fn find<S: AsRef<str>>(&self, path: &[S]) -> (Option<&At>, bool) {
        let mut here = self;
        for name in path {
            match here.inside.get(name.as_ref()) {
                Some(next) => here = next,
                None => return (here.at.as_ref(), false),
            }
        }
        (here.at.as_ref(), true)
    }
}
