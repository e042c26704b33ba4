//! The trace: every bind, discard and submit of a known program, in order, with the reserved bytes.

use crate::rig::Rig;
use serde_json::{Value, json};

const WORDS: u32 = 256;
const BLOCK: u64 = 12_288;

fn lines(text: &str) -> Vec<Value> {
    let line = |line: &str| serde_json::from_str(line).expect("a line is a document");
    text.lines().map(line).collect()
}

/// The only device of this process with a trace: traces of further devices have a number.
#[test]
fn the_trace_tells_what_a_program_did() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trace.json");
    let rig = Rig::new(&[("trace", path.to_str().expect("a path of text"))]);
    let (large, small) = (rig.object(2 * BLOCK), rig.object(BLOCK));
    let buffers = [large, small].map(|object| rig.tile_words(WORDS.into(), object, 0));
    let shrinks = rig.record(|commands| {
        rig.bind(commands, Some(large));
        rig.fill(commands, buffers[0], WORDS, 1);
        rig.bind(commands, Some(small));
        rig.fill(commands, buffers[1], WORDS, 2);
    });
    let unbinds = rig.record(|commands| {
        rig.bind(commands, Some(small));
        rig.fill(commands, buffers[1], WORDS, 3);
        rig.bind(commands, None);
    });
    let wrong = rig.record(|commands| {
        rig.bind(commands, Some(small));
        rig.fill(commands, buffers[0], WORDS, 4);
    });
    rig.submit(&[&[shrinks], &[unbinds]]);
    rig.submit2(&[&[shrinks, wrong]]);
    let ids = rig.take_ids_but(&["VUID-vkCmdDispatch-commandBuffer-10746"]);
    assert_eq!(ids, ["TILEHEAP-wrong-object"]);
    let heap = rig.heap_size();
    drop(rig);

    let text = std::fs::read_to_string(&path).expect("a trace");
    let all = lines(&text);
    let [trace, events @ .., end] = &all[..] else {
        panic!("{text}")
    };
    assert_eq!(trace["format"], "tileheap-emulator-trace");
    assert_eq!(
        (&trace["version"], &trace["profile"], &trace["heap"]),
        (&json!(2), &json!("adreno-830"), &json!(heap))
    );
    assert_eq!(
        *end,
        json!({"event": "end", "messages": {"TILEHEAP-wrong-object": 1}})
    );

    // Numbers command buffers in order of appearance, since their handles differ from run to run.
    let mut seen = Vec::new();
    let mut number = |handle: &Value| {
        let known = seen.iter().position(|seen| seen == handle);
        known.unwrap_or_else(|| {
            seen.push(handle.clone());
            seen.len() - 1
        })
    };
    let mut told = Vec::new();
    for event in events {
        let line = match event["event"].as_str().expect("a kind") {
            "bind" => format!("bind {} {}", number(&event["commandBuffer"]), event["bytes"]),
            "discard" => format!(
                "discard {} {}..{}",
                number(&event["commandBuffer"]),
                event["first"],
                event["end"]
            ),
            "submit" => {
                let commands = event["commandBuffers"].as_array().expect("command buffers");
                let commands: Vec<_> = commands.iter().map(&mut number).collect();
                format!("submit {} {commands:?} live {}", event["batch"], event["live"])
            }
            other => panic!("event {other}"),
        };
        told.push(line);
    }
    let expected = [
        "bind 0 24576",
        "bind 0 12288",
        "discard 0 12288..24576",
        "bind 1 12288",
        "bind 1 0",
        "bind 2 12288",
        "submit 0 [0] live 12288",
        "submit 1 [1] live 12288",
        "submit 0 [0, 2] live 12288",
    ];
    assert_eq!(told, expected);
}
