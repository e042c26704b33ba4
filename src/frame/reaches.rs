//! Assumptions about a frame that its description does not contain: how far reads reach, the cost of repeating a pass, and tile lists.

use std::collections::BTreeMap;

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use tileheap_json::{did_you_mean, is_default, parse};

use super::tables::ResourceKind;
use super::{Frame, FrameError, FrameRule};
use super::{ReadReach, ResourceId, TileLists};
use crate::units::Bytes;

/// Assumptions about a frame that its description does not contain: the reach of reads, the cost of repeating a pass, and tile lists.
///
/// ```json
/// { "reach": { "blur": { "lit": 3, "luminance": "anywhere" } }, "repeat_bytes": { "gbuffer": 1048576 }, "lists": { "light_indices": 16 } }
/// ```
/// Every pass is assumed to honor the origin of a strip; passes without an entry in `repeat_bytes` cost nothing to repeat.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "reach assumptions")]
pub struct ReachAssumptions {
    /// Per pass and resource, the reach of the pass's reads, in texels of the resource.
    #[serde(default)]
    pub reach: BTreeMap<String, BTreeMap<String, ReadReach>>,
    /// Per pass, the cost of one more execution in addition to its accesses, in bytes of memory traffic.
    #[serde(default, skip_serializing_if = "is_default")]
    pub repeat_bytes: BTreeMap<String, Bytes>,
    /// Per buffer that holds a [list](super::TileLists) for each tile of the screen, the width and height of a tile in pixels. The lists are as long as the
    /// buffer has room for, in whole 4-byte words.
    #[serde(default, skip_serializing_if = "is_default")]
    pub lists: BTreeMap<String, u32>,
}

impl ReachAssumptions {
    /// Reads the JSON form: of one frame, or of several frames by file name under `frames`, in which case it returns the entry of `file`.
    ///
    /// # Errors
    /// [`FrameError::Reaches`] if it is neither, [`FrameRule::Unknown`] if `file` is not among several.
    pub fn from_json(text: &str, file: &str) -> crate::Result<ReachAssumptions> {
        #[derive(Deserialize)]
        struct Several<T> {
            frames: T,
        }
        fn read<T: DeserializeOwned>(text: &str) -> Result<T, FrameError> {
            parse(text).map_err(FrameError::Reaches)
        }
        // The form is decided first, so that errors are about its own fields.
        if read::<Several<Option<IgnoredAny>>>(text)?.frames.is_none() {
            return Ok(read(text)?);
        }
        let mut frames = read::<Several<BTreeMap<String, ReachAssumptions>>>(text)?.frames;
        frames.remove(file).ok_or_else(|| {
            FrameRule::Unknown
                .broken(format!(
                    "the reach file has no frame `{file}`{near}",
                    near = did_you_mean(file, frames.keys().map(String::as_str))
                ))
                .into()
        })
    }
}

impl Frame {
    /// The frame with these assumptions. Every pass may then run strip by strip; one more execution of a pass without an assumed cost is free.
    ///
    /// # Errors
    /// [`FrameRule::Unknown`] for a pass or resource that the frame does not have.
    pub fn with_reaches(&self, reaches: &ReachAssumptions) -> crate::Result<Frame> {
        let unknown = |what, name: &str, near: String| {
            FrameRule::Unknown.broken(format!(
                "a reach assumption refers to {what} `{name}`, which the frame does not declare{near}"
            ))
        };
        let pass = |name: &str| {
            let id = self.pass_named(name);
            id.ok_or_else(|| unknown("pass", name, did_you_mean(name, self.pass_names())))
        };
        let resource = |name: &str| {
            let id = self.resource_named(name);
            id.ok_or_else(|| unknown("resource", name, did_you_mean(name, self.resource_names())))
        };
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
                builder.set_reach(pass, resource(name)?, reach);
            }
        }
        for (name, &tile) in &reaches.lists {
            let id = resource(name)?;
            let lists = self.lists_in(id, tile)?;
            // A buffer without room for a word per tile has no lists at this extent.
            builder.set_lists(id, Some(lists).filter(|lists| lists.bytes > Bytes(0)));
        }
        builder.build()
    }

    /// The longest lists of whole words that fit in a buffer, one for each tile.
    fn lists_in(&self, id: ResourceId, tile: u32) -> crate::Result<TileLists> {
        let resource = self.resource(id);
        let ResourceKind::Buffer { desc, .. } = resource.kind else {
            let message = format!(
                "`lists` of the reach assumptions names image `{}`: only a buffer can hold a list for each tile",
                resource.name
            );
            return Err(FrameRule::Lists.broken(message).into());
        };
        let one = TileLists {
            tile,
            bytes: Bytes(1),
        };
        let tiles = one.size(self.base_extent()).0.max(1);
        let bytes = Bytes(desc.size.0 / tiles / 4 * 4);
        Ok(TileLists { tile, bytes })
    }
}
