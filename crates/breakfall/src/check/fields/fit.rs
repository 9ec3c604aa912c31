//! Arguments with plain fields, fitted where they stand: what was given is kept, and only what is
//! wrong is replaced. Everything that takes more is left to who rewrites the whole.

use std::sync::OnceLock;

use serde_json::{Map, Value};

use super::super::Schema;
use super::super::problems::PROBLEMS;
use super::super::rewrite::{confirms, text};
use super::super::scalars::{LIMITS, keeps_all, sample, scalar, within};
use super::super::wanted::{Wanted, kind_among};
use super::super::words::SHOWN;
use super::{Fields, Flaw, Told};
use crate::Correction;
use crate::toolbox::Few;

/// How many fields are fitted here.
const MOST: usize = 64;

/// Among how many words one is chosen here.
const WORDS: usize = 100;

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
            return match words.take(WORDS + 1).collect::<Option<Vec<_>>>() {
                Some(words) if words.len() <= WORDS => {
                    Self::Choose { words, nearest: OnceLock::new() }
                }
                _ => Self::Otherwise,
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

    /// The same, if all that may be made up is accepted.
    pub(super) fn checked(self, accepts: impl Fn(&Value) -> bool) -> Self {
        let is_accepted = match &self {
            Self::Choose { words, .. } => {
                !words.is_empty() && words.iter().all(|word| accepts(&Value::from(word.as_str())))
            }
            Self::Write { kinds, .. } => kinds.iter().all(|(_, sample)| accepts(sample)),
            Self::Otherwise => true,
        };
        if is_accepted { self } else { Self::Otherwise }
    }

    /// A value that is made of what was given, or made up.
    pub(super) fn fitted(
        &self,
        given: Option<&Value>,
        accepts: impl Fn(&Value) -> bool,
    ) -> Option<Fitted> {
        match self {
            Self::Choose { words, nearest } => {
                let first =
                    || words.first().map(|word| Fitted::made_up(Value::from(word.as_str())));
                // Nothing is near to no word.
                let Some(given) = given.filter(|given| !given.is_null()) else { return first() };
                // What is listed is wrong for another reason.
                if words.iter().any(|word| given == word) {
                    return None;
                }
                let listed = || Few::new(words.iter().map(String::as_str));
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
                match written {
                    Some((given, value)) if accepts(&value) => {
                        let is_exact = keeps_all(given, &value);
                        Some(Fitted { value, is_made_up: false, is_exact })
                    }
                    // More than its limits is against it.
                    Some((_, value)) if within(limits, &value) => None,
                    _ => {
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
    flaws: Vec<Flaw<'f>>,
    missing: Vec<(&'f str, Value)>,
    made_up: Vec<String>,
    is_exact: bool,
}

impl Fields {
    /// What makes arguments fit of which the problems were told. Nothing where that takes more than
    /// to replace values.
    pub(super) fn fitting<'f>(&'f self, told: &mut Told<'f>, value: &Value) -> Option<Fitting<'f>> {
        let given = value.as_object()?;
        let flaws = std::mem::take(&mut told.flaws);
        let is_whole = told.problems.len() < PROBLEMS
            && flaws.len() == given.len()
            && given.len() + self.required.len() <= MOST;
        if !is_whole || !self.is_plainly_named || told.has_near {
            return None;
        }
        let made_up = Vec::with_capacity(told.problems.len());
        let mut fitting = Fitting { flaws, missing: Vec::new(), made_up, is_exact: true };
        let (mut has_unknown, mut has_others) = (false, false);
        for ((name, given), flaw) in given.iter().zip(&mut fitting.flaws) {
            match flaw {
                Flaw::Broken(field) => {
                    let fitted = field.fitted(Some(given))?;
                    fitting.is_exact &= fitted.is_exact;
                    if fitted.is_made_up {
                        fitting.made_up.push(name.clone());
                    }
                    *flaw = Flaw::Fitted(fitted.value);
                }
                Flaw::Unknown if !is_plain_name(name) => return None,
                Flaw::Unknown => has_unknown = true,
                Flaw::Other => has_others = true,
                Flaw::Nothing | Flaw::Fitted(_) => {}
            }
        }
        fitting.is_exact &= !has_unknown;
        let needed = self.required.iter().filter(|_| told.has_missing);
        for name in needed.filter(|name| !given.contains_key(*name)) {
            // What has another name may be what is missing.
            let field = self.field(name, &mut 0).filter(|_| !has_unknown && !has_others)?;
            let value = field.fitted(None)?.value;
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
        let mut flaws = self.flaws.into_iter();
        given.retain(|_, value| match flaws.next() {
            Some(Flaw::Fitted(fitted)) => {
                *value = fitted;
                true
            }
            Some(Flaw::Unknown) => false,
            Some(Flaw::Nothing | Flaw::Other | Flaw::Broken(_)) | None => true,
        });
        for (name, value) in self.missing {
            given.insert(name.to_owned(), value);
        }
        let made_up = &mut self.made_up;
        // Mostly they were given in order.
        if !made_up.is_sorted_by(|one, other| one < other) {
            made_up.sort_unstable();
            made_up.dedup();
        }
        let is_exact = self.is_exact && made_up.is_empty();
        let arguments = Value::Object(given);
        Correction { arguments, made_up: self.made_up, is_exact, written: None }
    }
}
