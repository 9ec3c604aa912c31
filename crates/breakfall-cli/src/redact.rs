//! `breakfall redact`: standard input without its secrets.

use std::io::{self, Read, Write};

use breakfall::{RedactingStream, Redactor};
use clap::Args;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::failed::{Failed, reading, writing};
use crate::lines;
use crate::settings::{Settings, unusable};

#[derive(Args)]
pub(crate) struct Redact {
    /// Read lines `{id, text}` and write lines `{id, text, redactions: [{rule, start, end}]}`
    #[arg(long)]
    jsonl: bool,
    /// Also remove the values of these environment variables
    #[arg(long = "env", value_name = "NAME")]
    variables: Vec<String>,
    #[command(flatten)]
    settings: Settings,
}

#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    id: Value,
    text: String,
}

impl Redact {
    pub(crate) fn run(self) -> Result<(), Failed> {
        let mut redactor = self.settings.config()?.redactor().map_err(unusable)?;
        for name in &self.variables {
            match std::env::var(name) {
                Ok(value) => redactor.add_value(value),
                Err(_) => {
                    return Err(Failed::new(format!(
                        "the environment variable `{name}` is not set"
                    ))
                    .hint("leave out `--env` for variables that are not set"));
                }
            }
        }
        if self.jsonl {
            return lines::each(|line: Line| answer(&redactor, &line));
        }
        let mut input = io::stdin().lock();
        let mut output = io::stdout().lock();
        let mut stream = RedactingStream::new(redactor);
        let mut chunk = vec![0; 64 << 10];
        loop {
            let read = input.read(&mut chunk).map_err(reading)?;
            if read == 0 {
                break;
            }
            output.write_all(stream.push(&chunk[..read]).as_bytes()).map_err(writing)?;
        }
        output.write_all(stream.finish().as_bytes()).map_err(writing)?;
        output.flush().map_err(writing)
    }
}

fn answer(redactor: &Redactor, line: &Line) -> Value {
    let redactions: Vec<Value> = redactor
        .find(&line.text)
        .iter()
        .map(|span| json!({ "rule": span.name, "start": span.start, "end": span.end }))
        .collect();
    json!({ "id": line.id, "text": redactor.redact(&line.text), "redactions": redactions })
}
