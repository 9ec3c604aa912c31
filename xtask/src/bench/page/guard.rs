//! The program between clients and servers, beside no proxy and other proxies.

use serde_json::Value;

use super::super::figures::Part;
use super::super::plot::Bars;
use super::super::words::figure;
use super::{Figures, Page};

pub(super) fn section(page: &mut Page, figures: &Figures) {
    let Some(guard) = figures.of(Part::Guard) else { return };
    page.heading("The guard beside no guard and other proxies");
    let (rounds, calls) = (guard["rounds"].as_u64(), guard["calls"].as_u64());
    page.line(&format!(
        "One call at a time, {} turns of {} calls on each way, all of them up all the time. A ratio \
         is the median of the turns'.\n",
        rounds.unwrap_or_default(),
        calls.unwrap_or_default(),
    ));
    let ways: Vec<&Value> = guard["ways"].as_array().into_iter().flatten().collect();
    let mut servers: Vec<&str> = Vec::new();
    for server in ways.iter().filter_map(|way| way["server"].as_str()) {
        if !servers.contains(&server) {
            servers.push(server);
        }
    }
    for server in &servers {
        let of: Vec<&&Value> = ways.iter().filter(|way| way["server"] == *server).collect();
        ways_of(page, server, &of);
    }
    if let Some(server) = servers.first() {
        let of = ways.iter().filter(|way| way["server"] == *server);
        let bars = of.filter_map(|way| {
            let name = way["way"].as_str()?.replace('`', "");
            let ours = name == "guard";
            Some((name, way["ratio"].as_f64()?, ours))
        });
        let title = format!("p50 of a call beside direct: {server}");
        let svg = Bars { title: &title, unit: "times direct", ways: bars.collect() }.svg();
        page.plot("guard", &title, svg);
    }
    start(page, &guard["start"]);
}

fn ways_of(page: &mut Page, server: &str, ways: &[&&Value]) {
    let beside = ways.first().and_then(|way| way["beside"].as_str()).unwrap_or("direct");
    let head = [server.to_owned(), format!("p50 beside {beside}")];
    let head = [
        head[0].as_str(),
        head[1].as_str(),
        "p50, ms",
        "p99, ms",
        "CPU, ms a call",
        "of it between",
    ];
    let cell = |way: &Value, key: &str| way[key].as_f64().map(figure).unwrap_or_default();
    let rows: Vec<Vec<String>> = ways
        .iter()
        .filter_map(|way| {
            let mut row = vec![way["way"].as_str()?.to_owned()];
            let keys = ["ratio", "p50_ms", "p99_ms", "cpu_ms", "between_cpu_ms"];
            row.extend(keys.map(|key| cell(way, key)));
            Some(row)
        })
        .collect();
    page.table(&head, &rows);
}

fn start(page: &mut Page, start: &Value) {
    if !start.is_object() {
        return;
    }
    page.heading("Start and size");
    let mut rows = Vec::new();
    let mut row = |what: &str, value: &Value, unit: &str| {
        if let Some(value) = value.as_f64() {
            rows.push(vec![what.to_owned(), format!("{} {unit}", figure(value))]);
        }
    };
    row("`breakfall --version`", &start["version_ms"], "ms");
    row("`true`, which does nothing", &start["true_ms"], "ms");
    for ready in start["ready"].as_array().into_iter().flatten() {
        let server = ready["server"].as_str().unwrap_or_default();
        row(
            &format!("start to list of tools, {server}: behind the guard beside direct"),
            &ready["ratio"],
            "×",
        );
        row(&format!("start to list of tools, {server}: direct"), &ready["direct_ms"], "ms");
        row(
            &format!("start to list of tools, {server}: the guard by itself"),
            &ready["alone_ms"],
            "ms",
        );
    }
    row("the program", &start["size_mib"], "MiB");
    row("idle before a server, resident", &start["idle_rss_mib"], "MiB");
    page.table(&["what", "measured"], &rows);
}
