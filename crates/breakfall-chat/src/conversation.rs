//! The loop: ask the model, run its calls, append their replies, ask again, until there is a true
//! reason to stop.

mod asking;
mod log;
mod recovery;

use std::sync::Arc;
use std::time::Duration;

use breakfall::{BoxFuture, Call, ToolSpec};
use futures_util::future::{Either, FutureExt, Shared, select};
use tokio::time::Instant;

use crate::event::Event;
use crate::message::{Message, Said};
use crate::model::{Answer, Finish, Model};
use crate::provider::is_done_there;
use crate::saved::{Loaded, Saved};
use crate::stop::{Limit, Stop};
use crate::tools::Tools;
use log::Log;
use recovery::Recovered;

/// Who hears what happens.
type Hear<'h> = dyn FnMut(Event<'_>) + Send + 'h;

/// Says that somebody wants the run to stop.
type Cancel<'c> = Shared<BoxFuture<'c, ()>>;

/// How far a run may go. A run is the work from what a person says to its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// How often the model is asked.
    pub turns: u32,
    /// How many calls it makes.
    pub calls: u32,
    /// How many tokens it reads and writes, as its provider counts them.
    pub tokens: u64,
    /// How long it takes.
    pub time: Duration,
    /// How often a question is asked that was not answered, at most.
    pub attempts: u32,
    /// The first wait before it is asked again, where the provider asks for no longer one; each next
    /// one is twice as long.
    pub first_wait: Duration,
    /// The longest wait before a question is asked again; one that asks for more ends the run.
    pub longest_wait: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            turns: 50,
            calls: 200,
            tokens: 2_000_000,
            time: Duration::from_mins(30),
            attempts: 4,
            first_wait: Duration::from_millis(500),
            longest_wait: Duration::from_mins(1),
        }
    }
}

/// A model, its tools, and what was said so far.
pub struct Conversation {
    model: Arc<dyn Model>,
    tools: Arc<dyn Tools>,
    system: String,
    limits: Limits,
    log: Log,
    runs: u64,
    name: String,
}

/// How far a run has come.
struct Run {
    id: Arc<str>,
    deadline: Instant,
    turns: u32,
    calls: u32,
    tokens: u64,
    empty: u32,
    /// Whether the model was told that it wrote calls as text.
    was_told: bool,
}

impl Conversation {
    /// A conversation in which nothing was said.
    pub fn new(model: impl Model + 'static, tools: impl Tools + 'static) -> Self {
        Self::of(Arc::new(model), Arc::new(tools))
    }

    /// The same with a model and tools that others hold, too.
    pub fn of(model: Arc<dyn Model>, tools: Arc<dyn Tools>) -> Self {
        Self {
            model,
            tools,
            system: String::new(),
            limits: Limits::default(),
            log: Log::default(),
            runs: 0,
            name: "chat".to_owned(),
        }
    }

    /// What the model is told before anything is said.
    pub fn system(mut self, system: impl Into<String>) -> Self {
        self.system = system.into();
        self
    }

    /// How far a run may go.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The name that the runs in its records begin with.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Goes on where a saved history ended, however it ended, and saves what is said from here on.
    pub fn saved(mut self, saved: Saved, loaded: Loaded) -> Self {
        self.log = Log::new(loaded.history, Some(saved));
        self
    }

    /// Goes on from a history.
    pub fn history_is(mut self, history: Vec<Message>) -> Self {
        self.log = Log::new(history, None);
        self
    }

    /// What was said so far.
    pub fn history(&self) -> &[Message] {
        &self.log.history
    }

    /// Another model from here on.
    pub fn ask_another(&mut self, model: impl Model + 'static) {
        self.model = Arc::new(model);
    }

    /// Says something to the model and runs until there is a reason to stop. Everything that
    /// happens is told to `hear`; when `cancel` is ready, what is done by then is kept, every call
    /// is answered, and the run stops.
    pub async fn say(
        &mut self,
        text: impl Into<String>,
        hear: &mut Hear<'_>,
        cancel: impl Future<Output = ()> + Send,
    ) -> Stop {
        // What the last run left unanswered is answered before anything is said.
        self.mend(hear);
        self.log.push(Message::User { text: text.into() }, hear);
        self.run(hear, cancel.boxed().shared()).await
    }

    /// Runs on from what was said, when what ended the last run was mended.
    pub async fn go_on(
        &mut self,
        hear: &mut Hear<'_>,
        cancel: impl Future<Output = ()> + Send,
    ) -> Stop {
        self.mend(hear);
        if !matches!(self.log.history.last(), Some(Message::User { .. } | Message::Reply(_))) {
            self.log.push(Message::user("Go on."), hear);
        }
        self.run(hear, cancel.boxed().shared()).await
    }

    fn mend(&mut self, hear: &mut Hear<'_>) {
        for note in &self.log.repair() {
            hear(Event::Mended(note));
        }
    }

    async fn run(&mut self, hear: &mut Hear<'_>, cancel: Cancel<'_>) -> Stop {
        self.runs += 1;
        let mut run = Run {
            id: format!("{}-{}", self.name, self.runs).into(),
            deadline: later(self.limits.time),
            turns: 0,
            calls: 0,
            tokens: 0,
            empty: 0,
            was_told: false,
        };
        let stop = loop {
            if let Some(stop) = self.turn(&mut run, hear, &cancel).await {
                break stop;
            }
        };
        self.tools.end_run(&run.id);
        hear(Event::Stop(&stop));
        stop
    }

    /// One question, one answer, the calls in it. Nothing where the run goes on.
    async fn turn(
        &mut self,
        run: &mut Run,
        hear: &mut Hear<'_>,
        cancel: &Cancel<'_>,
    ) -> Option<Stop> {
        if run.turns >= self.limits.turns {
            return Some(Stop::Limit(Limit::Turns(self.limits.turns)));
        }
        run.turns += 1;
        let all = Arc::clone(&self.tools);
        let tools = match select(cancel.clone(), all.callable()).await {
            Either::Left(_) => return Some(Stop::Cancelled),
            Either::Right((tools, _)) => tools,
        };
        let mut answer = match self.ask(&tools, run, hear, cancel).await {
            Ok(answer) => answer,
            Err(stop) => return Some(stop),
        };
        run.tokens = run.tokens.saturating_add(answer.usage.total());
        let recovered = Recovered::of(&mut answer, &tools);
        recovered.tell(hear);
        let finish = answer.finish;
        if matches!(finish, Finish::Length | Finish::Refused) {
            answer.last_call_may_lack_its_end();
        }
        let is_blank = match finish {
            // What its provider ran may be all that it has done so far.
            Finish::Paused => {
                !answer.kept.iter().any(is_done_there) && answer.text.trim().is_empty()
            }
            _ => answer.text.trim().is_empty(),
        };
        let calls = self.heard(answer, &tools, run, hear);
        if !calls.is_empty() {
            if finish == Finish::Refused {
                let order: Vec<String> = calls.iter().map(|call| call.id.clone()).collect();
                self.not_run(calls, hear).await;
                self.log.put_in_order(&order);
                return Some(Stop::Model(asking::refused()));
            }
            let stop = self.answered(calls, run, hear, cancel).await;
            if stop.is_none() && !recovered.not_run.is_empty() {
                self.log.push(recovered.notice(), hear);
            }
            return stop;
        }
        match finish {
            Finish::Refused => Some(Stop::Model(asking::refused())),
            Finish::Length => Some(Stop::CutOff),
            Finish::Done | Finish::Paused if is_blank => Self::nothing_came(run, hear),
            Finish::Paused => None,
            Finish::Done if !recovered.not_run.is_empty() && !run.was_told => {
                run.was_told = true;
                self.log.push(recovered.notice(), hear);
                None
            }
            Finish::Done => Some(Stop::Done),
        }
    }

    /// Takes over an answer; its calls get ids of their own and are on the disk before they run.
    fn heard(
        &mut self,
        answer: Answer,
        tools: &[ToolSpec],
        run: &Run,
        hear: &mut Hear<'_>,
    ) -> Vec<Call> {
        let Answer { text, mut calls, kept, shape, model, finish, .. } = answer;
        for call in &mut calls {
            call.id = self.log.ids.told_apart(&call.id);
            call.run = Some(Arc::clone(&run.id));
            named_as_it_is(call, tools);
        }
        let made = calls.iter().map(Into::into).collect();
        let is_unsaid = text.trim().is_empty() && calls.is_empty() && finish != Finish::Paused;
        let said = Said { text, calls: made, kept, shape, model };
        if !is_unsaid && !said.is_blank() {
            self.log.push(Message::Assistant(said), hear);
        }
        calls
    }

    /// Runs calls. Every one has its reply in the history when this returns.
    async fn answered(
        &mut self,
        mut calls: Vec<Call>,
        run: &mut Run,
        hear: &mut Hear<'_>,
        cancel: &Cancel<'_>,
    ) -> Option<Stop> {
        let order: Vec<String> = calls.iter().map(|call| call.id.clone()).collect();
        let tokens_left = run.tokens < self.limits.tokens;
        let left = if tokens_left { self.limits.calls.saturating_sub(run.calls) } else { 0 };
        let beyond = calls.split_off(calls.len().min(usize::try_from(left).unwrap_or(usize::MAX)));
        run.calls += u32::try_from(calls.len()).unwrap_or(u32::MAX);
        let mut stop = None;
        let tools = Arc::clone(&self.tools);
        if !calls.is_empty() {
            for call in &calls {
                hear(Event::ToolStart(call));
            }
            let log = &mut self.log;
            let mut tell = |reply: &breakfall::Reply| {
                log.push(Message::Reply(reply.into()), hear);
                hear(Event::ToolReply(reply));
                if stop.is_none() {
                    stop = Stop::of(reply);
                }
            };
            let until = select(cancel.clone(), Box::pin(tokio::time::sleep_until(run.deadline)));
            tools.answer(calls, until.map(drop).boxed(), &mut tell).await;
        }
        if !beyond.is_empty() {
            self.not_run(beyond, hear).await;
            let limit = if tokens_left {
                Limit::Calls(self.limits.calls)
            } else {
                Limit::Tokens(self.limits.tokens)
            };
            stop.get_or_insert(Stop::Limit(limit));
        }
        self.log.put_in_order(&order);
        if stop.is_some() {
            return stop;
        }
        if cancel.clone().now_or_never().is_some() {
            return Some(Stop::Cancelled);
        }
        let is_late = Instant::now() >= run.deadline;
        is_late.then_some(Stop::Limit(Limit::Time(self.limits.time)))
    }
}

impl Conversation {
    /// Answers calls as not run.
    async fn not_run(&mut self, calls: Vec<Call>, hear: &mut Hear<'_>) {
        let tools = Arc::clone(&self.tools);
        let log = &mut self.log;
        let mut tell = |reply: &breakfall::Reply| {
            log.push(Message::Reply(reply.into()), hear);
            hear(Event::ToolReply(reply));
        };
        tools.answer(calls, std::future::ready(()).boxed(), &mut tell).await;
    }
}

/// When so much time went by; a time without end is a year.
fn later(time: Duration) -> Instant {
    const YEAR: Duration = Duration::from_hours(365 * 24);
    Instant::now() + time.min(YEAR)
}

/// Providers take fewer names than there are: a call under the name that one was told is a call of
/// the tool.
fn named_as_it_is(call: &mut Call, tools: &[ToolSpec]) {
    let is = |spec: &&ToolSpec| breakfall::wire::name(&spec.name) == call.tool;
    if !tools.iter().any(|spec| spec.name == call.tool)
        && let Some(spec) = tools.iter().find(is)
    {
        call.tool.clone_from(&spec.name);
    }
}

impl std::fmt::Debug for Conversation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let messages = self.log.history.len();
        f.debug_struct("Conversation").field("messages", &messages).finish_non_exhaustive()
    }
}
