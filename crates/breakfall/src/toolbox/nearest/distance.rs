//! How many edits lie between two names: letters left out, put in, replaced, or two neighbours
//! swapped, no part of a name edited twice (optimal string alignment). A machine word holds a
//! whole column of the usual table (Hyyrö, 2003), and nothing is allocated.

use super::letters::READ;

/// A name that others are compared to.
pub(super) struct Pattern<'a> {
    letters: &'a [u8],
    /// For each letter, where it stands in the name.
    places: [u64; 64],
}

impl<'a> Pattern<'a> {
    /// Of at most 64 letters.
    pub(super) fn new(letters: &'a [u8]) -> Self {
        let letters = &letters[..letters.len().min(READ)];
        let mut pattern = Self { letters, places: [0; 64] };
        for (place, letter) in letters.iter().enumerate() {
            pattern.places[usize::from(letter & 63)] |= 1 << place;
        }
        pattern
    }

    /// How many edits lie between the two.
    pub(super) fn distance(&self, other: &[u8]) -> usize {
        // What is the same at both ends costs nothing, and most near misses end here.
        let start = same_beginning(self.letters, other);
        let (mut mine, mut other) = (&self.letters[start..], &other[start..]);
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
        let last = 1_u64 << (many - 1);
        let (mut more, mut less) = (u64::MAX, 0_u64);
        let (mut diagonal, mut before) = (0_u64, 0_u64);
        let mut distance = many;
        for letter in other {
            let here = self.places[usize::from(letter & 63)] >> start;
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

/// How many letters both begin with, eight at a time.
fn same_beginning(one: &[u8], other: &[u8]) -> usize {
    let mut same = 0;
    let (mut mine, mut its) = (one, other);
    while let (Some((eight, mine_left)), Some((others, its_left))) =
        (mine.split_first_chunk::<8>(), its.split_first_chunk::<8>())
    {
        let differ = u64::from_le_bytes(*eight) ^ u64::from_le_bytes(*others);
        if differ != 0 {
            return same + differ.trailing_zeros() as usize / 8;
        }
        same += 8;
        (mine, its) = (mine_left, its_left);
    }
    same + mine.iter().zip(its).take_while(|(one, other)| one == other).count()
}
