//! Pictures of figures: plain SVG, readable on light and on dark, without scripts.

mod bars;
mod lines;

pub(super) use bars::Bars;
pub(super) use lines::{Line, Lines};

/// Colours that people tell apart who see few, on light and on dark.
const STYLE: &str = "\
text{font:13px system-ui,-apple-system,'Segoe UI',sans-serif;fill:#52514e}
.title{font-size:15px;font-weight:600;fill:#0b0b0b}.name,.value{fill:#0b0b0b}
.back{fill:#fcfcfb}.grid{stroke:#e1e0d9;stroke-width:1}.axis{stroke:#a5a49c;stroke-width:1}
.c0{stroke:#2a78d6;fill:#2a78d6}.c1{stroke:#eb6834;fill:#eb6834}.c2{stroke:#1baf7a;fill:#1baf7a}
.other{fill:#b9b8b0}.ours{fill:#2a78d6}.line{fill:none;stroke-width:2;stroke-linejoin:round}
@media (prefers-color-scheme:dark){text{fill:#c3c2b7}.title,.name,.value{fill:#fff}
.back{fill:#1a1a19}.grid{stroke:#2c2c2a}.axis{stroke:#6b6a64}.c0{stroke:#3987e5;fill:#3987e5}
.c1{stroke:#d95926;fill:#d95926}.c2{stroke:#199e70;fill:#199e70}.other{fill:#62615b}.ours{fill:#3987e5}
.line{fill:none}}";

/// A picture of this size around what is drawn.
fn picture(width: f64, height: f64, title: &str, drawn: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" role=\"img\" aria-label=\"{name}\">\n\
         <style>{STYLE}</style>\n<rect class=\"back\" width=\"{width}\" height=\"{height}\" rx=\"6\"/>\n\
         <text class=\"title\" x=\"20\" y=\"28\">{name}</text>\n{drawn}</svg>\n",
        name = escaped(title),
    )
}

/// A text at a place; the anchor is `start`, `middle` or `end`.
fn text(class: &str, (x, y): (f64, f64), anchor: &str, words: &str) -> String {
    format!(
        "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>\n",
        escaped(words)
    )
}

fn stroke(class: &str, from: (f64, f64), to: (f64, f64)) -> String {
    format!(
        "<line class=\"{class}\" x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\"/>\n",
        from.0, from.1, to.0, to.1
    )
}

fn escaped(words: &str) -> String {
    words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
