//! What of a server's description is a secret: it goes out of whatever is told of the server.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use breakfall::{Redactor, secret_in_header, secrets_in_variable};

use super::{Address, Command, Reach, Server};

impl Server {
    /// What must never be shown: the values of headers, and of variables with a secret's name.
    pub(crate) fn secrets(&self) -> BTreeSet<String> {
        match &self.reach {
            Reach::Command(command) => command.secrets(),
            Reach::Address(address) => address.secrets().map(ToOwned::to_owned).collect(),
        }
    }

    /// Takes them out.
    pub(crate) fn redactor(&self) -> Redactor {
        let mut redactor = Redactor::default();
        for secret in self.secrets() {
            redactor.add_value(secret);
        }
        redactor
    }
}

impl Command {
    /// Of its own variables, and of ours where it gets those: a client hands us what it was told to
    /// hand to the server.
    fn secrets(&self) -> BTreeSet<String> {
        let inherited: BTreeMap<String, String> = if self.inherits_variables {
            let ours = std::env::vars_os();
            let ours = ours.filter_map(|(name, value)| {
                Some((name.into_string().ok()?, value.into_string().ok()?))
            });
            ours.filter(|(name, _)| !self.withheld.contains(name)).collect()
        } else {
            BTreeMap::new()
        };
        let all = self.variables.iter().chain(&inherited);
        all.flat_map(|(name, value)| in_variable(name, value)).map(ToOwned::to_owned).collect()
    }
}

impl Address {
    fn secrets(&self) -> impl Iterator<Item = &str> {
        self.headers.iter().filter_map(|(name, value)| secret_in_header(name, value))
    }

    /// The secrets as they stand in a text and within JSON. Very short ones would tear every text
    /// apart.
    pub(crate) fn written_secrets(&self) -> Vec<String> {
        let secrets = self.secrets().filter(|secret| secret.len() >= 4);
        let both = secrets.flat_map(|secret| {
            let within = serde_json::Value::from(secret).to_string();
            [secret.to_owned(), within[1..within.len() - 1].to_owned()]
        });
        let mut all: Vec<String> = both.collect();
        all.dedup();
        all
    }
}

/// Whether a value is where a secret is kept. Some secrets begin like a path, but in no directory.
fn is_path(value: &str) -> bool {
    let first = value.strip_prefix('/').and_then(|rest| rest.split('/').next());
    let is_below =
        first.is_some_and(|first| !first.is_empty() && Path::new("/").join(first).exists());
    is_below
        || ["./", "../", "~/"].iter().any(|it| value.starts_with(it))
        || Path::new(value).exists()
}

/// The secrets in a variable, which may also tell where one is kept.
fn in_variable<'v>(name: &str, value: &'v str) -> Vec<&'v str> {
    if is_path(value) { Vec::new() } else { secrets_in_variable(name, value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_a_secret_by_its_name_or_by_what_it_holds() {
        for (name, value, secrets) in [
            ("DB_PASSWORD", "quixotic-otter-9921", &["quixotic-otter-9921"][..]),
            (
                "DB_PASSWORD",
                "correct horse \"battery\" staple",
                &["correct horse \"battery\" staple"],
            ),
            ("MYSQL_PASS", "p@ss;w,rd&x<y>(z)", &["p@ss;w,rd&x<y>(z)"]),
            ("GITHUB_TOKEN", "$ecret-otter", &["$ecret-otter"]),
            ("SERVICE_API_KEY", "pässwörd", &["pässwörd"]),
            ("DATABASE_URL", "postgres://svc:otter9921@db/x", &["otter9921"]),
            ("db.pass2", "otter-9921", &["otter-9921"]),
            ("DB_PASSWORD", "root", &[]),
            ("POSTGRES_PASSWORD", "postgres", &[]),
            ("DB_PASSWORD", "quixoticotter", &["quixoticotter"]),
            ("REQUIRE_PASSWORD", "true", &[]),
            ("MAX_TOKENS", "4096", &[]),
            ("AWS_SECRET_ACCESS_KEY", "/vElvet/harbour+4410", &["/vElvet/harbour+4410"]),
            ("GOOGLE_APPLICATION_CREDENTIALS", "/tmp/ada/key.json", &[]),
            ("GOOGLE_APPLICATION_CREDENTIALS", "./key.json", &[]),
            ("SSH_AUTH_SOCK", "/tmp/ssh-x/agent.1", &[]),
            ("HOME", "/home/ada", &[]),
            ("PATH", "/usr/local/bin:/usr/bin", &[]),
            ("NODE_ENV", "production", &[]),
            ("GIT_AUTHOR_NAME", "Ada Lovelace", &[]),
            ("PORT", "8080", &[]),
            ("A\"B", "", &[]),
        ] {
            assert_eq!(in_variable(name, value), secrets, "{name}={value}");
        }
    }
}
