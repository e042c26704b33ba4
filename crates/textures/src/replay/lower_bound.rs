//! A lower bound on the traffic of any policy.

use std::collections::BinaryHeap;

use crate::ids::Level;
use crate::trace::TraceEntry;
use crate::units::Bytes;

/// A request in the relaxed problem: the segments of an object that it needs.
struct Need {
    object: usize,
    level: Level,
    /// The position of the first segment in the flat table of next uses. The request needs all segments of its object up to its level.
    first: usize,
}

/// The period of a texture between two forced uploads; a release, a new chain, or a level finer than all earlier ones forces an upload.
#[derive(Default)]
struct Object {
    /// The sizes of the requested levels, and the levels as a mask.
    sizes: [u64; 32],
    levels: u32,
    /// The position of the object's first segment.
    base: usize,
}

/// A lower bound on the total traffic of a trace: no policy that uploads whole chains when they are requested transfers fewer bytes in
/// total, wherever it places them and whatever it bypasses.
///
/// Returns the bytes of each frame of a schedule that attains it; the [module](super) has the argument and an example. O(uses ×
/// levels × log uses) time, O(uses) memory.
pub fn lower_bound(entries: &[TraceEntry], budget: Bytes) -> Vec<u64> {
    let (mut objects, mut needs) = objects(entries);
    let mut segments = 0;
    for object in &mut objects {
        object.base = segments;
        segments += object.levels.count_ones() as usize;
    }
    let mut touched = 0;
    for need in &mut needs {
        need.first = touched;
        touched += segments_of(&objects[need.object], need.level);
    }
    let next = next_touches(&objects, &needs, segments, touched);
    let sizes = segment_sizes(&objects, segments);
    let mut held = vec![0_u64; segments];
    let mut current = vec![u32::MAX; segments];
    let mut order: BinaryHeap<(u32, u32)> = BinaryHeap::new();
    let (mut used, mut now, mut frame, mut frames) = (0_u64, 0, 0, Vec::new());
    for entry in entries {
        match entry {
            TraceEntry::Release(_) => {} // None of its segments is used later, so none is held.
            TraceEntry::EndFrame => frames.push(std::mem::take(&mut frame)),
            TraceEntry::Use(_) => {
                let need = &needs[now];
                now += 1;
                let object = &objects[need.object];
                for rank in 0..segments_of(object, need.level) {
                    let (segment, next) = (object.base + rank, next[need.first + rank]);
                    frame += sizes[segment] - held[segment];
                    used -= held[segment];
                    held[segment] = if next == u32::MAX { 0 } else { sizes[segment] };
                    used += held[segment];
                    current[segment] = next;
                    if next != u32::MAX {
                        order.push((next, segment as u32));
                    }
                }
                while used > budget.0 {
                    let (next, segment) = *order
                        .peek()
                        .expect("all segments that hold bytes are in the queue");
                    let segment = segment as usize;
                    if current[segment] != next || held[segment] == 0 {
                        order.pop();
                        continue;
                    }
                    let less = held[segment].min(used - budget.0);
                    held[segment] -= less;
                    used -= less;
                }
            }
        }
    }
    frames
}

fn segments_of(object: &Object, level: Level) -> usize {
    let up_to = (1_u64 << (level.0 + 1)) as u32;
    (object.levels & up_to.wrapping_sub(1)).count_ones() as usize
}

fn objects(entries: &[TraceEntry]) -> (Vec<Object>, Vec<Need>) {
    let (mut objects, mut needs) = (Vec::<Object>::new(), Vec::new());
    // By texture: its object, and the object's finest level.
    let mut live: Vec<Option<(usize, Level)>> = Vec::new();
    for entry in entries {
        match entry {
            TraceEntry::EndFrame => {}
            TraceEntry::Release(texture) => {
                if let Some(slot) = live.get_mut(texture.index()) {
                    *slot = None;
                }
            }
            TraceEntry::Use(request) => {
                let index = request.texture.index();
                if live.len() <= index {
                    live.resize(index + 1, None);
                }
                let object = match live[index] {
                    Some((object, finest)) if finest >= request.level => object,
                    _ => {
                        objects.push(Object::default());
                        live[index] = Some((objects.len() - 1, request.level));
                        objects.len() - 1
                    }
                };
                objects[object].levels |= 1 << request.level.0;
                objects[object].sizes[usize::from(request.level.0)] = request.size.0;
                needs.push(Need {
                    object,
                    level: request.level,
                    first: 0,
                });
            }
        }
    }
    (objects, needs)
}

fn segment_sizes(objects: &[Object], segments: usize) -> Vec<u64> {
    let mut sizes = Vec::with_capacity(segments);
    for object in objects {
        let mut below = 0;
        for (level, &size) in object.sizes.iter().enumerate() {
            if object.levels >> level & 1 == 1 {
                sizes.push(size - below);
                below = size;
            }
        }
    }
    sizes
}

fn next_touches(objects: &[Object], needs: &[Need], segments: usize, touched: usize) -> Vec<u32> {
    let (mut next, mut seen) = (vec![u32::MAX; touched], vec![u32::MAX; segments]);
    for (now, need) in needs.iter().enumerate().rev() {
        let object = &objects[need.object];
        for rank in 0..segments_of(object, need.level) {
            let later = std::mem::replace(&mut seen[object.base + rank], now as u32);
            next[need.first + rank] = later;
        }
    }
    next
}
