//! Resources, their parts, and their overlaps.

use ash::vk::ImageAspectFlags as Aspects;
use tileheap_sync::program::{MemoryId, Resource, ResourceId, ResourcePart, SharingMode, Texels, Tiling};
use tileheap_units::{Run, SplitMix64};

/// Size of a memory in bytes.
pub(super) const BYTES: u64 = 64;
/// Texels of an image along x and y; one along z.
pub(super) const SIDE: u32 = 8;

/// Three to six resources, the first a buffer, the second an image.
pub(super) fn resources(random: &mut SplitMix64) -> Vec<Resource> {
    let count = 3 + random.below(4);
    let mut resources: Vec<Resource> = Vec::new();
    for index in 0..count {
        let before = resources.len() as u64;
        if index > 1 && random.one_in(6) {
            let other = random.below(before) as u32;
            if matches!(resources[other as usize].tiling, Tiling::Optimal(_)) {
                let alike = resources[other as usize];
                resources.push(Resource {
                    alias_of: Some(ResourceId(other)),
                    ..alike
                });
                continue;
            }
        }
        let tiling = if index == 0 || index > 1 && random.one_in(2) {
            Tiling::Linear
        } else {
            let both = Aspects::DEPTH | Aspects::STENCIL;
            let aspects = random.pick(&[Aspects::COLOR, Aspects::COLOR, both]);
            let levels = Run::new(0, 1 + random.below(3) as u32);
            let layers = Run::new(0, 1 + random.below(3) as u32);
            Tiling::Optimal(Texels {
                aspects,
                levels,
                layers,
                area: None,
            })
        };
        let size = 4 * (1 + random.below(4));
        let mut memory = MemoryId(u64::from(random.one_in(6)));
        let mut first = 4 * random.below(BYTES / 4);
        if before > 0 && !random.one_in(3) {
            let near = resources[random.below(before) as usize];
            memory = near.memory;
            first = match random.below(3) {
                0 => near.first,
                1 => near.first + 4 * random.below((near.end - near.first) / 4),
                _ => near.end,
            };
        }
        first = first.min(BYTES - size);
        resources.push(Resource {
            memory,
            first,
            end: first + size,
            tiling,
            alias_of: None,
            sharing: SharingMode::Concurrent,
        });
    }
    resources
}

/// A part of `resource`, without an area; two times in three all of it.
pub(super) fn part(random: &mut SplitMix64, resource: &Resource) -> ResourcePart {
    let all = whole(resource);
    if !random.one_in(3) {
        return all;
    }
    match all {
        ResourcePart::Bytes(_, end) => {
            let first = 2 * random.below(end / 2);
            ResourcePart::Bytes(first, first + 2 * (1 + random.below((end - first) / 2)))
        }
        ResourcePart::Texels(all) => {
            let aspects = if all.aspects.contains(Aspects::DEPTH) && random.one_in(2) {
                random.pick(&[Aspects::DEPTH, Aspects::STENCIL])
            } else {
                all.aspects
            };
            let levels = run(random, all.levels);
            ResourcePart::Texels(Texels {
                aspects,
                levels,
                layers: run(random, all.layers),
                area: None,
            })
        }
    }
}

/// All of `resource`.
pub(super) fn whole(resource: &Resource) -> ResourcePart {
    match resource.tiling {
        Tiling::Linear | Tiling::Unknown => ResourcePart::Bytes(0, resource.end - resource.first),
        Tiling::Optimal(texels) => ResourcePart::Texels(texels),
    }
}

/// A run inside of `all`, never empty.
pub(super) fn run(random: &mut SplitMix64, all: Run) -> Run {
    let first = all.first + random.below(all.len() as u64) as u32;
    Run::new(first, first + 1 + random.below(u64::from(all.end - first)) as u32)
}

/// An area of an image.
pub(super) fn area(random: &mut SplitMix64) -> [Run; 3] {
    let half = SIDE / 2;
    let along = [
        Run::new(0, half),
        Run::new(half, SIDE),
        Run::new(2, 6),
        Run::new(0, SIDE),
    ];
    [random.pick(&along), random.pick(&along), Run::new(0, 1)]
}

/// `part` without its area.
pub(super) fn without_area(part: ResourcePart) -> ResourcePart {
    match part {
        ResourcePart::Bytes(..) => part,
        ResourcePart::Texels(texels) => ResourcePart::Texels(Texels { area: None, ..texels }),
    }
}

/// The first resource of those that interpret the bytes of `resource` consistently.
pub(super) fn class(resources: &[Resource], resource: ResourceId) -> ResourceId {
    let mut first = resource;
    while let Some(other) = resources[first.0 as usize].alias_of {
        first = other;
    }
    first
}

/// Returns true if two parts overlap, ignoring areas.
pub(super) fn meet(
    resources: &[Resource],
    granularity: u64,
    a: (ResourceId, ResourcePart),
    b: (ResourceId, ResourcePart),
) -> bool {
    let (x, y) = (&resources[a.0.0 as usize], &resources[b.0.0 as usize]);
    if class(resources, a.0) == class(resources, b.0) {
        return match (a.1, b.1) {
            (ResourcePart::Bytes(first, end), ResourcePart::Bytes(other, other_end)) => {
                first < other_end && other < end
            }
            (ResourcePart::Texels(a), ResourcePart::Texels(b)) => {
                a.aspects.intersects(b.aspects) && crosses(a.levels, b.levels) && crosses(a.layers, b.layers)
            }
            _ => false,
        };
    }
    let (mut p, mut q) = (bytes(x, a.1), bytes(y, b.1));
    if (x.tiling == Tiling::Linear) != (y.tiling == Tiling::Linear) {
        let padded = |(first, end): (u64, u64)| {
            (
                first / granularity * granularity,
                end.div_ceil(granularity) * granularity,
            )
        };
        (p, q) = (padded(p), padded(q));
    }
    x.memory == y.memory && p.0 < q.1 && q.0 < p.1
}

/// The bytes of its memory that a part may occupy.
fn bytes(resource: &Resource, part: ResourcePart) -> (u64, u64) {
    match part {
        ResourcePart::Bytes(first, end) => (resource.first + first, resource.first + end),
        ResourcePart::Texels(_) => (resource.first, resource.end),
    }
}

fn crosses(a: Run, b: Run) -> bool {
    a.first < b.end && b.first < a.end
}

/// Returns true if a write to all of `new` covers all of `old`.
pub(super) fn hides(
    resources: &[Resource],
    new: (ResourceId, ResourcePart),
    old: (ResourceId, ResourcePart),
) -> bool {
    if class(resources, new.0) == class(resources, old.0) {
        return contains(new.1, old.1);
    }
    let (x, y) = (&resources[new.0.0 as usize], &resources[old.0.0 as usize]);
    let (p, q) = (bytes(x, new.1), bytes(y, old.1));
    let all = x.tiling == Tiling::Linear || new.1 == whole(x);
    all && x.memory == y.memory && p.0 <= q.0 && q.1 <= p.1
}

/// Returns true if `run` is not empty and inside of `all`.
pub(super) fn inside(run: Run, all: Run) -> bool {
    all.first <= run.first && run.first < run.end && run.end <= all.end
}

/// Returns true if `part` is inside of `all` (without its area), and is not empty.
pub(super) fn contains(all: ResourcePart, part: ResourcePart) -> bool {
    match (all, part) {
        (ResourcePart::Bytes(first, end), ResourcePart::Bytes(a, b)) => first <= a && a < b && b <= end,
        (ResourcePart::Texels(all), ResourcePart::Texels(part)) => {
            !part.aspects.is_empty()
                && all.aspects.contains(part.aspects)
                && inside(part.levels, all.levels)
                && inside(part.layers, all.layers)
        }
        _ => false,
    }
}
