//! A substitute for a tool that cannot do its work: another tool, or a fixed answer.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::{Failure, FailureKind, RawArguments};

/// What answers instead of a tool that cannot do its work. It is tried once, after the last
/// attempt, and never where the call may have taken effect.
///
/// ```
/// use breakfall::Fallback;
/// use serde_json::json;
///
/// let local = Fallback::tool("search_local").arguments(json!({ "text": "$query", "limit": 5 }));
/// let fixed = Fallback::value("no forecast today");
/// ```
#[derive(Clone, Debug)]
pub struct Fallback {
    pub(crate) by: By,
    kinds: Option<Vec<FailureKind>>,
}

#[derive(Clone)]
pub(crate) enum By {
    Tool { name: String, mapping: Mapping },
    Value(Value),
}

#[derive(Clone)]
pub(crate) enum Mapping {
    Same,
    Template(Value),
    Function(Arc<dyn Fn(&Value) -> Value + Send + Sync>),
}

impl Fallback {
    /// Another tool, with the same arguments until told otherwise.
    pub fn tool(name: impl Into<String>) -> Self {
        Self { by: By::Tool { name: name.into(), mapping: Mapping::Same }, kinds: None }
    }

    /// A fixed answer.
    pub fn value(value: impl Into<Value>) -> Self {
        Self { by: By::Value(value.into()), kinds: None }
    }

    /// The other tool's arguments: `"$name"` stands for the argument of that name and is left out
    /// where there is none, `"$$…"` for a text that begins with `$`.
    pub fn arguments(self, template: impl Into<Value>) -> Self {
        self.mapping(Mapping::Template(template.into()))
    }

    /// The other tool's arguments, from those of the first.
    pub fn map_arguments(self, map: impl Fn(&Value) -> Value + Send + Sync + 'static) -> Self {
        self.mapping(Mapping::Function(Arc::new(map)))
    }

    fn mapping(mut self, new: Mapping) -> Self {
        if let By::Tool { mapping, .. } = &mut self.by {
            *mapping = new;
        }
        self
    }

    /// For which failures: until told otherwise for those that are the tool's and not the call's.
    pub fn on(mut self, kinds: impl IntoIterator<Item = FailureKind>) -> Self {
        self.kinds = Some(kinds.into_iter().collect());
        self
    }

    /// Whether it helps against a failure.
    pub(crate) fn helps(&self, failure: &Failure) -> bool {
        // Done twice, by two tools, is worse than not done.
        !failure.facts().may_have_taken_effect
            && match &self.kinds {
                Some(kinds) => kinds.contains(&failure.kind()),
                None => is_the_tools(failure.kind()),
            }
    }
}

/// Whether another tool could do better with the same call.
fn is_the_tools(kind: FailureKind) -> bool {
    use FailureKind as K;
    match kind {
        K::Unavailable
        | K::Timeout
        | K::RateLimited
        | K::Network
        | K::Upstream
        | K::InvalidOutput
        | K::Internal
        | K::Authentication
        | K::QuotaExceeded
        | K::System => true,
        K::UnknownTool
        | K::InvalidArguments
        | K::TruncatedArguments
        | K::NotFound
        | K::Precondition
        | K::Conflict
        | K::Permission
        | K::Execution
        | K::Repeated
        | K::Cancelled
        | K::Broken => false,
    }
}

impl Mapping {
    /// The arguments for the other tool. What is no JSON is passed on as it is.
    pub(crate) fn apply(&self, arguments: RawArguments) -> RawArguments {
        let value = match (self, arguments) {
            (Self::Same, arguments) => return arguments,
            (_, RawArguments::Json(value)) => value,
            (_, RawArguments::Text(text) | RawArguments::CutOff(text)) => {
                match serde_json::from_str(&text) {
                    Ok(value) => value,
                    Err(_) => return RawArguments::Text(text),
                }
            }
        };
        RawArguments::Json(match self {
            Self::Same => value,
            Self::Template(template) => filled(template, &value).unwrap_or_default(),
            Self::Function(map) => map(&value),
        })
    }
}

/// The template with the arguments in it. Templates are the user's own, and shallow.
fn filled(template: &Value, arguments: &Value) -> Option<Value> {
    match template {
        Value::String(text) => match text.strip_prefix('$') {
            Some(literal) if literal.starts_with('$') => Some(literal.into()),
            Some(name) => arguments.get(name).cloned(),
            None => Some(template.clone()),
        },
        Value::Array(items) => {
            Some(items.iter().filter_map(|item| filled(item, arguments)).collect())
        }
        Value::Object(fields) => {
            let filled =
                |(name, value): (&String, &Value)| Some((name.clone(), filled(value, arguments)?));
            Some(Value::Object(fields.iter().filter_map(filled).collect::<Map<_, _>>()))
        }
        other => Some(other.clone()),
    }
}

impl By {
    /// The name under which the substitute is spoken of; a fixed answer has none.
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Self::Tool { name, .. } => Some(name),
            Self::Value(_) => None,
        }
    }
}

impl fmt::Debug for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool { name, .. } => f.debug_tuple("Tool").field(name).finish(),
            Self::Value(_) => f.write_str("Value"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_template_takes_the_arguments_it_names() {
        let template = json!({ "text": "$query", "limit": 5, "gone": "$nothing", "price": "$$5",
            "nested": { "list": ["$query", "$nothing"] } });
        let arguments = json!({ "query": "rust", "other": 1 });
        let expected =
            json!({ "text": "rust", "limit": 5, "price": "$5", "nested": { "list": ["rust"] } });
        assert_eq!(filled(&template, &arguments), Some(expected));
    }
}
