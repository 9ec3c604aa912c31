//! `#[tool]`: name, description, schema and effect from a function.

use breakfall::{Call, Effect, Failure, Guard, tool};
use serde_json::json;

/// Searches the files.
///
/// Returns one path a line.
#[tool(effect = "read_only")]
async fn search_files(
    /// What to look for.
    query: String,
    limit: Option<u8>,
    #[serde(default)] hidden: bool,
) -> Result<String, Failure> {
    Ok(format!("{query} {limit:?} {hidden}"))
}

/// Adds.
#[tool(name = "math.add", effect = "idempotent", isolated)]
async fn add(mut a: i64, b: i64) -> Result<i64, std::num::TryFromIntError> {
    a += b;
    Ok(a)
}

#[tool]
fn shout(text: String) -> Result<String, Failure> {
    Ok(text.to_uppercase())
}

mod inner {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    pub(crate) struct Point {
        x: f64,
    }

    #[breakfall::tool]
    pub(crate) async fn draw(points: Vec<Point>) -> Result<usize, breakfall::Failure> {
        Ok(points.iter().filter(|point| point.x > 0.0).count())
    }
}

#[test]
fn the_spec_is_read_off_the_function() {
    let spec = search_files().spec().clone();
    assert_eq!(spec.name, "search_files");
    assert_eq!(spec.description, "Searches the files.\n\nReturns one path a line.");
    assert_eq!(spec.effect, Effect::ReadOnly);
    let schema = &spec.input_schema;
    assert_eq!(schema["properties"]["query"]["description"], "What to look for.");
    assert_eq!(schema["required"], json!(["query"]));
    assert_eq!(schema["additionalProperties"], json!(false));
    assert_eq!(add().spec().name, "math.add");
    assert_eq!((add().spec().effect, shout().spec().effect), (Effect::Idempotent, Effect::Once));
}

#[tokio::test]
async fn the_tools_answer() {
    let tools = [search_files(), add(), shout(), inner::draw()];
    let guard = Guard::builder().tools(tools).build().unwrap();
    for (tool, arguments, text) in [
        ("search_files", r#"{"query": "x"}"#, "x None false"),
        ("search_files", r#"{"query": "x", "limit": 3, "hidden": true}"#, "x Some(3) true"),
        ("math.add", r#"{"a": 1, "b": 2}"#, "3"),
        ("shout", r#"{"text": "hi"}"#, "HI"),
        ("draw", r#"{"points": [{"x": 1}, {"x": -1}]}"#, "1"),
    ] {
        assert_eq!(guard.handle(Call::new("1", tool, arguments)).await.text, text);
    }
}

#[test]
fn what_is_no_tool_is_refused_with_what_is_accepted() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}

/// Counts slowly.
#[tool(effect = "read_only")]
async fn count(to: u32, progress: breakfall::Progress) -> Result<u32, Failure> {
    for _ in 0..to {
        tokio::time::sleep(std::time::Duration::from_secs(20)).await;
        progress.tick();
    }
    Ok(to)
}

#[tool]
fn is_wanted(progress: breakfall::Progress) -> Result<bool, Failure> {
    Ok(progress.is_wanted())
}

#[tokio::test(start_paused = true)]
async fn a_function_that_asks_for_it_tells_its_progress_and_no_model_sees_that() {
    let spec = count().spec().clone();
    assert_eq!(spec.input_schema["required"], json!(["to"]));
    let guard = Guard::builder().tools([count(), is_wanted()]).build().unwrap();
    let reply = guard.handle(Call::new("1", "count", r#"{"to": 2}"#)).await;
    assert_eq!((reply.text.as_str(), reply.attempts), ("2", 1));
    assert_eq!(guard.handle(Call::new("2", "is_wanted", "{}")).await.text, "true");
}

/// Echoes.
#[tool]
async fn echo(echo: String, parameters: u8, r#type: Option<String>) -> Result<String, Failure> {
    Ok(format!("{echo} {parameters} {type:?}"))
}

#[tool]
fn parameters(progress: String, line: breakfall::Progress) -> Result<String, Failure> {
    Ok(format!("{progress} {}", line.is_wanted()))
}

#[tokio::test]
async fn parameters_may_be_named_as_the_function_or_as_anything_of_ours() {
    let guard = Guard::builder().tools([echo(), parameters()]).build().unwrap();
    for (tool, arguments, text) in [
        ("echo", r#"{"echo": "hi", "parameters": 3, "type": "t"}"#, r#"hi 3 Some("t")"#),
        ("parameters", r#"{"progress": "half"}"#, "half true"),
    ] {
        assert_eq!(guard.handle(Call::new("1", tool, arguments)).await.text, text);
    }
}

#[tool]
#[doc = include_str!("ui/included.md")]
async fn included() -> Result<u8, Failure> {
    Ok(1)
}

/** Deletes a branch.
 *
 * - for ever
 *     - really
 */
#[tool]
async fn starred() -> Result<u8, Failure> {
    Ok(1)
}

/**
    Deletes a branch.

      for ever
*/
#[tool]
async fn block() -> Result<u8, Failure> {
    Ok(1)
}

#[tool]
/// Behind the attribute.
#[doc = "And so."]
#[doc(alias = "other")]
async fn behind() -> Result<u8, Failure> {
    Ok(1)
}

#[test]
fn a_doc_comment_of_any_form_is_the_description() {
    assert_eq!(included().spec().description, include_str!("ui/included.md").trim());
    assert_eq!(starred().spec().description, "Deletes a branch.\n\n- for ever\n    - really");
    assert_eq!(block().spec().description, "Deletes a branch.\n\n  for ever");
    assert_eq!(behind().spec().description, "Behind the attribute.\nAnd so.");
    assert_eq!(shout().spec().description, "");
}

#[tool]
#[deprecated = "use `echo`"]
async fn old() -> Result<u8, Failure> {
    Ok(1)
}

#[tool]
#[cfg(not(test))]
async fn absent(gone: NoSuchType) -> Result<u8, Failure> {
    Ok(gone)
}

#[test]
#[expect(deprecated, reason = "that it is told is the point")]
fn what_is_said_of_the_function_is_said_of_the_tool() {
    assert_eq!(old().spec().name, "old");
}
