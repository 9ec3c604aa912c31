//! The file `breakfall.toml` and the environment over it.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use breakfall::{Call, Config, Disposition, Effect, Error, Evidence, FailureKind, Guard, function};
use proptest::prelude::*;
use serde_json::Value;

fn config(text: &str) -> Config {
    Config::from_toml(text, "breakfall.toml").unwrap()
}

/// What is said of a text that is not usable.
fn problems(text: &str) -> String {
    Config::from_toml(text, "breakfall.toml").unwrap_err().to_string()
}

fn echo(name: &str) -> breakfall::Entry {
    function(name, "", |_: Value| async { Ok::<_, String>("done") })
}

#[test]
fn every_problem_is_told_at_once_with_its_place() {
    insta::assert_snapshot!("config_problems", problems(include_str!("config/bad.toml")));
}

#[test]
fn tables_that_mean_nothing_are_told_with_their_place() {
    insta::assert_snapshot!("config_meanings", problems(include_str!("config/meaningless.toml")));
}

#[test]
fn what_is_no_toml_is_told_with_its_place() {
    let texts = [
        "[guard]\npreset = ",
        "[guard]\nstrict = true\nstrict = false\n[guard]",
        "samples = 1_000_000_000_000_000_000_000_000",
        "größe = 1",
        "x = nan",
        "a = 'unclosed",
        "= 1\n]\n[[",
    ];
    let all: Vec<String> =
        texts.iter().map(|text| format!("{text}\n=> {}\n", problems(text))).collect();
    insta::assert_snapshot!("config_syntax", all.join("\n"));
}

#[test]
fn a_number_that_cannot_be_read_hides_no_other_problem_and_is_told_with_its_key() {
    let told = problems(
        "[defaults]\nmax_output = 99999999999999999999\ntotal_timeout = nan\nsilent = 3\n\
         [tools.t]\nfallback = { value = [inf] }\n[[phrase]]\nid = 'x'\nkind = 'network'\n\
         phrases = []\n[store]\nplace = ''\n",
    );
    insta::assert_snapshot!("config_numbers", told);
    let variable = [("BREAKFALL_DEFAULTS__TOTAL_TIMEOUT", "[nan]")];
    let error = Config::default().with_environment(variable).unwrap_err().to_string();
    assert!(error.contains("`defaults.total_timeout`: expected a time"), "{error}");
}

#[test]
fn variables_that_mean_nothing_are_told_by_name() {
    let variables = [
        ("BREAKFALL_DEFAULTS__RETRY__ATEMPTS", "3"),
        ("BREAKFALL_DEFAULTS__TOTAL_TIMEOUT", "3x"),
        ("BREAKFALL_GUARD__PRESET", "sidekik"),
        ("BREAKFALL_GUARD__", "1"),
        ("BREAKFALL_TOOL__X__EFFECT", "once"),
        ("BREAKFALL_TOOLS__X__EFECT", "once"),
        ("BREAKFALL_TOOLS__X", "{ fallback = 3 }"),
        ("BREAKFALL_REDACT__VARIABLES", "GITHUB_TOKEN"),
    ];
    let error = Config::default().with_environment(variables).unwrap_err();
    insta::assert_snapshot!("config_variables", error.to_string());
}

#[test]
fn a_file_that_is_too_large_too_deep_or_not_there_is_refused() {
    let large = problems(&"#\n".repeat(600_000));
    assert!(large.contains("breakfall.toml: the file is larger than 1 MiB"), "{large}");
    let deep = problems(&format!("a = {}1{}", "[".repeat(70), "]".repeat(70)));
    assert!(deep.contains("breakfall.toml:1:"), "{deep}");
    let deeper = problems(&format!("a = {}", "[".repeat(100_000)));
    assert!(deeper.contains("breakfall.toml:1:"), "{deeper:.200}");
    let tables = problems(&format!("[a{}]\nb{} = 1", ".b".repeat(75), ".c".repeat(75)));
    assert!(tables.contains("nested"), "{tables}");
    let gone = Config::load("/no/such/breakfall.toml").unwrap_err();
    assert!(matches!(gone, Error::ConfigFile { .. }), "{gone}");
}

#[test]
fn a_large_file_costs_no_more_than_its_size() {
    let many = |lines: &str, count: usize| -> String {
        (0..count).map(|n| lines.replace('#', &n.to_string())).collect()
    };
    let told = problems(&many("=\n", 500_000));
    assert!(told.contains("many problems, of which 100 are told"), "{told:.200}");
    let tools = many("[tools.t#]\ntotal_timeout='31d'\n", 20_000);
    assert_eq!(problems(&tools).lines().count(), 101);
    let keys = many("key_# = 1\n", 60_000);
    assert_eq!(problems(&format!("[guard]\n{keys}")).lines().count(), 101);
    let secrets = many("[[secret]]\nid='s#'\nregex='s#_[0-9]+'\n", 500);
    assert!(config(&secrets).redactor().is_ok());
}

#[test]
fn a_file_that_is_not_text_is_told_with_its_place() {
    let path = std::env::temp_dir().join(format!("breakfall-{}.toml", std::process::id()));
    std::fs::write(&path, b"# good\n# \xff bad").unwrap();
    let error = Config::load(&path).unwrap_err().to_string();
    std::fs::remove_file(&path).unwrap();
    assert!(error.contains(".toml:2:3: this is not UTF-8"), "{error}");
}

#[test]
fn no_problem_shows_a_secret() {
    let told = problems("[guard]\nstrict = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a'");
    assert!(told.contains("[redacted:github"), "{told}");
}

#[tokio::test]
async fn the_file_decides_on_preset_dispositions_effect_and_fallback() {
    let config = config(
        "[guard]
        preset = 'sidekick-short'
        [guard.dispositions]
        unknown_tool = 'fatal'
        [tools.down]
        effect = 'read_only'
        dispositions = { network = 'fatal' }
        retry = false
        [tools.down2]
        fallback = { tool = 'spare' }
        [tools.down3]
        fallback = { value = 'fixed', on = ['network'] }",
    );
    let fails = |name: &str| {
        function(name, "", |_: Value| async { Err::<(), _>(breakfall::Failure::network("gone")) })
            .effect(Effect::ReadOnly)
    };
    let guard = Guard::builder()
        .config(config)
        .tools(["down", "down2", "down3"].map(fails))
        .tool(echo("spare"))
        .build()
        .unwrap();
    let unknown = guard.handle(Call::new("1", "nothing", "{}")).await;
    assert!(unknown.is_fatal());
    assert!(unknown.text.starts_with("[TOOL ERROR] nothing failed"), "{}", unknown.text);
    assert_eq!(
        guard.handle(Call::new("2", "down", "{}")).await.disposition(),
        Some(Disposition::Fatal)
    );
    let specs = guard.toolbox().callable();
    assert_eq!(specs.iter().find(|s| s.name == "down").unwrap().effect, Effect::ReadOnly);
    for (tool, expected) in [("down2", "done"), ("down3", "fixed")] {
        let reply = guard.handle(Call::new("3", tool, "{}")).await;
        assert!(!reply.is_error && reply.text.contains(expected), "{}", reply.text);
    }
}

const FAULTS: &str = "
    [[fault]]
    tool = 'web_*'
    trouble = 'fail'
    kind = 'permission'
    when = { city = 'Paris' }";

#[tokio::test]
async fn faults_are_off_until_the_guard_has_them_on() {
    let off = config(FAULTS);
    assert_eq!(off.notes(), ["1 `[[fault]]` table is ignored: `guard.faults` is not `true`"]);
    let on = config(&format!("[guard]\nfaults = true\n{FAULTS}"));
    assert_eq!(on.notes(), ["1 fault is on: calls fail on purpose, and their records say so"]);
    for (config, expected) in [(off, None), (on, Some(FailureKind::Permission))] {
        let guard = Guard::builder().tool(echo("web_a")).config(config).build().unwrap();
        guard.toolbox().add(echo("web_later")).unwrap();
        guard.toolbox().add(echo("other")).unwrap();
        for tool in ["web_a", "web_later"] {
            let reply = guard.handle(Call::new("1", tool, r#"{"city": "Paris"}"#)).await;
            assert_eq!(reply.kind(), expected, "{tool}");
        }
        assert_eq!(guard.handle(Call::new("2", "web_a", "{}")).await.kind(), None);
        let elsewhere = guard.handle(Call::new("3", "other", r#"{"city": "Paris"}"#)).await;
        assert_eq!(elsewhere.kind(), None);
        let marked = guard.journal().samples();
        assert!(marked.iter().all(|record| record.fault == Some("fail")));
        assert_eq!(marked.len(), if expected.is_some() { 2 } else { 0 });
    }
}

#[test]
fn rules_of_the_file_read_errors_and_remove_secrets() {
    let config = config(
        "[[phrase]]
        id = 'flux'
        kind = 'quota_exceeded'
        phrases = ['flux…exhausted']
        [[secret]]
        id = 'acme-key'
        regex = 'acme_[0-9]{6}'
        keywords = ['acme_']",
    );
    let text = "acme_123456: flux is exhausted";
    let evidence = Evidence { text, ..Evidence::default() };
    assert_eq!(config.reader().unwrap().read(&evidence).kind, FailureKind::QuotaExceeded);
    assert!(config.redactor().unwrap().redact(text).starts_with("[redacted:acme-key#"));
    let guard = Guard::builder().config(config).build().unwrap();
    let explanation = guard.explain(&evidence);
    assert_eq!(explanation.failure.kind, FailureKind::QuotaExceeded);
    assert!(!explanation.failure.message.contains("123456"), "{}", explanation.failure.message);
}

#[tokio::test]
async fn the_environment_stands_above_the_file() {
    let file = "[guard]\nstrict = true\npreset = 'json'\n[tools.'files.read-all']\neffect = 'once'";
    let variables = [
        ("BREAKFALL_GUARD__STRICT", "false"),
        ("breakfall_guard__preset", "sidekick-short"),
        ("BREAKFALL_TOOLS__FILES_READ_ALL__EFFECT", "read_only"),
        ("BREAKFALL_TOOLS__GITHUB__SEARCH__EFFECT", "\"idempotent\""),
        ("BREAKFALL_TOOLS__GITHUB__SEARCH__FALLBACK__VALUE", "3"),
        ("BREAKFALL_TOOLS__GITHUB__SEARCH__FALLBACK__ON", "['network']"),
        ("BREAKFALL_HOME", "not ours"),
        ("OTHER_GUARD__STRICT", "not ours"),
    ];
    let config = config(file).with_environment(variables).unwrap();
    let tools = ["files.read-all", "github__search"].map(echo);
    let guard = Guard::builder().tools(tools).config(config).build().unwrap();
    let effects: Vec<Effect> = guard.toolbox().callable().iter().map(|spec| spec.effect).collect();
    assert_eq!(effects, [Effect::ReadOnly, Effect::Idempotent]);
    let reply = guard.handle(Call::new("1", "nothing", "{}")).await;
    assert!(!reply.is_fatal());
    assert!(reply.text.starts_with("[TOOL ERROR] nothing"), "{}", reply.text);
}

#[test]
fn what_the_guide_shows_is_usable() {
    let guides =
        [include_str!("../../../docs/configuration.md"), include_str!("../../../docs/mcp.md")];
    let shown: Vec<&str> = guides
        .iter()
        .flat_map(|guide| guide.split("```toml\n").skip(1))
        .filter_map(|rest| rest.split("```").next())
        .collect();
    assert!(shown.len() > 6);
    for text in shown {
        config(text);
    }
}

const EXAMPLE: &str = include_str!("../../../breakfall.example.toml");

/// Values of every type, at and beyond the limits of most keys.
const VALUES: &[&str] = &[
    "true",
    "false",
    "0",
    "1",
    "-1",
    "3",
    "3.0",
    "100",
    "101",
    "1_000_001",
    "9223372036854775807",
    "0.5",
    "1e300",
    "nan",
    "-inf",
    "''",
    "'x'",
    "'0s'",
    "'30s'",
    "'31d'",
    "'4MiB'",
    "'2GiB'",
    "'network'",
    "'fatal'",
    "'read_only'",
    "'…a'",
    "'('",
    "[]",
    "['x']",
    "[1]",
    "[[]]",
    "{}",
    "{ x = 1 }",
    "{ tool = 'x' }",
    "{ percent = 101 }",
    "1979-05-27",
    "'''\nlong\n'''",
];

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC*", name in "[A-Z_]{0,30}", value in "\\PC*") {
        let _ = Config::from_toml(&text, "f");
        let variable = (format!("BREAKFALL_{name}"), value);
        let _ = Config::default().with_environment([variable]);
    }

    /// What the schema accepts can be read, and what it does not accept is told with its key.
    #[test]
    fn any_value_of_any_key_is_accepted_or_told(line in 0_usize..150, value in 0..VALUES.len()) {
        let lines = EXAMPLE.lines().enumerate().map(|(at, written)| match written.split_once(" = ") {
            Some((key, _)) if at == line && !key.starts_with('#') => {
                format!("{key} = {}", VALUES[value])
            }
            _ => written.to_owned(),
        });
        let text = lines.collect::<Vec<_>>().join("\n");
        match Config::from_toml(&text, "f") {
            Ok(config) => prop_assert!(Guard::builder().config(config).build().is_ok()),
            Err(Error::Config { problems }) => for problem in problems {
                prop_assert!(problem.line.is_some(), "{problem}");
                let is_syntax = problem.problem.remark.as_deref().is_some_and(|remark| {
                    remark.starts_with("this is not TOML") || remark.starts_with("this number")
                });
                prop_assert!(is_syntax || !problem.problem.path.is_empty(), "{problem}");
            },
            Err(error) => prop_assert!(false, "{error}"),
        }
    }
}
