//! What few calls need: to wait, to be tried again, to be answered by a substitute.

use std::time::Duration;

use tokio::time::Instant;

use super::Guard;
use super::way::{Asked, Prepared, Rest, of_call};
use crate::attempt::{self, Checked, attempt};
use crate::check::{Tamed, tame};
use crate::fallback::By;
use crate::journal::OpenRecord;
use crate::toolbox::{Found, Rules};
use crate::{Outcome, Output};

impl Guard {
    pub(super) async fn go_on(
        &self,
        asked: &Asked<'_>,
        rest: Rest<'_>,
        record: &mut OpenRecord<'_>,
    ) -> Outcome {
        let Asked { call, found, began, .. } = *asked;
        match rest {
            Rest::Raw(raw) => Box::pin(self.serve_or_substitute(raw, found, record)).await,
            Rest::Begun { slot, arguments, known, step, repeats } => {
                let terms = self.trying(began, slot.rules.policy.total_timeout);
                let checked = Checked { slot, arguments, call, terms: &terms };
                let outcome = attempt::go_on(checked, &mut record.trail, *step, repeats).await;
                outcome.map_err(|failure| of_call(failure, known, &call.tool, arguments))
            }
        }
    }

    /// Serves the call; where its tool cannot, a substitute may, once.
    async fn serve_or_substitute(
        &self,
        raw: Tamed<'_>,
        found: &Found,
        record: &mut OpenRecord<'_>,
    ) -> Outcome {
        let spare = raw.as_ref().ok().map(|raw| raw.raw.clone());
        let Rules { policy, fallback, .. } = found.rules();
        let tool = &*record.call.tool;
        let served = self.serve(tool, raw, found, policy.total_timeout, record).await;
        let (failure, fallback) = match (served, fallback) {
            (Err(failure), Some(fallback)) if fallback.helps(&failure) => (failure, fallback),
            (outcome, _) => return outcome,
        };
        let answer = match (&fallback.by, spare) {
            (By::Value(value), _) => Ok(Output::json(value.clone())),
            (By::Tool { name, mapping }, Some(raw)) => {
                let substitute = self.find(name);
                record.trail.substitutes(substitute.upstream());
                let mut raw = mapping.apply(raw);
                let raw = tame(&mut raw, substitute.schema());
                // The time that the model waits is that of the tool it called.
                self.serve(name, raw, &substitute, policy.total_timeout, record).await
            }
            (By::Tool { .. }, None) => return Err(failure),
        };
        match answer {
            Ok(output) => Ok(output.instead(fallback.by.name(), failure)),
            Err(second) => Err(failure.and_of_its_substitute(fallback.by.name(), second)),
        }
    }

    async fn serve(
        &self,
        tool: &str,
        raw: Tamed<'_>,
        found: &Found,
        total_timeout: Duration,
        record: &mut OpenRecord<'_>,
    ) -> Outcome {
        let OpenRecord { call, trail, started, made, .. } = record;
        let mut place = None;
        let Prepared { slot, arguments, known } =
            self.prepare((call, (*made, Instant::now())), tool, found, raw, &mut place)?;
        trail.learns(slot, arguments, known);
        let terms = self.trying(*started, total_timeout);
        let checked = Checked { slot, arguments, call, terms: &terms };
        let outcome = attempt(checked, trail).await;
        outcome.map_err(|failure| of_call(failure, known, tool, arguments))
    }
}
