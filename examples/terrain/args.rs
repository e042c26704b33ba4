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
    /// The policy of the cache, perhaps with values of its parameters, as in `tileheap replay --help`: coherent, coherent-levels,
    /// coherent-still, arenas, arenas:stride=20, first-attempt, lru, lru-compacting, clock, random, frame-mru, ring, slab or slab-rebalancing
    #[arg(long, value_name = "NAME", default_value = "coherent", value_parser = parse_policy)]
    pub(crate) policy: PolicyDesc<'static>,
    /// Memory for textures: bytes, or with K, M or G behind
    #[arg(long, value_name = "BYTES", default_value = "24M", value_parser = parse_bytes)]
    pub(crate) budget: Bytes,
    /// The most that a frame uploads: bytes, or with K, M or G behind
    #[arg(long, value_name = "BYTES", default_value = "768K", value_parser = parse_bytes)]
    pub(crate) uploads: Bytes,
    /// What textures are made of
    #[arg(long, value_enum, default_value_t = Texels::Mixed)]
    pub(crate) texels: Texels,
    /// How many frames to fly: 300 to files, until it is closed in a window
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) frames: Option<u32>,
    /// The frame of the flight to begin at; a round has 2400
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) start: u32,
    /// Writes a picture of every so many frames, besides the last one
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) every: u32,
    /// Width and height in pixels; of a window, in points, of which a screen of high density makes several pixels
    #[arg(long, value_name = "WxH", default_value = "960x540", value_parser = parse_extent::<16>)]
    pub(crate) size: vk::Extent2D,
    /// The folder for pictures
    #[arg(long, value_name = "FOLDER", default_value = "target/terrain")]
    pub(crate) output: PathBuf,
    /// Writes what every frame asked for, for `tileheap replay`
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// Shows the flight in a window instead: space stops it, O hides the overlay, - and + change the budget, escape ends
    #[arg(long, conflicts_with_all = ["output", "every", "compare"])]
    pub(crate) window: bool,
    /// Leaves the overlay out
    #[arg(long)]
    pub(crate) no_overlay: bool,
    /// At the end stands still until nothing waits, and compares with a picture that has every texture, exactly
    #[arg(long)]
    pub(crate) compare: bool,
    /// Which Vulkan device: its number, or part of its name (or TILEHEAP_DEVICE)
    #[arg(long, value_name = "DEVICE")]
    pub(crate) device: Option<String>,
    /// Runs under VK_LAYER_KHRONOS_validation, and fails if it reports anything
    #[arg(long)]
    pub(crate) validate: bool,
}

/// What textures are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Texels {
    /// 8-bit indices, dithered at every level
    Palette,
    /// Four bytes each
    Rgba,
    /// Indices; four bytes where one is near enough to see the dots
    Mixed,
}

fn parse_policy(name: &str) -> Result<PolicyDesc<'static>, String> {
    PolicyDesc::parse(&POLICIES, name).map_err(|error| error.to_string())
}
