//! Histories as no conversation leaves them.

use breakfall_chat::{Message, Said, SavedCall, SavedReply, Shape};
use proptest::prelude::*;

/// Any messages in any order, with ids that are the same, empty or not fit.
pub(crate) fn histories() -> impl Strategy<Value = Vec<Message>> {
    let long = "x".repeat(60);
    let ids = move || vec!["a", "b", "a_2", "", "ü x", "call"].into_iter().map(str::to_owned);
    let id = move || prop::sample::select(ids().chain([long.clone()]).collect::<Vec<_>>());
    let tool =
        || prop::sample::select(vec!["f", "files.read", "", "x`\ny"]).prop_map(str::to_owned);
    let words = || {
        prop::sample::select(vec!["", " ", "hi", "two words ", "ü\u{0}"]).prop_map(str::to_owned)
    };
    let arguments =
        prop::sample::select(vec!["", "{}", "{\"a\":1}", "{\"a\":", "[1]", "null", "\"x\""]);
    let call = (id(), tool(), arguments, any::<bool>()).prop_map(|(id, tool, arguments, found)| {
        SavedCall { id, tool, arguments: arguments.to_owned(), is_recovered: found }
    });
    let said = (words(), prop::collection::vec(call, 0..4), any::<bool>());
    let said = said.prop_map(|(text, calls, thinks)| {
        let thought = serde_json::json!({ "type": "thinking", "thinking": "", "signature": "s" });
        let kept = if thinks { vec![thought] } else { Vec::new() };
        let shape = Some(Shape::Anthropic);
        Message::Assistant(Said { text, calls, kept, shape, ..Said::default() })
    });
    let reply = (id(), tool(), words(), any::<bool>());
    let reply = reply.prop_map(|(id, tool, text, is_error)| {
        Message::Reply(SavedReply { id, tool, text, is_error })
    });
    let message = prop_oneof![
        2 => words().prop_map(Message::user),
        1 => words().prop_map(|text| Message::Notice { text }),
        3 => said,
        4 => reply,
    ];
    prop::collection::vec(message, 0..14)
}
