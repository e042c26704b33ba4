//! How far from the pixel that is being written a read looks.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How far from the pixel that is being written a read looks, in texels of the resource that it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "ReachForm", into = "ReachForm")]
pub enum ReadReach {
    /// So many texels to each side; 0 for the same pixel alone (scaled where extents differ).
    Texels(u32),
    /// No limit is known.
    Anywhere,
}

impl ReadReach {
    /// The same pixel alone.
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
