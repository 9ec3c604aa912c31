//! A million failures on disk.

use super::super::figures::Part;
use super::super::words::figure;
use super::{Figures, Page};

pub(super) fn section(page: &mut Page, figures: &Figures) {
    let Some(store) = figures.of(Part::Store) else { return };
    page.heading("A million failures kept");
    let kept = &store["kept"];
    let mut rows = Vec::new();
    for (what, key, unit) in [
        ("failures of 40 tools into SQLite", "failures", ""),
        ("of them counted", "counted", ""),
        ("taken off the path of calls, a second", "taken_a_second", ""),
        ("written, a second", "written_a_second", ""),
        ("memory that it took at most", "memory_mib", " MiB"),
        ("the file", "file_mib", " MiB"),
    ] {
        if let Some(value) = kept[key].as_f64() {
            rows.push(vec![what.to_owned(), format!("{}{unit}", figure(value))]);
        }
    }
    for told in store["told"].as_array().into_iter().flatten() {
        if let (Some(command), Some(time)) =
            (told["command"].as_str(), told["milliseconds"].as_f64())
        {
            let looks = store["looks"].as_u64().unwrap_or_default();
            rows.push(vec![
                format!("`{command}` (median of {looks})"),
                format!("{} ms", figure(time)),
            ]);
        }
    }
    page.table(&["what", "measured"], &rows);
}
