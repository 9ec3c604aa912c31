//! Numbers as people read them.

/// A count with commas between thousands.
pub(crate) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut said = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            said.push(',');
        }
        said.push(digit);
    }
    said
}

/// A figure in three digits, or all of those before the point.
pub(super) fn figure(value: f64) -> String {
    let size = value.abs();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is a whole number below 2^53"
    )]
    let whole = || grouped(size.round() as u64);
    match size {
        _ if !value.is_finite() => "–".to_owned(),
        _ if size >= 100.0 && value < 0.0 => format!("-{}", whole()),
        _ if size >= 100.0 => whole(),
        _ if size >= 10.0 => format!("{value:.1}"),
        _ if size >= 0.1 || size == 0.0 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}

/// A round number short enough for an axis.
pub(super) fn short(value: f64) -> String {
    for (size, name) in [(1e9, "G"), (1e6, "M"), (1e3, "k")] {
        if value >= size {
            return format!("{}{name}", trimmed(value / size));
        }
    }
    trimmed(value)
}

fn trimmed(value: f64) -> String {
    let text = if value >= 10.0 { format!("{value:.1}") } else { format!("{value:.3}") };
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_told_as_people_read_them() {
        assert_eq!(
            [0, 7, 999, 1_000, 1_234_567].map(grouped),
            ["0", "7", "999", "1,000", "1,234,567"]
        );
        let figures = [0.0, 0.0123, 1.234, 12.34, 123.4, 12_345.6, -1_500.0, f64::NAN].map(figure);
        assert_eq!(figures, ["0.00", "0.0123", "1.23", "12.3", "123", "12,346", "-1,500", "–"]);
        assert_eq!(
            [0.01, 1.0, 1_000.0, 2.5e6, 10_485_760.0, 1e9].map(short),
            ["0.01", "1", "1k", "2.5M", "10.5M", "1G"]
        );
    }
}
