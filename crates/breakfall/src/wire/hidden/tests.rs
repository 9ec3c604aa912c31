use serde_json::json;

use super::*;

fn found(text: &str) -> Vec<Call> {
    calls(text, &|name| name == "read_file")
}

#[test]
fn a_call_is_found_in_every_form_that_models_write() {
    let call = Call::new("", "read_file", json!({ "path": "a.txt", "limit": 3 }));
    let json = r#"{"name": "read_file", "arguments": {"path": "a.txt", "limit": 3}}"#;
    for text in [
        format!("I will read it.\n<tool_call>\n{json}\n</tool_call>"),
        format!("<tool_call>{json}"),
        format!("[TOOL_CALLS][{json}]"),
        format!("<|python_tag|>{json}"),
        format!("```json\n{json}\n```"),
        format!("```tool_call\n{json}\n```"),
        json.to_owned(),
        format!("[{json}]"),
        json.replace("arguments", "parameters"),
        format!(r#"{{"type": "function", "function": {json}}}"#),
        "<function=read_file>\n<parameter=path>\na.txt\n</parameter>\n<parameter=limit>3\
         </parameter></function>"
            .to_owned(),
        "<invoke name=\"read_file\"><parameter name=\"path\">a.txt</parameter><parameter \
         name=\"limit\">3</parameter></invoke>"
            .to_owned(),
    ] {
        assert_eq!(found(&text), std::slice::from_ref(&call), "{text}");
    }
    let text = r#"<function=read_file>{"path": "a.txt"}</function>"#;
    assert_eq!(found(text), [Call::new("", "read_file", r#"{"path": "a.txt"}"#)]);
}

#[test]
fn a_call_that_is_quoted_is_none() {
    let tag = r#"<tool_call>{"name": "read_file", "arguments": {}}</tool_call>"#;
    for text in [
        format!("Such a call looks so:\n```\n{tag}\n```\nDo not run it."),
        format!("Write `{tag}` to call it."),
        format!("```\n{tag}\n```\nor\n```\n{tag}\n```"),
    ] {
        assert_eq!((found(&text), attempts(&text, &|_| true)), (vec![], vec![]), "{text}");
    }
    for text in [format!("```\n{tag}\n```"), format!("I use `read_file`.\n{tag}")] {
        assert_eq!(found(&text).len(), 1, "{text}");
    }
}

#[test]
fn a_tag_of_which_no_call_came_is_told() {
    let is_tool = |name: &str| name == "read_file";
    for (text, expected) in [
        (r#"<tool_call>{"name": "raed_file", "arguments": {}}</tool_call>"#, "raed_file"),
        (r#"<tool_call>{"name": "read_file", "arguments": {"#, "<tool_call>"),
        ("<invoke name=\"a`b\n\"></invoke>", "ab"),
    ] {
        assert_eq!(attempts(text, &is_tool), [expected], "{text}");
    }
    for text in ["", "[1] a < b", r#"<tool_call>{"name": "read_file", "arguments": {}}"#] {
        assert_eq!(attempts(text, &is_tool), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn a_text_that_speaks_of_a_call_is_none() {
    for text in [
        "",
        "You can call `read_file` with {\"path\": \"a.txt\"}.",
        "Write {\"name\": \"read_file\", \"arguments\": {}} to call it.",
        "{\"name\": \"read_file\"}",
        "{\"name\": \"delete_all\", \"arguments\": {}}",
        "<tool_call>read_file</tool_call>",
        "<tool_call>",
        "```json\n{\"name\": 7}\n```",
        "<function=",
        "<invoke name=\"read_file",
    ] {
        assert_eq!(found(text), [], "{text}");
    }
    let nested = format!("<tool_call>{}", "[".repeat(100_000));
    assert_eq!(found(&nested), []);
    let many = "<tool_call>{\"name\": \"read_file\", \"arguments\": {}}".repeat(100);
    assert_eq!(found(&many).len(), MOST);
}

#[test]
fn the_marks_of_many_models_are_known() {
    let call = |arguments| Call::new("", "read_file", arguments);
    let a = r#"{"path": "a.txt"}"#;
    let bar = '\u{ff5c}';
    let low = '\u{2581}';
    for text in [
        format!("[TOOL_CALLS]read_file[ARGS]{a}"),
        format!("[TOOL_CALLS]read_file[CALL_ID]abcdefghi[ARGS]{a}"),
        format!("[TOOL_CALLS]read_file{a}"),
        format!("<{bar}tool{low}call{low}begin{bar}>read_file<{bar}tool{low}sep{bar}>{a}<{bar}tool{low}call{low}end{bar}>"),
        format!("<{bar}tool{low}calls{low}begin{bar}><{bar}tool{low}call{low}begin{bar}>function<{bar}tool{low}sep{bar}>read_file\n```json\n{a}\n```<{bar}tool{low}call{low}end{bar}>"),
        format!("<{bar}DSML{bar}function_calls><{bar}DSML{bar}invoke name=\"read_file\"><{bar}DSML{bar}parameter name=\"path\" string=\"true\">a.txt</{bar}DSML{bar}parameter></{bar}DSML{bar}invoke>"),
        format!("<|tool_calls_section_begin|><|tool_call_begin|>functions.read_file:0<|tool_call_argument_begin|>{a}<|tool_call_end|>"),
        format!("<|start|>assistant<|channel|>commentary to=functions.read_file <|constrain|>json<|message|>{a}<|call|>"),
        format!("commentary to=functions.read_file json{a}"),
        format!(">>>read_file\n{a}"),
        format!("<|from|>assistant\n<|recipient|>read_file\n<|content|>{a}"),
        format!("Thought: so.\nAction: read_file\nAction Input: {a}"),
        format!("\u{273f}FUNCTION\u{273f}: read_file\n\u{273f}ARGS\u{273f}: {a}"),
        format!("<tool_call>\n```json\n{{\"name\": \"read_file\", \"arguments\": {a}}}\n```\n</tool_call>"),
        format!("<tool_call>{{\"name\": \"functions.read_file\", \"arguments\": {a}}}</tool_call>"),
        format!("<|START_ACTION|>[{{\"tool_call_id\": \"0\", \"tool_name\": \"read_file\", \"parameters\": {a}}}]"),
        format!("<think>\nSo.\n</think>\n{{\"name\": \"read_file\", \"arguments\": {a}}}"),
        format!("{{\"type\": \"function\", \"function\": \"read_file\", \"parameters\": {a}}}<|eom_id|>"),
        format!("{{\"tool_calls\": [{{\"function\": {{\"name\": \"read_file\", \"arguments\": {a}}}}}]}}"),
        "<tool_call>read_file\n<arg_key>path</arg_key>\n<arg_value>a.txt</arg_value>\n</tool_call>".to_owned(),
        "<tool_call>\n<function=read_file>\n<parameter=path>\na.txt\n</parameter>\n</function>\n</tool_call>".to_owned(),
        "[read_file(path=\"a.txt\")]".to_owned(),
        "<|python_start|>[read_file(path=\"a.txt\")]<|python_end|>".to_owned(),
        "<|python_tag|>read_file.call(path=\"a.txt\")".to_owned(),
        "I look.\n```tool_code\nprint(read_file(path='a.txt'))\n```\nSo.".to_owned(),
    ] {
        assert_eq!(found(&text), [call(json!({ "path": "a.txt" }))], "{text}");
        assert_eq!(attempts(&text, &|name| name == "read_file"), [""; 0], "{text}");
    }
    let two = format!("{{\"name\": \"read_file\", \"parameters\": {a}}}");
    assert_eq!(found(&format!("{two}; {two}")).len(), 2);
}

#[test]
fn what_may_open_something_else_is_a_call_only_of_a_tool_that_exists() {
    for text in [
        "Action: think {\"a\": 1}",
        ">>> f({})",
        ">>> read_file(path='a.txt')",
        "<|recipient|>all\n<|content|>Hello.",
        "```tool_code\nprint(1)\n```",
        "[a(1)]",
        "[TOOLS] go to=nobody.",
        "Action: I will read_file</b> {}",
    ] {
        assert_eq!((found(text), attempts(text, &|_| false)), (vec![], vec![]), "{text}");
    }
    let deep = format!("<|python_tag|>[read_file(path={}", "[".repeat(100_000));
    assert_eq!(found(&deep), []);
}
