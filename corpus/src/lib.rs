//! Labelled errors, harmless texts and secrets; how well Breakfall reads them.

pub mod learn;
pub mod score;
pub mod signs;
pub mod unseen;

use std::io::Read;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// An error with what a careful reader makes of it.
#[derive(Clone, Debug, Deserialize)]
#[expect(missing_docs, reason = "the fields are described in README.md beside this package")]
pub struct Labelled {
    pub id: String,
    pub origin: Option<String>,
    pub text: String,
    pub type_name: Option<String>,
    pub http_status: Option<u16>,
    pub exit_code: Option<i64>,
    pub json_rpc_code: Option<i64>,
    pub kind: String,
    #[serde(default)]
    pub alt_kinds: Option<Vec<String>>,
    pub resource: Option<String>,
    pub retry_after_s: Option<f64>,
    #[serde(default)]
    pub secrets: Option<Vec<String>>,
}

/// A text that is no error and holds no secret.
#[derive(Clone, Debug, Deserialize)]
pub struct Harmless {
    /// The text.
    pub text: String,
}

/// A text in which a rule must or must not find a secret.
#[derive(Clone, Debug, Deserialize)]
#[expect(missing_docs, reason = "the fields are described in README.md beside this package")]
pub struct Secret {
    pub rule: String,
    pub expect_match: bool,
    pub path: Option<String>,
    pub text: String,
}

/// The lines of a compressed file of this package.
///
/// # Panics
///
/// When the file is missing or is not what it should be.
pub fn load<T: DeserializeOwned>(name: &str) -> Vec<T> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    let file =
        std::fs::File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut text = String::new();
    flate2::read::GzDecoder::new(file)
        .read_to_string(&mut text)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    lines(name, &text)
}

/// The lines of a file that is not compressed.
///
/// # Panics
///
/// When the file is missing or is not what it should be.
pub fn read<T: DeserializeOwned>(path: &Path) -> Vec<T> {
    let text =
        std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    lines(&path.display().to_string(), &text)
}

fn lines<T: DeserializeOwned>(name: &str, text: &str) -> Vec<T> {
    text.lines()
        .map(|line| {
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{name}: {error}: {line}"))
        })
        .collect()
}

impl Labelled {
    /// The evidence that a classifier may look at.
    pub fn evidence(&self) -> breakfall::Evidence<'_> {
        breakfall::Evidence {
            text: &self.text,
            type_name: self.type_name.as_deref(),
            http_status: self.http_status,
            exit_code: self.exit_code,
            json_rpc_code: self.json_rpc_code,
        }
    }

    /// Whether a kind is right: the label, one that a careful reader could defend, or one of the
    /// kinds that came into the table after the labels.
    pub fn accepts(&self, kind: &str) -> bool {
        let labels = || {
            std::iter::once(self.kind.as_str())
                .chain(self.alt_kinds.iter().flatten().map(String::as_str))
        };
        let fits: &[&str] = match kind {
            "precondition" => &["conflict", "execution"],
            "invalid_output" => &["upstream", "internal", "execution"],
            _ => &[],
        };
        labels().any(|label| label == kind || fits.contains(&label))
    }
}
