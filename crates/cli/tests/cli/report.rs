//! `report`: a page that a browser shows without an error, that reacts to mouse, keyboard and search, and that looks as it should.

use resvg::tiny_skia::Pixmap;
use serde_json::{Value, json};
use tileheap::frame::synthetic::{SyntheticDesc, synthetic};

use crate::browser::browser;
use crate::run::{self, FRAME, contains, file, number, place, tileheap};

/// Writes a report to a file; returns its path.
pub(crate) fn reported(name: &str, arguments: &[&str]) -> String {
    let page = place(name);
    let all = [&["report"], arguments, &["-o", &page]].concat();
    assert_eq!(tileheap(&all).good(), "");
    page
}

/// Nine passes in two batches, the first with two command buffers; a ladder, aliases, an external image.
pub(crate) const RENDERER: &str = include_str!("../data/renderer.json");

/// Writes a trace of a camera's texture requests to a file; returns its path.
pub(crate) fn texture_trace(name: &str) -> String {
    let path = place(&format!("{name}.trace"));
    let arguments = ["trace", "insertion", "--frames", "80", "--seed", "3", "-o", &path];
    assert_eq!(tileheap(&arguments).good(), "");
    path
}

/// A frame of the largest expected size. The work per mouse move is counted, because time depends on the machine.
#[test]
fn two_thousand_resources_stay_smooth() {
    let desc = SyntheticDesc {
        passes: 1000,
        resources: 2000,
        batches: 40,
        ..SyntheticDesc::default()
    };
    let frame = file("large.json", &synthetic(5, desc).to_json());
    let page = reported("large.html", &[&frame, "--strategy", "fast"]);
    let Some(mut browser) = browser() else { return };
    browser.open(&page, (1200, 900));
    // Counts fills, text measurements and placements from here on.
    browser.run(
        "window.counted = { fills: 0, measured: 0, placed: 0 }; const made = CanvasRenderingContext2D.prototype; \
         for (const [name, count] of [['fillRect', 'fills'], ['measureText', 'measured']]) { \
           const before = made[name]; made[name] = function (...all) { counted[count]++; return before.apply(this, all); }; } \
         const place = View.prototype.place; View.prototype.place = function (box) { counted.placed++; return place.call(this, box); };",
    );
    let stage = browser.run("const { left, width } = views[0].stage.getBoundingClientRect(); return [left, width, views[0].canvas.getBoundingClientRect().top + views[0].tops[1] + 100];");
    let [left, width, y] = [0, 1, 2].map(|at| stage[at].as_f64().expect("a number"));
    let mut met = 0;
    for step in 0..200 {
        browser.move_mouse(left + 90.0 + (width - 110.0) * f64::from(step) / 200.0, y);
        met += u32::from(browser.run("return !tip.hidden") == true);
    }
    let hover = browser.run(
        "const seen = { ...counted }; counted.fills = counted.measured = counted.placed = 0; return seen;",
    );
    assert!(met > 150, "{met} of 200 places have something to say");
    // A mouse move searches the boxes near the pointer and outlines the chosen one: nothing is redrawn.
    let count = |counted: &Value, what: &str| number(&counted[what]);
    assert_eq!(count(&hover, "measured"), 0, "{hover}");
    assert!(count(&hover, "fills") <= 200, "{hover}");
    assert!(count(&hover, "placed") < 200 * 700, "{hover}");
    // Everything is drawn once; zoomed in, only the visible part is drawn.
    let all = browser.run(
        "views[0].draw(); const seen = { ...counted }; counted.fills = counted.placed = 0; return seen;",
    );
    assert!((1900..6000).contains(&count(&all, "placed")), "{all}");
    let near = browser.run("const zoom = document.getElementById('zoom'); zoom.value = 16; zoom.dispatchEvent(new Event('input')); return { ...counted };");
    assert!(
        count(&near, "placed") * 4 < count(&all, "placed"),
        "{near} of {all}"
    );
    // The table is built when it is first opened.
    let rows = browser.run("const rows = () => document.querySelectorAll('tr.item').length, before = rows(); views[0].details.unfold(); return [before, rows()];");
    assert_eq!(rows, json!([0, 2000]));
    let took = browser.run(
        "const view = views[0], time = (count, what) => { const start = performance.now(); for (let at = 0; at < count; at++) what(at); return (performance.now() - start) / count; }; \
         const bounds = view.canvas.getBoundingClientRect(); \
         return { draw: time(10, () => view.draw()), hover: time(200, at => view.point({ clientX: bounds.left + 90 + at * 5, clientY: bounds.top + view.tops[1] + 100 })) };",
    );
    eprintln!("milliseconds: {took}");
    browser.assert_no_faults();
}

pub(crate) const RECORDS: &str = "id,lower,upper,size\nx,0,2,4096\nconv,1,4,8192\nrelu,3,6,8192\nskip,1,7,2048\npool,5,8,4096\ndense,7,9,1024\n";

#[test]
fn pictures_are_drawn_without_a_browser() {
    let frame = file("pictured.json", FRAME);
    let (svg, png) = (place("pictured.svg"), place("pictured.png"));
    let both = tileheap(&["report", &frame, "--svg", &svg, "--png", &png]);
    assert_eq!(both.good(), "");
    let text = std::fs::read_to_string(&svg).expect("the picture");
    let text = contains(text, &["<title>", ">tile memory<", ">bound tile memory<"]);
    assert!(text.starts_with("<svg "), "{text}");
    let ground = |arguments: &[&str]| {
        tileheap(&[&["report", &frame, "--png", &png], arguments].concat()).good();
        let pixels = std::fs::read(&png).expect("the picture");
        let pixels = Pixmap::decode_png(&pixels).expect("a PNG");
        let corner = pixels.pixel(0, 0).expect("a corner");
        [corner.red(), corner.green(), corner.blue()]
    };
    assert_eq!(ground(&[]), [0xff; 3]);
    assert_eq!(ground(&["--dark"]), [0x16, 0x16, 0x1a]);
}

/// Documents of the command are read strictly: missing fields are errors, not empty drawings.
#[test]
fn broken_documents_are_named() {
    let trace = place("short.trace");
    tileheap(&["trace", "strafe", "--frames", "8", "-o", &trace]).good();
    let records = file("four.csv", "id,lower,upper,size\na,0,2,4\nb,1,3,4\n");
    let frame = file("swept.json", FRAME);
    let made: [&[&str]; 3] = [
        &["replay", &trace, "--memory", "2MiB", "--json"],
        &["tensors", &records, "--json"],
        &["advise", &frame, "--sweep", "heap=2MiB..8MiB", "--json"],
    ];
    for arguments in made {
        let whole = run::json(&tileheap(arguments).good());
        let shown = |document: &Value| tileheap(&["report", &file("spoilt.json", &document.to_string())]);
        shown(&whole).good();
        for field in whole.as_object().expect("an object").keys() {
            let mut other = whole.clone();
            other[field] = json!({ "no": "such" });
            shown(&other).names(1, &["spoilt.json"]);
        }
        let mut vast = whole.clone();
        let part = ["/budget", "/size", "/points/0/size"];
        let part = part.into_iter().find(|part| whole.pointer(part).is_some());
        *vast.pointer_mut(part.expect("a number")).expect("found") = u64::MAX.into();
        shown(&vast).names(1, &["18446744073709551615"]);
    }
}
