//! `breakfall config`, and the file that the other commands go by.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::{Value, json};

/// A directory of its own, gone at the end.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str, file: &str) -> Self {
        let path = std::env::temp_dir().join(format!("breakfall-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        std::fs::write(path.join("breakfall.toml"), file).unwrap();
        Self(path)
    }

    fn run(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_breakfall"))
            .args(arguments)
            .current_dir(&self.0)
            .envs(variables.iter().copied())
            .output()
            .unwrap()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

const BAD: &str = "[guard]\npreset = 'sidekik'\n\n[defaults]\ntotal_timout = '5s'\n";

const OWN: &str = "
[[phrase]]
id = 'flux'
kind = 'quota_exceeded'
phrases = ['flux…exhausted']

[[secret]]
id = 'acme-key'
regex = 'acme_[0-9]{6}'
keywords = ['acme_']

[[fault]]
tool = '*'
trouble = 'hang'
";

#[test]
fn problems_are_told_to_a_person_with_line_and_key() {
    let output = Directory::new("person", BAD)
        .run(&["config", "check"], &[("BREAKFALL_GUARD__STRICT", "perhaps")]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(output.stdout), "");
    // The file by itself is checked first; the environment is put over a usable one.
    insta::assert_snapshot!(text(output.stderr), @r#"
    error: the configuration has 2 problems
      breakfall.toml:2:10: `guard.preset`: `'sidekik'` is not accepted; nearest: `"sidekick"`; accepted: `"breakfall"`, `"openagents"`, `"brynhild"`, `"llmproc"`, `"llmproc-rfc015"`, `"sidekick"`, `"sidekick-short"`, `"json"`
      breakfall.toml:5:1: `defaults.total_timout`: there is no such key; nearest: `total_timeout`; accepted: `attempt_timeout`, `breaker`, `budget`, `checking`, `concurrency`, `max_arguments`, `max_output`, `queue`, `queue_timeout`, `repair`, `repeats`, `retry`, `silent`, `total_timeout`

    hint: `breakfall config schema` prints every key and what it accepts
    "#);
}

#[test]
fn problems_are_told_to_a_program() {
    let output = Directory::new("program", BAD).run(&["config", "check", "--json"], &[]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(output.stderr), "");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["usable"], json!(false));
    let problem = &answer["problems"][1];
    assert_eq!(problem["origin"], json!("breakfall.toml"));
    assert_eq!((&problem["line"], &problem["column"]), (&json!(5), &json!(1)));
    assert_eq!(problem["path"], json!("defaults.total_timout"));
    assert_eq!(problem["nearest"], json!("total_timeout"));
}

#[test]
fn a_usable_file_is_told_so_with_what_may_surprise() {
    let directory = Directory::new("usable", OWN);
    let output = directory.run(&["config", "check"], &[]);
    assert!(output.status.success());
    insta::assert_snapshot!(text(output.stdout), @r"
    `breakfall.toml` is usable
    note: 1 `[[fault]]` table is ignored: `guard.faults` is not `true`
    ");
    let output = directory.run(&["config", "check", "none.toml"], &[]);
    assert_eq!(output.status.code(), Some(1));
    insta::assert_snapshot!(text(output.stderr), @r"
    error: the configuration `none.toml` cannot be read
      caused by: No such file or directory (os error 2)
    ");
    let variable = ("BREAKFALL_GUARD__STRICT", "perhaps");
    let output = directory.run(&["config", "check"], &[variable]);
    assert!(text(output.stderr).contains("BREAKFALL_GUARD__STRICT: `guard.strict`"));
}

#[test]
fn the_schema_is_printed() {
    let output = Directory::new("schema", BAD).run(&["config", "schema"], &[]);
    let schema: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(schema["title"], "breakfall.toml");
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
}

#[test]
fn other_commands_go_by_the_file() {
    let directory = Directory::new("others", OWN);
    let error = "acme_123456: flux is exhausted";
    let output = directory.run(&["explain", "--json", error], &[]);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["kind"], "quota_exceeded");
    assert!(!answer.to_string().contains("123456"), "{answer}");
    let file = directory.0.join("breakfall.toml");
    let elsewhere = Directory::new("elsewhere", "");
    let output = elsewhere.run(&["explain", "--json", error], &[]);
    assert!(!text(output.stdout).contains("quota_exceeded"));
    let named = ["explain", "--json", error, "--config", file.to_str().unwrap()];
    assert!(text(elsewhere.run(&named, &[]).stdout).contains("quota_exceeded"));
    let bad = Directory::new("bad", BAD).run(&["redact"], &[]);
    assert_eq!(bad.status.code(), Some(1));
    assert!(text(bad.stderr).contains("breakfall.toml:2:10: `guard.preset`"));
}

#[test]
fn secrets_of_the_file_are_removed() {
    let directory = Directory::new("secrets", OWN);
    std::fs::write(directory.0.join("in"), "the key is acme_123456").unwrap();
    let input = std::fs::File::open(directory.0.join("in")).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_breakfall"))
        .arg("redact")
        .current_dir(&directory.0)
        .stdin(input)
        .output()
        .unwrap();
    assert!(text(output.stdout).starts_with("the key is [redacted:acme-key#"));
}
