//! The native JSON form of frames: round trips, and what is refused.

use ash::vk;
use tileheap::frame::{Extent, Frame, Persistence};

use crate::everything::everything;

#[test]
fn what_is_written_reads_back_equal() {
    let frame = everything("all — of \"it\"");
    let text = frame.to_json();
    let again = Frame::from_json(&text).unwrap();
    assert_eq!(again, frame);
    assert_eq!(again.to_json(), text);
    assert!(text.contains("\"VK_PIPELINE_STAGE_2_VERTEX_SHADER_BIT\""));
    assert!(text.contains("\"0x4000000000000000\""));
}

#[test]
fn a_frame_scales_with_its_base_extent() {
    let mut builder = everything("all — of \"it\"").to_builder();
    builder.set_base_extent(vk::Extent2D {
        width: 640,
        height: 360,
    });
    let half = builder.build().unwrap();
    let again = Frame::from_json(&half.to_json()).unwrap();
    assert_eq!(again, half);
    let history = again.resource(again.resource_named("history").unwrap());
    let tileheap::frame::tables::ResourceKind::Image { desc, extent, .. } = history.kind else {
        panic!("history is an image");
    };
    assert_eq!(desc.extent, Extent::Scaled([0.5, 0.1]));
    assert_eq!((extent.width, extent.height), (320, 37));
}

/// The smallest frame, with `{…}` replaced.
fn minimal(resource: &str, access: &str) -> String {
    format!(
        r#"{{
  "format": "tileheap-frame", "version": 2, "base_extent": [8, 8],
  "queues": [{{"name": "q", "capabilities": ["VK_QUEUE_GRAPHICS_BIT"]}}],
  "resources": [{resource}],
  "submits": [{{"queue": "q", "batches": [{{"command_buffers": [{{"name": "c", "passes": [
    {{"name": "p", "kind": "render", "accesses": [{access}]}}
  ]}}]}}]}}]
}}"#
    )
}

const IMAGE: &str = r#"{"name": "i", "image": {"format": "VK_FORMAT_R8_UNORM", "extent": [4, 4]}}"#;
const DRAW: &str = r#"{"resource": "i", "kind": "color_attachment", "writes": true, "load_op": "dont_care"}"#;

fn refusal(text: &str) -> String {
    let message = Frame::from_json(text).unwrap_err().to_string();
    assert!(!message.contains('\n') && message.len() < 600, "{message}");
    message
}

#[test]
fn the_minimal_form_needs_no_defaults() {
    let frame = Frame::from_json(&minimal(IMAGE, DRAW)).unwrap();
    assert_eq!(
        frame.accesses()[0].stages,
        vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT
    );
    assert_eq!(frame.resources()[0].persistence, Persistence::Transient);
}

#[test]
fn what_is_misspelt_is_refused_with_its_place() {
    let cases = [
        (
            minimal(IMAGE, &DRAW.replace("\"load_op\"", "\"load_o\"")),
            "frame JSON, line 6 column 119, at `submits[0].batches[0].command_buffers[0].passes[0].accesses[0].load_o`: unknown field `load_o`, expected one of `resource`, `kind`, `part`, `view`, `reads`, `writes`, `version`, `load_op`, `stages`, `resolves`",
        ),
        (
            minimal(&IMAGE.replace("R8_UNORM", "R8_UNROM"), DRAW),
            "at `resources[0].image.format`: `VK_FORMAT_R8_UNROM` is not a VkFormat: did you mean `VK_FORMAT_R8_UNORM`?",
        ),
        (
            minimal(IMAGE, &DRAW.replace("color_attachment", "color")),
            "unknown variant `color`, expected one of `color_attachment`",
        ),
        (
            minimal(IMAGE, &DRAW.replace("\"i\"", "\"j\"")),
            "pass `p` refers to resource `j`, which the frame does not declare",
        ),
        (
            minimal(IMAGE, DRAW).replace("\"version\": 2", "\"version\": 1"),
            "frame JSON: version 1, written by tileheap 0.1; this tileheap reads version 2",
        ),
        (
            minimal(IMAGE, DRAW).replace("tileheap-frame", "tileheap-plan"),
            "frame JSON has format `tileheap-plan`",
        ),
        (
            minimal(IMAGE, DRAW).replace("\"version\": 2", "\"version\": -1"),
            "at `version`: invalid value: integer `-1`, expected u64",
        ),
        (
            minimal(IMAGE, DRAW).replace("\"version\": 2, ", ""),
            "missing field `version`",
        ),
        (
            minimal(IMAGE, DRAW).replace("\"version\": 2", "\"version\": 2, \"version\": 2"),
            "duplicate field `version`",
        ),
        (
            minimal(IMAGE, DRAW).replace("[4, 4]", "[4, 4, 4, 4]"),
            "at `resources[0].image`: has an `extent` of other than 2 or 3 numbers",
        ),
        (
            minimal(IMAGE, DRAW).replace("\"extent\"", "\"scale\": [1, 1], \"extent\""),
            "at `resources[0].image`: has both `extent` and `scale`",
        ),
        (
            minimal(IMAGE, DRAW).replace("\"extent\"", "\"mips\": 2, \"extent\""),
            "at `resources[0].image`: unknown field `mips`",
        ),
        (
            minimal(IMAGE, DRAW).replace("[4, 4]", "[4, 4294967296]"),
            "invalid value: integer `4294967296`, expected u32",
        ),
        (
            minimal(IMAGE, DRAW).replace("[4, 4]", "[4, 0]"),
            "image `i` has a zero extent (4 x 0 x 1)",
        ),
        (
            minimal(IMAGE, DRAW).replace("[4, 4]", "[4000000000, 4000000000]"),
            "resource `i` is larger than 1,099,511,627,776 B",
        ),
        (
            minimal(IMAGE, DRAW).replace("\"extent\": [4, 4]", "\"scale\": [1e39, 1]"),
            "image `i` is scaled by inf x 1",
        ),
        (
            minimal(IMAGE, DRAW).replace("\"extent\": [4, 4]", "\"scale\": [1e999, 1]"),
            "number out of range",
        ),
        (
            minimal(IMAGE, DRAW).replace("\"extent\": [4, 4]", "\"scale\": [NaN, 1]"),
            "expected value",
        ),
        (
            minimal(IMAGE, DRAW).replace("\"extent\": [4, 4]", "\"scale\": [0.0, 1]"),
            "image `i` is scaled by 0 x 1",
        ),
        (
            minimal(r#"{"name": "i"}"#, DRAW),
            "resource `i`: is neither an `image` nor a `buffer`",
        ),
        (
            minimal(r#"{"name": "i", "buffer": {"size": 0}}"#, ""),
            "resource `i` has no bytes",
        ),
        (
            minimal(&format!("{IMAGE},{IMAGE}"), DRAW),
            "two resources are named `i`",
        ),
        (
            minimal(&IMAGE.replace("\"i\"", "\"\""), ""),
            "resource name `` cannot be used",
        ),
        (
            minimal(&IMAGE.replace("\"i\"", r#""a\nb""#), ""),
            r"resource name `a\nb` cannot be used",
        ),
        (
            minimal(IMAGE, DRAW).replace("\"queue\": \"q\"", "\"queue\": \"r\""),
            "submit 0 refers to queue `r`",
        ),
        (
            minimal(IMAGE, DRAW).replace(
                "\"command_buffers\"",
                r#""waits": [{"semaphore": "s", "stages": ["VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT"]}], "command_buffers""#,
            ),
            "batch 0 refers to semaphore `s`, which the frame does not declare",
        ),
        (minimal(IMAGE, DRAW) + "]", "line 8 column 2: trailing characters"),
        (
            String::new(),
            "frame JSON, line 1 column 0: EOF while parsing a value",
        ),
        (
            "\n [".repeat(100_000),
            "frame JSON, line 2 column 2: a list, where a description is expected",
        ),
        (
            r#"{"x":"#.to_owned() + &"[".repeat(100_000),
            "EOF while parsing a list",
        ),
        (r#"{"x":"#.repeat(100_000), "EOF while parsing a value"),
        (
            format!(r#"{{"format": "{}"}}"#, "x".repeat(1 << 20)),
            "frame JSON has format `xxxxx",
        ),
        (
            minimal(IMAGE, DRAW).replace("\"load_op\"", r#""load\u000aop""#),
            r"unknown field `load\nop`",
        ),
    ];
    for (text, expected) in cases {
        let message = refusal(&text);
        assert!(message.contains(expected), "{message}\nwanted: {expected}");
    }
}

#[test]
fn no_byte_can_be_changed_into_a_panic() {
    let text = everything("all — of \"it\"").to_json();
    let mut accepted = 0;
    for seed in 0..4000u64 {
        // A multiplicative congruence is as random as this needs.
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut next = |below: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state % below as u64) as usize
        };
        let mut bytes = text.clone().into_bytes();
        for _ in 0..=next(3) {
            let at = next(bytes.len());
            match next(4) {
                0 => bytes[at] = b"{}[]\",:0919-.eE\\ntfx"[next(20)],
                1 => drop(bytes.remove(at)),
                2 => bytes.truncate(at.max(1)),
                _ => bytes.insert(at, b"{}[]\",:0919-.eE\\ntfx"[next(20)]),
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        match Frame::from_json(&text) {
            Ok(_) => accepted += 1,
            Err(error) => assert!(!error.to_string().contains('\n')),
        }
    }
    assert!((1..2000).contains(&accepted), "{accepted}");
}
