//! Replacements: how a secret that was removed is marked, and how such a mark is known again.

use std::fmt::Write;

use super::Span;

/// What stands for a secret of which nothing is to be told.
pub(super) const GONE: &str = "[redacted:value#0000]";

/// The longest replacement.
const LONGEST_MARK: usize = 96;

/// What a replacement begins with. What holds it is never replaced again.
pub(super) const MARK: &str = "[redacted:";

/// The text with a replacement for each secret.
pub(super) fn replaced(text: &str, found: &[Span]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut kept = 0;
    let mut spans = found.iter().copied().peekable();
    while let Some(mut span) = spans.next() {
        // What overlaps is one secret, under the name of the one that begins first.
        while let Some(next) = spans.next_if(|next| next.start < span.end) {
            span.end = span.end.max(next.end);
        }
        out.push_str(&text[kept..span.start]);
        let whole = fingerprint(&text[span.start..span.end]);
        // Sixteen bits tell two secrets apart and tell nothing of either.
        let _ = write!(out, "{MARK}{}#{:04x}]", span.name, (whole ^ (whole >> 16)) & 0xffff);
        kept = span.end;
    }
    out.push_str(&text[kept..]);
    out
}

/// Whether a span is a secret outside of the replacements that were made before; one that reaches
/// into a replacement is cut short. Only what is written exactly as we write it counts, or a tool
/// could hide a secret behind it.
pub(super) fn keep_outside_of_marks(text: &str, span: &mut Span) -> bool {
    let near = text.floor_char_boundary(span.start.saturating_sub(LONGEST_MARK));
    let far = text.ceil_char_boundary((span.end + LONGEST_MARK).min(text.len()));
    let mut at = near;
    let mut within = 0;
    while let Some(found) = text[at..far].find(MARK) {
        let start = at + found;
        at = start + MARK.len();
        let Some(length) = mark_length(&text[start..far]) else { continue };
        let end = start + length;
        if end <= span.start || start >= span.end {
        } else if start <= span.start {
            span.start = end.min(span.end);
        } else if end >= span.end {
            span.end = start;
        } else {
            within += length;
        }
        at = end;
    }
    let left =
        span.end.saturating_sub(span.start) - within.min(span.end.saturating_sub(span.start));
    left >= if within > 0 { 4 } else { 1 }
}

/// How long the replacement at the beginning of a text is, if it is one of ours.
fn mark_length(text: &str) -> Option<usize> {
    let name = text[MARK.len()..].find('#').filter(|name| (1..LONGEST_MARK).contains(name))?;
    let named = text[MARK.len()..MARK.len() + name]
        .bytes()
        .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    let end = MARK.len() + name + 6;
    let hash = text.get(MARK.len() + name + 1..end - 1)?;
    (named
        && hash.bytes().all(|b| b.is_ascii_hexdigit())
        && text.as_bytes().get(end - 1) == Some(&b']'))
    .then_some(end)
}

/// Tells two secrets apart: FNV-1a.
pub(super) fn fingerprint(secret: &str) -> u32 {
    let byte = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    secret.bytes().fold(0x811c_9dc5, byte)
}
