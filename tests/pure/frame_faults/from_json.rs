//! The same faults, from a file.

use tileheap::frame::Frame;

/// A frame in JSON: resources, semaphores, then passes of the first batch, and more submits.
fn json(resources: &str, semaphores: &str, batch: &str, passes: &str, submits: &str) -> String {
    format!(
        r#"{{"format": "tileheap-frame", "version": 2, "name": "f", "base_extent": [64, 64],
        "queues": [{{"name": "graphics", "capabilities": ["VK_QUEUE_GRAPHICS_BIT"]}},
                   {{"name": "copy", "capabilities": ["VK_QUEUE_TRANSFER_BIT"]}}],
        "semaphores": [{semaphores}], "resources": [{resources}],
        "submits": [{{"queue": "graphics", "batches": [{{{batch}
            "command_buffers": [{{"name": "c", "passes": [{passes}]}}]}}]}}{submits}]}}"#
    )
}

#[test]
fn the_same_faults_from_json() {
    let image = r#"{"name": "i", "image": {"format": "VK_FORMAT_R8_UNORM", "extent": [4, 4]}}"#;
    let history = r#"{"name": "i", "image": {"format": "VK_FORMAT_R8_UNORM", "extent": [4, 4]}, "persistence": "history"}"#;
    let nowhere = r#"{"name": "i", "image": {"format": "VK_FORMAT_R8_UNORM", "extent": [4, 4]}, "persistence": {"external": {"entry": {}, "exit": {}}}}"#;
    let planes =
        r#"{"name": "i", "image": {"format": "VK_FORMAT_G8_B8_R8_3PLANE_420_UNORM", "extent": [4, 4]}}"#;
    let buffer = r#"{"name": "b", "buffer": {"size": 4}}"#;
    let images = r#"{"name": "i", "image": {"format": "VK_FORMAT_R8_UNORM", "extent": [4, 4]}},
        {"name": "m", "image": {"format": "VK_FORMAT_R8_UNORM", "extent": [4, 4], "samples": "VK_SAMPLE_COUNT_4_BIT"}}"#;
    let pass = |kind: &str, accesses: &str| {
        format!(r#"{{"name": "p", "kind": "{kind}", "accesses": [{accesses}]}}"#)
    };
    let draw = r#"{"resource": "i", "kind": "color_attachment", "writes": true, "load_op": "dont_care"}"#;
    let draw_m = r#"{"resource": "m", "kind": "color_attachment", "writes": true, "load_op": "dont_care"}"#;
    let sample = r#"{"resource": "i", "kind": "sampled_image", "reads": true}"#;
    let previous = r#"{"resource": "i", "kind": "sampled_image", "reads": true, "version": "previous"}"#;
    let store = r#"{"resource": "b", "kind": "storage_buffer", "writes": true, "load_op": "dont_care"}"#;
    let resolve = r#"{"resource": "i", "kind": "resolve_attachment", "writes": true, "load_op": "dont_care", "resolves": "i"}"#;
    let plain = pass("compute", "");
    let copy = r#", {"queue": "copy", "batches": [{"command_buffers": [{"name": "d", "passes": [
        {"name": "q", "kind": "transfer", "accesses": [{"resource": "b", "kind": "transfer_source", "reads": true}]}]}]}]}"#;
    let wrong_queue = r#", {"queue": "copy", "batches": [{"command_buffers": [{"name": "d", "passes": [{"name": "q", "kind": "compute"}]}]}]}"#;
    let semaphore = r#"{"name": "s"}"#;
    let op = r#"[{"semaphore": "s", "stages": ["VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT"]}]"#;
    let (waits, signals) = (format!("\"waits\": {op},"), format!("\"signals\": {op},"));
    let again =
        format!(r#", {{"queue": "graphics", "batches": [{{"signals": {op}, "command_buffers": []}}]}}"#);
    let cases = [
        (json("", "", "", "", ""), "frame `f` has no passes"),
        (
            json("", "", "", &format!("{plain}, {plain}"), ""),
            "two passes are named `p`",
        ),
        (
            json("", "", "", &pass("compute", sample), ""),
            "pass `p` refers to resource `i`, which",
        ),
        (
            json(planes, "", "", &plain, ""),
            "image `i` has format G8_B8_R8_3PLANE_420_UNORM, whose texel size",
        ),
        (
            json(nowhere, "", "", &plain, ""),
            "external image `i` leaves the frame in layout UNDEFINED",
        ),
        (
            json(image, "", "", &pass("compute", draw), ""),
            "pass `p` uses `i` as ColorAttachment: only render passes",
        ),
        (
            json(image, "", "", &pass("compute", sample), ""),
            "pass `p` reads `i` before anything",
        ),
        (
            json(buffer, "", "", &pass("compute", &format!("{store}, {store}")), ""),
            "pass `p` declares two writers of `b`",
        ),
        (
            json(image, "", "", &pass("compute", previous), ""),
            "pass `p` uses the previous version of `i`: only History",
        ),
        (
            json(history, "", "", &pass("compute", previous), ""),
            "pass `p` uses the previous version of `i`: no pass writes",
        ),
        (
            json("", "", "", &plain, wrong_queue),
            "pass `q` needs a compute queue, and queue `copy` is not",
        ),
        (
            json("", semaphore, &waits, &plain, ""),
            "batch 0 waits for semaphore `s`, which no earlier batch signals",
        ),
        (
            json("", semaphore, &signals, &plain, ""),
            "semaphore `s` is signalled and no batch waits for it",
        ),
        (
            json("", semaphore, &signals, &plain, &again),
            "semaphore `s` is signalled more than once",
        ),
        (
            json("", "", &waits, &plain, ""),
            "batch 0 refers to semaphore `s`, which the frame does not declare",
        ),
        (
            json(buffer, "", "", &pass("compute", store), copy),
            "passes `p` and `q` use `b` on two queues",
        ),
        (
            json(images, "", "", &pass("render", &format!("{draw}, {draw_m}")), ""),
            "attachments of pass `p` differ in samples",
        ),
        (
            json(image, "", "", &pass("render", resolve), ""),
            "pass `p` resolves into `i`, but its source",
        ),
        (
            json(
                "",
                "",
                "",
                r#"{"name": "p", "kind": "compute", "contents": "secondary"}"#,
                "",
            ),
            "pass `p` is no render pass",
        ),
    ];
    for (text, expected) in cases {
        let message = match Frame::from_json(&text) {
            Ok(_) => panic!("accepted; wanted: {expected}"),
            Err(error) => error.to_string(),
        };
        assert!(message.starts_with(expected), "{message}\nwanted: {expected}");
        assert!(!message.contains('\n'));
    }
}
