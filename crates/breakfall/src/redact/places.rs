//! Secrets by place: what stands behind a name such as `password`, behind `Bearer`, or between
//! the scheme and the host of a URL.

/// Names whose value is a secret, in lower case without separators.
const NAMES: &[&str] = &[
    "password",
    "passwd",
    "pwd",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "privatekey",
    "authorization",
    "credential",
    "credentials",
];

const GONE: &str = "[redacted]";

/// The text without what stands in such places; nothing where none does.
pub(super) fn redact(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut kept = 0;
    let mut at = 0;
    while let Some(found) = text[at..].find(['=', ':', '@', ' ']) {
        let mark = at + found;
        at = mark + 1;
        let secret = match text.as_bytes()[mark] {
            b'@' => userinfo(text, mark),
            b' ' => bearer(text, mark),
            _ => assigned(text, mark),
        };
        if let Some((start, end)) = secret.filter(|(start, end)| *start >= kept && start < end) {
            out.push_str(&text[kept..start]);
            out.push_str(GONE);
            kept = end;
            at = at.max(end);
        }
    }
    if kept == 0 {
        return None;
    }
    out.push_str(&text[kept..]);
    Some(out)
}

/// `name=value`, `name: value`, `"name": "value"`.
fn assigned(text: &str, mark: usize) -> Option<(usize, usize)> {
    let name = text[..mark].trim_end_matches(['"', '\'', ' ', '`']);
    let start = name.rfind(|c: char| !(c.is_ascii_alphanumeric() || "_-.".contains(c)));
    let name: String = name[start.map_or(0, |at| at + 1)..]
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect();
    if !NAMES.iter().any(|known| name.ends_with(known)) {
        return None;
    }
    let rest = &text[mark + 1..];
    let space = rest.len() - rest.trim_start_matches([' ', '=', '>']).len();
    let value = &rest[space..];
    let scheme = ["Bearer ", "Basic ", "Token "].iter().find(|scheme| value.starts_with(**scheme));
    let skipped = scheme.map_or(0, |scheme| scheme.len());
    let start = mark + 1 + space + skipped;
    let value = &value[skipped..];
    if value.trim_start_matches(['"', '\'']).starts_with(GONE) {
        return None;
    }
    match value.chars().next()? {
        quote @ ('"' | '\'') => {
            let inside = &value[1..];
            Some((start + 1, start + 1 + inside.find(quote).unwrap_or(inside.len())))
        }
        _ => Some((start, start + word(value))),
    }
}

fn bearer(text: &str, mark: usize) -> Option<(usize, usize)> {
    let value = &text[mark + 1..];
    let length = word(value);
    (text[..mark].ends_with("Bearer") && length >= 8 && !value.starts_with(GONE))
        .then_some((mark + 1, mark + 1 + length))
}

/// The password of `scheme://user:password@host`.
fn userinfo(text: &str, mark: usize) -> Option<(usize, usize)> {
    let start = text[..mark].rfind("://")? + 3;
    let userinfo = &text[start..mark];
    let colon = userinfo.find(':')?;
    let plain = userinfo.contains(|c: char| c.is_whitespace() || c == '/');
    (!plain && &userinfo[colon + 1..] != GONE).then_some((start + colon + 1, mark))
}

fn word(value: &str) -> usize {
    value
        .find(|c: char| {
            c.is_whitespace() || matches!(c, '"' | '\'' | ',' | ';' | '&' | ')' | '}' | ']' | '`')
        })
        .unwrap_or(value.len())
}

#[cfg(test)]
mod tests {
    use super::redact;

    #[test]
    fn removes_what_stands_in_a_secrets_place() {
        for (text, redacted) in [
            ("password=hunter2 at host", "password=[redacted] at host"),
            ("DB_PASSWORD: hunter2", "DB_PASSWORD: [redacted]"),
            (r#"{"api_key": "abc", "n": 1}"#, r#"{"api_key": "[redacted]", "n": 1}"#),
            ("postgres://bob:hunter2@db/x", "postgres://bob:[redacted]@db/x"),
            ("Authorization: Bearer abcdefghij", "Authorization: Bearer [redacted]"),
            ("sent Bearer abcdefghij.klm on", "sent Bearer [redacted] on"),
        ] {
            assert_eq!(redact(text).as_deref(), Some(redacted), "{text}");
            assert_eq!(redact(redacted), None, "not idempotent: {redacted}");
        }
    }

    #[test]
    fn leaves_what_only_talks_about_secrets() {
        for text in [
            "the password is wrong",
            "no token found",
            "see https://example.org/a:b@c",
            "Bearer of news",
            "expected `,` or `}` at line 1",
            "",
        ] {
            assert_eq!(redact(text), None, "{text}");
        }
    }
}
