//! Redaction of a stream: a secret that lies across two chunks is one secret.

use super::Redactor;

/// How much is kept back, because a secret that begins in it may not have ended.
const KEPT_BACK: usize = 16 << 10;

/// How much is held at the most.
const HELD: usize = 1 << 20;

/// Redacts text that comes in chunks, cut anywhere. What is not UTF-8 is replaced.
pub struct RedactingStream {
    redactor: Redactor,
    /// Bytes of a character that is not complete.
    incomplete: Vec<u8>,
    held: String,
}

impl RedactingStream {
    /// A stream with nothing in it.
    pub fn new(redactor: Redactor) -> Self {
        Self { redactor, incomplete: Vec::new(), held: String::new() }
    }

    /// Takes a chunk and gives back what is sure to be safe.
    pub fn push(&mut self, chunk: &[u8]) -> String {
        self.decode(chunk);
        if self.held.len() <= 2 * KEPT_BACK {
            return String::new();
        }
        let mut cut = self.held.floor_char_boundary(self.held.len() - KEPT_BACK);
        // At the end of a line where there is one.
        if let Some(line) = self.held[..cut].rfind('\n').filter(|line| cut - line < KEPT_BACK) {
            cut = line + 1;
        }
        self.give(cut)
    }

    /// What came in whole lines, where nothing follows for a while and somebody waits for them. A
    /// secret that goes on behind them is kept back.
    pub fn pause(&mut self) -> String {
        self.held.rfind('\n').map(|line| self.give(line + 1)).unwrap_or_default()
    }

    /// All up to there, or up to the secret that is there.
    fn give(&mut self, mut cut: usize) -> String {
        let spans = self.redactor.find(&self.held);
        let within =
            |at: usize| spans.iter().filter(|s| s.start < at && at <= s.end).map(|s| s.start).min();
        while let Some(start) = within(cut) {
            cut = start;
        }
        if cut == 0 && self.held.len() > HELD {
            // One secret as large as all that is held: it is gone, whatever follows.
            cut = self.held.floor_char_boundary(self.held.len() - KEPT_BACK);
        }
        let rest = self.held.split_off(cut);
        let ready = std::mem::replace(&mut self.held, rest);
        self.redactor.redact(&ready).into_owned()
    }

    /// The rest.
    pub fn finish(mut self) -> String {
        if !self.incomplete.is_empty() {
            self.held.push('\u{fffd}');
        }
        self.redactor.redact(&self.held).into_owned()
    }

    fn decode(&mut self, chunk: &[u8]) {
        self.incomplete.extend_from_slice(chunk);
        let bytes = std::mem::take(&mut self.incomplete);
        let mut rest = bytes.as_slice();
        loop {
            match std::str::from_utf8(rest) {
                Ok(text) => {
                    self.held.push_str(text);
                    return;
                }
                Err(error) => {
                    let (good, bad) = rest.split_at(error.valid_up_to());
                    self.held.push_str(&String::from_utf8_lossy(good));
                    match error.error_len() {
                        Some(length) => {
                            self.held.push('\u{fffd}');
                            rest = &bad[length..];
                        }
                        None => {
                            self.incomplete = bad.to_vec();
                            return;
                        }
                    }
                }
            }
        }
    }
}

impl std::fmt::Debug for RedactingStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RedactingStream").field("held", &self.held.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_lines_are_given_where_nothing_follows_and_a_secret_is_kept_back() {
        let mut stream = RedactingStream::new(Redactor::default());
        assert_eq!(stream.push(b"one\ntwo\nthr"), "");
        assert_eq!(stream.pause(), "one\ntwo\n");
        assert_eq!(stream.pause(), "");
        let key = ["-----BEGIN PRIVATE", " KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n"].concat();
        stream.push(format!("ee\n{key}").as_bytes());
        assert_eq!(stream.pause(), "three\n");
        assert_eq!(stream.pause(), "");
        let end = ["MIIEvQIBADANBgkqhkiG9w0B\n-----END PRIVATE", " KEY-----\nfour\n"].concat();
        stream.push(end.as_bytes());
        let rest = stream.pause();
        assert!(rest.ends_with("\nfour\n") && !rest.contains("MIIE"), "{rest}");
    }
}
