//! What the tables mean: plain data of the guard's, or why they mean nothing.

use super::file::{
    BreakerTable, BudgetTable, CallTable, FallbackTable, FaultTable, GateTable, PhraseTable,
    RepeatsTable, RetryTable, SecretTable, TroubleWord,
};
use super::words::Switch;
use crate::{
    Allowlist, BreakerRules, BudgetRules, Fallback, Fault, GateRules, PhraseRule, Policy,
    RepeatRules, Retry, SecretRule, Trouble,
};

/// Puts the fields that are given over those that are there.
macro_rules! put {
    ($from:expr => $to:expr; $( $field:ident $(as $name:ident)? ),+ $(,)?) => {
        $( if let Some(given) = $from.$field { put!(@ $to, $field $(, $name)?) = given.into(); } )+
    };
    (@ $to:expr, $field:ident) => { $to.$field };
    (@ $to:expr, $field:ident, $name:ident) => { $to.$name };
}

impl CallTable {
    pub(super) fn put_over(&self, policy: &mut Policy) {
        put!(self => policy; attempt_timeout, total_timeout, silent, checking, repair,
            max_arguments as max_argument_bytes, max_output as max_output_bytes);
        match &self.retry {
            None => {}
            Some(Switch::Off(_)) => policy.retry = Retry::never(),
            Some(Switch::On(table)) => table.put_over(&mut policy.retry),
        }
        match &self.repeats {
            None => {}
            Some(Switch::Off(_)) => policy.repeats = RepeatRules::never(),
            Some(Switch::On(table)) => table.put_over(&mut policy.repeats),
        }
        self.gate.put_over(&mut policy.gate);
    }
}

impl GateTable {
    pub(super) fn put_over(&self, rules: &mut GateRules) {
        put!(self => rules; queue, queue_timeout);
        switch(self.breaker.as_ref(), &mut rules.breaker, BreakerTable::put_over);
        switch(self.budget.as_ref(), &mut rules.budget, BudgetTable::put_over);
        match self.concurrency {
            None => {}
            Some(Switch::Off(_)) => rules.concurrency = None,
            Some(Switch::On(places)) => rules.concurrency = Some(places.0),
        }
    }
}

/// A table puts rules that were switched off on again.
fn switch<T, R: Default>(
    given: Option<&Switch<T>>,
    rules: &mut Option<R>,
    put_over: impl Fn(&T, &mut R),
) {
    match given {
        None => {}
        Some(Switch::Off(_)) => *rules = None,
        Some(Switch::On(table)) => put_over(table, rules.get_or_insert_default()),
    }
}

impl RetryTable {
    fn put_over(&self, retry: &mut Retry) {
        put!(self => retry; attempts, first_delay, max_delay);
    }
}

impl RepeatsTable {
    fn put_over(&self, rules: &mut RepeatRules) {
        put!(self => rules; warn_at, refuse_at, tool_failures, forget_after);
    }
}

impl BreakerTable {
    fn put_over(&self, rules: &mut BreakerRules) {
        put!(self => rules; consecutive, percent, floor, window, open_for, max_open, successes);
    }
}

impl BudgetTable {
    fn put_over(&self, rules: &mut BudgetRules) {
        put!(self => rules; percent, window, floor);
    }
}

impl FallbackTable {
    pub(super) fn fallback(&self, of: &str) -> Result<Fallback, String> {
        if self.tool.as_deref() == Some(of) {
            return Err("a tool is no substitute for itself".to_owned());
        }
        let fallback = match (&self.tool, &self.value, &self.arguments) {
            (Some(tool), None, None) => Fallback::tool(tool),
            (Some(tool), None, Some(arguments)) => {
                Fallback::tool(tool).arguments(arguments.clone())
            }
            (None, Some(value), None) => Fallback::value(value.clone()),
            (None, Some(_), Some(_)) => return Err("`arguments` go with `tool`".to_owned()),
            (Some(_), Some(_), _) => return Err("either `tool` or `value`, not both".to_owned()),
            (None, None, _) => {
                return Err("expected `tool` or `value`; both are missing".to_owned());
            }
        };
        Ok(match &self.on {
            Some(kinds) => fallback.on(kinds.iter().copied()),
            None => fallback,
        })
    }
}

impl PhraseTable {
    pub(super) fn rule(&self) -> PhraseRule {
        PhraseRule {
            id: self.id.clone(),
            kind: self.kind.name().to_owned(),
            phrases: self.phrases.iter().map(|phrase| phrase.0.clone()).collect(),
        }
    }
}

impl SecretTable {
    pub(super) fn rule(&self) -> SecretRule {
        let allowlists = self.allowlists.iter().map(|list| Allowlist {
            regexes: list.regexes.clone(),
            stopwords: list.stopwords.clone(),
        });
        SecretRule {
            id: self.id.clone(),
            regex: self.regex.clone(),
            secret_group: self.secret_group,
            keywords: self.keywords.clone(),
            entropy: self.entropy,
            allowlists: allowlists.collect(),
        }
    }
}

/// Trouble for the tools whose names fit.
#[derive(Clone, Debug)]
pub(super) struct FaultFor {
    tools: String,
    pub(super) fault: Fault,
}

impl FaultFor {
    /// `*` stands for any letters.
    pub(super) fn is_for(&self, tool: &str) -> bool {
        fits(&self.tools, tool)
    }
}

impl FaultTable {
    pub(super) fn fault(&self) -> Result<FaultFor, String> {
        let needs = |word: &str, key: &str| format!("`{word}` needs `{key}`");
        let trouble = match self.trouble {
            TroubleWord::Latency => {
                Trouble::Latency(self.time.ok_or_else(|| needs("latency", "time"))?.into())
            }
            TroubleWord::Hang => Trouble::Hang,
            TroubleWord::Fail => Trouble::Fail(self.kind.ok_or_else(|| needs("fail", "kind"))?),
            TroubleWord::Http => Trouble::Http {
                status: self.status.ok_or_else(|| needs("http", "status"))?,
                body: self.body.clone().unwrap_or_default(),
                retry_after: self.retry_after.map(Into::into),
            },
            TroubleWord::Garbage => Trouble::Garbage,
            TroubleWord::Truncated => Trouble::Truncated,
            TroubleWord::Panic => Trouble::Panic,
            TroubleWord::Flood => {
                Trouble::Flood(self.bytes.ok_or_else(|| needs("flood", "bytes"))?.into())
            }
        };
        self.nothing_else(&trouble)?;
        let mut fault = Fault::new(trouble);
        if let Some(probability) = self.probability {
            fault = fault.probability(probability);
        }
        if let Some(when) = &self.when {
            fault = fault.when(when.clone());
        }
        if let Some(seed) = self.seed {
            fault = fault.seed(seed);
        }
        Ok(FaultFor { tools: self.tool.clone(), fault })
    }

    /// A key that means nothing here was meant for something else.
    fn nothing_else(&self, trouble: &Trouble) -> Result<(), String> {
        let is_http = matches!(trouble, Trouble::Http { .. });
        let superfluous = [
            ("kind", self.kind.is_some() && !matches!(trouble, Trouble::Fail(_))),
            ("status", self.status.is_some() && !is_http),
            ("body", self.body.is_some() && !is_http),
            ("retry_after", self.retry_after.is_some() && !is_http),
            ("time", self.time.is_some() && !matches!(trouble, Trouble::Latency(_))),
            ("bytes", self.bytes.is_some() && !matches!(trouble, Trouble::Flood(_))),
        ];
        match superfluous.iter().find(|(_, is)| *is) {
            Some((key, _)) => Err(format!("`{}` has no `{key}`", trouble.name())),
            None => Ok(()),
        }
    }
}

/// Whether a name fits a pattern in which `*` stands for any letters.
fn fits(pattern: &str, name: &str) -> bool {
    let Some((head, tail)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut rest) = name.strip_prefix(head) else { return false };
    let mut parts: Vec<&str> = tail.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        match rest.split_once(part) {
            Some((_, behind)) => rest = behind,
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_letters() {
        for (pattern, name, expected) in [
            ("read", "read", true),
            ("read", "reads", false),
            ("*", "", true),
            ("*", "anything", true),
            ("github__*", "github__search", true),
            ("github__*", "gitlab__search", false),
            ("*_file", "read_file", true),
            ("*_file", "read_files", false),
            ("a*b*c", "a1b2c", true),
            ("a*b*c", "ac", false),
            ("a*a", "a", false),
            ("**", "x", true),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }
}
