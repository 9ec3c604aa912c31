//! Curves over an axis, both in powers of ten.

use std::fmt::Write as _;

use super::super::words::{figure, short};
use super::{picture, stroke, text};

/// Curves, and what their axes mean.
pub(in super::super) struct Lines<'w> {
    pub(in super::super) title: &'w str,
    pub(in super::super) along: &'w str,
    pub(in super::super) unit: &'w str,
    pub(in super::super) curves: Vec<Line<'w>>,
}

/// One curve.
pub(in super::super) struct Line<'w> {
    pub(in super::super) name: &'w str,
    pub(in super::super) points: Vec<(f64, f64)>,
}

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 340.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 690.0;
const TOP: f64 = 84.0;
const BOTTOM: f64 = 284.0;

/// Powers of ten that hold all figures.
struct Scale {
    from: f64,
    to: f64,
}

impl Scale {
    fn of(figures: impl Iterator<Item = f64>) -> Self {
        let (mut from, mut to) = (f64::INFINITY, f64::NEG_INFINITY);
        for figure in figures.filter(|figure| *figure > 0.0) {
            from = from.min(figure.log10());
            to = to.max(figure.log10());
        }
        if !from.is_finite() {
            return Self { from: 0.0, to: 1.0 };
        }
        // A little room: a point just beyond a power does not want the next one.
        let (from, to) = ((from + 1e-9).floor(), (to - 0.05).ceil());
        Self { from, to: to.max(from + 1.0) }
    }

    fn place(&self, figure: f64, start: f64, end: f64) -> f64 {
        start
            + (figure.max(f64::MIN_POSITIVE).log10() - self.from) / (self.to - self.from)
                * (end - start)
    }

    /// The powers, or every second or third of many.
    fn powers(&self) -> impl Iterator<Item = f64> + '_ {
        let step = ((self.to - self.from) / 6.0).ceil().max(1.0);
        let mut power = self.from;
        std::iter::from_fn(move || {
            let now = power;
            power += step;
            (now <= self.to).then(|| 10f64.powf(now))
        })
    }
}

impl Lines<'_> {
    pub(in super::super) fn svg(&self) -> String {
        let points = || self.curves.iter().flat_map(|line| &line.points);
        let along = Scale::of(points().map(|point| point.0));
        let up = Scale::of(points().map(|point| point.1));
        let mut drawn =
            text("unit", (20.0, 50.0), "start", &format!("{}, in powers of ten", self.unit));
        for power in up.powers() {
            let y = up.place(power, BOTTOM, TOP);
            drawn += &stroke("grid", (LEFT, y), (RIGHT, y));
            drawn += &text("tick", (LEFT - 8.0, y + 4.0), "end", &short(power));
        }
        for power in along.powers() {
            let x = along.place(power, LEFT, RIGHT);
            drawn += &stroke("axis", (x, BOTTOM), (x, BOTTOM + 5.0));
            drawn += &text("tick", (x, BOTTOM + 20.0), "middle", &short(power));
        }
        drawn += &stroke("axis", (LEFT, BOTTOM), (RIGHT, BOTTOM));
        drawn += &text("along", (f64::midpoint(LEFT, RIGHT), HEIGHT - 14.0), "middle", self.along);
        let mut legend = LEFT;
        for (number, line) in self.curves.iter().enumerate() {
            drawn += &Self::line(line, number, &along, &up);
            let y = 66.0;
            drawn += &stroke(&format!("line c{number}"), (legend, y), (legend + 18.0, y));
            drawn += &text("name", (legend + 24.0, y + 4.0), "start", line.name);
            #[expect(clippy::cast_precision_loss, reason = "a name is short")]
            let width = line.name.chars().count() as f64 * 7.0;
            legend += width + 54.0;
        }
        picture(WIDTH, HEIGHT, self.title, &drawn)
    }

    /// The curve, its points, and the figure of the last.
    fn line(line: &Line, number: usize, along: &Scale, up: &Scale) -> String {
        let place = |point: &(f64, f64)| {
            (along.place(point.0, LEFT, RIGHT), up.place(point.1, BOTTOM, TOP))
        };
        let path: Vec<String> =
            line.points.iter().map(place).map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let mut drawn =
            format!("<polyline class=\"line c{number}\" points=\"{}\"/>\n", path.join(" "));
        for point in &line.points {
            let (x, y) = place(point);
            let words = format!("{}: {} at {}", line.name, figure(point.1), short(point.0));
            let _ = writeln!(
                drawn,
                "<circle class=\"c{number}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\"><title>{}</title></circle>",
                super::escaped(&words)
            );
        }
        if let Some(last) = line.points.last() {
            let (x, y) = place(last);
            drawn += &text("value", (x - 8.0, y - 8.0), "end", &figure(last.1));
        }
        drawn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_stands_where_its_figures_are() {
        let lines = Lines {
            title: "Calls & <tools>",
            along: "tools",
            unit: "µs",
            curves: vec![Line { name: "found", points: vec![(10.0, 1.0), (1_000.0, 10.0)] }],
        };
        let svg = lines.svg();
        assert!(svg.contains("Calls &amp; &lt;tools&gt;"));
        assert!(svg.contains("<polyline class=\"line c0\" points=\"70.0,284.0 690.0,84.0\"/>"));
        assert!(!svg.contains("<script"));
        let scale = Scale::of([100.0, f64::from(10 << 20)].into_iter());
        assert_eq!((scale.from.to_bits(), scale.to.to_bits()), (2f64.to_bits(), 7f64.to_bits()));
        let ticks: Vec<String> = Scale { from: 1.0, to: 3.0 }.powers().map(short).collect();
        assert_eq!(ticks, ["10", "100", "1k"]);
    }
}
