//! Counts over time as bars, drawn on the server: without a script, and with words and a table for
//! who does not see them.

use maud::{Markup, html};

use crate::words::{moment, number, tick};

/// One bar: when it begins, and how much.
pub(crate) type Bar = (i64, u64);

/// How large a chart is drawn; it is shown as large as there is room.
const WIDTH: u64 = 640;
const HEIGHT: u64 = 150;
const LEFT: u64 = 44;
const BOTTOM: u64 = 22;
const TOP: u64 = 10;

/// A chart of counts, with what it is called and the class that colours it.
pub(crate) fn bars(name: &str, id: &str, class: &str, bars: &[Bar], days: bool) -> Markup {
    let most = bars.iter().map(|(_, count)| *count).max().unwrap_or(0);
    let all = bars.iter().fold(0_u64, |all, (_, count)| all.saturating_add(*count));
    let scale = round(most);
    let (count, room) = (bars.len().max(1) as u64, HEIGHT - TOP - BOTTOM);
    let place = |at: usize| LEFT + at as u64 * (WIDTH - LEFT) / count;
    let width = ((WIDTH - LEFT) / count).saturating_sub(1).max(1);
    let title = format!("{id}-title");
    let described = format!("{id}-words");
    html! {
        figure.chart {
            figcaption { (name) }
            svg class={ "bars " (class) } viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img"
                aria-labelledby={ (title) " " (described) } {
                title id=(title) { (name) }
                desc id=(described) { (number(all)) " in all, at most " (number(most)) " at once." }
                @for (half, value) in [(0, 0), (1, scale / 2), (2, scale)] {
                    @let y = TOP + room - room * half / 2;
                    line.grid x1=(LEFT) x2=(WIDTH) y1=(y) y2=(y) {}
                    @if scale > 1 || half != 1 {
                        text.axis x=(LEFT - 6) y=(y + 4) text-anchor="end" { (number(value)) }
                    }
                }
                @for (at, (when, count)) in bars.iter().enumerate().filter(|(_, bar)| bar.1 > 0) {
                    // What happened is seen, however small it is.
                    @let height = (count.saturating_mul(room) / scale).clamp(2, room);
                    rect x=(place(at)) y=(TOP + room - height) width=(width) height=(height) rx="1" {
                        title { (moment(*when)) ": " (number(*count)) }
                    }
                }
                @for at in ticks(bars.len()) {
                    text.axis x=(place(at)) y=(HEIGHT - 6) { (tick(bars[at].0, days)) }
                }
            }
            details.numbers id=(format!("{id}-table")) {
                summary { "As a table" }
                div.scroll tabindex="0" {
                    table {
                        caption.hidden { (name) }
                        thead { tr { th scope="col" { "From" } th.number scope="col" { (name) } } }
                        tbody {
                            @for (when, count) in bars.iter().rev() {
                                tr { th scope="row" { (moment(*when)) } td.number { (number(*count)) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The last hours of a group, small enough for a row.
pub(crate) fn spark(hours: &[u64]) -> Markup {
    let most = hours.iter().copied().max().unwrap_or(0).max(1);
    let all = hours.iter().fold(0_u64, |all, count| all.saturating_add(*count));
    let words = format!("{} in the last 24 hours", number(all));
    html! {
        svg.spark viewBox="0 0 96 24" width="96" height="24" role="img" aria-label=(words) {
            line.grid x1="0" x2="96" y1="23.5" y2="23.5" {}
            @for (at, count) in hours.iter().enumerate().filter(|(_, count)| **count > 0) {
                @let height = (count.saturating_mul(22) / most).clamp(2, 22);
                rect x=(at * 4) y=(23 - height) width="3" height=(height) {}
            }
        }
    }
}

/// A number at least as large, that is easily read and halved.
fn round(most: u64) -> u64 {
    let mut step = 1_u64;
    loop {
        for times in [1, 2, 4, 6, 8] {
            if step.saturating_mul(times) >= most {
                return step.saturating_mul(times).max(1);
            }
        }
        step = step.saturating_mul(10);
    }
}

/// Which bars are told apart: about six.
fn ticks(count: usize) -> impl Iterator<Item = usize> {
    let every = count.div_ceil(6).max(1);
    (0..count).step_by(every)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_holds_what_is_on_it() {
        let scales = [0, 1, 2, 3, 7, 9, 41, 100, 1_001].map(round);
        assert_eq!(scales, [1, 1, 2, 4, 8, 10, 60, 100, 2_000]);
        assert!(round(u64::MAX) == u64::MAX);
    }

    #[test]
    fn a_chart_has_words_and_a_table() {
        let chart = bars("Calls", "calls", "calls", &[(0, 3), (3_600_000, 0)], false).into_string();
        for part in
            ["role=\"img\"", "3 in all, at most 3 at once", "<caption", "1970-01-01 01:00:00 UTC"]
        {
            assert!(chart.contains(part), "{part}: {chart}");
        }
        assert_eq!(chart.matches("<rect").count(), 1);
        assert!(bars("Calls", "calls", "calls", &[], false).into_string().contains("0 in all"));
    }
}
