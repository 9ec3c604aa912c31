//! Durations in buckets that can be added to one another, and what lies at a share of them.

use std::time::Duration;

/// The upper end of the first bucket, in microseconds; each next one is a quarter longer.
const FIRST: f64 = 100.0;
const GROWTH: f64 = 1.25;

/// The last bucket: everything from about half an hour.
const LAST: u32 = 75;

/// The bucket of a duration.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 75")]
pub(crate) fn bucket(took: Duration) -> u32 {
    let micros = took.as_secs_f64() * 1e6;
    let number = (micros / FIRST).ln() / GROWTH.ln();
    number.ceil().clamp(0.0, f64::from(LAST)) as u32
}

/// The upper end of a bucket.
pub(crate) fn upper(bucket: u32) -> Duration {
    Duration::from_secs_f64(FIRST * GROWTH.powi(bucket.min(LAST).cast_signed()) / 1e6)
}

/// What so large a share of the durations does not exceed: within a quarter of the truth.
#[expect(clippy::cast_precision_loss, reason = "a share of a count")]
pub(crate) fn quantile(buckets: &[(u32, u64)], share: f64) -> Option<Duration> {
    let all: u64 = buckets.iter().map(|(_, count)| count).sum();
    let mut sorted = buckets.to_vec();
    sorted.sort_unstable();
    let wanted = (all as f64 * share).max(1.0);
    let mut seen = 0;
    sorted.iter().find_map(|(bucket, count)| {
        seen += count;
        (seen as f64 >= wanted).then(|| upper(*bucket))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_within_a_quarter_of_the_truth() {
        let mut counts = std::collections::BTreeMap::new();
        for millis in 1..=1000 {
            *counts.entry(bucket(Duration::from_millis(millis))).or_insert(0) += 1;
        }
        let buckets: Vec<(u32, u64)> = counts.into_iter().collect();
        for (share, truth) in [(0.5, 0.5), (0.99, 0.99), (0.01, 0.01)] {
            let found = quantile(&buckets, share).unwrap().as_secs_f64();
            assert!(found >= truth && found <= truth * 1.26, "{share}: {found}");
        }
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(bucket(Duration::ZERO), 0);
        assert_eq!(bucket(Duration::from_secs(1 << 40)), LAST);
    }
}
