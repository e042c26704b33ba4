//! The command line.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use tileheap::units::Bytes;
use tileheap_examples::sizes::parse_bytes;

/// Runs networks in planned memory: in buffers, in textures and in tile memory, and compares them with the CPU
#[derive(Clone, Debug, Parser)]
#[command(name = "network")]
pub(crate) struct Args {
    /// The networks to run
    #[arg(long, value_name = "NAME", value_delimiter = ',', default_values = ["mobilenet", "resnet", "lstm", "transformer", "mlp"])]
    pub(crate) model: Vec<Model>,
    /// Runs in tile memory, in at most this many bytes of it: alone, and together with a renderer's frame in one submit
    #[arg(long, value_name = "SIZE", num_args = 0..=1, value_parser = parse_bytes, conflicts_with = "time")]
    pub(crate) tile: Option<Option<Bytes>>,
    /// With --tile: writes the frame of the network alone as JSON; if there are several networks, that of the last one
    #[arg(long, value_name = "FILE", requires = "tile")]
    pub(crate) dump_frame: Option<PathBuf>,
    /// Height and width of the picture; a multiple of 32
    #[arg(long, value_name = "PIXELS", default_value_t = 96, value_parser = clap::value_parser!(u32).range(32..=224))]
    pub(crate) size: u32,
    /// Number of rounds of the LSTM
    #[arg(long, value_name = "N", default_value_t = 7)]
    pub(crate) rounds: u64,
    /// Stores elements in 16 bits
    #[arg(long)]
    pub(crate) half: bool,
    /// Times unaliased and aliased plans in this number of pairs: prints medians, and the median of the pairs' ratios
    /// with its 95 % confidence interval
    #[arg(long, value_name = "PAIRS", default_value_t = 0)]
    pub(crate) time: u32,
    /// Seed of the weights and inputs
    #[arg(long, value_name = "N", default_value_t = 7)]
    pub(crate) seed: u64,
    /// Runs under VK_LAYER_KHRONOS_validation, and fails if it reports anything
    #[arg(long)]
    pub(crate) validate: bool,
}

/// A network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Model {
    /// MobileNetV2-shaped
    Mobilenet,
    /// MobileNetV1-shaped
    MobilenetV1,
    /// ResNet-18-shaped
    Resnet,
    /// ResNet-50-shaped
    Resnet50,
    /// VGG-16-shaped
    Vgg,
    /// SqueezeNet-shaped
    Squeezenet,
    /// U-Net-shaped
    Unet,
    /// An LSTM cell in a loop
    Lstm,
    /// A transformer block
    Transformer,
    /// A multi-layer perceptron for every fourth pixel, with fused activations
    Mlp,
}

impl Model {
    pub(crate) fn name(self) -> String {
        let value = self.to_possible_value().expect("none is skipped");
        value.get_name().to_owned()
    }
}
