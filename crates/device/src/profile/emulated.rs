//! Devices that exist only to test programs: their numbers are chosen, not read. The emulator offers them too.

use ash::vk;

use super::{DeviceProfile, TileBlock};
use crate::units::{Alignment, Bytes};

/// The names of these profiles.
pub(super) const EMULATED: [&str; 3] = ["validation-icd", "hostile", "generous"];

impl DeviceProfile {
    /// One of [`EMULATED`], made of `base`; `None` for another name.
    pub(super) fn emulated(name: &str, base: DeviceProfile) -> Option<DeviceProfile> {
        let profile = match name {
            "validation-icd" => reshaped(
                base,
                Bytes(1_000_000_000),
                TileBlock {
                    bytes: Alignment::new(32)?,
                    rows: 1,
                },
                (true, true),
                "the null driver of the validation layers' own tests: heap and alignment as there; submit boundary and \
                 transfers are granted, so that more of those tests run",
            ),
            // A size that is no multiple of the alignment, nor of anything else.
            "hostile" => reshaped(
                base,
                Bytes(6_291_449),
                TileBlock {
                    bytes: Alignment::new(12_288)?,
                    rows: 32,
                },
                (false, false),
                "invented: legal numbers that break programs which take more for granted than the specification grants",
            ),
            "generous" => reshaped(
                base,
                Bytes::mib(16),
                TileBlock {
                    bytes: Alignment::new(4096)?,
                    rows: 32,
                },
                (true, true),
                "invented: everything that an implementation may grant is granted",
            ),
            _ => return None,
        };
        Some(DeviceProfile {
            name: name.to_owned(),
            ..profile
        })
    }
}

/// `base` with another tile heap.
fn reshaped(
    mut base: DeviceProfile,
    size: Bytes,
    block: TileBlock,
    (boundary, transfers): (bool, bool),
    source: &str,
) -> DeviceProfile {
    if let Some(tile) = &mut base.tile {
        tile.size = size;
        tile.block = block;
        tile.queue_submit_boundary = boundary;
        tile.buffer_transfers = transfers;
        if let Some(heap) = base.heaps.get_mut(tile.heap as usize) {
            heap.size = size;
            heap.flags |= vk::MemoryHeapFlags::DEVICE_LOCAL;
        }
    }
    // Three parts of four are the application's, as nearly two of three are on real hardware.
    base.gmem = Bytes(size.0.div_ceil(3) * 4);
    source.clone_into(&mut base.source);
    base
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn emulated_devices_are_sound() {
        for name in EMULATED {
            let profile = DeviceProfile::preset(name).unwrap();
            assert_eq!(profile.name, name);
            profile.validate().unwrap();
        }
        let hostile = DeviceProfile::preset("hostile").unwrap().tile.unwrap();
        assert_eq!(hostile.size.0 % 2, 1);
        assert_ne!(hostile.size.0 % hostile.block.bytes.get(), 0);
    }
}
