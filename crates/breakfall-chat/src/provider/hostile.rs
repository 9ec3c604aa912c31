//! Whatever a provider sends, nothing panics, and what is a call in the end has been told of.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::Shape;
use crate::model::Delta;

/// Words that mean something somewhere.
const WORDS: &[&str] = &[
    "",
    "a",
    "{}",
    "{\"a\":",
    "stop",
    "length",
    "error",
    "text",
    "tool_use",
    "function_call",
    "thinking",
    "message",
    "message_start",
    "content_block_start",
    "content_block_delta",
    "message_delta",
    "message_stop",
    "text_delta",
    "input_json_delta",
    "signature_delta",
    "response.output_item.added",
    "response.output_item.done",
    "response.completed",
    "response.incomplete",
    "response.function_call_arguments.delta",
    "response.output_text.delta",
];

const KEYS: &[&str] = &[
    "type",
    "index",
    "choices",
    "delta",
    "message",
    "content",
    "tool_calls",
    "function",
    "name",
    "arguments",
    "id",
    "finish_reason",
    "usage",
    "content_block",
    "input",
    "partial_json",
    "text",
    "stop_reason",
    "signature",
    "item",
    "output_index",
    "call_id",
    "response",
    "output",
    "status",
    "error",
    "function_call",
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "extra_content",
    "refusal",
    "thinking",
    "incomplete_details",
];

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => prop::sample::select(WORDS).prop_map(Value::from),
        2 => (0_u64..4).prop_map(Value::from),
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        let field = (prop::sample::select(KEYS).prop_map(str::to_owned), inner.clone());
        let fields = prop::collection::vec(field, 0..7);
        prop_oneof![
            3 => fields.prop_map(|fields| Value::Object(fields.into_iter().collect())),
            1 => prop::collection::vec(inner, 0..4).prop_map(Value::Array),
        ]
    })
}

/// A value in a place where a provider of some shape has it.
fn events() -> impl Strategy<Value = Value> {
    let kind = prop::sample::select(WORDS);
    (values(), values(), kind, 0_u64..3).prop_map(|(one, two, kind, index)| match index {
        0 => json!({ "choices": [{ "delta": one, "finish_reason": two }] }),
        1 => json!({ "choices": [{ "delta": { "tool_calls": [one, { "function": two }] } }] }),
        _ => json!({ "type": kind, "index": index, "output_index": index, "content_block": one,
                     "item": one, "delta": two, "response": two }),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn nothing_that_a_provider_sends_is_too_much(
        pieces in prop::collection::vec(prop_oneof![events(), values()], 0..12),
        whole in values(),
    ) {
        for shape in [Shape::Chat, Shape::Responses, Shape::Anthropic] {
            let mut assembly = shape.assembly();
            let mut told = String::new();
            let mut calls = std::collections::BTreeSet::new();
            let mut hear = |delta: Delta| match delta {
                Delta::Text(text) => told.push_str(&text),
                Delta::Call { index, .. } => drop(calls.insert(index)),
                Delta::Reasoning(_) => {}
            };
            for piece in &pieces {
                let _ = assembly.take(piece, &mut hear);
            }
            let _ = assembly.take_whole(&whole, &mut hear);
            let _ = assembly.is_finished();
            let answer = assembly.answer();
            prop_assert_eq!(answer.text, told);
            prop_assert_eq!(answer.calls.len(), calls.len());
        }
    }
}
