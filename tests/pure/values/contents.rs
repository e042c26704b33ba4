//! An interpreter of frames: resources contain numbers, texel by texel, and every access records the numbers that it finds.
//!
//! It shares no code with the rewrite or the checker of maps: it only knows ranges, render areas and load operations.

use tileheap::frame::tables::{Access, HistoryVersion, PassKind, ResourceKind, SkippedOutputs};
use tileheap::frame::{AccessKind, Frame, LoadOp, PassId, Persistence, ResourceId};

/// The result of interpreting a frame.
pub(super) struct Outcome {
    /// Per access, a digest of the numbers that it found; 0 for accesses that need no contents or were skipped.
    pub(super) found: Vec<u64>,
    /// Per resource, its final contents.
    pub(super) contents: Vec<Vec<u64>>,
}

/// A texel of an image, or a quarter of a buffer.
#[derive(Clone, Copy)]
struct Texel {
    aspect: u32,
    level: u32,
    layer: u32,
    x: u32,
    y: u32,
}

fn mix(a: u64, b: u64) -> u64 {
    (a ^ b.wrapping_mul(0x9E37_79B9_7F4A_7C15))
        .rotate_left(23)
        .wrapping_mul(0xBF58_476D_1CE4_E5B9)
}

/// Every texel of a resource, always in the same order.
fn texels(frame: &Frame, id: ResourceId) -> Vec<Texel> {
    let ResourceKind::Image { desc, extent, .. } = frame.resource(id).kind else {
        let quarter = |x| Texel {
            aspect: 0,
            level: 0,
            layer: 0,
            x,
            y: 0,
        };
        return (0..4).map(quarter).collect();
    };
    let aspects = frame.resource(id).aspects().as_raw();
    let mut all = Vec::new();
    for aspect in (0..32).map(|bit| 1 << bit).filter(|bit| aspects & bit != 0) {
        for level in 0..desc.mip_levels {
            for layer in 0..desc.array_layers {
                for y in 0..(extent.height >> level).max(1) {
                    for x in 0..(extent.width >> level).max(1) {
                        all.push(Texel {
                            aspect,
                            level,
                            layer,
                            x,
                            y,
                        });
                    }
                }
            }
        }
    }
    all
}

/// Returns true if an access touches a texel: in its range and, for an attachment, in the render area of its pass.
fn touches(frame: &Frame, access: &Access, texel: Texel) -> bool {
    if !frame.resource(access.resource).is_image() {
        return access
            .share
            .is_none_or(|share| u64::from(texel.x) * share.of < 4 * share.part);
    }
    let range = access.range;
    let within = range.aspects.as_raw() & texel.aspect != 0
        && (range.levels.first..range.levels.end).contains(&texel.level)
        && (range.layers.first..range.layers.end).contains(&texel.layer);
    let attached = access.kind.is_attachment() || access.kind == AccessKind::InputAttachment;
    let pass = frame.pass(access.pass);
    if !attached || pass.kind != PassKind::Render {
        return within;
    }
    let inside = |at: u32, first: i32, length: u32| {
        let at = i64::from(at) - i64::from(first);
        (0..i64::from(length)).contains(&at)
    };
    let (offset, extent) = (pass.area.offset, pass.area.extent);
    let layer = texel.layer - range.layers.first.min(texel.layer);
    let rendered = match pass.view_mask {
        0 => layer < pass.layers,
        views => views >> layer & 1 == 1,
    };
    within && rendered && inside(texel.x, offset.x, extent.width) && inside(texel.y, offset.y, extent.height)
}

/// Interprets a frame. `key` identifies an access in both of two frames; `skip` returns true for passes that are left out.
pub(super) fn interpret(
    frame: &Frame,
    key: impl Fn(usize) -> u64,
    before: impl Fn(ResourceId) -> u64,
    skip: impl Fn(PassId) -> bool,
) -> Outcome {
    let all: Vec<Vec<Texel>> = frame.resource_ids().map(|id| texels(frame, id)).collect();
    let mut contents: Vec<Vec<u64>> = frame
        .resource_ids()
        .map(|id| {
            let first = match frame.resource(id).persistence {
                Persistence::Transient => 1,
                _ => before(id),
            };
            vec![first; all[id.index()].len()]
        })
        .collect();
    let mut found = vec![0; frame.accesses().len()];
    for pass in frame.pass_ids() {
        let optional = frame.pass(pass).optional.filter(|_| skip(pass));
        let accesses = frame.pass(pass).accesses.indices();
        let accesses = || accesses.clone().map(|index| (index, &frame.accesses()[index]));
        let find = |contents: &[Vec<u64>], access: &Access| {
            let (id, mut digest) = (access.resource.index(), 5);
            for (texel, &number) in all[id].iter().zip(&contents[id]) {
                if touches(frame, access, *texel) {
                    digest = mix(digest, number);
                }
            }
            digest
        };
        // Within a pass, attachments are cleared or discarded before they are read in place.
        let in_place =
            |access: &Access| access.kind == AccessKind::InputAttachment || access.continues_attachment;
        if optional.is_none() {
            for (index, access) in accesses().filter(|(_, access)| access.needs_contents()) {
                if !in_place(access) && access.version == HistoryVersion::Current {
                    found[index] = find(&contents, access);
                }
            }
        }
        if optional == Some(SkippedOutputs::Lost) {
            continue;
        }
        for (index, access) in accesses().filter(|(_, access)| access.writes) {
            let replaced = access.load_op != LoadOp::Load;
            if !replaced || (optional.is_some() && access.load_op == LoadOp::DontCare) {
                continue;
            }
            let id = access.resource.index();
            for (texel, number) in all[id].iter().zip(&mut contents[id]) {
                if touches(frame, access, *texel) {
                    *number = mix(key(index), 11);
                }
            }
        }
        if optional.is_some() {
            continue;
        }
        for (index, access) in accesses().filter(|(_, access)| access.needs_contents()) {
            if in_place(access) && access.version == HistoryVersion::Current {
                found[index] = find(&contents, access);
            }
        }
        let inputs = accesses().fold(3, |digest, (index, _)| mix(digest, found[index]));
        for (index, access) in accesses().filter(|(_, access)| access.writes) {
            let id = access.resource.index();
            for (at, (texel, number)) in all[id].iter().zip(&mut contents[id]).enumerate() {
                if touches(frame, access, *texel) {
                    *number = mix(mix(mix(*number, key(index)), inputs), at as u64);
                }
            }
        }
    }
    Outcome { found, contents }
}
