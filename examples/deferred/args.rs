//! The command line.

use std::path::PathBuf;

use ash::vk;
use clap::Parser;
use tileheap::units::Bytes;

use crate::support::arrangement::BestArgs;
use crate::support::sizes::{parse_bytes, parse_extent};

const KEYS: &str = "\
In the window, over the heap map:
  F1           hides or shows it
  Up, Down     choose a resource (Home, End: the first, the last)
  Space        keeps it off tile memory, or pins it there; again: the planner chooses
  +, -         a sixteenth more or less of the tile heap
  Tab          the other memory: the tile heap, or the arenas in ordinary memory
  R            removes all constraints: the planner chooses
  Esc          closes the window
The mouse shows what is below it; a click on a row or a block is Space there; the slider beside the map can be dragged.";

/// Renders a night scene with a planned deferred frame, and prints the placement of every resource with the reason.
#[derive(Clone, Debug, Parser)]
#[command(name = "deferred", after_help = KEYS)]
pub(crate) struct Args {
    /// Output file for the picture
    #[arg(long, value_name = "FILE", default_value = "target/demo/frame.png")]
    pub(crate) output: PathBuf,
    /// Shows the frames in a window instead
    #[arg(long, conflicts_with_all = ["output", "compare", "best"])]
    pub(crate) window: bool,
    /// Number of frames to render [default: 4 to a file, no limit in a window]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) frames: Option<u32>,
    /// Width and height in pixels; for a window, in points, which are several pixels each on a high-density screen
    #[arg(long, value_name = "WxH", default_value = "1280x720", value_parser = parse_extent::<1>)]
    pub(crate) size: vk::Extent2D,
    /// Prints the plan for this device profile too: a preset's name or a JSON file
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) profile: Option<String>,
    /// Writes the frame's description as JSON, for `tileheap plan`
    #[arg(long, value_name = "FILE")]
    pub(crate) dump_frame: Option<PathBuf>,
    /// Renders again with separate memory for every resource, and compares the pictures exactly; with --best, also
    /// compares the frame as described
    #[arg(long)]
    pub(crate) compare: bool,
    /// Draws the heap map over the picture; a window shows it by default, and F1 hides it
    #[arg(long, conflicts_with_all = ["compare", "no_overlay", "best"])]
    pub(crate) overlay: bool,
    /// With --window: starts without the heap map
    #[arg(long, requires = "window")]
    pub(crate) no_overlay: bool,
    /// A resource that must be placed in tile memory; if it cannot be, an error names the rule. May be repeated
    #[arg(long, value_name = "RESOURCE")]
    pub(crate) pin: Vec<String>,
    /// A resource that must not be placed in tile memory, even if there is room. May be repeated
    #[arg(long, alias = "keep-off", value_name = "RESOURCE")]
    pub(crate) exclude: Vec<String>,
    /// Limit on the used part of the tile heap: 8355840, 18MiB, 8.5MB
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    pub(crate) heap: Option<Bytes>,
    /// The Vulkan device: its number, or part of its name (or TILEHEAP_DEVICE)
    #[arg(long, value_name = "DEVICE")]
    pub(crate) device: Option<String>,
    /// Runs under VK_LAYER_KHRONOS_validation, and fails if it reports anything
    #[arg(long)]
    pub(crate) validate: bool,
    /// Does not use tile memory, even if the device has some
    #[arg(long)]
    pub(crate) no_tile_memory: bool,
    /// Binds in every pass only as much tile memory as it needs; resources that stay have an alias in each memory object
    #[arg(long)]
    pub(crate) ladder: bool,
    /// Allows resources in tile memory for the first part of their lifetimes only, and stores them afterwards, if that pays off
    #[arg(long)]
    pub(crate) split: bool,
    #[command(flatten)]
    pub(crate) arrange: BestArgs,
    /// Toggles eight parts of the frame at random every frame (64 frames), and prints the numbers of objects reused, created and held;
    /// with --compare, also compares every frame with one in which each resource has separate memory
    #[arg(long, conflicts_with_all = ["window", "overlay", "best", "pin", "exclude", "heap", "vulkan_1_1"])]
    pub(crate) toggle: bool,
    /// Renders every frame at another resolution, within targets of the largest one, and prints how many objects that creates
    #[arg(long, conflicts_with = "best")]
    pub(crate) dynamic_resolution: bool,
    /// Uses only Vulkan 1.1: render pass objects, the original barriers, fences
    #[arg(long)]
    pub(crate) vulkan_1_1: bool,
    /// Seed of the scene
    #[arg(long, value_name = "N", default_value_t = 7)]
    pub(crate) seed: u64,
    /// With --window: requests another size after this number of frames
    #[arg(long, value_name = "N", requires = "window")]
    pub(crate) resize_after: Option<u32>,
}
