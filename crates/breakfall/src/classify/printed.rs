//! What Python prints of an error that is not shown as text, `TimeoutError('no answer')`, as it
//! would show it: `TimeoutError: no answer`.

use std::borrow::Cow;

use super::names;

/// The text as it is shown, where all of it is an error with the one sentence that it was given.
pub(super) fn said(text: Cow<'_, str>) -> Cow<'_, str> {
    match shown(&text) {
        Some(shown) => Cow::Owned(shown),
        None => text,
    }
}

fn shown(text: &str) -> Option<String> {
    let (name, given) = text.trim_end().strip_suffix(')')?.split_once('(')?;
    let given = given.strip_suffix(',').unwrap_or(given);
    let mark = given.chars().next().filter(|mark| matches!(mark, '\'' | '"'))?;
    let inside = given.get(1..)?.strip_suffix(mark)?;
    let is_name = name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'))
        && (names::is_type_name(name) || names::tell(name).is_some());
    let said = unescaped(inside, mark).filter(|_| is_name)?;
    Some(format!("{name}: {said}"))
}

/// What stands between two marks; `None` where one of them stands within.
fn unescaped(inside: &str, mark: char) -> Option<String> {
    let mut said = String::with_capacity(inside.len());
    let mut letters = inside.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next()? {
                'n' => said.push('\n'),
                't' => said.push('\t'),
                quoted @ ('\'' | '"' | '\\') => said.push(quoted),
                other => said.extend(['\\', other]),
            },
            letter if letter == mark => return None,
            letter => said.push(letter),
        }
    }
    Some(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_read_as_it_is_shown() {
        for (text, expected) in [
            ("TimeoutError('no answer')", "TimeoutError: no answer"),
            (r#"ValueError("it's\nbad")"#, "ValueError: it's\nbad"),
            (r"NotFound('no \'a\'',)", "NotFound: no 'a'"),
            // Two of them, none, and what is no error.
            ("KeyError('a', 'b')", "KeyError('a', 'b')"),
            ("TimeoutError()", "TimeoutError()"),
            ("open('a.csv')", "open('a.csv')"),
            ("File('a.csv')", "File('a.csv')"),
            ("", ""),
        ] {
            assert_eq!(said(Cow::Borrowed(text)), expected, "{text}");
        }
    }
}
