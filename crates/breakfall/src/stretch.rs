//! Texts in stretches: whether a stretch holds something is told for all of its bytes at once, and
//! most hold nothing.

/// How many bytes are looked at together.
const STRETCH: usize = 32;

/// Where the first byte stands for which something holds. It is asked of every byte of a stretch,
/// so that it must be cheap and without a branch.
pub(crate) fn first(bytes: &[u8], is: impl Fn(u8) -> bool) -> Option<usize> {
    let mut at = 0;
    while let Some(stretch) = bytes[at..].first_chunk::<STRETCH>() {
        if stretch.iter().fold(false, |any, byte| any | is(*byte)) {
            break;
        }
        at += STRETCH;
    }
    bytes[at..].iter().position(|byte| is(*byte)).map(|behind| at + behind)
}

/// Whether something holds for every byte.
pub(crate) fn all(bytes: &[u8], is: impl Fn(u8) -> bool) -> bool {
    let (stretches, rest) = bytes.as_chunks::<STRETCH>();
    stretches.iter().all(|stretch| stretch.iter().fold(true, |all, byte| all & is(*byte)))
        && rest.iter().fold(true, |all, byte| all & is(*byte))
}

/// How many bytes a mask tells of.
pub(crate) const MASK: usize = 64;

/// For which of some bytes something holds, the first [`MASK`] of them, a bit for each. It is asked
/// of every byte, so that it must be cheap and without a branch; beyond the last one nothing holds.
pub(crate) fn mask(bytes: &[u8], is: impl Fn(u8) -> bool) -> u64 {
    match bytes.first_chunk::<MASK>() {
        Some(all) => mask_of(all, is),
        None => {
            let mut all = [0; MASK];
            all[..bytes.len()].copy_from_slice(bytes);
            mask_of(&all, is) & ((1 << bytes.len()) - 1)
        }
    }
}

fn mask_of(bytes: &[u8; MASK], is: impl Fn(u8) -> bool) -> u64 {
    let told = bytes.map(|byte| u8::from(is(byte)));
    let (eights, _) = told.as_chunks::<8>();
    // A product brings the lowest bits of eight bytes together, in its highest byte.
    let bits =
        |eight: &[u8; 8]| u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    eights.iter().rev().fold(0, |mask, eight| mask << 8 | bits(eight))
}

/// The places of the bits of a mask, in order.
pub(crate) fn bits(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let next = mask.trailing_zeros() as usize;
        mask &= mask.wrapping_sub(1);
        (next < MASK).then_some(next)
    })
}

/// Whether a byte does not stand for itself in a text of JSON: a quote, a backslash, or what is below
/// a space.
#[expect(clippy::needless_bitwise_bool, reason = "without branches it is done for many at once")]
pub(crate) fn is_marked(byte: u8) -> bool {
    (byte < b' ') | (byte == b'"') | (byte == b'\\')
}

/// Marks of eight bytes that are such: nothing where none is. The first is surely marked, in its
/// highest bit; what stands behind it may be without reason.
#[inline]
pub(crate) fn marks(eight: [u8; 8]) -> u64 {
    const EACH: u64 = u64::MAX / 0xff;
    let eight = u64::from_le_bytes(eight);
    // Where a byte is below another its highest bit is borrowed.
    let below = |bytes: u64, byte: u8| bytes.wrapping_sub(EACH * u64::from(byte)) & !bytes;
    let is = |byte: u8| below(eight ^ (EACH * u64::from(byte)), 1);
    (below(eight, b' ') | is(b'"') | is(b'\\')) & (EACH * 0x80)
}

/// Which of eight bytes is the first such.
#[inline]
pub(crate) fn first_marked(eight: [u8; 8]) -> Option<usize> {
    let marks = marks(eight);
    (marks != 0).then(|| marks.trailing_zeros() as usize / 8)
}

/// Where two bytes first stand beside each other.
pub(crate) fn first_pair(bytes: &[u8], [one, other]: [u8; 2]) -> Option<usize> {
    memchr::memchr_iter(one, bytes).find(|at| bytes.get(at + 1) == Some(&other))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_found_in_stretches_is_what_stands_there(text in "[ab: ]{0,100}") {
            let bytes = text.as_bytes();
            prop_assert_eq!(first(bytes, |byte| byte == b':'), text.find(':'));
            prop_assert_eq!(first_pair(bytes, *b": "), text.find(": "));
            prop_assert_eq!(all(bytes, |byte| byte != b':'), !text.contains(':'));
            let places = bits(mask(bytes, |byte| byte == b':'));
            let expected = bytes.iter().enumerate().take(MASK).filter(|(_, byte)| **byte == b':');
            prop_assert!(places.eq(expected.map(|(at, _)| at)));
        }

        #[test]
        fn the_first_byte_that_is_marked_is_found(
            bytes in prop::array::uniform8(prop_oneof![
                Just(b'"'), Just(b'\\'), Just(b'!'), Just(b' '), Just(b']'), any::<u8>()
            ])
        ) {
            let first = bytes.iter().position(|byte| is_marked(*byte));
            prop_assert_eq!(first_marked(bytes), first);
            prop_assert_eq!(marks(bytes) == 0, first.is_none());
        }
    }
}
