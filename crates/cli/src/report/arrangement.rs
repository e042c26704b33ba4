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

use super::chart::{Comparison, Group, Kind, Side};
use super::fields::{list, text as text_of};
use super::numbers::Unit;
use super::shapes::{BOLD, DOCUMENT, END, Inks, PAGE, line, rect, text};
use super::words::cut;

const HEAD: f64 = 20.0;
const BAR: f64 = 18.0;
const ROW: f64 = 15.0;
const GAP: f64 = 4.0;
/// Between the columns.
const BETWEEN: f64 = 40.0;
const WIDTH: f64 = 1000.0;
/// Texts on the boxes, which are light in both color schemes.
const ON_BOX: &str = "#000000";

/// The comparison in a plan's field `arrangement`, if it has one.
pub(super) fn comparison(plan: &Value) -> Option<Comparison> {
    let arranged = plan["arrangement"].as_object()?;
    let side = |title, share: &str, document: &str| Side {
        title,
        share: thousandths(&arranged[share]),
        batches: list(&arranged[document]["batches"]).iter().map(groups).collect(),
    };
    for field in ["share", "described_share", "cap", "described", "arrangement"] {
        arranged.get(field)?;
    }
    let mega = |field: &str| super::words::amount(plan["arrangement"][field].as_u64().unwrap_or(0));
    Some(Comparison {
        sides: [
            side("As described", "described_share", "described"),
            side("Arranged", "share", "arrangement"),
        ],
        cap: thousandths(&arranged["cap"]),
        note: format!(
            "saves {} per frame; costs {} for repeated passes and {} for halos, which is assumed and not measured; {:.2} pixels \
             shaded per pixel",
            mega("saves_bytes"),
            mega("repeats_bytes"),
            mega("halos_bytes"),
            plan["arrangement"]["shaded"].as_f64().unwrap_or(1.0),
        ),
    })
}

fn thousandths(share: &Value) -> u64 {
    (share.as_f64().unwrap_or(0.0) * 1000.0) as u64
}

fn groups(batch: &Value) -> Vec<Group> {
    let group = |group: &Value| {
        let (how, kind) = match (list(&group["strips"]), group["merged"] == true) {
            ([columns, rows], _) => (format!("{columns} x {rows} strips"), Kind::Tile),
            (_, true) => ("merged".to_owned(), Kind::Lazy),
            _ => (String::new(), Kind::Own),
        };
        Group {
            passes: list(&group["passes"])
                .iter()
                .map(|pass| text_of(pass).to_owned())
                .collect(),
            how,
            kind,
        }
    };
    list(&batch["groups"]).iter().map(group).collect()
}

/// As the page's script reads it.
pub(super) fn for_page(comparison: &Comparison) -> Value {
    let mut body = String::new();
    let height = draw(&mut body, comparison, (0.0, WIDTH), &PAGE);
    let [before, after] = &comparison.sides;
    let shown = |share| Unit::Share.shown(share);
    json!({
        "label": format!(
            "On chip as described {}, arranged {}, cap {}",
            shown(before.share),
            shown(after.share),
            shown(comparison.cap)
        ),
        "svg": format!("<svg viewBox=\"0 0 {WIDTH} {height:.0}\" font-size=\"11\">{body}</svg>"),
    })
}

/// Within a document, `top` below its begin; gives the height.
pub(super) fn for_document(out: &mut String, comparison: &Comparison, top: f64, size: (f64, f64)) -> f64 {
    let mut body = String::new();
    let height = draw(&mut body, comparison, size, &DOCUMENT);
    *out += &format!("<g transform=\"translate(0 {top:.1})\">\n{body}</g>\n");
    height
}

fn draw(out: &mut String, comparison: &Comparison, (left, right): (f64, f64), inks: &Inks) -> f64 {
    let wide = (right - left - BETWEEN) / 2.0;
    let mut bottom: f64 = 0.0;
    for (side, at) in comparison.sides.iter().zip([left, left + wide + BETWEEN]) {
        bottom = bottom.max(draw_side(out, side, comparison.cap, (at, wide), inks));
    }
    text(out, (left, bottom + 14.0), inks.soft, "", &comparison.note);
    bottom + 24.0
}

fn draw_side(out: &mut String, side: &Side, cap: u64, (x, wide): (f64, f64), inks: &Inks) -> f64 {
    let at = |share: u64| x + wide * share.min(1000) as f64 / 1000.0;
    text(
        out,
        (x, 14.0),
        inks.ink,
        "font-size=\"13\" font-weight=\"bold\"",
        side.title,
    );
    let share = format!(
        "{} of eligible traffic on chip, cap {}",
        Unit::Share.shown(side.share),
        Unit::Share.shown(cap)
    );
    text(out, (x + wide, 14.0), inks.ink, END, &share);
    rect(out, (x, HEAD), (wide, BAR), inks.line);
    rect(out, (x, HEAD), (at(side.share) - x, BAR), inks.accent);
    let (top, end) = ((at(cap), HEAD - 2.0), (at(cap), HEAD + BAR + 2.0));
    line(out, top, end, inks.mark, "stroke-width=\"2\"");
    let mut y = HEAD + BAR + 2.0 * GAP;
    for (number, groups) in side.batches.iter().enumerate() {
        if side.batches.len() > 1 {
            text(out, (x, y + ROW - 4.0), inks.soft, "", &format!("batch {number}"));
            y += ROW;
        }
        for group in groups {
            let tall = ROW * group.passes.len() as f64 + GAP;
            let (fill, edge) = group.kind.colours();
            rect(out, (x, y), (wide, tall), edge);
            rect(out, (x + 1.0, y + 1.0), (wide - 2.0, tall - 2.0), fill);
            let room = if group.how.is_empty() { wide } else { wide * 0.7 };
            for (row, pass) in (1..).zip(&group.passes) {
                let name = cut(pass, (room / 6.6) as usize);
                let below = y + ROW * f64::from(row) - 2.0;
                text(out, (x + 8.0, below), ON_BOX, "", &name);
            }
            let middle = (x + wide - 8.0, y + tall / 2.0 + 4.0);
            text(out, middle, ON_BOX, &format!("{END} {BOLD}"), &group.how);
            y += tall + GAP;
        }
    }
    y
}
