//! How a curve grows, told from its points and from nothing else.

/// How a curve grows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) struct Growth {
    pub(in super::super) law: Law,
    /// The power of what stands on the axis that goes best through all points.
    pub(in super::super) power: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Law {
    Falls,
    Flat,
    Logarithmic,
    /// Slower than what stands on the axis.
    Slower,
    Linear,
    Faster,
}

impl Growth {
    /// None where there are no two points above nothing.
    pub(in super::super) fn of(points: &[(f64, f64)]) -> Option<Self> {
        let (first, last) = (points.first()?, points.last()?);
        let before_last = points.len().checked_sub(2).and_then(|place| points.get(place))?;
        if points.iter().any(|(at, value)| *at <= 0.0 || *value <= 0.0) {
            return None;
        }
        let (along, up) = (last.0 / first.0, last.1 / first.1);
        let power = power(points);
        // What begins flat and ends steep is as steep as its end.
        let end = (last.1 / before_last.1).ln() / (last.0 / before_last.0).ln();
        let steepest = power.max(end);
        let law = match steepest {
            _ if up < 0.67 => Law::Falls,
            _ if up <= 1.5 && end < 0.5 => Law::Flat,
            _ if up <= 1.0 + along.log2() / 2.0 && steepest < 0.5 => Law::Logarithmic,
            _ if steepest < 0.8 => Law::Slower,
            _ if steepest <= 1.15 => Law::Linear,
            _ => Law::Faster,
        };
        Some(Self { law, power })
    }
}

impl Law {
    pub(in super::super) fn word(self) -> &'static str {
        match self {
            Self::Falls => "falls",
            Self::Flat => "flat",
            Self::Logarithmic => "logarithmic",
            Self::Slower => "slower than linear",
            Self::Linear => "linear",
            Self::Faster => "**faster than linear**",
        }
    }

    /// Whether it wants a reason.
    pub(in super::super) fn grows(self) -> bool {
        matches!(self, Self::Slower | Self::Linear | Self::Faster)
    }
}

/// The slope of the straight line that lies nearest to the points, both axes in logarithms.
fn power(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|(at, value)| (at.ln(), value.ln())).collect();
    #[expect(clippy::cast_precision_loss, reason = "there are few")]
    let many = logs.len() as f64;
    let middle = (
        logs.iter().map(|log| log.0).sum::<f64>() / many,
        logs.iter().map(|log| log.1).sum::<f64>() / many,
    );
    let across: f64 = logs.iter().map(|log| (log.0 - middle.0) * (log.1 - middle.1)).sum();
    let along: f64 = logs.iter().map(|log| (log.0 - middle.0).powi(2)).sum();
    across / along
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_told_from_the_points() {
        let grows = |law: fn(f64) -> f64| {
            let points = [10.0, 1e2, 1e3, 1e4, 1e5].map(|at| (at, law(at)));
            Growth::of(&points).map(|growth| (growth.law, format!("{:.2}", growth.power)))
        };
        let told = |law, power: &str| Some((law, power.to_owned()));
        assert_eq!(grows(|_| 7.0), told(Law::Flat, "0.00"));
        assert_eq!(grows(|at| 100.0 / at), told(Law::Falls, "-1.00"));
        assert_eq!(grows(|at| 3.0 * at.ln()), told(Law::Logarithmic, "0.17"));
        assert_eq!(grows(f64::sqrt), told(Law::Slower, "0.50"));
        assert_eq!(grows(|at| 3.0 * at), told(Law::Linear, "1.00"));
        assert_eq!(grows(|at| at * at), told(Law::Faster, "2.00"));
        // Flat for long is not flat for ever.
        assert_eq!(grows(|at| 1e3 + at), told(Law::Linear, "0.50"));
        assert_eq!(Growth::of(&[(1.0, 1.0)]), None);
    }
}
