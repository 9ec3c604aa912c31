//! `breakfall explain`: what Breakfall makes of an error.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Read};

use breakfall::{Evidence, Explanation, Guard};
use clap::Args;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::failed::{Failed, reading};
use crate::lines;
use crate::settings::{Settings, unusable};

#[derive(Args)]
pub(crate) struct Explain {
    /// The error's text; `-` or nothing reads standard input
    // Programs write in any encoding, and a shell passes on what they wrote.
    text: Option<OsString>,
    /// The name of the error's type
    #[arg(long, value_name = "NAME")]
    type_name: Option<String>,
    /// The HTTP status that it came with
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(100..600))]
    http_status: Option<u16>,
    /// The exit code of the program that wrote it
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    exit_code: Option<i64>,
    /// The JSON-RPC code that it came with
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    json_rpc_code: Option<i64>,
    /// Print one JSON object
    #[arg(long, conflicts_with = "jsonl")]
    json: bool,
    /// Read lines `{id, text, type_name?, http_status?, exit_code?, json_rpc_code?}` and answer
    /// each with a line
    #[arg(long, conflicts_with_all = ["text", "type_name", "http_status", "exit_code", "json_rpc_code"])]
    jsonl: bool,
    /// With --jsonl: the texts are what tools returned as successes; tell the silent failures
    // Beside what `--jsonl` conflicts with, `--jsonl` is not asked for.
    #[arg(long, requires = "jsonl", conflicts_with_all = ["text", "json"])]
    outputs: bool,
    #[command(flatten)]
    settings: Settings,
}

#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    id: Value,
    text: String,
    type_name: Option<String>,
    http_status: Option<u16>,
    exit_code: Option<i64>,
    json_rpc_code: Option<i64>,
}

impl Explain {
    pub(crate) fn run(self) -> Result<(), Failed> {
        let config = self.settings.config()?;
        let guard = Guard::builder().config(config).build().map_err(unusable)?;
        if self.outputs {
            return lines::each(|line: Line| match guard.silent(&line.text) {
                Some(found) => {
                    json!({ "id": line.id, "silent": true, "kind": found.kind, "why": found.why })
                }
                None => json!({ "id": line.id, "silent": false, "kind": null, "why": null }),
            });
        }
        if self.jsonl {
            return lines::each(|line: Line| {
                let evidence = Evidence {
                    text: &line.text,
                    type_name: line.type_name.as_deref(),
                    http_status: line.http_status,
                    exit_code: line.exit_code,
                    json_rpc_code: line.json_rpc_code,
                };
                let mut object = as_json(&guard.explain(&evidence));
                object["id"] = line.id;
                object
            });
        }
        let text = self.text()?;
        let evidence = Evidence {
            text: &text,
            type_name: self.type_name.as_deref(),
            http_status: self.http_status,
            exit_code: self.exit_code,
            json_rpc_code: self.json_rpc_code,
        };
        let explanation = guard.explain(&evidence);
        if self.json {
            say!("{:#}", as_json(&explanation));
        } else {
            print(&explanation);
        }
        Ok(())
    }

    fn text(&self) -> Result<String, Failed> {
        match self.text.as_deref() {
            Some(text) if text != "-" => Ok(text.to_string_lossy().into_owned()),
            None if io::stdin().is_terminal() => Err(Failed::new("there is no text to explain")
                .hint("breakfall explain 'TEXT', or pipe the text into it")),
            _ => {
                let mut bytes = Vec::new();
                io::stdin().lock().read_to_end(&mut bytes).map_err(reading)?;
                Ok(String::from_utf8_lossy(&bytes).into_owned())
            }
        }
    }
}

fn as_json(explanation: &Explanation) -> Value {
    let failure = &explanation.failure;
    json!({
        "kind": failure.kind,
        "disposition": failure.disposition,
        "resource": failure.resource,
        "http_status": failure.status,
        "retry_after_s": failure.wait.map(|wait| wait.as_secs_f64()),
        "may_pass": explanation.may_pass.if_repeated(),
        "rule": explanation.rule,
        "words": explanation.words,
        "model_text": explanation.told,
    })
}

fn print(explanation: &Explanation) {
    let failure = &explanation.failure;
    let row = |name: &str, value: String| {
        if !value.is_empty() {
            say!("{name:<12} {value}");
        }
    };
    row("kind", failure.kind.to_string());
    row("disposition", format!("{:?}", failure.disposition).to_lowercase());
    row("resource", failure.resource.clone().unwrap_or_default());
    row("http status", failure.status.map(|status| status.to_string()).unwrap_or_default());
    row("wait", failure.wait.map(|wait| format!("{} s", wait.as_secs_f64())).unwrap_or_default());
    row(
        "may pass",
        serde_json::to_value(explanation.may_pass)
            .ok()
            .and_then(|v| v.as_str().map(|s| s.replace('_', " ")))
            .unwrap_or_default(),
    );
    let words =
        explanation.words.as_ref().map(|words| format!(" on `{words}`")).unwrap_or_default();
    row("rule", format!("{}{words}", explanation.rule));
    say!("\nfor the model\n  {}", explanation.told.replace('\n', "\n  "));
    say!("\nfor the developer\n  {}", failure.message.replace('\n', "\n  "));
}
