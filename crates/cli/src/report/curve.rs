//! Curves as SVG: for the page, whose style sheet colors them, and for documents.
//!
//! ```text
//! title
//! 4 MiB ┌─ name ─────── note ┐   one strip for each series, all of the same height and scale;
//!   0 B └────────────────────┘   all bands share one strip
//!       first   middle    last
//! ```

use std::fmt::Write;
use std::ops::Range;

use super::numbers::{Curve, Form, Series, Unit};
use super::shapes::{BOLD, DOCUMENT, END, PAGE, Palette, line, rect, text};

const RIGHT: f64 = 14.0;
const TITLE: f64 = 26.0;
const NAME: f64 = 16.0;
const FOOT: f64 = 20.0;
/// Width of the numbers at the left, and total width: `PAGE_SIZE` for a curve on the page, in its own units, because it is scaled to the available
/// width; `WIDE_SIZE` for a curve as wide as a chart.
const PAGE_SIZE: (f64, f64) = (66.0, 640.0);
const WIDE_SIZE: (f64, f64) = (84.0, 1200.0);
const BANDS: [&str; 9] = [
    "#4e79a7", "#f28e2b", "#e15759", "#76b7b2", "#59a14f", "#edc948", "#b07aa1", "#ff9da7", "#9c755f",
];

/// A curve as an SVG element. The page's script finds positions by `data-left` and `data-right`.
pub(crate) fn for_page(curve: &Curve) -> String {
    let mut body = String::new();
    let size = if curve.wide { WIDE_SIZE } else { PAGE_SIZE };
    let height = draw(&mut body, curve, size, &PAGE);
    let (left, width) = size;
    format!(
        "<svg viewBox=\"0 0 {width} {height:.0}\" font-size=\"11\" data-left=\"{left}\" data-right=\"{}\" data-top=\"{TITLE}\" \
         data-bottom=\"{}\">{body}</svg>",
        width - RIGHT,
        height - FOOT,
    )
}

/// Draws a curve into a document at `top`, with the widths of the numbers and of the drawing in `size`; returns the height.
pub(crate) fn for_document(out: &mut String, curve: &Curve, top: f64, size: (f64, f64)) -> f64 {
    let mut body = String::new();
    let height = draw(&mut body, curve, size, &DOCUMENT);
    *out += &format!("<g transform=\"translate(0 {top:.1})\">\n{body}</g>\n");
    height
}

fn draw(out: &mut String, curve: &Curve, (left, width): (f64, f64), palette: &Palette) -> f64 {
    let strips = if curve.form == Form::Bands {
        1
    } else {
        curve.series.len()
    };
    let tall = match (curve.form, strips) {
        (Form::Bands, _) => 200.0,
        (_, 0..=1) => 150.0,
        (_, 2..=3) => 84.0,
        _ => 40.0,
    };
    let heading = "font-size=\"13\" font-weight=\"bold\"";
    text(out, (left, 16.0), palette.ink, heading, &curve.title);
    if curve.form == Form::Bands {
        band_names(out, curve, (left, width - RIGHT), palette);
    }
    let mut y = TITLE;
    for strip in 0..strips {
        let plot = PlotArea {
            left,
            top: y + NAME,
            height: tall,
            width: width - left - RIGHT,
            value: curve.highest(),
            count: curve.at.len(),
        };
        plot.draw(out, curve.unit, palette);
        if curve.form == Form::Bands {
            bands(out, curve, &plot);
        } else {
            let series = &curve.series[strip];
            let weight = if series.best { BOLD } else { "" };
            text(out, (left, y + 12.0), palette.ink, weight, &series.name);
            text(out, (width - RIGHT, y + 12.0), palette.soft, END, &series.note);
            match curve.form {
                Form::Bars => bars(out, series, curve.unit, &plot, palette),
                _ => graph(out, series, curve, &plot, palette),
            }
        }
        if let Some((at, _)) = &curve.mark {
            let x = plot.x(*at as f64 + 0.5);
            let (top, end) = ((x, plot.top), (x, plot.top + tall));
            line(out, top, end, palette.mark, "stroke-dasharray=\"4 3\"");
        }
        y = plot.top + tall + 8.0;
    }
    axis_labels(out, curve, (left, width - RIGHT), y + 6.0, palette);
    y + FOOT
}

/// Draws the legend of the bands below the title.
fn band_names(out: &mut String, curve: &Curve, (left, right): (f64, f64), palette: &Palette) {
    const SPACING: f64 = 30.0;
    let base = TITLE + 12.0;
    text(
        out,
        (left, base),
        palette.soft,
        "",
        "smallest blocks at the bottom",
    );
    let mut x = right - SPACING * curve.series.len() as f64;
    text(out, (x - 6.0, base), palette.soft, END, "arena");
    for (number, _) in curve.series.iter().enumerate() {
        rect(out, (x, base - 9.0), (10.0, 10.0), BANDS[number % BANDS.len()]);
        text(out, (x + 13.0, base), palette.soft, "", &number.to_string());
        x += SPACING;
    }
}

/// The position and scale of the area that a curve is drawn in.
struct PlotArea {
    left: f64,
    top: f64,
    height: f64,
    width: f64,
    /// The value at the top of the vertical axis.
    value: u64,
    /// The number of positions on the horizontal axis.
    count: usize,
}

impl PlotArea {
    fn x(&self, position: f64) -> f64 {
        self.left + self.width * position / self.count.max(1) as f64
    }

    fn y(&self, value: u64) -> f64 {
        self.top + self.height - self.height * (value as f64 / self.value as f64).min(1.0)
    }

    fn draw(&self, out: &mut String, unit: Unit, palette: &Palette) {
        let (left, top, tall, wide) = (self.left, self.top, self.height, self.width);
        rect(out, (left, top), (wide, tall), palette.field);
        let parts = if tall > 100.0 { 4 } else { 1 };
        for part in 0..=parts {
            let value = (u128::from(self.value) * part / parts) as u64;
            let y = self.y(value);
            line(out, (left, y), (left + wide, y), palette.line, "");
            text(out, (left - 6.0, y + 4.0), palette.soft, END, &unit.shown(value));
        }
    }

    /// The drawn columns, at most one per unit of width: the center of each, and the positions that it covers.
    fn columns(&self) -> impl Iterator<Item = (f64, Range<usize>)> {
        let columns = self.count.min(self.width as usize);
        (0..columns).map(move |column| {
            let range = column * self.count / columns..(column + 1) * self.count / columns;
            (self.x((range.start + range.end) as f64 / 2.0), range)
        })
    }
}

/// Combines several positions into one value: the maximum of bytes, so that no peak is lost; the mean of shares.
fn combined(values: &[u64], unit: Unit) -> u64 {
    match unit {
        Unit::Bytes => values.iter().copied().max().unwrap_or(0),
        Unit::Share => values.iter().sum::<u64>() / values.len().max(1) as u64,
    }
}

fn bars(out: &mut String, series: &Series, unit: Unit, plot: &PlotArea, palette: &Palette) {
    let base = plot.top + plot.height;
    let mut path = String::new();
    for (x, range) in plot.columns() {
        let value = combined(series.values.get(range).unwrap_or_default(), unit);
        if value > 0 {
            let _ = write!(path, "M{x:.1} {base:.1}V{:.1}", plot.y(value).min(base - 0.5));
        }
    }
    let wide = (plot.width / plot.count.max(1) as f64 * 0.8).clamp(1.0, 12.0);
    let _ = writeln!(
        out,
        "<path d=\"{path}\" stroke=\"{}\" stroke-width=\"{wide:.1}\" fill=\"none\"/>",
        palette.accent
    );
}

/// Draws a line from position to position; in a curve as wide as a chart, each value covers its whole step.
fn graph(out: &mut String, series: &Series, curve: &Curve, plot: &PlotArea, palette: &Palette) {
    let mut path = String::new();
    let (mut first, mut last) = (None, plot.left);
    for (middle, range) in plot.columns() {
        let (from, end) = (plot.x(range.start as f64), plot.x(range.end as f64));
        let y = plot.y(combined(series.values.get(range).unwrap_or_default(), curve.unit));
        let go = if path.is_empty() { 'M' } else { 'L' };
        let (left, right) = if curve.wide {
            let _ = write!(path, "{go}{from:.1} {y:.1}H{end:.1}");
            (from, end)
        } else {
            let _ = write!(path, "{go}{middle:.1} {y:.1}");
            (middle, middle)
        };
        first.get_or_insert(left);
        last = right;
    }
    let Some(first) = first else { return };
    let base = plot.top + plot.height;
    let _ = writeln!(
        out,
        "<path d=\"{path}L{last:.1} {base:.1}L{first:.1} {base:.1}Z\" fill=\"{0}\" fill-opacity=\"0.14\"/>\
         <path d=\"{path}\" stroke=\"{0}\" stroke-width=\"1.6\" stroke-linejoin=\"round\" fill=\"none\"/>",
        palette.accent
    );
}

/// Draws the series from last to first, each down to the baseline, so that each is visible only above the previous one in the list.
fn bands(out: &mut String, curve: &Curve, plot: &PlotArea) {
    let base = plot.top + plot.height;
    for (number, series) in curve.series.iter().enumerate().rev() {
        let mut path = format!("M{} {base:.1}", plot.left);
        for (_, range) in plot.columns() {
            let (first, end) = (plot.x(range.start as f64), plot.x(range.end as f64));
            let y = plot.y(series.values.get(range.start).copied().unwrap_or(0));
            let _ = write!(path, "L{first:.1} {y:.1}L{end:.1} {y:.1}");
        }
        let _ = writeln!(
            out,
            "<path d=\"{path}L{:.1} {base:.1}Z\" fill=\"{}\"/>",
            plot.x(plot.count as f64),
            BANDS[number % BANDS.len()]
        );
    }
}

/// Draws the mark, and the names of the first, the middle and the last position; names that would overlap the mark or each other are omitted.
fn axis_labels(out: &mut String, curve: &Curve, (left, right): (f64, f64), y: f64, palette: &Palette) {
    let count = curve.at.len();
    let marked = curve.mark.as_ref().map(|(at, why)| {
        let x = left + (right - left) * (*at as f64 + 0.5) / count.max(1) as f64;
        (x, why.as_str())
    });
    let mut shown: Vec<(f64, &str, &str)> = Vec::new();
    if let Some((x, why)) = marked {
        shown.push((x, "middle", why));
    }
    if let [first, .., last] = &curve.at[..] {
        let named = [
            (left, "start", first),
            ((left + right) / 2.0, "middle", &curve.at[count / 2]),
            (right, "end", last),
        ];
        for (x, anchor, name) in named {
            // The mark comes first; names that would overlap others are omitted.
            let free = shown.iter().all(|(other, ..)| (other - x).abs() > 110.0);
            if free {
                shown.push((x, anchor, name));
            }
        }
    }
    for (index, (x, anchor, name)) in shown.iter().enumerate() {
        let ink = if index == 0 && marked.is_some() {
            palette.mark
        } else {
            palette.soft
        };
        let anchor = format!("text-anchor=\"{anchor}\"");
        text(out, (*x, y + 8.0), ink, &anchor, name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(form: Form, values: Vec<u64>) -> Curve {
        Curve {
            title: "a & b".to_owned(),
            at: (0..values.len()).map(|index| index.to_string()).collect(),
            form,
            series: vec![Series {
                name: "one".to_owned(),
                values,
                ..Series::default()
            }],
            ..Curve::default()
        }
    }

    #[test]
    fn a_peak_in_many_positions_is_seen() {
        let mut values = vec![1; 10_000];
        values[7_777] = 100;
        for form in [Form::Bars, Form::Line] {
            let drawn = for_page(&curve(form, values.clone()));
            let top = TITLE + NAME;
            assert!(
                drawn.contains(&format!("{top:.1}M")) || drawn.contains(&format!("{top:.1}L")),
                "{form:?}"
            );
            assert!(
                drawn.len() < 60_000,
                "as many columns as can be seen: {}",
                drawn.len()
            );
        }
    }

    #[test]
    fn curves_of_nothing_and_of_one_are_drawn() {
        for form in [Form::Bars, Form::Line, Form::Bands] {
            for count in [0, 1] {
                let drawn = for_page(&curve(form, vec![0; count]));
                assert!(
                    drawn.contains("a &amp; b") && !drawn.contains("NaN") && !drawn.contains("inf"),
                    "{drawn}"
                );
            }
        }
    }
}
