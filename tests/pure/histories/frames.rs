//! Frames of different plans that run one after another, as in a dynamic frame of the runtime.

use std::collections::BTreeSet;

use ash::vk;
use tileheap::Checked;
use tileheap::frame::tables::HistoryVersion;
use tileheap::frame::{ResourceId, SubresourceRange};
use tileheap::lower::tables::objects::MemoryRow;
use tileheap::lower::tables::{DeviceQueueIndex, ImageOrBuffer};
use tileheap::lower::{
    AddressSpace, ByteUse, ContentState, DeviceQueues, LastUse, Lowered, LoweringDesc, MemoryState, Parity,
    lower,
};
use tileheap::plan::Plan;
use tileheap::profile::Features;
use tileheap::units::{Bytes, Run};

use super::texels::{Copy, History, Texel};
use crate::lowered_check::device;

/// Consecutive frames with one image: each writes one copy of it and reads the other one.
pub(super) struct Frames {
    number: usize,
    /// Contents that earlier frames left in each copy.
    left: [Vec<ContentState>; 2],
    /// The same contents, texel by texel.
    copies: [Copy; 2],
}

/// A lowered frame.
pub(super) struct Ran {
    pub(super) lowering_desc: LoweringDesc,
    pub(super) tables: Lowered,
    /// The clears of the previous version.
    pub(super) cleared: BTreeSet<Texel>,
    /// The ranges and old layouts of the barriers of the previous version.
    pub(super) barriers: Vec<(SubresourceRange, vk::ImageLayout)>,
}

impl Frames {
    pub(super) fn new() -> Frames {
        Frames {
            number: 0,
            left: Default::default(),
            copies: Default::default(),
        }
    }

    /// The images of the history's copies in tables: only the current one if the frame does not read the previous version.
    fn rows(&self, tables: &Lowered, id: ResourceId) -> Vec<(u32, usize)> {
        let rows: Vec<u32> = (0..tables.images.len() as u32)
            .filter(|row| tables.images[*row as usize].resource == id)
            .collect();
        match rows[..] {
            [only] => vec![(only, self.number % 2)],
            _ => rows.into_iter().zip([0, 1]).collect(),
        }
    }

    /// Description that the next frame is lowered for. Other work may have used its memory.
    fn lowering_desc(&self, plan: &Checked<Plan>, id: ResourceId) -> (LoweringDesc, Vec<(u32, usize)>) {
        let mut lowering_desc = LoweringDesc::first(DeviceQueues::single_queue(&plan.frame));
        let first = lower(plan, &lowering_desc).unwrap();
        let rows = self.rows(&first, id);
        lowering_desc.parity = Parity::BOTH[self.number % 2 * usize::from(rows.len() == 2)];
        if self.number > 0 {
            let used = |(row, memory): (u32, &MemoryRow)| ByteUse {
                space: AddressSpace::memory(row),
                first: Bytes::ZERO,
                end: memory.size,
                last: LastUse {
                    queue: DeviceQueueIndex(0),
                    value: 0,
                    stages: vk::PipelineStageFlags2::ALL_COMMANDS,
                    writes: vk::AccessFlags2::MEMORY_WRITE,
                },
            };
            lowering_desc.before = MemoryState {
                bytes: (0..).zip(&first.memory).map(used).collect(),
                contents: rows
                    .iter()
                    .flat_map(|&(row, copy)| {
                        let object = ImageOrBuffer::Image(row).into();
                        self.left[copy]
                            .iter()
                            .map(move |one| ContentState { object, ..*one })
                    })
                    .collect(),
            };
        }
        (lowering_desc, rows)
    }

    /// Lowers the next frame, checks the tables and applies them to the map of texels.
    pub(super) fn run(&mut self, plan: &Checked<Plan>) -> Ran {
        let frame = &plan.frame;
        let id = frame.resource_named("history").unwrap();
        let (lowering_desc, rows) = self.lowering_desc(plan, id);
        let tables = lower(plan, &lowering_desc).unwrap().into_inner();
        let errors = tables.violations(frame, &lowering_desc, &device(plan, &lowering_desc));
        assert!(errors.is_empty(), "{}", errors[0]);
        let history = History {
            frame,
            id,
            rows: &rows,
            current: self.number % 2,
        };
        let expected = self.to_clear(plan, &history);
        let cleared = history.run(&tables, &mut self.copies);
        assert_eq!(cleared, expected, "cleared");
        for &(row, copy) in &rows {
            let after = tables.after.contents.iter();
            self.left[copy] = after
                .filter(|one| one.object == ImageOrBuffer::Image(row))
                .copied()
                .collect();
        }
        let current = &self.copies[history.current];
        let left: BTreeSet<Texel> = self.left[history.current]
            .iter()
            .flat_map(|one| {
                history
                    .texels(one.range)
                    .into_iter()
                    .map(|texel| (texel, one.layout))
            })
            .map(|(texel, layout)| {
                assert_eq!(current.layouts[&texel], layout, "{texel:?}");
                texel
            })
            .collect();
        assert_eq!(left, current.defined, "left to the next frame");
        let previous = rows.iter().find(|(_, copy)| *copy != history.current);
        let barriers = tables.image_barriers.iter();
        let barriers = barriers.filter(|barrier| previous.is_some_and(|(row, _)| barrier.image == *row));
        let barriers = barriers
            .map(|barrier| (barrier.range, barrier.old_layout))
            .collect();
        self.number += 1;
        Ran {
            lowering_desc,
            tables,
            cleared,
            barriers,
        }
    }

    /// Texels of the previous version that the frame reads and no frame has written. Slices are cleared together, and so are aspects without separate
    /// layouts.
    fn to_clear(&self, plan: &Checked<Plan>, history: &History<'_>) -> BTreeSet<Texel> {
        let resource = plan.frame.resource(history.id);
        let whole = resource.whole();
        let apart = plan
            .profile
            .features
            .contains(Features::SEPARATE_DEPTH_STENCIL_LAYOUTS);
        let reads = plan.frame.accesses_to(history.id);
        let reads = reads.filter(|access| access.version == HistoryVersion::Previous);
        let mut needs = BTreeSet::new();
        for mut range in reads.map(|access| access.range) {
            if !apart {
                range.aspects = whole.aspects;
            }
            if resource.is_3d() {
                range.layers = Run::new(0, vk::REMAINING_ARRAY_LAYERS);
            }
            needs.extend(history.texels(range));
        }
        let written = &self.copies[1 - history.current].defined;
        needs.difference(written).copied().collect()
    }
}
