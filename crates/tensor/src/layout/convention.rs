//! Named conventions for flattening shapes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{AxisPacking, Flattening, LayoutRule, Storage};
use tileheap_json::clip;

/// A flattening of n-dimensional shapes to two dimensions and lanes of 4.
///
/// Source: TVM's [RFC](crate#sources), C0 and C1; later conventions: TVM at ce22736e.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Convention {
    /// For activations, all but the last axis into rows: `[A, B, C, D, 4] -> [A*B*C, D, 4]` (C0).
    Texture,
    /// For weights, all but the first axis into columns: `[A, B, C, D, 4] -> [A, B*C*D, 4]` (C1).
    Weight,
    /// With channels innermost: `[A, B, C, D, 4] -> [A*B, C*D, 4]`.
    Nhwc,
}

/// The form of a convention: 2D images, or layered images.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConventionForm {
    /// In 2D, as in the RFC: TVM until ce22736e.
    #[default]
    Flat,
    /// Image arrays: the axes of the rows become layers, except for the last of them. TVM since 5d4dc872.
    Layered,
}

impl Convention {
    /// Every convention.
    pub const ALL: [Convention; 3] = [Convention::Texture, Convention::Weight, Convention::Nhwc];

    /// The storage scope as the RFC spells it: `texture` and `texture:weight`, and `texture:nhwc` in the same style.
    pub const fn rfc_name(self) -> &'static str {
        match self {
            Convention::Texture => "texture",
            Convention::Weight => "texture:weight",
            Convention::Nhwc => "texture:nhwc",
        }
    }

    /// The storage scope as TVM spells it, such as `global.texture`.
    pub const fn scope(self) -> &'static str {
        match self {
            Convention::Texture => "global.texture",
            Convention::Weight => "global.texture-weight",
            Convention::Nhwc => "global.texture-nhwc",
        }
    }

    /// The axis of a shape of `rank` (lanes included) at which the columns begin.
    pub const fn separator(self, rank: usize, generation: ConventionForm) -> usize {
        match (self, generation) {
            (Convention::Texture, _) => rank.saturating_sub(2),
            (Convention::Weight, _) => 1,
            (Convention::Nhwc, ConventionForm::Flat) if rank == 3 => 1,
            (Convention::Nhwc, _) => 2,
        }
    }

    /// The flattening of a shape of `rank` axes, lanes included.
    pub const fn flattening(self, rank: usize, generation: ConventionForm) -> Flattening {
        let rows = self.separator(rank, generation);
        let layers = match generation {
            ConventionForm::Flat => 0,
            ConventionForm::Layered => rows.saturating_sub(1),
        };
        Flattening { layers, rows }
    }

    /// The layout rule for a shape of `rank` axes, the last of which is 4 lanes.
    pub fn rule(self, rank: usize, generation: ConventionForm) -> LayoutRule {
        LayoutRule {
            storage: match generation {
                ConventionForm::Flat => Storage::Image2d,
                ConventionForm::Layered => Storage::ImageArray,
            },
            flattening: self.flattening(rank, generation),
            ..LayoutRule::default()
        }
    }

    /// The layout rule of a logical shape of `rank` axes, one of which is packed by 4: `[n, c, h, w]` with axis 1
    /// becomes `[n, c/4, h, w, 4]`.
    pub fn packing(self, rank: usize, axis: usize, generation: ConventionForm) -> LayoutRule {
        LayoutRule {
            packs: vec![AxisPacking { axis, by: 4 }],
            ..self.rule(rank + 1, generation)
        }
    }
}

impl fmt::Display for Convention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.scope())
    }
}

impl FromStr for Convention {
    type Err = String;

    /// Parses a storage scope in either spelling: `texture:weight` or `global.texture-weight`.
    fn from_str(scope: &str) -> Result<Convention, String> {
        let same = |convention: &Convention| {
            // TVM's relax uses this name for the first convention if a dimension is unknown.
            let nchw = *convention == Convention::Texture && scope == "global.texture-nchw";
            scope == convention.scope() || scope == convention.rfc_name() || nchw
        };
        let found = Convention::ALL.into_iter().find(same);
        found.ok_or_else(|| format!("`{}` is not a storage scope of a texture", clip(scope)))
    }
}
