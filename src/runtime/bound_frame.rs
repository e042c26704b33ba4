//! A plan whose resources are created and bound, and lookups of its objects.

use std::ffi::CString;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use ash::vk;
use tileheap_units::CompactSort;

use super::bound_access::{AccessKey, BoundAccess, BoundBuffer, BoundObject};
use super::command_slot::CommandSlot;
use super::device_queue::DeviceQueue;
use super::device_state::DeviceState;
use super::encoded_frame::{EncodedFrame, Encoding};
use super::owned::OwnedObjects;
use super::pool::{Lease, TimelineValues};
use super::progress::FrameNumber;
use super::queue_base::QueueBase;
use super::render_pass::Framebuffers;
use super::resources::Handles;
use super::series::Series;
use super::store::StorePass;
use super::submission::Submission;
use super::subpass_merge::SubpassMerge;
use super::swapped_copies::SwappedCopies;
use super::timelines::{Timelines, any_use};
use super::use_stamp::UseStamp;
use crate::frame::tables::HistoryVersion;
use crate::frame::{PassId, Persistence, QueueId, ResourceId};
use crate::lower::tables::{DeviceQueueIndex, ImageOrBuffer};
use crate::lower::{
    AddressSpace, ByteUse, ContentState, Lowered, Lowerer, LoweringDesc, MemoryState, Parity, PipelineTarget,
    PipelineTargets,
};
use crate::plan::{MemoryKind, Plan};
use crate::{Checked, Result};

/// A plan whose images, buffers and memory are created and bound.
///
/// ```no_run
/// # use std::sync::Arc;
/// # use tileheap::{Checked, plan::Plan};
/// # use tileheap::runtime::*;
/// # fn f(tile: &Device, plan: Arc<Checked<Plan>>, wider: Arc<Checked<Plan>>) -> tileheap::Result<()> {
/// let mut bound = tile.bind(&plan)?;
/// // … frames …
/// // Another size: the old objects are freed when their last frame is complete.
/// std::mem::replace(&mut bound, tile.bind(&wider)?).retire();
/// let waiting = tile.collect()?; // now and then; 0 once all of it is gone
/// # let _ = waiting;
/// # Ok(()) }
/// ```
pub struct BoundFrame {
    pub(super) state: Arc<DeviceState>,
    pub(super) timelines: Arc<Timelines>,
    pub(super) plan: Arc<Checked<Plan>>,
    /// Per queue of the frame, the device queue that runs it.
    pub(super) queues: Vec<DeviceQueue>,
    /// Per device queue that runs any of the frame's queues, its timeline and the numbers of batches on it.
    pub(super) bases: Vec<QueueBase>,
    pub(super) lowering: FrameLowering,
    pub(super) objects: FrameObjects,
    /// `true` if the plan uses tile memory, whose bytes other plans use as well.
    pub(super) uses_tile: bool,
    /// The number of different parities: 2 if a pass reads a previous version, otherwise 1.
    pub(super) parities: usize,
    pub(super) targets: PipelineTargets,
    /// Per pass, its name as a debug label; empty unless debug labels are enabled.
    pub(super) labels: Vec<CString>,
    pub(super) recording: RecordingState,
    /// The bound frame's number in the pool.
    pub(super) number: u64,
    /// The parity of the next frame.
    pub(super) next_parity: Parity,
    /// Changes with each selection, begin and submission; a recorder detached at an earlier stamp is out of date.
    pub(super) stamp: UseStamp,
    /// Additional waits of the next frame, for the work of other frames on queues that this frame does not use.
    pub(super) takeover_waits: TimelineValues,
    /// The series that the bound frame belongs to: its own, or that of a dynamic frame.
    pub(super) series: Arc<Series>,
    pub(super) submission: Submission,
    /// The objects; `None` after the frame was destroyed or retired.
    pub(super) owned: Option<OwnedObjects>,
}

/// The frames lowered so far, and the state that the next one is lowered from.
pub(super) struct FrameLowering {
    pub(super) lowerer: Lowerer,
    /// Description that the next frame is lowered for, once it begins.
    pub(super) lowering_desc: LoweringDesc,
    /// The contents that the last frame left in this plan's own memory, with values as of its end.
    pub(super) last_state: MemoryState,
    /// The first lowered frame, then some of the latest.
    pub(super) encoded: Vec<EncodedFrame>,
}

/// The Vulkan objects that the frame's commands use.
pub(super) struct FrameObjects {
    pub(super) handles: Handles,
    pub(super) framebuffers: Framebuffers,
    /// Per row of instances, its render pass object; null for dynamic rendering.
    pub(super) render_passes: Vec<vk::RenderPass>,
    /// The objects that accesses to histories use in odd frames.
    pub(super) copies: SwappedCopies,
    /// Per row of stores, the commands of its pass.
    pub(super) stores: Vec<StorePass>,
}

/// The frame being recorded.
pub(super) struct RecordingState {
    /// Per command buffer of the frame, its recording state.
    pub(super) slots: Vec<CommandSlot>,
    /// Per pass, its render area; `None` if it renders nothing.
    pub(super) areas: Vec<Option<vk::Rect2D>>,
    /// Per pass, true if it is skipped.
    pub(super) skipped: Vec<AtomicBool>,
}

/// Maximum number of lowered frames kept in addition to the first one and to adopted ones.
const MAX_KEPT_FRAMES: usize = 12;

impl BoundFrame {
    /// The bound plan (newer than the one that was given, if requirements had grown).
    pub fn plan(&self) -> &Arc<Checked<Plan>> {
        &self.plan
    }

    /// A number that is unique among the bound frames of the device: a key for data that a renderer keeps per bound frame, such as descriptor sets of
    /// its views.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The device queue that runs a queue of the frame.
    pub fn queue(&self, queue: QueueId) -> DeviceQueue {
        self.queues[queue.index()]
    }

    /// The pipeline creation parameters of all render passes.
    pub fn targets(&self) -> &PipelineTargets {
        &self.targets
    }

    /// The pipeline creation parameters of a render pass, or of its first subpass.
    ///
    /// # Panics
    /// If the pass is not a render pass.
    pub fn target(&self, pass: PassId) -> &PipelineTarget {
        self.target_in(pass, 0)
    }

    /// The pipeline creation parameters of any subpass. Merged passes are subpasses of one render pass;
    /// [`ExecutedFrame::subpass_in`](crate::execute::ExecutedFrame::subpass_in) gives the index of each.
    ///
    /// # Panics
    /// If the pass is not a render pass, or has fewer subpasses.
    pub fn target_in(&self, pass: PassId, subpass: u32) -> &PipelineTarget {
        self.target_of(self.plan.pass_of_input(pass), subpass)
    }

    /// The driver's decision about each subpass of a render pass. Empty if the pass has one subpass, is not recorded as a render pass object or has a
    /// [hook](super::Hooks::render_pass), and without [`Capabilities::SUBPASS_MERGE_FEEDBACK`](super::Capabilities::SUBPASS_MERGE_FEEDBACK).
    ///
    /// # Panics
    /// If the pass is not a render pass.
    pub fn subpass_merges(&self, pass: PassId) -> Vec<SubpassMerge> {
        let render_pass = self.target(pass).render_pass;
        let contents = self.state.pool.lock();
        contents
            .passes
            .merges
            .get(&render_pass)
            .cloned()
            .unwrap_or_default()
    }

    /// Like [`BoundFrame::target_in`], for a pass of the planned frame.
    pub(super) fn target_of(&self, pass: PassId, subpass: u32) -> &PipelineTarget {
        match self.targets.in_plan(pass, subpass) {
            Some(target) => target,
            None if subpass > 0 => panic!(
                "pass `{}` has no subpass {subpass}",
                self.plan.frame.pass(pass).name
            ),
            None => panic!("pass `{}` is not a render pass", self.plan.frame.pass(pass).name),
        }
    }

    /// The object that an access of a pass uses in frames of `parity`, with its view and layout: for descriptor sets that are written once,
    /// and for everything else that is known before a frame begins.
    ///
    /// Identify the access by its position in the pass's declaration, or by its resource: `access(lighting, 0, parity)`,
    /// `access(lighting, albedo, parity)`, `access(taa, (history, HistoryVersion::Previous), parity)`.
    ///
    /// Object and view of external resources are null; [`FrameRecorder::access`](super::FrameRecorder::access) returns the imported ones.
    ///
    /// # Panics
    /// If the pass does not declare such an access.
    #[track_caller]
    pub fn access(&self, pass: PassId, which: impl Into<AccessKey>, parity: Parity) -> BoundAccess {
        let index = self.index_of(self.plan.pass_of_input(pass), which.into());
        let mut access = self.access_at(&self.lowering.encoded[0], index, self.object_of(index, parity));
        if let Persistence::External(_) = self.plan.frame.resource(access.resource).persistence {
            // Imports change from frame to frame, and only the recorder has them.
            access.view = vk::ImageView::null();
            access.object = match access.object {
                BoundObject::Image(_) => BoundObject::Image(vk::Image::null()),
                BoundObject::Buffer(_) => BoundObject::Buffer(BoundBuffer::default()),
            };
        }
        access
    }

    /// The parity of the next frame.
    pub fn parity(&self) -> Parity {
        self.next_parity
    }

    /// The newest frame that is complete on the device, along with all frames before it; `None` before the first.
    ///
    /// # Errors
    /// When the device is lost.
    pub fn completed(&self) -> Result<Option<FrameNumber>> {
        self.series.progress().completed(&self.state)
    }

    /// Waits until `frame` is complete on the device, for at most `timeout` nanoseconds; false if time ran out.
    ///
    /// # Errors
    /// When the device is lost, or the frame was not submitted.
    pub fn wait(&self, frame: FrameNumber, timeout: u64) -> Result<bool> {
        self.series.shared_progress().wait(&self.state, frame, timeout)
    }

    /// Discards cached objects of an external image view, before the caller destroys the view. Only passes that are recorded as render pass objects
    /// cache any.
    ///
    /// # Safety
    /// No frame that uses the view is in flight.
    pub unsafe fn forget_view(&mut self, view: vk::ImageView) {
        let owned = self
            .owned
            .as_mut()
            .expect("a bound frame owns its objects until it is retired or destroyed");
        for framebuffer in self.objects.framebuffers.forget_view(view) {
            owned.framebuffers.retain(|other| *other != framebuffer);
            // SAFETY: the caller's duty; both lists have forgotten it.
            unsafe { self.state.device.destroy_framebuffer(framebuffer, None) };
        }
    }

    /// Returns the images, buffers and memory of this bound frame to the device's pool, as dropping it does: before they are used again, the
    /// GPU waits for the last frame submitted through this `BoundFrame`. Objects that only this bound frame uses are destroyed by the first
    /// [`Device::collect`](super::Device::collect) after that frame is complete.
    pub fn retire(self) {
        drop(self);
    }

    /// Immediately destroys everything that no other bound frame has borrowed or was the last to use.
    ///
    /// # Safety
    /// None of its frames is in flight.
    pub unsafe fn destroy(mut self) {
        if let Some(mut owned) = self.owned.take() {
            let mut lease = std::mem::take(&mut owned.lease);
            // SAFETY: the caller's duty.
            unsafe { owned.destroy() };
            // SAFETY: the caller's duty.
            unsafe { self.state.pool.release(&self.state, &mut lease, self.number) };
            if let Some(series) = Arc::get_mut(&mut self.series) {
                // SAFETY: the caller's duty; no other bound frame belongs to it.
                unsafe { series.destroy() };
            }
        }
    }

    /// The parity in which every history's previous version is the most recently written one; `None` if the histories need different parities.
    pub(super) fn parity_for_histories(&self) -> Option<Parity> {
        let any = |parity| self.histories_for(parity).next().is_some();
        match (any(Parity::Even), any(Parity::Odd)) {
            (_, false) => Some(Parity::Even),
            (false, true) => Some(Parity::Odd),
            (true, true) => None,
        }
    }

    /// The histories whose previous version is the most recently written one only in frames of `parity`.
    pub(super) fn histories_for(&self, parity: Parity) -> impl Iterator<Item = ResourceId> + '_ {
        let pairs = self
            .objects
            .handles
            .histories
            .iter()
            .filter(|history| history.has_two_copies);
        let wanted = pairs.filter(move |history| {
            let pool = self.state.pool.lock();
            let [first, second] = history.copies.map(|(_, block)| pool.last_written(block));
            (parity == Parity::Even && first < second) || (parity == Parity::Odd && first > second)
        });
        wanted.map(|history| history.resource)
    }

    /// Borrows the histories, so that they and their contents outlive the bound frame; `None` if it has none.
    pub(super) fn keep_histories(&self) -> Option<KeptHistories> {
        let owned = self.owned.as_ref()?;
        let lease = self.state.pool.lock().lend_histories(&owned.lease);
        let state = self.state.clone();
        (!lease.blocks.is_empty()).then_some(KeptHistories { state, lease })
    }

    /// Returns `true` if a larger block of memory has replaced one of the frame's blocks.
    pub(super) fn is_superseded(&self) -> bool {
        let lease = self.owned.as_ref().map(|owned| &owned.lease);
        lease.is_some_and(|lease| self.state.pool.lock().is_superseded(lease))
    }

    /// The tables of the first frame, which is even. All frames have the same images, buffers and memory.
    pub(super) fn tables(&self) -> &Lowered {
        &self.lowering.encoded[0].tables
    }

    /// The object that an access uses in frames of `parity`, and its view.
    pub(super) fn object_of(&self, access: usize, parity: Parity) -> (ImageOrBuffer, vk::ImageView) {
        let first = &self.lowering.encoded[0];
        let even = (first.tables.accesses[access].object.get(), first.view_of(access));
        self.objects.copies.used_in(parity, access, even)
    }

    /// Finds the frame that is about to begin among the frames lowered so far, or lowers it; returns its index.
    pub(super) fn encode(&mut self, parity: Parity) -> Result<usize> {
        self.update_lowering_desc(parity);
        let index = match self.known() {
            Some(index) => index,
            None => {
                let index = self.lower()?;
                self.name_objects();
                index
            }
        };
        self.with_encoding(|encoded, with| encoded[index].refresh(with))?;
        Ok(index)
    }

    /// Lowers the upcoming frames until they repeat, so that recording does not have to; at most half of [`MAX_KEPT_FRAMES`].
    pub(super) fn lower_ahead(&mut self) -> Result<()> {
        self.update_lowering_desc(Parity::Even);
        let counted = self.state.functions.timeline_semaphore.is_some();
        let is_left = |one: &ByteUse| counted || !one.space.is_tile();
        for _ in 0..MAX_KEPT_FRAMES / 2 {
            let index = match self.known() {
                Some(index) if index > 0 => return Ok(()),
                Some(index) => index,
                None => self.lower()?,
            };
            let after = &self.lowering.encoded[index].tables.after;
            let LoweringDesc { parity, before, .. } = &mut self.lowering.lowering_desc;
            *parity = if self.parities == 2 {
                parity.next()
            } else {
                Parity::Even
            };
            before.bytes.retain(|one| !is_left(one));
            before.bytes.extend(after.bytes.iter().filter(|one| is_left(one)));
            before.contents.clone_from(&after.contents);
        }
        Ok(())
    }

    fn known(&self) -> Option<usize> {
        let LoweringDesc { parity, before, .. } = &self.lowering.lowering_desc;
        let known = |encoded: &EncodedFrame| encoded.parity == *parity && encoded.before == *before;
        self.lowering.encoded.iter().position(known)
    }

    fn lower(&mut self) -> Result<usize> {
        let _span = tracing::debug_span!("lower", frame = self.plan.frame.name()).entered();
        let tables = self
            .lowering
            .lowerer
            .lower(&self.plan, &self.lowering.lowering_desc)?;
        let (parity, before) = (
            self.lowering.lowering_desc.parity,
            self.lowering.lowering_desc.before.clone(),
        );
        let encoded = self.with_encoding(|_, with| EncodedFrame::new(parity, before, tables, with))?;
        let own = self.lowering.encoded.iter().skip(1);
        if own.clone().filter(|one| !one.adopted).count() >= MAX_KEPT_FRAMES {
            let oldest = own.clone().position(|one| !one.adopted).unwrap_or(0);
            let oldest = self.lowering.encoded.remove(1 + oldest);
            self.lowering.lowerer.recycle(oldest.tables);
        }
        self.lowering.encoded.push(encoded);
        Ok(self.lowering.encoded.len() - 1)
    }

    pub(super) fn with_encoding<R>(
        &mut self,
        run: impl FnOnce(&mut [EncodedFrame], &mut Encoding<'_>) -> R,
    ) -> R {
        let owned = self
            .owned
            .as_mut()
            .expect("a bound frame owns its objects until it is retired or destroyed");
        let mut with = Encoding {
            state: &self.state,
            plan: &self.plan,
            owned,
            handles: &self.objects.handles,
            framebuffers: &mut self.objects.framebuffers,
            render_passes: &self.objects.render_passes,
        };
        run(&mut self.lowering.encoded, &mut with)
    }

    /// Updates the state before the next frame with the state that earlier work has left in the memory of this plan and in the tile memory of its queues.
    pub(super) fn update_lowering_desc(&mut self, parity: Parity) {
        let LoweringDesc {
            parity: current,
            before,
            ..
        } = &mut self.lowering.lowering_desc;
        *current = if self.parities == 2 { parity } else { Parity::Even };
        before.bytes.clear();
        let queues = self.timelines.lock();
        for (index, base) in (0..).map(DeviceQueueIndex).zip(&mut self.bases) {
            let queue = &queues[base.number];
            let passed = (queue.submitted - base.submitted_at_begin).min(i64::MAX as u64) as i64;
            base.submitted_at_begin = queue.submitted;
            for one in self
                .lowering
                .last_state
                .bytes
                .iter_mut()
                .filter(|one| one.last.queue == index)
            {
                one.last.age(passed);
            }
            if self.uses_tile {
                queue.tile_uses(index, self.number, self.state.tile_bytes(), &mut before.bytes);
            }
        }
        drop(queues);
        before.contents.clone_from(&self.lowering.last_state.contents);
        let Some(owned) = &self.owned else { return };
        let own = |number| self.bases.iter().any(|base| base.number == number);
        let pool = self.state.pool.lock();
        if !pool.taken_over(&owned.lease, self.number, own, &mut self.takeover_waits) {
            before.bytes.extend_from_slice(&self.lowering.last_state.bytes);
            return;
        }
        // Assumes that other frames used everything in any way, so that one lowering is valid after all of them.
        let memory = (0..).zip(&self.lowering.encoded[0].tables.memory);
        for (row, memory) in memory.filter(|(_, memory)| memory.kind != MemoryKind::Tile) {
            let queues = (0..self.bases.len() as u32).map(DeviceQueueIndex);
            let uses = queues.map(|queue| any_use(AddressSpace::memory(row), memory.size, queue));
            before.bytes.extend(uses);
        }
        let histories = self.objects.handles.histories.iter();
        let copies = || {
            histories
                .clone()
                .flat_map(|one| &one.copies[..1 + usize::from(one.has_two_copies)])
        };
        before
            .contents
            .retain(|one| copies().all(|(object, _)| one.object != *object));
        for &(object, block) in copies() {
            let kept = pool.contents(block).iter();
            before.contents.extend(kept.map(|one| ContentState {
                object: object.into(),
                ..*one
            }));
        }
        before.contents.compact_sort_by_key(|one| one.object);
    }

    /// Like [`BoundFrame::access`], for a pass of the planned frame.
    #[track_caller]
    pub(super) fn access_in(&self, encoded: &EncodedFrame, pass: PassId, which: AccessKey) -> BoundAccess {
        let index = self.index_of(pass, which);
        let object = encoded.tables.accesses[index].object.get();
        self.access_at(encoded, index, (object, encoded.view_of(index)))
    }

    /// The access at this index, with its object and view.
    fn access_at(
        &self,
        encoded: &EncodedFrame,
        index: usize,
        (object, view): (ImageOrBuffer, vk::ImageView),
    ) -> BoundAccess {
        let row = &encoded.tables.accesses[index];
        let stencil = row.range.aspects == vk::ImageAspectFlags::STENCIL;
        BoundAccess {
            resource: self.plan.described_resource(row.resource),
            version: row.version,
            kind: row.kind,
            subpass: row.subpass,
            object: match object {
                ImageOrBuffer::Image(row) => {
                    BoundObject::Image(self.objects.handles.images[row as usize].handle)
                }
                ImageOrBuffer::Buffer(row) => BoundObject::Buffer(self.objects.handles.buffers[row as usize]),
            },
            range: row.range,
            view,
            layout: if stencil { row.stencil_layout } else { row.layout },
            stencil_layout: match row.range.aspects.contains(vk::ImageAspectFlags::STENCIL) {
                true => row.stencil_layout,
                false => vk::ImageLayout::UNDEFINED,
            },
        }
    }

    /// Position of an access in the planned frame's accesses.
    #[track_caller]
    fn index_of(&self, pass: PassId, which: AccessKey) -> usize {
        let frame = &self.plan.frame;
        let declared = frame.pass(pass);
        let mut indices = declared.accesses.indices();
        let found = match which {
            AccessKey::Nth(n) => indices.nth(n),
            AccessKey::Resource(resource, version) => indices.find(|&index| {
                let access = &frame.accesses()[index];
                access.version == version && self.plan.stands_for(access.resource, resource)
            }),
        };
        if let Some(found) = found {
            return found;
        }
        // Not in a closure, which would hide the caller's location.
        match which {
            AccessKey::Nth(n) => panic!(
                "access {n} is out of range: the number of accesses of pass `{}` is {}",
                declared.name,
                declared.accesses.len()
            ),
            AccessKey::Resource(resource, version) => panic!(
                "pass `{}` declares no access of the {} version of `{}`",
                declared.name,
                match version {
                    HistoryVersion::Current => "current",
                    HistoryVersion::Previous => "previous",
                },
                frame.resource(resource).name
            ),
        }
    }
}

impl fmt::Debug for BoundFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoundFrame")
            .field("frame", &self.plan.frame.name())
            .field("submitted", &self.series.progress().submitted())
            .finish_non_exhaustive()
    }
}

/// Histories that no bound frame uses for now, with their contents; returned to the pool on drop.
pub(super) struct KeptHistories {
    state: Arc<DeviceState>,
    lease: Lease,
}

impl Drop for KeptHistories {
    fn drop(&mut self) {
        self.state.pool.lock().recycle(&mut self.lease);
    }
}

impl Drop for BoundFrame {
    fn drop(&mut self) {
        if let Some(mut owned) = self.owned.take() {
            let has_failed = self.series.progress().has_failed();
            // Without timelines, the next user could not wait for its frames on the device.
            if self.state.functions.timeline_semaphore.is_some() && !has_failed {
                owned.recycle();
            }
            self.series.retire(owned);
        }
    }
}
