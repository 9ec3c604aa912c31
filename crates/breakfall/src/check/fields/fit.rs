//! Arguments with plain fields, fitted where they stand: what was given is kept, and only what is
//! wrong is replaced. Everything that takes more is left to who rewrites the whole.

use std::sync::OnceLock;

use serde_json::{Map, Value};

use super::super::Schema;
use super::super::problems::PROBLEMS;
use super::super::rewrite::{OPTIONS, confirms, text};
use super::super::scalars::{LIMITS, keeps_all, sample, scalar, within};
use super::super::wanted::{Wanted, kind_among};
use super::super::words::SHOWN;
use super::{Fault, Fields, Told};
use crate::Correction;
use crate::toolbox::Few;

/// How many fields are fitted here.
const MOST: usize = 64;

/// How a value is made that fits.
pub(super) enum Fit {
    /// By choosing one of these words.
    Choose { words: Vec<String>, nearest: OnceLock<Few> },
    /// By writing it in one of these types, with a value that is made up for each, within limits.
    Write { kinds: Vec<(String, Value)>, limits: Value },
    /// By more than that.
    Otherwise,
}

/// What became of a value.
pub(super) struct Fitted {
    value: Value,
    is_made_up: bool,
    /// Nothing was guessed.
    is_exact: bool,
}

impl Fitted {
    fn made_up(value: Value) -> Self {
        Self { value, is_made_up: true, is_exact: false }
    }
}

impl Fit {
    pub(super) fn of(schema: &Schema, name: &str, said: &Value) -> Self {
        let (said, wanted) = Wanted::of(schema, said);
        // Nobody says for a model that something is wanted.
        if wanted.constant.is_some() || wanted.options.is_some() && confirms(name) {
            return Self::Otherwise;
        }
        if let Some(options) = wanted.options {
            let words = options.iter().map(|option| option.as_str().map(str::to_owned));
            return match words.collect::<Option<Vec<_>>>() {
                Some(words) => Self::Choose { words, nearest: OnceLock::new() },
                None => Self::Otherwise,
            };
        }
        let kinds = match wanted.kind {
            Some(Value::Array(kinds)) => kinds.as_slice(),
            Some(kind) => std::slice::from_ref(kind),
            None => &[],
        };
        let written = |kind: &Value| {
            let kind = kind.as_str().filter(|kind| SCALARS.contains(kind))?;
            Some((kind.to_owned(), sample(said, wanted.own(), kind)))
        };
        let kinds: Option<Vec<_>> = kinds.iter().map(written).collect();
        match kinds.filter(|kinds| !kinds.is_empty() && !wanted.is_combined()) {
            None => Self::Otherwise,
            Some(kinds) => {
                let all = said.as_object().into_iter().flatten();
                let limits = all.filter(|(word, _)| LIMITS.contains(&word.as_str()));
                let limits = limits.map(|(word, limit)| (word.clone(), limit.clone()));
                Self::Write { kinds, limits: Value::Object(limits.collect()) }
            }
        }
    }

    /// A value that is made of what was given, or made up.
    fn fitted(&self, given: Option<&Value>) -> Option<Fitted> {
        match self {
            Self::Choose { words, nearest } => {
                let first =
                    || words.first().map(|word| Fitted::made_up(Value::from(word.as_str())));
                let Some(given) = given else { return first() };
                // What is listed is wrong for another reason.
                if words.iter().any(|word| given == word) {
                    return None;
                }
                let listed = || Few::new(words.iter().take(OPTIONS).map(String::as_str));
                match nearest.get_or_init(listed).nearest(&text(given)) {
                    Some(word) => {
                        let value = Value::from(word);
                        Some(Fitted { value, is_made_up: false, is_exact: false })
                    }
                    None => first(),
                }
            }
            Self::Write { kinds, limits } => {
                let kind = match kinds.as_slice() {
                    [(only, _)] => only,
                    kinds => kind_among(kinds.iter().map(|(kind, _)| kind.as_str()), given),
                };
                let written = given.and_then(|given| Some((given, scalar(kind, given)?)));
                match written.filter(|(_, value)| within(limits, value)) {
                    Some((given, value)) => {
                        let is_exact = keeps_all(given, &value);
                        Some(Fitted { value, is_made_up: false, is_exact })
                    }
                    None => {
                        let (_, sample) = kinds.iter().find(|(known, _)| known == kind)?;
                        Some(Fitted::made_up(sample.clone()))
                    }
                }
            }
            Self::Otherwise => None,
        }
    }
}

/// The types of values that hold no others.
const SCALARS: [&str; 5] = ["string", "integer", "number", "boolean", "null"];

/// What makes arguments fit.
pub(super) struct Fitting<'f> {
    faults: Vec<Fault<'f>>,
    missing: Vec<(&'f str, Value)>,
    made_up: Vec<String>,
    is_exact: bool,
}

impl Fields {
    /// What makes arguments fit of which the problems were told. Nothing where that takes more than
    /// to replace values.
    pub(super) fn fitting<'f>(&'f self, told: &mut Told<'f>, value: &Value) -> Option<Fitting<'f>> {
        let given = value.as_object()?;
        let faults = std::mem::take(&mut told.faults);
        let is_whole = told.problems.len() < PROBLEMS
            && faults.len() == given.len()
            && given.len() + self.required.len() <= MOST;
        if !is_whole || !self.is_plainly_named || told.has_near {
            return None;
        }
        let made_up = Vec::with_capacity(told.problems.len());
        let mut fitting = Fitting { faults, missing: Vec::new(), made_up, is_exact: true };
        let (mut has_unknown, mut has_others) = (false, false);
        for ((name, given), fault) in given.iter().zip(&mut fitting.faults) {
            match fault {
                Fault::Broken(field) => {
                    let fitted = field.fit.fitted(Some(given))?;
                    if !field.accepts(&fitted.value) {
                        return None;
                    }
                    fitting.is_exact &= fitted.is_exact;
                    if fitted.is_made_up {
                        fitting.made_up.push(name.clone());
                    }
                    *fault = Fault::Fitted(fitted.value);
                }
                Fault::Unknown if !is_plain_name(name) => return None,
                Fault::Unknown => has_unknown = true,
                Fault::Other => has_others = true,
                Fault::Nothing | Fault::Fitted(_) => {}
            }
        }
        fitting.is_exact &= !has_unknown;
        let needed = self.required.iter().filter(|_| told.has_missing);
        for name in needed.filter(|name| !given.contains_key(*name)) {
            // What has another name may be what is missing.
            let field = self.field(name, &mut 0).filter(|_| !has_unknown && !has_others)?;
            let value = field.fit.fitted(None)?.value;
            if !field.accepts(&value) {
                return None;
            }
            fitting.made_up.push(name.clone());
            fitting.missing.push((name, value));
        }
        Some(fitting)
    }
}

/// Whether a name is a path for itself.
pub(super) fn is_plain_name(name: &str) -> bool {
    (1..=SHOWN).contains(&name.len()) && !name.bytes().any(|byte| matches!(byte, b'.' | b'['))
}

impl Fitting<'_> {
    /// The arguments as they should be.
    pub(super) fn into_correction(mut self, mut given: Map<String, Value>) -> Correction {
        let mut faults = self.faults.into_iter();
        given.retain(|_, value| match faults.next() {
            Some(Fault::Fitted(fitted)) => {
                *value = fitted;
                true
            }
            Some(Fault::Unknown) => false,
            Some(Fault::Nothing | Fault::Other | Fault::Broken(_)) | None => true,
        });
        for (name, value) in self.missing {
            given.insert(name.to_owned(), value);
        }
        self.made_up.sort_unstable();
        self.made_up.dedup();
        let is_exact = self.is_exact && self.made_up.is_empty();
        Correction { arguments: Value::Object(given), made_up: self.made_up, is_exact }
    }
}
