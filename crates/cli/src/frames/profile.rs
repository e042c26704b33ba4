//! Device profiles: reading them, and printing them.

use std::path::Path;

use tileheap::names;
use tileheap::profile::{DeviceProfile, PRESETS};

use crate::error::{Error, Result};
use crate::input::{is_stdin, read_text, shown};

/// A device profile by name, or from a file.
pub(crate) fn read(name_or_file: &str) -> Result<DeviceProfile> {
    let path = Path::new(name_or_file);
    let looks_like_a_file = is_stdin(path) || path.extension().is_some() || path.components().count() > 1;
    if PRESETS.contains(&name_or_file) || (!looks_like_a_file && !path.exists()) {
        return Ok(DeviceProfile::preset(name_or_file)?);
    }
    let text = read_text(path, "device profile")?;
    DeviceProfile::from_json(&text).map_err(|error| Error::of(shown(path), error))
}

pub(crate) fn text(profile: &DeviceProfile) -> String {
    let mut text = format!("{}\n  {}\n", one_line(&profile.name), one_line(&profile.source));
    text += "\nMemory heaps\n";
    for (index, heap) in profile.heaps.iter().enumerate() {
        let flags = short(names::bit_names(heap.flags), "VK_MEMORY_HEAP_");
        text += &format!("  {index:>2}  {:>20}  {flags}\n", heap.size.to_string());
    }
    text += "\nMemory types\n";
    for (index, kind) in profile.memory_types.iter().enumerate() {
        let flags = short(names::bit_names(kind.flags), "VK_MEMORY_PROPERTY_");
        text += &format!("  {index:>2}  heap {}  {flags}\n", kind.heap);
    }
    text += "\nTile memory\n";
    match &profile.tile {
        None => text += "  none\n",
        Some(tile) => {
            let mut row = |name: &str, value: String| text += &format!("  {name:<20} {value}\n");
            let yes_no = |yes| if yes { "yes" } else { "no" };
            let lasts = if tile.queue_submit_boundary {
                "submit"
            } else {
                "batch"
            };
            let (heap, kind, block) = (tile.heap, tile.memory_type, tile.block);
            row("size", format!("{} (heap {heap}, memory type {kind})", tile.size));
            row("block", format!("{}, {} texel rows", block.bytes, block.rows));
            row("contents last for", format!("a {lasts}"));
            row("buffer transfers", yes_no(tile.buffer_transfers).to_owned());
        }
    }
    if profile.gmem.0 > 0 {
        text += &format!("  GMEM                 {}\n", profile.gmem);
    }
    if let Some(merge) = profile.merge {
        let (attachments, bits) = (merge.attachments, merge.color_bits);
        text += &format!("  merges passes with   {attachments} attachments, {bits} color bits a pixel\n");
    }
    let limits = &profile.limits;
    text += "\nLimits\n";
    for (name, limit) in [
        (
            "bufferImageGranularity",
            limits.buffer_image_granularity.to_string(),
        ),
        ("maxMemoryAllocationSize", limits.max_allocation.to_string()),
        ("maxImageDimension2D", limits.max_image_dimension_2d.to_string()),
        ("maxColorAttachments", limits.max_color_attachments.to_string()),
    ] {
        text += &format!("  {name:<26} {limit}\n");
    }
    let features = profile.features.iter_names();
    let features: Vec<String> = features.map(|(name, _)| name.to_ascii_lowercase()).collect();
    let none = if features.is_empty() { "none" } else { "" };
    text += &format!("\nFeatures\n  {none}{}\n", features.join(", "));
    text
}

/// Flag names without their common prefix.
fn short(names: Vec<String>, prefix: &str) -> String {
    let names = names
        .iter()
        .map(|name| name.trim_start_matches(prefix).replacen("_BIT", "", 1));
    names.collect::<Vec<_>>().join(" | ")
}

/// Names from files may contain anything.
fn one_line(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}
