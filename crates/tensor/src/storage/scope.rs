//! Storage scopes by shape only: Adreno's rules, of both generations.

use crate::layout::{Convention, ConventionForm};

/// Texture limits as in TVM's targets; extents must be smaller than these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScopeLimits {
    /// `texture_spatial_limit`, in texels.
    pub side: u64,
    /// `texture_depth_limit`, in layers.
    pub depth: u64,
}

impl Default for ScopeLimits {
    fn default() -> ScopeLimits {
        ScopeLimits {
            side: 16_384,
            depth: 2_048,
        }
    }
}

/// The convention under which a blocked shape `[a, b, c, d, 4]` is an image, or `None` for a buffer.
///
/// The flat generation takes the squarest of `texture`, `texture-nhwc` and `texture-weight` (the last of equals); the layered one
/// takes the first of weight, nhwc and texture that fits.
///
/// Source: TVM's `annotate_texture_storage.cc` at ce22736e and relax's `annotate_custom_storage.cc` at 5d4dc872.
pub fn adreno_scope(shape: &[u64], generation: ConventionForm, limits: ScopeLimits) -> Option<Convention> {
    let &[a, b, c, d, 4] = shape else { return None };
    let times = u64::saturating_mul;
    match generation {
        ConventionForm::Flat => {
            let forms = [
                (Convention::Texture, times(times(a, b), c), d),
                (Convention::Nhwc, times(a, b), times(c, d)),
                (Convention::Weight, a, times(times(b, c), d)),
            ];
            let fits = forms
                .into_iter()
                .filter(|&(_, height, width)| height.max(width) < limits.side);
            // The last of equally square ones.
            let squarest = fits
                .rev()
                .min_by_key(|&(_, height, width)| height.abs_diff(width));
            squarest.map(|(convention, ..)| convention)
        }
        ConventionForm::Layered => {
            let forms = [
                (Convention::Weight, 0, a, times(times(b, c), d)),
                (Convention::Nhwc, a, b, times(c, d)),
                (Convention::Texture, times(a, b), c, d),
            ];
            let ScopeLimits { side, depth } = limits;
            let mut forms = forms.into_iter();
            let fits = forms.find(|&(_, layers, height, width)| layers < depth && height.max(width) < side);
            fits.map(|(convention, ..)| convention)
        }
    }
}
