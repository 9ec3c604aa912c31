//! Charts as SVG within the page.

use breakfall_store::Timeline;
use maud::{Markup, html};

use crate::numbers::minute;

const WIDE: u64 = 960;
const HIGH: u64 = 160;

/// Room for words on the left and below.
const LEFT: u64 = 48;
const BELOW: u64 = 22;

/// Calls as bars, the part that failed in another colour.
pub(super) fn timeline(line: &Timeline) -> Markup {
    let most = line.moments.iter().map(|moment| moment.calls).max().unwrap_or(0).max(1);
    let count = (line.moments.len() as u64).max(1);
    let high = |calls: u64| scaled(calls, most, HIGH);
    // In tenths of a unit: parts are narrower than one where there are many.
    let step = (WIDE - LEFT) * 10 / count;
    let tenths = |tenths: u64| format!("{}.{}", tenths / 10, tenths % 10);
    let each = line.moments.iter().zip(0_u64..).map(|(moment, number)| {
        let x = tenths(LEFT * 10 + number * step);
        let wide = tenths((step * 8 / 10).max(5));
        let (calls, failed) = (high(moment.calls), high(moment.failed.min(moment.calls)));
        let title =
            format!("{} UTC: {} calls, {} failed", minute(moment.at), moment.calls, moment.failed);
        html! {
            g {
                title { (title) }
                rect.calls x=(x) y=(HIGH - calls) width=(wide) height=(calls) {}
                rect.failed x=(x) y=(HIGH - failed) width=(wide) height=(failed) {}
            }
        }
    });
    let (first, last) = (line.moments.first(), line.moments.last());
    html! {
        svg viewBox=(format!("0 0 {WIDE} {}", HIGH + BELOW)) role="img"
            aria-label="Calls and failures over time" {
            line.axis x1=(LEFT) y1=(HIGH) x2=(WIDE) y2=(HIGH) {}
            text x=(LEFT - 6) y="12" text-anchor="end" { (most) }
            text x=(LEFT - 6) y=(HIGH) text-anchor="end" { "0" }
            @for one in each { (one) }
            @if let Some(first) = first {
                text x=(LEFT) y=(HIGH + 16) { (minute(first.at)) }
            }
            @if let Some(last) = last {
                text x=(WIDE) y=(HIGH + 16) text-anchor="end" { (minute(last.at)) }
            }
        }
    }
}

/// Counts as bars with their names.
pub(super) fn bars(counts: &[(String, u64)]) -> Markup {
    const ROW: u64 = 22;
    const NAMES: u64 = 170;
    const NUMBERS: u64 = 70;
    let most = counts.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1);
    let rows = counts.iter().zip(0_u64..).map(|((name, count), number)| {
        let y = number * ROW;
        let wide = scaled(*count, most, WIDE - NAMES - NUMBERS);
        html! {
            text x=(NAMES - 8) y=(y + 15) text-anchor="end" { (name) }
            rect.failed x=(NAMES) y=(y + 3) width=(wide) height=(ROW - 6) {}
            text x=(NAMES + wide + 8) y=(y + 15) { (count) }
        }
    });
    let high = counts.len() as u64 * ROW;
    html! {
        svg viewBox=(format!("0 0 {WIDE} {high}")) role="img" aria-label="Failures by kind" {
            @for row in rows { (row) }
        }
    }
}

/// Twenty-four hours in the line of a table.
pub(super) fn sparkline(hours: &[u64]) -> Markup {
    const BAR: u64 = 5;
    const TALL: u64 = 20;
    let most = hours.iter().copied().max().unwrap_or(0).max(1);
    let wide = hours.len() as u64 * BAR;
    let bars = hours.iter().zip(0_u64..).filter(|(count, _)| **count > 0).map(|(count, number)| {
        let high = scaled(*count, most, TALL);
        html! { rect.failed x=(number * BAR) y=(TALL - high) width=(BAR - 1) height=(high) {} }
    });
    html! {
        svg.sparkline viewBox=(format!("0 0 {wide} {TALL}")) width=(wide) height=(TALL)
            role="img" aria-label="The last 24 hours" {
            line.axis x1="0" y1=(TALL) x2=(wide) y2=(TALL) {}
            @for bar in bars { (bar) }
        }
    }
}

/// A count as a length: what is there at all is seen.
fn scaled(count: u64, most: u64, length: u64) -> u64 {
    let long = u128::from(count) * u128::from(length) / u128::from(most);
    let long = u64::try_from(long).unwrap_or(length).min(length);
    if count > 0 { long.max(1) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_seen_and_nothing_is_longer_than_its_room() {
        let lengths = [(0, 10), (1, 1_000_000), (10, 10), (u64::MAX, u64::MAX), (20, 10)]
            .map(|(count, most)| scaled(count, most, 100));
        assert_eq!(lengths, [0, 1, 100, 100, 100]);
    }

    #[test]
    fn nothing_makes_an_empty_chart() {
        let charts = [timeline(&Timeline::default()), bars(&[]), sparkline(&[])];
        assert!(charts.iter().all(|chart| chart.0.starts_with("<svg ")));
    }
}
