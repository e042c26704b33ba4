//! `report`: a page that a browser shows without an error, and that answers to mouse, keyboard and search.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::run::{FRAME, file, scratch, tileheap};
use crate::support;

fn place(name: &str) -> String {
    scratch(name).to_str().expect("a path in UTF-8").to_owned()
}

/// What a script that runs in the page returns, and the errors that the browser met meanwhile: in Debian's Chromium, without a
/// window; `None` where there is no such browser.
fn in_browser(page: &str, script: &str) -> Option<Value> {
    let programs = [
        "/usr/bin/chromium",
        "/usr/bin/chromium-browser",
        "/usr/bin/google-chrome",
    ];
    let Some(program) = programs.into_iter().find(|program| Path::new(program).exists()) else {
        support::skip("there is no Chromium");
        return None;
    };
    let text = std::fs::read_to_string(page).expect("the page");
    let before = "<head><script>window.faults = []; addEventListener('error', event => faults.push(event.message)); \
        console.error = (...what) => faults.push(what.join(' '));</script>";
    let after = format!(
        "<script>{{ let value; try {{ value = (() => {{ {script} }})(); }} catch (fault) {{ faults.push(String(fault)); }} \
         const result = document.createElement('pre'); result.id = 'result'; \
         result.textContent = btoa(unescape(encodeURIComponent(JSON.stringify({{ value, faults }})))); \
         document.body.append(result); }}</script></body>"
    );
    let driven = format!("{page}.driven.html");
    std::fs::write(
        &driven,
        text.replacen("<head>", before, 1).replacen("</body>", &after, 1),
    )
    .expect("a file");
    let output = Command::new(program)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--window-size=1200,900",
            "--dump-dom",
        ])
        .arg(format!("--user-data-dir={page}.profile"))
        .arg(format!("--screenshot={page}.png"))
        .arg(format!("file://{driven}"))
        .stdin(Stdio::null())
        .output()
        .expect("the browser starts");
    let dom = String::from_utf8_lossy(&output.stdout);
    let result = dom
        .split("<pre id=\"result\">")
        .nth(1)
        .and_then(|rest| rest.split('<').next());
    let result = result.unwrap_or_else(|| panic!("no result: {}", String::from_utf8_lossy(&output.stderr)));
    let decoded: Vec<u8> = decoded(result);
    let result: Value = serde_json::from_slice(&decoded).expect("JSON");
    assert_eq!(result["faults"], json!([]));
    Some(result["value"].clone())
}

/// Bytes of base 64.
fn decoded(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0u32, 0);
    for digit in text
        .bytes()
        .filter_map(|byte| DIGITS.iter().position(|&other| other == byte))
    {
        bits = bits << 6 | digit as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    bytes
}

#[test]
fn the_page_answers_to_search_mouse_and_keyboard() {
    let frame = file("looked at.json", FRAME);
    let page = place("looked-at.html");
    assert_eq!(tileheap(&["report", &frame, "-o", &page]).good(), "");
    let text = std::fs::read_to_string(&page).expect("the page");
    for elsewhere in ["http://", "https://", "src=", "<link", "@import"] {
        assert!(
            !text.contains(elsewhere),
            "the page asks for another file: {elsewhere}"
        );
    }
    let script = r##"
        const canvas = document.querySelector("canvas"), tip = document.getElementById("tip");
        const told = () => tip.hidden ? null : tip.querySelector("b").textContent;
        const key = key => { canvas.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true })); return told(); };
        const rows = () => [...document.querySelectorAll("tbody tr")].filter(row => !row.hidden).length;
        const seen = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
        let orange = 0;
        for (let at = 0; at < seen.length; at += 4) orange += seen[at] === 0xf2 && seen[at + 1] === 0xb1 && seen[at + 2] === 0x34;
        const walked = [key("ArrowRight"), key("ArrowRight"), key("Escape")];
        const at = canvas.getBoundingClientRect();
        const over = [];
        for (let step = 0; step < 40; step++) {
            canvas.dispatchEvent(new MouseEvent("mousemove",
                { clientX: at.left + 90 + (at.width - 100) * step / 40, clientY: at.top + 26 + 228 }));
            over.push(told());
        }
        canvas.dispatchEvent(new MouseEvent("click", { clientX: at.left + 94, clientY: at.top + 26 + 228 }));
        canvas.dispatchEvent(new MouseEvent("mouseleave"));
        const pinned = told();
        key("Escape");
        const all = rows();
        const search = document.getElementById("search");
        search.value = "HDR";
        search.dispatchEvent(new Event("input"));
        const found = rows();
        document.getElementById("barriers").click();
        return { orange: orange / (canvas.width * canvas.height), walked, over, pinned, all, found,
            barriers: document.querySelector("section pre").textContent };"##;
    let Some(seen) = in_browser(&page, script) else {
        return;
    };
    let share = seen["orange"].as_f64().expect("a share");
    assert!(
        (0.02..0.9).contains(&share),
        "{share} of the canvas is tile memory"
    );
    // A walk with the keyboard tells of each resource in turn, and Escape lets go; the mouse finds the same.
    let walked = seen["walked"].as_array().expect("three keys");
    assert!(
        walked[0].is_string() && walked[1].is_string() && walked[0] != walked[1],
        "{walked:?}"
    );
    assert!(walked[2].is_null(), "{walked:?}");
    let over = seen["over"].as_array().expect("forty places");
    assert!(
        over.contains(&walked[0]) && over.contains(&Value::Null),
        "{over:?}"
    );
    assert_eq!(seen["pinned"], over[0], "a click holds on to what is shown");
    assert_eq!((seen["all"].as_u64(), seen["found"].as_u64()), (Some(2), Some(1)));
    assert!(
        seen["barriers"]
            .as_str()
            .is_some_and(|text| text.contains("before: ")),
        "{seen}"
    );
}

#[test]
fn two_plans_are_told_apart() {
    let frame = file("told apart.json", FRAME);
    let plan = |strategy: &str| {
        let output = place(&format!("{strategy}.json"));
        tileheap(&["plan", &frame, "--strategy", strategy, "--json", "-o", &output]).good();
        output
    };
    let (best, off) = (plan("optimal"), plan("off"));
    let page = place("told-apart.html");
    tileheap(&["report", &best, &off, "-o", &page]).good();
    let script = r##"const count = what => document.querySelectorAll(what).length;
        return { charts: count("canvas"), differences: count("#differences"), changed: count("tr.changed") };"##;
    let Some(seen) = in_browser(&page, script) else {
        return;
    };
    assert_eq!(seen, json!({ "charts": 2, "differences": 1, "changed": 4 }));
}

/// As large as anyone will ask for.
#[test]
fn two_thousand_resources_are_drawn() {
    let (resources, passes) = (2000, 1000);
    let resource = |index: usize| {
        let first = index * 7919 % passes;
        let last = (first + 1 + index % 40).min(passes - 1);
        serde_json::json!({
            "name": format!("r{index}"), "accesses": [], "reason": {"kind": "tile", "text": "because"},
            "placements": [{ "home": "tile", "object": 0, "offset": index % 64 * 65536, "size": 65536,
                "first_pass": format!("p{first}"), "last_pass": format!("p{last}") }],
        })
    };
    let pass = |index: usize| serde_json::json!({ "name": format!("p{index}"), "bound_bytes": 1 << 22 });
    let plan = serde_json::json!({
        "format": "tileheap-plan", "version": 1, "frame": "large",
        "profile": { "name": "drawn", "tile": { "heapIndex": 0 }, "memoryHeaps": [{ "size": 1 << 22 }] },
        "objects": [{ "home": "tile", "size": 1 << 22 }],
        "resources": (0..resources).map(resource).collect::<Vec<_>>(),
        "passes": (0..passes).map(pass).collect::<Vec<_>>(),
        "totals": {}, "options": {},
    });
    let input = file("large.json", &plan.to_string());
    let page = place("large.html");
    tileheap(&["report", &input, "-o", &page]).good();
    let script = r##"const canvas = document.querySelector("canvas");
        const seen = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
        let drawn = 0;
        for (let at = 0; at < seen.length; at += 20) drawn += seen[at + 2] < 0x80;
        return { drawn, rows: document.querySelectorAll("tbody tr").length };"##;
    let Some(seen) = in_browser(&page, script) else {
        return;
    };
    assert_eq!(seen["rows"], resources);
    assert!(seen["drawn"].as_u64().is_some_and(|count| count > 1000), "{seen}");
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
    let pixels = std::fs::read(&png).expect("the picture");
    assert_eq!(&pixels[1..4], b"PNG");
}

#[test]
fn a_trace_of_the_emulator_is_drawn() {
    let trace = r#"{"format":"tileheap-emulator-trace","version":1,"profile":"adreno-830","heap":8355840,"events":[
        {"event":"bind","commandBuffer":"0x1","bytes":4096},
        {"event":"discard","commandBuffer":"0x1","first":4096,"end":8355840,"why":"smaller <binding>"},
        {"event":"submit","queue":"0x2","batch":0,"commandBuffers":["0x1"],"live":4096}],
        "messages":{"TILEHEAP-wrong-object":3}}"#;
    let input = file("emulated.json", trace);
    let page = tileheap(&["report", &input]).good();
    assert!(page.contains("TILEHEAP-wrong-object: reported 3 times"), "{page}");
    assert!(!page.contains("<binding>"), "a name becomes an element");
}

#[test]
fn what_cannot_be_shown_is_named() {
    let other = file("other.json", r#"{"format":"tileheap-profile","version":1}"#);
    assert!(tileheap(&["report", &other]).bad(1).contains("tileheap-profile"));
    let broken = file("broken.json", "{");
    assert!(tileheap(&["report", &broken]).bad(1).contains("broken.json"));
    assert!(tileheap(&["report", "-", "-"]).bad(1).contains("standard input"));
    let frame = file("unwritten.json", FRAME);
    assert!(
        tileheap(&["report", &frame, "-o", "/nowhere/a.html"])
            .bad(1)
            .contains("/nowhere/a.html")
    );
}
