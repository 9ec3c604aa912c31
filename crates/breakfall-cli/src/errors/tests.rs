use std::time::Duration;

use breakfall_store::{State, Wanted};

use super::list::Listed;
use super::show::read;
use super::*;
use crate::period::Period;
use crate::specimen::{Kept, NOW, WIDTHS, kept};
use crate::terminal::width;

fn terminal(width: usize) -> Terminal {
    Terminal { width, has_colour: false, is_one: true }
}

async fn listed(kept: &Kept, state: Option<State>, lost: u64) -> Listed {
    let period = Period::new(Duration::from_hours(168), NOW);
    let wanted = Wanted { state, ..Wanted::since(period.since) };
    let found = kept.store.list(&wanted, NOW).await.unwrap();
    Listed { period, found, state, lost }
}

/// Nothing in it acts, and no line is too wide.
fn assert_fits(text: &str, most: usize) {
    for line in text.lines() {
        assert!(width(line) <= most, "{} columns: {line}", width(line));
    }
    let acting = |char: &char| (char.is_control() && *char != '\n') || *char == '\u{202e}';
    assert_eq!(text.chars().find(acting), None);
}

#[tokio::test]
async fn groups_are_listed_in_any_width() {
    let kept = kept("list").await;
    for width in WIDTHS {
        let text = listed(&kept, Some(State::Open), 3).await.render(&terminal(width));
        assert_fits(&text, width);
        insta::assert_snapshot!(format!("errors-{width}"), text);
    }
    // A share that is cut in the middle tells nothing: its column goes.
    insta::assert_snapshot!("errors-40", listed(&kept, None, 3).await.render(&terminal(40)));
    let all = listed(&kept, None, 0).await;
    insta::assert_snapshot!("errors-all", all.render(&terminal(160)));
    insta::assert_snapshot!("errors-json", json_text(&all.json()));
}

#[tokio::test]
async fn colours_are_for_terminals_that_take_them() {
    let kept = kept("colours").await;
    let listed = listed(&kept, None, 1).await;
    let colourful = listed.render(&Terminal { has_colour: true, ..terminal(100) });
    let plain = listed.render(&terminal(100));
    assert!(colourful.contains("\u{1b}[1m") && !plain.contains('\u{1b}'));
    let mut bare = colourful;
    for code in ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[31m", "\u{1b}[32m", "\u{1b}[33m"] {
        bare = bare.replace(code, "");
    }
    assert_eq!(bare, plain);
}

#[tokio::test]
async fn a_group_is_shown_with_what_each_side_saw() {
    let kept = kept("show").await;
    for group in kept.store.groups(0, NOW).await.unwrap() {
        let shown = read(&kept.store, &group.fingerprint, 2, NOW).await.unwrap();
        let [shown] = shown.as_slice() else { panic!("one group") };
        for width in WIDTHS {
            let text = shown.render(&terminal(width), NOW);
            assert_fits(&text, width);
            insta::assert_snapshot!(format!("show-{}-{width}", group.kind), text);
        }
    }
    let group = kept.store.groups(0, NOW).await.unwrap().remove(0);
    let shown = read(&kept.store, &group.reference, 1, NOW).await.unwrap();
    insta::assert_snapshot!("show-json", json_text(&shown[0].json()));
}

#[tokio::test]
async fn what_fails_is_followed_in_lines() {
    let kept = kept("tail").await;
    let mut tail = kept.store.tail(Some(0), NOW).await.unwrap();
    let samples = tail.next().await.unwrap();
    for width in WIDTHS {
        let lines: Vec<String> =
            samples.iter().map(|sample| tail::line(sample, &terminal(width))).collect();
        assert_fits(&lines.join("\n"), width);
        insta::assert_snapshot!(format!("tail-{width}"), lines.join("\n"));
    }
    let file = Terminal { is_one: false, ..terminal(60) };
    let lines: Vec<String> = samples.iter().map(|sample| tail::line(sample, &file)).collect();
    assert_eq!(lines.len(), samples.len());
    assert_fits(&lines.join("\n"), 4096);
    assert!(tail.next().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_name_that_no_group_has_is_answered_with_names_that_are_near() {
    let kept = kept("names").await;
    let group = kept.store.groups(0, NOW).await.unwrap().remove(0);
    let mut wrong = group.reference.clone();
    wrong.replace_range(0..1, "_");
    let failed = unknown(&kept.store, &wrong).await.to_string();
    assert!(failed.contains("the nearest: ") && failed.contains(&group.reference), "{failed}");
    let failed = unknown(&kept.store, "\u{1b}[2J nothing like it").await.to_string();
    assert!(failed.contains("the newest: ") && !failed.contains('\u{1b}'), "{failed}");
}

#[test]
fn what_was_lost_is_told_where_anything_was() {
    assert_eq!(lost(0), None);
    assert_eq!(lost(1).unwrap(), "1 record was lost: it could not be kept");
    assert_eq!(lost(2).unwrap(), "2 records were lost: they could not be kept");
}
