//! `breakfall redact`: standard input without its secrets.

use std::io::{self, Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

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
                Ok(value) if redactor.add_value(&value) => {}
                Ok(_) => {
                    let short = format!("the value of `{name}` has fewer than four bytes");
                    return Err(Failed::new(short).hint("leave it out: it is not looked for"));
                }
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
        let mut output = io::stdout().lock();
        let mut stream = RedactingStream::new(redactor);
        let chunks = chunks();
        let mut is_given = true;
        loop {
            // Who follows a log waits for its lines, and for no more than a moment.
            let wait = if is_given { Duration::MAX } else { PAUSE };
            let text = match chunks.recv_timeout(wait) {
                Ok(chunk) => {
                    is_given = false;
                    stream.push(&chunk.map_err(reading)?)
                }
                Err(RecvTimeoutError::Timeout) => {
                    is_given = true;
                    stream.pause()
                }
                Err(RecvTimeoutError::Disconnected) => break,
            };
            output.write_all(text.as_bytes()).and_then(|()| output.flush()).map_err(writing)?;
        }
        output.write_all(stream.finish().as_bytes()).map_err(writing)?;
        output.flush().map_err(writing)
    }
}

/// How long nothing comes until whole lines are given out.
const PAUSE: Duration = Duration::from_millis(300);

/// Standard input in chunks as they come, few of them at once.
fn chunks() -> Receiver<io::Result<Vec<u8>>> {
    let (sender, receiver) = sync_channel(4);
    std::thread::spawn(move || {
        let mut input = io::stdin().lock();
        let mut chunk = vec![0; 64 << 10];
        loop {
            let read = input.read(&mut chunk);
            let is_last = !matches!(read, Ok(1..));
            let is_read = !matches!(read, Ok(0));
            let left = is_read && sender.send(read.map(|read| chunk[..read].to_vec())).is_err();
            if is_last || left {
                break;
            }
        }
    });
    receiver
}

fn answer(redactor: &Redactor, line: &Line) -> Value {
    let redactions: Vec<Value> = redactor
        .find(&line.text)
        .iter()
        .map(|span| json!({ "rule": span.name, "start": span.start, "end": span.end }))
        .collect();
    json!({ "id": line.id, "text": redactor.redact(&line.text), "redactions": redactions })
}
