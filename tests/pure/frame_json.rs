//! The native JSON form of frames: round trips, and refused documents.

use ash::vk;
use tileheap::frame::{Extent, Frame, Persistence};

use crate::everything::{everything, text};
use tileheap_testkit::frames::extent;

#[test]
fn what_is_written_reads_back_equal() {
    let frame = everything();
    assert_eq!(frame.to_json(), text());
    assert_eq!(Frame::from_json(&frame.to_json()).unwrap(), frame);
}

#[test]
fn a_frame_scales_with_its_base_extent() {
    let mut builder = everything().to_builder();
    builder.set_base_extent(extent(640, 360));
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

/// The smallest frame.
const MINIMAL: &str = r#"{
  "format": "tileheap-frame", "version": 2, "base_extent": [8, 8],
  "queues": [{"name": "q", "capabilities": ["VK_QUEUE_GRAPHICS_BIT"]}],
  "resources": [{"name": "i", "image": {"format": "VK_FORMAT_R8_UNORM", "extent": [4, 4]}}],
  "submits": [{"queue": "q", "batches": [{"command_buffers": [{"name": "c", "passes": [
    {"name": "p", "kind": "render", "accesses": [{"resource": "i", "kind": "color_attachment", "writes": true, "load_op": "dont_care"}]}
  ]}]}]}]
}"#;

fn refusal(text: &str) -> String {
    let message = Frame::from_json(text).unwrap_err().to_string();
    assert!(!message.contains('\n') && message.len() < 1000, "{message}");
    message
}

#[test]
fn the_minimal_form_needs_no_defaults() {
    let frame = Frame::from_json(MINIMAL).unwrap();
    assert_eq!(
        frame.accesses()[0].stages,
        vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT
    );
    assert_eq!(frame.resources()[0].persistence, Persistence::Transient);
}

#[test]
fn what_is_misspelt_is_refused_with_its_place() {
    tileheap_testkit::assert_cases("frame_json", |_, case| {
        let pairs = case["replace"].as_array().expect("pairs").iter();
        let text = pairs.fold(MINIMAL.to_owned(), |text, pair| {
            let [from, to] = [0, 1].map(|at| pair[at].as_str().expect("a text"));
            assert!(text.contains(from), "{from} is not in {text}");
            text.replace(from, to)
        });
        refusal(&text).into()
    });
}

#[test]
fn hostile_texts_are_refused_with_their_place() {
    for (text, expected) in [
        (MINIMAL.to_owned() + "]", "line 8 column 2: trailing characters"),
        (
            String::new(),
            "frame JSON, line 1 column 0: EOF while parsing a value",
        ),
        (
            "\n [".repeat(100_000),
            "frame JSON, line 2 column 2: a list, where an object is expected",
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
    ] {
        let message = refusal(&text);
        assert!(message.contains(expected), "{message}\nwanted: {expected}");
    }
}

#[test]
fn no_byte_can_be_changed_into_a_panic() {
    let text = text();
    let mut accepted = 0;
    for seed in 0..4000u64 {
        // A multiplicative congruential generator is random enough here.
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
