//! The first attempt of a call, which is the only one of most: no waiting, no future but the tool's.

use std::task::Context;

use super::Guard;
use super::way::{Asked, Begun, Kept, Left, Prepared, Rest, of_call};
use crate::attempt::{self, Checked, Polled, Repeating, Step, panics};
use crate::check::Tamed;
use crate::journal::OpenRecord;
use crate::{Failure, Reply};

impl Guard {
    /// The first attempt, as far as it comes without waiting. A panic in our own steps is a fault.
    #[inline]
    pub(super) fn begin<'a>(
        &self,
        asked: &Asked<'a>,
        raw: Tamed<'_>,
        kept: &'a mut Kept,
        record: Option<&mut OpenRecord<'_>>,
        cx: &mut Context<'_>,
    ) -> Result<Begun<'a>, Failure> {
        let first = || {
            let Asked { call, found, watch, began, .. } = *asked;
            let Kept { arguments: place, trace } = kept;
            let Prepared { slot, arguments, known } =
                self.prepare((call, (asked.made(), began)), &call.tool, found, raw, place)?;
            let trace = || {
                if let Some(record) = record {
                    *trace = record.trail.begins(began, slot.entry.spec.effect);
                }
                trace.as_deref()
            };
            let terms = (began, &self.reader);
            let tried = attempt::at_once((slot, arguments), (call, watch), trace, terms, cx);
            Ok(Begun { slot, arguments, known, tried })
        };
        panics::catch(first).unwrap_or_else(|panic| Err(panics::fault(panic)))
    }

    /// The reply to a call whose first attempt is over, or what is left to do.
    pub(super) fn conclude<'a>(
        &'a self,
        asked: &Asked<'a>,
        record: Option<OpenRecord<'a>>,
        begun: Result<Begun<'a>, Failure>,
    ) -> Result<Reply, Box<Left<'a>>> {
        let Asked { call, found, began, .. } = *asked;
        let policy = &found.rules().policy;
        let was_open = record.is_some();
        let mut record = record.unwrap_or_else(|| self.open(asked, None));
        let Begun { slot, arguments, known, tried } = match begun {
            Ok(begun) => begun,
            Err(failure) => return Ok(self.answer(Err(failure), policy, &mut record)),
        };
        let trail = &mut record.trail;
        trail.learns(slot, arguments, known);
        let has_begun = !matches!(&tried, Err(step) if matches!(**step, Step::Begins(..)));
        if !was_open && has_begun {
            trail.begins(began, slot.entry.spec.effect);
        }
        let mut repeats = Repeating::default();
        let terms = self.trying(began, policy.total_timeout);
        let checked = Checked { slot, arguments, call, terms: &terms };
        let tried = match tried.map_err(|step| *step) {
            Err(Step::Polled(passes, Polled::Answered(outcome), watch)) if !watch.has_line() => {
                panics::catch(|| checked.ended(outcome, (passes, began), &mut repeats, trail))
                    .unwrap_or_else(|panic| Ok(Err(panics::fault(panic))))
                    .map_err(Step::Waits)
            }
            Ok(output) => Ok(Ok(output)),
            Err(step) => Err(step),
        };
        match tried {
            Ok(outcome) => {
                trail.under_way = None;
                let outcome =
                    outcome.map_err(|failure| of_call(failure, known, &call.tool, arguments));
                Ok(self.answer(outcome, policy, &mut record))
            }
            Err(step) => {
                let step = Box::new(step);
                let rest = Rest::Begun { slot, arguments, known, step, repeats };
                Err(Box::new(Left { record, rest }))
            }
        }
    }
}
