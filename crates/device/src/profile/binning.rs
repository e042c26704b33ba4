//! The binning model: the tiles of a render pass, given the on-chip memory that remains for the driver.
//!
//! ```text
//! GMEM 12 MiB = reserved by the application | left to the driver
//!                                             └► one tile of every attachment at once
//! tile area <= left / bytes per pixel, sides in steps of the granularity, as few tiles as can be, then the squarest
//! ```
//! No driver documents its binning. The model has the properties that all tilers share: tiles shrink and their number grows
//! as the reservation grows, in steps of a hardware granularity. The granularity and the largest tile are assumptions of
//! the right order of magnitude; they were not read from a device.

/// Width and height in pixels.
pub type BinSize = (u32, u32);

/// The granularity of the width and height of a tile, in pixels.
pub const GRANULARITY: BinSize = (32, 16);
/// The largest tile, in pixels.
pub const LARGEST_TILE: BinSize = (1024, 1008);

/// The tiles of a render pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binning {
    /// The size of a tile, in pixels.
    pub tile: BinSize,
    /// The number of tiles across and down.
    pub count: BinSize,
}

impl Binning {
    /// The number of tiles.
    pub fn tiles(&self) -> u64 {
        u64::from(self.count.0) * u64::from(self.count.1)
    }
}

/// Returns the tiles of a render area of `area` pixels, whose attachments take `bytes_per_pixel` bytes together
/// (samples included), if the application has bound `reserved` of `gmem` bytes.
///
/// There is always at least one tile: if no memory remains, tiles have the smallest size, since the driver must still
/// render. Memory does not limit the tiles of a render pass without attachments.
///
/// ```
/// use tileheap_device::profile::binning::binning;
///
/// let alone = binning(12 << 20, 0, 16, (1920, 1080));
/// let beside = binning(12 << 20, 8_355_840, 16, (1920, 1080));
/// assert!(alone.tiles() < beside.tiles());
/// ```
pub fn binning(gmem: u64, reserved: u64, bytes_per_pixel: u64, area: BinSize) -> Binning {
    let left = gmem.saturating_sub(reserved);
    let pixels = left.checked_div(bytes_per_pixel).unwrap_or(u64::MAX);
    let mut best: Option<(u64, u32, Binning)> = None;
    let widest = longest_side(area.0, GRANULARITY.0, LARGEST_TILE.0);
    for width in (1..=widest / GRANULARITY.0).map(|step| step * GRANULARITY.0) {
        let rows = pixels / u64::from(width) / u64::from(GRANULARITY.1);
        if rows == 0 {
            continue;
        }
        let highest = longest_side(area.1, GRANULARITY.1, LARGEST_TILE.1);
        let height = u32::try_from(rows)
            .unwrap_or(u32::MAX)
            .saturating_mul(GRANULARITY.1)
            .min(highest);
        let cut = cut((width, height), area);
        let candidate = (cut.tiles(), width.abs_diff(height), cut);
        if best.is_none_or(|(tiles, skew, _)| (candidate.0, candidate.1) < (tiles, skew)) {
            best = Some(candidate);
        }
    }
    best.map_or_else(|| cut(GRANULARITY, area), |(_, _, binning)| binning)
}

/// The longest useful side of a tile: the render area's side, rounded up to a multiple of `step`, but at most
/// `largest`.
fn longest_side(side: u32, step: u32, largest: u32) -> u32 {
    side.max(1)
        .checked_next_multiple_of(step)
        .unwrap_or(largest)
        .min(largest)
}

fn cut(tile: BinSize, area: BinSize) -> Binning {
    Binning {
        tile,
        count: (area.0.max(1).div_ceil(tile.0), area.1.max(1).div_ceil(tile.1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GMEM: u64 = 12 << 20;

    #[test]
    fn tiles_never_grow_with_the_reservation_and_always_fit() {
        for bytes in [4, 16, 40, 640] {
            let mut before = 0;
            for reserved in (0..=GMEM).step_by(1 << 18) {
                let binning = binning(GMEM, reserved, bytes, (1920, 1080));
                assert!(
                    binning.tiles() >= before,
                    "{reserved} of {GMEM} bytes, {bytes} per pixel"
                );
                before = binning.tiles();
                let (width, height) = binning.tile;
                assert!(width % GRANULARITY.0 == 0 && height % GRANULARITY.1 == 0);
                let fits = u64::from(width) * u64::from(height) * bytes <= GMEM - reserved;
                assert!(fits || binning.tile == GRANULARITY);
                assert!(binning.count.0 * width >= 1920 && binning.count.1 * height >= 1080);
            }
        }
    }

    #[test]
    fn a_small_pass_is_one_tile() {
        assert_eq!(
            binning(GMEM, 0, 4, (100, 100)),
            Binning {
                tile: (128, 112),
                count: (1, 1)
            }
        );
        assert_eq!(binning(GMEM, 0, 0, (1024, 1008)).tiles(), 1);
    }

    #[test]
    fn extremes_have_tiles() {
        assert_eq!(binning(0, 0, 4, (64, 64)).tile, GRANULARITY);
        assert_eq!(binning(5, u64::MAX, u64::MAX, (0, 0)).tiles(), 1);
        assert!(binning(GMEM, 0, 4, (u32::MAX, u32::MAX)).tiles() > 0);
    }
}
