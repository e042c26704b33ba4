//! The importer of loose frame descriptions: what they mean, what it refuses, and the files of `tests/data/frames`.

use ash::vk;
use serde_json::{Value, json};
use tileheap::frame::import::{Imported, import, import_sized, read};
use tileheap::frame::tables::{Access, ResourceKind};
use tileheap::frame::{Frame, Persistence};

#[test]
fn loose_descriptions_mean_what_they_say() {
    tileheap_testkit::assert_cases("frame_import", |_, case| {
        let Imported {
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
    // The same from its native form.
    let native = import(&text).unwrap().frame.to_json();
    assert_eq!(read(&native, Some(extent)).unwrap().frame, frame);
    assert_eq!(Frame::read(&native).unwrap(), Frame::read(&text).unwrap());
}

/// The three files, and per file: passes, accesses listed, history and imported resources, submits.
const FILES: [(&str, usize, usize, usize, usize, usize); 3] = [
    ("granite_deferred_taa_bloom.json", 18, 50, 2, 2, 1),
    ("khronos_local_read_deferred.json", 3, 11, 0, 1, 1),
    ("qualcomm_tile_memory_sample.json", 7, 21, 0, 1, 2),
];

#[test]
fn the_shared_frames_import_as_they_are() {
    let folder = tileheap_testkit::data("frames");
    for (file, passes, listed, history, external, submits) in FILES {
        let text = std::fs::read_to_string(folder.join(file)).unwrap();
        let Imported {
            frame, claims, notes, ..
        } = import(&text).unwrap();
        assert_eq!(frame.passes().len(), passes, "{file}");
        assert_eq!(frame.submits().len(), submits, "{file}");
        let of = |wanted: fn(&Persistence) -> bool| {
            frame
                .resources()
                .iter()
                .filter(|it| wanted(&it.persistence))
                .count()
        };
        assert_eq!(
            of(|persistence| *persistence == Persistence::History),
            history,
            "{file}"
        );
        assert_eq!(
            of(|persistence| matches!(persistence, Persistence::External(_))),
            external,
            "{file}"
        );
        assert!(claims.iter().all(Option::is_some), "{file}");
        assert_eq!(notes, Vec::<String>::new(), "{file}");

        // Every entry of the file is counted, for its pass and its resource.
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        let mut total = 0;
        for (id, pass) in frame.pass_ids().zip(document["passes"].as_array().unwrap()) {
            let lists = [&pass["reads"], &pass["writes"]].map(|list| list.as_array().unwrap().iter());
            let names: Vec<&str> = lists
                .into_iter()
                .flatten()
                .map(|entry| entry["res"].as_str().unwrap())
                .collect();
            for resource in frame.resource_ids() {
                let name = &frame.resource(resource).name;
                let accesses = frame
                    .accesses_of(id)
                    .iter()
                    .filter(|access| access.resource == resource);
                let counted: u32 = accesses.map(Access::count).sum();
                let listed = names.iter().filter(|listed| *listed == name).count();
                assert_eq!(
                    counted as usize,
                    listed,
                    "{file}: {name} in {}",
                    frame.pass(id).name
                );
            }
            total += names.len();
        }
        assert_eq!(total, listed, "{file}");
        assert_eq!(Frame::from_json(&frame.to_json()).unwrap(), frame, "{file}");
    }
}

/// `tests/data/reach.json` is about passes and resources that the frames have.
#[test]
fn the_reach_of_reads_names_what_the_frames_have() {
    let text = std::fs::read_to_string(tileheap_testkit::data("reach.json")).unwrap();
    let reach: serde_json::Value = serde_json::from_str(&text).unwrap();
    for (file, of) in reach["frames"].as_object().unwrap() {
        let frame = tileheap_testkit::data("frames").join(file);
        let frame = Frame::read(&std::fs::read_to_string(frame).unwrap()).unwrap();
        for (pass, reads) in of["reach"].as_object().unwrap() {
            let id = frame.pass_named(pass).unwrap_or_else(|| panic!("{file}: {pass}"));
            for name in reads.as_object().unwrap().keys() {
                let resource = frame.resource_named(name);
                let is_read = |access: &Access| Some(access.resource) == resource && access.reads;
                assert!(
                    frame.accesses_of(id).iter().any(is_read),
                    "{file}: {name} in {pass}"
                );
            }
        }
        for pass in of["repeat_bytes"].as_object().unwrap().keys() {
            assert!(frame.pass_named(pass).is_some(), "{file}: {pass}");
        }
    }
}
