//! A little world from a seed: tools with policies, and what a model does with them.

use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Duration;

use breakfall::{
    Arguments, Batching, BoxFuture, BreakerRules, BreakerState, BudgetRules, Call, Context, Effect,
    Failure, FailureKind, Fallback, GateRules, Guard, Outcome, Output, Policy, Record, RepeatRules,
    Reply, Retry, Scope, Sink, Tool, ToolSpec, failure_of,
};
use futures_util::FutureExt;
use futures_util::future::join_all;
use serde_json::json;
use tokio::time::Instant;

/// Chance from a seed.
#[derive(Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From `low` to just below `high`.
    fn from(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low)
    }

    fn percent(&mut self, percent: u64) -> bool {
        self.next() % 100 < percent
    }

    fn of<T: Copy>(&mut self, items: &[T]) -> T {
        items[usize::try_from(self.next() % items.len() as u64).unwrap()]
    }

    fn millis(&mut self, low: u64, high: u64) -> Duration {
        Duration::from_millis(self.from(low, high))
    }
}

/// One attempt that reached a tool.
#[derive(Clone, Debug)]
pub(crate) struct Start {
    pub(crate) call: String,
    pub(crate) tool: String,
    /// It came back and said that nothing was dispatched.
    pub(crate) never_dispatched: bool,
    /// What was wrong with letting it through.
    pub(crate) wrong: Option<String>,
}

/// A tool as the world made it.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    pub(crate) name: String,
    pub(crate) effect: Effect,
    pub(crate) upstream: Option<String>,
    pub(crate) policy: Policy,
    pub(crate) fallback: Option<String>,
    /// Its task starts later than it is let through: it cannot see how it was.
    pub(crate) isolated: bool,
}

/// A record with when it was taken, since when the world began.
#[derive(Clone, Debug)]
pub(crate) struct Taken {
    pub(crate) record: Record,
    pub(crate) at: Duration,
}

/// Everything that happened.
#[derive(Debug, Default)]
pub(crate) struct History {
    pub(crate) tools: Vec<Made>,
    pub(crate) upstreams: Vec<(String, GateRules)>,
    /// The ids of all calls, and of those that nobody dropped.
    pub(crate) calls: Vec<String>,
    pub(crate) awaited: Vec<String>,
    pub(crate) replies: Vec<Reply>,
    pub(crate) starts: Vec<Start>,
    pub(crate) records: Vec<Taken>,
    /// How often a sink panicked, and how often the guard says so.
    pub(crate) sink_panics: u64,
    pub(crate) lost_records: u64,
    pub(crate) counted: u64,
    /// Gates that did not come to rest.
    pub(crate) restless: Vec<String>,
}

/// What the tools write while they run.
#[derive(Default)]
struct Log {
    starts: Vec<Start>,
    /// How many probes of each gate are under way.
    probes: std::collections::HashMap<String, u32>,
    records: Vec<Taken>,
    sink_panics: u64,
}

type Shared<T> = Arc<Mutex<T>>;

pub(crate) struct World {
    seed: u64,
    chance: Chance,
    log: Shared<Log>,
    guard: Arc<OnceLock<Weak<Guard>>>,
}

/// A tool that does anything.
struct Wild {
    made: Made,
    chance: Mutex<Chance>,
    log: Shared<Log>,
    guard: Arc<OnceLock<Weak<Guard>>>,
}

impl Wild {
    /// Which of its gates are half-open, and whether one is open: then it should not be here.
    fn gates(&self) -> (Vec<String>, Option<String>) {
        let Some(guard) = self.guard.get().and_then(Weak::upgrade) else {
            return (Vec::new(), None);
        };
        if self.made.isolated {
            return (Vec::new(), None);
        }
        let mut probes = Vec::new();
        let mut wrong = None;
        let mut look =
            |name: String, scope: Scope<'_>| match guard.toolbox().gate(scope).unwrap().breaker {
                BreakerState::HalfOpen => probes.push(name),
                BreakerState::Open { .. } | BreakerState::Held => {
                    wrong = Some(format!("let through an open breaker: {name}"));
                }
                BreakerState::Closed => {}
            };
        if self.made.policy.gate.breaker.is_some() {
            look(format!("tool {}", self.made.name), Scope::Tool(&self.made.name));
        }
        if let Some(upstream) = &self.made.upstream {
            look(format!("upstream {upstream}"), Scope::Upstream(upstream));
        }
        (probes, wrong)
    }
}

/// An attempt is under way until this is dropped.
struct UnderWay<'a> {
    log: &'a Shared<Log>,
    probes: Vec<String>,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let mut log = self.log.lock().unwrap();
        for gate in &self.probes {
            *log.probes.get_mut(gate).unwrap() -= 1;
        }
    }
}

impl Tool for Wild {
    fn call<'a>(&'a self, _: &'a Arguments, context: Context<'a>) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let (probes, mut wrong) = self.gates();
            let number = {
                let mut log = self.log.lock().unwrap();
                for gate in &probes {
                    let count = log.probes.entry(gate.clone()).or_default();
                    *count += 1;
                    if *count > 1 {
                        wrong = Some(format!("{count} probes at once: {gate}"));
                    }
                }
                let (call, tool) = (context.id.to_owned(), self.made.name.clone());
                log.starts.push(Start { call, tool, never_dispatched: false, wrong });
                log.starts.len() - 1
            };
            let _under_way = UnderWay { log: &self.log, probes };
            let (latency, fate, kind, wait) = {
                let mut chance = self.chance.lock().unwrap();
                let latency = if chance.percent(60) { 0 } else { chance.from(0, 8_000) };
                let kind = chance.of(FailureKind::ALL);
                (Duration::from_millis(latency), chance.from(0, 100), kind, chance.millis(0, 9_000))
            };
            if !latency.is_zero() {
                tokio::time::sleep(latency).await;
                context.progress().tick();
                tokio::time::sleep(latency / 2).await;
            }
            match fate {
                0..45 => Ok(Output::text("done")),
                45..50 => Ok(Output::json(json!({ "success": false, "error": "not found" }))),
                50..70 => {
                    let failure = failure_of(kind);
                    if failure.never_dispatched() {
                        self.log.lock().unwrap().starts[number].never_dispatched = true;
                    }
                    Err(failure)
                }
                70..78 => {
                    self.log.lock().unwrap().starts[number].never_dispatched = true;
                    Err(Failure::network("did not start").not_dispatched())
                }
                78..84 => Err(Failure::rate_limited(Some(wait))),
                84..90 => Err(Failure::upstream("down")),
                90..94 => Err(std::io::Error::other("ECONNRESET: connection reset by peer").into()),
                94..97 => panic!("on purpose"),
                _ => std::future::pending().await,
            }
        })
    }
}

/// Keeps the records, and panics now and then.
struct Keeper {
    log: Shared<Log>,
    began: Instant,
    chance: Mutex<Chance>,
}

impl Sink for Keeper {
    fn take(&self, record: &Record) {
        let mut log = self.log.lock().unwrap();
        log.records.push(Taken { record: record.clone(), at: self.began.elapsed() });
        if self.chance.lock().unwrap().percent(3) {
            log.sink_panics += 1;
            drop(log);
            panic!("a sink");
        }
    }
}

impl World {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, chance: Chance(seed), log: Shared::default(), guard: Arc::default() }
    }

    fn gate(&mut self) -> GateRules {
        let chance = &mut self.chance;
        GateRules {
            breaker: chance.percent(80).then(|| BreakerRules {
                consecutive: u32::try_from(chance.from(1, 6)).unwrap(),
                percent: u32::try_from(chance.from(20, 100)).unwrap(),
                floor: u32::try_from(chance.from(2, 12)).unwrap(),
                window: chance.millis(1_000, 60_000),
                open_for: chance.millis(500, 10_000),
                max_open: chance.millis(10_000, 30_000),
                successes: u32::try_from(chance.from(1, 4)).unwrap(),
            }),
            budget: chance.percent(80).then(|| BudgetRules {
                percent: u32::try_from(chance.from(0, 60)).unwrap(),
                window: chance.millis(1_000, 20_000),
                floor: u32::try_from(chance.from(0, 4)).unwrap(),
            }),
            concurrency: chance.percent(50).then(|| usize::try_from(chance.from(1, 5)).unwrap()),
            queue: usize::try_from(chance.from(0, 6)).unwrap(),
            queue_timeout: chance.millis(0, 6_000),
        }
    }

    fn policy(&mut self) -> Policy {
        let gate = self.gate();
        let chance = &mut self.chance;
        Policy {
            attempt_timeout: chance.millis(500, 6_000),
            total_timeout: chance.millis(1_000, 20_000),
            retry: Retry {
                attempts: u32::try_from(chance.from(1, 5)).unwrap(),
                first_delay: chance.millis(0, 500),
                max_delay: chance.millis(100, 4_000),
            },
            gate,
            repeats: RepeatRules {
                warn_at: 2,
                refuse_at: u32::try_from(chance.from(2, 6)).unwrap(),
                tool_failures: u32::try_from(chance.from(3, 30)).unwrap(),
                forget_after: chance.millis(1_000, 60_000),
            },
            silent: chance.of(&[
                breakfall::SilentRule::Ignore,
                breakfall::SilentRule::Note,
                breakfall::SilentRule::Fail,
            ]),
            ..Policy::default()
        }
    }

    /// Lives through it.
    pub(crate) async fn live(mut self) -> History {
        let began = Instant::now();
        let mut history = History::default();
        let mut builder = Guard::builder().seed(self.seed).sink(Arc::new(Keeper {
            log: Arc::clone(&self.log),
            began,
            chance: Mutex::new(Chance(self.seed ^ 1)),
        }));
        for name in ["a", "b"] {
            // The upstream's breaker is always there, so that the tools can look at it.
            let breaker = Some(self.gate().breaker.unwrap_or_default());
            let rules = GateRules { breaker, ..self.gate() };
            builder = builder.upstream(name, rules.clone());
            history.upstreams.push((name.to_owned(), rules));
        }
        let number = self.chance.from(1, 6);
        for tool in 0..number {
            let made = Made {
                name: format!("tool_{tool}"),
                effect: self.chance.of(&[Effect::ReadOnly, Effect::Idempotent, Effect::Once]),
                upstream: self.chance.of(&[None, Some("a"), Some("b")]).map(ToOwned::to_owned),
                policy: self.policy(),
                fallback: (number > 1 && self.chance.percent(25))
                    .then(|| format!("tool_{}", (tool + 1) % number)),
                isolated: self.chance.percent(20),
            };
            let wild = Wild {
                made: made.clone(),
                chance: Mutex::new(Chance(self.seed ^ (tool + 2))),
                log: Arc::clone(&self.log),
                guard: Arc::clone(&self.guard),
            };
            let mut entry = ToolSpec::new(&made.name, "").effect(made.effect).tool(wild);
            if let Some(upstream) = &made.upstream {
                entry = entry.upstream(upstream.as_str());
            }
            if made.isolated {
                entry = entry.isolated();
            }
            builder = builder.tool(entry).policy_for(&made.name, made.policy.clone());
            if let Some(substitute) = &made.fallback {
                builder = builder.fallback(&made.name, Fallback::tool(substitute));
            }
            history.tools.push(made);
        }
        if self.chance.percent(30) {
            builder = builder.batching(Batching::WritesInOrder);
        }
        builder = builder.concurrency(usize::try_from(self.chance.from(1, 9)).unwrap());
        let guard = Arc::new(builder.build().unwrap());
        let _ = self.guard.set(Arc::downgrade(&guard));
        self.calls(&guard, &mut history).await;
        // What was left behind comes to its end.
        tokio::time::sleep(Duration::from_mins(1)).await;
        self.look_back(&guard, &mut history);
        history
    }

    fn look_back(&self, guard: &Guard, history: &mut History) {
        let mut log = self.log.lock().unwrap();
        history.starts = std::mem::take(&mut log.starts);
        history.records = std::mem::take(&mut log.records);
        history.sink_panics = log.sink_panics;
        history.lost_records = guard.lost_records();
        history.counted = guard.journal().counts().calls();
        for made in &history.tools {
            let gate = guard.toolbox().gate(Scope::Tool(&made.name)).unwrap();
            if (gate.running, gate.waiting) != (0, 0) {
                history.restless.push(format!("{}: {gate:?}", made.name));
            }
        }
        for (name, _) in &history.upstreams {
            if let Ok(gate) = guard.toolbox().gate(Scope::Upstream(name))
                && (gate.running, gate.waiting) != (0, 0)
            {
                history.restless.push(format!("{name}: {gate:?}"));
            }
        }
    }

    fn call(&mut self, history: &mut History) -> Call {
        let id = format!("call_{}", history.calls.len());
        history.calls.push(id.clone());
        let tool = if self.chance.percent(5) {
            "no_such_tool".to_owned()
        } else {
            let at = self.chance.from(0, history.tools.len() as u64);
            history.tools[usize::try_from(at).unwrap()].name.clone()
        };
        let arguments = self.chance.of(&["{}", r#"{"a": 1}"#, r#"{"a": 2}"#, "{cut off", "[1]"]);
        let call = Call::new(id, tool, arguments);
        match self.chance.from(0, 3) {
            0 => call,
            run => call.in_run(format!("run_{run}")),
        }
    }

    /// A model, or several, calling alone or in batches that may be stopped or dropped.
    async fn calls(&mut self, guard: &Arc<Guard>, history: &mut History) {
        let mut work: Vec<BoxFuture<'static, Vec<Reply>>> = Vec::new();
        for _ in 0..self.chance.from(1, 10) {
            let calls: Vec<Call> =
                (0..self.chance.from(1, 7)).map(|_| self.call(history)).collect();
            let after = self.chance.millis(0, 30_000);
            let patience = self.chance.millis(0, 15_000);
            let ids = calls.iter().map(|call| call.id.clone());
            let guard = Arc::clone(guard);
            let fate = self.chance.from(0, 10);
            if fate != 0 {
                history.awaited.extend(ids);
            }
            work.push(
                async move {
                    tokio::time::sleep(after).await;
                    match fate {
                        // Dropped in the middle.
                        0 => {
                            let _ = tokio::time::timeout(patience, guard.handle_all(calls)).await;
                            Vec::new()
                        }
                        1 | 2 => guard.handle_all_until(calls, tokio::time::sleep(patience)).await,
                        3 | 4 => {
                            let mut replies = Vec::new();
                            for call in calls {
                                replies.push(guard.handle(call).await);
                            }
                            replies
                        }
                        _ => guard.handle_all(calls).await,
                    }
                }
                .boxed(),
            );
        }
        // A batch that is dropped before it began never made its calls.
        let replies = join_all(work).await;
        history.replies = replies.into_iter().flatten().collect();
    }
}
