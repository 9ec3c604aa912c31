//! Where a call stands in a trace that others began: W3C's trace context, read and written.

use std::sync::Arc;

use crate::dice::{Dice, mix};

/// The longest `tracestate` that is passed on.
const STATE: usize = 4 << 10;

/// The flags that we know: the trace is recorded, its id is random.
const SAMPLED: u8 = 1;
const KNOWN: u8 = SAMPLED | 2;

/// A place in a trace: what W3C's `traceparent` and `tracestate` say.
///
/// ```
/// use breakfall::Trace;
///
/// let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
/// let trace = Trace::parse(parent, Some("vendor=1")).unwrap();
/// assert!(trace.is_sampled());
/// assert_eq!(trace.traceparent(), parent);
/// assert_eq!(Trace::parse("00-no-trace-01", None), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Trace {
    id: u128,
    span: u64,
    parent: Option<u64>,
    flags: u8,
    state: Option<Arc<str>>,
}

impl Trace {
    /// What the two headers say; nothing where the first is malformed. A `tracestate` that is none
    /// is left out.
    pub fn parse(traceparent: &str, tracestate: Option<&str>) -> Option<Self> {
        let mut parts = traceparent.splitn(5, '-');
        let mut part = |digits: usize| {
            let text = parts.next()?;
            let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
            (text.len() == digits && text.bytes().all(is_hex)).then_some(text)
        };
        let (version, id, span, flags) = (part(2)?, part(32)?, part(16)?, part(2)?);
        // A later version may say more behind these four, this one may not.
        let says_more = parts.next().is_some();
        if version == "ff" || version == "00" && says_more {
            return None;
        }
        let id = u128::from_str_radix(id, 16).ok().filter(|id| *id != 0)?;
        let span = u64::from_str_radix(span, 16).ok().filter(|span| *span != 0)?;
        let flags = u8::from_str_radix(flags, 16).ok()? & KNOWN;
        let is_state = |state: &&str| {
            !state.is_empty()
                && state.len() <= STATE
                && state.bytes().all(|byte| (b' '..0x7f).contains(&byte))
        };
        Some(Self {
            id,
            span,
            parent: None,
            flags,
            state: tracestate.filter(is_state).map(Arc::from),
        })
    }

    /// A new span under the caller's, or the first of a new trace.
    pub(crate) fn under(caller: Option<&Self>, dice: &Dice) -> Self {
        let span = dice.draw().max(1);
        match caller {
            Some(caller) => Self { span, parent: Some(caller.span), ..caller.clone() },
            None => {
                let id = u128::from(dice.draw()) << 64 | u128::from(dice.draw());
                Self { id: id.max(1), span, parent: None, flags: SAMPLED, state: None }
            }
        }
    }

    /// The place of an attempt of this call, by its number from 1: always the same for the same
    /// number, so that nobody has to remember what was handed out.
    pub fn attempt(&self, number: u32) -> Self {
        let span = mix(self.span ^ mix(u64::from(number))).max(1);
        Self { span, parent: Some(self.span), ..self.clone() }
    }

    /// The trace.
    pub fn id(&self) -> [u8; 16] {
        self.id.to_be_bytes()
    }

    /// The span.
    pub fn span(&self) -> [u8; 8] {
        self.span.to_be_bytes()
    }

    /// The span above it, where it is known.
    pub fn parent(&self) -> Option<[u8; 8]> {
        self.parent.map(u64::to_be_bytes)
    }

    /// Whether who began the trace wants it recorded.
    pub fn is_sampled(&self) -> bool {
        self.flags & SAMPLED != 0
    }

    /// The flags.
    pub fn flags(&self) -> u8 {
        self.flags
    }

    /// What others wrote into the trace for themselves: `tracestate`.
    pub fn state(&self) -> Option<&str> {
        self.state.as_deref()
    }

    /// The place as `traceparent` has it.
    pub fn traceparent(&self) -> String {
        format!("00-{:032x}-{:016x}-{:02x}", self.id, self.span, self.flags)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn what_is_malformed_is_no_place() {
        let changed = |from: &str, to: &str| PARENT.replacen(from, to, 1);
        for (text, is_one) in [
            (PARENT.to_owned(), true),
            (changed("-01", "-00"), true),
            // Flags that nobody knows yet.
            (changed("-01", "-ff"), true),
            (changed("00-", "01-"), true),
            (changed("00-", "cc-") + "-more", true),
            (PARENT.to_owned() + "-more", false),
            (changed("00-", "ff-"), false),
            (changed("0af7", "0AF7"), false),
            (changed("0af7", "0ag7"), false),
            (changed("0af7", "+af7"), false),
            (changed("0af7651916cd43dd8448eb211c80319c", &"0".repeat(32)), false),
            (changed("b7ad6b7169203331", &"0".repeat(16)), false),
            (changed("-01", "-1"), false),
            (changed("-01", ""), false),
            (format!(" {PARENT}"), false),
            (String::new(), false),
        ] {
            assert_eq!(Trace::parse(&text, None).is_some(), is_one, "{text}");
        }
        assert_eq!(Trace::parse(&changed("-01", "-ff"), None).unwrap().flags(), 3);
    }

    #[test]
    fn a_state_is_kept_where_it_is_one() {
        let state = |given: &str| {
            let trace = Trace::parse(PARENT, Some(given)).unwrap();
            trace.state().map(ToOwned::to_owned)
        };
        assert_eq!(state("a=1,b=2").as_deref(), Some("a=1,b=2"));
        for none in ["", "a=1\r\nb: 2", "a=ü", &"a".repeat(STATE + 1)] {
            assert_eq!(state(none), None);
        }
    }

    #[test]
    fn a_call_stands_under_its_caller_and_its_attempts_under_it() {
        let dice = Dice::new(7);
        let caller = Trace::parse(PARENT, Some("a=1")).unwrap();
        let call = Trace::under(Some(&caller), &dice);
        assert_eq!((call.id(), call.parent()), (caller.id(), Some(caller.span())));
        assert_eq!(call.state(), Some("a=1"));
        let attempts: Vec<_> = (1..=100).map(|number| call.attempt(number)).collect();
        assert!(attempts.iter().all(|one| one.parent() == Some(call.span())));
        let spans: std::collections::HashSet<_> = attempts.iter().map(Trace::span).collect();
        assert_eq!(spans.len(), 100);
        assert!(!spans.contains(&call.span()));
        assert_eq!(call.attempt(3), attempts[2]);
        let alone = Trace::under(None, &dice);
        assert!(alone.parent().is_none() && alone.is_sampled());
        assert_ne!(alone.id(), Trace::under(None, &dice).id());
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in ".{0,80}", state in ".{0,20}") {
            let _ = Trace::parse(&text, Some(&state));
        }

        #[test]
        fn what_is_almost_right_is_read_only_when_it_is_right(at in 0..55_usize, byte in 0x20..0x7f_u8) {
            let mut text = PARENT.to_owned().into_bytes();
            text[at] = byte;
            let text = String::from_utf8(text).unwrap();
            if let Some(trace) = Trace::parse(&text, None) {
                prop_assert_eq!(&trace.traceparent()[3..52], &text[3..52]);
            }
        }

        #[test]
        fn what_is_written_is_read_again(id in 1..=u128::MAX, span in 1..=u64::MAX, flags in 0..4_u8) {
            let text = format!("00-{id:032x}-{span:016x}-{flags:02x}");
            let trace = Trace::parse(&text, None).unwrap();
            prop_assert_eq!(trace.traceparent(), text);
            prop_assert_eq!((trace.id(), trace.span()), (id.to_be_bytes(), span.to_be_bytes()));
        }
    }
}
