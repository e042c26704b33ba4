//! Queries of the selected frame: its plan, queues, render targets of pipelines, and the objects of accesses.

use ash::vk;
use tileheap::frame::AccessKind;
use tileheap::frame::tables::{HistoryVersion, PassKind};
use tileheap::lower::PipelineTarget;
use tileheap::runtime::access::BoundObject;
use tileheap::runtime::{BoundAccess as Access, BoundFrame};

use crate::boundary::run;
use crate::describe::nth;
use crate::device::DeviceQueue;
use crate::frame_object::{FrameState, Phase};
use crate::handles::Handle;
use crate::opaque::*;
use crate::plan::PlanObject;
use crate::status::{Fault, Status};
use crate::strings::counted;
use crate::structs::{self, begin, put, sized, write};

sized! { Output: PassTarget to color_inputs; BoundAccess to address; }

/// Creation parameters for the pipelines of a subpass. Pipelines survive a resize: another description with the same formats has compatible
/// targets.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct PassTarget {
    /// `sizeof(ThPassTarget)`.
    pub struct_size: u32,
    /// `VK_TRUE` for dynamic rendering: pipelines must chain `VkPipelineRenderingCreateInfo`, with a null render pass.
    pub dynamic: vk::Bool32,
    /// The render pass, which is valid as long as the device object; null for dynamic rendering.
    pub render_pass: vk::RenderPass,
    /// The index of the subpass in the render pass.
    pub subpass: u32,
    /// Samples of every attachment; 1 without attachments.
    pub samples: vk::SampleCountFlags,
    /// The view mask of multiview; 0 without multiview.
    pub view_mask: u32,
    /// The number of layers rendered to; 1 with multiview.
    pub layers: u32,
    /// The extent of the described render area.
    pub extent: vk::Extent2D,
    /// The depth and stencil aspects that the subpass uses: pipelines must not test or write others.
    pub depth_aspects: vk::ImageAspectFlags,
    /// The format of the depth aspect, or `VK_FORMAT_UNDEFINED`.
    pub depth_format: vk::Format,
    /// The format of the stencil aspect, or `VK_FORMAT_UNDEFINED`.
    pub stencil_format: vk::Format,
    /// The number of elements of each of `colorFormats`, `colorLocations` and `colorInputs`.
    pub color_format_count: u32,
    /// Formats of the color attachments.
    pub color_formats: *const vk::Format,
    /// Per color attachment, the fragment output location that writes it (`VkRenderingAttachmentLocationInfo`); null unless the subpass uses local
    /// read.
    pub color_locations: *const u32,
    /// Per color attachment, its input attachment index (`VkRenderingInputAttachmentIndexInfo`); set the depth and stencil indices to
    /// `VK_ATTACHMENT_UNUSED`. Null unless the subpass uses local read.
    pub color_inputs: *const u32,
}

/// The object that an access of a pass uses, with the parameters for a descriptor, a copy or a clear.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct BoundAccess {
    /// `sizeof(ThBoundAccess)`.
    pub struct_size: u32,
    /// The kind of access.
    pub kind: AccessKind,
    /// The index of the described resource: of a separate level, that of the image (`ThResourceInfo::level_of`).
    pub resource: u32,
    /// The current or the previous version of a history resource.
    pub version: HistoryVersion,
    /// The index of the subpass that makes the access.
    pub subpass: u32,
    /// The layout of an image during the pass. For depth and stencil in separate layouts, the depth layout.
    pub layout: vk::ImageLayout,
    /// The layout of the stencil aspect during the pass, equal to `layout` unless depth and stencil have separate layouts;
    /// `VK_IMAGE_LAYOUT_UNDEFINED` if the part has no stencil.
    pub stencil_layout: vk::ImageLayout,
    /// The part of an image that is accessed. Slices of 3D images count as layers.
    pub range: vk::ImageSubresourceRange,
    /// The image; null for buffers, and for an external image that is not imported.
    pub image: vk::Image,
    /// A view of `range` for descriptors; null for attachments, copies and buffers. If the part has depth and stencil, the view is of depth; for a
    /// view of stencil, describe an access of `VK_IMAGE_ASPECT_STENCIL_BIT`.
    pub view: vk::ImageView,
    /// The buffer; null for images, and for an external buffer that is not imported.
    pub buffer: vk::Buffer,
    /// The offset of the resource's first byte in the buffer.
    pub offset: vk::DeviceSize,
    /// The size of the resource in the buffer, in bytes.
    pub size: vk::DeviceSize,
    /// The device address of the resource's first byte; 0 unless the frame accesses the resource by its address.
    pub address: vk::DeviceAddress,
}

/// Creates the plan of the selected frame, for reports. Destroy it with `thDestroyPlan`.
///
/// Fails with `TH_STATUS_ERROR_WRONG_STATE` if no frame was selected.
///
/// Thread safety: may be called by several threads at once, except during `thSelectFrame`, `thBeginFrame`,
/// `thImportResources`, `thSetRenderArea`, `thSubmitFrame`, `thSubmitFrameWith`, `thDiscardFrame` and `thForgetImportedView` for the same frame.
#[unsafe(export_name = "thCreateSelectedPlan")]
pub unsafe extern "C" fn create_selected_plan(
    frame: DynamicFrameHandle,
    plan: *mut PlanHandle,
    error: ErrorHandle,
) -> Status {
    run("thCreateSelectedPlan", error, || {
        // SAFETY: null or writable.
        unsafe { begin(plan, "plan") }?;
        let object = frame.get("frame")?;
        let found = object.shared()?.bound()?.plan().clone();
        let handle = PlanHandle::create(PlanObject::new(found))?;
        // SAFETY: not null; the caller lets it be written.
        unsafe { put(plan, handle, "plan") }
    })
}

/// Returns the device queue that runs a queue of the selected frame. Create command pools for its family.
///
/// Fails with `TH_STATUS_ERROR_WRONG_STATE` if no frame was selected.
///
/// Thread safety: may be called by several threads at once, except during `thSelectFrame`, `thBeginFrame`,
/// `thImportResources`, `thSetRenderArea`, `thSubmitFrame`, `thSubmitFrameWith`, `thDiscardFrame` and `thForgetImportedView` for the same frame.
#[unsafe(export_name = "thGetSelectedQueue")]
pub unsafe extern "C" fn get_selected_queue(
    frame: DynamicFrameHandle,
    queue: u32,
    device_queue: *mut DeviceQueue,
    error: ErrorHandle,
) -> Status {
    run("thGetSelectedQueue", error, || {
        let object = frame.get("frame")?;
        let state = object.shared()?;
        let bound = state.bound()?;
        let id = nth(bound.plan().input.frame().queue_ids(), queue, "queue")?;
        let found = bound.queue(id);
        let value = DeviceQueue {
            queue: found.handle,
            family: found.family,
            capabilities: found.capabilities,
        };
        // SAFETY: null or writable.
        unsafe { put(device_queue, value, "deviceQueue") }
    })
}

/// Returns the creation parameters for the pipelines of a subpass of a render pass: subpass 0 if the pass has only one. Arrays are valid until
/// the next `thSelectFrame`, or until the frame is destroyed.
///
/// Fails with `TH_STATUS_ERROR_WRONG_STATE` if no frame was selected, and with `TH_STATUS_ERROR_INVALID_ARGUMENT` if the pass or
/// subpass does not exist, or the pass is not a render pass.
///
/// Thread safety: may be called by several threads at once, except during `thSelectFrame`, `thBeginFrame`,
/// `thImportResources`, `thSetRenderArea`, `thSubmitFrame`, `thSubmitFrameWith`, `thDiscardFrame` and `thForgetImportedView` for the same frame.
#[unsafe(export_name = "thGetPassTarget")]
pub unsafe extern "C" fn get_pass_target(
    frame: DynamicFrameHandle,
    pass: u32,
    subpass: u32,
    target: *mut PassTarget,
    error: ErrorHandle,
) -> Status {
    run("thGetPassTarget", error, || {
        let object = frame.get("frame")?;
        let state = object.shared()?;
        let found = target_of(state.bound()?, pass, subpass)?;
        let local_read = found.local_read.as_ref();
        let value = PassTarget {
            struct_size: 0,
            dynamic: found.dynamic.into(),
            render_pass: found.render_pass,
            subpass: found.subpass,
            samples: found.samples,
            view_mask: found.view_mask,
            layers: found.layers,
            extent: found.extent,
            depth_aspects: found.depth_aspects,
            depth_format: found.depth_format,
            stencil_format: found.stencil_format,
            color_format_count: found.color_formats.len() as u32,
            color_formats: structs::rows(&found.color_formats),
            color_locations: local_read.map_or(std::ptr::null(), |local| structs::rows(&local.locations)),
            color_inputs: local_read.map_or(std::ptr::null(), |local| structs::rows(&local.inputs)),
        };
        // SAFETY: null, or the caller's structure.
        unsafe { write(target, value) }
    })
}

/// The target of a subpass of a render pass.
pub(crate) fn target_of(bound: &BoundFrame, pass: u32, subpass: u32) -> Result<&PipelineTarget, Fault> {
    let described = bound.plan().input.frame();
    let id = nth(described.pass_ids(), pass, "pass")?;
    bound.targets().get(id, subpass).ok_or_else(|| {
        let declared = described.pass(id);
        Fault::argument(match declared.kind {
            PassKind::Render => format!("pass `{}` has no subpass {subpass}", declared.name),
            _ => format!("pass `{}` is not a render pass", declared.name),
        })
    })
}

/// Returns the object that an access of a pass uses in the selected frame; `access` is its index among the accesses that the pass describes. Imported
/// objects are null until the frame has begun and they are imported. The bound objects do not change as long as
/// `ThSelectedFrame::bound` and `ThSelectedFrame::parity` are the same.
///
/// Fails with `TH_STATUS_ERROR_WRONG_STATE` if no frame is selected or being recorded.
///
/// Thread safety: may be called by several threads at once, except during `thSelectFrame`, `thBeginFrame`,
/// `thImportResources`, `thSetRenderArea`, `thSubmitFrame`, `thSubmitFrameWith`, `thDiscardFrame` and `thForgetImportedView` for the same frame.
#[unsafe(export_name = "thGetBoundAccess")]
pub unsafe extern "C" fn get_bound_access(
    frame: DynamicFrameHandle,
    pass: u32,
    access: u32,
    bound: *mut BoundAccess,
    error: ErrorHandle,
) -> Status {
    run("thGetBoundAccess", error, || {
        let object = frame.get("frame")?;
        let state = object.shared()?;
        let value = row(&access_of(&state, pass, access)?);
        // SAFETY: null, or the caller's structure.
        unsafe { write(bound, value) }
    })
}

fn access_of(state: &FrameState, pass: u32, access: u32) -> Result<Access, Fault> {
    let bound = state.bound()?;
    let described = bound.plan().input.frame();
    let id = nth(described.pass_ids(), pass, "pass")?;
    let declared = described.pass(id);
    let (count, name) = (declared.accesses.len(), &declared.name);
    if access as usize >= count {
        return Err(Fault::argument(format!(
            "access {access} is out of range: pass `{name}` has {}",
            counted(count, "access")
        )));
    }
    match state.phase() {
        Phase::Recording(_) => Ok(state.recording()?.access(id, access as usize)),
        Phase::Selected => Ok(bound.access(id, access as usize, bound.parity())),
        Phase::None | Phase::Idle => Err(Fault::state("no frame is selected: call thSelectFrame first")),
    }
}

fn row(access: &Access) -> BoundAccess {
    let mut row = BoundAccess {
        struct_size: 0,
        kind: access.kind,
        resource: access.resource.index() as u32,
        version: access.version,
        subpass: access.subpass,
        layout: access.layout,
        stencil_layout: access.stencil_layout,
        range: vk::ImageSubresourceRange {
            aspect_mask: access.range.aspects,
            base_mip_level: access.range.levels.first,
            level_count: access.range.levels.len() as u32,
            base_array_layer: access.range.layers.first,
            layer_count: access.range.layers.len() as u32,
        },
        image: vk::Image::null(),
        view: access.view,
        buffer: vk::Buffer::null(),
        offset: 0,
        size: 0,
        address: 0,
    };
    match access.object {
        BoundObject::Image(image) => row.image = image,
        BoundObject::Buffer(buffer) => {
            (row.buffer, row.offset) = (buffer.handle, buffer.offset);
            (row.size, row.address) = (buffer.size, buffer.address);
        }
    }
    row
}
