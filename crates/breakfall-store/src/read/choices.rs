//! What groups can be looked for by.

use super::Store;
use super::groups::hour;
use crate::backend::on;
use crate::error::Error;

impl Store {
    /// The upstreams, tools and kinds of the groups seen since a moment, to choose from.
    pub async fn choices(&self, since: i64, most: u32) -> Result<Vec<Choice>, Error> {
        let rows: Vec<(String, String, String)> = on!(&self.backend, pool => sqlx::query_as(
            "SELECT DISTINCT upstream, tool, kind FROM groups WHERE last_seen >= $1 \
             ORDER BY upstream, tool, kind LIMIT $2",
        )
        .bind(hour(since))
        .bind(i64::from(most))
        .fetch_all(pool)
        .await
        .map_err(Error::of("reading what there is to choose from"))?);
        Ok(rows.into_iter().map(|(upstream, tool, kind)| Choice { upstream, tool, kind }).collect())
    }
}

/// What a group can be looked for by.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Choice {
    /// The upstream.
    pub upstream: String,
    /// The tool.
    pub tool: String,
    /// The kind.
    pub kind: String,
}

/// A pattern that finds a text wherever it is, and to the letter.
pub(super) fn pattern(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let mut pattern = String::from("%");
    for letter in text.to_lowercase().chars() {
        if matches!(letter, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern + "%"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_looked_for_is_no_pattern() {
        assert_eq!(pattern(""), "");
        assert_eq!(pattern("50%_\\X"), "%50\\%\\_\\\\x%");
    }
}
