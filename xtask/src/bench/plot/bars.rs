//! Ways beside each other, in powers of ten or from nothing.

use std::fmt::Write as _;

use super::super::words::{figure, short};
use super::{picture, stroke, text};

/// Ways with their figures; ours stands out.
pub(in super::super) struct Bars<'w> {
    pub(in super::super) title: &'w str,
    pub(in super::super) unit: &'w str,
    /// The name, the figure, whether it is ours.
    pub(in super::super) ways: Vec<(String, f64, bool)>,
}

const WIDTH: f64 = 720.0;
const LEFT: f64 = 270.0;
const RIGHT: f64 = 630.0;
const TOP: f64 = 66.0;
const STEP: f64 = 26.0;

impl Bars<'_> {
    pub(in super::super) fn svg(&self) -> String {
        let figures = || self.ways.iter().map(|bar| bar.1).filter(|figure| *figure > 0.0);
        let most = figures().fold(1.0, f64::max);
        let least = figures().fold(most, f64::min);
        let powers = most / least > 30.0;
        let (from, to) =
            if powers { ((least.log10() - 0.3).floor(), most.log10().ceil()) } else { (0.0, most) };
        let place = |figure: f64| {
            let at = if powers { figure.max(f64::MIN_POSITIVE).log10() } else { figure };
            LEFT + ((at - from) / (to - from)).clamp(0.0, 1.0) * (RIGHT - LEFT)
        };
        #[expect(clippy::cast_precision_loss, reason = "there are few")]
        let bottom = TOP + STEP * self.ways.len() as f64 + 4.0;
        let unit =
            if powers { format!("{}, in powers of ten", self.unit) } else { self.unit.to_owned() };
        let mut drawn = text("unit", (20.0, 50.0), "start", &unit);
        let mut tick = from;
        while tick <= to + 1e-9 {
            let value = if powers { 10f64.powf(tick) } else { tick };
            let x = place(value);
            drawn += &stroke("grid", (x, TOP - 4.0), (x, bottom));
            drawn += &text("tick", (x, bottom + 18.0), "middle", &short(value));
            tick += if powers { 1.0 } else { step(most) };
        }
        let mut y = TOP;
        for (name, value, ours) in &self.ways {
            let (class, width) = (if *ours { "ours" } else { "other" }, place(*value) - LEFT);
            drawn += &text("name", (LEFT - 10.0, y + 14.0), "end", name);
            let _ = writeln!(
                drawn,
                "<rect class=\"{class}\" x=\"{LEFT}\" y=\"{:.1}\" width=\"{:.1}\" height=\"16\" rx=\"2\"/>",
                y + 2.0,
                width.max(1.0)
            );
            drawn += &text("value", (LEFT + width + 8.0, y + 14.0), "start", &figure(*value));
            y += STEP;
        }
        drawn += &stroke("axis", (LEFT, TOP - 4.0), (LEFT, bottom));
        picture(WIDTH, bottom + 34.0, self.title, &drawn)
    }
}

/// A round distance of which four or so fit.
fn step(most: f64) -> f64 {
    let power = 10f64.powf(most.log10().floor());
    [0.2, 0.5, 1.0, 2.0, 5.0]
        .map(|part| part * power)
        .into_iter()
        .find(|step| most / step <= 5.0)
        .unwrap_or(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_their_figures() {
        let bars =
            |bars: Vec<(String, f64, bool)>| Bars { title: "Ways", unit: "µs", ways: bars }.svg();
        let plain = bars(vec![("ours".to_owned(), 1.0, true), ("theirs".to_owned(), 2.0, false)]);
        assert!(plain.contains("<rect class=\"ours\" x=\"270\" y=\"68.0\" width=\"180.0\""));
        assert!(plain.contains("<rect class=\"other\" x=\"270\" y=\"94.0\" width=\"360.0\""));
        let powers = bars(vec![("ours".to_owned(), 10.0, true), ("theirs".to_owned(), 1e4, false)]);
        assert!(powers.contains("in powers of ten"));
        let steps = [1.0, 2.4, 8.0, 30.0].map(|most| short(step(most)));
        assert_eq!(steps, ["0.2", "0.5", "2", "10"]);
    }
}
