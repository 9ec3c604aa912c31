//! The example shows every key with its default; the schema refuses what it does not list.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::Value;

use super::Config;
use super::policies::Policies;
use super::schema;
use crate::{BreakerRules, FailureKind, GateRules, Guard, Policy, RepeatRules, Retry};

const EXAMPLE: &str = include_str!("../../../../breakfall.example.toml");

fn example() -> Config {
    Config::from_toml(EXAMPLE, "breakfall.example.toml").unwrap()
}

/// Every key that a value has, under the name of the table that it belongs to.
fn seen(value: &Value, wanted: &'static Value, known: &mut BTreeSet<(String, String)>) {
    let table = wanted.get("$ref").and_then(Value::as_str).unwrap_or_default();
    let wanted = schema::resolved(wanted);
    if let Some(branches) = wanted.get("anyOf").and_then(Value::as_array) {
        return branches.iter().for_each(|branch| seen(value, branch, known));
    }
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                let Some(inside) = schema::inside(wanted, name) else { continue };
                known.insert((table.to_owned(), name.clone()));
                seen(field, inside, known);
            }
        }
        Value::Array(items) => {
            let inside = schema::inside(wanted, "0");
            items.iter().zip(inside.into_iter().cycle()).for_each(|(i, s)| seen(i, s, known));
        }
        _ => {}
    }
}

#[test]
fn the_example_has_every_key() {
    let (value, _) = super::tree::document(EXAMPLE).ok().unwrap();
    let mut known = BTreeSet::new();
    seen(&value, schema::document(), &mut known);
    let has = |table: &str, key: &str| known.contains(&(table.to_owned(), key.to_owned()));
    // What a tool or an upstream shares with the defaults is shown there.
    let in_defaults = |key: &str| has("#/$defs/CallTable", key);
    let mut tables: BTreeMap<String, &Value> =
        BTreeMap::from([(String::new(), schema::document())]);
    let definitions = schema::document()["$defs"].as_object().unwrap();
    tables.extend(definitions.iter().map(|(name, one)| (format!("#/$defs/{name}"), one)));
    for (table, wanted) in tables {
        for key in wanted.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let key = key.0;
            let is_shared = table.ends_with("/ToolTable") && in_defaults(key);
            let is_kind = key.parse::<FailureKind>().is_ok() && has("#/$defs/Dispositions", key);
            assert!(has(&table, key) || is_shared || is_kind, "{table} {key} is not shown");
        }
    }
}

#[test]
fn the_example_shows_the_defaults() {
    let config = example();
    let policies = config.policies(Policies::default());
    let of = |tool: &str, upstream: &str| {
        policies
            .of(tool, || {
                Some(upstream.into()).filter(|name: &std::sync::Arc<str>| !name.is_empty())
            })
            .clone()
    };
    assert_eq!(*of("any", ""), Policy::default());
    assert_eq!(*of("any", "github"), Policy::default());
    assert_eq!(*of("web_search", ""), Policy::default());
    let plain = Guard::builder();
    let mut configured = Guard::builder();
    config.put_over(&mut configured);
    assert_eq!(configured.upstreams["github"], GateRules::upstream());
    assert_eq!(configured.batching, plain.batching);
    assert_eq!(configured.concurrency, plain.concurrency);
    assert_eq!(configured.keeps_arguments, plain.keeps_arguments);
    assert_eq!(configured.max_error_bytes, plain.max_error_bytes);
    assert_eq!(configured.max_samples, plain.max_samples);
    assert_eq!(configured.max_sample_bytes, plain.max_sample_bytes);
    assert_eq!(configured.dispositions.preset, plain.dispositions.preset);
    assert_eq!(configured.dispositions.strict, plain.dispositions.strict);
    let decided = configured.dispositions.by_kind;
    assert_eq!(decided.len(), FailureKind::ALL.len());
    assert!(decided.iter().all(|(kind, decided)| kind.disposition() == *decided));
    assert!(!config.makes_faults());
}

#[test]
fn the_schema_compiles_and_refuses_what_no_table_lists() {
    assert!(schema::compiled().is_some());
    let definitions = schema::document()["$defs"].as_object().unwrap();
    for (name, table) in definitions.iter().chain([(&String::new(), schema::document())]) {
        let is_table = table.get("properties").is_some();
        assert_eq!(is_table, table.get("additionalProperties") == Some(&false.into()), "{name}");
        assert!(!table.to_string().contains("null"), "TOML has no null: {name}");
    }
}

#[test]
fn the_nearer_table_decides() {
    let text = "
        [defaults]
        attempt_timeout = '1s'
        total_timeout = '2s'
        max_output = 300
        breaker = false
        [upstreams.up.defaults]
        total_timeout = '20s'
        max_output = 3000
        [tools.t]
        max_output = 30000
        breaker = { percent = 7 }
        retry = false
        [tools.t.repeats]
        warn_at = 9";
    let config = Config::from_toml(text, "f").unwrap();
    let variables = [("BREAKFALL_TOOLS__T__RETRY", "{ attempts = 8 }")];
    let config = config.with_environment(variables).unwrap();
    let mut in_code = Policies::default();
    std::sync::Arc::make_mut(&mut in_code.all).max_argument_bytes = 77;
    let mine = Policy { max_output_bytes: 1, ..Policy::default() };
    in_code.tools.insert("mine".to_owned(), mine.into());
    let policies = config.policies(in_code);
    let seconds = |policy: &Policy| {
        (policy.attempt_timeout.as_secs(), policy.total_timeout.as_secs(), policy.max_output_bytes)
    };
    let up = || Some("up".into());
    assert_eq!(seconds(policies.of("any", || None)), (1, 2, 300));
    assert_eq!(policies.of("any", || None).max_argument_bytes, 77);
    assert_eq!(policies.of("any", || None).gate.breaker, None);
    assert_eq!(seconds(policies.of("any", up)), (1, 20, 3000));
    assert_eq!(seconds(policies.of("t", || None)), (1, 2, 30000));
    let tool = policies.of("t", up);
    assert_eq!(seconds(tool), (1, 20, 30000));
    assert_eq!(tool.gate.breaker, Some(BreakerRules { percent: 7, ..BreakerRules::default() }));
    assert_eq!(tool.retry, Retry { attempts: 8, ..Retry::default() });
    assert_eq!(tool.repeats, RepeatRules { warn_at: 9, ..RepeatRules::default() });
    assert_eq!(seconds(policies.of("mine", || None)), (30, 55, 1));
}

#[test]
fn servers_are_read_and_what_contradicts_itself_is_told() {
    let text = "[guard]\nunknown_tool = 'protocol'\nredact_results = true\n\
        [upstreams.git]\ncommand = 'mcp-server-git'\nargs = ['-r', '.']\nenv = { A = 'b' }\n\
        [upstreams.web]\nurl = 'https://example.com/mcp'\ntrusted = true\n\
        headers = { Authorization = 'Bearer ${TOKEN}' }\n\
        [upstreams.told]\nqueue = 3\n";
    let config = Config::from_toml(text, "b.toml").unwrap();
    let keys: Vec<&str> = config.upstreams().iter().map(|one| one.key.as_str()).collect();
    assert_eq!(keys, ["git", "web"]);
    assert_eq!(config.trusts("web"), Some(true));
    assert_eq!(config.unknown_tool(), crate::UnknownTool::Protocol);
    for (table, words) in [
        ("command = 'a'\nurl = 'http://b'", "either `command` or `url`, not both"),
        ("url = 'http://b'\nargs = ['c']", "go with `command`"),
        ("command = 'a'\nheaders = { B = 'c' }", "`headers` go with `url`"),
        ("url = 'ftp://b'", "an address that begins with `http://` or `https://`"),
    ] {
        let text = format!("[upstreams.one]\n{table}\n");
        let problem = Config::from_toml(&text, "b.toml").unwrap_err().to_string();
        assert!(problem.contains("b.toml:") && problem.contains(words), "{problem}");
    }
    let problem = Config::from_toml("[upstreams.'a b']\ncommand = 'x'", "b.toml").unwrap_err();
    assert!(problem.to_string().contains("1 to 64 letters"), "{problem}");
}

#[test]
fn records_are_kept_unless_the_file_says_otherwise() {
    let store = |text: &str| Config::from_toml(text, "x").unwrap().store();
    assert_eq!(store(""), Some(crate::ConfiguredStore::default()));
    assert_eq!(store("[store]\nkeep = false\nplace = 'x.db'"), None);
    let told = store("[store]\nplace = 'x.db'\nrecords = '30d'\nhours = '400d'").unwrap();
    assert_eq!(told.place.as_deref(), Some("x.db"));
    assert_eq!(told.records, Some(Duration::from_hours(720)));
    assert_eq!((told.minutes, told.hours), (None, Some(Duration::from_hours(9600))));
    let wrong = Config::from_toml("[store]\nrecords = '20y'", "x").unwrap_err().to_string();
    assert!(wrong.contains("a time from 1 minute to 10 years"), "{wrong}");
}
