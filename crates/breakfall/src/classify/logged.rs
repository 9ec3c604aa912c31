//! Lines of a log that are made of keys and values become what they say: of
//! `time="…" level=error msg="no such volume: data"`, the time is not what is missing.

use std::borrow::Cow;

/// What such lines begin with.
const BEGINNINGS: &[&str] = &["time=", "level=", "ts="];

/// The keys whose values say something, in the order in which they are read.
const SAYING: &[&str] = &["msg=", "error=", "err="];

/// The text with each line of a log as what it says.
pub(super) fn messages(text: Cow<'_, str>) -> Cow<'_, str> {
    let said = text.trim_end();
    let last = &said[memchr::memrchr(b'\n', said.as_bytes()).map_or(0, |at| at + 1)..];
    if !is_logged(&text) && !is_logged(last) {
        return text;
    }
    let said = text.lines().map(|line| message(line).unwrap_or_else(|| line.to_owned()));
    Cow::Owned(said.collect::<Vec<_>>().join("\n"))
}

fn is_logged(line: &str) -> bool {
    BEGINNINGS.iter().any(|begin| line.starts_with(begin))
}

/// What a line says: its message, then the error that it came with.
fn message(line: &str) -> Option<String> {
    let values = SAYING.iter().filter_map(|key| value(line, key));
    let said: Vec<String> = if is_logged(line) { values.collect() } else { Vec::new() };
    (!said.is_empty()).then(|| said.join(": "))
}

/// The value of a key, without its quotes.
fn value(line: &str, key: &str) -> Option<String> {
    let mut starts = line.match_indices(key).map(|(at, _)| at);
    let start = starts.find(|at| line[..*at].ends_with(' '))? + key.len();
    let rest = &line[start..];
    let Some(quoted) = rest.strip_prefix('"') else {
        return rest.split(' ').next().filter(|value| !value.is_empty()).map(ToOwned::to_owned);
    };
    let mut value = String::with_capacity(quoted.len());
    let mut letters = quoted.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => break,
            '\\' => match letters.next()? {
                'n' => value.push('\n'),
                't' => value.push('\t'),
                other => value.push(other),
            },
            other => value.push(other),
        }
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_log_is_what_it_says() {
        for (text, said) in [
            (
                r#"time="2026-11-16T17:58:28Z" level=error msg="no such volume: \"data\"""#,
                "no such volume: \"data\"",
            ),
            (
                r#"level=fatal msg="open config" error="permission denied" path=/etc/x"#,
                "open config: permission denied",
            ),
            ("pulling\ntime=\"x\" level=error msg=gone", "pulling\ngone"),
            ("time=\"half \\", "time=\"half \\"),
            ("level=error msg=\"never closed", "never closed"),
            ("the level=error of msg=\"x\"", "the level=error of msg=\"x\""),
        ] {
            assert_eq!(messages(Cow::Borrowed(text)), said, "{text}");
        }
    }
}
