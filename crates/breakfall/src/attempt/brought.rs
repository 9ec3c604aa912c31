//! What a call brings along and its tool only uses: a program, an address. What is wrong with that
//! says nothing of the tool.

use serde_json::Value;

/// Words in the names of arguments that hold a program.
const PROGRAMS: &[&str] = &[
    "bash",
    "cmd",
    "cmds",
    "command",
    "commands",
    "expression",
    "javascript",
    "python",
    "script",
    "shell",
    "sql",
];

/// Those that hold something else as often: a country, a question.
const PERHAPS: &[&str] = &["code", "function", "program", "query", "statement"];

/// What stands in a program, and hardly in a name or a question.
const SIGNS: [&str; 5] = ["(", "=", ";", "{", "\n"];

/// How queries begin.
const QUERIES: &[&str] = &[
    "alter", "create", "delete", "drop", "explain", "insert", "match", "merge", "select", "show",
    "update", "with",
];

/// Whether arguments hold a program: a command, code, a query.
pub(super) fn has_program(arguments: &Value) -> bool {
    let fields = arguments.as_object().into_iter().flatten();
    fields.into_iter().any(|(name, value)| {
        let text = match value {
            Value::String(text) => text.as_str(),
            // A command, word by word.
            Value::Array(words) if words.iter().all(Value::is_string) => "",
            _ => return false,
        };
        let is = |words: &[&str]| words_of(name).any(|word| is_one_of(word, words));
        is(PROGRAMS) || is(PERHAPS) && is_program(text)
    })
}

/// Names of arguments that hold an address, whatever it looks like.
const ADDRESSES: &[&str] = &["host", "hostname", "domain", "endpoint", "uri", "url"];

/// The address that a call brings along: its host, where it can be told.
pub(super) fn address(arguments: &Value) -> Option<&str> {
    let fields = arguments.as_object()?;
    fields.iter().find_map(|(name, value)| {
        let text = value.as_str()?;
        let host = match text.split_once("://") {
            Some((scheme, rest)) if scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()) => rest,
            _ if words_of(name).any(|word| is_one_of(word, ADDRESSES)) => text,
            _ => return None,
        };
        let end = host.find(['/', '?', '#']).unwrap_or(host.len());
        Some(&host[..end]).filter(|host| !host.is_empty())
    })
}

/// Words in the names of arguments that say how long to wait.
const TIMES: &[&str] =
    &["delay", "duration", "milliseconds", "ms", "seconds", "time", "timeout", "wait"];

/// Whether a call says itself how long to wait.
pub(super) fn has_time(arguments: &Value) -> bool {
    let mut fields = arguments.as_object().into_iter().flatten();
    fields
        .any(|(name, value)| value.is_number() && words_of(name).any(|word| is_one_of(word, TIMES)))
}

fn is_program(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    SIGNS.iter().any(|sign| text.contains(sign))
        || first.len() < text.trim().len() && is_one_of(first, QUERIES)
}

fn is_one_of(word: &str, words: &[&str]) -> bool {
    words.iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// The words of a name: `shell_command`, `shellCommand`.
fn words_of(name: &str) -> impl Iterator<Item = &str> {
    let mut rest = name;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(['_', '-', '.', ' ']);
        let bytes = rest.as_bytes();
        let ends = |at: &usize| {
            let at = *at;
            matches!(bytes[at], b'_' | b'-' | b'.' | b' ')
                || bytes[at].is_ascii_uppercase() && bytes[at - 1].is_ascii_lowercase()
        };
        let end = (1..bytes.len()).find(ends).unwrap_or(bytes.len());
        let (word, left) = rest.split_at(rest.floor_char_boundary(end));
        rest = left;
        (!word.is_empty()).then_some(word)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_command_code_or_a_query_is_a_program_and_a_country_or_a_question_is_none() {
        for arguments in [
            json!({ "command": "ls -la" }),
            json!({ "command": ["ls", "-la"], "directory": "/tmp" }),
            json!({ "shellCommand": "ls" }),
            json!({ "python_code": "x" }),
            json!({ "code": "print(1)" }),
            json!({ "sql": "select 1" }),
            json!({ "query": "SELECT 1/0" }),
            json!({ "expression": "1/0" }),
            json!({ "function": "() => document.title" }),
            json!({ "run-command": "x" }),
        ] {
            assert!(has_program(&arguments), "{arguments}");
        }
        for arguments in [
            json!({}),
            json!([]),
            json!({ "path": "ls -la" }),
            json!({ "country_code": "IT" }),
            json!({ "query": "how do I select a phone" }),
            json!({ "query": "select" }),
            json!({ "commandment": "x", "subscript": "y" }),
            json!({ "command": { "name": "x" } }),
            json!({ "Ü": "x", "": "y", "_": "z", "éCommandé": "x" }),
        ] {
            assert!(!has_program(&arguments), "{arguments}");
        }
    }

    #[test]
    fn a_time_is_known_by_its_name() {
        for arguments in [json!({ "timeout": 5 }), json!({ "text": "x", "waitMs": 1.5 })] {
            assert!(has_time(&arguments), "{arguments}");
        }
        for arguments in [json!({ "timestamp": 5 }), json!({ "time": "noon" }), json!({ "n": 5 })] {
            assert!(!has_time(&arguments), "{arguments}");
        }
    }

    #[test]
    fn an_address_is_known_by_its_scheme_or_its_name() {
        for (arguments, expected) in [
            (json!({ "url": "http://127.0.0.1:9/x" }), Some("127.0.0.1:9")),
            (json!({ "page": "https://a.example?x#y" }), Some("a.example")),
            (json!({ "db_host": "b.example", "n": 1 }), Some("b.example")),
            (json!({ "baseUrl": "c.example/x" }), Some("c.example")),
            (json!({ "text": "see http://d.example", "url": "" }), None),
            (json!({ "city": "Rome" }), None),
            (json!(["http://e.example"]), None),
        ] {
            assert_eq!(address(&arguments), expected, "{arguments}");
        }
    }
}
