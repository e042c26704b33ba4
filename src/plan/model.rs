//! The cost model: savings of tile memory and costs of reserving it, both in bytes of DRAM traffic per frame.
//!
//! ```text
//! savings       albedo  8 MB, written once, read once    2 x 8 MB that do not cross the bus
//! binning cost   GMEM 12 MiB │ reserved 8 MiB │ left 4 MiB │  a pass of 16 bytes a pixel at 1080p: 3 bins become 8
//!        each additional bin re-reads commands and visibility, and the vertices on its borders
//! ```
//! Both are pure functions. The binning cost of a bin can be replaced by another number ([`PlanOptions::bin_cost`](super::PlanOptions::bin_cost)),
//! including 0; the savings of an access by a measured one ([`Frame::with_weights`](crate::frame::Frame::with_weights)):
//!
//! ```text
//!                              gbuffer writes   lighting reads   together   of a heap that holds one of them
//! albedo, by the model         8.0 MB           8.0 MB           16.0 MB    ◄ stays
//! normal, by the model         8.0 MB           8.0 MB           16.0 MB
//! albedo, measured             5.2 MB           3.1 MB            8.3 MB    (it compresses well, and half of it is in the cache)
//! normal, measured             7.9 MB           7.6 MB           15.5 MB    ◄ stays
//! ```
//! Shares and totals of a plan always count traffic by the model.
//!
//! A lifetime that is [split](super::PlanOptions::split) saves the accesses of its stretch on chip, minus the store that ends it:
//!
//! ```text
//! passes      0 draw   1 light   2 blur                     9 compose
//! hdr         write    read      read   │ store             read        a store writes all of it to memory once
//! savings     8 MB   + 8 MB    + 8 MB   - 8 MB = 16 MB      0
//! ```
//!
//! Not weighed: other costs of a ladder ([`Ladder`](super::Ladder)), such as the layout `GENERAL` and an image per object.

use crate::format::texel_block;
use crate::frame::tables::{Access, PassKind, ResourceKind};
use crate::frame::{Frame, PassId};
use crate::profile::DeviceProfile;
use crate::profile::binning::{BinSize, binning};
use crate::units::Bytes;

/// Default cost of one additional bin of a render pass, in bytes of memory traffic.
///
/// Conservative: a command stream of a few kilobytes, the visibility stream of a bin, and the vertices of a few hundred triangles on its borders. No driver
/// documents it, and no public measurement isolates it; the one public measurement of a reservation (a compute chain at 1080p on Adreno 830: 5.6 % slower
/// with 1.66 MB reserved and unused) includes more than bins.
pub(crate) const BIN_COST: Bytes = Bytes(16 << 10);

/// Bytes that cross the memory bus for one access to a resource of `size` bytes placed in DRAM: as measured, or by [`Frame::traffic_of`].
pub fn savings(frame: &Frame, access: &Access, size: Bytes) -> Bytes {
    access.measured.unwrap_or_else(|| frame.traffic_of(access, size))
}

/// Properties of a render pass that determine the driver's binning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PassShape {
    /// Width and height in pixels.
    pub(crate) area: BinSize,
    /// Bytes of all attachments, per pixel, samples included.
    pub(crate) bytes_per_pixel: u64,
}

/// The shape of a render pass with attachments; `None` for other passes, which are not binned, and for the passes that the runtime records (stores, and
/// copies at the border of strips): they draw one triangle, so that an additional bin costs nothing.
pub(crate) fn shape(frame: &Frame, pass: PassId) -> Option<PassShape> {
    if frame.pass(pass).kind != PassKind::Render || frame.pass(pass).contents.is_recorded_by_runtime() {
        return None;
    }
    let mut shape: Option<PassShape> = None;
    for access in frame
        .accesses_of(pass)
        .iter()
        .filter(|access| access.kind.is_attachment() && !access.continues_attachment)
    {
        let ResourceKind::Image { desc, extent, .. } = &frame.resource(access.resource).kind else {
            continue;
        };
        let texel = texel_block(desc.format).map_or(0, |block| u64::from(block.bytes));
        let shape = shape.get_or_insert(PassShape {
            area: (0, 0),
            bytes_per_pixel: 0,
        });
        let side = |texels: u32| (texels >> access.range.levels.first.min(31)).max(1);
        let (width, height) = (side(extent.width), side(extent.height));
        shape.area = (shape.area.0.max(width), shape.area.1.max(height));
        shape.bytes_per_pixel += texel * u64::from(desc.samples.as_raw());
    }
    shape
}

/// The binning cost of `reserved` bytes in one pass of a frame; zero in a pass that is not binned, and on devices with unknown GMEM size.
pub(crate) fn binning_cost_in_pass(
    frame: &Frame,
    profile: &DeviceProfile,
    pass: PassId,
    reserved: Bytes,
    bin_cost: Bytes,
) -> Bytes {
    match shape(frame, pass) {
        Some(shape) if bin_cost > Bytes::ZERO && profile.gmem > Bytes::ZERO => {
            binning_cost(profile.gmem, reserved, shape, bin_cost)
        }
        _ => Bytes::ZERO,
    }
}

/// The binning cost of reserving `reserved` bytes of `gmem` during a render pass: `bin_cost` per additional bin.
pub(crate) fn binning_cost(gmem: Bytes, reserved: Bytes, shape: PassShape, bin_cost: Bytes) -> Bytes {
    let more = tiles(gmem, reserved, shape).saturating_sub(tiles(gmem, Bytes::ZERO, shape));
    Bytes(more.saturating_mul(bin_cost.0))
}

pub(super) fn tiles(gmem: Bytes, reserved: Bytes, shape: PassShape) -> u64 {
    binning(gmem.0, reserved.0, shape.bytes_per_pixel, shape.area).tiles()
}
