//! Did the run recover from a failure that the model was told of? Followed call by call.

use std::collections::{HashMap, VecDeque};

use crate::row::Row;

/// Within so many calls of the same run.
const WITHIN: u32 = 5;

/// How many runs are followed at once; the oldest is given up for a new one.
const RUNS: usize = 4096;

/// How a failure ended for its run.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Recovered {
    /// The model called the tool again, and it worked.
    ByModel,
    /// A substitute answered.
    ByFallback,
    /// Nothing worked within the next calls.
    ByNobody,
    /// Nobody knows: the run has no name, or was lost from sight.
    Unknown,
}

/// The runs that have failures open.
#[derive(Default)]
pub(crate) struct Runs {
    open: HashMap<String, Vec<Open>>,
    /// Which of them failed first.
    order: VecDeque<String>,
}

struct Open {
    fingerprint: String,
    upstream: String,
    tool: String,
    left: u32,
}

impl Runs {
    /// Takes a call, and tells of which failures the end is known now.
    pub(crate) fn take(&mut self, row: &Row) -> Vec<(String, Recovered)> {
        let mut known = Vec::new();
        if let Some(run) = &row.run {
            self.follow(run, row, &mut known);
        }
        let Some(failed) = &row.failure else { return known };
        match (row.ending.as_str(), &row.run) {
            ("substituted", _) => known.push((failed.fingerprint.clone(), Recovered::ByFallback)),
            (_, None) => known.push((failed.fingerprint.clone(), Recovered::Unknown)),
            (_, Some(run)) => self.open(run, row, failed.fingerprint.clone(), &mut known),
        }
        known
    }

    fn follow(&mut self, run: &str, row: &Row, known: &mut Vec<(String, Recovered)>) {
        let Some(open) = self.open.get_mut(run) else { return };
        let works = row.succeeded() || row.ending == "substituted";
        open.retain_mut(|one| {
            if works && one.tool == row.tool && one.upstream == row.upstream {
                known.push((std::mem::take(&mut one.fingerprint), Recovered::ByModel));
                return false;
            }
            one.left -= 1;
            if one.left == 0 {
                known.push((std::mem::take(&mut one.fingerprint), Recovered::ByNobody));
            }
            one.left > 0
        });
        if open.is_empty() {
            self.open.remove(run);
        }
    }

    fn open(
        &mut self,
        run: &str,
        row: &Row,
        fingerprint: String,
        known: &mut Vec<(String, Recovered)>,
    ) {
        if !self.open.contains_key(run) {
            self.order.push_back(run.to_owned());
            while self.open.len() >= RUNS {
                let Some(oldest) = self.order.pop_front() else { break };
                let lost = self.open.remove(&oldest).unwrap_or_default();
                known.extend(lost.into_iter().map(|one| (one.fingerprint, Recovered::Unknown)));
            }
            // Runs that ended well are still in the order; they must not fill it.
            if self.order.len() > 2 * RUNS {
                self.order.retain(|run| self.open.contains_key(run));
                self.order.push_back(run.to_owned());
            }
        }
        let (upstream, tool) = (row.upstream.clone(), row.tool.clone());
        let one = Open { fingerprint, upstream, tool, left: WITHIN };
        self.open.entry(run.to_owned()).or_default().push(one);
    }

    /// The ends of all that is open: the process ends.
    pub(crate) fn give_up(&mut self) -> Vec<(String, Recovered)> {
        let open = std::mem::take(&mut self.open).into_values().flatten();
        open.map(|one| (one.fingerprint, Recovered::Unknown)).collect()
    }
}

/// The share of successes and where the true one lies, nineteen times of twenty (Wilson).
#[expect(clippy::cast_precision_loss, reason = "a share of a count")]
pub(crate) fn interval(successes: u64, all: u64) -> Option<(f64, f64, f64)> {
    const Z: f64 = 1.96;
    if all == 0 {
        return None;
    }
    let (n, p) = (all as f64, successes as f64 / all as f64);
    let middle = p + Z * Z / (2.0 * n);
    let spread = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    let whole = 1.0 + Z * Z / n;
    Some((p, ((middle - spread) / whole).max(0.0), ((middle + spread) / whole).min(1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Failed;

    fn row(run: Option<&str>, tool: &str, ending: &str) -> Row {
        let failure = (ending != "succeeded").then(|| Failed {
            kind: "network".into(),
            reference: "abc123".into(),
            template: String::new(),
            fingerprint: format!("of {tool}"),
        });
        Row {
            at: 0,
            took: 0,
            run: run.map(str::to_owned),
            call: String::new(),
            upstream: String::new(),
            tool: tool.to_owned(),
            ending: ending.to_owned(),
            attempts: 1,
            times: 1,
            turns: Vec::new(),
            failure,
            body: String::new(),
            is_kept: true,
        }
    }

    #[test]
    fn the_end_of_a_failure_is_known_when_it_is() {
        let mut runs = Runs::default();
        let a = Some("a");
        let of = |tool: &str, how| vec![(format!("of {tool}"), how)];
        assert_eq!(runs.take(&row(a, "x", "failed")), []);
        assert_eq!(runs.take(&row(Some("b"), "x", "succeeded")), []);
        assert_eq!(runs.take(&row(a, "y", "succeeded")), []);
        assert_eq!(runs.take(&row(a, "x", "succeeded")), of("x", Recovered::ByModel));
        assert_eq!(runs.take(&row(a, "x", "failed")), []);
        for _ in 0..WITHIN - 1 {
            assert_eq!(runs.take(&row(a, "y", "succeeded")), []);
        }
        assert_eq!(runs.take(&row(a, "y", "succeeded")), of("x", Recovered::ByNobody));
        assert_eq!(runs.take(&row(a, "z", "substituted")), of("z", Recovered::ByFallback));
        assert_eq!(runs.take(&row(None, "z", "failed")), of("z", Recovered::Unknown));
        assert_eq!(runs.take(&row(a, "x", "failed")), []);
        assert_eq!(runs.give_up(), of("x", Recovered::Unknown));
    }

    #[test]
    fn runs_without_end_take_no_memory_without_end() {
        let mut runs = Runs::default();
        let mut known = 0;
        for number in 0..3 * RUNS {
            known += runs.take(&row(Some(&number.to_string()), "x", "failed")).len();
        }
        assert!(runs.open.len() <= RUNS && runs.order.len() <= 2 * RUNS + 1);
        assert_eq!(known + runs.give_up().len(), 3 * RUNS);
    }

    #[test]
    fn few_cases_prove_little() {
        let (share, low, high) = interval(3, 3).unwrap();
        assert!((share - 1.0).abs() < 1e-9 && low < 0.45 && high > 0.99, "{low} {high}");
        let (_, low, high) = interval(500, 1000).unwrap();
        assert!(low > 0.46 && high < 0.54);
        assert_eq!(interval(0, 0), None);
    }
}
