//! Calls as Python has them: `[read_file(path="a.txt", limit=3)]`.

use serde_json::{Map, Value};

use super::{IsTool, MOST, of_functions};
use crate::{Call, RawArguments};

/// The calls of tools that exist at the beginning of a text: one, or a list of them.
pub(super) fn calls(text: &str, is_tool: &IsTool<'_>) -> Vec<Call> {
    let mut calls = Vec::new();
    let mut rest = text.trim_start();
    while calls.len() < MOST {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || "[,;".contains(c));
        rest = rest.strip_prefix("print(").unwrap_or(rest);
        let Some((name, inner)) = rest.split_once('(') else { break };
        let name = of_functions(name.strip_suffix(".call").unwrap_or(name));
        let Some((fields, behind)) = is_tool(name).then(|| fields(inner)).flatten() else { break };
        calls.push(Call::new("", name, RawArguments::Json(Value::Object(fields))));
        rest = behind;
    }
    calls
}

/// `KEY=VALUE, …)`, and what stands behind.
fn fields(text: &str) -> Option<(Map<String, Value>, &str)> {
    let mut fields = Map::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        if let Some(behind) = rest.strip_prefix(')') {
            return Some((fields, behind));
        }
        let (key, behind) = rest.split_once('=')?;
        let (value, behind) = value(behind)?;
        fields.insert(key.trim().to_owned(), value);
        rest = behind.trim_start();
        rest = rest.strip_prefix(',').unwrap_or(rest);
    }
}

/// A value up to the comma or the bracket behind it.
fn value(text: &str) -> Option<(Value, &str)> {
    let mut json = String::new();
    let mut depth = 0_usize;
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        match next {
            ',' | ')' if depth == 0 => return Some((serde_json::from_str(&json).ok()?, rest)),
            '"' | '\'' => {
                rest = quoted(rest, next, &mut json)?;
                continue;
            }
            '[' | '{' => depth += 1,
            ']' | '}' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        let words = [("True", "true"), ("False", "false"), ("None", "null")];
        let word = words.iter().find(|(python, _)| rest.starts_with(python));
        let length = word.map_or(next.len_utf8(), |(python, _)| python.len());
        json.push_str(word.map_or(&rest[..length], |(_, json)| json));
        rest = &rest[length..];
    }
    None
}

/// Writes what stands between two of these quotes as JSON has it; what stands behind them.
fn quoted<'t>(text: &'t str, quote: char, json: &mut String) -> Option<&'t str> {
    let mut chars = text.char_indices().skip(1);
    json.push('"');
    while let Some((at, next)) = chars.next() {
        match next {
            '\\' => match chars.next()?.1 {
                '\'' => json.push('\''),
                escaped => json.extend(['\\', escaped]),
            },
            '\n' => json.push_str("\\n"),
            next if next == quote => {
                json.push('"');
                return text.get(at + 1..);
            }
            '"' => json.push_str("\\\""),
            next => json.push(next),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_read_as_python_writes_them() {
        let text = r#"[f(a="x, y)", b='it\'s "so"', c=[1, 2.5, {'k': None}], d=True, e=-3), f()]!"#;
        let fields = json!({ "a": "x, y)", "b": "it's \"so\"", "c": [1, 2.5, { "k": null }],
                             "d": true, "e": -3 });
        let expected = [Call::new("", "f", fields), Call::new("", "f", json!({}))];
        assert_eq!(calls(text, &|name| name == "f"), expected);
        for text in
            ["f(", "f(a", "f(a=", "f(a=\"", "f(a='\\", "f(a=])", "f(\"a\")", "g()", "f(a=b)"]
        {
            assert_eq!(calls(text, &|name| name == "f"), [], "{text}");
        }
    }
}
