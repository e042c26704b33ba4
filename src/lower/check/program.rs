//! Translates memory, semaphores and parts of images into identifiers of the synchronization model.

use ash::vk::ImageAspectFlags;
use tileheap_sync::program::{MemoryId, ResourcePart as ProgramPart, SemaphoreId, SemaphoreUse, Texels};

use super::checker::Checker;
use super::parts::Part;
use super::sites::SiteSpace;
use crate::frame::SubresourceRange;
use crate::lower::tables::ImageOrBuffer;
use crate::lower::tables::submission::{SemaphoreRow, SemaphoreValue};
use crate::units::Run;

/// The offset added to timeline values, because those of earlier work are negative.
const TIMELINE_BASE: i64 = 1 << 32;

pub(super) fn memory_id(place: SiteSpace) -> MemoryId {
    let (kind, index) = match place {
        SiteSpace::Memory(row) => (0, row),
        SiteSpace::Tile(queue) => (1, queue.0),
        SiteSpace::Caller(resource) => (2, resource.0),
    };
    MemoryId(kind << 32 | u64::from(index))
}

/// The semaphore and value of a row, as the synchronization model identifies them.
pub(super) fn semaphore(of: SemaphoreValue) -> (SemaphoreId, u64) {
    match of.queue() {
        Some(queue) => (
            SemaphoreId(queue.0.into()),
            of.value.saturating_add(TIMELINE_BASE) as u64,
        ),
        // Its value is determined by the caller.
        None => (SemaphoreId(1 << 32 | u64::from(of.index)), 1),
    }
}

pub(super) fn semaphore_use(row: &SemaphoreRow) -> SemaphoreUse {
    let (semaphore, value) = semaphore(row.semaphore);
    SemaphoreUse {
        semaphore,
        value,
        stages: row.stages,
    }
}

pub(super) fn texels(range: SubresourceRange, area: Option<[Run; 3]>) -> Texels {
    Texels {
        aspects: range.aspects,
        levels: range.levels,
        layers: range.layers,
        area,
    }
}

/// All of a part, as the synchronization model identifies it.
pub(super) fn whole(checker: &Checker<'_>, part: Part) -> ProgramPart {
    match part.object {
        ImageOrBuffer::Image(_) => {
            let mut range = checker.parts.range(part);
            if range.aspects.is_empty() {
                range.aspects = ImageAspectFlags::COLOR;
            }
            ProgramPart::Texels(texels(range, None))
        }
        ImageOrBuffer::Buffer(row) => ProgramPart::Bytes(0, checker.tables.buffers[row as usize].size.0),
    }
}
