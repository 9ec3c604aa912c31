//! Numbers as a person reads them.

use breakfall_store::Recovery;

const SECOND: i64 = 1_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// A share in percent.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 0.1 {
        return "<0.1 %".to_owned();
    }
    if percent > 99.9 && percent < 100.0 {
        return ">99.9 %".to_owned();
    }
    format!("{percent:.1} %")
}

/// A share in whole percent.
pub(crate) fn whole(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// How many there are of something.
pub(crate) fn of(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// A length of time, in one unit.
pub(crate) fn span(millis: i64) -> String {
    match millis.max(0) {
        millis if millis < SECOND => "now".to_owned(),
        millis if millis < MINUTE => format!("{}s", millis / SECOND),
        millis if millis < HOUR => format!("{}m", millis / MINUTE),
        millis if millis < DAY => format!("{}h", millis / HOUR),
        millis => format!("{}d", millis / DAY),
    }
}

/// How long ago something was.
pub(crate) fn ago(millis: i64) -> String {
    match span(millis) {
        now if now == "now" => now,
        span => format!("{span} ago"),
    }
}

/// How long something took.
pub(crate) fn took(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 0.000_1 => "<0.1 ms".to_owned(),
        seconds if seconds < 0.01 => format!("{:.1} ms", seconds * 1e3),
        seconds if seconds < 1.0 => format!("{:.0} ms", seconds * 1e3),
        seconds if seconds < 100.0 => format!("{seconds:.1} s"),
        seconds => format!("{:.0} min", seconds / 60.0),
    }
}

/// A moment, in the time of Greenwich.
pub(crate) fn moment(at: i64) -> String {
    let (day, clock) = (date(at), at.rem_euclid(DAY));
    let (hour, minute, second) = (clock / HOUR, clock % HOUR / MINUTE, clock % MINUTE / SECOND);
    format!("{day} {hour:02}:{minute:02}:{second:02}")
}

/// The same without seconds.
pub(crate) fn minute(at: i64) -> String {
    let moment = moment(at);
    moment[..moment.len() - 3].to_owned()
}

/// The day of a moment, counted from 1 March, so that leap days come last.
fn date(at: i64) -> String {
    let days = at.div_euclid(DAY) + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Counts as a row of bars, in so many columns at most.
pub(crate) fn sparkline(counts: &[u64], columns: usize) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let together = counts.len().div_ceil(columns.max(1)).max(1);
    let sums: Vec<u64> = counts
        .chunks(together)
        .map(|chunk| chunk.iter().fold(0, |sum: u64, one| sum.saturating_add(*one)))
        .collect();
    let most = sums.iter().copied().max().unwrap_or(0).max(1);
    let bar = |count: &u64| match *count {
        0 => '·',
        count => {
            let place = (u128::from(count) * 8).div_ceil(u128::from(most)) - 1;
            BARS[usize::try_from(place).unwrap_or(0).min(7)]
        }
    };
    sums.iter().map(bar).collect()
}

/// How runs went on, in a cell.
pub(crate) fn recovered(recovery: &Recovery) -> String {
    match (recovery.share(), recovery.unknown) {
        (Some((share, _, _)), _) => format!("{} of {}", whole(share), recovery.known()),
        (None, 0) => "–".to_owned(),
        (None, _) => "unknown".to_owned(),
    }
}

/// How runs went on, in a sentence.
pub(crate) fn recovery(recovery: &Recovery) -> String {
    let ways = format!(
        "by the model {}, by a fallback {}, by nobody {}; unknown {}",
        recovery.by_model, recovery.by_fallback, recovery.by_nobody, recovery.unknown
    );
    match recovery.share() {
        Some((share, low, high)) => format!(
            "{} of {}, {} (between {} and {}): {ways}",
            recovery.recovered(),
            recovery.known(),
            whole(share),
            whole(low),
            whole(high)
        ),
        None if recovery.unknown > 0 => format!("unknown for all {}", recovery.unknown),
        None => "nothing is known yet".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_days_and_hours() {
        for (at, is) in [
            (0, "1970-01-01 00:00:00"),
            (951_782_399_000, "2000-02-28 23:59:59"),
            (951_782_400_000, "2000-02-29 00:00:00"),
            (1_794_751_046_123, "2026-11-15 13:57:26"),
            (-1, "1969-12-31 23:59:59"),
        ] {
            assert_eq!(moment(at), is);
        }
        assert_eq!(minute(0), "1970-01-01 00:00");
    }

    #[test]
    fn bars_show_what_was_and_that_nothing_was() {
        assert_eq!(sparkline(&[0, 1, 4, 8, 1000], 10), "·▁▁▁█");
        assert_eq!(sparkline(&[1, 1, 2, 2], 2), "▄█");
        assert_eq!(sparkline(&[0, 0], 10), "··");
        assert_eq!(sparkline(&[u64::MAX, 1], 10), "█▁");
        assert_eq!(sparkline(&[], 10), "");
    }

    #[test]
    fn numbers_are_short() {
        let short = [percent(0.0), percent(0.000_1), percent(0.5), percent(0.999_9), percent(1.0)];
        assert_eq!(short, ["0.0 %", "<0.1 %", "50.0 %", ">99.9 %", "100.0 %"]);
        let spans = [0, 999, 59_000, 61_000, 7_200_000, 200_000_000, -5].map(span);
        assert_eq!(spans, ["now", "now", "59s", "1m", "2h", "2d", "now"]);
        let times = [0.0, 0.001_26, 0.25, 1.5, 600.0].map(took);
        assert_eq!(times, ["<0.1 ms", "1.3 ms", "250 ms", "1.5 s", "10 min"]);
    }
}
