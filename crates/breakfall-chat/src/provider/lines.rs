//! Lines of a stream that have no name or a wrong one: some servers write an error as it is between
//! the events, where nobody would read it.

/// What some write before an error.
const ERROR: &[u8] = b"error:";

/// Names the lines of bytes that come in pieces.
pub(super) struct Lines {
    /// The beginning of a line of which it is not yet known what it is; none within a line.
    begun: Option<Vec<u8>>,
}

impl Default for Lines {
    fn default() -> Self {
        Self { begun: Some(Vec::new()) }
    }
}

impl Lines {
    pub(super) fn take(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut named = Vec::with_capacity(bytes.len());
        for byte in bytes {
            match self.begun.take() {
                None => named.push(*byte),
                Some(mut begun) => {
                    begun.push(*byte);
                    if begun.len() < ERROR.len() && ERROR.starts_with(&begun) {
                        self.begun = Some(begun);
                        continue;
                    }
                    if begun == ERROR {
                        named.extend_from_slice(b"event: error\ndata:");
                    } else {
                        if begun == b"{" {
                            named.extend_from_slice(b"data: ");
                        }
                        named.append(&mut begun);
                    }
                }
            }
            if matches!(byte, b'\n' | b'\r') {
                self.begun = Some(Vec::new());
            }
        }
        named
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_between_events_become_events_however_they_are_cut() {
        let sent =
            "data: {}\n\nerror: {\"a\": 1}\r\n\r\n{\"error\": 2}\n\nevent: x\nerr\nid: error:\n";
        let expected = "data: {}\n\nevent: error\ndata: {\"a\": 1}\r\n\r\ndata: {\"error\": 2}\n\n\
                        event: x\nerr\nid: error:\n";
        for size in 1..sent.len() {
            let mut lines = Lines::default();
            let named = sent.as_bytes().chunks(size).flat_map(|piece| lines.take(piece));
            assert_eq!(String::from_utf8(named.collect()).unwrap(), expected, "{size}");
        }
    }
}
