//! Lines, read within bounds.

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

use crate::long::{Bounded, Long};
use crate::patience::Source;

/// A line that came, or what came instead.
#[derive(Debug, PartialEq)]
pub(crate) enum Line {
    Text(String),
    /// Longer than any line may be; it was skipped but for its ends.
    TooLong(Long),
}

/// Lines of bounded length.
pub(crate) struct Lines<R> {
    from: R,
    line: Bounded,
    /// Where they come from, for who stays awake for them.
    _source: Option<Source>,
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    pub(crate) fn new(from: R) -> Self {
        Self { from, line: Bounded::default(), _source: None }
    }

    pub(crate) fn held_with(self, source: Source) -> Self {
        Self { _source: Some(source), ..self }
    }

    /// The next line; `None` at the end. May be dropped and called again: nothing is lost.
    pub(crate) async fn next(&mut self) -> std::io::Result<Option<Line>> {
        loop {
            let bytes = self.from.fill_buf().await?;
            if bytes.is_empty() {
                return Ok((!self.line.is_empty()).then(|| line(self.line.take())));
            }
            let end = memchr::memchr(b'\n', bytes);
            let taken = end.map_or(bytes.len(), |end| end + 1);
            self.line.push(&bytes[..end.unwrap_or(bytes.len())]);
            self.from.consume(taken);
            if end.is_some() {
                match self.line.take() {
                    Ok(whole) if whole.iter().all(u8::is_ascii_whitespace) => {}
                    whole => return Ok(Some(line(whole))),
                }
            }
        }
    }
}

fn line(bytes: Result<Vec<u8>, Long>) -> Line {
    match bytes {
        Ok(bytes) => Line::Text(text(bytes)),
        Err(long) => Line::TooLong(long),
    }
}

/// The text of a line. A byte that is none becomes a mark of that, so that whoever waits for the
/// rest has it; the mark of an encoding is no part of it.
fn text(bytes: Vec<u8>) -> String {
    let text = String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    text.strip_prefix('\u{feff}').map(ToOwned::to_owned).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::LONGEST;

    #[tokio::test]
    async fn lines_are_bounded_and_what_is_no_text_is_marked() {
        let mut text = b"one\n\n  \ntwo\r\n\xff\xfea\n\xef\xbb\xbfb\n".to_vec();
        text.extend(vec![b'x'; LONGEST + 10]);
        text.extend(b"\nlast");
        let mut lines = Lines::new(&text[..]);
        let mut all = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            all.push(line);
        }
        let text = |text: &str| Line::Text(text.to_owned());
        let ends = "x".repeat(256);
        let long = Line::TooLong(Long { head: ends.clone(), tail: ends });
        assert_eq!(
            all,
            [text("one"), text("two\r"), text("\u{fffd}\u{fffd}a"), text("b"), long, text("last")]
        );
    }
}
