//! The importer of loose frame descriptions: their meaning, refused ones, and the files of `tests/data/frames`.

use ash::vk;
use serde_json::{Value, json};
use tileheap::frame::import::{ImportedFrame, import, import_sized, read};
use tileheap::frame::tables::ResourceKind;
use tileheap::frame::{Frame, Persistence};

#[test]
fn loose_descriptions_mean_what_they_say() {
    tileheap_testkit::assert_cases("frame_import", |_, case| {
        let ImportedFrame {
            frame,
            claims,
            raw_texel_bytes,
            notes,
        } = match import(&case["loose"].to_string()) {
            Ok(imported) => imported,
            Err(error) => {
                let message = error.to_string();
                assert!(!message.contains('\n'), "{message}");
                return message.into();
            }
        };
        let frame: Value = serde_json::from_str(&frame.to_json()).expect("a document");
        json!({ "frame": frame, "claims": claims, "raw_texel_bytes": raw_texel_bytes, "notes": notes })
    });
}

#[test]
fn hostile_texts_are_refused() {
    for text in [
        "",
        "[]",
        "{}",
        "null",
        "{\"resources\": [], \"passes\": {}}",
        "{\"resources\": [[[[",
        "\u{0}",
    ] {
        let message = import(text).unwrap_err().to_string();
        assert!(message.starts_with("frame JSON, line 1 column"), "{message}");
        assert!(Frame::read(text).is_err());
    }
    let deep = format!(r#"{{"resources": [], "passes": [], "x": {}"#, "[".repeat(1 << 20));
    let message = import(&deep).unwrap_err().to_string();
    assert!(message.contains("recursion limit exceeded"), "{message}");
}

#[test]
fn another_base_extent_scales_what_is_scaled() {
    let text = json!({
        "base_extent": [64, 32],
        "resources": [{ "name": "a", "kind": "image", "format": "RGBA8", "extent_scale": [1, 1] }],
        "passes": [{ "name": "p", "type": "raster", "writes": [{ "res": "a", "use": "color" }] }],
    });
    let text = text.to_string();
    let extent = vk::Extent2D { width: 11, height: 7 };
    let frame = import_sized(&text, extent).unwrap().frame;
    let ResourceKind::Image { extent: resolved, .. } = frame.resources()[0].kind else {
        panic!("a is an image");
    };
    assert_eq!(resolved, extent.into());
    // The same frame from its native form.
    let native = import(&text).unwrap().frame.to_json();
    assert_eq!(read(&native, Some(extent)).unwrap().frame, frame);
    assert_eq!(Frame::read(&native).unwrap(), Frame::read(&text).unwrap());
}

/// The three files, and per file the number of passes, history and imported resources, and submits.
const FILES: [(&str, [usize; 4]); 3] = [
    ("granite_deferred_taa_bloom.json", [18, 2, 2, 1]),
    ("khronos_local_read_deferred.json", [3, 0, 1, 1]),
    ("qualcomm_tile_memory_sample.json", [7, 0, 1, 2]),
];

#[test]
fn the_shared_frames_import_as_they_are() {
    let folder = tileheap_testkit::data("frames");
    for (file, counts) in FILES {
        let text = std::fs::read_to_string(folder.join(file)).unwrap();
        let ImportedFrame {
            frame, claims, notes, ..
        } = import(&text).unwrap();
        let of = |wanted: fn(&Persistence) -> bool| {
            let persistences = frame.resources().iter().map(|it| &it.persistence);
            persistences.filter(|it| wanted(it)).count()
        };
        let (history, external) = (
            of(|it| *it == Persistence::History),
            of(|it| matches!(it, Persistence::External(_))),
        );
        let found = [frame.passes().len(), history, external, frame.submits().len()];
        assert_eq!(found, counts, "{file}");
        assert!(claims.iter().all(Option::is_some), "{file}");
        assert_eq!(notes, Vec::<String>::new(), "{file}");
        assert_eq!(Frame::from_json(&frame.to_json()).unwrap(), frame, "{file}");
    }
}
