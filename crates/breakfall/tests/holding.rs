//! Deadlines, retries, breakers, budgets and places, through the guard. The clock is paused.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use breakfall::{
    Arguments, Batching, Block, BoxFuture, BreakerRules, BreakerState, BudgetRules, Call, Context,
    Detail, Effect, Failure, FailureKind, GateRules, Guard, Outcome, Output, Policy, RepeatRules,
    Reply, Retry, Scope, Tool, ToolSpec, TripCause, Turned, Whose, function_with,
};
use breakfall_test::{Recorder, Script, Step};
use serde_json::Value;
use tokio::time::Instant;

fn call(tool: &str) -> Call {
    Call::new("1", tool, "{}")
}

/// Calls that differ, so that no loop is seen in them.
fn other(tool: &str, n: usize) -> Call {
    Call::new(n.to_string(), tool, serde_json::json!({ "n": n }))
}

fn block(reply: &Reply) -> Option<Block> {
    match reply.report().failure()?.detail {
        Detail::Blocked(block) => Some(block),
        _ => None,
    }
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_may_pass_is_tried_again_and_the_record_tells_each_try() {
    let recorder = Recorder::new();
    let (tool, calls) =
        Script::new("t").fails(FailureKind::Upstream).fails(FailureKind::Network).counted();
    let tool = tool.effect(Effect::ReadOnly);
    let guard = Guard::builder().tool(tool).sink(recorder.sink()).seed(1).build().unwrap();
    let reply = guard.handle(call("t")).await;
    assert_eq!((reply.kind(), reply.attempts), (Some(FailureKind::Network), 3));
    assert_eq!(calls.load(Relaxed), 3);
    assert!(reply.text.starts_with("`t` could not reach its service (3 attempts)."), "{reply:?}");
    let record = recorder.records().remove(0);
    assert_eq!(record.attempts, 3);
    let kinds: Vec<_> = record.tries.iter().map(|tried| tried.kind.name()).collect();
    assert_eq!(kinds, ["upstream", "network", "network"]);
    let waits: Vec<_> = record.tries.iter().map(|tried| tried.waited).collect();
    assert!(waits[0].unwrap() <= Duration::from_millis(250), "{waits:?}");
    assert!(waits[1].unwrap() <= Duration::from_millis(500), "{waits:?}");
    assert_eq!(waits[2], None);
}

#[tokio::test(start_paused = true)]
async fn kind_and_effect_decide_on_a_second_attempt() {
    use Effect::{Idempotent, Once, ReadOnly};
    use FailureKind as K;
    for (effect, kind, attempts) in [
        (ReadOnly, K::Upstream, 3),
        (Idempotent, K::Timeout, 3),
        (Once, K::Upstream, 1),
        (Once, K::Timeout, 1),
        (Once, K::RateLimited, 1),
        // The specimen of `network` never reached its tool.
        (Once, K::Network, 3),
        (ReadOnly, K::InvalidOutput, 2),
        (ReadOnly, K::NotFound, 1),
        (ReadOnly, K::Execution, 1),
        (ReadOnly, K::Unavailable, 1),
    ] {
        let (tool, calls) = Script::new("t").effect(effect).fails(kind).counted();
        let guard = Guard::builder().tool(tool).build().unwrap();
        let reply = guard.handle(call("t")).await;
        assert_eq!(reply.kind(), Some(kind));
        assert_eq!(calls.load(Relaxed), attempts, "{effect:?} {kind}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_once_tool_whose_outcome_is_unknown_is_not_repeated_and_the_text_says_to_verify() {
    let (tool, calls) = Script::new("pay").effect(Effect::Once).hangs().counted();
    let guard = Guard::builder().tool(tool).build().unwrap();
    let reply = guard.handle(call("pay")).await;
    assert_eq!(calls.load(Relaxed), 1);
    assert!(reply.text.contains("it may have taken effect.\nCheck its result before"), "{reply:?}");
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_fits_is_waited_and_one_that_does_not_is_told() {
    struct Limited(Duration, std::sync::atomic::AtomicU32);
    impl Tool for Limited {
        fn call<'a>(&'a self, _: &'a Arguments, _: Context<'a>) -> BoxFuture<'a, Outcome> {
            let first = self.1.fetch_add(1, Relaxed) == 0;
            let wait = self.0;
            Box::pin(async move {
                if first { Err(Failure::rate_limited(Some(wait))) } else { Ok(Output::text("ok")) }
            })
        }
    }
    let guard = |wait| {
        let tool = ToolSpec::new("t", "").effect(Effect::ReadOnly).tool(Limited(wait, 0.into()));
        Guard::builder().tool(tool).build().unwrap()
    };
    let began = Instant::now();
    assert_eq!(guard(seconds(20)).handle(call("t")).await.text, "ok");
    assert_eq!(began.elapsed(), seconds(20));
    let began = Instant::now();
    let reply = guard(seconds(120)).handle(call("t")).await;
    assert!(reply.text.contains("Wait 2 min before calling it again."), "{}", reply.text);
    assert_eq!(began.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn the_total_time_holds_over_attempts_and_waits() {
    let guard = Guard::builder().tool(Script::new("t").hangs().tool()).build().unwrap();
    let began = Instant::now();
    let reply = guard.handle(call("t")).await;
    assert_eq!(began.elapsed(), seconds(55));
    assert!(reply.text.starts_with("`t` gave no answer within 55 s (2 attempts)."), "{reply:?}");
}

#[tokio::test(start_paused = true)]
async fn progress_starts_an_attempts_time_anew_but_never_the_total() {
    let ticking = |ticks: usize| {
        let tool = function_with("t", "", move |_: Value, progress| async move {
            for _ in 0..ticks {
                tokio::time::sleep(seconds(20)).await;
                progress.tick();
            }
            Ok::<_, Failure>("done")
        });
        let policy = Policy { total_timeout: seconds(100), ..Policy::default() };
        Guard::builder().policy(policy).tool(tool).build().unwrap()
    };
    assert_eq!(ticking(4).handle(call("t")).await.text, "done");
    let began = Instant::now();
    let reply = ticking(100).handle(call("t")).await;
    assert!(reply.text.starts_with("`t` gave no answer within 100 s; it may"), "{}", reply.text);
    assert_eq!(began.elapsed(), seconds(100));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_that_cannot_be_stopped_is_left_behind_counted_and_not_tried_again() {
    let seen = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let tool = {
        let seen = Arc::clone(&seen);
        breakfall::blocking_with("deaf", "", move |_: Value, progress| {
            std::thread::sleep(Duration::from_millis(400));
            seen.store(progress.is_wanted(), Relaxed);
            Ok::<_, Failure>("late")
        })
        .effect(Effect::ReadOnly)
    };
    let policy = Policy { attempt_timeout: Duration::from_millis(50), ..Policy::default() };
    let guard = Guard::builder().policy(policy).tool(tool).build().unwrap();
    seen.store(true, Relaxed);
    let reply = guard.handle(call("deaf")).await;
    assert_eq!((reply.kind(), reply.attempts), (Some(FailureKind::Timeout), 1));
    assert_eq!(guard.stragglers(), (1, 0));
    tokio::time::sleep(Duration::from_millis(600)).await;
    assert_eq!(guard.stragglers(), (0, 1));
    assert!(!seen.load(Relaxed), "it could have known that nobody waits");
}

#[tokio::test(start_paused = true)]
async fn a_task_that_stops_when_told_is_no_straggler_and_is_tried_again() {
    let (tool, calls) = Script::new("t").hangs().counted();
    let policy = Policy { attempt_timeout: seconds(1), ..Policy::default() };
    let guard = Guard::builder().policy(policy).tool(tool.isolated()).build().unwrap();
    let reply = guard.handle(call("t")).await;
    assert_eq!((reply.attempts, calls.load(Relaxed)), (3, 3));
    assert_eq!(guard.stragglers(), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn the_budget_of_an_upstream_bounds_the_repeats_of_all_its_tools() {
    let (a, first) = Script::new("a").fails(FailureKind::Upstream).counted();
    let (b, second) = Script::new("b").fails(FailureKind::Upstream).counted();
    let rules = GateRules {
        breaker: None,
        budget: Some(BudgetRules { percent: 20, floor: 3, ..BudgetRules::default() }),
        ..GateRules::upstream()
    };
    let open = GateRules { breaker: None, ..GateRules::default() };
    let policy = Policy {
        gate: open,
        retry: Retry { first_delay: Duration::ZERO, ..Retry::default() },
        ..Policy::default()
    };
    let guard = Guard::builder()
        .policy(policy)
        .upstream("github", rules)
        .tools([a.upstream("github"), b.upstream("github")])
        .build()
        .unwrap();
    for n in 0..20 {
        guard.handle(other(if n % 2 == 0 { "a" } else { "b" }, n)).await;
    }
    let repeats = first.load(Relaxed) + second.load(Relaxed) - 20;
    assert_eq!(repeats, 4, "20 % of 20 calls");
}

#[tokio::test(start_paused = true)]
async fn a_breaker_rests_probes_once_and_closes_after_two_successes() {
    let steps = (0..6).fold(Script::new("t").effect(Effect::Once), |script, _| {
        script.fails(FailureKind::Upstream)
    });
    let (tool, calls) = steps.answers("back").counted();
    let recorder = Recorder::new();
    let guard = Guard::builder().tool(tool).sink(recorder.sink()).build().unwrap();
    for n in 0..5 {
        assert_eq!(guard.handle(other("t", n)).await.kind(), Some(FailureKind::Upstream));
    }
    let held = guard.handle(other("t", 5)).await;
    assert_eq!(
        (held.kind(), block(&held)),
        (Some(FailureKind::Unavailable), Some(Block::BreakerOpen))
    );
    assert!(held.text.starts_with("`t` cannot be used now.\nWait 30 s before"), "{}", held.text);
    assert_eq!(calls.load(Relaxed), 5);
    // The probe fails: it rests twice as long.
    tokio::time::advance(seconds(30)).await;
    assert_eq!(guard.handle(other("t", 6)).await.kind(), Some(FailureKind::Upstream));
    tokio::time::advance(seconds(59)).await;
    assert_eq!(guard.handle(other("t", 7)).await.kind(), Some(FailureKind::Unavailable));
    tokio::time::advance(seconds(1)).await;
    assert_eq!(guard.handle(other("t", 8)).await.text, "back");
    assert_eq!(guard.toolbox().gate(Scope::Tool("t")).unwrap().breaker, BreakerState::HalfOpen);
    assert_eq!(guard.handle(other("t", 9)).await.text, "back");
    let gate = guard.toolbox().gate(Scope::Tool("t")).unwrap();
    assert_eq!((gate.breaker, gate.tripped), (BreakerState::Closed, 2));
    assert_eq!(gate.trips[0].cause, TripCause::Consecutive(5));
    assert_eq!((gate.trips[1].cause, gate.trips[1].open_for), (TripCause::Probe, seconds(60)));
    assert_eq!(gate.trips[1].kind, FailureKind::Upstream);
    let records = recorder.records();
    let turned: Vec<_> = records
        .iter()
        .enumerate()
        .flat_map(|(n, record)| record.turned.iter().map(move |turned| (n, *turned)))
        .collect();
    let [first, second] = [0, 1].map(|n| Turned::Opened(gate.trips[n]));
    let of_tool = |turned| (Whose::Tool, turned);
    assert_eq!(turned, [(4, of_tool(first)), (6, of_tool(second)), (9, of_tool(Turned::Closed))]);
}

#[tokio::test(start_paused = true)]
async fn only_trouble_of_the_tool_counts_against_it() {
    for kind in [
        FailureKind::NotFound,
        FailureKind::InvalidArguments,
        FailureKind::Permission,
        FailureKind::Execution,
        FailureKind::RateLimited,
        FailureKind::Authentication,
    ] {
        let (tool, calls) = Script::new("t").effect(Effect::Once).fails(kind).counted();
        let guard = Guard::builder().tool(tool).build().unwrap();
        for n in 0..19 {
            guard.handle(other("t", n)).await;
        }
        assert_eq!(calls.load(Relaxed), 19, "{kind}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_answers_is_there_whatever_its_tool_could_not_reach() {
    let fetch = function_with("fetch", "", |asked: Value, _| async move {
        let address = &asked["n"];
        Err::<String, _>(Failure::told(format!("fetch http://a{address}: connection refused")))
    });
    let echo = Script::new("echo").answers("fine").tool();
    let tools = [fetch.upstream("s"), echo.upstream("s")];
    let guard = Guard::builder().tools(tools).build().unwrap();
    for n in 0..12 {
        guard.handle(other("fetch", n)).await;
    }
    assert_eq!(guard.handle(call("echo")).await.text, "fine");
}

#[tokio::test(start_paused = true)]
async fn one_loss_of_a_server_counts_once_however_many_calls_were_under_way() {
    let tool = function_with("work", "", |_: Value, _| async move {
        tokio::time::sleep(seconds(1)).await;
        Err::<String, _>(Failure::gone("its server stopped"))
    });
    let echo = Script::new("echo").answers("fine").tool();
    let tools = [tool.upstream("s"), echo.upstream("s")];
    let guard = Guard::builder().tools(tools).build().unwrap();
    let state = || guard.toolbox().gate(Scope::Upstream("s")).unwrap().breaker;
    for losses in 1..=5 {
        // Each in a run of its own: one run would not go on with the tool.
        let call = |n: usize| other("work", 100 * losses + n).in_run(format!("{losses} {n}"));
        guard.handle_all((0..16).map(call).collect()).await;
        let is_open = matches!(state(), BreakerState::Open { .. });
        assert_eq!(is_open, losses == 5, "{losses}: {:?}", state());
    }
}

#[tokio::test(start_paused = true)]
async fn an_upstream_that_is_gone_rests_with_all_its_tools_and_one_slow_tool_does_not() {
    let guard = |kind| {
        Guard::builder()
            .tools([
                Script::new("bad").effect(Effect::Once).fails(kind).tool().upstream("s"),
                Script::new("good").answers("fine").tool().upstream("s"),
            ])
            .policy(Policy { retry: Retry::never(), ..Policy::default() })
            .build()
            .unwrap()
    };
    let gone = guard(FailureKind::Network);
    for n in 0..5 {
        gone.handle(other("bad", n)).await;
    }
    let reply = gone.handle(call("good")).await;
    assert_eq!(block(&reply), Some(Block::UpstreamBreakerOpen));
    let slow = guard(FailureKind::Timeout);
    for n in 0..9 {
        slow.handle(other("bad", n)).await;
    }
    assert_eq!(slow.handle(call("good")).await.text, "fine");
    assert_eq!(block(&slow.handle(call("bad")).await), Some(Block::BreakerOpen));
}

#[tokio::test]
async fn a_breaker_is_opened_closed_and_reset_by_hand() {
    let guard = Guard::builder().tool(Script::new("t").answers("ok").tool()).build().unwrap();
    let scope = Scope::Tool("t");
    guard.toolbox().open_breaker(scope).unwrap();
    let reply = guard.handle(call("t")).await;
    assert_eq!(block(&reply), Some(Block::BreakerOpen));
    assert!(reply.text.contains("Use another tool or go on without it."), "{}", reply.text);
    assert_eq!(guard.toolbox().gate(scope).unwrap().breaker, BreakerState::Held);
    guard.toolbox().close_breaker(scope).unwrap();
    assert_eq!(guard.handle(call("t")).await.text, "ok");
    guard.toolbox().reset_breaker(scope).unwrap();
    let error = guard.toolbox().open_breaker(Scope::Upstream("nobody")).unwrap_err();
    assert_eq!(error.to_string(), "no tool belongs to an upstream named `nobody`");
}

#[tokio::test(start_paused = true)]
async fn places_are_bounded_the_queue_too_and_nobody_waits_for_ever() {
    let slow = Step::Slow(seconds(2), "done".to_owned());
    let gate = GateRules { concurrency: Some(2), queue: 3, ..GateRules::default() };
    let guard = Guard::builder()
        .policy(Policy { gate, ..Policy::default() })
        .tool(Script::new("t").step(slow).tool())
        .build()
        .unwrap();
    let replies = guard.handle_all((0..8).map(|n| other("t", n)).collect()).await;
    let done = replies.iter().filter(|reply| reply.text == "done").count();
    let full = replies.iter().filter(|reply| block(reply) == Some(Block::QueueFull)).count();
    // Two at once; of the three that wait all have their turn within five seconds.
    assert_eq!((done, full), (5, 3));
    assert_eq!(guard.toolbox().gate(Scope::Tool("t")).unwrap().running, 0);
    let replies = guard.handle_all((0..5).map(|n| other("t", n)).collect()).await;
    assert!(replies.iter().all(|reply| reply.text == "done"), "every place was given back");
}

#[tokio::test(start_paused = true)]
async fn writes_run_one_after_another_when_asked_for() {
    let log = Arc::new(std::sync::Mutex::new(Vec::new()));
    let tool = |name: &'static str, effect| {
        let log = Arc::clone(&log);
        function_with(name, "", move |_: Value, _| {
            let log = Arc::clone(&log);
            async move {
                log.lock().unwrap().push(format!("+{name}"));
                tokio::time::sleep(seconds(1)).await;
                log.lock().unwrap().push(format!("-{name}"));
                Ok::<_, Failure>("")
            }
        })
        .effect(effect)
    };
    let guard = Guard::builder()
        .tools([tool("read", Effect::ReadOnly), tool("write", Effect::Once)])
        .batching(Batching::WritesInOrder)
        .build()
        .unwrap();
    let calls = ["read", "read", "write", "write", "read"].map(call).to_vec();
    guard.handle_all(calls).await;
    let expected = "+read +read -read -read +write -write +write -write +read -read";
    assert_eq!(log.lock().unwrap().join(" "), expected);
}

#[tokio::test(start_paused = true)]
async fn a_batch_that_is_stopped_keeps_what_is_done_and_answers_the_rest() {
    let recorder = Recorder::new();
    let guard = Guard::builder()
        .tool(Script::new("quick").answers("done").tool())
        .tool(Script::new("slow").effect(Effect::Once).hangs().tool())
        .tool(Script::new("reads").hangs().tool().isolated())
        .sink(recorder.sink())
        .concurrency(3)
        .build()
        .unwrap();
    let calls = ["quick", "slow", "reads", "slow", "quick"];
    let calls = calls.iter().enumerate().map(|(n, tool)| other(tool, n)).collect();
    let replies = guard.handle_all_until(calls, tokio::time::sleep(seconds(3))).await;
    let ids: Vec<_> = replies.iter().map(|reply| reply.id.as_str()).collect();
    assert_eq!(ids, ["0", "1", "2", "3", "4"]);
    assert_eq!(replies[0].text, "done");
    let texts: Vec<_> =
        replies[1..4].iter().map(|reply| reply.text.lines().next().unwrap()).collect();
    assert_eq!(texts[0], "`slow` was stopped before it finished; it may have taken effect.");
    assert_eq!(texts[1], "`reads` was stopped before it finished.");
    assert_eq!(texts[2], "`slow` was stopped before it finished; it may have taken effect.");
    assert_eq!(recorder.records().len(), 5);
    tokio::time::sleep(seconds(1)).await;
    assert_eq!(guard.stragglers(), (0, 0), "the task was stopped, too");
}

#[tokio::test(start_paused = true)]
async fn calls_of_a_dropped_batch_leave_their_records() {
    let recorder = Recorder::new();
    let guard = Guard::builder()
        .tool(Script::new("slow").hangs().tool())
        .sink(recorder.sink())
        .concurrency(1)
        .build()
        .unwrap();
    let calls = (0..4).map(|n| other("slow", n)).collect();
    let batch = guard.handle_all(calls);
    assert!(tokio::time::timeout(seconds(1), batch).await.is_err());
    let mut endings = recorder.endings();
    endings.sort();
    assert_eq!(
        endings,
        ["abandoned", "failed: cancelled", "failed: cancelled", "failed: cancelled"]
    );
}

#[tokio::test(start_paused = true)]
async fn rules_that_are_off_are_off() {
    let (tool, calls) = Script::new("t").fails(FailureKind::Upstream).counted();
    let guard = Guard::builder().policy(Policy::bare()).tool(tool).build().unwrap();
    for _ in 0..100 {
        guard.handle(call("t")).await;
    }
    assert_eq!(calls.load(Relaxed), 100);
}

#[tokio::test(start_paused = true)]
async fn a_rate_of_failures_opens_a_breaker_that_no_row_of_them_would() {
    let script = (0..20).fold(Script::new("t").effect(Effect::Once), |script, n| {
        if n % 2 == 0 { script.fails(FailureKind::Upstream) } else { script.answers("ok") }
    });
    let breaker = Some(BreakerRules { consecutive: 3, ..BreakerRules::default() });
    let policy = Policy {
        gate: GateRules { breaker, ..GateRules::default() },
        repeats: RepeatRules::never(),
        ..Policy::default()
    };
    let guard = Guard::builder().policy(policy).tool(script.tool()).build().unwrap();
    let mut calls = 0;
    while guard.handle(call("t")).await.kind() != Some(FailureKind::Unavailable) {
        calls += 1;
    }
    let gate = guard.toolbox().gate(Scope::Tool("t")).unwrap();
    assert_eq!(gate.trips[0].cause, TripCause::Rate { failed: 6, of: 11 });
    assert_eq!(calls, 11);
}

#[tokio::test(start_paused = true)]
async fn the_clock_stands_while_a_tool_waits_for_a_person() {
    let tool = function_with("ask", "", |_: Value, progress| async move {
        tokio::time::sleep(seconds(20)).await;
        let held = progress.hold();
        tokio::time::sleep(seconds(600)).await;
        drop(held);
        tokio::time::sleep(seconds(9)).await;
        Ok::<_, Failure>("answered")
    });
    let guard = Guard::builder().tool(tool).build().unwrap();
    assert_eq!(guard.handle(call("ask")).await.text, "answered");
    let slow = function_with("ask", "", |_: Value, progress| async move {
        drop(progress.hold());
        tokio::time::sleep(seconds(31)).await;
        Ok::<_, Failure>("too late")
    });
    let guard = Guard::builder().tool(slow).build().unwrap();
    assert_eq!(guard.handle(call("ask")).await.kind(), Some(FailureKind::Timeout));
}

#[tokio::test(start_paused = true)]
async fn the_longest_and_the_shortest_times_there_are_break_nothing() {
    for time in [Duration::MAX, Duration::ZERO] {
        let breaker = BreakerRules {
            consecutive: 0,
            percent: 0,
            floor: 0,
            window: time,
            open_for: time,
            max_open: time,
            successes: 0,
        };
        let gate = GateRules {
            breaker: Some(breaker),
            budget: Some(BudgetRules { percent: u32::MAX, window: time, floor: u32::MAX }),
            concurrency: Some(0),
            queue: 0,
            queue_timeout: time,
        };
        let policy = Policy {
            attempt_timeout: time,
            total_timeout: time,
            retry: Retry { attempts: u32::MAX, first_delay: time, max_delay: time },
            gate: gate.clone(),
            repeats: RepeatRules { warn_at: 0, refuse_at: 0, tool_failures: 0, forget_after: time },
            ..Policy::default()
        };
        let guard = Guard::builder()
            .policy(policy)
            .upstream("s", gate)
            .tool(Script::new("ok").answers("fine").tool().upstream("s"))
            .tool(Script::new("bad").fails(FailureKind::Upstream).tool())
            .tool(Script::new("slow").step(Step::Slow(seconds(1), "done".to_owned())).tool())
            .build()
            .unwrap();
        assert_eq!(guard.handle(call("ok")).await.text, "fine");
        for tool in ["bad", "slow"] {
            let patience = tokio::time::sleep(Duration::from_secs(1 << 20));
            let reply = guard.handle_until(call(tool), patience).await;
            assert_ne!(reply.kind(), Some(FailureKind::Broken), "{tool} {time:?}: {reply:?}");
        }
    }
}
