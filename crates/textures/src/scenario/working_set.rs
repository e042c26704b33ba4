//! The working set of a trace.

use crate::trace::Entry;
use crate::units::{Alignment, Bytes};

/// The largest sum of block sizes of a frame, each texture once, in blocks rounded up to `unit`.
///
/// A budget of that size holds every frame, except for losses of placement.
pub fn working_set(entries: &[Entry], unit: Alignment) -> Bytes {
    let (mut most, mut sum, mut frame) = (Bytes::ZERO, Bytes::ZERO, 1_u32);
    let mut seen: Vec<(u32, Bytes)> = Vec::new();
    for entry in entries {
        match entry {
            Entry::Use(request) => {
                if seen.len() <= request.texture.index() {
                    seen.resize(request.texture.index() + 1, (0, Bytes::ZERO));
                }
                let block = request.size.align_up(unit);
                let (when, size) = &mut seen[request.texture.index()];
                if std::mem::replace(when, frame) != frame {
                    *size = Bytes::ZERO;
                }
                let larger = block.max(*size);
                sum += larger - *size;
                *size = larger;
            }
            Entry::Release(_) => {}
            Entry::EndFrame => {
                most = most.max(sum);
                sum = Bytes::ZERO;
                frame += 1;
            }
        }
    }
    most
}
