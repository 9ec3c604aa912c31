use std::time::Duration;

use super::*;
use crate::specimen::{NOW, kept};

#[tokio::test]
async fn a_report_tells_the_same_in_three_ways() {
    let kept = kept("report").await;
    let period = Period::new(Duration::from_hours(168), NOW);
    let mut report = Report::read(&kept.store, period, ProgressBar::hidden()).await.unwrap();
    report.lost = 2;
    insta::assert_snapshot!("report-md", markdown::render(&report));
    insta::assert_snapshot!("report-json", json_text(&report.json()));
    insta::assert_snapshot!("report-html", page::render(&report).replace("><", ">\n<"));
}

#[tokio::test]
async fn nothing_that_a_tool_wrote_becomes_part_of_the_page() {
    let kept = kept("page").await;
    let period = Period::new(Duration::from_hours(1), NOW);
    let report = Report::read(&kept.store, period, ProgressBar::hidden()).await.unwrap();
    assert!(report.found.groups.iter().any(|group| group.tool == "hostile"));
    for text in [page::render(&report), markdown::render(&report)] {
        let acting = |char: &char| (char.is_control() && *char != '\n') || *char == '\u{202e}';
        assert_eq!(text.chars().find(acting), None);
    }
    let page = page::render(&report);
    assert!(page.contains("&lt;script&gt;") && !page.contains("<script"));
    // It is whole in itself.
    assert!(!page.contains("http://") && !page.contains("https://") && !page.contains("src="));
}

#[test]
fn where_nothing_was_kept_there_is_a_report_of_nothing() {
    let report = Report::nothing(Period::new(Duration::from_hours(24), NOW));
    insta::assert_snapshot!("report-nothing", markdown::render(&report));
    assert!(page::render(&report).contains("Nothing."));
    assert_eq!(report.json()["calls"], 0);
}
