//! `report`: a page that a browser shows without an error, that answers to mouse, keyboard and search, and that looks as it
//! should.

use resvg::tiny_skia::Pixmap;
use serde_json::{Value, json};
use tileheap::frame::synthetic::{SyntheticDesc, synthetic};

use crate::browser::{Browser, browser};
use crate::run::{self, FRAME, file, scratch, tileheap};

fn place(name: &str) -> String {
    scratch(name).to_str().expect("a path in UTF-8").to_owned()
}

/// A report in a file.
pub(crate) fn reported(name: &str, arguments: &[&str]) -> String {
    let page = place(name);
    let all = [&["report"], arguments, &["-o", &page]].concat();
    assert_eq!(tileheap(&all).good(), "");
    page
}

/// Nine passes in two batches of which the first has two command buffers; a ladder, aliases, a caller's image.
pub(crate) fn renderer() -> String {
    let image = |name: &str, format: &str, scale: f64| json!({ "name": name, "image": { "format": format, "scale": [scale, scale] } });
    let drawn = |resource: &str| json!({ "resource": resource, "kind": "color_attachment", "writes": true, "load_op": "dont_care" });
    let depth = json!({ "resource": "depth", "kind": "depth_stencil_attachment", "writes": true, "load_op": { "clear": { "depth_stencil": [1.0, 0] } } });
    let read = |resource: &str| json!({ "resource": resource, "kind": "sampled_image", "reads": true });
    let pass =
        |name: &str, accesses: &[Value]| json!({ "name": name, "kind": "render", "accesses": accesses });
    let rgba = "VK_FORMAT_R8G8B8A8_UNORM";
    json!({
        "format": "tileheap-frame", "version": 2, "name": "a renderer", "base_extent": [1280, 720],
        "queues": [{ "name": "graphics", "capabilities": ["VK_QUEUE_GRAPHICS_BIT"] }],
        "resources": [
            image("albedo", rgba, 1.0), image("normal", rgba, 1.0), image("depth", "VK_FORMAT_D32_SFLOAT", 1.0),
            image("occlusion", "VK_FORMAT_R8_UNORM", 0.5), image("lit", "VK_FORMAT_B10G11R11_UFLOAT_PACK32", 1.0),
            image("bloom half", "VK_FORMAT_B10G11R11_UFLOAT_PACK32", 0.5), image("bloom quarter", "VK_FORMAT_B10G11R11_UFLOAT_PACK32", 0.25),
            image("tone mapped", rgba, 1.0), image("sharpened", rgba, 1.0),
        ],
        "submits": [{ "queue": "graphics", "batches": [
            { "command_buffers": [
                { "name": "scene", "passes": [
                    pass("gbuffer", &[drawn("albedo"), drawn("normal"), depth]),
                    pass("occlusion", &[read("normal"), read("depth"), drawn("occlusion")]),
                    pass("lighting", &[read("albedo"), read("normal"), read("depth"), read("occlusion"), drawn("lit")]),
                ] },
                { "name": "post", "passes": [
                    pass("bloom down", &[read("lit"), drawn("bloom half")]),
                    pass("bloom down again", &[read("bloom half"), drawn("bloom quarter")]),
                    pass("tone map", &[read("lit"), read("bloom half"), read("bloom quarter"), drawn("tone mapped")]),
                ] },
            ] },
            { "command_buffers": [{ "name": "late", "passes": [
                pass("sharpen", &[read("tone mapped"), drawn("sharpened")]),
                { "name": "histogram", "kind": "compute", "accesses": [read("sharpened")] },
            ] }] },
        ] }],
    })
    .to_string()
}

/// What a camera asks of a texture cache, in a file.
pub(crate) fn texture_trace(name: &str) -> String {
    let path = place(&format!("{name}.trace"));
    let arguments = ["trace", "insertion", "--frames", "80", "--seed", "3", "-o", &path];
    assert_eq!(tileheap(&arguments).good(), "");
    path
}

/// Where the middle of a resource's first box is in the window.
fn middle_of(browser: &mut Browser, name: &str) -> (f64, f64) {
    let script = format!(
        "const view = views[0], item = view.chart.items.findIndex(item => item.name === {name:?}); \
         view.canvas.scrollIntoView({{ block: 'center' }}); const [x, y, width, height] = view.place(view.of.get(item)[0]), bounds = view.canvas.getBoundingClientRect(); \
         return [bounds.left + x - view.from + width / 2, bounds.top + y + height / 2];"
    );
    let place = browser.run(&script);
    (
        place[0].as_f64().expect("a place"),
        place[1].as_f64().expect("a place"),
    )
}

const TOLD: &str = "return tip.hidden ? null : tip.querySelector('b').textContent;";

#[test]
fn the_page_answers_to_mouse_search_and_keyboard() {
    let frame = file("looked at.json", &renderer());
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
    let told = |browser: &mut Browser| browser.run(TOLD);
    // The mouse finds a resource, with all that is to be said of it.
    let (x, y) = middle_of(&mut browser, "albedo");
    browser.move_mouse(x, y);
    assert!(
        told(&mut browser)
            .as_str()
            .is_some_and(|told| told.starts_with("albedo, "))
    );
    let facts = browser.run("return [...tip.querySelectorAll('dt')].map(name => name.textContent);");
    for name in [
        "lifetime",
        "placement",
        "reason",
        "savings",
        "accesses",
        "shares memory with",
    ] {
        assert!(
            facts.as_array().expect("names").contains(&name.into()),
            "{name}: {facts}"
        );
    }
    // Between resources it finds a pass; a click holds on; Escape lets go.
    let (_, above) = middle_of(&mut browser, "albedo");
    browser.move_mouse(x, above + 400.0);
    browser.click(x, y);
    browser.move_mouse(5.0, 5.0);
    assert!(
        told(&mut browser)
            .as_str()
            .is_some_and(|told| told.starts_with("albedo, ")),
        "held"
    );
    browser.press("Escape");
    assert_eq!(told(&mut browser), Value::Null);
    let head = browser.run("const bounds = views[0].canvas.getBoundingClientRect(); return [bounds.left + views[0].x(.5), bounds.top + 12];");
    browser.move_mouse(head[0].as_f64().unwrap(), head[1].as_f64().unwrap());
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
    assert!(
        told(&mut browser)
            .as_str()
            .is_some_and(|told| told.starts_with("bloom half"))
    );
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
    let accesses = lines(&mut browser).as_u64().expect("a number");
    assert!(accesses > 10, "{accesses}");
    assert_eq!(lines(&mut browser), 0);
    // A curve is read out.
    let read = browser.run("const svg = document.querySelector('figure svg'); svg.focus(); return document.querySelectorAll('figure svg').length;");
    assert_eq!(
        read, 2,
        "the share on chip and the traffic over the size of the heap"
    );
    browser.press("ArrowRight");
    assert!(
        told(&mut browser)
            .as_str()
            .is_some_and(|told| told.ends_with("MiB"))
    );
    browser.assert_no_faults();
}

/// Without a mouse, and without eyes.
#[test]
fn the_page_can_be_walked_and_heard() {
    let frame = file("walked.json", &renderer());
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
        walked.push(browser.run(TOLD).as_str().expect("a resource").to_owned());
    }
    let round = walked.pop();
    assert_eq!(round.as_ref(), walked.first());
    let mut each = walked.clone();
    each.sort();
    each.dedup();
    assert_eq!(each.len(), 9, "{walked:?}");
    // Enter goes to the row of what is chosen, which stands out.
    browser.press("Enter");
    let row = browser.run("const row = document.activeElement; return row.cells[0].textContent;");
    assert!(
        walked[0].starts_with(row.as_str().expect("a row")),
        "{row} of {walked:?}"
    );
    browser.press("ArrowDown");
    assert_eq!(
        browser.run("return document.activeElement.className.includes('item')"),
        true
    );
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
    assert_eq!(
        (&sorted[0], &sorted[2]),
        (&"descending".into(), &"ascending".into()),
        "{sorted}"
    );
    assert_eq!(
        (&sorted[1], &sorted[3]),
        (&"depth".into(), &"occlusion".into()),
        "as large as the quarter of the bloom, and before it"
    );
    browser.assert_no_faults();
}

#[test]
fn two_plans_are_distinguished() {
    let frame = file("told apart.json", &renderer());
    let plan = |strategy: &str| {
        let output = place(&format!("{strategy}.json"));
        tileheap(&["plan", &frame, "--strategy", strategy, "--json", "-o", &output]).good();
        output
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
    assert_eq!(
        (&seen["charts"], &seen["beside"]),
        (&2.into(), &true.into()),
        "{seen}"
    );
    assert!(
        seen["changed"]
            .as_u64()
            .is_some_and(|count| count >= 6 && count % 2 == 0),
        "{seen}"
    );
    assert_eq!(seen["tables"], json!(["Resources", "Bound in passes", "Totals"]));
    // A saved plan knows its windows and command buffers.
    assert_eq!(
        seen["lanes"][0],
        json!([["batch 0", "batch 1"], ["scene", "post", "late"]])
    );
    // What is chosen in one is seen in the other.
    let (x, y) = middle_of(&mut browser, "lit");
    browser.move_mouse(x, y);
    let also = browser.run("return views[1].chart.items[views[1].also].name;");
    assert_eq!(also, "lit");
    browser.assert_no_faults();
    let same = reported("the-same.html", &[&best, &best]);
    browser.open(&same, (1400, 1000));
    let said = browser.run("return document.getElementById('differences').textContent;");
    assert!(
        said.as_str()
            .is_some_and(|said| said.contains("The plans are equal")),
        "{said}"
    );
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
    let number = |at: usize| stage[at].as_f64().expect("a number");
    let mut met = 0;
    for step in 0..200 {
        browser.move_mouse(
            number(0) + 90.0 + (number(1) - 110.0) * f64::from(step) / 200.0,
            number(2),
        );
        met += u32::from(!browser.run(TOLD).is_null());
    }
    let hover = browser.run(
        "const seen = { ...counted }; counted.fills = counted.measured = counted.placed = 0; return seen;",
    );
    assert!(met > 150, "{met} of 200 places have something to say");
    // A move asks the boxes of its stretch and outlines what it chose: nothing is drawn anew.
    let count = |counted: &Value, what: &str| counted[what].as_u64().expect("a count");
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
    let document = file(
        "records.json",
        &tileheap(&["tensors", &records, "--strategy", "litert-best", "--json"]).good(),
    );
    let saved = reported("saved-records.html", &[&document]);
    let text = |page: &str| std::fs::read_to_string(page).expect("the page");
    assert_eq!(
        text(&page),
        text(&saved),
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
    let tables: Vec<&str> = seen["tables"]
        .as_array()
        .expect("tables")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert_eq!(
        tables,
        [
            "Live at the peak, step 3",
            "Pools",
            "Bytes by strategy",
            "6 tensors as a table"
        ]
    );
    assert!(
        seen["rules"]
            .as_array()
            .is_some_and(|rules| rules.contains(&"pool 1".into())),
        "{seen}"
    );
    let (x, y) = middle_of(&mut browser, "relu");
    browser.move_mouse(x, y);
    assert_eq!(browser.run(TOLD), "relu, 8 KiB");
    browser.assert_no_faults();
}

#[test]
fn a_replay_is_shown_from_a_trace_and_from_its_document() {
    let trace = texture_trace("shown");
    assert!(tileheap(&["report", &trace]).bad(2).contains("--cache"));
    let page = reported(
        "shown.html",
        &[&trace, "--cache", "2MiB", "--policy", "arenas,lru,ring"],
    );
    let document = file(
        "shown.json",
        &tileheap(&["replay", &trace, "--budget", "2MiB", "--json"]).good(),
    );
    let saved = reported("shown-document.html", &[&document]);
    let Some(mut browser) = browser() else { return };
    for (page, policies, curves) in [(&page, 4, 3), (&saved, 1, 2)] {
        browser.open(page, (1200, 1000));
        let seen = browser.run("return { curves: document.querySelectorAll('figure').length, policies: document.querySelectorAll('.wide tbody tr').length };");
        assert_eq!(seen, json!({ "curves": curves, "policies": policies }), "{page}");
    }
    browser.open(&page, (1200, 1000));
    let at = browser.run("const bounds = document.querySelector('figure svg').getBoundingClientRect(); return [bounds.left + bounds.width / 2, bounds.top + bounds.height / 2];");
    browser.move_mouse(at[0].as_f64().unwrap(), at[1].as_f64().unwrap());
    let told = browser.run("return [tip.querySelector('b').textContent, [...tip.querySelectorAll('dt')].map(name => name.textContent)];");
    assert!(
        told[0].as_str().is_some_and(|frame| frame.starts_with("frame ")),
        "{told}"
    );
    assert_eq!(told[1], json!(["arenas", "lru", "ring"]));
    browser.assert_no_faults();
}

#[test]
fn a_sweep_is_shown_by_itself() {
    let frame = file("swept.json", FRAME);
    let swept = tileheap(&["advise", &frame, "--sweep", "size=640x360..1920x1080", "--json"]).good();
    let page = tileheap(&["report", &file("sweep.json", &swept)]).good();
    assert!(
        page.contains("by extent") && page.contains("1920 x 1080"),
        "{page}"
    );
}

#[test]
fn pictures_are_drawn_without_a_browser() {
    let frame = file("pictured.json", FRAME);
    let (svg, png) = (place("pictured.svg"), place("pictured.png"));
    assert_eq!(
        tileheap(&["report", &frame, "--svg", &svg, "--png", &png]).good(),
        ""
    );
    let text = std::fs::read_to_string(&svg).expect("the picture");
    assert!(text.starts_with("<svg ") && text.contains("<title>"), "{text}");
    assert!(
        text.contains(">tile memory<") && text.contains(">bound tile memory<"),
        "{text}"
    );
    let ground = |arguments: &[&str]| {
        tileheap(&[&["report", &frame, "--png", &png], arguments].concat()).good();
        let pixels = std::fs::read(&png).expect("the picture");
        let corner = Pixmap::decode_png(&pixels)
            .expect("a PNG")
            .pixel(0, 0)
            .expect("a corner");
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
    let page = tileheap(&["report", &input]).good();
    assert!(page.contains("TILEHEAP-wrong-object: reported 3 times"), "{page}");
    assert!(!page.contains("<binding>"), "a name becomes an element");
    // The program crashed while it wrote.
    let cut = file(
        "cut.json",
        &trace[..trace.find("\"live\"").expect("a submission")],
    );
    let page = tileheap(&["report", &cut]).good();
    assert!(
        page.contains("ended before it destroyed") && page.contains("smaller"),
        "{page}"
    );
}

/// Documents of the command are read strictly: nothing that is missing is drawn as nothing.
#[test]
fn broken_documents_are_named() {
    let trace = scratch("short.trace");
    let trace = trace.to_str().expect("UTF-8");
    tileheap(&["trace", "strafe", "--frames", "8", "-o", trace]).good();
    let records = file("four.csv", "id,lower,upper,size\na,0,2,4\nb,1,3,4\n");
    let frame = file("swept.json", FRAME);
    let made: [&[&str]; 3] = [
        &["replay", trace, "--budget", "2MiB", "--json"],
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
            let message = shown(&other).bad(1);
            assert!(message.contains("spoilt.json"), "{field}: {message}");
        }
        let mut vast = whole.clone();
        let part = ["budget", "size", "points"]
            .into_iter()
            .find(|part| whole.get(part).is_some());
        let part = &mut vast[part.expect("a number")];
        *(if part.is_array() {
            &mut part[0]["size"]
        } else {
            part
        }) = u64::MAX.into();
        assert!(shown(&vast).bad(1).contains("18446744073709551615"));
    }
}

#[test]
fn what_cannot_be_shown_is_named() {
    let other = file("other.json", r#"{"format":"tileheap-profile","version":1}"#);
    assert!(tileheap(&["report", &other]).bad(1).contains("tileheap-profile"));
    let broken = file("broken.json", "{");
    assert!(tileheap(&["report", &broken]).bad(1).contains("broken.json"));
    let table = file("table.csv", "id,lower,upper,size\na,0,2,x\n");
    let said = tileheap(&["report", &table]).bad(2);
    assert!(said.contains("table.csv") && said.contains("size"), "{said}");
    assert!(tileheap(&["report", "-", "-"]).bad(1).contains("standard input"));
    let frame = file("unwritten.json", FRAME);
    assert!(
        tileheap(&["report", &frame, "-o", "/nowhere/a.html"])
            .bad(1)
            .contains("/nowhere/a.html")
    );
}
