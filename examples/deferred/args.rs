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
  R            everything as the planner likes it
  Esc          closes the window
The mouse shows what is below it; a click on a row or a block is Space there; the slider beside the map can be dragged.";

/// Renders a night scene with a planned deferred frame, and prints where every resource lives and why.
#[derive(Clone, Debug, Parser)]
#[command(name = "deferred", after_help = KEYS)]
pub(crate) struct Args {
    /// Where the picture goes
    #[arg(long, value_name = "FILE", default_value = "target/demo/frame.png")]
    pub(crate) output: PathBuf,
    /// Shows the frames in a window instead
    #[arg(long, conflicts_with_all = ["output", "compare", "best"])]
    pub(crate) window: bool,
    /// How many frames to render: 4 to a file, until it is closed in a window
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) frames: Option<u32>,
    /// Width and height in pixels; of a window, in points, of which a screen of high density makes several pixels
    #[arg(long, value_name = "WxH", default_value = "1280x720", value_parser = parse_extent::<1>)]
    pub(crate) size: vk::Extent2D,
    /// Prints the plan for this device profile too: a preset's name or a JSON file
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) profile: Option<String>,
    /// Writes the frame's description as JSON, for `tileheap plan`
    #[arg(long, value_name = "FILE")]
    pub(crate) dump_frame: Option<PathBuf>,
    /// Renders again with everything in memory of its own, and compares the pictures exactly; with --best, the frame
    /// as described too
    #[arg(long)]
    pub(crate) compare: bool,
    /// Draws the heap map over the picture; in a window it is there without, and F1 hides it
    #[arg(long, conflicts_with_all = ["compare", "no_overlay", "best"])]
    pub(crate) overlay: bool,
    /// With --window: begins without the heap map
    #[arg(long, requires = "window")]
    pub(crate) no_overlay: bool,
    /// A resource that must be placed in tile memory; an error says which rule it would break. May be repeated
    #[arg(long, value_name = "RESOURCE")]
    pub(crate) pin: Vec<String>,
    /// A resource that must not be placed in tile memory, even if there is room. May be repeated
    #[arg(long, alias = "keep-off", value_name = "RESOURCE")]
    pub(crate) exclude: Vec<String>,
    /// The most of the tile heap that is used: bytes, or with K, M or G behind
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    pub(crate) heap: Option<Bytes>,
    /// Which Vulkan device: its number, or part of its name (or TILEHEAP_DEVICE)
    #[arg(long, value_name = "DEVICE")]
    pub(crate) device: Option<String>,
    /// Runs under VK_LAYER_KHRONOS_validation, and fails if it reports anything
    #[arg(long)]
    pub(crate) validate: bool,
    /// Leaves tile memory alone where there is some
    #[arg(long)]
    pub(crate) no_tile_memory: bool,
    /// Binds in every pass no more tile memory than lives there: an image per memory object of what lives on
    #[arg(long)]
    pub(crate) ladder: bool,
    /// Lets resources live in tile memory for a first stretch of their lives, where that pays, and stores them then
    #[arg(long)]
    pub(crate) split: bool,
    #[command(flatten)]
    pub(crate) arrange: BestArgs,
    /// Turns eight parts of the frame on and off at random every frame (64 of them), and prints what is found again, created and held;
    /// with --compare, also compares every frame with one of which each resource has memory of its own
    #[arg(long, conflicts_with_all = ["window", "overlay", "best", "pin", "exclude", "heap", "vulkan_1_1"])]
    pub(crate) toggle: bool,
    /// Renders at another resolution every frame, inside of the targets of the largest, and prints what that creates
    #[arg(long, conflicts_with = "best")]
    pub(crate) dynamic_resolution: bool,
    /// Does without what Vulkan 1.1 lacks: render pass objects, the first kind of barriers, fences
    #[arg(long)]
    pub(crate) vulkan_1_1: bool,
    /// Which scene
    #[arg(long, value_name = "N", default_value_t = 7)]
    pub(crate) seed: u64,
    /// With --window: asks for another size after so many frames
    #[arg(long, value_name = "N", requires = "window")]
    pub(crate) resize_after: Option<u32>,
}
