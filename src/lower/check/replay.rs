//! Replays the frame's submits in order, from the state that earlier work left.

use ash::vk::{self, AccessFlags2 as A, PipelineStageFlags2 as S};

use super::attachments::attachment_of;
use super::barriers::{self, BarrierKind, kind_of};
use super::checker::Checker;
use super::contents::Contents;
use super::effects::{Effect, effect, resolve_of};
use super::error::LoweringRule;
use super::hazards::{Barrier, Covers, Hazards, RecordPosition, Use};
use super::layouts::{Layouts, check_fit};
use super::parts::Part;
use super::sites::Site;
use super::{after, creation};
use crate::frame::external::{ExternalDesc, ExternalFamily};
use crate::frame::tables::{Access, HistoryVersion};
use crate::frame::{BatchId, PassId, Persistence, ResourceId};
use crate::lower::tables::commands::{DependencyRow, PassContents, PassRow};
use crate::lower::tables::submission::{SemaphoreRow, SemaphoreValue};
use crate::lower::tables::{DeviceQueueIndex, ImageOrBuffer};
use crate::plan::MemoryKind;
use crate::units::Run;

/// Replays the tables and reports the errors it meets.
pub(super) fn run(checker: &mut Checker<'_>) {
    let mut replay = Replay::new(checker);
    check_fit(checker);
    replay.enter(checker);
    for submit in &checker.tables.submits {
        for batch in submit.batches.indices() {
            let last = batch + 1 == submit.batches.end as usize;
            replay.batch(checker, submit.queue, batch, last);
        }
    }
    replay.exit(checker);
    replay.layouts.finish(checker);
    after::check_contents(checker, &mut replay.contents, &replay.layouts);
    after::check_bytes(checker, &mut replay.hazards, &replay.signaled);
}

struct Replay {
    contents: Contents,
    layouts: Layouts,
    hazards: Hazards,
    /// Per device queue, the number of batches submitted so far.
    signaled: Vec<i64>,
    /// Parts that the frame has written so far.
    written: Vec<Part>,
}

impl Replay {
    fn new(checker: &Checker<'_>) -> Replay {
        Replay {
            contents: Contents::new(checker),
            layouts: Layouts::new(checker),
            hazards: Hazards::new(checker),
            signaled: vec![0; checker.lowering_desc.queues.len()],
            written: Vec::new(),
        }
    }

    /// Sets up the state that earlier work left, and the resources that the caller passes in.
    fn enter(&mut self, checker: &mut Checker<'_>) {
        let before = &checker.lowering_desc.before;
        for one in &before.bytes {
            let mut at = checker.at("the state that earlier work left".to_owned());
            at.demand(one.last.value <= 0, "value", one.last.value, "at most 0");
        }
        after::check_ranges(checker, "the state that earlier work left", &before.contents);
        let kept = |one: &&crate::lower::state::ContentState| one.defined;
        let kept: Vec<_> = before.contents.iter().filter(kept).collect();
        for one in &kept {
            for part in checker.parts.within(checker.tables, one.object.get(), one.range) {
                self.contents.define(checker, DeviceQueueIndex(0), part, None);
            }
        }
        self.hazards.begin(checker, &before.bytes, |one| {
            let objects = kept.iter().map(|one| one.object.get());
            objects.into_iter().find(|&object| {
                let site = Site::of(checker, object, one.last.queue);
                site.place == one.space.into() && site.first <= one.first.0 && one.end.0 <= site.end
            })
        });
        for (object, _, external) in externals(checker) {
            for part in checker.parts.of(object) {
                self.contents.define(checker, DeviceQueueIndex(0), part, None);
            }
            let owner = external.acquired_from(matches!(object, ImageOrBuffer::Image(_)));
            let owner = owner.map(ExternalFamily::index);
            self.layouts.enter(object, external.entry.layout, owner);
        }
    }

    /// Checks the state in which external resources leave the frame, and adds their exit.
    fn exit(&mut self, checker: &mut Checker<'_>) {
        for (object, id, external) in externals(checker) {
            for part in checker.used_parts(object) {
                let pass = last_use(checker, part);
                let queue = checker.queue_of(pass);
                self.layouts.exit(checker, part, external.exit);
                let here = RecordPosition {
                    queue,
                    row: usize::MAX,
                    pass,
                };
                // A semaphore of the caller orders whatever follows a release.
                if external.exit.family.is_none() {
                    self.hazards.exit(checker, part, here, external.exit);
                }
                let image = matches!(object, ImageOrBuffer::Image(_));
                let held = !image || external.entry.layout != vk::ImageLayout::UNDEFINED;
                let loss = self.contents.loss(checker, queue, part);
                if let Some(loss) = loss.filter(|_| held || self.written.contains(&part)) {
                    let resource = checker.resource(id);
                    let message =
                        format!("contents of external `{resource}` are lost before the frame ends: {loss}");
                    checker.report(LoweringRule::Contents, message);
                }
            }
        }
    }

    fn batch(&mut self, checker: &mut Checker<'_>, queue: DeviceQueueIndex, index: usize, ends_submit: bool) {
        barriers::check_semaphores(checker, index, queue, &self.signaled);
        let batch = checker.tables.batches[index];
        let waits = batch.waits.of(&checker.tables.waits);
        self.hazards.start(checker, queue, waits);
        self.arrive(checker, BatchId(index as u32), queue);
        let mut last = None;
        for commands in batch.command_buffers.of(&checker.tables.command_buffers) {
            for row in commands.passes.indices() {
                let pass = checker.tables.passes[row].pass;
                self.pass(checker, RecordPosition { queue, row, pass });
                last = Some(pass);
            }
        }
        self.signaled[queue.0 as usize] += 1;
        // A signal with another value is reported, and treated as that of its batch.
        let own = SemaphoreValue::of_queue(queue, self.signaled[queue.0 as usize]);
        let signals = batch.signals.of(&checker.tables.signals).iter();
        let signals = signals.map(|signal| SemaphoreRow {
            semaphore: signal.semaphore.queue().map_or(signal.semaphore, |_| own),
            ..*signal
        });
        self.hazards.signal(&signals.collect::<Vec<_>>());
        let boundary = checker
            .device
            .profile
            .tile
            .is_some_and(|tile| tile.queue_submit_boundary);
        if let Some(last) = last.filter(|_| ends_submit || !boundary) {
            self.contents.end_window(checker, queue, last);
        }
    }

    /// Adds the entry of the external resources whose first use is in a batch. They enter with this batch because it may be the one that waits for the
    /// caller's semaphore.
    fn arrive(&mut self, checker: &Checker<'_>, batch: BatchId, queue: DeviceQueueIndex) {
        for (object, id, mut external) in externals(checker) {
            let image = matches!(object, ImageOrBuffer::Image(_));
            if external.acquired_from(image).is_some() {
                // A semaphore of the caller orders whatever precedes an acquire.
                external.entry.stages = S::NONE;
            }
            let pass = PassId(checker.frame.lifetime_of(id).first.0);
            if checker.frame.batch_of(pass) == batch {
                let here = RecordPosition {
                    queue,
                    row: usize::MAX,
                    pass,
                };
                for part in checker.parts.of(object) {
                    self.hazards.enter(checker, part, here, external.entry);
                }
            }
        }
    }

    fn pass(&mut self, checker: &mut Checker<'_>, here: RecordPosition) {
        let row = checker.tables.passes[here.row];
        self.dependency(checker, here, row.before);
        self.check_bound(checker, here, row);
        let bound = row
            .tile_memory
            .get()
            .map(|memory| checker.tables.memory[memory as usize].size);
        self.contents.apply_action(checker, here.queue, here.pass, bound);
        match row.contents {
            PassContents::Clear => self.clear(checker, here, row),
            PassContents::Described | PassContents::Store => self.accesses(checker, here, row),
        }
        self.dependency(checker, here, row.after);
    }

    /// Checks that the bound memory is tile memory, on a queue that can bind it, and contains every tile resource that the pass uses.
    fn check_bound(&self, checker: &mut Checker<'_>, here: RecordPosition, row: PassRow) {
        let tables = checker.tables;
        let accesses = checker.frame.pass(here.pass).accesses;
        let mut at = checker.at(format!("pass `{}`", checker.pass(here.pass)));
        if let Some(bound) = row.tile_memory.get() {
            let kind = tables.memory[bound as usize].kind;
            let needs = "tile memory (VUID-VkTileMemoryBindInfoQCOM-memory-10726)";
            at.demand(kind == MemoryKind::Tile, "tile_memory", kind, needs);
            let flags = at.checker.flags(here.queue);
            let binds = flags.intersects(vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
            let needs = "none: the queue cannot bind tile memory (VUID-vkCmdBindTileMemoryQCOM-commandBuffer-cmdpool)";
            at.demand(binds, "tile_memory", bound, needs);
        }
        if row.contents == PassContents::Clear {
            return;
        }
        for access in accesses.of(&tables.accesses) {
            let Some(memory) = at.checker.binding_of(access.object.get()).memory.get() else {
                continue;
            };
            if tables.memory[memory as usize].kind == MemoryKind::Tile {
                let name = at.checker.name_of(access.object.get());
                let needs = format!(
                    "memory object {memory}, which holds `{name}` (VUID-vkCmdDraw-commandBuffer-10746)"
                );
                at.demand(
                    row.tile_memory.get() == Some(memory),
                    "tile_memory",
                    row.tile_memory,
                    needs,
                );
            }
        }
    }

    /// Applies one dependency: all barriers between two passes, at once.
    fn dependency(&mut self, checker: &mut Checker<'_>, here: RecordPosition, row: DependencyRow) {
        barriers::check(checker, here.queue, here.pass, row);
        let tables = checker.tables;
        let mut dependencies = Vec::new();
        for barrier in row.images.of(&tables.image_barriers) {
            let changes = barrier.old_layout != barrier.new_layout;
            dependencies.push(Barrier {
                covers: Covers::Parts(checker.parts.of_barrier(tables, barrier)),
                scopes: barrier.scopes,
                kind: kind_of(checker, here.queue, barrier.families, changes),
                discards: barrier.old_layout == vk::ImageLayout::UNDEFINED,
            });
        }
        for barrier in row.buffers.of(&tables.buffer_barriers) {
            let end = barrier.offset.0.saturating_add(barrier.size.0);
            let parts = checker.parts.of(ImageOrBuffer::Buffer(barrier.buffer));
            dependencies.push(Barrier {
                covers: Covers::Bytes(parts[0], barrier.offset.0, end),
                scopes: barrier.scopes,
                kind: kind_of(checker, here.queue, barrier.families, false),
                discards: false,
            });
        }
        for barrier in row.memory.of(&tables.memory_barriers) {
            dependencies.push(Barrier {
                covers: Covers::All,
                scopes: barrier.scopes,
                kind: BarrierKind::Plain,
                discards: false,
            });
        }
        if dependencies.is_empty() {
            return;
        }
        self.hazards.depend(checker, here, &dependencies);
        self.transitions(checker, here, row);
    }

    /// Applies the effects of barriers to layouts, owners and contents.
    fn transitions(&mut self, checker: &mut Checker<'_>, here: RecordPosition, row: DependencyRow) {
        let family = checker.family(here.queue);
        for barrier in row.images.of(&checker.tables.image_barriers) {
            let object = ImageOrBuffer::Image(barrier.image);
            let changes = barrier.old_layout != barrier.new_layout;
            let kind = kind_of(checker, here.queue, barrier.families, changes);
            let discards = barrier.old_layout == vk::ImageLayout::UNDEFINED && kind != BarrierKind::Plain;
            for part in checker.parts.of_barrier(checker.tables, barrier) {
                // A caller that passes in an image in `UNDEFINED` accepts any contents.
                let external = checker.binding_of(object).is_imported();
                let undefined = self.layouts.layout_of(part) == vk::ImageLayout::UNDEFINED;
                let indifferent = external && !self.written.contains(&part) && undefined;
                self.layouts
                    .image_barrier(checker, barrier, part, kind, (family, here.pass));
                if discards && !indifferent {
                    let pass = checker.pass(here.pass);
                    let loss = format!(
                        "a barrier at pass `{pass}` discards the contents: its old layout is UNDEFINED"
                    );
                    self.contents.lose(checker, here.queue, part, loss);
                }
                if kind != BarrierKind::Plain {
                    self.take_bytes(checker, here, part);
                }
            }
        }
        for barrier in row.buffers.of(&checker.tables.buffer_barriers) {
            let kind = kind_of(checker, here.queue, barrier.families, false);
            for part in checker.parts.of(ImageOrBuffer::Buffer(barrier.buffer)) {
                self.layouts
                    .buffer_barrier(checker, part, barrier.families, kind, (family, here.pass));
            }
        }
    }

    fn accesses(&mut self, checker: &mut Checker<'_>, here: RecordPosition, row: PassRow) {
        let instance = row.instance.get();
        let indices = checker.frame.pass(here.pass).accesses.indices();
        let effects: Vec<Effect> = indices.map(|index| effect(checker, instance, index)).collect();
        let family = checker.family(here.queue);
        for one in &effects {
            let object = one.row.object.get();
            let mut same = effects.iter().filter(|other| other.row.object == object);
            let fresh = same.all(|other| !other.needs_contents);
            for part in checker.seen_parts(one.index) {
                let layout = layout_in(checker, instance, one, part);
                let of = (family, here.pass);
                self.layouts.access(checker, part, layout, of, fresh);
            }
        }
        for one in effects
            .iter()
            .filter(|one| one.needs_contents || one.writes_in_part)
        {
            for part in checker.parts_of(one.index) {
                let writer = writer_before(checker, one.index, part);
                if !one.needs_contents && writer.is_none() {
                    continue;
                }
                self.contents
                    .check_needed(checker, here.queue, part, here.pass, writer);
            }
        }
        let resolves = effects.iter().flat_map(|one| resolve_of(checker, one.index));
        let uses = effects.iter().flat_map(|one| one.to_uses(checker));
        let uses: Vec<Use> = uses.chain(resolves).collect();
        self.hazards.access(checker, here, &uses);
        let is_written = |one: &&Effect| checker.frame.accesses()[one.index].writes;
        let stores = effects.iter().filter(|one| one.writes);
        let (written, kept): (Vec<_>, Vec<_>) = stores.partition(is_written);
        for one in kept.into_iter().chain(written) {
            let access = &checker.frame.accesses()[one.index];
            for part in checker.parts_of(one.index) {
                self.take_bytes(checker, here, part);
                // Storing an attachment that was only tested against changes nothing.
                let by = if access.writes {
                    Some(here.pass)
                } else {
                    writer_before(checker, one.index, part)
                };
                self.contents.define(checker, here.queue, part, by);
                self.written.push(part);
            }
        }
        for one in &effects {
            let mut parts = checker.parts_of(one.index);
            parts.retain(|part| {
                checker
                    .parts
                    .range(*part)
                    .aspects
                    .intersects(one.discarded_aspects)
            });
            for part in parts {
                let loss = format!("pass `{}` does not store the contents", checker.pass(here.pass));
                self.contents.lose(checker, here.queue, part, loss);
            }
        }
    }

    /// Checks and applies a clear of contents that no frame has written.
    fn clear(&mut self, checker: &mut Checker<'_>, here: RecordPosition, row: PassRow) {
        let row = checker.tables.clears[row.row.get().expect("checked before") as usize];
        let (object, range) = (row.object.get(), row.range);
        let resource = checker.resource_of(object);
        let (name, pass) = (checker.resource(resource), checker.pass(here.pass));
        let parts = checker.parts.within(checker.tables, object, range);
        // The barrier before the clear has discarded the contents, if there were any.
        let written: Vec<_> = parts
            .iter()
            .filter(|part| self.contents.is_written(checker, **part))
            .map(|part| checker.parts.range(*part))
            .collect();
        let fits = !parts.is_empty() && checker.holds(object, resource, HistoryVersion::Previous);
        let mut at = checker.at(format!("the clear of `{name}` before pass `{pass}`"));
        at.demand(fits, "object", object, "the previous version of a history");
        let needs = "parts that no frame has written";
        at.demand(written.is_empty(), "range", &written, needs);
        creation::check_clear(&mut at, here.queue, object, row.value.get());
        if let ImageOrBuffer::Image(row) = object {
            let image = at.checker.tables.images[row as usize];
            let all = image.image_type != vk::ImageType::TYPE_3D
                || range.layers == Run::new(0, vk::REMAINING_ARRAY_LAYERS);
            at.demand(
                all,
                "layers",
                range.layers,
                "all slices: clears cannot select individual slices",
            );
            creation::check_range(&mut at, &image, range);
            let whole = parts
                .iter()
                .all(|part| at.checker.parts.is_inside(*part, &image, range));
            at.demand(whole, "range", range, "all of each part that it clears");
        }
        for &part in &parts {
            let layout = self.layouts.layout_of(part);
            let clears = [vk::ImageLayout::TRANSFER_DST_OPTIMAL, vk::ImageLayout::GENERAL];
            let fits = clears.contains(&layout) && layout == row.layout;
            let needs = "that of the clear, TRANSFER_DST_OPTIMAL or GENERAL (VUID-vkCmdClearColorImage-imageLayout-01394)";
            at.demand(
                fits || matches!(object, ImageOrBuffer::Buffer(_)),
                "imageLayout",
                layout,
                needs,
            );
        }
        let of = (checker.family(here.queue), here.pass);
        for &part in &parts {
            let layout = self.layouts.layout_of(part);
            self.layouts.access(checker, part, Some(layout), of, true);
        }
        let of_part = |&part: &Part| Use {
            part,
            stages: S::ALL_TRANSFER,
            access: A::TRANSFER_WRITE,
        };
        let uses: Vec<Use> = parts.iter().map(of_part).collect();
        self.hazards.access(checker, here, &uses);
        for part in parts {
            self.take_bytes(checker, here, part);
            self.contents.define(checker, here.queue, part, None);
        }
    }

    /// Marks the contents of all other objects in the bytes of a part as lost, and resets their layouts.
    fn take_bytes(&mut self, checker: &Checker<'_>, here: RecordPosition, part: Part) {
        for victim in self.contents.overwrite(checker, here.queue, part, here.pass) {
            self.layouts.clobber(victim);
        }
    }
}

/// The layout that a part has to be in for an access; `None` for an aspect that its view leaves out.
fn layout_in(
    checker: &Checker<'_>,
    instance: Option<u32>,
    effect: &Effect,
    part: Part,
) -> Option<vk::ImageLayout> {
    let stencil = checker.parts.range(part).aspects == vk::ImageAspectFlags::STENCIL;
    let access = &checker.frame.accesses()[effect.index];
    if access.kind.is_attachment() {
        let attachment = instance.and_then(|instance| attachment_of(checker, instance, effect.index));
        if let Some(attachment) = attachment.filter(|_| stencil) {
            return Some(attachment.stencil_layout);
        }
    }
    let view = effect
        .row
        .view
        .get()
        .map(|view| checker.tables.views[view as usize].range.aspects);
    let seen = |aspects: vk::ImageAspectFlags| aspects.intersects(checker.parts.range(part).aspects);
    view.is_none_or(seen).then_some(effect.row.layout)
}

/// The pass that, according to the frame, wrote the contents of a part that an access reads; `None` for earlier work and the caller.
fn writer_before(checker: &Checker<'_>, index: usize, part: Part) -> Option<PassId> {
    let access = &checker.frame.accesses()[index];
    let mut earlier = (0..index)
        .rev()
        .map(|index| (index, &checker.frame.accesses()[index]));
    let wrote = |(other_index, other): &(usize, &Access)| {
        let same = (other.resource, other.version) == (access.resource, access.version);
        let texels = |part: Part| checker.parts.with_same_texels(part);
        let parts = checker.parts_of(*other_index);
        same && other.pass < access.pass
            && other.writes
            && parts.iter().any(|&one| texels(one) == texels(part))
    };
    earlier.find(wrote).map(|(_, other)| other.pass)
}

/// The last pass that uses a part.
fn last_use(checker: &Checker<'_>, part: Part) -> PassId {
    let of_part = |&index: &usize| {
        checker.tables.accesses[index].object == part.object && checker.parts_of(index).contains(&part)
    };
    let last = (0..checker.tables.accesses.len()).rev().find(of_part);
    checker.frame.accesses()[last.expect("some pass uses the part")].pass
}

/// The external resources that the frame uses, each with its object.
fn externals(checker: &Checker<'_>) -> Vec<(ImageOrBuffer, ResourceId, ExternalDesc)> {
    let objects = checker.objects();
    let external = objects.filter_map(|object| {
        let id = checker.resource_of(object);
        match checker.frame.resource(id).persistence {
            Persistence::External(desc) if !checker.frame.uses_of(id).is_empty() => Some((object, id, desc)),
            _ => None,
        }
    });
    external.collect()
}
