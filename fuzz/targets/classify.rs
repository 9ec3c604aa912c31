//! Any error is read: no panic, a bounded answer.
#![no_main]

use breakfall::{Evidence, Reader, silent};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: (String, Option<String>, Option<u16>, Option<i32>)| {
    let (text, type_name, http_status, code) = data;
    let reader = Reader::default();
    let code = code.map(i64::from);
    let reading = reader.read(&Evidence {
        text: &text,
        type_name: type_name.as_deref(),
        http_status,
        exit_code: code,
        json_rpc_code: code,
    });
    assert!(reading.resource.is_none_or(|resource| resource.len() <= 512));
    let _ = silent(&reader, &text);
});
