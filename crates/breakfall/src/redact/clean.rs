//! Text that stands inside one of our sentences stays inside its quotes and on its line.

/// The text on one line, without what ends a quote or moves a cursor.
pub(super) fn one_line(text: String) -> String {
    if !text.contains(unfit) {
        return text;
    }
    text.chars()
        .map(|c| match c {
            '`' => '\'',
            c if unfit(c) => '\u{fffd}',
            c => c,
        })
        .collect()
}

fn unfit(c: char) -> bool {
    c.is_control() || matches!(c, '`' | '\u{2028}' | '\u{2029}')
}
