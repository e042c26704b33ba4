//! Compares pictures of pages with references, coarsely enough to ignore fonts and browser versions, and finely enough to see changes of the drawing.
//!
//! A picture is averaged over squares of [`CELL`] pixels, the form in which references are stored. The difference of a cell is that to the most
//! similar of its neighbors, because letters move by less than a cell. Differences are averaged per tile: an item that moves, is missing or has
//! another color changes some tile by much; different text rendering changes all tiles by little.

use std::path::{Path, PathBuf};

use resvg::tiny_skia::{IntSize, Pixmap};

use crate::browser::browser;
use crate::report::{RECORDS, RENDERER, reported, texture_trace};
use crate::run::{file, place, scratch, tileheap};
use crate::support::workspace;

/// Pixels per cell, along each side.
const CELL: u32 = 8;
/// Cells per tile, along each side.
const TILE: u32 = 6;
/// The largest mean difference of a tile that is accepted, of 255.
const TOLERANCE: f64 = 16.0;

/// The cells of a picture, as colors of three channels.
struct Coarse {
    width: u32,
    height: u32,
    cells: Vec<[u8; 3]>,
}

/// The row and column of each cell of a grid.
fn grid(rows: u32, columns: u32) -> impl Iterator<Item = (u32, u32)> {
    (0..rows).flat_map(move |row| (0..columns).map(move |column| (row, column)))
}

impl Coarse {
    /// Averages a PNG; partial cells at its edges are omitted.
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

    /// The largest mean difference of a tile, and the position of its center in pixels. Rows that only one of the two pictures has count as entirely
    /// different.
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

    /// The difference between a cell and the most similar one at or beside its position in another picture.
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
    "TILEHEAP_REFRESH_PICTURES=1 draws all references again; look at them before you commit them";

/// Compares with the reference of this name; replaces it first if `TILEHEAP_REFRESH_PICTURES` is set.
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

/// The report that `docs/capture.png` shows; `scripts/draw-pictures.sh` writes both.
const PICTURED: &str = include_str!("../data/pictured_report.json");

/// The page of [`PICTURED`], which another frame's page becomes.
fn pictured_page() -> String {
    let page = std::fs::read_to_string(capture_page("pictured-report")).expect("a page");
    let (before, rest) = page
        .split_once("<script id=\"data\" type=\"application/json\">")
        .expect("data");
    let (data, after) = rest.split_once("</script>").expect("an end");
    let mut data: serde_json::Value = serde_json::from_str(data).expect("JSON");
    let report: serde_json::Value = serde_json::from_str(PICTURED).expect("JSON");
    let title = report[0]["title"].as_str().expect("a title");
    let heading = format!(
        "<h1>{}</h1>",
        data["charts"][0]["title"].as_str().expect("a title")
    );
    assert!(before.contains(&heading), "{heading}");
    let before = before.replace(&heading, &format!("<h1>{title}</h1>"));
    data["charts"][0]["report"] = report[0].clone();
    let data = data.to_string().replace('<', "\\u003c");
    file(
        "pictured-report.html",
        &format!("{before}<script id=\"data\" type=\"application/json\">{data}</script>{after}"),
    )
}

/// The guide's pictures of the first page look like the page of the same report now.
#[test]
fn the_pictures_of_the_first_page_are_current() {
    let page = pictured_page();
    let Some(mut browser) = browser() else { return };
    for (name, scheme) in [("capture.png", "light"), ("capture_dark.png", "dark")] {
        // The verdict and all changes; the edge is between two paragraphs.
        browser.open(&page, (1200, 1316));
        browser.show_as("", scheme);
        let png = browser.picture();
        let picture = workspace().join("docs").join(name);
        if std::env::var_os("TILEHEAP_REFRESH_PICTURES").is_some() {
            std::fs::write(&picture, &png).expect("a picture");
        }
        let shown = Coarse::of(&std::fs::read(&picture).expect("a picture"));
        let (difference, (x, y)) = Coarse::of(&png).difference(&shown);
        eprintln!("{name}: differs by {difference:.1} of {TOLERANCE} at most");
        let name = picture.display();
        assert!(
            difference <= TOLERANCE,
            "{name} differs by {difference:.1} about ({x}, {y}): {REFRESH}"
        );
    }
    browser.assert_no_faults();
}

/// The guide describes the pictured report.
#[test]
fn the_description_of_the_picture_has_its_figures() {
    let report: serde_json::Value = serde_json::from_str(PICTURED).expect("JSON");
    let guide = std::fs::read_to_string(workspace().join("docs/guide/capture.md")).expect("the guide");
    let alt = guide
        .lines()
        .find(|line| line.contains("capture.png"))
        .expect("the picture");
    for field in ["now_bytes", "proposed_bytes"] {
        let bytes = report[0][field].as_u64().expect("a number");
        let text = format!("{:#}", tileheap_units::Bytes(bytes));
        assert!(alt.contains(&text), "{text} is not in {alt}");
    }
}

/// The report about a frame of `examples/deferred`, captured on lavapipe, has the stored words. When the words of reports change, the pictures of
/// one show the old words.
#[test]
fn the_words_of_a_report_are_the_stored_ones() {
    let frame = file("captured_frame.json", include_str!("../data/captured_frame.json"));
    let folder = place("captured_frame");
    let output = tileheap(&["capture", "--from", &frame, "--no-open", "-o", &folder]).good();
    let (words, _) = output.split_once("\nFrames\n").expect("the files that it wrote");
    let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/captured_report.txt");
    if std::env::var_os("TILEHEAP_GOLDEN").is_some_and(|value| value == "write") {
        std::fs::write(&stored, words).expect("a stored report");
    }
    assert_eq!(
        words,
        std::fs::read_to_string(&stored).expect("a stored report"),
        "TILEHEAP_GOLDEN=write writes {} again; scripts/draw-pictures.sh draws the pictures of a report again",
        stored.display()
    );
}

/// The page about a captured frame, in a folder of this name.
fn capture_page(folder: &str) -> String {
    let mut frame: serde_json::Value = serde_json::from_str(RENDERER).expect("JSON");
    frame["capture"] = serde_json::json!({ "version": 2, "program": "game", "device": "a phone" });
    let (frame, folder) = (file(&format!("{folder}.json"), &frame.to_string()), place(folder));
    tileheap(&["capture", "--from", &frame, "--no-open", "-o", &folder]).good();
    format!("{folder}/report.html")
}

/// Light, dark, narrow and printed pages, tensors and caches look like their references; damaged pages do not.
#[test]
fn pages_look_as_they_should() {
    let frame = file("pictured page.json", RENDERER);
    let page = reported("pictured-page.html", &[&frame]);
    let records = reported("pictured-records.html", &[&file("pictured.csv", RECORDS)]);
    let trace = texture_trace("pictured");
    let options = [&*trace, "--memory", "2MiB", "--policy", "arenas,lru"];
    let replay = reported("pictured-replay.html", &options);
    let capture = capture_page("pictured-capture");
    let Some(mut browser) = browser() else { return };
    for (page, name, size, media, scheme) in [
        (&page, "frame-light", (1200, 1000), "", "light"),
        (&page, "frame-dark", (1200, 1000), "", "dark"),
        (&page, "frame-narrow", (480, 1000), "", "light"),
        (&page, "frame-paper", (1040, 1000), "print", "dark"),
        (&records, "tensors", (1200, 900), "", "light"),
        (&replay, "replay", (1200, 700), "", "light"),
        (&capture, "capture-light", (1200, 1000), "", "light"),
        (&capture, "capture-narrow", (400, 1000), "", "dark"),
    ] {
        browser.open(page, size);
        browser.show_as(media, scheme);
        let beside =
            browser.run("const page = document.documentElement; return page.scrollWidth - page.clientWidth;");
        assert_eq!(beside, 0, "{name} is wider than the screen");
        let picture = browser.picture();
        assert_looks_like_reference(&picture, name);
        if media == "print" {
            // A drawing taller than a sheet of A4 is not printed at all.
            let drawn = browser.run(
                "const { width, height } = views[0].base.getBoundingClientRect(); return [width, height];",
            );
            let [width, height] = [0, 1].map(|side| drawn[side].as_f64().expect("pixels"));
            assert!(width > 400.0 && (200.0..530.0).contains(&height), "{drawn}");
        }
    }
    browser.assert_no_faults();
    // Damages the page in every listed way.
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
    // A page with different text rendering still looks the same.
    browser.open(&page, (1200, 1000));
    browser.run("document.body.style.letterSpacing = '.2px'; document.body.style.color = '#333338'; document.body.style.fontWeight = 500");
    let letters = Coarse::of(&browser.picture());
    eprintln!("other letters: differs by {:.1}", letters.difference(&right).0);
    assert!(letters.looks_like(&right));
}

/// Every text of a drawing has sufficient contrast (4.5), on white and on a dark screen; a PNG has a white background.
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
