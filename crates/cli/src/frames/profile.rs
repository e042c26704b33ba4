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

/// A profile as text.
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
            let yes_no = |yes| if yes { "yes" } else { "no" };
            let lasts = if tile.queue_submit_boundary {
                "submit"
            } else {
                "batch"
            };
            text += &format!(
                "  size                 {} (heap {}, memory type {})\n",
                tile.size, tile.heap, tile.memory_type
            );
            text += &format!(
                "  block                {}, {} texel rows\n",
                tile.block.bytes, tile.block.rows
            );
            text += &format!("  contents last for    a {lasts}\n");
            text += &format!("  buffer transfers     {}\n", yes_no(tile.buffer_transfers));
        }
    }
    if profile.gmem.0 > 0 {
        text += &format!("  GMEM                 {}\n", profile.gmem);
    }
    let limits = &profile.limits;
    text += "\nLimits\n";
    text += &format!(
        "  bufferImageGranularity     {}\n",
        limits.buffer_image_granularity
    );
    text += &format!("  maxMemoryAllocationSize    {}\n", limits.max_allocation);
    text += &format!("  maxImageDimension2D        {}\n", limits.max_image_dimension_2d);
    text += &format!("  maxColorAttachments        {}\n", limits.max_color_attachments);
    let features: Vec<String> = profile
        .features
        .iter_names()
        .map(|(name, _)| name.to_ascii_lowercase())
        .collect();
    text += &format!(
        "\nFeatures\n  {}\n",
        if features.is_empty() {
            "none".to_owned()
        } else {
            features.join(", ")
        }
    );
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
