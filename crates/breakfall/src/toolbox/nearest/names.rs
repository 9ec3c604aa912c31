//! Many names, folded once: those that resemble another are found without looking at each.
//!
//! Names lie by length, with a signature of their letters each. A name is compared only when its
//! length and letters leave room for fewer edits than the best found so far have: those that could
//! be nearest come first, and the search ends when no other can be as near.

use std::sync::Arc;

use super::distance::Pattern;
use super::letters::{Letters, READ};
use super::spelled::Spelled;
use super::{IS_PART, IS_WITHIN, SAME, by_edits};

/// Names in their order, and what is found by them.
pub(crate) struct Names {
    spelled: Vec<Arc<str>>,
    /// The letters of all names, one after the other.
    letters: Vec<u8>,
    /// Those of each length.
    lengths: Vec<Length>,
    /// The parts of all names, in the order of their letters, then of the names.
    parts: Vec<Part>,
    /// Names that have letters without a code.
    others: Vec<u32>,
}

/// The names of one length, in their order.
#[derive(Default)]
struct Length {
    signatures: Vec<u64>,
    places: Vec<Place>,
}

/// A name by its number, and where its letters begin.
#[derive(Clone, Copy)]
struct Place {
    number: u32,
    start: u32,
}

/// A part of the name of this number.
struct Part {
    number: u32,
    start: u32,
    count: u32,
}

impl Names {
    /// Names that are in their order and differ.
    pub(crate) fn new<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let mut all = Self {
            spelled: names.map(Arc::from).collect(),
            letters: Vec::new(),
            lengths: (0..=READ).map(|_| Length::default()).collect(),
            parts: Vec::new(),
            others: Vec::new(),
        };
        let spelled = std::mem::take(&mut all.spelled);
        for (number, name) in (0_u32..).zip(&spelled) {
            match Letters::of(name) {
                Some(letters) if letters.is_plain() => all.place(number, &letters),
                _ => all.others.push(number),
            }
        }
        let Self { letters, parts, .. } = &mut all;
        parts.sort_unstable_by_key(|part| (part.letters(letters), part.number));
        Self { spelled, ..all }
    }

    fn place(&mut self, number: u32, letters: &Letters) {
        let codes = letters.all();
        let Ok(start) = u32::try_from(self.letters.len()) else {
            return self.others.push(number);
        };
        if codes.is_empty() {
            return;
        }
        self.letters.extend_from_slice(codes);
        let length = &mut self.lengths[codes.len()];
        length.signatures.push(letters.signature);
        length.places.push(Place { number, start });
        self.parts.extend(letters.parts().map(|(from, part)| Part {
            number,
            start: start + u32::try_from(from).unwrap_or_default(),
            count: u32::try_from(part.len()).unwrap_or_default(),
        }));
    }

    /// The name of this number.
    pub(crate) fn name(&self, number: usize) -> &Arc<str> {
        &self.spelled[number]
    }

    /// The numbers of the names that resemble `wanted` and may be told, nearest first.
    pub(crate) fn nearest<const LIMIT: usize>(
        &self,
        wanted: &str,
        may_tell: impl Fn(usize) -> bool,
    ) -> Nearest<LIMIT> {
        let mut found = Found { nearest: Nearest { keys: [u64::MAX; LIMIT], count: 0 }, may_tell };
        let Some(letters) = Letters::of(wanted) else {
            let all = 0..u32::try_from(self.spelled.len()).unwrap_or(u32::MAX);
            self.one_by_one(wanted, all, &mut found);
            return found.nearest;
        };
        if !letters.all().is_empty() {
            self.by_edits(&letters, &mut found);
            if !found.nearest.is_full() {
                self.by_part(&letters, &mut found);
            }
            if !found.nearest.is_full() {
                self.by_inclusion(&letters, &mut found);
            }
            self.one_by_one(wanted, self.others.iter().copied(), &mut found);
        }
        found.nearest
    }

    /// By the least edits that length and letters leave room for, the longest names first: of as
    /// many edits a longer name is nearer.
    fn by_edits<const LIMIT: usize>(
        &self,
        wanted: &Letters,
        found: &mut Found<LIMIT, impl Fn(usize) -> bool>,
    ) {
        let pattern = Pattern::new(wanted.all());
        let count = wanted.all().len();
        for least in 0..=count / 2 {
            if by_edits(least, count + least).is_none_or(|best| !found.nearest.takes(best, 0)) {
                break;
            }
            for length in (count.saturating_sub(least).max(1)..=(count + least).min(READ)).rev() {
                let Some(best) = by_edits(least, length.max(count)) else { break };
                let names = &self.lengths[length];
                if names.places.is_empty() || !found.nearest.takes(best, names.places[0].number) {
                    continue;
                }
                let lacking = |signature: &u64| {
                    if length < count {
                        signature & !wanted.signature
                    } else {
                        wanted.signature & !signature
                    }
                };
                let look = |place: Place, found: &mut Found<LIMIT, _>| {
                    if !found.nearest.takes(best, place.number) {
                        return false;
                    }
                    let edits = pattern.distance(self.letters(place.start, length));
                    if edits == least {
                        found.take_known(best, place.number);
                    } else if let Some(score) = by_edits(edits, length.max(count)) {
                        found.take(score, place.number);
                    }
                    true
                };
                match least - length.abs_diff(count) {
                    0 => names.each(|signature| lacking(signature) == 0, look, found),
                    1 => names.each(|it| lacking(it).is_power_of_two(), look, found),
                    many => names.each(|it| lacking(it).count_ones() as usize == many, look, found),
                }
            }
        }
    }

    /// Those with a part that is `wanted`, or one of its parts.
    fn by_part<const LIMIT: usize>(
        &self,
        wanted: &Letters,
        found: &mut Found<LIMIT, impl Fn(usize) -> bool>,
    ) {
        let telling = wanted.parts().map(|(_, part)| part).filter(|part| part.len() > 2);
        for part in telling.chain([wanted.all()]) {
            let from = self.parts.partition_point(|other| other.letters(&self.letters) < part);
            let same = self.parts[from..].iter().take_while(|it| it.letters(&self.letters) == part);
            for other in same {
                if !found.nearest.takes(IS_PART, other.number) {
                    break;
                }
                found.take_anew(IS_PART, other.number);
            }
        }
    }

    /// Those that `wanted` stands in, and those that stand in it.
    fn by_inclusion<const LIMIT: usize>(
        &self,
        wanted: &Letters,
        found: &mut Found<LIMIT, impl Fn(usize) -> bool>,
    ) {
        const LEAST: usize = 3;
        let letters = wanted.all();
        for length in LEAST..=READ {
            let names = &self.lengths[length];
            let look = |place: Place, found: &mut Found<LIMIT, _>| {
                let name = self.letters(place.start, length);
                let (long, short) =
                    if length > letters.len() { (name, letters) } else { (letters, name) };
                if long.windows(short.len()).any(|window| window == short) {
                    found.take_anew(IS_WITHIN, place.number);
                }
                found.nearest.takes(IS_WITHIN, place.number)
            };
            if length < letters.len() {
                names.each(|signature| signature & !wanted.signature == 0, look, found);
            } else if letters.len() >= LEAST {
                names.each(|signature| wanted.signature & !signature == 0, look, found);
            }
        }
    }

    /// Those that have to be looked at each.
    fn one_by_one<const LIMIT: usize>(
        &self,
        wanted: &str,
        numbers: impl ExactSizeIterator<Item = u32>,
        found: &mut Found<LIMIT, impl Fn(usize) -> bool>,
    ) {
        if numbers.len() == 0 {
            return;
        }
        let wanted = Spelled::new(wanted);
        for number in numbers {
            if let Some(score) = wanted.resemblance(&self.spelled[number as usize]) {
                found.take(score, number);
            }
        }
    }

    fn letters(&self, start: u32, count: usize) -> &[u8] {
        let start = start as usize;
        self.letters.get(start..start + count).unwrap_or_default()
    }
}

impl Length {
    /// Looks at each name whose signature passes, as long as looking is worth it.
    fn each<T>(
        &self,
        passes: impl Fn(&u64) -> bool,
        look: impl Fn(Place, &mut T) -> bool,
        found: &mut T,
    ) {
        let mut from = 0;
        while let Some(behind) = self.signatures[from..].iter().position(&passes) {
            from += behind + 1;
            if !look(self.places[from - 1], found) {
                return;
            }
        }
    }
}

impl Part {
    fn letters<'a>(&self, all: &'a [u8]) -> &'a [u8] {
        let start = self.start as usize;
        all.get(start..start + self.count as usize).unwrap_or_default()
    }
}

/// The nearest names so far, and which count at all.
struct Found<const LIMIT: usize, F> {
    nearest: Nearest<LIMIT>,
    may_tell: F,
}

impl<const LIMIT: usize, F: Fn(usize) -> bool> Found<LIMIT, F> {
    fn take(&mut self, score: u32, number: u32) {
        if self.nearest.takes(score, number) {
            self.take_known(score, number);
        }
    }

    /// Takes a name that is known to be among the nearest, if it may be told.
    fn take_known(&mut self, score: u32, number: u32) {
        if (self.may_tell)(number as usize) {
            self.nearest.insert(key(score, number));
        }
    }

    /// Takes a name unless it is there already, for a better reason.
    fn take_anew(&mut self, score: u32, number: u32) {
        if !self.nearest.numbers().any(|known| known == number as usize) {
            self.take(score, number);
        }
    }
}

/// The nearest names, at most `LIMIT`, nearest first, ties in the order of the names.
pub(crate) struct Nearest<const LIMIT: usize> {
    keys: [u64; LIMIT],
    count: usize,
}

/// Sorts by score, the best first, then by number.
fn key(score: u32, number: u32) -> u64 {
    u64::from(SAME.saturating_sub(score)) << 32 | u64::from(number)
}

impl<const LIMIT: usize> Nearest<LIMIT> {
    fn is_full(&self) -> bool {
        self.count == LIMIT
    }

    /// Whether such a name would be among the nearest.
    fn takes(&self, score: u32, number: u32) -> bool {
        self.keys.last().is_some_and(|worst| key(score, number) < *worst)
    }

    /// Puts a key in its place; the worst falls out where there is no room.
    fn insert(&mut self, key: u64) {
        let mut at = self.count.min(LIMIT - 1);
        while at > 0 && self.keys[at - 1] > key {
            self.keys[at] = self.keys[at - 1];
            at -= 1;
        }
        self.keys[at] = key;
        self.count = (self.count + 1).min(LIMIT);
    }

    /// Their numbers.
    #[expect(clippy::cast_possible_truncation, reason = "the number is the lower half")]
    pub(crate) fn numbers(&self) -> impl ExactSizeIterator<Item = usize> {
        self.keys[..self.count].iter().map(|key| *key as u32 as usize)
    }
}
