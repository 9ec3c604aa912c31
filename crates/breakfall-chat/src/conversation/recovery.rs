//! Calls that the model wrote into its text or its thoughts when it made none: run where that does
//! no harm, told where it might.

use breakfall::{Call, Effect, ToolSpec, wire};

use super::Hear;
use crate::event::Event;
use crate::message::Message;
use crate::model::{Answer, Finish};

#[derive(Default)]
pub(super) struct Recovered {
    run: Vec<String>,
    pub(super) not_run: Vec<String>,
}

impl Recovered {
    /// Finds hidden calls in an answer without any; those that only read become calls of it.
    pub(super) fn of(answer: &mut Answer, tools: &[ToolSpec]) -> Self {
        let mut recovered = Self::default();
        // What was cut off in the middle may mean anything.
        if !answer.calls.is_empty() || answer.finish != Finish::Done {
            return recovered;
        }
        let spec = |name: &str| {
            tools.iter().find(|spec| spec.name == name || wire::name(&spec.name) == name)
        };
        let is_tool = |name: &str| spec(name).is_some();
        recovered.not_run = wire::hidden::attempts(&answer.text, &is_tool);
        let mut hidden = wire::hidden::calls(&answer.text, &is_tool);
        if hidden.is_empty() && answer.text.trim().is_empty() {
            hidden = wire::hidden::calls(&answer.reasoning, &is_tool);
        }
        for call in hidden {
            let only_reads = spec(&call.tool).is_some_and(|spec| spec.effect == Effect::ReadOnly);
            if only_reads {
                recovered.run.push(call.tool.clone());
                answer.calls.push(Call::recovered(call));
            } else {
                recovered.not_run.push(call.tool);
            }
        }
        recovered
    }

    pub(super) fn tell(&self, hear: &mut Hear<'_>) {
        if !self.run.is_empty() || !self.not_run.is_empty() {
            hear(Event::Hidden { run: &self.run, not_run: &self.not_run });
        }
    }

    /// What the model is told of calls that were not run.
    pub(super) fn notice(&self) -> Message {
        let tools: Vec<&str> = self.not_run.iter().map(String::as_str).collect();
        Message::Notice { text: breakfall::written(&tools) }
    }
}
