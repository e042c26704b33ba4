//! The command line.

use std::path::PathBuf;

use ash::vk;
use clap::{Parser, ValueEnum};
use tileheap::units::Bytes;
use tileheap_baselines::textures::ALL as POLICIES;
use tileheap_textures::PolicyDesc;

use crate::support::sizes::{parse_bytes, parse_extent};

/// Flies over an island whose textures are painted as they come into view, through a cache far smaller than all of them.
#[derive(Clone, Debug, Parser)]
#[command(name = "terrain")]
pub(crate) struct Args {
    /// The policy of the cache, optionally with values of its parameters, as in `tileheap replay --help`: coherent, coherent-levels,
    /// coherent-still, arenas, arenas:stride=20, first-attempt, lru, lru-compacting, clock, random, frame-mru, ring, slab or slab-rebalancing
    #[arg(long, value_name = "NAME", default_value = "coherent", value_parser = parse_policy)]
    pub(crate) policy: PolicyDesc<'static>,
    /// The memory budget of the texture cache: 25165824, 24MiB
    #[arg(long, value_name = "SIZE", default_value = "24MiB", value_parser = parse_bytes)]
    pub(crate) memory: Bytes,
    /// Limit the uploads of a frame: 786432, 768KiB
    #[arg(long, value_name = "SIZE", default_value = "768KiB", value_parser = parse_bytes)]
    pub(crate) uploads: Bytes,
    /// The texels of textures
    #[arg(long, value_enum, default_value_t = Texels::Mixed)]
    pub(crate) texels: Texels,
    /// Number of frames [default: 300 to files, no limit in a window]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) frames: Option<u32>,
    /// The first frame of the flight; a full circuit has 2400
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) start: u32,
    /// Writes a picture of every N-th frame, in addition to the last one
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) every: u32,
    /// Width and height in pixels; for a window, in points, which are several pixels each on a high-density screen
    #[arg(long, value_name = "WxH", default_value = "960x540", value_parser = parse_extent::<16>)]
    pub(crate) size: vk::Extent2D,
    /// The folder for pictures
    #[arg(long, value_name = "FOLDER", default_value = "target/terrain")]
    pub(crate) output: PathBuf,
    /// Writes the requests of every frame to a trace, for `tileheap replay`
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// Shows the flight in a window instead: space pauses, O hides the overlay, - and + change the budget, escape exits
    #[arg(long, conflicts_with_all = ["output", "every", "compare"])]
    pub(crate) window: bool,
    /// Does not draw the overlay
    #[arg(long)]
    pub(crate) no_overlay: bool,
    /// At the end, waits until no uploads are pending, and compares the picture exactly with one that has every texture
    #[arg(long)]
    pub(crate) compare: bool,
    /// The Vulkan device: its number, or part of its name (or TILEHEAP_DEVICE)
    #[arg(long, value_name = "DEVICE")]
    pub(crate) device: Option<String>,
    /// Runs under VK_LAYER_KHRONOS_validation, and fails if it reports anything
    #[arg(long)]
    pub(crate) validate: bool,
}

/// The texels of textures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Texels {
    /// 8-bit indices, dithered at every level
    Palette,
    /// Four bytes per texel
    Rgba,
    /// Indices; four bytes per texel close to the camera, where dithering would be visible
    Mixed,
}

fn parse_policy(name: &str) -> Result<PolicyDesc<'static>, String> {
    PolicyDesc::parse(&POLICIES, name).map_err(|error| error.to_string())
}
