//! The command line.

use clap::{Parser, ValueEnum};

/// Runs networks in planned memory: in buffers and in textures, with and without aliasing, and compares them with the CPU
#[derive(Clone, Debug, Parser)]
#[command(name = "network")]
pub(crate) struct Args {
    /// Which network; all of them if nothing is said
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Vec<Model>,
    /// Height and width of the picture; a multiple of 32
    #[arg(long, value_name = "PIXELS", default_value_t = 96, value_parser = clap::value_parser!(u32).range(32..=224))]
    pub(crate) size: u32,
    /// Rounds of the LSTM
    #[arg(long, value_name = "N", default_value_t = 7)]
    pub(crate) rounds: u64,
    /// Stores elements in 16 bits
    #[arg(long)]
    pub(crate) half: bool,
    /// Times unaliased and aliased plans in so many pairs: medians, and the median of the pairs' ratios with its 95 %
    /// confidence interval
    #[arg(long, value_name = "PAIRS", default_value_t = 0)]
    pub(crate) time: u32,
    /// Which weights and inputs
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
    /// ResNet-18-shaped
    Resnet,
    /// An LSTM cell in a loop
    Lstm,
}

impl Model {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Model::Mobilenet => "mobilenet",
            Model::Resnet => "resnet",
            Model::Lstm => "lstm",
        }
    }
}
