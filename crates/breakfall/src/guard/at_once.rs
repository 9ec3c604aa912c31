//! What most calls are: arguments that plainly fit, a tool that answers at once, an output that is a
//! text, and nobody who wants to hear of it. The same steps as those of every call, without what
//! only others need. A call that turns out to be another goes on from where it came to.

use std::task;

use tokio::time::Instant;

use super::Guard;
use crate::attempt::{self, CallKey, Checked, Repeating, Step, panics};
use crate::check::{Tamed, accepted};
use crate::journal::{self, OpenRecord};
use crate::tool::Watch;
use crate::toolbox::{Found, Slot};
use crate::{Arguments, Call, Outcome};

/// What is left to do for a call.
pub(super) enum Given<'a> {
    /// All of it.
    Raw(Tamed),
    /// Its first attempt came so far.
    Begun(Plainly<'a>, Step<'a>),
    /// To answer it: its tool was tried.
    Ended(Outcome),
}

impl Given<'_> {
    pub(super) fn raw(&self) -> Option<&Tamed> {
        match self {
            Self::Raw(raw) => Some(raw),
            Self::Begun(..) | Self::Ended(_) => None,
        }
    }
}

/// A call whose tool was found and whose arguments were checked, with who waits for it.
#[derive(Clone, Copy)]
pub(super) struct Plainly<'a> {
    pub(super) slot: &'a Slot,
    pub(super) arguments: &'a Arguments,
    pub(super) call: &'a Call,
    pub(super) watch: &'a Watch<'a>,
}

impl Guard {
    /// The tool and its arguments, where nothing stands between them that is worth a record.
    pub(super) fn plain<'a>(
        &self,
        call: &Call,
        found: &'a Found,
        raw: Tamed,
    ) -> Result<(&'a Slot, Arguments), Tamed> {
        let Found::Tool(slot) = found else { return Err(raw) };
        let is_plain = self.is_plain
            && slot.is_plain()
            && !call.is_recovered
            && journal::is_silent()
            && !self.runs.may_know(call.run.as_deref());
        if !is_plain {
            return Err(raw);
        }
        Ok((slot, accepted(raw, &slot.rules.policy)?))
    }

    /// The text that the tool gave, or what is left to do.
    pub(super) fn at_once<'a>(
        &self,
        plain: Plainly<'a>,
        began: Instant,
        cx: &mut task::Context<'_>,
    ) -> Result<String, Given<'a>> {
        let Plainly { slot, arguments, call, watch } = plain;
        let tried = panics::catch(|| {
            let Some(passes) = attempt::pass(slot, (began, true)) else {
                return Err(Given::Begun(plain, Step::Begins(None)));
            };
            let context = attempt::context(&slot.entry, call, None, watch);
            let output = attempt::at_once(slot, arguments, context, (passes, &self.reader), cx)
                .map_err(|step| Given::Begun(plain, step))?;
            let text = output.plain(slot.rules.policy.max_output_bytes);
            text.map_err(|output| Given::Ended(Ok(output)))
        });
        let text = tried.unwrap_or_else(|panic| Err(Given::Ended(Err(panics::fault(panic)))))?;
        self.journal.succeeded();
        Ok(text)
    }

    /// Goes on from where the first attempt came to.
    pub(super) async fn go_on(
        &self,
        plain: Plainly<'_>,
        step: Step<'_>,
        (watch, began): (&Watch<'_>, Instant),
        record: &mut OpenRecord<'_>,
    ) -> Outcome {
        let Plainly { slot, arguments, call, .. } = plain;
        let terms = self.trying(began, slot.rules.policy.total_timeout);
        let trail = &mut record.trail;
        let repeats = Repeating::new(trail);
        trail.finds(None, false);
        if !matches!(step, Step::Begins(_)) {
            trail.begins(began, slot.entry.spec.effect);
        }
        let checked = Checked { slot, arguments, call, terms: &terms };
        let outcome = attempt::go_on(checked, trail, step, (watch, began), repeats).await;
        outcome.map_err(|failure| failure.of_call(|| CallKey::of(&call.tool, arguments.value())))
    }
}
