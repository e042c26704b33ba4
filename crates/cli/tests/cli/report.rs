//! `report`: a page that a browser shows without an error, that answers to mouse, keyboard and search, and that looks as it
//! should.

use std::collections::BTreeSet;

use resvg::tiny_skia::Pixmap;
use serde_json::{Value, json};
use tileheap::frame::synthetic::{SyntheticDesc, synthetic};

use crate::browser::{Browser, browser};
use crate::run::{self, FRAME, contains, file, list, number, place, planned, tileheap};

/// A report in a file.
pub(crate) fn reported(name: &str, arguments: &[&str]) -> String {
    let page = place(name);
    let all = [&["report"], arguments, &["-o", &page]].concat();
    assert_eq!(tileheap(&all).good(), "");
    page
}

/// Nine passes in two batches of which the first has two command buffers; a ladder, aliases, a caller's image.
pub(crate) const RENDERER: &str = include_str!("../data/renderer.json");

/// What a camera asks of a texture cache, in a file.
pub(crate) fn texture_trace(name: &str) -> String {
    let path = place(&format!("{name}.trace"));
    let arguments = ["trace", "insertion", "--frames", "80", "--seed", "3", "-o", &path];
    assert_eq!(tileheap(&arguments).good(), "");
    path
}

/// A place that a script finds.
fn place_of(browser: &mut Browser, script: &str) -> (f64, f64) {
    let found = browser.run(script);
    let side = |at: usize| found[at].as_f64().expect("a place");
    (side(0), side(1))
}

/// Where the middle of a resource's first box is in the window.
fn middle_of(browser: &mut Browser, name: &str) -> (f64, f64) {
    let script = format!(
        "const view = views[0], item = view.chart.items.findIndex(item => item.name === {name:?}); \
         view.canvas.scrollIntoView({{ block: 'center' }}); const [x, y, width, height] = view.place(view.of.get(item)[0]), bounds = view.canvas.getBoundingClientRect(); \
         return [bounds.left + x - view.from + width / 2, bounds.top + y + height / 2];"
    );
    place_of(browser, &script)
}

/// What the page tells of what is pointed at or chosen; nothing if it says nothing.
fn told(browser: &mut Browser) -> String {
    let told = browser.run("return tip.hidden ? '' : tip.querySelector('b').textContent;");
    told.as_str().expect("a title").to_owned()
}

#[test]
fn the_page_answers_to_mouse_search_and_keyboard() {
    let frame = file("looked at.json", RENDERER);
    let page = reported("looked-at.html", &[&frame]);
    let text = std::fs::read_to_string(&page).expect("the page");
    for elsewhere in ["http://", "https://", "src=", "<link", "@import", "url("] {
        let once = text.replace("http://www.w3.org/2000/svg", "");
        assert!(
            !once.contains(elsewhere),
            "the page asks for another file: {elsewhere}"
        );
    }
    let Some(mut browser) = browser() else { return };
    browser.open(&page, (1200, 900));
    // The mouse finds a resource, with all that is to be said of it.
    let (x, y) = middle_of(&mut browser, "albedo");
    browser.move_mouse(x, y);
    assert!(told(&mut browser).starts_with("albedo, "));
    let facts = browser.run("return [...tip.querySelectorAll('dt')].map(name => name.textContent);");
    let names = "lifetime,placement,reason,savings,accesses,shares memory with";
    for name in names.split(',') {
        assert!(list(&facts).contains(&name.into()), "{name}: {facts}");
    }
    // Between resources it finds a pass; a click holds on; Escape lets go.
    let (_, above) = middle_of(&mut browser, "albedo");
    browser.move_mouse(x, above + 400.0);
    browser.click(x, y);
    browser.move_mouse(5.0, 5.0);
    assert!(told(&mut browser).starts_with("albedo, "), "held");
    browser.press("Escape");
    assert_eq!(told(&mut browser), "");
    let (x, y) = place_of(
        &mut browser,
        "const bounds = views[0].canvas.getBoundingClientRect(); return [bounds.left + views[0].x(.5), bounds.top + 12];",
    );
    browser.move_mouse(x, y);
    assert_eq!(told(&mut browser), "gbuffer", "a pass by its column");
    browser.move_mouse(5.0, 5.0);
    // Tabulator: to the search; letters: filter; Enter: to what was found.
    browser.run("document.getElementById('search').focus()");
    for letter in ["b", "l", "o", "o", "m"] {
        browser.press(letter);
    }
    let found = browser.run(
        "return [document.getElementById('found').textContent, [...document.querySelectorAll('tr.item')].filter(row => !row.hidden).length];",
    );
    assert_eq!(found, json!(["2 of 9", 2]));
    browser.press("Enter");
    assert!(told(&mut browser).starts_with("bloom half"));
    browser.press("Escape");
    // What would admit a resource that is not in tile memory.
    let admit = browser.run(
        "views[0].walk(views[0].chart.items.findIndex(item => item.name === 'tone mapped')); \
         return [...tip.querySelectorAll('dd.admit')].map(line => line.textContent);",
    );
    assert!(admit.to_string().contains("batches 0 and 1"), "{admit}");
    // Barriers come and go.
    let lines = |browser: &mut Browser| {
        browser.run("document.getElementById('lines').click(); return views[0].lines.querySelectorAll('tbody tr').length;")
    };
    assert!(number(&lines(&mut browser)) > 10);
    assert_eq!(lines(&mut browser), 0);
    // A curve is read out.
    let read = browser.run("const svg = document.querySelector('figure svg'); svg.focus(); return document.querySelectorAll('figure svg').length;");
    assert_eq!(
        read, 2,
        "the share on chip and the traffic over the size of the heap"
    );
    browser.press("ArrowRight");
    assert!(told(&mut browser).ends_with("MiB"));
    browser.assert_no_faults();
}

/// Without a mouse, and without eyes.
#[test]
fn the_page_can_be_walked_and_heard() {
    let frame = file("walked.json", RENDERER);
    let page = reported("walked.html", &[&frame, "--detail", "plan"]);
    let Some(mut browser) = browser() else { return };
    browser.open(&page, (1200, 900));
    // From the begin of the page on, in this order, all that can be used is met.
    let focused = "const at = document.activeElement; return at.id || at.className || at.tagName;";
    let mut met = Vec::new();
    for _ in 0..6 {
        browser.press("Tab");
        met.push(browser.run(focused).as_str().expect("a name").to_owned());
    }
    assert_eq!(met, ["skip", "search", "lines", "zoom", "chart-0", "SUMMARY"]);
    // The arrows walk over every resource of the chart once, and round.
    browser.run("views[0].canvas.focus()");
    let mut walked = Vec::new();
    for _ in 0..10 {
        browser.press("ArrowRight");
        walked.push(told(&mut browser));
    }
    let round = walked.pop();
    assert_eq!(round.as_ref(), walked.first());
    let each: BTreeSet<&String> = walked.iter().collect();
    assert_eq!(each.len(), 9, "{walked:?}");
    // Enter goes to the row of what is chosen, which stands out.
    browser.press("Enter");
    let row = browser.run("const row = document.activeElement; return row.cells[0].textContent;");
    assert!(
        walked[0].starts_with(row.as_str().expect("a row")),
        "{row} of {walked:?}"
    );
    browser.press("ArrowDown");
    let is_item = browser.run("return document.activeElement.className.includes('item')");
    assert_eq!(is_item, true);
    // What a screen reader is told.
    let spoken = browser.spoken();
    let heard = |role: &str, name: &str| spoken.iter().any(|told| told.0 == role && told.1.contains(name));
    for (role, name) in [
        ("heading", "a renderer on adreno-830"),
        ("search", ""),
        ("searchbox", "Search"),
        ("checkbox", "accesses"),
        ("slider", "Zoom"),
        ("application", "8 steps, 9 resources"),
        ("table", "9 resources as a table"),
        ("columnheader", "reason"),
        ("rowheader", "albedo"),
        ("status", ""),
    ] {
        assert!(heard(role, name), "{role} {name}: {spoken:?}");
    }
    // A table sorts by a number as a number, from the largest, and back.
    let sorted = browser.run(
        "const heads = [...document.querySelectorAll('th[scope=col] button')], size = heads.find(head => head.textContent === 'size'); \
         const first = () => document.querySelector('tr.item th').textContent; \
         size.click(); const large = [size.parentElement.ariaSort, first()]; size.click(); return [...large, size.parentElement.ariaSort, first()];",
    );
    // As large as the quarter of the bloom, and before it.
    assert_eq!(sorted, json!(["descending", "depth", "ascending", "occlusion"]));
    browser.assert_no_faults();
}

#[test]
fn two_plans_are_distinguished() {
    let frame = file("told apart.json", RENDERER);
    let plan = |strategy: &str| {
        let plan = planned(&frame, &["--strategy", strategy]);
        file(&format!("{strategy}.json"), &plan.to_string())
    };
    let (best, off) = (plan("optimal"), plan("off"));
    let page = reported("told-apart.html", &[&best, &off]);
    let Some(mut browser) = browser() else { return };
    browser.open(&page, (1400, 1000));
    let seen = browser.run(
        "return { charts: document.querySelectorAll('.stage').length, changed: document.querySelectorAll('tr.changed').length, \
         tables: [...document.querySelectorAll('#differences summary')].map(title => title.textContent), \
         beside: document.querySelectorAll('.side > section')[1].getBoundingClientRect().left > 600, \
         lanes: views.map(view => view.chart.lanes.map(lane => lane.spans.map(span => span[2]))) };",
    );
    assert!(seen["charts"] == 2 && seen["beside"] == true, "{seen}");
    let changed = number(&seen["changed"]);
    assert!(changed >= 6 && changed % 2 == 0, "{seen}");
    assert_eq!(seen["tables"], json!(["Resources", "Bound in passes", "Totals"]));
    // A saved plan knows its windows and command buffers.
    let lanes = json!([["batch 0", "batch 1"], ["scene", "post", "late"]]);
    assert_eq!(seen["lanes"][0], lanes);
    // What is chosen in one is seen in the other.
    let (x, y) = middle_of(&mut browser, "lit");
    browser.move_mouse(x, y);
    let also = browser.run("return views[1].chart.items[views[1].also].name;");
    assert_eq!(also, "lit");
    browser.assert_no_faults();
    let same = reported("the-same.html", &[&best, &best]);
    browser.open(&same, (1400, 1000));
    let said = browser.run("return document.getElementById('differences').textContent;");
    assert!(said.to_string().contains("The plans are equal"), "{said}");
}

/// As large as anyone will ask for: what a move of the mouse does is counted, for time is the machine's.
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
    // What is drawn, measured and asked from here on.
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
        met += u32::from(!told(&mut browser).is_empty());
    }
    let hover = browser.run(
        "const seen = { ...counted }; counted.fills = counted.measured = counted.placed = 0; return seen;",
    );
    assert!(met > 150, "{met} of 200 places have something to say");
    // A move asks the boxes of its stretch and outlines what it chose: nothing is drawn anew.
    let count = |counted: &Value, what: &str| number(&counted[what]);
    assert_eq!(count(&hover, "measured"), 0, "{hover}");
    assert!(count(&hover, "fills") <= 200, "{hover}");
    assert!(count(&hover, "placed") < 200 * 700, "{hover}");
    // All of it is drawn once; zoomed in, only what is seen is.
    let all = browser.run(
        "views[0].draw(); const seen = { ...counted }; counted.fills = counted.placed = 0; return seen;",
    );
    assert!((1900..6000).contains(&count(&all, "placed")), "{all}");
    let near = browser.run("const zoom = document.getElementById('zoom'); zoom.value = 16; zoom.dispatchEvent(new Event('input')); return { ...counted };");
    assert!(
        count(&near, "placed") * 4 < count(&all, "placed"),
        "{near} of {all}"
    );
    // The table is not there until it is asked for.
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
fn a_tensor_plan_is_shown_from_records_and_from_its_document() {
    let records = file("records.csv", RECORDS);
    let page = reported("records.html", &[&records, "--tensor-strategy", "litert-best"]);
    let document = tileheap(&["tensors", &records, "--strategy", "litert-best", "--json"]).good();
    let document = file("records.json", &document);
    let saved = reported("saved-records.html", &[&document]);
    let text = |page: &str| std::fs::read_to_string(page).expect("the page");
    assert!(
        text(&page) == text(&saved),
        "a report of a saved document is the same"
    );
    let Some(mut browser) = browser() else { return };
    browser.open(&page, (1200, 900));
    let seen = browser.run(
        "return { panels: views[0].chart.panels.map(panel => panel.name), tables: [...document.querySelectorAll('.wide table')].map(table => table.ariaLabel), \
         rules: views[0].chart.panels[0].rules.map(rule => rule[1]), drawn: document.querySelector('tr.best th').textContent, marks: views[0].chart.marks };",
    );
    assert_eq!(seen["panels"][0], "Memory device");
    assert_eq!(seen["drawn"], "litert-best");
    assert_eq!(seen["marks"], json!([[3, "peak"]]), "conv, relu and skip");
    let tables = [
        "Live at the peak, step 3",
        "Pools",
        "Bytes by strategy",
        "6 tensors as a table",
    ];
    let mut shown = list(&seen["tables"]).iter().filter_map(Value::as_str);
    assert!(tables.into_iter().eq(shown.by_ref()), "{seen}");
    assert!(list(&seen["rules"]).contains(&"pool 1".into()), "{seen}");
    let (x, y) = middle_of(&mut browser, "relu");
    browser.move_mouse(x, y);
    assert_eq!(told(&mut browser), "relu, 8 KiB");
    browser.assert_no_faults();
}

#[test]
fn a_replay_is_shown_from_a_trace_and_from_its_document() {
    let trace = texture_trace("shown");
    tileheap(&["report", &trace]).names(2, &["--cache"]);
    let options = [&*trace, "--cache", "2MiB", "--policy", "arenas,lru,ring"];
    let page = reported("shown.html", &options);
    let document = tileheap(&["replay", &trace, "--budget", "2MiB", "--json"]).good();
    let document = file("shown.json", &document);
    let saved = reported("shown-document.html", &[&document]);
    let Some(mut browser) = browser() else { return };
    for (page, policies, curves) in [(&page, 4, 3), (&saved, 1, 2)] {
        browser.open(page, (1200, 1000));
        let seen = browser.run("return { curves: document.querySelectorAll('figure').length, policies: document.querySelectorAll('.wide tbody tr').length };");
        assert_eq!(seen, json!({ "curves": curves, "policies": policies }), "{page}");
    }
    browser.open(&page, (1200, 1000));
    let (x, y) = place_of(
        &mut browser,
        "const bounds = document.querySelector('figure svg').getBoundingClientRect(); return [bounds.left + bounds.width / 2, bounds.top + bounds.height / 2];",
    );
    browser.move_mouse(x, y);
    let told = browser.run("return [tip.querySelector('b').textContent, [...tip.querySelectorAll('dt')].map(name => name.textContent)];");
    assert!(told[0].to_string().starts_with("\"frame "), "{told}");
    assert_eq!(told[1], json!(["arenas", "lru", "ring"]));
    browser.assert_no_faults();
}

#[test]
fn a_sweep_is_shown_by_itself() {
    let frame = file("swept.json", FRAME);
    let swept = tileheap(&["advise", &frame, "--sweep", "size=640x360..1920x1080", "--json"]).good();
    let page = tileheap(&["report", &file("sweep.json", &swept)]);
    page.shows(&["by extent", "1920 x 1080"]);
}

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

#[test]
fn a_trace_of_the_emulator_is_drawn() {
    let trace = r#"{"format":"tileheap-emulator-trace","version":2,"profile":"adreno-830","heap":8355840}
{"event":"bind","commandBuffer":"0x1","bytes":4096}
{"event":"discard","commandBuffer":"0x1","first":4096,"end":8355840,"why":"smaller <binding>"}
{"event":"submit","number":1,"queue":"0x2","batch":0,"commandBuffers":["0x1"],"live":4096}
{"event":"end","messages":{"TILEHEAP-wrong-object":3}}
"#;
    let input = file("emulated.json", trace);
    let page = tileheap(&["report", &input]).shows(&["TILEHEAP-wrong-object: reported 3 times"]);
    assert!(!page.contains("<binding>"), "a name becomes an element");
    // The program crashed while it wrote.
    let end = trace.find("\"live\"").expect("a submission");
    let cut = file("cut.json", &trace[..end]);
    tileheap(&["report", &cut]).shows(&["ended before it destroyed", "smaller"]);
}

/// Documents of the command are read strictly: nothing that is missing is drawn as nothing.
#[test]
fn broken_documents_are_named() {
    let trace = place("short.trace");
    tileheap(&["trace", "strafe", "--frames", "8", "-o", &trace]).good();
    let records = file("four.csv", "id,lower,upper,size\na,0,2,4\nb,1,3,4\n");
    let frame = file("swept.json", FRAME);
    let made: [&[&str]; 3] = [
        &["replay", &trace, "--budget", "2MiB", "--json"],
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

#[test]
fn what_cannot_be_shown_is_named() {
    let other = file("other.json", r#"{"format":"tileheap-profile","version":1}"#);
    let broken = file("broken.json", "{");
    let table = file("table.csv", "id,lower,upper,size\na,0,2,x\n");
    let frame = file("unwritten.json", FRAME);
    let cases: [(&[&str], i32, &[&str]); 5] = [
        (&[&other], 1, &["tileheap-profile"]),
        (&[&broken], 1, &["broken.json"]),
        (&[&table], 2, &["table.csv", "size"]),
        (&["-", "-"], 1, &["standard input"]),
        (&[&frame, "-o", "/nowhere/a.html"], 1, &["/nowhere/a.html"]),
    ];
    for (arguments, status, parts) in cases {
        tileheap(&[&["report"], arguments].concat()).names(status, parts);
    }
}
