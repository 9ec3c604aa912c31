//! The words of a result, wherever a server puts them, without what tells a model nothing.

use std::borrow::Cow;

use breakfall::without_halves;
use serde::Deserialize;
use serde_json::value::RawValue;

/// The result of a call, where it can be looked into.
#[derive(Deserialize)]
struct Looked<'a, B> {
    #[serde(default, rename = "isError")]
    is_error: Option<bool>,
    content: Option<Vec<B>>,
    #[serde(default, borrow, rename = "structuredContent")]
    structured: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(default, borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(default, borrow)]
    text: Cow<'a, str>,
    #[serde(default, borrow)]
    resource: Option<Embedded<'a>>,
}

#[derive(Deserialize)]
struct Embedded<'a> {
    #[serde(default, borrow)]
    text: Cow<'a, str>,
}

/// Whether a result says that it is an error, and its words.
pub(super) fn looked(result: &str) -> (bool, String) {
    if let Ok(looked) = serde_json::from_str::<Looked<Block<'_>>>(result) {
        return said(looked.is_error, looked.content.unwrap_or_default(), looked.structured);
    }
    // A block that is not as it should be does not take the others with it.
    let whole = without_halves(result);
    let result = whole.as_deref().unwrap_or(result);
    let Ok(looked) = serde_json::from_str::<Looked<&RawValue>>(result) else {
        return (false, String::new());
    };
    let blocks = looked.content.iter().flatten();
    let blocks = blocks.filter_map(|block| serde_json::from_str(block.get()).ok()).collect();
    said(looked.is_error, blocks, looked.structured)
}

/// An error that says nothing in words says it in what is embedded, or in its structured part.
fn said(
    is_error: Option<bool>,
    blocks: Vec<Block<'_>>,
    structured: Option<&RawValue>,
) -> (bool, String) {
    let is_error = is_error == Some(true);
    let (words, others): (Vec<_>, Vec<_>) =
        blocks.into_iter().partition(|block| block.kind == "text");
    let text = joined(words.into_iter().map(|block| block.text));
    if !is_error || !text.trim().is_empty() {
        return (is_error, text);
    }
    let embedded = joined(others.into_iter().filter_map(|block| block.resource).map(|it| it.text));
    match structured {
        Some(structured) if embedded.trim().is_empty() => (true, structured.get().to_owned()),
        _ => (true, embedded),
    }
}

fn joined<'a>(mut texts: impl Iterator<Item = Cow<'a, str>>) -> String {
    let mut all = texts.next().unwrap_or_default().into_owned();
    for text in texts {
        all.push('\n');
        all.push_str(&text);
    }
    all
}

/// Validators write what was sent and where to read more beside each fault: the model sent it, and
/// cannot read there.
pub(super) fn without_noise(text: &str) -> String {
    let lines =
        text.lines().filter(|line| !line.trim_start().starts_with("For further information visit"));
    let kept: Vec<&str> = lines
        .map(|line| match line.split_once(" [type=") {
            Some((words, rest)) if rest.ends_with(']') => words,
            _ => line,
        })
        .collect();
    kept.join("\n")
}

/// SDKs write the code of an error before its words, which says nothing to a model.
pub(super) fn without_code(text: &str) -> (&str, Option<i64>) {
    let parts = text.strip_prefix("MCP error ").and_then(|rest| rest.split_once(": "));
    match parts.map(|(code, words)| (code.parse(), words)) {
        Some((Ok(code), words)) => (words, Some(code)),
        _ => (text, None),
    }
}

/// What servers say of what they do not have, and what they call it.
const NONE: [&str; 13] = [
    "unknown",
    "not found",
    "no such",
    "not exist",
    "n't exist",
    "not available",
    "not registered",
    "not supported",
    "unsupported",
    "unrecognized",
    "invalid tool",
    "undefined",
    "no tool",
];
const TOOL: [&str; 3] = ["tool", "function", "method"];

/// How long a server's words are that only say that it has no such tool.
const BRIEF: usize = 500;

/// Whether a server says that it has no tool of this name.
pub(super) fn is_unknown(words: &str, name: &str) -> bool {
    if words.len() > BRIEF + name.len() {
        return false;
    }
    let (words, name) = (words.to_lowercase(), name.to_lowercase());
    // What a framework says around every error of a tool that it ran.
    let around = ["error executing tool", "error calling tool", "error in tool", "tool execution"];
    let said = match words.split_once(':') {
        Some((before, said)) if around.iter().any(|it| before.contains(it)) => said,
        _ => &words,
    };
    // Where it is written for a page, a heading stands before it; where it is JSON, brackets.
    let marks = ['#', '*', '_', ':', ' ', '{', '}', '[', ']', '"', ','];
    let mut lines = said.lines().map(|line| line.trim_matches(marks));
    let first = lines.find(|line| !matches!(*line, "" | "error")).unwrap_or_default();
    let is_about = first.contains(&*name) || TOOL.iter().any(|it| first.contains(it));
    is_about && NONE.iter().any(|it| first.contains(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_has_no_such_tool_says_so_in_many_ways() {
        for words in [
            "Unknown tool: ehco",
            "Tool ehco not found",
            "MCP error -32602: Tool ehco not found",
            "Method not found",
            "tool 'ehco' not found: tool not found",
            "Error calling tool 'ehco': Unknown tool: 'ehco'",
            "Invalid tool name",
            "Unsupported tool ehco",
            "### Error\nTool \"ehco\" not found",
            "**Error:**\n\nTool \"ehco\" not found",
            r#"{"error":"Unknown tool: ehco"}"#,
            "{\n  \"error\": \"Unknown tool: ehco\"\n}",
        ] {
            assert!(is_unknown(words, "ehco"), "{words}");
        }
        for words in [
            "Error executing tool ehco: file not found",
            "ENOENT: no such file or directory, open '/srv/x.txt'",
            "the city is not known",
            "### Result\nthe page was not found",
            "### Error\nTimeout\nTool ehco not found",
            "MCP error -32602: Invalid arguments for tool ehco: [\"path\"]",
            "",
        ] {
            assert!(!is_unknown(words, "ehco"), "{words}");
        }
    }
}
