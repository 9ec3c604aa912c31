//! Counts on record and counts of today, beside each other.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::Failed;
use crate::bench::grouped;
use crate::bench::gungraun::Count;

/// How many per cent a count may be above the one on record.
const TOLERATED: f64 = 5.0;

/// How a count went.
#[derive(Debug, PartialEq)]
enum Change {
    /// By so many per cent; above zero it is more than it was.
    By(f64),
    New,
    Missing,
}

/// A count on record, the count of today, and what changed.
#[derive(Debug, PartialEq)]
struct Row {
    bench: String,
    recorded: Option<u64>,
    counted: Option<u64>,
    change: Change,
}

impl Row {
    fn is_too_much(&self) -> bool {
        match self.change {
            Change::By(percent) => percent > TOLERATED,
            // Told, and for a person to put on record: nothing grew.
            Change::New | Change::Missing => false,
        }
    }
}

/// Everything that was counted or should have been.
pub(super) struct Compared(Vec<Row>);

/// Puts each count beside the one on record.
pub(super) fn compared(recorded: &BTreeMap<String, u64>, counted: &[Count]) -> Compared {
    let mut rows: Vec<Row> = counted
        .iter()
        .map(|count| {
            let before = recorded.get(&count.bench).copied();
            Row {
                bench: count.bench.clone(),
                recorded: before,
                counted: Some(count.instructions),
                change: before
                    .map_or(Change::New, |before| Change::By(percent(before, count.instructions))),
            }
        })
        .collect();
    for (bench, before) in recorded {
        if !counted.iter().any(|count| count.bench == *bench) {
            let row = Row {
                bench: bench.clone(),
                recorded: Some(*before),
                counted: None,
                change: Change::Missing,
            };
            rows.push(row);
        }
    }
    Compared(rows)
}

#[expect(clippy::cast_precision_loss, reason = "per cent")]
fn percent(before: u64, now: u64) -> f64 {
    (now as f64 / before.max(1) as f64 - 1.0) * 100.0
}

impl Compared {
    /// All of it, for the person at the terminal.
    pub(super) fn table(&self) -> String {
        let mut table =
            "\n| instructions | on record | counted | change |\n|---|---:|---:|---:|\n".to_owned();
        let number = |count: Option<u64>| count.map(grouped).unwrap_or_default();
        for row in &self.0 {
            let change = match row.change {
                Change::By(percent) => format!("{percent:+.1} %"),
                Change::New => "not on record".to_owned(),
                Change::Missing => "not counted".to_owned(),
            };
            let mark = if row.is_too_much() { " ✗" } else { "" };
            let _ = writeln!(
                table,
                "| {} | {} | {} | {change}{mark} |",
                row.bench,
                number(row.recorded),
                number(row.counted),
            );
        }
        table
    }

    /// What is to be put on record, though nothing grew.
    pub(super) fn hints(&self) -> String {
        let many =
            |wanted: fn(&Change) -> bool| self.0.iter().filter(|row| wanted(&row.change)).count();
        let better = many(|change| matches!(change, Change::By(percent) if *percent < -TOLERATED));
        let others = many(|change| matches!(change, Change::New | Change::Missing));
        let mut hints = String::new();
        if better > 0 {
            let _ = writeln!(
                hints,
                "\n{better} counts are more than {TOLERATED} % below those on record"
            );
        }
        if others > 0 {
            let _ = writeln!(
                hints,
                "\n{others} counts are not on record, or on record and not counted"
            );
        }
        if better + others > 0 {
            hints.push_str("\nhint: `cargo xtask counts --record` keeps the counts of today\n");
        }
        hints
    }

    /// Whether it may stand.
    pub(super) fn verdict(&self) -> Result<(), Failed> {
        let bad: Vec<&str> =
            self.0.iter().filter(|row| row.is_too_much()).map(|row| row.bench.as_str()).collect();
        if bad.is_empty() {
            return Ok(());
        }
        Err(format!(
            "{} of {} counts are more than {TOLERATED} % above those on record: {}\n\n\
             hint: make them cheaper, or `cargo xtask counts --record` and say why in the commit",
            bad.len(),
            self.0.len(),
            bad.join(", "),
        ))
    }
}

/// The counts as they are kept: a bench and its count in each line.
pub(super) fn written(counted: &[Count]) -> String {
    let lines = counted.iter().map(|count| format!("{}\t{}\n", count.bench, count.instructions));
    lines.collect()
}

/// The counts as they were kept.
pub(super) fn read(text: &str) -> Result<BTreeMap<String, u64>, Failed> {
    text.lines()
        .map(|line| {
            let (bench, count) = line.split_once('\t')?;
            Some((bench.to_owned(), count.trim().parse().ok()?))
        })
        .collect::<Option<_>>()
        .ok_or_else(|| "a line on record is not a bench, a tab and a count".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(bench: &str, instructions: u64) -> Count {
        Count { bench: bench.to_owned(), instructions }
    }

    fn against(recorded: &str, counted: &[Count]) -> Compared {
        compared(&read(recorded).unwrap_or_else(|error| panic!("{error}")), counted)
    }

    #[test]
    fn six_per_cent_more_fails_and_four_pass() {
        let counted = [count("success", 1_060), count("failure", 1_040), count("panic", 900)];
        let all = against("success\t1000\nfailure\t1000\npanic\t1000\n", &counted);
        assert_eq!(
            all.table(),
            "\n| instructions | on record | counted | change |\n|---|---:|---:|---:|\n\
             | success | 1,000 | 1,060 | +6.0 % ✗ |\n\
             | failure | 1,000 | 1,040 | +4.0 % |\n\
             | panic | 1,000 | 900 | -10.0 % |\n"
        );
        assert!(all.hints().starts_with("\n1 counts are more than 5 % below those on record\n"));
        let error = all.verdict().unwrap_err();
        assert!(
            error.starts_with("1 of 3 counts are more than 5 % above those on record: success\n")
        );
        assert!(error.contains("cargo xtask counts --record"));
        assert_eq!(against("failure\t1000\n", &counted[1..2]).verdict(), Ok(()));
    }

    #[test]
    fn a_bench_that_is_new_or_gone_is_told() {
        let all = against("old\t7\nkept\t1000\n", &[count("kept", 1_000), count("fresh", 8)]);
        assert_eq!(
            all.table(),
            "\n| instructions | on record | counted | change |\n|---|---:|---:|---:|\n\
             | kept | 1,000 | 1,000 | +0.0 % |\n\
             | fresh |  | 8 | not on record |\n\
             | old | 7 |  | not counted |\n"
        );
        assert_eq!(
            all.hints(),
            "\n2 counts are not on record, or on record and not counted\n\
             \nhint: `cargo xtask counts --record` keeps the counts of today\n"
        );
        assert_eq!(all.verdict(), Ok(()));
    }

    #[test]
    fn what_is_written_is_read_again() {
        let all = [count("success", 1), count("batch ten", 23_456)];
        let read = read(&written(&all)).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(
            read.into_iter().collect::<Vec<_>>(),
            [("batch ten".to_owned(), 23_456), ("success".to_owned(), 1)]
        );
        assert!(super::read("no tab here").is_err());
    }
}
