//! What must always be true of what happened.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use breakfall::{Block, Detail, Effect, FailureKind, GateRules};

use crate::world::{History, Made};

type Checked = Result<(), String>;

pub(crate) fn check(history: &History) -> Checked {
    every_call_is_answered_once(history)?;
    records_and_losses_are_exact(history)?;
    attempts_are_bounded(history)?;
    nothing_dispatched_is_done_twice(history)?;
    breakers_hold(history)?;
    what_is_refused_does_not_run(history)?;
    time_is_kept(history)?;
    budgets_hold(history)?;
    match history.restless.first() {
        Some(gate) => Err(format!("a place was not given back: {gate}")),
        None => Ok(()),
    }
}

fn expect(truth: bool, words: impl FnOnce() -> String) -> Checked {
    if truth { Ok(()) } else { Err(words()) }
}

fn tool<'h>(history: &'h History, name: &str) -> Option<&'h Made> {
    history.tools.iter().find(|made| made.name == name)
}

fn every_call_is_answered_once(history: &History) -> Checked {
    let mut answered: HashMap<&str, u32> = HashMap::new();
    for reply in &history.replies {
        *answered.entry(&reply.id).or_default() += 1;
        expect(!reply.text.is_empty() || !reply.is_error, || format!("{} says nothing", reply.id))?;
    }
    for id in &history.awaited {
        let times = answered.remove(id.as_str()).unwrap_or_default();
        expect(times == 1, || format!("{id} was answered {times} times"))?;
    }
    expect(answered.is_empty(), || format!("answered without a call: {answered:?}"))
}

/// Each call leaves one record; a sink that panics loses it for itself and is counted.
fn records_and_losses_are_exact(history: &History) -> Checked {
    let mut recorded: BTreeMap<&str, u32> = BTreeMap::new();
    for taken in &history.records {
        *recorded.entry(&taken.record.id).or_default() += 1;
    }
    for id in &history.calls {
        let times = recorded.remove(id.as_str()).unwrap_or_default();
        expect(times == 1, || format!("{id} left {times} records"))?;
    }
    expect(recorded.is_empty(), || format!("records without a call: {recorded:?}"))?;
    let calls = history.calls.len() as u64;
    expect(history.counted == calls, || format!("{} counted of {calls}", history.counted))?;
    expect(history.lost_records == history.sink_panics, || {
        format!("{} losses told of {}", history.lost_records, history.sink_panics)
    })
}

fn attempts_are_bounded(history: &History) -> Checked {
    for taken in &history.records {
        let record = &taken.record;
        let Some(made) = tool(history, &record.tool) else { continue };
        let substitute = made.fallback.as_ref().and_then(|name| tool(history, name));
        for made in [Some(made), substitute].into_iter().flatten() {
            let starts = history
                .starts
                .iter()
                .filter(|start| start.call == record.id && start.tool == made.name)
                .count();
            let most = made.policy.retry.attempts as usize;
            expect(starts <= most, || {
                format!("{}: {starts} attempts at {} of {most}", record.id, made.name)
            })?;
        }
        let starts = history.starts.iter().filter(|start| start.call == record.id).count();
        let attempts = record.attempts as usize;
        // A task of its own that is stopped before its first turn never starts.
        expect(starts <= attempts, || format!("{}: {starts} starts, {attempts} told", record.id))?;
    }
    Ok(())
}

fn nothing_dispatched_is_done_twice(history: &History) -> Checked {
    let mut dispatched: HashMap<(&str, &str), &'static str> = HashMap::new();
    for start in &history.starts {
        let once = tool(history, &start.tool).is_some_and(|made| made.effect == Effect::Once);
        if !once {
            continue;
        }
        let key = (start.call.as_str(), start.tool.as_str());
        expect(!dispatched.contains_key(&key), || {
            format!("{} was dispatched again to {}, which is done once", start.call, start.tool)
        })?;
        if !start.never_dispatched {
            dispatched.insert(key, "dispatched");
        }
    }
    Ok(())
}

fn breakers_hold(history: &History) -> Checked {
    match history.starts.iter().find_map(|start| start.wrong.as_ref()) {
        Some(wrong) => Err(wrong.clone()),
        None => Ok(()),
    }
}

fn what_is_refused_does_not_run(history: &History) -> Checked {
    for reply in &history.replies {
        let Some(failure) = reply.report().failure() else { continue };
        let refused = match (failure.kind, &failure.detail) {
            (FailureKind::Repeated | FailureKind::UnknownTool, _) => failure.substitute.is_none(),
            (_, Detail::NotStarted) => true,
            (FailureKind::Unavailable, Detail::Blocked(block)) => {
                *block != Block::Declared && failure.substitute.is_none()
            }
            _ => false,
        };
        let ran = history.starts.iter().any(|start| start.call == reply.id);
        expect(!(refused && ran), || format!("{} was refused and ran: {failure:?}", reply.id))?;
    }
    Ok(())
}

/// The total holds, but for the moment in which a task is given the chance to stop.
fn time_is_kept(history: &History) -> Checked {
    for taken in &history.records {
        let record = &taken.record;
        let Some(made) = tool(history, &record.tool) else { continue };
        let most = made.policy.total_timeout + Duration::from_millis(500);
        expect(record.took <= most, || {
            format!("{} took {:?} of {most:?}", record.id, record.took)
        })?;
    }
    Ok(())
}

/// Repeats are no more than their share. A window drops what is old a tenth at a time: it counts at
/// least nine tenths of its width, and never more than all of it.
fn budgets_hold(history: &History) -> Checked {
    let mut gates: Vec<(Vec<&Made>, &GateRules)> = Vec::new();
    for (name, rules) in &history.upstreams {
        let of = |made: &&Made| made.upstream.as_ref() == Some(name);
        gates.push((history.tools.iter().filter(of).collect(), rules));
    }
    for made in history.tools.iter().filter(|made| made.upstream.is_none()) {
        gates.push((vec![made], &made.policy.gate));
    }
    for (tools, rules) in gates {
        let Some(budget) = &rules.budget else { continue };
        let mut calls = Vec::new();
        let mut anytime = 0;
        let mut repeats = Vec::new();
        for taken in &history.records {
            let record = &taken.record;
            let began = taken.at.saturating_sub(record.took);
            let is_ours = |name: &str| tools.iter().any(|made| made.name == name);
            if is_ours(&record.tool) {
                calls.push(began);
            }
            let substitute = tool(history, &record.tool).and_then(|made| made.fallback.as_deref());
            if substitute.is_some() {
                // Whose repeats these are the record does not tell, nor when a substitute began.
                anytime += usize::from(substitute.is_some_and(is_ours));
                continue;
            }
            if is_ours(&record.tool) {
                let waited = record.tries.iter().filter(|tried| tried.waited.is_some());
                repeats.extend(waited.map(|tried| began + tried.began + tried.took));
            }
        }
        for at in &repeats {
            let within = |times: &[Duration], width: Duration| {
                times.iter().filter(|time| **time <= *at && **time + width > *at).count()
            };
            let spent = within(&repeats, budget.window.mul_f64(0.9));
            let share = (within(&calls, budget.window) + anytime) * budget.percent as usize / 100;
            let most = share.max(budget.floor as usize);
            expect(spent <= most, || {
                format!("{spent} repeats within {:?} of {most} at {at:?}", budget.window)
            })?;
        }
    }
    Ok(())
}
