//! Names: what exists, what is near, what may be called now.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::sync::Arc;
use std::sync::atomic::Ordering;

use breakfall::{Call, Detail, Error, FailureKind, Guard, Report};
use breakfall_test::Script;

fn guard(names: &[&str]) -> Guard {
    Guard::builder().tools(names.iter().map(|name| Script::new(*name).tool())).build().unwrap()
}

async fn text(guard: &Guard, tool: &str) -> String {
    let reply = guard.handle(Call::new("1", tool, "{}")).await;
    reply.text.rsplit_once(" (ref ").map(|(text, _)| text.to_owned()).unwrap_or(reply.text)
}

#[tokio::test]
async fn an_unknown_name_is_answered_with_what_exists() {
    let guard = guard(&["search_files", "list_files", "read_file"]);
    assert_eq!(
        text(&guard, "serach_files").await,
        "`serach_files` is not a tool. Nearest: `search_files`.\n\
         Call one of: `list_files`, `read_file`, `search_files`."
    );
    assert_eq!(
        text(&guard, "deploy").await,
        "`deploy` is not a tool.\nCall one of: `list_files`, `read_file`, `search_files`."
    );
    assert_eq!(
        text(&Guard::builder().build().unwrap(), "deploy").await,
        "`deploy` is not a tool.\nUse another tool or go on without it."
    );
}

#[tokio::test]
async fn a_namespace_leads_to_its_tools() {
    let guard = guard(&["sequential-thinking__sequentialthinking", "git__status"]);
    assert!(
        text(&guard, "sequential-thinking")
            .await
            .contains("Nearest: `sequential-thinking__sequentialthinking`.")
    );
}

#[tokio::test]
async fn a_near_miss_is_never_executed() {
    let (tool, calls) = Script::new("read_file").counted();
    let guard = Guard::builder().tool(tool).build().unwrap();
    for near in
        ["Read_File", "read_fil", "readfile", " read_file", "read_file\n", "read\u{200b}_file"]
    {
        let reply = guard.handle(Call::new("1", near, "{}")).await;
        assert_eq!(reply.kind(), Some(FailureKind::UnknownTool), "{near}");
    }
    assert_eq!(calls.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn five_thousand_tools_do_not_flood_the_prompt() {
    let names: Vec<String> = (0..5_000).map(|n| format!("service_{n}__get_thing")).collect();
    let guard = guard(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let near = text(&guard, "service_77__get_thin").await;
    assert!(near.contains("the nearest of 5000 tools: `service_77__get_thing`"), "{near}");
    assert!(near.matches('`').count() <= 2 * 14 && near.len() < 1000, "{near}");
    let far = text(&guard, "zzz").await;
    assert_eq!(far, "`zzz` is not a tool.\nCall one of the tools you were given.");
}

#[tokio::test]
async fn what_is_switched_off_is_neither_named_nor_counted() {
    let names: Vec<String> = (10..40).map(|n| format!("tool_{n}")).collect();
    let guard = guard(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let toolbox = guard.toolbox();
    let total = async || {
        guard.end_run(None);
        let reply = guard.handle(Call::new("1", "tol_10", "{}")).await;
        let Report::Failure(failure) = reply.report() else { return None };
        let Detail::Names { nearest, callable, total } = &failure.detail else { return None };
        assert!(!callable.contains(&"tool_19".into()), "{callable:?}");
        Some((nearest.first().map(ToString::to_string), callable.len(), *total))
    };
    let first = |name: &str| Some(name.to_owned());
    toolbox.disable("tool_19").unwrap();
    assert_eq!(total().await, Some((first("tool_10"), 10, 29)));
    toolbox.pause("tool_10").unwrap();
    toolbox.disable("tool_10").unwrap();
    assert_eq!(total().await, Some((first("tool_11"), 10, 28)));
    toolbox.remove("tool_10").unwrap();
    assert_eq!(total().await, Some((first("tool_11"), 10, 28)));
    for name in &names[11..18] {
        toolbox.disable(name).unwrap();
    }
    assert_eq!(total().await, Some((first("tool_11"), 10, 21)));
    toolbox.pause("tool_12").unwrap();
    assert_eq!(total().await, Some((first("tool_11"), 20, 20)), "a few are all named");
    toolbox.enable("tool_12").unwrap();
    toolbox.enable("tool_12").unwrap();
    assert_eq!(total().await, Some((first("tool_11"), 10, 21)));
}

#[tokio::test]
async fn a_hostile_name_is_echoed_in_bounds() {
    let guard = guard(&["read_file"]);
    for name in ["", "`", "a`b", &"x".repeat(1_000_000), "\u{1b}[31mred", "a\nb"] {
        let text = text(&guard, name).await;
        assert!(text.len() < 400, "{text}");
        assert_eq!(text.lines().count(), 2, "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
    }
}

#[tokio::test]
async fn tools_are_switched_while_calls_run() {
    let guard = Arc::new(guard(&["t"]));
    for (switch, kind) in [
        ("disable", Some(FailureKind::Unavailable)),
        ("enable", None),
        ("pause", Some(FailureKind::Unavailable)),
        ("enable", None),
    ] {
        let other = Arc::clone(&guard);
        let switched = tokio::spawn(async move {
            match switch {
                "disable" => other.toolbox().disable("t"),
                "pause" => other.toolbox().pause("t"),
                _ => other.toolbox().enable("t"),
            }
        });
        switched.await.unwrap().unwrap();
        assert_eq!(guard.handle(Call::new("1", "t", "{}")).await.kind(), kind, "{switch}");
    }
    guard.toolbox().disable("t").unwrap();
    assert_eq!(
        text(&guard, "t").await,
        "`t` cannot be used now.\nUse another tool or go on without it."
    );
    assert!(guard.toolbox().callable().is_empty());
    guard.toolbox().remove("t").unwrap();
    assert_eq!(
        guard.handle(Call::new("1", "t", "{}")).await.kind(),
        Some(FailureKind::UnknownTool)
    );
    guard.toolbox().add(Script::new("t").tool()).unwrap();
    assert!(!guard.handle(Call::new("1", "t", "{}")).await.is_error);
}

#[test]
fn bad_names_are_refused_with_the_reason() {
    for (name, why) in [
        ("", "it is empty"),
        ("a b", "it contains a space"),
        ("a`b", "a backtick"),
        ("a\nb", "a control character"),
    ] {
        let error = Guard::builder().tool(Script::new(name).tool()).build().unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    }
    let twice = Guard::builder().tools([Script::new("t").tool(), Script::new("t").tool()]).build();
    assert!(matches!(twice.unwrap_err(), Error::DuplicateTool { name } if name == "t"));
    let toolbox = Guard::builder().build().unwrap();
    assert!(toolbox.toolbox().pause("none").is_err());
}

#[tokio::test]
async fn the_tools_of_an_upstream_are_replaced_as_a_whole_and_keep_their_breakers() {
    let guard = guard(&["own"]);
    let tool = |name: &str| Script::new(name).answers("ok").tool();
    let long = "x".repeat(2_000);
    assert!(guard.toolbox().replace("s", [tool("a"), tool("b")]).is_empty());
    guard.toolbox().open_breaker(breakfall::Scope::Tool("a")).unwrap();
    let refused =
        guard.toolbox().replace("s", [tool("a"), tool("c"), tool("own"), tool("x y"), tool(&long)]);
    let names: Vec<_> = refused.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, [&*long, "own"]);
    let names: Vec<_> = guard.toolbox().callable().into_iter().map(|spec| spec.name).collect();
    // A client knows a server's tools under whatever names they have.
    assert_eq!(names, ["a", "c", "own", "x y"]);
    let reply = guard.handle(Call::new("1", "a", "{}")).await;
    assert_eq!(reply.kind(), Some(FailureKind::Unavailable));
}
