//! What stands like a name and names nothing: keys and codes of a body, markup, a version, a page
//! that explains.

use std::ops::Range;

use super::candidates::Beside;
use super::letters::{DIGIT, LETTERS, UPPER, sorts};

/// Fields of bodies that hold a code, or say in which way something went.
const CODES: &[&str] = &[
    "code",
    "error",
    "error_code",
    "error_summary",
    "error_type",
    "errorcode",
    "errortype",
    "category",
    "contenttype",
    "declinecode",
    "docref",
    "docurl",
    "fault",
    "kind",
    "lang",
    "language",
    "level",
    "locale",
    "method",
    "provided",
    "rawtype",
    "reason",
    "severity",
    "status",
    "statusmessage",
    "syscall",
    "type",
    "warning",
    "warnings",
    ".tag",
];

/// Fields of bodies that hold a sentence.
const SENTENCES: &[&str] =
    &["description", "detail", "details", "error_description", "message", "msg", "title"];

/// More words than a name has.
const WORDS: usize = 6;

/// How the hosts of pages that explain begin.
const EXPLAINING: &[&str] =
    &["docs.", "developer.", "developers.", "help.", "support.", "schemas.", "www.w3.org"];

/// How far back the key of a value is looked for, and the beginning of a tag.
const KEY: usize = 48;
const TAG: usize = 256;

/// Whether what decided is said of a name that is empty: `Sheet '' not found`. Whatever else is named
/// beside it is something else.
pub(in crate::classify) fn is_of_nothing(said: &str, start: usize) -> bool {
    let before = said.get(..start).unwrap_or_default().trim_end();
    [r#"""#, "'", "`"].iter().any(|quote| {
        let open = before.strip_suffix(quote).and_then(|before| before.strip_suffix(quote));
        open.is_some_and(|before| before.ends_with(' '))
    })
}

/// Whether what stands there is no name of anything, of which the sorts of letters are known.
pub(super) fn is_nameless_of(text: &str, range: &Range<usize>, name: &str, sorts: u16) -> bool {
    says_nothing(name, sorts)
        || name == "s" && text[..range.start].ends_with('(')
        || is_tag(text, range)
        || is_number_in_brackets(text, range, name)
        || is_advised(text, range, name)
        || is_framed(text, range)
        || is_label(text, range, name)
        || is_code(text, range, name)
        || quoted(text, range).is_some_and(|(before, behind)| {
            is_key(before, behind)
                || is_in_a_tag(before)
                || is_value_of(before, SENTENCES)
                || !name.contains(' ') && is_value_of(before, CODES)
        })
}

/// Whether a value of a field, by itself, is no name of anything.
pub(super) fn is_nameless_field(field: &str, value: &str) -> bool {
    says_nothing(value, sorts(value))
        || !value.contains(' ') && is_one_of(field, CODES)
        || is_of_the_request(field)
}

/// How the names of values end that tell which request it was, or when.
const OF_THE_REQUEST: &[&str] =
    &["requestid", "reqid", "traceid", "spanid", "correlationid", "transactionid", "timestamp"];

/// What has an id that tells nobody what it is about: `request id: 7f3a`.
const IDENTIFIED: &[&str] = &["request", "trace", "correlation", "span"];

fn is_of_the_request(key: &str) -> bool {
    if !(5..48).contains(&key.len()) || !key.ends_with(['d', 'D', 'p', 'P']) {
        return false;
    }
    let letters = key.chars().filter(char::is_ascii_alphanumeric);
    let folded: String = letters.map(|c| c.to_ascii_lowercase()).collect();
    OF_THE_REQUEST.iter().any(|end| folded.ends_with(end))
}

/// Whether the words beside a value say that it tells which request it was, or when.
pub(super) fn tells_of_the_request(beside: &Beside, value: &str) -> bool {
    let is_time =
        |key: &str| matches!(key, "time" | "ts") && value.starts_with(|c: char| c.is_ascii_digit());
    let is_request_id = || {
        let is =
            |word: Option<&str>, known: &str| word.is_some_and(|w| w.eq_ignore_ascii_case(known));
        is(beside.before, "id") && IDENTIFIED.iter().any(|known| is(beside.ago, known))
    };
    let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    let is_number_of_code =
        || beside.before == Some("code") && value.bytes().all(|byte| byte.is_ascii_digit());
    beside.key.is_some_and(|key| is_time(key) || is_of_the_request(key))
        || beside.before.is_some_and(is_of_the_request)
        || is_request_id()
        || is_number_of_code()
        || beside.key.is_some_and(|key| key == "dtype" || is_one_of(key, SENTENCES))
        || beside.after.is_some_and(is_number) && is_of_the_request(value)
}

/// Pairs of words, protocols and shortened words, which look like paths or names.
const PAIRS: &[&str] = &[
    "and/or",
    "client/server",
    "he/she",
    "i/o",
    "input/output",
    "is/are",
    "key/value",
    "n/a",
    "on/off",
    "read/write",
    "true/false",
    "user/password",
    "username/password",
    "yes/no",
];

const LONGEST_PAIR: usize = 17;

fn is_of_the_sentence(name: &str) -> bool {
    let is_negative = || {
        name.strip_prefix('-').is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let is_pair =
        || name.starts_with("HTTP/") || PAIRS.iter().any(|pair| pair.eq_ignore_ascii_case(name));
    match name.as_bytes().last() {
        Some(b't') if name == ".git" || name.ends_with("n't") || name.ends_with("n’t") => true,
        Some(b')') => name.ends_with("(s)"),
        Some(b'e') if name.ends_with("...done") => true,
        Some(b'0'..=b'9') if is_negative() => true,
        _ => name.len() <= LONGEST_PAIR && name.contains('/') && is_pair(),
    }
}

/// Who speaks, before all that is said: `[server] no tasks found`.
fn is_tag(text: &str, range: &Range<usize>) -> bool {
    range.start == 1 && text.starts_with('[') && text[range.end..].starts_with("] ")
}

/// A number in brackets at the end of a line is a code: `no such item (4)`.
fn is_number_in_brackets(text: &str, range: &Range<usize>, name: &str) -> bool {
    let is_number = || name.len() < 6 && name.bytes().all(|byte| byte.is_ascii_digit());
    text[..range.start].ends_with(" (")
        && is_number()
        && text[range.end..].strip_prefix(')').is_some_and(|rest| {
            let rest = rest.trim_start_matches(['.', ' ']);
            rest.is_empty() || rest.starts_with('\n')
        })
}

/// The file of a frame, the host of a play, the server that made a page, the address of a service, the
/// tag of a page.
fn is_framed(text: &str, range: &Range<usize>) -> bool {
    let (before, behind) = (&text[..range.start], &text[range.end..]);
    match before.as_bytes().last() {
        Some(b'"') => before.ends_with("File \"") && behind.starts_with("\", line "),
        Some(b'[') => before.ends_with("fatal: [") && behind.starts_with("]: "),
        Some(b' ') => {
            before.ends_with("Server at ") && behind.starts_with(" Port ")
                || before.ends_with("API failed. (url: ")
        }
        Some(b'<') => {
            let tag = behind.find('>').map(|end| &behind[..end]);
            tag.is_some_and(|tag| tag.starts_with(' ') && tag.contains('='))
        }
        _ => false,
    }
}

/// What opens a line and says of what comes next what it is: `title: Not found`.
fn is_label(text: &str, range: &Range<usize>, name: &str) -> bool {
    let before = &text[..range.start];
    text[range.end..].starts_with(": ")
        && (before.is_empty() || before.ends_with('\n'))
        && (is_one_of(name, SENTENCES) || is_one_of(name, CODES))
}

/// A code behind what says that it is one, or in brackets behind a number: `reason: NO_DEVICE`,
/// `Error 1205 (HY000)`.
fn is_code(text: &str, range: &Range<usize>, name: &str) -> bool {
    let before = &text[..range.start];
    let is_upper = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    let may_be = matches!(before.as_bytes(), [.., b':', b' '] | [.., b' ', b'(']);
    if !may_be || !name.bytes().all(is_upper) {
        return false;
    }
    let is_said = || ["reason: ", "code: ", "Code: "].iter().any(|said| before.ends_with(said));
    let is_state = || {
        before.strip_suffix(" (").is_some_and(|b| b.ends_with(|c: char| c.is_ascii_digit()))
            && name.len() == 5
            && text[range.end..].starts_with(')')
    };
    name.contains('_') && is_said() || is_state()
}

/// Words before what one is told to do, or before who needs what is missing.
const ADVISING: &[&str] = &["run ", "Run ", "try ", "Try ", "use ", "Use ", "running "];

/// Who asks is known by these, and what is asked for is not.
const SECRET: &[&str] = &["provided key ", "API key ", "api key ", "access key "];

/// A command that one is told to run or call, who needs what is missing, and what one asks with.
fn is_advised(text: &str, range: &Range<usize>, name: &str) -> bool {
    let before = &text[..range.start];
    let is_advised = match before.as_bytes().last() {
        // What one is asked to do: `please re-login`.
        Some(b' ') => {
            ["required by ", "(required for ", "lease "].iter().any(|words| before.ends_with(words))
        }
        Some(b'`' | b'\'' | b'"') => {
            let before = &before[..before.len() - 1];
            before.ends_with("Call ")
                || is_told_to_use(before)
                || SECRET.iter().any(|secret| before.ends_with(secret))
                || name.contains(' ') && ADVISING.iter().any(|word| before.ends_with(word))
        }
        _ => false,
    };
    is_advised || is_page_to_look_at(before, name)
}

/// A sentence that begins with what one is told to use: `no such file; use 'c' to create it`.
fn is_told_to_use(before: &str) -> bool {
    let before = before.strip_suffix("use ").or_else(|| before.strip_suffix("Use "));
    before.is_some_and(|before| before.trim_end().ends_with([';', '.', ',', ')']))
}

/// A page that one is asked to look at.
fn is_page_to_look_at(before: &str, name: &str) -> bool {
    let is_page = name.starts_with("http://") || name.starts_with("https://");
    is_page && {
        let near = &before[before.floor_char_boundary(before.len().saturating_sub(TAG))..];
        let sentence = near.rsplit_once(". ").map_or(near, |(_, last)| last);
        let sentence = sentence.rsplit('\n').next().unwrap_or(sentence);
        ["Please ", "please ", "See ", "Visit "].iter().any(|word| sentence.starts_with(word))
            || sentence.ends_with(" visiting ")
    }
}

/// Methods of HTTP, an error of which nothing is known, and what stands for a value in a text that
/// was never filled in.
const NO_NAMES: &[&str] = &[
    "DELETE",
    "GET",
    "OPTIONS",
    "PATCH",
    "POST",
    "PUT",
    "UnknownError",
    "%s",
    "%d",
    "%v",
    "{}",
    "{0}",
    "~A",
    "~S",
    "~a",
    "~s",
];

/// `23:00`
fn is_clock(name: &str) -> bool {
    matches!(name.as_bytes(), [hour @ .., b':', ten, one]
        if matches!(hour.len(), 1 | 2) && [ten, one].into_iter().chain(hour).all(u8::is_ascii_digit))
}

/// Two words with a bracket or quotes between them, or a word with what it is: `Manager]Data`,
/// `msg=requested`, `paths: [a]`.
fn is_two(name: &str) -> bool {
    let closes = |mark: char, open: char| {
        name.find(mark)
            .is_some_and(|at| at > 0 && at + 1 < name.len() && !name[..at].contains(open))
    };
    closes(']', '[')
        || name.contains("`.`")
        || name.contains(": [") && !name.contains('{')
        || name.split_once('=').is_some_and(|(key, _)| is_one_of(key, SENTENCES))
}

fn says_nothing(name: &str, sorts: u16) -> bool {
    // Of letters and digits alone there are methods, and versions.
    if sorts & !(LETTERS | DIGIT) == 0 {
        return sorts & UPPER != 0 && NO_NAMES.contains(&name)
            || name.len() < 4 && is_version(name);
    }
    // Most names are letters, and none of what is looked for is.
    let has_marks = || name.bytes().any(|byte| b"[]<>=`".contains(&byte));
    let is_small = || name.starts_with(|first: char| first.is_ascii_lowercase());
    has_marks() && (is_markup(name) || is_two(name))
        || name.len() < 8 && !is_small() && (NO_NAMES.contains(&name) || is_clock(name))
        || name.starts_with("-//")
        || is_of_the_sentence(name)
        || is_version(name)
        || is_explanation(name)
        || name.split(' ').nth(WORDS).is_some() && !name.contains(['/', '\\'])
}

fn is_one_of(field: &str, names: &[&str]) -> bool {
    names.iter().any(|name| name.eq_ignore_ascii_case(field))
}

/// The attribute of a tag: `<meta name="robots">`.
fn is_in_a_tag(before: &str) -> bool {
    let near = &before[before.floor_char_boundary(before.len().saturating_sub(TAG))..];
    let tag = near.rfind(['<', '>']).map(|at| &near[at..]).filter(|_| near.ends_with('='));
    tag.and_then(|tag| tag.strip_prefix('<'))
        .is_some_and(|tag| tag.starts_with(|c: char| c.is_ascii_alphabetic() || c == '!'))
}

fn is_markup(name: &str) -> bool {
    name.contains("</") || name.contains("/>")
}

/// `0`, `1.0`, `v1`: what a protocol or a count of tries says.
fn is_version(name: &str) -> bool {
    let digits = name.strip_prefix('v').unwrap_or(name);
    name == "0"
        || name.len() < 4
            && digits.len() + 1 >= name.len()
            && (digits.len() < name.len() || digits.contains('.'))
            && digits.starts_with(|c: char| c.is_ascii_digit())
            && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

fn is_explanation(name: &str) -> bool {
    let host = name.strip_prefix("https://").or_else(|| name.strip_prefix("http://"));
    host.is_some_and(|host| EXPLAINING.iter().any(|begin| host.starts_with(begin)))
}

/// What stands before the quote of a name that is quoted as a whole, and behind it.
fn quoted<'t>(text: &'t str, range: &Range<usize>) -> Option<(&'t str, &'t str)> {
    let mark = text.as_bytes().get(range.start.checked_sub(1)?)?;
    let is_closed = text.as_bytes().get(range.end) == Some(mark);
    if !is_closed || !matches!(mark, b'"' | b'\'') {
        return None;
    }
    Some((text.get(..range.start - 1)?.trim_end(), text.get(range.end + 1..)?.trim_start()))
}

/// `{"key":`, or one of several.
fn is_key(before: &str, behind: &str) -> bool {
    behind.starts_with(':') && before.ends_with(['{', ','])
}

/// The value of such a field.
fn is_value_of(before: &str, fields: &[&str]) -> bool {
    let Some(before) = before.strip_suffix(':') else { return false };
    let near = &before[before.floor_char_boundary(before.len().saturating_sub(KEY))..];
    let key = near.trim_end().strip_suffix(['"', '\'']);
    let key = key.and_then(|near| Some(&near[near.rfind(['"', '\''])? + 1..]));
    key.is_some_and(|key| is_one_of(key, fields))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_so(text: &str, name: &str) -> bool {
        let start = text.find(name).unwrap();
        is_nameless_of(text, &(start..start + name.len()), name, sorts(name))
    }

    #[test]
    fn keys_codes_markup_and_pages_that_explain_name_nothing() {
        for (text, name) in [
            (r#"{"ok":false,"error":"channel_not_found"}"#, "ok"),
            (r#"{"ok":false,"error":"already_reacted"}"#, "already_reacted"),
            (r#"{ "mensaje" : "No tiene permisos" }"#, "mensaje"),
            ("{'_index': 'users', '_id': '9', 'found': False}", "_id"),
            ("Enable cookies to continue</noscript></body></html>", "continue</noscript>"),
            ("Not Found - https://docs.github.com/rest", "https://docs.github.com/rest"),
            (r#"{"apiVersion":"v1"}"#, "v1"),
            (r#"<meta name="robots" content="noindex">"#, "robots"),
            (r#"{"message":"権限がありません"}"#, "権限がありません"),
            (
                r#"{"mensaje":"No tiene permisos para acceder a este recurso"}"#,
                "No tiene permisos para acceder a este recurso",
            ),
            ("(reached max retries: 0): Not Found", "0"),
            (r#"{"message": {"lang": "en-US", "value": "it exists"}}"#, "en-US"),
            ("[Driver Manager]Data source name not found", "Manager]Data"),
            ("title: Not found\nstatus: 404", "title"),
            ("No device found, reason: NO_DEVICE", "NO_DEVICE"),
            ("Error 1205 (HY000): Lock wait timeout exceeded", "HY000"),
            ("Session not found: please re-login", "re-login"),
            ("is not ready yet. Call 'fit' before", "fit"),
            ("db file doesn't exist; use 'c' or 'n' flag", "c"),
            ("NotFound: UnknownError", "UnknownError"),
            ("Found no driver. Please get one from https://www.a.com/b", "https://www.a.com/b"),
            ("File \"/srv/a.py\", line 3, in f\nNot Found", "/srv/a.py"),
            ("<hr><address>Apache Server at a.dev Port 443</address>", "a.dev"),
            ("POST https://a.dev/refs: 422 exists", "POST"),
            ("closed until 23:00", "23:00"),
            ("Package ~A does not exist.", "~A"),
        ] {
            assert!(is_so(text, name), "{text}");
        }
        for (text, name) in [
            (r#"{"selector":"\#pay"}"#, "\\#pay"),
            ("{'_index': 'users', '_id': '9', 'found': False}", "users"),
            ("KeyError: 'user_id'", "user_id"),
            ("no such table: 'a', 'b'", "a"),
            ("https://github.com/docs not found", "https://github.com/docs"),
            ("Invoice 4711 not found", "4711"),
            ("no such file: File \"a.py\"", "a.py"),
            ("open a[7]: not found", "a[7]"),
            ("no room 'HY000' found", "HY000"),
            (r#"{"error": "no such file: a.txt"}"#, "a.txt"),
        ] {
            assert!(!is_so(text, name), "{text}");
        }
    }
}
