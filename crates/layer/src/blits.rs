//! The texels that a blit reads, relative to its source region.

use ash::vk;

/// The texels that a blit reads, relative to its source region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlitReads {
    /// All texels of the source region. On devices that clamp only to the image, a filter that enlarges an inner region may also read texels next
    /// to it; these are not counted.
    All,
    /// Some texels of the source region, and no others.
    Some,
    /// Some texels of the source region, and perhaps texels around it.
    SomeAndAround,
}

impl BlitReads {
    /// Returns the texels that a blit between regions of these extents reads: if it shrinks an image, the filter may skip some.
    ///
    /// Source: "Image Copies With Scaling": with a nearest filter, each written texel reads one texel; with a linear filter, it reads the nearest two
    /// in each direction, so that a blit to half the size reads all texels.
    pub fn of(filter: vk::Filter, source: vk::Extent3D, target: vk::Extent3D) -> BlitReads {
        let read_by_each = if filter == vk::Filter::NEAREST { 1 } else { 2 };
        let reads_all = |(from, to): (u32, u32)| u64::from(from) <= u64::from(to) * read_by_each;
        let axes = [
            (source.width, target.width),
            (source.height, target.height),
            (source.depth, target.depth),
        ];
        match axes.into_iter().all(reads_all) {
            true => BlitReads::All,
            false if filter == vk::Filter::NEAREST => BlitReads::Some,
            false => BlitReads::SomeAndAround,
        }
    }
}

#[test]
fn blits_that_shrink_an_image_may_skip_texels() {
    let extent = |width| vk::Extent3D {
        width,
        height: 8,
        depth: 1,
    };
    let reads = |filter, from, to| BlitReads::of(filter, extent(from), extent(to));
    let (nearest, linear) = (vk::Filter::NEAREST, vk::Filter::LINEAR);
    assert_eq!(reads(nearest, 8, 8), BlitReads::All);
    assert_eq!(reads(nearest, 9, 8), BlitReads::Some);
    assert_eq!(reads(linear, 16, 8), BlitReads::All);
    assert_eq!(reads(linear, 17, 8), BlitReads::SomeAndAround);
}
