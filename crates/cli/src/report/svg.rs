//! Charts as SVG and PNG.

use super::chart::{Chart, Kind, Lane, Panel};
use super::shapes::{BOLD, DOCUMENT, END, MIDDLE, Palette, line, rect, text};
use super::words::{amount, cut, escaped, lines};
use super::{arrangement, curve};
use crate::error::{Error, Result};

const LEFT: f64 = 96.0;
const RIGHT: f64 = 16.0;
const HEAD: f64 = 34.0;
const LANE: f64 = 17.0;
const PANEL: f64 = 220.0;
/// Height of a row in a panel whose offsets are row numbers.
const ROW: f64 = 17.0;
const GAP: f64 = 40.0;
const LEGEND: f64 = 30.0;
/// Estimated width of a character, which is drawn in the viewer's font.
const CHARACTER: f64 = 6.4;
/// Height of a name next to a thin box.
const NAME: f64 = 11.0;
const PALETTE: Palette = DOCUMENT;
/// The maximum number of boxes in a panel for which names are drawn next to thin boxes.
const MAX_NAMED: usize = 300;
/// The color of bound bytes.
const RESERVED: &str = "#dcdce6";

/// The background of a drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Background {
    /// Follows the viewer's color scheme.
    Viewer,
    Light,
    Dark,
}

/// Draws charts one below the other.
pub(crate) fn draw(charts: &[Chart], background: Background) -> String {
    let widest = charts.iter().map(|chart| chart.steps.len()).max().unwrap_or(0);
    let column = (1100.0 / widest.max(1) as f64).clamp(3.0, 90.0);
    let width = LEFT + RIGHT + (column * widest as f64).max(640.0);
    let mut body = String::new();
    let mut top = 0.0;
    for chart in charts {
        if let Some(arranged) = &chart.arrangement {
            top += arrangement::for_document(&mut body, arranged, top, (LEFT, width - RIGHT)) + 18.0;
        }
        top += draw_chart(&mut body, chart, top, (column, width));
        for curve in &chart.curves {
            top += curve::for_document(&mut body, curve, top, (LEFT, width)) + 18.0;
        }
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{top:.0}\" viewBox=\"0 0 {width:.0} {top:.0}\" \
         font-family=\"DejaVu Sans, Arial, sans-serif\" font-size=\"11\" fill=\"#1c1c20\">\n\
         <style>{}</style>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{body}</svg>\n",
        style(background)
    )
}

/// Colors of the drawing, and their replacements in a dark color scheme, as in `page.css`.
const DARK: [(&str, &str); 10] = [
    ("#ffffff", "#16161a"),
    ("#1c1c20", "#ececf1"),
    ("#55555c", "#a9a9b4"),
    ("#88888f", "#6c6c78"),
    ("#d5d5dc", "#3a3a44"),
    ("#f6f6f8", "#1f1f26"),
    ("#dcdce6", "#383845"),
    ("#e9e9ef", "#2a2a33"),
    ("#c0392b", "#ff7b6b"),
    ("#2b6cb0", "#7db4ea"),
];

/// Returns a style sheet, whose colors override those in attributes; viewers that ignore style sheets draw on white.
fn style(background: Background) -> String {
    let rules = DARK.map(|(light, dark)| {
        format!("[fill=\"{light}\"] {{ fill: {dark} }} [stroke=\"{light}\"] {{ stroke: {dark} }}")
    });
    let dark = rules.join(" ");
    match background {
        Background::Viewer => format!("@media screen and (prefers-color-scheme: dark) {{ {dark} }}"),
        Background::Light => String::new(),
        Background::Dark => dark,
    }
}

/// Draws a chart at `top`, and returns its height.
fn draw_chart(out: &mut String, chart: &Chart, top: f64, (column, width): (f64, f64)) -> f64 {
    let mut y = top + HEAD;
    let heading = "font-size=\"15\" font-weight=\"bold\"";
    let room = (width - LEFT - RIGHT) / CHARACTER;
    text(
        out,
        (LEFT, top + 22.0),
        PALETTE.ink,
        heading,
        &cut(&chart.title, (room * 0.66) as usize),
    );
    for sentence in lines(&chart.verdict.sentence.replace('`', ""), room as usize) {
        text(out, (LEFT, y + 6.0), PALETTE.soft, "", &sentence);
        y += LANE;
    }
    if chart.drawn_panels().next().is_none() {
        return y - top;
    }
    for lane in &chart.lanes {
        draw_lane(out, lane, y, column);
        y += LANE;
    }
    let first = y;
    y += 24.0;
    for panel in chart.drawn_panels() {
        y += draw_panel(out, chart, panel, y, column) + GAP;
    }
    y -= GAP - 12.0;
    draw_rules(out, chart, (first, y - 8.0), column);
    // As many names as fit.
    let every = (13.0 / column).ceil().max(1.0) as usize;
    for (step, named) in chart.steps.iter().enumerate().step_by(every) {
        let x = LEFT + column * (step as f64 + 0.5);
        *out += &format!(
            "<text transform=\"translate({x:.1} {y:.1}) rotate(-45)\" text-anchor=\"end\">{}</text>\n",
            escaped(&cut(&named.name, 20))
        );
    }
    let longest = chart
        .steps
        .iter()
        .map(|step| step.name.chars().count().min(20))
        .max();
    y += 24.0 + 4.6 * longest.unwrap_or(0) as f64;
    draw_legend(out, chart, y);
    y + LEGEND - top
}

fn draw_lane(out: &mut String, lane: &Lane, y: f64, column: f64) {
    text(out, (LEFT - 6.0, y + 12.0), PALETTE.soft, END, &lane.name);
    for span in &lane.spans {
        let (x, wide) = (LEFT + column * span.0 as f64, column * (span.1 - span.0) as f64);
        *out += &format!(
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"3\" fill=\"#e9e9ef\"/>\n",
            x + 1.0,
            y + 1.0,
            (wide - 2.0).max(0.5),
            LANE - 2.0
        );
        let room = ((wide - 10.0) / CHARACTER).max(0.0) as usize;
        if room >= 2 {
            text(out, (x + 6.0, y + 12.5), PALETTE.ink, "", &cut(&span.2, room));
        }
    }
}

/// Draws lines at the starts of windows, and marks.
fn draw_rules(out: &mut String, chart: &Chart, (top, end): (f64, f64), column: f64) {
    let ruled = chart.lanes.iter().filter(|lane| lane.ruled);
    // The last lane first: the start of a window is drawn over that of a command buffer.
    for (index, lane) in ruled.enumerate().collect::<Vec<_>>().into_iter().rev() {
        let ink = if index == 0 { PALETTE.mark } else { "#88888f" };
        for span in lane.spans.iter().skip(1) {
            let x = LEFT + column * span.0 as f64;
            line(out, (x, top), (x, end), ink, "stroke-dasharray=\"5 3\"");
        }
    }
    for (step, why) in &chart.marks {
        let x = LEFT + column * (*step as f64 + 0.5);
        line(out, (x, top + 6.0), (x, end), PALETTE.mark, "");
        text(out, (x, top + 3.0), PALETTE.mark, MIDDLE, why);
    }
}

/// Draws a panel at `y`, and returns its height.
fn draw_panel(out: &mut String, chart: &Chart, panel: &Panel, y: f64, column: f64) -> f64 {
    let tall = if panel.rows {
        (ROW * panel.size as f64).min(PANEL)
    } else {
        PANEL
    };
    let right = LEFT + column * chart.steps.len() as f64;
    let top = panel.top();
    let at = |bytes: u64| y + tall - tall * (bytes as f64 / top.max(1) as f64).min(1.0);
    let size = if panel.rows {
        String::new()
    } else {
        format!(", {}", amount(panel.size))
    };
    let name = format!("{}{size}", panel.name);
    text(out, (LEFT, y - 5.0), PALETTE.ink, BOLD, &name);
    let full = at(panel.size);
    *out += &format!(
        "<rect x=\"{LEFT}\" y=\"{full:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"#f6f6f8\" stroke=\"#88888f\"/>\n",
        right - LEFT,
        y + tall - full,
    );
    for quarter in (0..=4).filter(|_| !panel.rows) {
        let bytes = (u128::from(top) * quarter / 4) as u64;
        let at = (LEFT - 6.0, at(bytes) + 4.0);
        text(out, at, PALETTE.soft, END, &amount(bytes));
    }
    for (step, &bytes) in panel.reserved.iter().enumerate().filter(|(_, bytes)| **bytes > 0) {
        let corner = (LEFT + column * step as f64, at(bytes));
        rect(out, corner, (column, y + tall - at(bytes)), RESERVED);
    }
    let (mut drawn, mut thin) = (Vec::new(), Vec::new());
    for area in &panel.boxes {
        let item = &chart.items[area.item];
        let (fill, edge) = item.kind.colors();
        let (x, wide) = (
            LEFT + column * area.steps.0 as f64,
            column * (area.steps.1 - area.steps.0) as f64,
        );
        let (high, low) = (at(area.offset.saturating_add(area.size)), at(area.offset));
        let weight = if item.changed { 3 } else { 1 };
        *out += &format!(
            "<rect x=\"{x:.1}\" y=\"{high:.1}\" width=\"{wide:.1}\" height=\"{:.1}\" fill=\"{fill}\" stroke=\"{edge}\" \
             stroke-width=\"{weight}\"><title>{}, {}</title></rect>\n",
            (low - high).max(0.5),
            escaped(&item.name),
            amount(item.size)
        );
        let room = ((wide - 6.0) / CHARACTER).max(0.0) as usize;
        if low - high < NAME {
            thin.push((drawn.len(), item.name.as_str()));
        } else if room >= 3 {
            // Boxes are light in both color schemes.
            let at = (x + 4.0, (low + high) / 2.0 + 4.0);
            text(out, at, "#000000", "", &cut(&item.name, room));
        }
        drawn.push([x, high, wide, low - high]);
    }
    let mut names = Vec::new();
    for (bytes, name) in &panel.rules {
        let line = at(*bytes);
        *out += &format!(
            "<line x1=\"{LEFT}\" x2=\"{right:.1}\" y1=\"{line:.1}\" y2=\"{line:.1}\" stroke=\"#1c1c20\" stroke-dasharray=\"2 3\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" font-size=\"10\" fill=\"#1c1c20\" stroke=\"#ffffff\" stroke-width=\"3\" \
             paint-order=\"stroke\">{}</text>\n",
            right - 4.0,
            // Within the panel, also at its top.
            if line - y < 14.0 { line + 11.0 } else { line - 3.0 },
            escaped(name)
        );
        let wide = name.chars().count() as f64 * CHARACTER;
        let high = if line - y < 14.0 { line + 1.0 } else { line - 13.0 };
        names.push([right - 4.0 - wide, high, wide, NAME]);
    }
    if drawn.len() <= MAX_NAMED {
        name_thin_boxes(out, &thin, &drawn, names, [LEFT, y, right, y + tall]);
    }
    tall
}

/// Draws the names of boxes that are too thin to hold them: above or below the box, where neither boxes nor `names` are drawn. Boxes and names are
/// left, top, width and height; the panel is left, top, right and bottom.
fn name_thin_boxes(
    out: &mut String,
    thin: &[(usize, &str)],
    drawn: &[[f64; 4]],
    mut names: Vec<[f64; 4]>,
    panel: [f64; 4],
) {
    for &(number, name) in thin {
        let [x, y, _, tall] = drawn[number];
        let name = cut(name, ((panel[2] - x) / CHARACTER) as usize);
        let wide = name.chars().count() as f64 * CHARACTER;
        let meets = |other: &[f64; 4], high: f64| {
            let [left, top, wide_of, tall_of] = *other;
            left < x + wide && x < left + wide_of && top < high + NAME && high < top + tall_of
        };
        let is_free = |high: &f64| {
            let others = drawn.iter().enumerate().filter(|other| other.0 != number);
            *high >= panel[1]
                && high + NAME <= panel[3]
                && !others
                    .map(|other| other.1)
                    .chain(&names)
                    .any(|other| meets(other, *high))
        };
        if let Some(high) = [y - NAME - 1.0, y + tall + 1.0].into_iter().find(is_free) {
            text(out, (x + 1.0, high + 9.0), PALETTE.ink, "", &name);
            names.push([x, high, wide, NAME]);
        }
    }
}

fn draw_legend(out: &mut String, chart: &Chart, y: f64) {
    let mut drawn: Vec<(&str, &str, &str)> = Vec::new();
    for kind in Kind::ALL {
        let mut boxes = chart.panels.iter().flat_map(|panel| &panel.boxes);
        if boxes.any(|area| chart.items[area.item].kind == kind) {
            let (fill, edge) = kind.colors();
            drawn.push((kind.name(), fill, edge));
        }
    }
    if chart
        .panels
        .iter()
        .any(|panel| panel.reserved.iter().any(|bytes| *bytes > 0))
    {
        drawn.push(("bound tile memory", RESERVED, RESERVED));
    }
    let mut x = LEFT;
    for (name, fill, edge) in drawn {
        *out += &format!(
            "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"12\" height=\"12\" fill=\"{fill}\" stroke=\"{edge}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\">{name}</text>\n",
            y - 10.0,
            x + 17.0,
            y,
        );
        x += 40.0 + 7.0 * name.len() as f64;
    }
}

/// Fails: this build cannot draw PNG images.
#[cfg(not(feature = "png"))]
pub(crate) fn rasterize(_svg: &str) -> Result<Vec<u8>> {
    Err(Error::new(
        "this build of tileheap cannot draw PNG images: build it with the feature `png`".to_owned(),
    ))
}

/// Renders an SVG as PNG, at twice its size for sharp printing.
#[cfg(feature = "png")]
pub(crate) fn rasterize(svg: &str) -> Result<Vec<u8>> {
    let failed = |what: String| Error::new(format!("cannot draw the image: {what}"));
    let mut options = resvg::usvg::Options::default();
    options.fontdb_mut().load_system_fonts();
    let tree = resvg::usvg::Tree::from_str(svg, &options).map_err(|error| failed(error.to_string()))?;
    let size = tree
        .size()
        .to_int_size()
        .scale_by(2.0)
        .unwrap_or(tree.size().to_int_size());
    let mut pixels = resvg::tiny_skia::Pixmap::new(size.width(), size.height()).ok_or_else(|| {
        failed(format!(
            "{} x {} pixels exceed the limit",
            size.width(),
            size.height()
        ))
    })?;
    let scale = size.width() as f32 / tree.size().width();
    let transform = resvg::tiny_skia::Transform::from_scale(scale, scale);
    resvg::render(&tree, transform, &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| failed(error.to_string()))
}
