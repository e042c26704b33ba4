//! Device profiles: reading them, and printing them.

use std::ffi::OsStr;
use std::path::Path;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use serde_json::Value;
use tileheap::names;
use tileheap::profile::{DeviceProfile, OptionalFeatures, PRESETS};
use tileheap::units::Bytes;

use crate::error::{Error, Result};
use crate::input::{is_stdin, read_text, shown};

/// Parses the name of a preset or the path of a file; completions offer the names.
#[derive(Clone)]
pub(crate) struct NameOrFile;

impl TypedValueParser for NameOrFile {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(PRESETS.into_iter().map(PossibleValue::new)))
    }
}

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

pub(crate) fn text(profile: &DeviceProfile) -> Result<String> {
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
        text += &format!(
            "  merges passes with   at most {attachments} attachments, {bits} color bits per pixel\n"
        );
    }
    text += "\nLimits\n";
    for (name, limit) in limits(profile)? {
        text += &format!("  {name:<42} {limit}\n");
    }
    let features = profile.features.iter_names();
    let features: Vec<String> = features.map(|(name, _)| name.to_ascii_lowercase()).collect();
    let none = if features.is_empty() { "none" } else { "" };
    text += &format!("\nFeatures\n  {none}{}\n", features.join(", "));
    if let Some(optional) = profile.optional_features {
        let names: Vec<&str> = optional.iter().map(OptionalFeatures::name).collect();
        let none = if names.is_empty() { "none" } else { "" };
        text += &format!("\nOptional features\n  {none}{}\n", names.join(", "));
    }
    Ok(text)
}

/// The limits that a profile states, as its JSON names them.
fn limits(profile: &DeviceProfile) -> Result<Vec<(String, String)>> {
    let document: Value =
        serde_json::from_str(&profile.to_json()).map_err(|error| Error::of("the profile as JSON", error))?;
    let stated = document["limits"].as_object().into_iter().flatten();
    let limits = stated.map(|(name, value)| {
        let value = match value {
            Value::Number(size) if name.ends_with("Size") => size
                .as_u64()
                .map_or_else(String::new, |size| Bytes(size).to_string()),
            Value::Array(flags) => {
                let names = flags.iter().filter_map(Value::as_str).map(str::to_owned);
                short(names.collect(), "VK_SAMPLE_COUNT_")
            }
            other => other.to_string(),
        };
        (name.clone(), value)
    });
    Ok(limits.collect())
}

/// Joins flag names with ` | `, without their common prefix and `_BIT`.
fn short(names: Vec<String>, prefix: &str) -> String {
    let names = names
        .iter()
        .map(|name| name.trim_start_matches(prefix).replacen("_BIT", "", 1));
    names.collect::<Vec<_>>().join(" | ")
}

/// Replaces control characters with spaces: names from files may contain anything.
fn one_line(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}
