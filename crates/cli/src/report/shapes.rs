//! The elements and colors of a drawing in SVG.

use super::words::escaped;

/// The colors of a drawing.
pub(super) struct Palette {
    pub(super) ink: &'static str,
    pub(super) soft: &'static str,
    pub(super) line: &'static str,
    pub(super) field: &'static str,
    pub(super) accent: &'static str,
    pub(super) mark: &'static str,
}

/// Colors in a document.
pub(super) const DOCUMENT: Palette = Palette {
    ink: "#1c1c20",
    soft: "#55555c",
    line: "#d5d5dc",
    field: "#f6f6f8",
    accent: "#2b6cb0",
    mark: "#c0392b",
};

/// Colors on the page, from its style sheet.
pub(super) const PAGE: Palette = Palette {
    ink: "var(--ink)",
    soft: "var(--soft)",
    line: "var(--line)",
    field: "var(--field)",
    accent: "var(--accent)",
    mark: "var(--mark)",
};

/// The attribute of text that ends at its position; `MIDDLE` centers the text there, and `BOLD` sets it in bold.
pub(super) const END: &str = "text-anchor=\"end\"";
pub(super) const MIDDLE: &str = "text-anchor=\"middle\"";
pub(super) const BOLD: &str = "font-weight=\"bold\"";

/// Draws text, unless it is empty.
pub(super) fn text(out: &mut String, (x, y): (f64, f64), ink: &str, attributes: &str, words: &str) {
    if !words.is_empty() {
        let words = escaped(words);
        *out += &format!("<text x=\"{x:.1}\" y=\"{y:.1}\" fill=\"{ink}\" {attributes}>{words}</text>\n");
    }
}

/// Draws a rectangle: its upper left corner, its size, and its fill.
pub(super) fn rect(out: &mut String, (x, y): (f64, f64), (width, height): (f64, f64), fill: &str) {
    *out += &format!(
        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{fill}\"/>\n"
    );
}

pub(super) fn line(out: &mut String, (x1, y1): (f64, f64), (x2, y2): (f64, f64), ink: &str, dashes: &str) {
    *out += &format!(
        "<line x1=\"{x1:.1}\" x2=\"{x2:.1}\" y1=\"{y1:.1}\" y2=\"{y2:.1}\" stroke=\"{ink}\" {dashes}/>\n"
    );
}
