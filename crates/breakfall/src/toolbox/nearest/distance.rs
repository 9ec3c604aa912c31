//! How many edits lie between two names: letters left out, put in, replaced, or two neighbours
//! swapped, no part of a name edited twice (optimal string alignment). A machine word holds a
//! whole column of the usual table (Hyyrö, 2003), and nothing is allocated.

use std::cell::OnceCell;

use super::letters::READ;

/// A name that others are compared to.
pub(super) struct Pattern<'a> {
    letters: &'a [u8],
    /// For each letter, where it stands in the name; made when it is first needed.
    places: OnceCell<[u64; 64]>,
}

impl<'a> Pattern<'a> {
    /// Of at most 64 letters.
    pub(super) fn new(letters: &'a [u8]) -> Self {
        Self { letters: &letters[..letters.len().min(READ)], places: OnceCell::new() }
    }

    /// How many edits lie between the two.
    pub(super) fn distance(&self, other: &[u8]) -> usize {
        // What is the same at both ends costs nothing, and most near misses end here.
        let mut start = 0;
        let (mut mine, mut other) = (self.letters, other);
        while let ([one, mine_left @ ..], [same, other_left @ ..]) = (mine, other)
            && one == same
        {
            (mine, other) = (mine_left, other_left);
            start += 1;
        }
        while let ([mine_left @ .., one], [other_left @ .., same]) = (mine, other)
            && one == same
        {
            (mine, other) = (mine_left, other_left);
        }
        match (mine, other) {
            ([], rest) | (rest, []) => rest.len(),
            ([one], rest) | (rest, [one]) => rest.len() - usize::from(rest.contains(one)),
            _ => self.columns(start, mine.len(), other),
        }
    }

    /// The table, a column for each letter of the other name, a bit for each of `many` of mine:
    /// how the cell differs from the one above it.
    fn columns(&self, start: usize, many: usize, other: &[u8]) -> usize {
        let places = self.places.get_or_init(|| {
            let mut places = [0; 64];
            for (place, letter) in self.letters.iter().enumerate() {
                places[usize::from(letter & 63)] |= 1 << place;
            }
            places
        });
        let last = 1_u64 << (many - 1);
        let (mut more, mut less) = (u64::MAX, 0_u64);
        let (mut diagonal, mut before) = (0_u64, 0_u64);
        let mut distance = many;
        for letter in other {
            let here = places[usize::from(letter & 63)] >> start;
            let swapped = ((!diagonal & here) << 1) & before;
            diagonal = ((here & more).wrapping_add(more) ^ more) | here | less | swapped;
            let up = less | !(diagonal | more);
            let down = diagonal & more;
            distance += usize::from(up & last != 0);
            distance -= usize::from(down & last != 0);
            let up = (up << 1) | 1;
            more = (down << 1) | !(diagonal | up);
            less = diagonal & up;
            before = here;
        }
        distance
    }
}
