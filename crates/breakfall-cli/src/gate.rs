//! `--fail-over 5%`: what a pipeline asks for.

use clap::Args;

use crate::failed::Failed;
use crate::numbers::{of, percent};

/// The exit status when more failed than may.
const STATUS: u8 = 2;

#[derive(Args)]
pub(crate) struct Gate {
    /// End with exit status 2 when more of the calls failed
    #[arg(long, value_name = "PERCENT", value_parser = share)]
    fail_over: Option<f64>,
}

/// Calls, and how many of them failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Failures {
    pub(crate) calls: u64,
    pub(crate) failed: u64,
}

impl Failures {
    /// The share that failed, if there were calls.
    #[expect(clippy::cast_precision_loss, reason = "a share of a count")]
    pub(crate) fn rate(self) -> Option<f64> {
        (self.calls > 0).then(|| self.failed as f64 / self.calls as f64)
    }

    /// In words.
    pub(crate) fn words(self) -> String {
        let rate = self.rate().map(|rate| format!(" ({})", percent(rate))).unwrap_or_default();
        format!("{}, {} failed{rate}", of(self.calls, "call", "calls"), self.failed)
    }
}

impl Gate {
    /// Whether so many may fail.
    pub(crate) fn check(&self, failures: Failures) -> Result<(), Failed> {
        let (Some(most), Some(rate)) = (self.fail_over, failures.rate()) else { return Ok(()) };
        if rate <= most {
            return Ok(());
        }
        let (failed, calls) = (failures.failed, of(failures.calls, "call", "calls"));
        let what = format!(
            "{failed} of {calls} failed: {}, and at most {} may",
            percent(rate),
            percent(most)
        );
        Err(Failed::new(what).status(STATUS))
    }

    /// Nothing was kept: how much failed is not known, and what is not known passes no gate.
    pub(crate) fn check_nothing(&self) -> Result<(), Failed> {
        if self.fail_over.is_none() {
            return Ok(());
        }
        Err(Failed::new("nothing was kept: how many calls failed is not known"))
    }
}

fn share(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim_end().parse::<f64>().ok();
    let percent = number.filter(|percent| (0.0..=100.0).contains(percent));
    percent
        .map(|percent| percent / 100.0)
        .ok_or_else(|| "expected a percentage such as `5%`".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_a_percentage() {
        assert_eq!(share("5%"), Ok(0.05));
        assert_eq!(share("0.5 %"), Ok(0.005));
        assert_eq!(share("100"), Ok(1.0));
        for wrong in ["", "%", "-1%", "101", "NaN", "five"] {
            assert!(share(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn as_many_as_may_fail_may_and_one_more_may_not() {
        let gate = Gate { fail_over: Some(0.05) };
        assert!(gate.check(Failures { calls: 20, failed: 1 }).is_ok());
        assert!(gate.check(Failures::default()).is_ok());
        let failed = gate.check(Failures { calls: 20, failed: 2 }).unwrap_err();
        assert_eq!(
            failed.to_string(),
            "error: 2 of 20 calls failed: 10.0 %, and at most 5.0 % may\n"
        );
    }
}
