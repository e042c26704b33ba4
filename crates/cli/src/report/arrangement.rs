//! A frame as described and as arranged, side by side: the share on chip as a bar, and the groups of passes as boxes.
//!
//! ```text
//! As described                 Arranged
//! ████████··········· 39.9 %   ████████████████··¦ 83.8 %     ¦ the cap
//! ┌ shadow ──────────────────┐ ┌ shadow ──────────────────┐
//! ├ gbuffer ─────────────────┤ ├ gbuffer ─────────────────┤
//! ├ lighting ────────────────┤ │ lighting      1 x 8 strips │
//! ```

use serde_json::{Value, json};

use super::chart::Kind;
use super::fields::{bytes, list, text as text_of};
use super::shapes::{BOLD, DOCUMENT, END, PAGE, Palette, line, rect, text};
use super::words::{amount, cut};
use crate::values::percent;

const HEAD: f64 = 20.0;
const BAR: f64 = 18.0;
const ROW: f64 = 15.0;
const GAP: f64 = 4.0;
/// Distance between the columns.
const BETWEEN: f64 = 40.0;
const WIDTH: f64 = 1000.0;
/// The color of text on boxes, which are light in both color schemes.
const ON_BOX: &str = "#000000";

/// Returns a sentence saying that no better arrangement was found; `None` if the arrangement differs from the described one.
fn unchanged(arranged: &Value) -> Option<String> {
    (arranged["arrangement"] == arranged["described"]).then(|| {
        format!(
            "No allowed change to the described frame keeps more on chip ({}).",
            share(arranged, "share")
        )
    })
}

/// A plan's field `arrangement` in the form that the page's script reads.
pub(super) fn for_page(arranged: &Value) -> Value {
    if let Some(sentence) = unchanged(arranged) {
        return json!({ "sentence": sentence });
    }
    let mut body = String::new();
    let height = draw(&mut body, arranged, (0.0, WIDTH), &PAGE);
    json!({
        "label": format!("{}, {}", share(arranged, "described_share"), share(arranged, "share")),
        "svg": format!("<svg viewBox=\"0 0 {WIDTH} {height:.0}\" font-size=\"11\">{body}</svg>"),
    })
}

/// Draws the comparison into a document at `top`; returns its height.
pub(super) fn for_document(out: &mut String, arranged: &Value, top: f64, size: (f64, f64)) -> f64 {
    *out += &format!("<g transform=\"translate(0 {top:.1})\">\n");
    let height = draw(out, arranged, size, &DOCUMENT);
    *out += "</g>\n";
    height
}

fn part(arranged: &Value, field: &str) -> f64 {
    arranged[field].as_f64().unwrap_or(0.0).clamp(0.0, 1.0)
}

fn share(arranged: &Value, field: &str) -> String {
    let shown = |field| percent((part(arranged, field) * 1e6) as u64, 1_000_000);
    format!("{} of traffic on chip, cap {}", shown(field), shown("cap"))
}

fn draw(out: &mut String, arranged: &Value, (left, right): (f64, f64), palette: &Palette) -> f64 {
    if let Some(sentence) = unchanged(arranged) {
        text(out, (left, 14.0), palette.ink, "", &sentence);
        return HEAD;
    }
    let wide = (right - left - BETWEEN) / 2.0;
    let mut bottom: f64 = 0.0;
    for (title, field, document, x) in [
        ("As described", "described_share", "described", left),
        ("Arranged", "share", "arrangement", left + wide + BETWEEN),
    ] {
        let at = |field: &str| x + wide * part(arranged, field);
        text(out, (x, 14.0), palette.ink, BOLD, title);
        text(out, (x + wide, 14.0), palette.ink, END, &share(arranged, field));
        rect(out, (x, HEAD), (wide, BAR), palette.line);
        rect(out, (x, HEAD), (at(field) - x, BAR), palette.accent);
        let (top, end) = ((at("cap"), HEAD - 2.0), (at("cap"), HEAD + BAR + 2.0));
        line(out, top, end, palette.mark, "stroke-width=\"2\"");
        bottom = bottom.max(draw_groups(out, &arranged[document], (x, wide), palette));
    }
    let amount = |field: &str| amount(bytes(&arranged[field]));
    let note = format!(
        "saves {} per frame; costs {} for repeated passes, {} for halos and {} for merged passes ({}); computes {:.2} times as many texels",
        amount("saves_bytes"),
        amount("repeats_bytes"),
        amount("halos_bytes"),
        amount("merges_bytes"),
        if arranged["costs_measured"] == true {
            "measured"
        } else {
            "assumed"
        },
        arranged["shaded"].as_f64().unwrap_or(1.0),
    );
    text(out, (left, bottom + 14.0), palette.soft, "", &note);
    bottom + 24.0
}

/// Draws a box for each group of passes; returns the vertical position below the last one.
fn draw_groups(out: &mut String, document: &Value, (x, wide): (f64, f64), palette: &Palette) -> f64 {
    let mut y = HEAD + BAR + 2.0 * GAP;
    let batches = list(&document["batches"]);
    for (number, batch) in batches.iter().enumerate() {
        if batches.len() > 1 {
            let at = (x, y + ROW - GAP);
            text(out, at, palette.soft, "", &format!("batch {number}"));
            y += ROW;
        }
        for group in list(&batch["groups"]) {
            let (how, kind) = match (list(&group["strips"]), group["merged"] == true) {
                ([columns, rows], _) => (format!("{columns} x {rows} strips"), Kind::Tile),
                (_, true) => ("merged".to_owned(), Kind::Lazy),
                _ => (String::new(), Kind::Own),
            };
            let passes = list(&group["passes"]);
            let tall = ROW * passes.len() as f64 + GAP;
            let (fill, edge) = kind.colors();
            rect(out, (x, y), (wide, tall), edge);
            rect(out, (x + 1.0, y + 1.0), (wide - 2.0, tall - 2.0), fill);
            for (row, pass) in (1..).zip(passes) {
                let at = (x + 8.0, y + ROW * f64::from(row) - 2.0);
                text(out, at, ON_BOX, "", &cut(text_of(pass), (wide * 0.1) as usize));
            }
            let middle = (x + wide - 8.0, y + tall / 2.0 + 4.0);
            text(out, middle, ON_BOX, &format!("{END} {BOLD}"), &how);
            y += tall + GAP;
        }
    }
    y
}
