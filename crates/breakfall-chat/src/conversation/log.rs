//! What was said, in memory and on disk. A file that cannot be written stops no conversation.

use crate::event::Event;
use crate::ids::Ids;
use crate::message::Message;
use crate::saved::Saved;

use super::Hear;

#[derive(Default)]
pub(super) struct Log {
    pub(super) history: Vec<Message>,
    pub(super) ids: Ids,
    saved: Option<Saved>,
}

impl Log {
    pub(super) fn new(history: Vec<Message>, saved: Option<Saved>) -> Self {
        let mut log = Self { saved, ..Self::default() };
        log.is_now(history);
        log
    }

    /// Takes over a history that was repaired.
    pub(super) fn is_now(&mut self, history: Vec<Message>) {
        self.ids = Ids::default();
        for message in &history {
            if let Message::Assistant(said) = message {
                for call in &said.calls {
                    self.ids.told_apart(&call.id);
                }
            }
        }
        self.history = history;
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
