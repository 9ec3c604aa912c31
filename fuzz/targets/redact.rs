//! Any text is redacted: valid places, the same when done twice, the same in chunks.
#![no_main]

use breakfall::{RedactingStream, Redactor};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: (String, u8)| {
    let (text, chunk) = data;
    let mut redactor = Redactor::default();
    redactor.add_value("swordfish");
    for span in redactor.find(&text) {
        assert!(!text[span.start..span.end].is_empty());
    }
    let once = redactor.redact(&text).into_owned();
    assert!(!once.contains("swordfish"));
    assert_eq!(redactor.redact(&once), once.as_str());
    let mut stream = RedactingStream::new(redactor);
    let mut out: String =
        text.as_bytes().chunks(usize::from(chunk).max(1)).map(|chunk| stream.push(chunk)).collect();
    out.push_str(&stream.finish());
    assert_eq!(out, once);
});
