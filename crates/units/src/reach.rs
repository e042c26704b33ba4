//! The distance from the pixel being written at which a read may occur.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The distance from the pixel being written at which a read may occur, in texels of the resource being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "ReachForm", into = "ReachForm")]
pub enum ReadReach {
    /// Up to this many texels to each side; 0 for only the same pixel (scaled if extents differ).
    Texels(u32),
    /// At any distance.
    Anywhere,
}

impl ReadReach {
    /// A read only at the same pixel.
    pub const PIXEL: ReadReach = ReadReach::Texels(0);
}

impl fmt::Display for ReadReach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadReach::Texels(0) => f.write_str("at its own pixel"),
            ReadReach::Texels(1) => f.write_str("within 1 texel"),
            ReadReach::Texels(texels) => write!(f, "within {texels} texels"),
            ReadReach::Anywhere => f.write_str("anywhere"),
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a number of texels, or \"anywhere\"")]
enum ReachForm {
    Texels(u32),
    Word(Word),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Word {
    Anywhere,
}

impl From<ReachForm> for ReadReach {
    fn from(form: ReachForm) -> ReadReach {
        match form {
            ReachForm::Texels(texels) => ReadReach::Texels(texels),
            ReachForm::Word(Word::Anywhere) => ReadReach::Anywhere,
        }
    }
}

impl From<ReadReach> for ReachForm {
    fn from(reach: ReadReach) -> ReachForm {
        match reach {
            ReadReach::Texels(texels) => ReachForm::Texels(texels),
            ReadReach::Anywhere => ReachForm::Word(Word::Anywhere),
        }
    }
}
