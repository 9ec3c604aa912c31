//! What was said, in memory and on disk. A file that cannot be written stops no conversation.

use crate::event::Event;
use crate::ids::Ids;
use crate::message::Message;
use crate::repair::{Note, Repaired};
use crate::saved::Saved;

use super::Hear;

#[derive(Default)]
pub(super) struct Log {
    pub(super) history: Vec<Message>,
    pub(super) ids: Ids,
    /// How many messages were repaired: what comes behind them changes none of them.
    repaired: usize,
    saved: Option<Saved>,
}

impl Log {
    /// A history from elsewhere: all of it is still to be repaired.
    pub(super) fn new(history: Vec<Message>, saved: Option<Saved>) -> Self {
        Self { history, saved, ..Self::default() }
    }

    /// Repairs what was said since the last time, and tells what was changed.
    pub(super) fn repair(&mut self) -> Vec<Note> {
        let behind = self.history.split_off(self.repaired);
        // Their calls keep the ids that they were given.
        for message in &behind {
            if let Message::Assistant(said) = message {
                said.calls.iter().for_each(|call| self.ids.forget(&call.id));
            }
        }
        let history = std::mem::take(&mut self.history);
        let mut repaired = Repaired { history, notes: Vec::new() };
        repaired.go_on(&behind, &mut self.ids);
        self.history = repaired.history;
        self.repaired = self.history.len();
        repaired.notes
    }

    pub(super) fn push(&mut self, message: Message, hear: &mut Hear<'_>) {
        if let Some(saved) = &mut self.saved
            && let Err(error) = saved.append(&message)
        {
            // Said once: from here on there is nothing to write to.
            self.saved = None;
            let why = std::error::Error::source(&error);
            let why = why.map_or_else(|| error.to_string(), |why| format!("{error}: {why}"));
            tracing::warn!(%error, "History not saved");
            hear(Event::NotSaved(&why));
        }
        self.history.push(message);
    }

    /// Replies come as they are ready; in the history they stand as their calls do.
    pub(super) fn put_in_order(&mut self, ids: &[String]) {
        let replies = self.history.len().saturating_sub(ids.len());
        let place = |message: &Message| match message {
            Message::Reply(reply) => ids.iter().position(|id| *id == reply.id),
            _ => None,
        };
        if self.history[replies..].iter().all(|message| place(message).is_some()) {
            self.history[replies..].sort_by_key(place);
        }
    }
}
