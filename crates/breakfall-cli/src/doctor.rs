//! `breakfall doctor`: checks the configuration, starts each server, lists its tools, and tells what
//! is wrong and what to do.

use std::borrow::Cow;

use breakfall::Config;
use breakfall_mcp::{Health, Reach, Server, Session};
use clap::Args;

use crate::failed::Failed;
use crate::guard::{Guarded, block_on, redacted, stopped, watchdog};
use crate::kept::Kept;
use crate::telemetry;

/// The most lines of what a server wrote that are shown.
const SHOWN: usize = 8;

#[derive(Args)]
pub(crate) struct Doctor {
    #[command(flatten)]
    guarded: Guarded,
}

impl Doctor {
    pub(crate) fn run(self) -> Result<(), Failed> {
        let config = self.guarded.config()?;
        say!("ok    the configuration can be used");
        let servers = self.guarded.servers(&config)?;
        let (guard, _kept) = Guarded::guard(&config, &servers)?;
        if servers.servers.is_empty() {
            say!("ok    no server is configured: the files of this directory are served");
        }
        let described = servers.servers.clone();
        let bad = block_on(async {
            let session = Session::alone(servers, guard, watchdog().as_ref()).map_err(stopped)?;
            let tools = session.tools().await;
            let mut bad = 0;
            for (server, (key, health)) in described.iter().zip(session.upstreams()) {
                bad += usize::from(!health.is_up);
                tell(server, &health);
                for remark in session.remarks(key) {
                    say!("warn  {key}: {remark}");
                }
            }
            let names: Vec<&str> = tools.iter().map(|spec| spec.name.as_str()).collect();
            tell_of_names(&config, &names, &described, bad == 0);
            session.end().await;
            Kept::tell(&config).await;
            telemetry::tell(&config).await?;
            Ok(bad)
        })??;
        match (bad, described.len()) {
            (0, _) => Ok(()),
            (bad, all) => Err(Failed::new(format!("{bad} of {all} servers cannot be used"))),
        }
    }
}

/// One server, in one line where all is well.
fn tell(server: &Server, health: &Health) {
    let key = &server.key;
    if health.is_up {
        let name = health.name.as_deref().unwrap_or("a server without a name");
        let took = health.took.map(|took| format!(", up in {:.1} s", took.as_secs_f64()));
        let trust = match (&server.reach, server.is_trusted) {
            (Reach::Address(_), false) => {
                "; its hints are not trusted, so no call of its tools is repeated"
            }
            _ => "",
        };
        let tools = if health.tools == 1 { "tool" } else { "tools" };
        say!("ok    {key}: {name}, {} {tools}{}{trust}", health.tools, took.unwrap_or_default());
        if health.garbage > 0 {
            say!("warn  {key}: {} lines of its output are no messages", health.garbage);
        }
        return;
    }
    let why = health.why.as_deref().unwrap_or("it is still starting after 10 s");
    let why = redacted(why);
    let mut lines = why.lines().filter(|line| !line.trim().is_empty());
    say!("FAIL  {key}: {}", lines.next().unwrap_or_default());
    let rest: Vec<&str> = lines.collect();
    for line in &rest[rest.len().saturating_sub(SHOWN)..] {
        say!("        {line}");
    }
    say!("      next: {}", next(&server.reach, &why));
}

/// What a person can do about a server that is not there.
fn next(reach: &Reach, why: &str) -> String {
    match reach {
        Reach::Command(command) if why.contains("did not start") => {
            format!("install `{}`, or give its full path", command.program)
        }
        Reach::Command(command)
            if why.contains("said nothing") || why.contains("still starting") =>
        {
            format!("`{}` must speak MCP on its standard output", command.program)
        }
        Reach::Command(command) => {
            let words = [&command.program].into_iter().chain(&command.arguments);
            let words: Vec<_> = words.map(|word| for_a_shell(word)).collect();
            format!("run `{}` by itself and mend what it says", redacted(&words.join(" ")))
        }
        Reach::Address(_) if why.contains("status 401") || why.contains("status 403") => {
            "put a token that it accepts into its `headers`".to_owned()
        }
        Reach::Address(_) if why.contains("status 404") || why.contains("status 405") => {
            "its address may lack a path: most servers are at `/mcp`".to_owned()
        }
        Reach::Address(_) => "start it, or mend its address".to_owned(),
    }
}

/// A word as a shell takes it for one.
fn for_a_shell(word: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.into();
    }
    format!("'{}'", word.replace('\'', r"'\''")).into()
}

/// What the configuration speaks of and nobody has.
fn tell_of_names(config: &Config, tools: &[&str], servers: &[Server], are_all_there: bool) {
    for name in config.named_upstreams() {
        if !servers.iter().any(|server| server.key == name) {
            say!("warn  `upstreams.{name}` is configured, and there is no such server");
        }
    }
    // Of servers that are not there nobody knows the tools.
    if are_all_there {
        for name in config.tools().filter(|name| !tools.contains(name)) {
            say!("warn  `tools.{name}` is configured, and no server has this tool");
        }
    }
}
