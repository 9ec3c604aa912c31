//! What a name is among the others that a failure may be about: named again, the only one, the next
//! one to the decisive words.

use super::candidates::Candidate;
use super::signs::{REACH, Sign, Signs};

/// Signs that depend on the other candidates.
const OF_ALL: &[Sign] =
    &[Sign::Again, Sign::OnlyName, Sign::Extends, Sign::NextBefore, Sign::NextBehind];

/// Tells of each what the others tell of it.
pub(super) fn signs_of_all(found: &mut [Candidate]) {
    for one in &mut *found {
        one.signs.remove(OF_ALL);
    }
    again(found);
    nearest(found);
}

/// What is named more than once is more likely what it is about.
fn again(found: &mut [Candidate]) {
    // In order, a name stands before what it is the beginning of.
    let mut order: Vec<usize> = (0..found.len()).collect();
    order.retain(|at| !found[*at].signs.has(Sign::Plain));
    order.sort_unstable_by_key(|at| found[*at].text);
    let mut last: Option<&str> = None;
    let mut alike = order.chunk_by(|one, other| found[*one].text == found[*other].text).peekable();
    let mut signs = Vec::with_capacity(order.len());
    let only = alike.peek().is_some_and(|alike| alike.len() == order.len());
    for alike in alike {
        let name = found[alike[0]].text;
        let rest = last.and_then(|last| name.strip_prefix(last));
        let mut of_all = Signs::default();
        of_all.add_if(alike.len() > 1, Sign::Again);
        of_all.add_if(only, Sign::OnlyName);
        of_all.add_if(rest.is_some_and(|rest| rest.starts_with(['/', '.', '\\'])), Sign::Extends);
        signs.extend(alike.iter().map(|_| of_all));
        last = Some(name);
    }
    for (at, signs) in order.into_iter().zip(signs) {
        found[at].signs.add_all(signs);
    }
}

/// Of the names on either side of the decisive words, the next one.
fn nearest(found: &mut [Candidate]) {
    for (side, sign) in [(0, Sign::NextBefore), (1, Sign::NextBehind)] {
        let names =
            found.iter().filter(|one| !one.signs.has(Sign::Plain) || one.signs.has(Sign::Quoted));
        let least = names.map(|one| one.gaps[side]).min().unwrap_or(usize::MAX);
        for one in found.iter_mut().filter(|one| one.gaps[side] == least && least < REACH) {
            one.signs.add(sign);
        }
    }
}
