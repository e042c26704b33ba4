//! Checks a captured frame's own synchronization: the recording becomes tables, which the checker of lowered frames replays.
//!
//! Work before the frame counts as waited for, and images are in the layout of their first use. A wait for events orders everything that is
//! recorded before it. Work that the host knew to be complete comes before a whole batch. What happens inside a pass is not checked.

use std::sync::Arc;

use ash::vk::{self, AccessFlags2 as A, ImageLayout, PipelineStageFlags2 as S};
use tileheap::format::aspects;
use tileheap::frame::tables::{Resource, ResourceKind, Version};
use tileheap::frame::{Frame, Persistence, ResourceId, SubresourceRange};
use tileheap::lower::check::{DeviceFacts, Recorded, RecordedAccess, Rule};
use tileheap::lower::tables::commands::*;
use tileheap::lower::tables::objects::{AccessRow, Binding, BufferRow, ImageRow, MemoryRow, Sharing};
use tileheap::lower::tables::submission::{BatchRow, CommandBufferRow, Semaphore, SemaphoreRow, SubmitRow};
use tileheap::lower::tables::{Lowered, Object, OptionalIndex};
use tileheap::lower::{DeviceQueues, FamilyQueue, Situation};
use tileheap::measure::estimate;
use tileheap::plan::MemoryKind;
use tileheap::profile::DeviceProfile;
use tileheap::units::{Bytes, Run};

use crate::document::{Capture, Command, Dependency, Memory, Placement, SemaphoreUse};

#[cfg(test)]
mod tests;

/// An access that the program's synchronization does not cover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule that is broken.
    pub rule: Rule,
    /// Whether both uses certainly access the same bytes; for buffers, only the whole is known.
    pub certain: bool,
    /// Both uses, and what is missing between them.
    pub message: String,
}

/// A recording that does not belong to its frame, with the mismatch that shows it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the recording is not of this frame: {0}: capture it again")]
pub struct NotOfFrame(String);

/// Checks the synchronization of a captured frame; returns findings in submission order, each once. O(barriers x uses).
///
/// # Errors
/// If the recording is of another frame.
pub fn check(frame: &Frame, capture: &Capture) -> Result<Vec<Finding>, NotOfFrame> {
    let mut families = vec![0; frame.queues().len()];
    for (batch, sync) in frame.batches().iter().zip(&capture.batches) {
        families[frame.submits()[batch.submit.index()].queue.index()] = sync.family;
    }
    let queues = (0..)
        .zip(families)
        .map(|(index, family)| FamilyQueue { family, index });
    let situation = Situation::first(DeviceQueues::new(&queues.collect::<Vec<_>>()));
    let profile = DeviceProfile::preset("no-tile-memory").map_err(|error| NotOfFrame(error.to_string()))?;
    let profile = Arc::new(profile);
    let needs = estimate(frame, &profile).map_err(|error| NotOfFrame(error.to_string()))?;
    let device = DeviceFacts::declared(&profile, &Arc::new(needs), frame, &situation.queues);
    let mut recording = Recording::default();
    recording.read(frame, capture, &situation.queues)?;
    let errors = recording
        .tables
        .recorded_violations(&recording.recorded, frame, &situation, &device);
    let findings = errors.into_iter().map(|error| Finding {
        rule: error.rule,
        certain: error.resources.iter().all(|&id| frame.resource(id).is_image()),
        message: error.message,
    });
    Ok(findings.collect())
}

/// A recording as tables, with the dependencies around each pass.
#[derive(Default)]
struct Recording {
    tables: Lowered,
    recorded: Recorded,
    /// Per resource, the current one and the previous one: two different ones only for histories.
    objects: Vec<[Object; 2]>,
}

impl Recording {
    fn read(&mut self, frame: &Frame, capture: &Capture, queues: &DeviceQueues) -> Result<(), NotOfFrame> {
        let equal = |what: &str, recorded: usize, described: usize| match recorded == described {
            true => Ok(()),
            false => Err(NotOfFrame(format!(
                "it has {recorded} {what}, and the frame {described}"
            ))),
        };
        equal("batches", capture.batches.len(), frame.batches().len())?;
        equal(
            "command buffers",
            capture.command_buffers.len(),
            frame.command_buffers().len(),
        )?;
        for (index, (id, resource)) in frame.resource_ids().zip(frame.resources()).enumerate() {
            let placed = capture.resources.get(index).and_then(|facts| facts.memory);
            let current = self.object(id, resource, placed);
            let previous = match resource.persistence {
                Persistence::History => self.object(id, resource, None),
                _ => current,
            };
            self.objects.push([current, previous]);
        }
        let mut signals: Vec<SemaphoreUse> = Vec::new();
        // Dependencies of command buffers without passes: they come before the queue's next command buffer.
        let mut open: Vec<Vec<DependencyRow>> = vec![Vec::new(); frame.queues().len()];
        let mut passes = frame.pass_ids();
        for (batch, sync) in frame.batches().iter().zip(&capture.batches) {
            let queue = frame.submits()[batch.submit.index()].queue.index();
            for commands in batch.command_buffers.indices() {
                let before = self.recorded.around.len();
                for command in &capture.command_buffers[commands] {
                    match command {
                        Command::Pass {
                            layouts,
                            stores,
                            regions,
                            ..
                        } => {
                            let pass = passes
                                .next()
                                .ok_or_else(|| NotOfFrame("it has more passes than the frame".to_owned()))?;
                            let accesses = frame.passes()[self.recorded.around.len()].accesses;
                            equal("accesses of a pass", layouts.len(), accesses.len())?;
                            for (access, layout) in accesses.of(frame.accesses()).iter().zip(layouts) {
                                let previous = usize::from(access.version == Version::Previous);
                                let object = self.objects[access.resource.index()][previous];
                                let layout = layout.map_or(ImageLayout::UNDEFINED, |one| one.0);
                                self.tables.accesses.push(AccessRow::new(access, object, layout));
                            }
                            let accesses = (0..layouts.len()).map(|index| RecordedAccess {
                                regions: regions.get(index).cloned().unwrap_or_default(),
                                is_stored: stores.get(index).is_some_and(|store| {
                                    store.is_some_and(|one| one.0 != vk::AttachmentStoreOp::NONE)
                                }),
                            });
                            self.recorded.accesses.extend(accesses);
                            let none = DependencyRow::default();
                            self.tables.passes.push(PassRow {
                                pass,
                                contents: PassContents::Described,
                                row: OptionalIndex::NONE,
                                tile_memory: OptionalIndex::NONE,
                                instance: OptionalIndex::NONE,
                                before: none,
                                after: none,
                            });
                            let before = std::mem::take(&mut open[queue]);
                            self.recorded.around.push([before, Vec::new()]);
                        }
                        Command::Barrier(all)
                        | Command::WaitEvents {
                            dependencies: all, ..
                        } => {
                            open[queue].push(self.dependency(all, !sync.completed.is_empty()));
                        }
                        Command::SetEvent { .. } | Command::ResetEvent { .. } => {}
                    }
                }
                let row = frame.command_buffers()[commands].passes;
                equal(
                    "passes in a command buffer",
                    self.recorded.around.len() - before,
                    row.len(),
                )?;
                if let Some([_, behind]) = self.recorded.around[before..].last_mut() {
                    *behind = std::mem::take(&mut open[queue]);
                }
                // Rows are identified by position; the names in them are not read.
                let commands = frame.passes()[0].command_buffer;
                self.tables.command_buffers.push(CommandBufferRow {
                    commands,
                    queue: queues.declared()[queue],
                    passes: row,
                });
            }
            // Each signal of a semaphore becomes a semaphore of its own; a wait is for the first one that reaches its value, or, if it is
            // binary, for the last one.
            let (first_wait, first_signal) = (self.tables.waits.len(), self.tables.signals.len());
            let by_host = sync.completed.iter().map(|&batch| completed(batch.into()));
            for wait in sync.waits.iter().copied().chain(by_host) {
                let reaches = |one: &SemaphoreUse| one.semaphore == wait.semaphore && one.value >= wait.value;
                let last = wait.value == 0;
                let found = if last {
                    signals.iter().rposition(reaches)
                } else {
                    signals.iter().position(reaches)
                };
                let row = found.map(|at| SemaphoreRow {
                    semaphore: Semaphore::declared(at as u32),
                    stages: wait.stages,
                });
                self.tables.waits.extend(row);
            }
            let end = completed(self.tables.batches.len() as u64);
            for signal in sync.signals.iter().copied().chain([end]) {
                let semaphore = Semaphore::declared(signals.len() as u32);
                self.tables.signals.push(SemaphoreRow {
                    semaphore,
                    stages: signal.stages,
                });
                signals.push(signal);
            }
            self.tables.batches.push(BatchRow {
                batch: frame.command_buffers()[0].batch,
                is_first: false,
                waits: since(first_wait, &self.tables.waits),
                command_buffers: batch.command_buffers,
                signals: since(first_signal, &self.tables.signals),
            });
        }
        for row in frame.submits() {
            let (submit, queue) = (frame.batches()[0].submit, queues.declared()[row.queue.index()]);
            self.tables.submits.push(SubmitRow {
                submit,
                queue,
                batches: row.batches,
            });
        }
        Ok(())
    }

    /// An image or a buffer for a resource, where the program bound it; a resource that is not bound has memory of its own.
    fn object(&mut self, resource: ResourceId, described: &Resource, placed: Option<Placement>) -> Object {
        let alone = Placement {
            object: u32::MAX - self.tables.memory.len() as u32,
            offset: 0,
            size: 1,
        };
        let Placement { object, offset, size } = placed.unwrap_or(alone);
        // A row's memory type is the number of the object.
        let known = self
            .tables
            .memory
            .iter()
            .position(|row| row.memory_type == object);
        let memory = known.unwrap_or(self.tables.memory.len()) as u32;
        if known.is_none() {
            let row = MemoryRow::new(MemoryKind::Dedicated, object, Bytes(u64::MAX));
            self.tables.memory.push(row);
        }
        let binding = Binding {
            memory: OptionalIndex::some(memory),
            offset: Bytes(offset),
            size: Bytes(size),
        };
        let sharing = Sharing::default();
        match &described.kind {
            ResourceKind::Image { desc, extent, usage } => {
                self.tables.images.push(ImageRow {
                    resource,
                    flags: vk::ImageCreateFlags::empty(),
                    image_type: desc.image_type,
                    format: desc.format,
                    extent: *extent,
                    mip_levels: desc.mip_levels,
                    array_layers: desc.array_layers,
                    samples: desc.samples,
                    tiling: vk::ImageTiling::OPTIMAL,
                    usage: *usage,
                    hook: 0,
                    view_formats: Run::default(),
                    sharing,
                    binding,
                });
                Object::Image(self.tables.images.len() as u32 - 1)
            }
            ResourceKind::Buffer { desc, usage } => {
                self.tables.buffers.push(BufferRow {
                    resource,
                    size: desc.size,
                    usage: *usage,
                    sharing,
                    binding,
                });
                Object::Buffer(self.tables.buffers.len() as u32 - 1)
            }
        }
    }

    /// Dependencies that take effect together; `behind_host` says whether the host waited for others before it submitted their batch.
    fn dependency(&mut self, all: &[Dependency], behind_host: bool) -> DependencyRow {
        let tables = &mut self.tables;
        let first = [
            tables.image_barriers.len(),
            tables.buffer_barriers.len(),
            tables.memory_barriers.len(),
        ];
        let cause = BarrierCause::Hazard;
        for one in all {
            let [src, dst] = one.families.unwrap_or([vk::QUEUE_FAMILY_IGNORED; 2]);
            let families = Families { src, dst };
            let mut scopes = Scopes {
                src_stages: one.src_stages | if behind_host { HOST } else { S::NONE },
                src_access: one.src_access,
                dst_stages: one.dst_stages,
                dst_access: one.dst_access,
            };
            let object =
                |resource: u32| Some(self.objects.get(resource as usize)?[usize::from(one.previous)]);
            match one.memory {
                Memory::Image {
                    resource,
                    part,
                    old: old_layout,
                    new: new_layout,
                } => {
                    let Some(Object::Image(image)) = object(resource) else {
                        continue;
                    };
                    let row = &tables.images[image as usize];
                    let run = |run: Run, all| if run.is_empty() { Run::new(0, all) } else { run };
                    let all = if part.aspects.is_empty() {
                        aspects(row.format)
                    } else {
                        part.aspects
                    };
                    let (levels, layers) = (
                        run(part.levels, row.mip_levels),
                        run(part.layers, row.array_layers),
                    );
                    let range = SubresourceRange {
                        aspects: all,
                        levels,
                        layers,
                    };
                    let row = ImageBarrierRow {
                        image,
                        range,
                        scopes,
                        old_layout,
                        new_layout,
                        families,
                        cause,
                    };
                    tables.image_barriers.push(row);
                }
                // A part counts as the whole buffer: which bytes an access uses is not known either.
                Memory::Buffer { resource, .. } => {
                    let Some(Object::Buffer(buffer)) = object(resource) else {
                        continue;
                    };
                    let (offset, size) = (Bytes::ZERO, tables.buffers[buffer as usize].size);
                    tables.buffer_barriers.push(BufferBarrierRow {
                        buffer,
                        offset,
                        size,
                        scopes,
                        families,
                        cause,
                    });
                }
                Memory::All => tables.memory_barriers.push(MemoryBarrierRow { scopes, cause }),
                Memory::None => {
                    (scopes.src_access, scopes.dst_access) = (A::NONE, A::NONE);
                    tables.memory_barriers.push(MemoryBarrierRow { scopes, cause });
                }
            }
        }
        DependencyRow {
            images: since(first[0], &tables.image_barriers),
            buffers: since(first[1], &tables.buffer_barriers),
            memory: since(first[2], &tables.memory_barriers),
        }
    }
}

/// Work that the host knows to be complete comes before a whole batch, whatever the first scopes of its barriers: each includes this stage,
/// in which nothing else happens.
const HOST: S = S::HOST;

/// The end of a batch as a semaphore of its own, which the host waits for.
fn completed(batch: u64) -> SemaphoreUse {
    SemaphoreUse {
        semaphore: u32::MAX,
        value: batch + 1,
        stages: S::ALL_COMMANDS | HOST,
    }
}

/// The rows from `first` on.
fn since<T>(first: usize, table: &[T]) -> Run {
    Run::new(first as u32, table.len() as u32)
}
