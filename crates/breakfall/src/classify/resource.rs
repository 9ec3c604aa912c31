//! What a failure is about: the path, URL, table, branch or name that is missing, denied or in
//! the way.

use std::ops::Range;
use std::sync::LazyLock;

use super::pattern::Pattern;
use super::quotes::Quotes;
use crate::FailureKind;

/// Places that tell by their form alone, the surest first.
static FORMS: LazyLock<Vec<(&[FailureKind], Pattern)>> = LazyLock::new(|| {
    use FailureKind as K;
    const ANY: &[FailureKind] =
        &[K::NotFound, K::Permission, K::Conflict, K::Precondition, K::InvalidArguments, K::Unavailable];
    const WEB: &[FailureKind] = &[K::NotFound, K::Permission, K::Conflict];
    const TOOL: &[FailureKind] = &[K::UnknownTool];
    const HERE: &[FailureKind] = &[K::NotFound, K::Conflict, K::Permission];
    const CONFLICT: &[FailureKind] = &[K::Conflict];
    const MISSING: &[FailureKind] = &[K::NotFound];
    const DENIED: &[FailureKind] = &[K::Permission];
    const OFF: &[FailureKind] = &[K::Unavailable];
    vec![
        // [Errno 13] Permission denied: 'a' -> 'b', and Node's `, rename 'a' -> 'b'`
        (DENIED, Pattern::new(r#"\[Errno \d+\] [^:'"\n]+: ?'[^'\n]+' -> '([^'\n]+)'"#)),
        (ANY, Pattern::new(r#"(?:\[Errno \d+\]|\bE[A-Z]{3,}:)[^'"\n]*?['"]([^'"\n]+)['"]"#)),
        (ANY, Pattern::new(r"\bspawn (\S+) E[A-Z]+")),
        (ANY, Pattern::new(r"\b(?:EADDRINUSE|EACCES)\b[^\n]*? (\S*:\d+)\b")),
        // URLs
        (WEB, Pattern::new(r#"(?i)\bfor url:? ?[('"]?(https?://[^\s'")]+)"#)),
        (WEB, Pattern::new(r#"\burl=['"](https?://[^'"]+)['"]"#)),
        (WEB, Pattern::new(r"when requesting (https?://\S+) returned")),
        (WEB, Pattern::new(r"^(https?://\S+?): status code")),
        (WEB, Pattern::new(r"^HTTP \d{3}: [^\n]*\((https?://[^\s)]+)\)")),
        (WEB, Pattern::new(r"\b404[^\n]*?(?:GET|POST|PUT|DELETE|HEAD|PATCH) https?://[^\s/]+/(?:\S*/)?([^\s/]+) - Not found")),
        (MISSING, Pattern::new(r"\bCannot (?:GET|POST|PUT|DELETE|PATCH) (\S+)")),
        // Databases
        (CONFLICT, Pattern::new(r"Key \([^)\n]*\)=\(([^)\n]*)\) already exists")),
        (CONFLICT, Pattern::new(r"Duplicate entry '([^'\n]+)'")),
        (CONFLICT, Pattern::new(r#"dup key: \{[^"\n]*"([^"\n]+)""#)),
        (CONFLICT, Pattern::new(r"UNIQUE constraint failed: ([\w.]+)")),
        (CONFLICT, Pattern::new(r"(?i)\bexisting (?:id|record)[:= ]+(\S+)")),
        (CONFLICT, Pattern::new(r"(?i)duplicates value on record with id: (\w+)")),
        (HERE, Pattern::new(r#"(?i)\b(?:relation|table|database|role|schema|sequence|view|index|type|collection|column) ["'`]([^"'`\n]+)["'`](?: of relation "[^"]+")? (?:does not exist|doesn't exist|already exists|not found|does not match)"#)),
        (MISSING, Pattern::new(r"(?i)\bno such (?:table|view|index|column): ([\w.]+)")),
        (CONFLICT, Pattern::new(r"(?i)\b(?:table|index|view) (\w+) already exists")),
        (DENIED, Pattern::new(r"(?i)permission denied for (?:table|relation|schema|view|sequence|function|database|language|column) ([\w.]+)")),
        (DENIED, Pattern::new(r"command denied to user [^\n]*? for table [`'](?:[^`'\n]+[`']\.[`'])?([^`'\n]+)[`']")),
        (DENIED, Pattern::new(r#"not authorized to perform: \S+ on resource: "?([^"\s]+)"?"#)),
        (DENIED, Pattern::new(r"not authorized on (\S+) to")),
        (DENIED, Pattern::new(r"(?i)outside (?:the )?allowed director(?:y|ies): (\S+)")),
        (DENIED, Pattern::new(r"Protected branch update failed for (\S+?)\.?(?:\s|$)")),
        (DENIED, Pattern::new(r"(?i)access denied: Table ([^\s:]+:[^\s:]+)")),
        (DENIED, Pattern::new(r"(?i)does not have access to (?:model|project|repository|resource) [`'\x22]?([^`'\x22\s]+)")),
        (CONFLICT, Pattern::new(r"(?i)(?:get|acquire) lock (/\S+?)\.?(?:\s|$)")),
        // Tools
        (TOOL, Pattern::new(r#"(?i)\b(?:unknown tool|no such tool available|unknown function|tool not found|no tool named|no such tool)[:\s]+['"`]?([\w.\-/:]+?)['"`.]?(?:\s|$|\.)"#)),
        (TOOL, Pattern::new(r#"(?i)\b(?:tool|plugin|function|method|command) ['"`]([^'"`\n]+)['"`] (?:is )?not (?:found|registered|among)"#)),
        (TOOL, Pattern::new(r#"(?i)\btool ([\w.\-/:]+) (?:not found|does not exist|is not)"#)),
        (TOOL, Pattern::new(r#"(?i)(?:evaluation|attribute|tool): ?'([^'\n]+)'"#)),
        (TOOL, Pattern::new(r#"has no attribute '([^'\n]+)'"#)),
        // Others
        (MISSING, Pattern::new(r"(?i)\bno module named '?([\w.\-]+)'?")),
        (MISSING, Pattern::new(r"satisfies the requirement (\S+)")),
        (MISSING, Pattern::new(r"(?i)\bpathspec '([^'\n]+)'")),
        (MISSING, Pattern::new(r"(?i)\bunable to locate package (\S+)")),
        (MISSING, Pattern::new(r"(?i)\bPlugin (\S+) or one of its dependencies")),
        (MISSING, Pattern::new(r"Could not find artifact (\S+)")),
        (MISSING, Pattern::new(r"(?m)^--> ([^\s:]+):\d+:\d+")),
        (MISSING, Pattern::new(r"(?i)\bwith the (?:number|name|login|id) of '?([^\s'.]+)'?")),
        (MISSING, Pattern::new(r"(?m)npm error path (\S+)")),
        (OFF, Pattern::new(r"(?i)docker daemon at (\S+?)\.?(?:\s|$)")),
        (OFF, Pattern::new(r"(?i)\b(?:container|cluster|service|instance|job|pod) (\S+) is (?:not running|in unexpected state)")),
        (DENIED, Pattern::new(r"(?i)daemon socket at (\S+?):?(?:\s|$)")),
    ]
});

/// The resource of a failure, where its kind is about one.
pub(super) fn find(kind: FailureKind, text: &str, words: Option<&Range<usize>>, quotes: &Quotes) -> Option<String> {
    use FailureKind as K;
    if !matches!(
        kind,
        K::NotFound | K::Permission | K::Conflict | K::Precondition | K::UnknownTool | K::Unavailable | K::InvalidArguments
    ) {
        return None;
    }
    let by_form = FORMS
        .iter()
        .filter(|(kinds, _)| kinds.contains(&kind))
        .find_map(|(_, pattern)| pattern.text(text));
    if let Some(found) = by_form {
        return tidy(found);
    }
    if kind == K::InvalidArguments {
        return directory(text, quotes);
    }
    let words = words?;
    let line = line_of(text, words.start);
    behind_quoted(text, words, quotes)
        .or_else(|| before_quoted(text, &line, words, quotes))
        .or_else(|| behind_colon(text, &line, words))
        .or_else(|| field_before(text, &line, words))
        .or_else(|| word_before(text, &line, words))
        .or_else(|| word_behind(text, &line, words))
        .and_then(tidy)
}

/// Of the arguments only a directory in the way is a resource.
fn directory(text: &str, quotes: &Quotes) -> Option<String> {
    let about = ["omitting directory", "is a directory", "not a directory", "Is a directory", "Not a directory"];
    about.iter().any(|words| text.contains(words)).then_some(())?;
    let quote = quotes.0.first()?;
    tidy(&text[quote.clone()])
}

fn line_of(text: &str, at: usize) -> Range<usize> {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[at..].find('\n').map_or(text.len(), |newline| at + newline);
    start..end
}

/// `… not found: 'x'`, `… does not exist "x"`.
fn behind_quoted<'t>(text: &'t str, words: &Range<usize>, quotes: &Quotes) -> Option<&'t str> {
    let quote = quotes.0.iter().find(|quote| quote.start >= words.end)?;
    let between = text[words.end..quote.start].trim_end_matches(['"', '\'', '`', '‘', '“', '„', '«']);
    let short = between.len() <= 40 && !between.contains('\n');
    let plain = between.trim_matches([' ', ':', ',', '(']);
    let joins = plain.is_empty()
        || ["for", "named", "with name", "by", "to", "of", "in", "at", "the pattern", "file", "table", "user", "open"]
            .contains(&plain)
        || plain.starts_with("match the") && plain.len() < 40
        || between.ends_with("pattern ");
    (short && joins).then(|| &text[quote.clone()])
}

/// The first quotation of the clause that ends in the words.
fn before_quoted<'t>(text: &'t str, line: &Range<usize>, words: &Range<usize>, quotes: &Quotes) -> Option<&'t str> {
    let clause = ["FATAL:", "ERROR:", "rror: ", "fatal: ", "exist: "]
        .iter()
        .filter_map(|mark| text[line.start..words.start].rfind(mark).map(|at| line.start + at + mark.len()))
        .max()
        .unwrap_or(line.start);
    let inside = |from: usize| {
        quotes.0.iter().find(move |quote| quote.start > from && quote.end <= words.start)
    };
    let quote = inside(clause.saturating_sub(1)).or_else(|| inside(line.start.saturating_sub(1)))?;
    Some(&text[quote.clone()])
}

/// `not found: x`, `No such container: x`.
fn behind_colon<'t>(text: &'t str, line: &Range<usize>, words: &Range<usize>) -> Option<&'t str> {
    let rest = &text[words.end..line.end];
    let colon = rest.find(": ").or_else(|| rest.find(':').filter(|at| *at == 0))?;
    let between = &rest[..colon];
    if between.split_whitespace().count() > 3 || between.contains(['.', ',', ';', '(']) {
        return None;
    }
    let value = rest[colon + 1..].trim_start();
    let word = value.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | ')')).next()?;
    let rest_is_prose = value[word.len()..].trim().split_whitespace().count() > 6;
    (!word.is_empty() && (!rest_is_prose || looks_like_a_name(word)) && !is_stop_word(word)).then_some(word)
}

/// `cat: x: No such file or directory`, `tar: x: Cannot stat: No such file or directory`.
fn field_before<'t>(text: &'t str, line: &Range<usize>, words: &Range<usize>) -> Option<&'t str> {
    let before = text[line.start..words.start].trim_end_matches([' ', ':', '：', '(', '-', '[']);
    let separators: &[&str] = &[": ", "："];
    let mut fields: Vec<&str> = vec![before];
    for separator in separators {
        fields = fields.into_iter().flat_map(|field| field.split(*separator)).collect();
    }
    for field in fields.iter().rev().take(3) {
        let field = field.trim();
        if field.contains(' ') {
            let last = field.rsplit(' ').next().unwrap_or(field);
            if looks_like_a_name(last) {
                return Some(last);
            }
        } else if !field.is_empty() && !is_stop_word(field) && (fields.len() > 1 || looks_like_a_name(field)) {
            return Some(field);
        }
    }
    None
}

/// `Role with name deployer already exists`.
fn word_before<'t>(text: &'t str, line: &Range<usize>, words: &Range<usize>) -> Option<&'t str> {
    let before = text[line.start..words.start].trim_end();
    let word = before.rsplit(' ').next()?.trim_matches(['"', '\'', '`', '(', ')', ',', ':']);
    (!word.is_empty() && !is_stop_word(word) && (looks_like_a_name(word) || before.contains("name "))).then_some(word)
}

/// `No module named x`, `already exists for x.`
fn word_behind<'t>(text: &'t str, line: &Range<usize>, words: &Range<usize>) -> Option<&'t str> {
    let rest = text[words.end..line.end].trim_start_matches([' ', ':', '-']);
    let rest = ["for ", "named ", "in ", "to ", "at "].iter().find_map(|w| rest.strip_prefix(w)).unwrap_or(rest);
    let word = rest.split(' ').next()?;
    (looks_like_a_name(word)).then_some(word)
}

/// A word with something in it that plain words have not.
fn looks_like_a_name(word: &str) -> bool {
    let inner = word.trim_matches(|c: char| matches!(c, '.' | ',' | ':' | ';' | '(' | ')' | '"' | '\'' | '!' | '?'));
    inner.len() > 1
        && inner.contains(|c: char| c.is_ascii_digit() || matches!(c, '/' | '_' | '.' | '\\' | '@' | '#' | '~' | '-') || !c.is_ascii())
        && !inner.starts_with('-')
        && !matches!(inner, "e.g" | "i.e")
}

fn is_stop_word(word: &str) -> bool {
    const WORDS: &[&str] = &[
        "is", "are", "was", "were", "be", "been", "could", "the", "a", "an", "file", "path", "directory", "error",
        "it", "that", "this", "which", "and", "or", "to", "of", "in", "for", "with", "not", "has", "have", "does",
        "resource", "entity", "object", "item", "page", "user", "you", "name", "key", "value", "table", "open",
        "failed", "fatal", "warning", "remote", "server", "client", "request", "requested", "already", "also", "or",
        "cannot", "stat", "access", "Error", "ERROR", "FATAL", "error:", "message", "operation", "attempt", "no",
    ];
    WORDS.contains(&word) || WORDS.contains(&word.to_ascii_lowercase().as_str())
}

/// Without what belongs to the sentence.
fn tidy(found: &str) -> Option<String> {
    let found = found.trim().trim_matches(['"', '`', '‘', '’', '“', '”', '„', '«', '»', ',']);
    let found = found.trim_end_matches([':', ';', ',']).trim_matches('\'');
    let found = if found.ends_with('.') && found.len() > 1 { found.trim_end_matches('.') } else { found };
    (!found.is_empty() && found.len() <= 256 && !found.contains('\n')).then(|| found.to_owned())
}
