//! The importer of loose frame descriptions: its rules, what it refuses, and the files of `tests/data/frames`.

mod files;
mod refusals;
mod rules;

use ash::vk;
use tileheap::frame::external::ExternalDesc;
use tileheap::frame::import::{Imported, import, import_sized, read};
use tileheap::frame::tables::{Access, PassKind, ResourceKind, Version};
use tileheap::frame::{AccessKind, ClearValue, Frame, LoadOp, Persistence};

/// A loose file of resources and passes.
fn loose(resources: &str, passes: &str) -> String {
    format!(r#"{{"name": "t", "base_extent": [64, 32], "resources": [{resources}], "passes": [{passes}]}}"#)
}

fn image(name: &str, more: &str) -> String {
    format!(r#"{{"name": "{name}", "kind": "image", "format": "RGBA8", "extent_scale": [1, 1]{more}}}"#)
}

fn pass(name: &str, kind: &str, more: &str) -> String {
    format!(r#"{{"name": "{name}", "type": "{kind}"{more}}}"#)
}

fn raster(name: &str, reads: &str, writes: &str) -> String {
    pass(
        name,
        "raster",
        &format!(
            r#", "reads": [{}], "writes": [{}]"#,
            entries(reads),
            entries(writes)
        ),
    )
}

fn compute(name: &str, reads: &str, writes: &str) -> String {
    raster(name, reads, writes).replace("raster", "compute")
}

/// `a color, b depth` as JSON entries.
fn entries(list: &str) -> String {
    let entries = list.split(", ").filter(|entry| !entry.is_empty()).map(|entry| {
        let (resource, word) = entry.split_once(' ').unwrap();
        format!(r#"{{"res": "{resource}", "use": "{word}"}}"#)
    });
    entries.collect::<Vec<_>>().join(", ")
}

fn imported(resources: &str, passes: &[String]) -> Imported {
    import(&loose(resources, &passes.join(", "))).unwrap()
}

fn refusal(resources: &str, passes: &[String]) -> String {
    let text = loose(resources, &passes.join(", "));
    let message = import(&text).unwrap_err().to_string();
    assert!(!message.contains('\n'), "{message}");
    message
}

/// Kind, reads, writes, version and treatment of earlier contents.
fn summary(access: &Access) -> (AccessKind, bool, bool, Version, LoadOp) {
    (
        access.kind,
        access.reads,
        access.writes,
        access.version,
        access.load_op,
    )
}

fn persistence(frame: &Frame, name: &str) -> Persistence {
    frame.resource(frame.resource_named(name).unwrap()).persistence
}

const CLEAR: LoadOp = LoadOp::Clear(ClearValue::ZERO);
