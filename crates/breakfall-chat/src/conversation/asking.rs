//! One question, asked until it is answered, or there is no use in asking again.

use std::time::Duration;

use breakfall::ToolSpec;
use futures_util::future::{Either, select};
use tokio::time::Instant;

use super::{Cancel, Conversation, Hear, Run};
use crate::error::{ModelError, ModelErrorKind};
use crate::event::{Again, Event};
use crate::message::Message;
use crate::model::{Answer, Delta, Question};
use crate::stop::{Limit, Stop};

/// How often a model that answers nothing is asked again.
const EMPTY: u32 = 2;

pub(super) fn refused() -> ModelError {
    ModelError::new(ModelErrorKind::Refused, "the answer was kept back")
}

impl Conversation {
    /// The answer to what was said, or why there is none.
    pub(super) async fn ask(
        &mut self,
        tools: &[ToolSpec],
        run: &Run,
        hear: &mut Hear<'_>,
        cancel: &Cancel<'_>,
    ) -> Result<Answer, Stop> {
        let mut asked = 0;
        loop {
            asked += 1;
            let mut heard = String::new();
            let error = match self.ask_once(tools, run, hear, cancel, &mut heard).await {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(error)) => error,
                Err(stop) => {
                    self.keep(heard, hear);
                    return Err(stop);
                }
            };
            tracing::warn!(kind = error.kind.name(), status = error.status, "Model did not answer");
            let doubled = 2_u32.saturating_pow(asked - 1);
            // Who asks for no wait at all would be asked so often at once.
            let least = self.limits.first_wait.saturating_mul(doubled);
            let wait = error.wait.map_or(least, |wait| wait.max(least));
            let in_time = Instant::now().checked_add(wait).is_some_and(|then| then < run.deadline);
            let is_useful = error.kind.may_pass() && asked < self.limits.attempts;
            if !is_useful || !in_time || wait > self.limits.longest_wait {
                self.keep(heard, hear);
                return Err(Stop::Model(error));
            }
            hear(Event::Retry { why: Again::Error(&error), wait, asked });
            let waiting = Box::pin(tokio::time::sleep(wait));
            if let Either::Left(_) = select(cancel.clone(), waiting).await {
                self.keep(heard, hear);
                return Err(Stop::Cancelled);
            }
        }
    }

    /// Asks, until somebody stops it or time is up.
    async fn ask_once(
        &self,
        tools: &[ToolSpec],
        run: &Run,
        hear: &mut Hear<'_>,
        cancel: &Cancel<'_>,
        heard: &mut String,
    ) -> Result<Result<Answer, ModelError>, Stop> {
        let question = Question { system: &self.system, history: &self.log.history, tools };
        let mut tell = |delta: Delta| match &delta {
            Delta::Text(text) => {
                heard.push_str(text);
                hear(Event::Text(text));
            }
            Delta::Reasoning(text) => hear(Event::Reasoning(text)),
            Delta::Call { index, tool, arguments } => {
                hear(Event::CallDelta { index: *index, tool, arguments });
            }
        };
        let answering = self.model.answer(question, &mut tell);
        let late = Box::pin(tokio::time::sleep_until(run.deadline));
        match select(answering, select(cancel.clone(), late)).await {
            Either::Left((answer, _)) => Ok(answer),
            Either::Right((Either::Left(_), _)) => Err(Stop::Cancelled),
            Either::Right((Either::Right(_), _)) => Err(Stop::Limit(Limit::Time(self.limits.time))),
        }
    }

    /// Keeps what a person has read of an answer that did not come to its end: the model is to know
    /// what was read. Calls that were begun are not kept; nothing of them was run.
    fn keep(&mut self, heard: String, hear: &mut Hear<'_>) {
        if !heard.trim().is_empty() {
            self.log.push(Message::assistant(heard), hear);
        }
    }

    /// The model answered nothing: it is asked again, not for ever.
    pub(super) fn nothing_came(run: &mut Run, hear: &mut Hear<'_>) -> Option<Stop> {
        run.empty += 1;
        if run.empty > EMPTY {
            return Some(Stop::Empty);
        }
        hear(Event::Retry { why: Again::Empty, wait: Duration::ZERO, asked: run.empty });
        None
    }
}
