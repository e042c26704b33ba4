//! `tileheap device`.

use std::path::PathBuf;

use ash::vk;
use clap::{Args, ValueHint};
use serde_json::{Value, json};
use tileheap::runtime::DeviceSupport;
use tileheap::runtime::detect::{EnumeratedDevice, enumerate_devices};

use crate::error::{Error, Result};
use crate::frames::profile;
use crate::output::Output;

/// Show this machine's Vulkan devices, and what they lack for tile memory
#[derive(Debug, Args)]
#[command(long_about = include_str!("about/device.txt"))]
#[command(after_help = include_str!("help/device.txt"))]
pub(crate) struct Arguments {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let devices = enumerate_devices()?;
    if arguments.json {
        let devices: Result<Vec<Value>> = devices.iter().map(in_json).collect();
        let document = json!({ "format": "tileheap-devices", "version": 1, "devices": devices? });
        return Output::to(arguments.output.clone()).write(&format!("{document:#}\n"));
    }
    let texts: Result<Vec<String>> = devices.iter().map(in_words).collect();
    Output::to(arguments.output.clone()).write_report(&texts?.join("\n\n"))
}

fn in_words(device: &EnumeratedDevice) -> Result<String> {
    let support = match &device.support {
        Ok(support) => support,
        Err(error) => return Ok(format!("{}\n  not usable: {error}\n", device.name)),
    };
    let mut text = profile::text(support.profile())?;
    text += &format!(
        "\nKind\n  {}, used with Vulkan {}\n",
        kind(device.kind),
        version(support)
    );
    if support.missing_requirements().is_empty() {
        let emulated = support
            .emulator()
            .map(|emulator| format!(" (emulated by {emulator})"));
        text += &format!(
            "\nTile memory is supported{}: `tileheap plan` shows what a frame would place there.\n",
            emulated.unwrap_or_default()
        );
        return Ok(text);
    }
    text += "\nMissing for tile memory\n";
    for missing in support.missing_requirements() {
        text += &format!("  {missing}\n");
    }
    text += "  Frames use ordinary memory on this device; `tileheap plan` shows what a device with tile memory would save.\n";
    Ok(text)
}

fn in_json(device: &EnumeratedDevice) -> Result<Value> {
    let kind = kind(device.kind);
    let support = match &device.support {
        Ok(support) => support,
        Err(error) => return Ok(json!({ "name": device.name, "kind": kind, "error": error.to_string() })),
    };
    let profile: Value = serde_json::from_str(&support.profile().to_json())
        .map_err(|error| Error::of("the profile as JSON", error))?;
    let missing: Vec<String> = support
        .missing_requirements()
        .iter()
        .map(ToString::to_string)
        .collect();
    let offers: Vec<String> = support
        .offered_capabilities()
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

fn version(support: &DeviceSupport) -> String {
    let version = support.version();
    format!(
        "{}.{}",
        vk::api_version_major(version),
        vk::api_version_minor(version)
    )
}
