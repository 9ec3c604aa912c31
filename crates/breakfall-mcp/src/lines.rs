//! Lines, read within bounds.

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

use crate::message::LONGEST;

/// How much of a line that is too long is kept.
const HEAD: usize = 256;

/// A line that came, or what came instead.
#[derive(Debug, PartialEq)]
pub(crate) enum Line {
    Text(String),
    /// Longer than any line may be; it was skipped but for how it begins.
    TooLong(String),
    /// No text.
    Garbage,
}

/// Lines of bounded length.
pub(crate) struct Lines<R> {
    from: R,
    line: Vec<u8>,
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    pub(crate) fn new(from: R) -> Self {
        Self { from, line: Vec::new() }
    }

    /// The next line; `None` at the end. May be dropped and called again: nothing is lost.
    pub(crate) async fn next(&mut self) -> std::io::Result<Option<Line>> {
        loop {
            let bytes = self.from.fill_buf().await?;
            if bytes.is_empty() {
                let rest = std::mem::take(&mut self.line);
                return Ok((!rest.is_empty()).then(|| line(rest)));
            }
            let end = memchr::memchr(b'\n', bytes);
            let taken = end.map_or(bytes.len(), |end| end + 1);
            // One byte over the longest tells that it is too long; more need not be kept.
            let room = (LONGEST + 1).saturating_sub(self.line.len());
            self.line.extend_from_slice(&bytes[..end.unwrap_or(bytes.len()).min(room)]);
            self.from.consume(taken);
            if end.is_some() {
                let whole = std::mem::take(&mut self.line);
                if whole.iter().all(u8::is_ascii_whitespace) {
                    continue;
                }
                return Ok(Some(line(whole)));
            }
        }
    }
}

fn line(bytes: Vec<u8>) -> Line {
    if bytes.len() > LONGEST {
        return Line::TooLong(String::from_utf8_lossy(&bytes[..HEAD]).into_owned());
    }
    String::from_utf8(bytes).map_or(Line::Garbage, Line::Text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_are_bounded_and_what_is_no_line_is_skipped() {
        let mut text = b"one\n\n  \ntwo\r\n\xff\xfe\n".to_vec();
        text.extend(vec![b'x'; LONGEST + 10]);
        text.extend(b"\nlast");
        let mut lines = Lines::new(&text[..]);
        let mut all = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            all.push(line);
        }
        let text = |text: &str| Line::Text(text.to_owned());
        let long = Line::TooLong("x".repeat(HEAD));
        assert_eq!(all, [text("one"), text("two\r"), Line::Garbage, long, text("last")]);
    }
}
