//! Lowering plans into tables of Vulkan's parameters.

use std::sync::Arc;

use ash::vk;
use tileheap::Checked;
use tileheap::lower::check::DeviceFacts;
use tileheap::lower::tables::clears::ClearRow;
use tileheap::lower::tables::commands::*;
use tileheap::lower::tables::instances::*;
use tileheap::lower::tables::objects::*;
use tileheap::lower::tables::submission::*;
use tileheap::lower::tables::{DeviceQueueIndex, Lowered as Tables};
use tileheap::lower::{ByteUse, ContentState, FamilyQueue, Lowerer, LoweringDesc};
use tileheap::plan::Plan;

use crate::boundary::run;
use crate::enums::{FromNumber, Parity, ReportFormat};
use crate::handles::{Exclusive, Handle, object};
use crate::opaque::*;
use crate::queues::Queues;
use crate::status::{Fault, Status};
use crate::structs::{self, begin, check_output, put, read, sized, write};
use crate::text::put_text;
use crate::vulkan::ReportFormatValue;

sized! { Input: LowerDesc to previous; }
sized! { Output: Lowered to contents; }

object!(LowererT, LowererObject: Lowerer);

/// A lowerer and its tables.
#[derive(Default)]
pub struct LowererObject {
    pub(crate) lowering: Exclusive<Lowering>,
}

/// Inputs to lowering.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct LowerDesc {
    /// `sizeof(ThLowerDesc)`.
    pub struct_size: u32,
    /// The number of elements of `queues`: one for each queue that the frame declares, or 0 if one queue of family 0 runs them all.
    pub queue_count: u32,
    /// The device queue of each declared queue.
    pub queues: *const FamilyQueue,
    /// The plan.
    pub plan: PlanHandle,
    /// The lowerer with the tables of the previous frame, which may be the one that is passed to `thLower`; null for the first frame of a plan. The
    /// previous frame must have the same plan and queues.
    pub previous: LowererHandle,
}

/// A frame as it is executed: every parameter of every Vulkan call, in arrays. An index is the position of a row in the array that its field
/// names, and a `ThRun` is a half-open range of positions.
///
/// The arrays are valid until the next lowering with the same lowerer, or until it is destroyed. For one plan on the same queues, `memory`,
/// `images` and `buffers` are the same in every frame.
///
/// Everything else is constant: images are created in `VK_IMAGE_LAYOUT_UNDEFINED`, views with the identity mapping of components,
/// `vkCmdPipelineBarrier2` between passes has no dependency flags, and ranges of images in rows are never empty.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Lowered {
    /// `sizeof(ThLowered)`.
    pub struct_size: u32,
    /// The parity of this frame, which selects the current copy of each history resource.
    pub parity: Parity,
    /// The number of elements of `deviceQueues`.
    pub device_queue_count: u32,
    /// The device queues, each once, in the order of their first declared queue. Rows refer to device queues by their index in this array.
    pub device_queues: *const FamilyQueue,
    /// The number of elements of `queues`.
    pub queue_count: u32,
    /// Per declared queue of the frame, the index of its device queue.
    pub queues: *const DeviceQueueIndex,
    /// The number of elements of `memory`.
    pub memory_count: u32,
    /// Memory objects (`VkMemoryAllocateInfo`).
    pub memory: *const MemoryRow,
    /// The number of elements of `images`.
    pub image_count: u32,
    /// Images (`VkImageCreateInfo`, `VkBindImageMemoryInfo`), created or imported.
    pub images: *const ImageRow,
    /// The number of elements of `buffers`.
    pub buffer_count: u32,
    /// Buffers (`VkBufferCreateInfo`, `VkBindBufferMemoryInfo`), created or imported.
    pub buffers: *const BufferRow,
    /// The number of elements of `views`.
    pub view_count: u32,
    /// Image views (`VkImageViewCreateInfo`).
    pub views: *const ViewRow,
    /// The number of elements of `families`.
    pub family_count: u32,
    /// Queue families for concurrent sharing; each row of `images` or `buffers` that needs them has a run of them.
    pub families: *const u32,
    /// The number of elements of `formats`.
    pub format_count: u32,
    /// View formats of images, and color formats of subpasses.
    pub formats: *const vk::Format,
    /// The number of elements of `accesses`.
    pub access_count: u32,
    /// Per access of the frame, the object it uses, its view and layouts.
    pub accesses: *const AccessRow,
    /// The number of elements of `attachments`.
    pub attachment_count: u32,
    /// Attachments of render pass instances.
    pub attachments: *const AttachmentRow,
    /// The number of elements of `references`.
    pub reference_count: u32,
    /// References of subpasses to attachments.
    pub references: *const ReferenceRow,
    /// The number of elements of `indices`.
    pub index_count: u32,
    /// Preserved attachments, locations and input attachment indices; `VK_ATTACHMENT_UNUSED` for none.
    pub indices: *const u32,
    /// The number of elements of `subpassDependencies`.
    pub subpass_dependency_count: u32,
    /// Dependencies between subpasses.
    pub subpass_dependencies: *const SubpassDependencyRow,
    /// The number of elements of `subpasses`.
    pub subpass_count: u32,
    /// Subpasses of render pass instances.
    pub subpasses: *const SubpassRow,
    /// The number of elements of `instances`.
    pub instance_count: u32,
    /// Render pass instances.
    pub instances: *const InstanceRow,
    /// The number of elements of `clears`.
    pub clear_count: u32,
    /// Clears of contents that no frame has written.
    pub clears: *const ClearRow,
    /// The number of elements of `stores`.
    pub store_count: u32,
    /// Copies out of tile memory.
    pub stores: *const StoreRow,
    /// The number of elements of `passes`.
    pub pass_count: u32,
    /// The passes of the frame, and the clears and stores between them, in the order in which they are recorded.
    pub passes: *const PassRow,
    /// The number of elements of `imageBarriers`.
    pub image_barrier_count: u32,
    /// `VkImageMemoryBarrier2`.
    pub image_barriers: *const ImageBarrierRow,
    /// The number of elements of `bufferBarriers`.
    pub buffer_barrier_count: u32,
    /// `VkBufferMemoryBarrier2`.
    pub buffer_barriers: *const BufferBarrierRow,
    /// The number of elements of `memoryBarriers`.
    pub memory_barrier_count: u32,
    /// `VkMemoryBarrier2`.
    pub memory_barriers: *const MemoryBarrierRow,
    /// The number of elements of `commandBuffers`.
    pub command_buffer_count: u32,
    /// Command buffers.
    pub command_buffers: *const CommandBufferRow,
    /// The number of elements of `waits`.
    pub wait_count: u32,
    /// Waits of batches (`VkSemaphoreSubmitInfo`).
    pub waits: *const SemaphoreRow,
    /// The number of elements of `signals`.
    pub signal_count: u32,
    /// Signals of batches (`VkSemaphoreSubmitInfo`).
    pub signals: *const SemaphoreRow,
    /// The number of elements of `batches`.
    pub batch_count: u32,
    /// Batches (`VkSubmitInfo2`).
    pub batches: *const BatchRow,
    /// The number of elements of `submits`.
    pub submit_count: u32,
    /// Submits (`vkQueueSubmit2`).
    pub submits: *const SubmitRow,
    /// The number of elements of `byteUses`.
    pub byte_use_count: u32,
    /// The last uses of bytes once the frame has ended, sorted by address space and first byte.
    pub byte_uses: *const ByteUse,
    /// The number of elements of `contents`.
    pub content_count: u32,
    /// Images and buffers whose contents outlive the frame.
    pub contents: *const ContentState,
}

impl Lowered {
    fn of(current: &Current) -> Lowered {
        let tables = &current.tables;
        Lowered {
            struct_size: 0,
            parity: current.lowering_desc.parity.into(),
            device_queue_count: current.device_queues.len() as u32,
            device_queues: structs::rows(&current.device_queues),
            queue_count: tables.queues.len() as u32,
            queues: structs::rows(&tables.queues),
            memory_count: tables.memory.len() as u32,
            memory: structs::rows(&tables.memory),
            image_count: tables.images.len() as u32,
            images: structs::rows(&tables.images),
            buffer_count: tables.buffers.len() as u32,
            buffers: structs::rows(&tables.buffers),
            view_count: tables.views.len() as u32,
            views: structs::rows(&tables.views),
            family_count: tables.families.len() as u32,
            families: structs::rows(&tables.families),
            format_count: tables.formats.len() as u32,
            formats: structs::rows(&tables.formats),
            access_count: tables.accesses.len() as u32,
            accesses: structs::rows(&tables.accesses),
            attachment_count: tables.attachments.len() as u32,
            attachments: structs::rows(&tables.attachments),
            reference_count: tables.references.len() as u32,
            references: structs::rows(&tables.references),
            index_count: tables.indices.len() as u32,
            indices: structs::rows(&tables.indices),
            subpass_dependency_count: tables.subpass_dependencies.len() as u32,
            subpass_dependencies: structs::rows(&tables.subpass_dependencies),
            subpass_count: tables.subpasses.len() as u32,
            subpasses: structs::rows(&tables.subpasses),
            instance_count: tables.instances.len() as u32,
            instances: structs::rows(&tables.instances),
            clear_count: tables.clears.len() as u32,
            clears: structs::rows(&tables.clears),
            store_count: tables.stores.len() as u32,
            stores: structs::rows(&tables.stores),
            pass_count: tables.passes.len() as u32,
            passes: structs::rows(&tables.passes),
            image_barrier_count: tables.image_barriers.len() as u32,
            image_barriers: structs::rows(&tables.image_barriers),
            buffer_barrier_count: tables.buffer_barriers.len() as u32,
            buffer_barriers: structs::rows(&tables.buffer_barriers),
            memory_barrier_count: tables.memory_barriers.len() as u32,
            memory_barriers: structs::rows(&tables.memory_barriers),
            command_buffer_count: tables.command_buffers.len() as u32,
            command_buffers: structs::rows(&tables.command_buffers),
            wait_count: tables.waits.len() as u32,
            waits: structs::rows(&tables.waits),
            signal_count: tables.signals.len() as u32,
            signals: structs::rows(&tables.signals),
            batch_count: tables.batches.len() as u32,
            batches: structs::rows(&tables.batches),
            submit_count: tables.submits.len() as u32,
            submits: structs::rows(&tables.submits),
            byte_use_count: tables.after.bytes.len() as u32,
            byte_uses: structs::rows(&tables.after.bytes),
            content_count: tables.after.contents.len() as u32,
            contents: structs::rows(&tables.after.contents),
        }
    }
}

/// The last lowered tables, and the inputs that they were lowered from.
#[derive(Default)]
pub struct Lowering {
    lowerer: Lowerer,
    current: Option<Current>,
    /// The inputs of an earlier lowering, whose memory is reused for the next one.
    spare: Option<LoweringDesc>,
}

struct Current {
    plan: Arc<Checked<Plan>>,
    lowering_desc: LoweringDesc,
    device_queues: Vec<FamilyQueue>,
    tables: Checked<Tables>,
}

impl Lowering {
    /// Lowers a plan with these inputs (queues, parity, earlier uses), and replaces the tables.
    fn lower(&mut self, plan: Arc<Checked<Plan>>, lowering_desc: LoweringDesc) -> Result<(), Fault> {
        let mut device_queues = Vec::new();
        if let Some(before) = self.current.take() {
            self.spare = Some(before.lowering_desc);
            self.lowerer.recycle(before.tables);
            device_queues = before.device_queues;
        }
        let tables = self.lowerer.lower(&plan, &lowering_desc)?;
        device_queues.clear();
        device_queues.extend(lowering_desc.queues.iter());
        self.current = Some(Current {
            plan,
            lowering_desc,
            device_queues,
            tables,
        });
        Ok(())
    }

    fn current(&self) -> Result<&Current, Fault> {
        let current = self.current.as_ref();
        current.ok_or_else(|| {
            Fault::argument("the lowerer has no tables: nothing was lowered, or the last call failed")
        })
    }

    /// Returns the inputs for the frame after the one that was lowered last, built in the memory of `spare`.
    fn next(
        &self,
        plan: &Arc<Checked<Plan>>,
        queues: &Queues,
        spare: Option<LoweringDesc>,
    ) -> Result<LoweringDesc, Fault> {
        let Current {
            plan: own,
            lowering_desc,
            tables,
            ..
        } = self.current()?;
        if !Arc::ptr_eq(own, plan) && own != plan {
            return Err(Fault::argument(
                "the previous tables belong to another plan: set previous to null for the first frame of a plan",
            ));
        }
        let declared = lowering_desc.queues.declared().iter();
        if !queues.equals(declared.map(|index| lowering_desc.queues.queue(*index))) {
            return Err(Fault::argument(
                "the previous tables were lowered for other queues: set previous to null for the first frame on these queues",
            ));
        }
        let mut next = spare.unwrap_or_else(|| LoweringDesc::first(lowering_desc.queues.clone()));
        if next.queues != lowering_desc.queues {
            next.queues = lowering_desc.queues.clone();
        }
        next.parity = lowering_desc.parity.next();
        next.before.bytes.clone_from(&tables.after.bytes);
        next.before.contents.clone_from(&tables.after.contents);
        Ok(next)
    }
}

/// Returns the inputs for the first frame of a plan whose frame declares this number of queues, built in the memory of `spare`.
fn first(queues: &Queues, declared: usize, spare: Option<LoweringDesc>) -> LoweringDesc {
    let Some(mut first) = spare.filter(|spare| {
        let known = spare.queues.declared().iter();
        known.len() == declared && queues.equals(known.map(|index| spare.queues.queue(*index)))
    }) else {
        return LoweringDesc::first(queues.on_device(declared));
    };
    first.parity = Default::default();
    first.before.bytes.clear();
    first.before.contents.clear();
    first
}

/// Creates a lowerer. It owns the tables of the plan that it lowered last.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thCreateLowerer")]
pub unsafe extern "C" fn create_lowerer(lowerer: *mut LowererHandle, error: ErrorHandle) -> Status {
    run("thCreateLowerer", error, || {
        // SAFETY: null or writable.
        unsafe { begin(lowerer, "lowerer") }?;
        let handle = LowererHandle::create(LowererObject::default())?;
        // SAFETY: not null; the caller lets it be written.
        unsafe { put(lowerer, handle, "lowerer") }
    })
}

/// Lowers a plan into tables: for the first frame, or for the one after the tables of `previous`. After a few frames the tables repeat: they are the
/// same for all odd frames, and for all even frames.
///
/// Fails with `TH_STATUS_ERROR_CANNOT_LOWER` if the frame cannot run on these queues. The lowerer then has no tables; after other errors it still has
/// those of the previous frame.
///
/// Thread safety: a lowerer, also as `previous`, may be used by one call at a time.
#[unsafe(export_name = "thLower")]
pub unsafe extern "C" fn lower(
    lowerer: LowererHandle,
    desc: *const LowerDesc,
    lowered: *mut Lowered,
    error: ErrorHandle,
) -> Status {
    run("thLower", error, || {
        // SAFETY: null, or the caller's structure.
        unsafe { check_output(lowered) }?;
        let own = lowerer.get("lowerer")?;
        // SAFETY: the caller's structure.
        let desc = unsafe { read(desc) }?;
        let plan = desc.plan.get("ThLowerDesc.plan")?.plan.clone();
        // SAFETY: the caller's array.
        let queues = unsafe { Queues::new(desc.queues, desc.queue_count) };
        let queues = queues.map_err(|fault| fault.within("ThLowerDesc"))?;
        let mut lowering = own.lowering.lock("lowerer")?;
        let spare = lowering.spare.take();
        let lowering_desc = if desc.previous.number() == 0 {
            first(&queues, plan.frame.queues().len(), spare)
        } else if desc.previous == lowerer {
            lowering.next(&plan, &queues, spare)?
        } else {
            let previous = desc.previous.get("ThLowerDesc.previous")?;
            let previous = previous.lowering.lock("ThLowerDesc.previous")?;
            previous.next(&plan, &queues, spare)?
        };
        lowering.lower(plan, lowering_desc)?;
        let current = lowering.current()?;
        let value = Lowered::of(current);
        // SAFETY: null, or the caller's structure.
        unsafe { write(lowered, value) }
    })
}

/// Returns the tables that a lowerer lowered last.
///
/// Thread safety: a lowerer may be used by one call at a time.
#[unsafe(export_name = "thGetLowered")]
pub unsafe extern "C" fn get_lowered(
    lowerer: LowererHandle,
    lowered: *mut Lowered,
    error: ErrorHandle,
) -> Status {
    run("thGetLowered", error, || {
        let object = lowerer.get("lowerer")?;
        let lowering = object.lowering.lock("lowerer")?;
        let current = lowering.current()?;
        let value = Lowered::of(current);
        // SAFETY: null, or the caller's structure.
        unsafe { write(lowered, value) }
    })
}

/// Checks the tables that a lowerer lowered last against the rules of the specification, independently of how they were created.
///
/// Fails with `TH_STATUS_ERROR_CHECK_FAILED` if they break a rule; the message names the rule.
///
/// Thread safety: a lowerer may be used by one call at a time.
#[unsafe(export_name = "thCheckLowered")]
pub extern "C" fn check_lowered(lowerer: LowererHandle, error: ErrorHandle) -> Status {
    run("thCheckLowered", error, || {
        let object = lowerer.get("lowerer")?;
        let lowering = object.lowering.lock("lowerer")?;
        let Current {
            plan,
            lowering_desc,
            tables,
            ..
        } = lowering.current()?;
        let device = DeviceFacts::declared(
            &plan.profile,
            &plan.requirements,
            &plan.frame,
            &lowering_desc.queues,
        );
        match tables
            .violations(&plan.frame, lowering_desc, &device)
            .into_iter()
            .next()
        {
            Some(violation) => Err(violation.into()),
            None => Ok(()),
        }
    })
}

/// Writes the tables that a lowerer lowered last: as text, in the order in which they are executed, or as JSON. Destroy the text with
/// `thDestroyText`.
///
/// Thread safety: a lowerer may be used by one call at a time.
#[unsafe(export_name = "thCreateLoweredText")]
pub unsafe extern "C" fn create_lowered_text(
    lowerer: LowererHandle,
    format: ReportFormatValue,
    text: *mut TextHandle,
    error: ErrorHandle,
) -> Status {
    run("thCreateLoweredText", error, || {
        let object = lowerer.get("lowerer")?;
        let format = ReportFormat::from_number(format, "format")?;
        let lowering = object.lowering.lock("lowerer")?;
        let Current {
            plan,
            lowering_desc,
            tables,
            ..
        } = lowering.current()?;
        let written = || {
            Ok(match format {
                ReportFormat::Text => tables.text(&plan.frame),
                ReportFormat::Json => tables.to_json(&plan.frame, lowering_desc),
            })
        };
        // SAFETY: null or writable.
        unsafe { put_text(text, written) }
    })
}

/// Destroys a lowerer and its tables. A null handle is ignored.
///
/// Thread safety: no other thread may use the handle during the call.
#[unsafe(export_name = "thDestroyLowerer")]
pub extern "C" fn destroy_lowerer(lowerer: LowererHandle) -> Status {
    run("thDestroyLowerer", std::ptr::null_mut(), || lowerer.destroy())
}
