//! The required-field check of the `brynhild` preset.

use serde_json::Value;

use crate::{Arguments, Failure, FailureKind, Provenance};

/// The value of a required field: missing or empty gives `No LABEL provided`.
///
/// For tools that read loose arguments instead of a typed struct. As in the system it comes
/// from, whatever counts as empty there is missing: `null`, `false`, `0`, `""`, `[]`, `{}`.
///
/// ```
/// # use breakfall::{require_input, Arguments};
/// # fn tool(arguments: &Arguments) -> Result<(), breakfall::Failure> {
/// let command = require_input(arguments, "command", "shell command")?;
/// # Ok(())
/// # }
/// ```
pub fn require_input<'a>(
    arguments: &'a Arguments,
    field: &str,
    label: &str,
) -> Result<&'a Value, Failure> {
    arguments.value().get(field).filter(|value| !is_empty(value)).ok_or_else(|| {
        Failure::new(
            FailureKind::InvalidArguments,
            Provenance::Tool,
            format!("No {label} provided"),
        )
    })
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(truth) => !truth,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
    }
}
