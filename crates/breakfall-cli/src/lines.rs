//! JSON lines in, JSON lines out: in order, streaming, for files of any size. A bad line is
//! answered as one and the rest goes on.

use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::failed::{Failed, reading, writing};

/// The longest line; a longer one is a bad line.
const LONGEST: usize = 64 << 20;

/// How much is read at once: all that is there, so that it is seen when nothing is.
const AT_ONCE: usize = 64 << 10;

/// Answers each line of standard input with a line on standard output.
pub(crate) fn each<T: DeserializeOwned>(mut answer: impl FnMut(T) -> Value) -> Result<(), Failed> {
    let mut input = BufReader::with_capacity(AT_ONCE, io::stdin().lock());
    let mut output = BufWriter::new(io::stdout().lock());
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = input
            .by_ref()
            .take(LONGEST as u64 + 1)
            .read_until(b'\n', &mut line)
            .map_err(reading)?;
        if read == 0 {
            break;
        }
        let too_long = line.len() > LONGEST;
        if too_long && line.last() != Some(&b'\n') {
            skip_line(&mut input).map_err(reading)?;
        }
        let text = line.trim_ascii();
        if text.is_empty() {
            continue;
        }
        let answer = if too_long {
            json!({ "error": format!("the line is longer than {LONGEST} bytes") })
        } else {
            match serde_json::from_slice(text) {
                Ok(record) => answer(record),
                Err(error) => bad_line(text, &error),
            }
        };
        serde_json::to_writer(&mut output, &answer).map_err(|error| writing(error.into()))?;
        output.write_all(b"\n").map_err(writing)?;
        // Someone may wait for the answer to one line before writing the next.
        if input.buffer().is_empty() {
            output.flush().map_err(writing)?;
        }
    }
    output.flush().map_err(writing)
}

fn bad_line(line: &[u8], error: &serde_json::Error) -> Value {
    let id = serde_json::from_slice::<Value>(line).ok().and_then(|value| value.get("id").cloned());
    match id {
        Some(id) => json!({ "id": id, "error": error.to_string() }),
        None => json!({ "error": error.to_string() }),
    }
}

fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            return Ok(());
        }
        let (used, done) = match buffer.iter().position(|byte| *byte == b'\n') {
            Some(at) => (at + 1, true),
            None => (buffer.len(), false),
        };
        input.consume(used);
        if done {
            return Ok(());
        }
    }
}
