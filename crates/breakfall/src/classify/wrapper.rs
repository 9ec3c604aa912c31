//! What a framework says before the error of a tool: `Error executing tool NAME: …`. It is the same
//! for every error, so that nothing of it tells which one it is; least of all the tool's name.

/// How long a wrapper is at most, and how many stand within one another.
const LONGEST: usize = 200;
const MOST: usize = 3;

/// The words of a wrapper beside the name, in order.
const WORDS: &[&str] = &[
    "a",
    "again",
    "an",
    "call",
    "called",
    "calling",
    "encountered",
    "error",
    "errors",
    "exception",
    "execute",
    "executed",
    "executing",
    "execution",
    "fail",
    "failed",
    "failing",
    "fails",
    "failure",
    "for",
    "from",
    "function",
    "has",
    "i",
    "in",
    "invocation",
    "invoke",
    "invoking",
    "is",
    "mcp",
    "occurred",
    "of",
    "please",
    "raised",
    "run",
    "running",
    "the",
    "this",
    "to",
    "tool",
    "tools",
    "try",
    "trying",
    "unexpected",
    "unhandled",
    "use",
    "using",
    "was",
    "when",
    "while",
    "with",
];

/// The letters that a wrapper begins with, where that is not the name.
const FIRST: &[u8] = b"aefimtu";

/// What says of an error that there was one.
const NOTHING: &[&str] = &[
    "unknown",
    "unknown error",
    "unknown error occurred",
    "an unknown error occurred",
    "unspecified error",
    "an error occurred",
];

/// Whose name it is that comes next.
const NAMED: &[&str] = &["tool", "function"];

/// The error itself, without what is said around every error of this tool.
pub(super) fn inside<'t>(text: &'t str, tool: Option<&str>) -> &'t str {
    let mut text = text;
    for _ in 0..MOST {
        match without_one(text, tool) {
            Some(inside) => text = inside,
            None => break,
        }
    }
    let said = text.trim_end_matches(['.', '!']);
    if NOTHING.iter().any(|nothing| nothing.eq_ignore_ascii_case(said)) { "" } else { text }
}

fn without_one<'t>(text: &'t str, tool: Option<&str>) -> Option<&'t str> {
    // Most texts tell by their first letter or word that they begin otherwise.
    let is_first =
        |byte: &u8| FIRST.contains(&byte.to_ascii_lowercase()) || !byte.is_ascii_alphanumeric();
    let begins = tool.is_some_and(|tool| !tool.is_empty() && text.starts_with(tool));
    if !begins && (!text.as_bytes().first().is_some_and(is_first) || !opens(text)) {
        return None;
    }
    let near = &text[..text.floor_char_boundary(LONGEST)];
    let sign = memchr::memchr2(b':', b'\n', near.as_bytes());
    let head = match sign {
        Some(at) => &near[..at],
        None if near.len() == text.len() => near,
        None => return None,
    };
    let mut is_named = false;
    let mut before = "";
    let mut words = head.split_whitespace().map(trimmed).peekable();
    while let Some(word) = words.next() {
        let follows = NAMED.iter().any(|named| named.eq_ignore_ascii_case(before));
        let is_own = !is_of_wrapper(word);
        let is_name = Some(word) == tool || follows && (is_own || words.peek().is_none());
        if is_own && !is_name {
            return None;
        }
        is_named |= is_name || NAMED.iter().any(|named| named.eq_ignore_ascii_case(word));
        before = word;
    }
    is_named.then(|| sign.map_or("", |at| text[at + 1..].trim_start()))
}

/// Whether a wrapper may begin with the first word of a text: what is no plain word may be quoted.
fn opens(text: &str) -> bool {
    let letters = text.bytes().take_while(u8::is_ascii_alphanumeric).count();
    let is_plain = matches!(text.as_bytes().get(letters), Some(b' ')) && letters > 0;
    !is_plain || is_of_wrapper(&text[..letters])
}

fn is_of_wrapper(word: &str) -> bool {
    let lower = word.bytes().map(|byte| byte.to_ascii_lowercase());
    word.is_empty() || WORDS.binary_search_by(|known| known.bytes().cmp(lower.clone())).is_ok()
}

/// Without what quotes it or ends it.
fn trimmed(word: &str) -> &str {
    word.trim_matches([
        '\'', '"', '`', '(', ')', '[', ']', '<', '>', ',', '.', ';', '!', '\u{2018}', '\u{2019}',
    ])
}

#[cfg(test)]
mod tests {
    use super::{WORDS, inside};

    #[test]
    fn the_words_are_in_order() {
        assert!(WORDS.is_sorted());
    }

    #[test]
    fn what_is_said_of_every_error_is_left_out() {
        for (text, tool, error) in [
            ("Error executing tool get_weather", None, ""),
            ("Error executing tool delete_file: disk is gone: yes", None, "disk is gone: yes"),
            ("Error calling tool 'search'", None, ""),
            ("Error calling tool 'search': no: way", None, "no: way"),
            ("Error executing tool a: Error calling tool 'a': b", None, "b"),
            ("Tool render failed", Some("render"), ""),
            ("render failed: singular matrix", Some("render"), "singular matrix"),
            ("An error occurred while running `run`: x", Some("run"), "x"),
            ("MCP tool failed: x", None, "x"),
            ("tool call failed", None, ""),
            ("Error running tool: boom", None, "boom"),
            (
                "An error occurred while running the tool. Please try again. Error: division by zero",
                None,
                "division by zero",
            ),
            (
                "I encountered an error while trying to use the tool. This was the error: x",
                None,
                "x",
            ),
            ("Unknown error", None, ""),
            ("An unknown error occurred.", None, ""),
            // What tells something stays.
            ("Tool render not found", Some("render"), "Tool render not found"),
            (
                "Error: render: permission denied",
                Some("render"),
                "Error: render: permission denied",
            ),
            ("Tool execution timed out", None, "Tool execution timed out"),
            ("No such file: a", None, "No such file: a"),
            ("Unknown tool", None, "Unknown tool"),
            ("Unknown tool: x", None, "Unknown tool: x"),
            ("Unknown error: 0x7", None, "Unknown error: 0x7"),
            ("Please try again", None, "Please try again"),
            ("failed to open render: no", Some("render"), "failed to open render: no"),
            ("", Some(""), ""),
        ] {
            assert_eq!(inside(text, tool), error, "{text}");
        }
    }
}
