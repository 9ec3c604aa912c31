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
        }
    }
}
