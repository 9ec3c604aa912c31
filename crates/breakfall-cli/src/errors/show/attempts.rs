//! The attempts of a call on a line of time.

use std::fmt::Write as _;

use breakfall_store::Sample;
use serde_json::Value;

use crate::numbers::took;
use crate::terminal::{Style, Terminal, cut, one_line};

/// How wide the line of time is at most.
const WIDEST: u64 = 48;

/// An attempt that failed.
struct Attempt {
    began: u64,
    took: u64,
    kind: String,
    waited: Option<u64>,
}

/// The attempts that failed, below one another, each where it was.
pub(super) fn timeline(sample: &Sample, terminal: &Terminal) -> String {
    let attempts: Vec<Attempt> =
        sample.body["tries"].as_array().into_iter().flatten().map(attempt).collect();
    // One alone says nothing that was not said above.
    if attempts.len() < 2 {
        return String::new();
    }
    let whole = attempts
        .iter()
        .map(|attempt| attempt.began.saturating_add(attempt.took))
        .fold(sample.took / 1_000, u64::max)
        .max(1);
    let columns = (terminal.width.saturating_sub(52) as u64).clamp(8, WIDEST);
    let mut text = format!("{}\n", terminal.paint("attempts that failed", Style::Faint));
    for (number, attempt) in attempts.iter().enumerate() {
        let bar = bar(attempt, whole, columns);
        let waited = match attempt.waited {
            Some(waited) => format!(", then waited {}", time(waited)),
            None => String::new(),
        };
        let line = format!(
            "  {:>2}  {bar}  {} at {}, {}{waited}",
            number + 1,
            time(attempt.took),
            time(attempt.began),
            attempt.kind
        );
        let _ = writeln!(text, "{}", cut(&line, terminal.width));
    }
    text
}

/// Where on the line it was: at least one column.
fn bar(attempt: &Attempt, whole: u64, columns: u64) -> String {
    let place = |at: u64| u64::try_from(u128::from(at) * u128::from(columns) / u128::from(whole));
    let first = place(attempt.began).unwrap_or(columns).min(columns - 1);
    let end = attempt.began.saturating_add(attempt.took);
    let last = place(end).unwrap_or(columns).clamp(first + 1, columns);
    let part = |char: char, count: u64| (0..count).map(move |_| char);
    part('·', first).chain(part('█', last - first)).chain(part('·', columns - last)).collect()
}

fn attempt(value: &Value) -> Attempt {
    let number = |name: &str| value[name].as_u64();
    Attempt {
        began: number("began_ms").unwrap_or(0),
        took: number("took_ms").unwrap_or(0),
        kind: one_line(value["kind"].as_str().unwrap_or("unknown")),
        waited: number("waited_ms"),
    }
}

fn time(millis: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "milliseconds of a call")]
    let seconds = millis as f64 / 1e3;
    if millis == 0 { "0 ms".to_owned() } else { took(seconds) }
}
