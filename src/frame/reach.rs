//! Reach: how far from the pixel that is being written a read looks, and what running a pass once more costs.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use tileheap_json::{is_default, parse};

use super::json::JsonError;
use super::tables::Access;
use super::{AccessKind, Frame, FrameError};
use crate::units::Bytes;

/// How far from the pixel that is being written a read looks, in texels of the resource that it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "ReachForm", into = "ReachForm")]
pub enum Reach {
    /// So many texels to each side; 0 for the same pixel alone (scaled where extents differ).
    Texels(u32),
    /// No limit is known.
    Anywhere,
}

impl Reach {
    /// The same pixel alone.
    pub const PIXEL: Reach = Reach::Texels(0);
}

impl fmt::Display for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reach::Texels(0) => f.write_str("at its own pixel"),
            Reach::Texels(1) => f.write_str("within 1 texel"),
            Reach::Texels(texels) => write!(f, "within {texels} texels"),
            Reach::Anywhere => f.write_str("anywhere"),
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

impl From<ReachForm> for Reach {
    fn from(form: ReachForm) -> Reach {
        match form {
            ReachForm::Texels(texels) => Reach::Texels(texels),
            ReachForm::Word(Word::Anywhere) => Reach::Anywhere,
        }
    }
}

impl From<Reach> for ReachForm {
    fn from(reach: Reach) -> ReachForm {
        match reach {
            Reach::Texels(texels) => ReachForm::Texels(texels),
            Reach::Anywhere => ReachForm::Word(Word::Anywhere),
        }
    }
}

impl Access {
    /// How far its reads look: as declared; else [`Reach::PIXEL`] for attachments and input attachments, [`Reach::Anywhere`] for all
    /// others.
    pub fn reach(&self) -> Reach {
        let own_pixel = self.kind.is_attachment()
            || matches!(
                self.kind,
                AccessKind::InputAttachment | AccessKind::TileAttachment
            );
        let usual = if own_pixel { Reach::PIXEL } else { Reach::Anywhere };
        self.reach.unwrap_or(usual)
    }
}

/// What people know of a frame whose description does not say it: the reach of reads, and what repeating a pass costs.
///
/// ```json
/// { "reach": { "blur": { "lit": 3, "luminance": "anywhere" } }, "repeat_bytes": { "gbuffer": 1048576 } }
/// ```
/// Every pass is taken to use the origin that it is given; what `repeat_bytes` leaves out costs nothing to repeat.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "assumptions of reach")]
pub struct Reaches {
    /// By pass and resource, in texels of the resource.
    #[serde(default)]
    pub reach: BTreeMap<String, BTreeMap<String, Reach>>,
    /// By pass, the bytes of memory traffic that one more execution costs besides its accesses.
    #[serde(default, skip_serializing_if = "is_default")]
    pub repeat_bytes: BTreeMap<String, Bytes>,
}

impl Reaches {
    /// Reads the JSON form of one frame, or of several under `frames`, by file name: then those of `file` are taken.
    ///
    /// # Errors
    /// [`FrameError::Json`] where it is neither, [`FrameError::Unknown`] where `file` is not among several.
    pub fn from_json(text: &str, file: &str) -> crate::Result<Reaches> {
        #[derive(Deserialize)]
        #[serde(
            untagged,
            expecting = "expected `reach` and `repeat_bytes`, or `frames` of those by file name"
        )]
        enum Form {
            Several { frames: BTreeMap<String, Reaches> },
            One(Reaches),
        }
        let form = parse(text).map_err(|fault| FrameError::Json(JsonError::Syntax(fault)))?;
        match form {
            Form::One(reaches) => Ok(reaches),
            Form::Several { mut frames } => frames.remove(file).ok_or_else(|| {
                FrameError::Unknown {
                    by: "the file of reaches".to_owned(),
                    what: "frame",
                    name: file.to_owned(),
                }
                .into()
            }),
        }
    }
}

impl Frame {
    /// The frame with assumptions about its reads; every pass may then run strip by strip.
    ///
    /// # Errors
    /// [`FrameError::Unknown`] for a pass or resource that the frame does not have.
    pub fn with_reaches(&self, reaches: &Reaches) -> crate::Result<Frame> {
        let unknown = |what, name: &str| FrameError::Unknown {
            by: "an assumption of reach".to_owned(),
            what,
            name: name.to_owned(),
        };
        let pass = |name: &str| self.pass_named(name).ok_or_else(|| unknown("pass", name));
        let mut builder = self.to_builder();
        for id in self.pass_ids() {
            let bytes = reaches.repeat_bytes.get(&self.pass(id).name);
            builder.set_repeat_bytes(id, Some(bytes.copied().unwrap_or_default()));
        }
        for name in reaches.repeat_bytes.keys() {
            pass(name)?;
        }
        for (name, reads) in &reaches.reach {
            let pass = pass(name)?;
            for (name, &reach) in reads {
                let resource = self
                    .resource_named(name)
                    .ok_or_else(|| unknown("resource", name))?;
                builder.set_reach(pass, resource, reach);
            }
        }
        builder.build()
    }
}
