//! What the expressions for errors and for secrets share.

use std::ops::Range;

use regex_automata::util::captures::Captures;
use regex_automata::util::syntax;

/// Bytes and ASCII: in Unicode mode the expressions would cost hundreds of MiB.
pub(crate) fn ascii() -> syntax::Config {
    syntax::Config::new().unicode(false).utf8(false)
}

/// One group of a match, where it took part, and the whole match.
pub(crate) fn group(captures: &Captures, number: usize) -> Option<(Range<usize>, Range<usize>)> {
    let group = captures.get_group(number)?;
    Some((group.start..group.end, captures.get_match()?.range()))
}

/// The first group that took part in a match, or the whole match where there is none; then the
/// whole match.
pub(crate) fn first_group(captures: &Captures) -> Option<(Range<usize>, Range<usize>)> {
    let whole = captures.get_match()?.range();
    let group = (1..captures.group_len()).find_map(|group| captures.get_group(group));
    Some((group.map_or(whole.clone(), |group| group.start..group.end), whole))
}
