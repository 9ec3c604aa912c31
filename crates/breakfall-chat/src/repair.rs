//! Any history becomes one that every provider accepts: every call directly followed by its
//! replies, every reply with its call, every id once, nothing empty, a person first.

use std::collections::{HashMap, VecDeque};
use std::fmt;

use crate::ids::Ids;
use crate::message::{Message, Said, SavedReply};

/// What a person who is not there would have said first.
const BEGINNING: &str = "(The beginning of this conversation is missing.)";

/// A history that every provider accepts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Repaired {
    /// The messages.
    pub history: Vec<Message>,
    /// What was changed, in the order of the messages.
    pub notes: Vec<Note>,
}

/// One thing that was changed in a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// A call had no reply: whoever waited for it was gone.
    Interrupted {
        /// The id of the call.
        id: String,
        /// The tool that was called.
        tool: String,
    },
    /// A reply had no call, or its call had one already, and was dropped.
    Dropped {
        /// The id that it answers.
        id: String,
    },
    /// Two calls had the same id, or one had none.
    ToldApart {
        /// The id that it had.
        from: String,
        /// The id that it has.
        to: String,
    },
    /// A message said nothing and was dropped.
    Empty,
    /// The history began with the model.
    NoBeginning,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interrupted { id, tool } => {
                write!(f, "the call `{}` of `{}` was interrupted", shown(id), shown(tool))
            }
            Self::Dropped { id } => write!(f, "a reply to `{}` had no call", shown(id)),
            Self::ToldApart { from, to } => {
                write!(f, "a call `{}` is now `{}`", shown(from), shown(to))
            }
            Self::Empty => f.write_str("a message without words was left out"),
            Self::NoBeginning => f.write_str("the beginning of the conversation is missing"),
        }
    }
}

/// A history that every provider accepts, made from any. The same history gives the same bytes,
/// and one that is repaired stays as it is.
///
/// ```
/// use breakfall_chat::{Message, Said, SavedCall, repair};
///
/// let call = SavedCall { id: "1".into(), tool: "send".into(), ..SavedCall::default() };
/// let said = Said { calls: vec![call], ..Said::default() };
/// let history = [Message::user("Send it."), Message::Assistant(said)];
///
/// let repaired = repair(&history);
/// let Message::Reply(reply) = &repaired.history[2] else { panic!("a reply") };
/// assert!(reply.text.starts_with("`send` was interrupted before it answered"));
/// assert_eq!(repair(&repaired.history).history, repaired.history);
/// ```
pub fn repair(history: &[Message]) -> Repaired {
    let mut repaired =
        Repaired { history: Vec::with_capacity(history.len()), ..Repaired::default() };
    repaired.go_on(history, &mut Ids::default());
    repaired
}

/// A message that is no reply, with the replies to its calls.
struct Turn<'h> {
    message: &'h Message,
    replies: Vec<Option<&'h SavedReply>>,
}

/// Every message that is no reply, with the replies to its calls wherever they stood behind it.
fn answered<'h>(history: &'h [Message], notes: &mut Vec<Note>) -> Vec<Turn<'h>> {
    let mut turns: Vec<Turn<'h>> = Vec::new();
    // The calls without a reply by id: the newest turn last, the first call of a turn first.
    let mut open: HashMap<&str, Vec<(usize, VecDeque<usize>)>> = HashMap::new();
    for message in history {
        let Message::Reply(reply) = message else {
            let mut replies = Vec::new();
            if let Message::Assistant(said) = message {
                replies = vec![None; said.calls.len()];
                for (index, call) in said.calls.iter().enumerate() {
                    let open = open.entry(&call.id).or_default();
                    match open.last_mut() {
                        Some((turn, calls)) if *turn == turns.len() => calls.push_back(index),
                        _ => open.push((turns.len(), VecDeque::from([index]))),
                    }
                }
            }
            turns.push(Turn { message, replies });
            continue;
        };
        let call = open.get_mut(&*reply.id).and_then(|open| {
            let (turn, calls) = open.last_mut()?;
            let place = (*turn, calls.pop_front()?);
            if calls.is_empty() {
                open.pop();
            }
            Some(place)
        });
        match call.and_then(|(turn, index)| turns.get_mut(turn)?.replies.get_mut(index)) {
            Some(place) => *place = Some(reply),
            None => notes.push(Note::Dropped { id: reply.id.clone() }),
        }
    }
    turns
}

impl Repaired {
    /// Repairs what comes behind a history that is repaired already, as the whole would be: in there
    /// every call has its reply, so that nothing behind it changes it. The ids are those it has.
    pub(crate) fn go_on(&mut self, behind: &[Message], ids: &mut Ids) {
        for turn in answered(behind, &mut self.notes) {
            self.take(&turn, ids);
        }
    }

    fn take(&mut self, turn: &Turn<'_>, ids: &mut Ids) {
        let is_empty = match turn.message {
            Message::User { text } | Message::Notice { text } => text.trim().is_empty(),
            Message::Assistant(said) => said.is_blank(),
            Message::Reply(_) => true,
        };
        if is_empty {
            self.notes.push(Note::Empty);
            return;
        }
        let Message::Assistant(said) = turn.message else {
            self.history.push(turn.message.clone());
            return;
        };
        if self.history.is_empty() {
            self.notes.push(Note::NoBeginning);
            self.history.push(Message::Notice { text: BEGINNING.to_owned() });
        }
        let (said, replies) = self.paired(said.clone(), &turn.replies, ids);
        self.history.push(Message::Assistant(said));
        self.history.extend(replies.into_iter().map(Message::Reply));
    }

    /// Gives every call an id of its own and a reply.
    fn paired(
        &mut self,
        mut said: Said,
        replies: &[Option<&SavedReply>],
        ids: &mut Ids,
    ) -> (Said, Vec<SavedReply>) {
        let mut paired = Vec::with_capacity(replies.len());
        for (call, reply) in said.calls.iter_mut().zip(replies) {
            let id = ids.told_apart(&call.id);
            if id != call.id {
                let from = std::mem::replace(&mut call.id, id.clone());
                self.notes.push(Note::ToldApart { from, to: id.clone() });
            }
            let tool = call.tool.clone();
            paired.push(match reply {
                Some(reply) => {
                    SavedReply { id, tool, text: reply.text.clone(), is_error: reply.is_error }
                }
                None => {
                    self.notes.push(Note::Interrupted { id: id.clone(), tool: tool.clone() });
                    let text = breakfall::interrupted(&shown(&tool));
                    SavedReply { id, tool, text, is_error: true }
                }
            });
        }
        (said, paired)
    }
}

/// A name that a model wrote, as it may stand in a sentence.
fn shown(name: &str) -> String {
    name.chars().filter(|c| !c.is_control() && *c != '`').take(64).collect()
}
