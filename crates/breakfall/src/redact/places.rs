//! Secrets by place: what is assigned to a name such as `password`, what a cookie holds, and
//! private keys, whole or cut.

use std::ops::Range;

use super::Span;
use super::columns::columns;
use super::entropy::{entropy, is_placeholder};
use super::judge::{fits, is_mixed, is_phrase, looks_generic, looks_secret};
use super::keys::private_key;
use super::names::{PASS, ends_in_pass, is_harmless, is_reference, is_suspicious, label};

/// The longest secret in a place.
const LONGEST: usize = 4 << 10;

/// How much of a value is looked at to tell whether it is a secret.
const JUDGED: usize = 512;

/// How far a name is followed on each side of a mark.
const AROUND: usize = 64;

/// What may announce a place, whatever its case.
pub(super) const MARKS: &[&str] = &[
    PRIVATE_KEY,
    "pass",
    "pwd",
    "secret",
    "token",
    "key",
    "cred",
    "connection",
    "session",
    "auth",
    "pin",
    "otp",
    "cookie",
    "access",
    "api",
    "pw",
    "psk",
    "_pat",
    "recovery",
    PERCENT,
    ENTITY,
    VALUES,
];

/// What a statement inserts follows.
const VALUES: &str = "values";

/// What begins a letter that is written as addresses or pages have it.
const PERCENT: &str = "%";
const ENTITY: &str = "&";

const PRIVATE_KEY: &str = "private key";

/// Looks for secrets in places, mark by mark.
pub(super) struct Search<'t> {
    text: &'t str,
    pub(super) found: Vec<Span<'static>>,
    /// Whether letters may be written otherwise.
    pub(super) is_encoded: bool,
    /// Up to where it has looked.
    until: usize,
    /// The `key` of a private key, which announces nothing more.
    key: Option<usize>,
    /// The last stretch without anything that ends a bare value.
    bare: Range<usize>,
}

impl<'t> Search<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, found: Vec::new(), is_encoded: false, until: 0, key: None, bare: 0..0 }
    }

    /// Looks at the place that a mark announces; marks come in order of their ends.
    pub(super) fn look(&mut self, mark: usize, start: usize) {
        match MARKS[mark] {
            PRIVATE_KEY => {
                private_key(self.text, start, &mut self.found);
                self.key = Some(start + PRIVATE_KEY.len() - "key".len());
            }
            PERCENT | ENTITY => self.is_encoded = true,
            VALUES => columns(self.text, start..start + VALUES.len(), &mut self.found),
            _ if start < self.until || self.key == Some(start) => {}
            _ => {
                if let Some(name) = name_around(self.text, start) {
                    self.until = self.assigned(&name).unwrap_or(name.end);
                }
            }
        }
    }

    /// The bare value that begins here. Values within one another are gone through once.
    fn bare(&mut self, start: usize) -> &'t str {
        let known = if self.bare.contains(&start) { self.bare.end } else { start };
        let most = self.text.floor_char_boundary(start + LONGEST);
        if known < most {
            self.bare = start..known + bare_length(&self.text[known..most]);
        }
        // At the end of the text there is none, and the last stretch lies before it.
        &self.text[start..self.bare.end.clamp(start, most)]
    }
}

/// A name that may hold a secret.
struct Name {
    /// In lower case without separators.
    folded: String,
    /// What a secret under this name is called, where the name alone tells.
    label: Option<&'static str>,
    /// How it is written.
    written: Written,
    /// Where it ends.
    end: usize,
}

/// How a name is written: its value may follow without a sign.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Written {
    Plainly,
    /// `--name value`, `"--name", "value"`, `ENV NAME value`.
    Flag,
    /// `:name => "value"`, `:name "value"`.
    Symbol,
}

/// The name that stands around a place.
fn name_around(text: &str, at: usize) -> Option<Name> {
    let part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let bytes = text.as_bytes();
    let start = bytes[..at].iter().rev().take(AROUND).take_while(|byte| part(byte)).count();
    let end = at + bytes[at..].iter().take(AROUND).take_while(|byte| part(byte)).count();
    let written = written(&bytes[..at], start)?;
    // Most words are followed by no sign at all.
    let behind = &bytes[end..bytes.len().min(end + 24)];
    let is_sign =
        |byte: &u8| matches!(byte, b'=' | b':' | b',' | b'|' | b'\'' | b'"' | b'`' | b'>' | 0xef);
    if written != Written::Flag && !behind.iter().any(is_sign) {
        return None;
    }
    let raw = text.get(at - start..end)?;
    let (mut letters, mut length) = ([0; 2 * AROUND], 0);
    for byte in raw.bytes().filter(u8::is_ascii_alphanumeric) {
        letters[length] = byte.to_ascii_lowercase();
        length += 1;
    }
    let name = std::str::from_utf8(&letters[..length]).ok()?;
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let label = label(name).or_else(|| ends_in_pass(raw).then_some(PASS));
    let may_hold = label.is_some() || is_suspicious(name, raw) && !is_harmless(name);
    may_hold.then(|| Name { folded: name.to_owned(), label, written, end })
}

/// How the name is written that begins so many bytes before the end; nothing where it is the name of
/// a file, or a part of a longer name.
fn written(before: &[u8], start: usize) -> Option<Written> {
    let (before, name) = before.split_at(before.len() - start);
    if before.ends_with(b"$env:") {
        return Some(Written::Plainly);
    }
    if before.ends_with(b"ENV ") {
        return Some(Written::Flag);
    }
    match before {
        [.., b' ' | b'\t' | b'\n' | b',' | b'{' | b'(' | b'[', b':'] | [b':'] => {
            Some(Written::Symbol)
        }
        [.., b'/' | b'\\' | b':'] => None,
        _ => Some(of_name(name)),
    }
}

fn of_name(begins: &[u8]) -> Written {
    if begins.starts_with(b"-") { Written::Flag } else { Written::Plainly }
}

impl Search<'_> {
    /// `name=value`, `name: value`, `"name": "value"`, `name => value`, also with escaped quotes.
    /// Gives back the end of the secret, when it found one.
    fn assigned(&mut self, name: &Name) -> Option<usize> {
        let Name { folded: name, label, written, end } = name;
        let (text, end) = (self.text, *end);
        let rest = &text[end..];
        let after = rest.trim_start_matches(['"', '\'', '`', '\\', ']', ')', '*']);
        let quoted_name = after.len() < rest.len();
        let after = past_type(after.trim_start_matches(BLANKS));
        let Some(sign) = SIGNS.iter().find(|sign| after.starts_with(**sign)) else {
            return match written {
                Written::Plainly => said(text, name, (*label)?, after, &mut self.found),
                Written::Flag | Written::Symbol => self.follows(after, *label, *written),
            };
        };
        // `setProperty("NAME", "value")` assigns; a list does not.
        let argument = *sign == "," && !(quoted_name && *written == Written::Flag);
        if *sign == "==" || argument && !(quoted_name && in_a_call(&text[..end])) {
            return None;
        }
        let value = after[sign.len()..].trim_start_matches(BLANKS).trim_start_matches('=');
        let value = value.trim_start_matches(BLANKS);
        let spaced = value.len() < after.len() - sign.len();
        let (value, is_one_of) = shown(value, quoted_name);
        let start = text.len() - value.len();
        if name.ends_with("cookie") {
            cookie(text, start, &mut self.found);
            return None;
        }
        let marks = ['\\', 'b', 'r', 'f', 'u', 'N', '@'];
        let opening = value.len() - value.trim_start_matches(marks).len();
        let (start, value, quoted) = match value[opening..].chars().next() {
            Some(quote @ ('"' | '\'' | '`')) => {
                let inside = start + opening + 1;
                (
                    inside,
                    &text[inside..inside + quoted_length(&text[inside..], quote, opening > 0)],
                    true,
                )
            }
            Some(_) => (start, self.bare(start), false),
            None => return None,
        };
        if !quoted && is_reference(value, spaced && *sign == "=") {
            return None;
        }
        let scheme = value.len() - skip_scheme(value).len();
        let (start, value) = (start + scheme, &value[scheme..]);
        let told = matches!(*sign, ":" | "->" | "\u{ff1a}");
        let prose = spaced && !quoted && !quoted_name && told || is_one_of;
        let end = start + value.len();
        let value = super::bounded(value, JUDGED);
        // Words in quotes are a passphrase where they are assigned as code does it.
        let phrase = quoted && !spaced && *sign == "=" && is_phrase(value);
        let found = &mut self.found;
        let prose = prose || argument;
        if let Some(known) = label.filter(|known| {
            phrase && !argument || looks_secret(value, quoted, prose) && fits(known, value)
        }) {
            found.push(Span { start, end, name: known });
            // `"old" -> "new"`, as Terraform shows what it changes.
            let changed = text[end..].strip_prefix("\" -> \"");
            if let Some(new) = changed {
                let start = text.len() - new.len();
                let end = start + quoted_length(new, '"', false);
                found.push(Span { start, end, name: known });
            }
        }
        if looks_generic(value) && !is_harmless(name) {
            found.push(Span { start, end, name: "generic-api-key" });
        }
        found.last().filter(|last| last.start >= start).map(|last| last.end)
    }
}

/// What stands between words of a line.
const BLANKS: [char; 3] = [' ', '\t', '\u{a0}'];

/// A value without what a language shows around it: `Some(`, `[`, `string(24) `, or a line break
/// before a quote. Whether it is one of several.
fn shown(value: &str, quoted_name: bool) -> (&str, bool) {
    let value = value.strip_prefix("Some(").unwrap_or(value);
    if let Some(first) = value.strip_prefix('[').filter(|_| !value.starts_with(super::MARK)) {
        return (first.trim_start_matches(BLANKS), true);
    }
    let next = value.trim_start_matches([' ', '\t', '\r', '\n']);
    let typed = next.strip_prefix("string(").and_then(|rest| rest.split_once(") "));
    let next = typed.filter(|(size, _)| size.len() < 6).map_or(next, |(_, rest)| rest);
    let is_next = quoted_name && next.len() < value.len() && next.starts_with(['"', '\'']);
    (if is_next { next } else { value }, false)
}

impl Search<'_> {
    /// `--token value`, `:token "value"`: what follows a name without a sign. Gives back the end of
    /// the secret.
    fn follows(
        &mut self,
        after: &str,
        label: Option<&'static str>,
        written: Written,
    ) -> Option<usize> {
        let next = after.trim_start_matches(['\r', '\n', ' ', '\t']);
        // In a list with an item a line.
        let after = if next.len() < after.len() { next.strip_prefix("- ")? } else { after };
        let start = self.text.len() - after.len();
        let quote = after.chars().next().filter(|first| matches!(first, '"' | '\'' | '`'));
        let (start, value) = match quote {
            Some(quote) => (start + 1, &after[1..=quoted_length(&after[1..], quote, false)]),
            None if written == Written::Flag => (start, self.bare(start)),
            None => return None,
        };
        let (quoted, flag) = (quote.is_some(), written == Written::Flag);
        if flag && value.starts_with(['-', '/', '.', '~', '@']) {
            return None;
        }
        let name = match label {
            Some(label) => looks_secret(value, quoted, flag).then_some(label)?,
            // `--ssh-key work-laptop-2` tells which one.
            None => (is_mixed(value) && looks_generic(value)).then_some("generic-api-key")?,
        };
        let end = start + value.len();
        self.found.push(Span { start, end, name });
        Some(end)
    }
}

/// Names whose values are told in a sentence.
const SAID: &[&str] = &["password", "passwd", "passphrase", "passcode", "pwd"];

/// `password 'value'`, `password was "value"`. Gives back the end of the secret.
fn said(
    text: &str,
    name: &str,
    label: &'static str,
    after: &str,
    found: &mut Vec<Span<'static>>,
) -> Option<usize> {
    SAID.iter().find(|known| name.ends_with(**known))?;
    let after = ["is ", "was "].iter().find_map(|word| after.strip_prefix(word)).unwrap_or(after);
    let quote = after.chars().next().filter(|first| matches!(first, '"' | '\'' | '`'))?;
    let inside = &after[1..];
    let start = text.len() - inside.len();
    let value = &inside[..quoted_length(inside, quote, false)];
    looks_secret(value, true, true).then(|| {
        let end = start + value.len();
        found.push(Span { start, end, name: label });
        end
    })
}

/// Whether a quoted name is the first argument of a call.
fn in_a_call(before: &str) -> bool {
    let quote = before.rfind(['"', '\'']);
    quote.is_some_and(|quote| before[..quote].trim_end_matches('b').ends_with('('))
}

/// What may stand between a name and its value, the longer first.
const SIGNS: &[&str] =
    &[":::=", "::=", ":=", "?=", ".=", "+=", "=>", "==", "->", "=", ":", ",", "||", "\u{ff1a}"];

/// Past the type of a declaration: `token string = "x"`.
fn past_type(text: &str) -> &str {
    let word = text.bytes().take_while(u8::is_ascii_alphanumeric).count();
    let rest = text[word..].trim_start_matches([' ', '\t', '?']);
    if word > 0 && word < 12 && rest.starts_with('=') { rest } else { text }
}

/// `Bearer x` as `x`.
fn skip_scheme(value: &str) -> &str {
    for scheme in ["bearer ", "basic ", "token ", "digest ", "apikey "] {
        if value.len() > scheme.len()
            && value.is_char_boundary(scheme.len())
            && value[..scheme.len()].eq_ignore_ascii_case(scheme)
        {
            return value[scheme.len()..].trim_start();
        }
    }
    value
}

fn quoted_length(inside: &str, quote: char, escaped: bool) -> usize {
    let mut before = ' ';
    for (at, c) in inside.char_indices() {
        if c == '\n' || at > 4096 {
            return at;
        }
        if c == quote && (escaped || before != '\\') {
            return if escaped && before == '\\' { at - 1 } else { at };
        }
        before = c;
    }
    inside.len()
}

/// How long a bare value is. A sign that ends most goes on where letters follow at once, and those
/// are not the next name.
fn bare_length(value: &str) -> usize {
    let ends = |c: char| {
        c.is_whitespace()
            || matches!(c, '"' | '\'' | ',' | ';' | '&' | ')' | '}' | ']' | '`' | '<' | '>' | '|')
    };
    let mut places = value.match_indices(ends);
    let end = places.find(|(at, sign)| !goes_on(sign, &value[at + sign.len()..]));
    end.map_or(value.len(), |(at, _)| at)
}

/// Whether a value goes on behind a sign.
fn goes_on(sign: &str, rest: &str) -> bool {
    if !matches!(sign, "," | ";" | "&" | "|" | ")" | "]" | "}" | "'") {
        return false;
    }
    let name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
    let length = rest.bytes().take(AROUND).take_while(name).count();
    let next = rest.as_bytes().get(length);
    length > 0
        && !matches!(next, Some(b'=' | b':' | b'(' | b'['))
        && (sign != "&" || length < AROUND)
}

/// The values of a cookie header that are long enough to be a session.
fn cookie(text: &str, start: usize, found: &mut Vec<Span<'static>>) {
    let line = text[start..].split(['\n', '\r']).next().unwrap_or_default();
    let mut at = start;
    for pair in line.split(';') {
        if let Some((_, value)) = pair.split_once('=') {
            let value = value.trim_matches(['"', '\'', ' ']);
            let value = &value[..bare_length(super::bounded(value, LONGEST))];
            let from = at + pair.rfind(value).unwrap_or(0);
            if value.len() >= 8 && !is_placeholder(value) && entropy(value) > 2.5 {
                found.push(Span { start: from, end: from + value.len(), name: "cookie" });
            }
        }
        at += pair.len() + 1;
    }
}
