//! Whatever a tool says, the model reads no escape sequence and no more than the limit.
#![no_main]

use breakfall::{Evidence, Reader, explain};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let explanation = explain(&Reader::default(), &Evidence { text: &text, ..Evidence::default() });
    let unseen = |c: char| c.is_control() && c != '\n' && c != '\t' || ('\u{202a}'..='\u{202e}').contains(&c);
    assert!(!explanation.failure.message.contains(unseen), "{:?}", explanation.failure.message);
    assert!(!explanation.told.contains(unseen), "{:?}", explanation.told);
    assert!(explanation.told.len() < 4_096);
});
