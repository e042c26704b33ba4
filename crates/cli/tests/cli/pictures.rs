//! Pictures of pages against references, so coarse that fonts and versions of a browser do not matter, and so fine that what is drawn
//! does.
//!
//! A picture is averaged over squares of [`CELL`] pixels; references are stored so. A cell differs by what it differs from the one
//! most like it among its neighbours, for letters move by less than that. Tile by tile: what moves, is missing or has another colour
//! changes some tile by much, another way to set letters changes all of them by little.

use std::path::{Path, PathBuf};

use resvg::tiny_skia::{IntSize, Pixmap};

use crate::browser::browser;
use crate::report::{RECORDS, RENDERER, reported, texture_trace};
use crate::run::{file, place, scratch, tileheap};

/// Pixels to a cell, along each side.
const CELL: u32 = 8;
/// Cells to a tile, along each side.
const TILE: u32 = 6;
/// By how much the mean of a tile may differ, of 255.
const TOLERANCE: f64 = 16.0;

/// A picture of cells, colours of three channels.
struct Coarse {
    width: u32,
    height: u32,
    cells: Vec<[u8; 3]>,
}

/// Row and column of everything in so many rows and columns.
fn grid(rows: u32, columns: u32) -> impl Iterator<Item = (u32, u32)> {
    (0..rows).flat_map(move |row| (0..columns).map(move |column| (row, column)))
}

impl Coarse {
    /// Of a PNG, cells at its edges that are not whole left out.
    fn of(png: &[u8]) -> Coarse {
        let pixels = Pixmap::decode_png(png).expect("a PNG");
        let (width, height) = (pixels.width() / CELL, pixels.height() / CELL);
        let mut cells = Vec::new();
        for (y, x) in grid(height, width) {
            let mut sums = [0u32; 3];
            for (down, right) in grid(CELL, CELL) {
                let pixel = pixels.pixel(x * CELL + right, y * CELL + down).expect("inside");
                for (sum, value) in sums.iter_mut().zip([pixel.red(), pixel.green(), pixel.blue()]) {
                    *sum += u32::from(value);
                }
            }
            cells.push(sums.map(|sum| (sum / (CELL * CELL)) as u8));
        }
        Coarse { width, height, cells }
    }

    fn read(path: &Path) -> Coarse {
        let png =
            std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}: {REFRESH}", path.display()));
        let pixels = Pixmap::decode_png(&png).expect("a PNG");
        Coarse {
            width: pixels.width(),
            height: pixels.height(),
            cells: pixels
                .pixels()
                .iter()
                .map(|pixel| [pixel.red(), pixel.green(), pixel.blue()])
                .collect(),
        }
    }

    fn write(&self, path: &Path) {
        let data = self
            .cells
            .iter()
            .flat_map(|&[red, green, blue]| [red, green, blue, 255])
            .collect();
        let size = IntSize::from_wh(self.width, self.height).expect("a picture has cells");
        let pixels = Pixmap::from_vec(data, size).expect("as many bytes");
        std::fs::write(path, pixels.encode_png().expect("a PNG")).expect("a reference");
    }

    /// The largest mean difference of a tile, and where its middle is in pixels. Rows that only one of the two has count as
    /// different altogether.
    fn difference(&self, other: &Coarse) -> (f64, (u32, u32)) {
        assert_eq!(self.width, other.width, "pictures of windows of one width");
        let mut worst = (0.0, (0, 0));
        let height = self.height.max(other.height);
        for (y, x) in grid(height.div_ceil(TILE), self.width.div_ceil(TILE)) {
            let (mut sum, mut count) = (0.0, 0.0);
            for (down, right) in grid(TILE, TILE) {
                let (row, column) = (y * TILE + down, x * TILE + right);
                if row >= height || column >= self.width {
                    continue;
                }
                let there = self.nearest(other, row, column);
                sum += there.max(other.nearest(self, row, column));
                count += 1.0;
            }
            if sum / count > worst.0 {
                let middle = |tile: u32| (tile * TILE + TILE / 2) * CELL;
                worst = (sum / count, (middle(x), middle(y)));
            }
        }
        worst
    }

    fn cell(&self, row: u32, column: u32) -> Option<[u8; 3]> {
        let inside = row < self.height && column < self.width;
        inside.then(|| self.cells[(row * self.width + column) as usize])
    }

    /// By how much a cell differs from the one there, or beside it, in another picture.
    fn nearest(&self, other: &Coarse, row: u32, column: u32) -> f64 {
        let Some(cell) = self.cell(row, column) else {
            return 255.0;
        };
        let beside = grid(3, 3).filter_map(|(down, right)| {
            other.cell((row + down).checked_sub(1)?, (column + right).checked_sub(1)?)
        });
        let differences = beside.map(|beside| {
            let channels = cell.iter().zip(beside).map(|(one, two)| one.abs_diff(two));
            channels.max().unwrap_or(0)
        });
        f64::from(differences.min().unwrap_or(255))
    }

    fn looks_like(&self, other: &Coarse) -> bool {
        self.difference(other).0 <= TOLERANCE
    }
}

const REFRESH: &str =
    "TILEHEAP_REFRESH_PICTURES=1 draws all references anew; look at them before they are kept";

/// Compares with the reference of this name, or draws it anew.
fn assert_looks_like_reference(png: &[u8], name: &str) {
    let reference = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/references")
        .join(format!("{name}.png"));
    let seen = Coarse::of(png);
    let full = scratch(&format!("{name}.png"));
    std::fs::write(&full, png).expect("a scratch file");
    if std::env::var_os("TILEHEAP_REFRESH_PICTURES").is_some() {
        seen.write(&reference);
    }
    let (difference, (x, y)) = seen.difference(&Coarse::read(&reference));
    eprintln!("{name}: differs by {difference:.1} of {TOLERANCE} at most");
    assert!(
        difference <= TOLERANCE,
        "{} differs from {} by {difference:.1} about ({x}, {y}): {REFRESH}",
        full.display(),
        reference.display()
    );
}

/// Light, dark, narrow and on paper; tensors and caches: as the references show them, and not when something is wrong.
#[test]
fn pages_look_as_they_should() {
    let frame = file("pictured page.json", RENDERER);
    let page = reported("pictured-page.html", &[&frame]);
    let records = reported("pictured-records.html", &[&file("pictured.csv", RECORDS)]);
    let trace = texture_trace("pictured");
    let options = [&*trace, "--cache", "2MiB", "--policy", "arenas,lru"];
    let replay = reported("pictured-replay.html", &options);
    let Some(mut browser) = browser() else { return };
    for (page, name, size, media, scheme) in [
        (&page, "frame-light", (1200, 1000), "", "light"),
        (&page, "frame-dark", (1200, 1000), "", "dark"),
        (&page, "frame-narrow", (480, 1000), "", "light"),
        (&page, "frame-paper", (1040, 1000), "print", "dark"),
        (&records, "tensors", (1200, 900), "", "light"),
        (&replay, "replay", (1200, 700), "", "light"),
    ] {
        browser.open(page, size);
        browser.show_as(media, scheme);
        let picture = browser.picture();
        assert_looks_like_reference(&picture, name);
        if media == "print" {
            // What is taller than a sheet of A4 is printed as nothing.
            let drawn = browser.run(
                "const { width, height } = views[0].base.getBoundingClientRect(); return [width, height];",
            );
            let [width, height] = [0, 1].map(|side| drawn[side].as_f64().expect("pixels"));
            assert!(width > 400.0 && (200.0..530.0).contains(&height), "{drawn}");
        }
    }
    browser.assert_no_faults();
    // What can go wrong with a page, done to it.
    browser.open(&page, (1200, 1000));
    let right = Coarse::of(&browser.picture());
    for (what, script) in include_str!("../data/wrong_pages.txt")
        .lines()
        .filter_map(|line| line.split_once(": "))
    {
        browser.open(&page, (1200, 1000));
        browser.run(script);
        let wrong = Coarse::of(&browser.picture());
        eprintln!("{what}: differs by {:.1}", wrong.difference(&right).0);
        assert!(!wrong.looks_like(&right), "{what} is not seen");
    }
    // Another way to set letters is no other page.
    browser.open(&page, (1200, 1000));
    browser.run("document.body.style.letterSpacing = '.2px'; document.body.style.color = '#333338'; document.body.style.fontWeight = 500");
    let letters = Coarse::of(&browser.picture());
    eprintln!("other letters: differs by {:.1}", letters.difference(&right).0);
    assert!(letters.looks_like(&right));
}

/// Every text of a drawing has the contrast that people need (4.5), on white and on a dark screen; and pixels are on white.
#[test]
fn drawings_go_with_the_screen_they_are_on() {
    let frame = file("drawn.json", RENDERER);
    let (svg, png) = (place("drawn.svg"), place("drawn.png"));
    tileheap(&["report", &frame, "--svg", &svg, "--png", &png]).good();
    let pixels = Pixmap::decode_png(&std::fs::read(png).expect("the pixels")).expect("a PNG");
    let corner = pixels.pixel(0, 0).expect("a corner");
    assert_eq!([corner.red(), corner.green(), corner.blue()], [255; 3]);

    let Some(mut browser) = browser() else { return };
    browser.open(&svg, (1200, 900));
    let mut grounds = Vec::new();
    for scheme in ["light", "dark"] {
        browser.show_as("", scheme);
        let seen = browser.run(include_str!("../data/contrast.js"));
        assert_eq!(seen["faint"], serde_json::json!([]), "{scheme}");
        assert!(seen["texts"].as_u64() > Some(30), "{seen}");
        grounds.push(seen["ground"].clone());
    }
    assert_eq!(grounds, ["rgb(255, 255, 255)", "rgb(22, 22, 26)"]);
    browser.assert_no_faults();
}
