//! `tileheap device`: what this machine offers, and what is missing for tile memory.

use ash::vk;
use serde_json::{Value, json};
use tileheap::runtime::{Support, Surveyed, survey};

use crate::arguments::DeviceArguments;
use crate::failure::Failure;
use crate::output::Output;
use crate::profile;

pub(crate) fn run(arguments: &DeviceArguments) -> Result<(), Failure> {
    let devices = survey()?;
    if arguments.json {
        let devices: Result<Vec<Value>, Failure> = devices.iter().map(in_json).collect();
        let document = json!({ "format": "tileheap-devices", "version": 1, "devices": devices? });
        return Output::stdout().write(&format!("{document:#}\n"));
    }
    let texts: Vec<String> = devices.iter().map(in_words).collect();
    Output::stdout().write_report(&texts.join("\n\n"))
}

fn in_words(device: &Surveyed) -> String {
    let support = match &device.support {
        Ok(support) => support,
        Err(error) => return format!("{}\n  cannot be used: {error}\n", device.name),
    };
    let mut text = profile::text(support.profile());
    text += &format!(
        "\nKind\n  {}, used with Vulkan {}\n",
        kind(device.kind),
        version(support)
    );
    if support.missing().is_empty() {
        let emulated = support
            .emulator()
            .map(|emulator| format!(" (emulated by {emulator})"));
        text += &format!(
            "\nTile memory can be used{}: `tileheap plan` shows what a frame makes of it.\n",
            emulated.unwrap_or_default()
        );
        return text;
    }
    text += "\nMissing for tile memory\n";
    for missing in support.missing() {
        text += &format!("  {missing}\n");
    }
    text += "  So frames are planned into ordinary memory here; `tileheap plan` shows what a device with tile memory gains.\n";
    text
}

fn in_json(device: &Surveyed) -> Result<Value, Failure> {
    let kind = kind(device.kind);
    let support = match &device.support {
        Ok(support) => support,
        Err(error) => return Ok(json!({ "name": device.name, "kind": kind, "error": error.to_string() })),
    };
    let profile: Value = serde_json::from_str(&support.profile().to_json())
        .map_err(|error| Failure::of("the profile as JSON", error))?;
    let missing: Vec<String> = support.missing().iter().map(ToString::to_string).collect();
    let offers: Vec<String> = support
        .offers()
        .iter_names()
        .map(|(name, _)| name.to_ascii_lowercase())
        .collect();
    Ok(json!({
        "name": device.name,
        "kind": kind,
        "vulkan": version(support),
        "tile_memory": missing.is_empty(),
        "emulator": support.emulator(),
        "missing": missing,
        "offers": offers,
        "profile": profile,
    }))
}

fn kind(kind: vk::PhysicalDeviceType) -> &'static str {
    match kind {
        vk::PhysicalDeviceType::DISCRETE_GPU => "discrete GPU",
        vk::PhysicalDeviceType::INTEGRATED_GPU => "integrated GPU",
        vk::PhysicalDeviceType::VIRTUAL_GPU => "virtual GPU",
        vk::PhysicalDeviceType::CPU => "CPU",
        _ => "other",
    }
}

fn version(support: &Support) -> String {
    let version = support.version();
    format!(
        "{}.{}",
        vk::api_version_major(version),
        vk::api_version_minor(version)
    )
}
