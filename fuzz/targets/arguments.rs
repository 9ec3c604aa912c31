//! Any arguments to any schema: an answer under the call's id, the same from a text as from what it
//! says, a correction that is accepted.
#![no_main]

use breakfall::{Call, Detail, Guard, Report, ToolSpec, function};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|data: (String, String)| {
    let (schema, arguments) = data;
    let Ok(schema) = serde_json::from_str::<Value>(&schema) else { return };
    let echo = |schema: Value| {
        let mut entry = function("t", "", |value: Value| async move { Ok::<_, String>(value) });
        entry = entry.with_spec(ToolSpec::new("t", "").schema(schema));
        Guard::builder().tool(entry).build()
    };
    let (Ok(guard), Ok(other)) = (echo(schema.clone()), echo(schema)) else { return };
    let value = serde_json::from_str::<Value>(&arguments);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let reply = runtime.block_on(guard.handle(Call::new("id", "t", arguments)));
    assert_eq!(reply.id, "id");
    if let Ok(value) = value {
        let same = runtime.block_on(other.handle(Call::new("id", "t", value)));
        assert_eq!(same.is_error, reply.is_error, "{} and {}", reply.text, same.text);
        assert!(reply.is_error || same.text == reply.text, "{} and {}", reply.text, same.text);
    }
    let Report::Failure(failure) = reply.report() else { return };
    if let Detail::Arguments { correction: Some(found), .. } = &failure.detail {
        let again = runtime.block_on(guard.handle(Call::new("id", "t", found.arguments.clone())));
        assert!(!again.is_error, "{} was refused: {}", found.arguments, again.text);
    }
});
