//! Frames: creation and queries.

use ash::vk;
use tileheap::execute::ExecutedFrame;
use tileheap::frame;
use tileheap::frame::tables::{PassKind, ResourceKind};

use crate::boundary::run;
use crate::describe;
use crate::enums::{FromNumber, NameKind, PassType, Persistence, ResourceType};
use crate::frame_desc::FrameDesc;
use crate::handles::{Handle, object};
use crate::opaque::{ErrorHandle, FrameHandle, FrameT, TextHandle};
use crate::origins::LazyOrigins;
use crate::status::{Fault, Status};
use crate::strings::{StringView, counted, needed_text, view};
use crate::structs::{begin, need, put, sized, write};
use crate::text::put_text;
use crate::vulkan::NameKindValue;

sized! { Output: FrameInfo to reserved; ResourceInfo to level; PassInfo to reserved; }

object!(FrameT, FrameObject: Frame);

/// A frame; the strings that C receives point into it.
pub struct FrameObject {
    pub(crate) frame: frame::Frame,
    /// The frame, and the described frame that it comes from.
    pub(crate) executed: ExecutedFrame,
    /// The mapping back to the described frame.
    pub(crate) origins: LazyOrigins,
}

impl FrameObject {
    pub(crate) fn new(frame: impl Into<ExecutedFrame>) -> FrameObject {
        let executed = frame.into();
        FrameObject {
            frame: executed.frame().clone(),
            executed,
            origins: LazyOrigins::new(),
        }
    }
}

/// The name and base extent of a frame, and the sizes of its tables.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct FrameInfo {
    /// `sizeof(ThFrameInfo)`.
    pub struct_size: u32,
    /// The number of resources.
    pub resource_count: u32,
    /// The name of the frame.
    pub name: StringView,
    /// The extent that the scales of images are fractions of, in texels.
    pub base_extent: vk::Extent2D,
    /// The number of passes.
    pub pass_count: u32,
    /// The number of accesses.
    pub access_count: u32,
    /// The number of command buffers.
    pub command_buffer_count: u32,
    /// The number of batches.
    pub batch_count: u32,
    /// The number of submits.
    pub submit_count: u32,
    /// The number of queues.
    pub queue_count: u32,
    /// The number of semaphores.
    pub semaphore_count: u32,
    /// Zero.
    pub reserved: u32,
}

/// A resource of a validated frame, with the usage that its accesses need.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ResourceInfo {
    /// `sizeof(ThResourceInfo)`.
    pub struct_size: u32,
    /// Image or buffer.
    pub resource_type: ResourceType,
    /// The name of the resource.
    pub name: StringView,
    /// The time for which the contents of the resource are needed; `TH_PERSISTENCE_EXTERNAL` also for swapchain images and for buffers that are read
    /// back.
    pub persistence: Persistence,
    /// The first pass that uses the resource.
    pub first_pass: u32,
    /// One past the last pass that uses the resource; `firstPass` if none does.
    pub end_pass: u32,
    /// The format of an image.
    pub format: vk::Format,
    /// The type of an image.
    pub image_type: vk::ImageType,
    /// The size of an image in texels.
    pub extent: vk::Extent3D,
    /// Mip levels of an image.
    pub mip_levels: u32,
    /// Array layers of an image.
    pub array_layers: u32,
    /// Samples per texel of an image.
    pub samples: vk::SampleCountFlags,
    /// The usage of an image.
    pub image_usage: vk::ImageUsageFlags,
    /// The usage of a buffer.
    pub buffer_usage: vk::BufferUsageFlags,
    /// Zero.
    pub reserved: u32,
    /// The size of a buffer in bytes.
    pub size: u64,
    /// The index of the image of which this image is a separate level (`TH_RESOURCE_FLAG_SEPARATE_LEVELS`); `TH_NONE` for all other resources, including
    /// level 0, which keeps the index of the image.
    pub level_of: u32,
    /// The level of that image, at least 1; 0 for all other resources.
    pub level: u32,
}

/// A pass of a validated frame.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct PassInfo {
    /// `sizeof(ThPassInfo)`.
    pub struct_size: u32,
    /// The kind of commands.
    pub pass_type: PassType,
    /// The name of the pass.
    pub name: StringView,
    /// The index of the pass's command buffer.
    pub command_buffer: u32,
    /// The index of the pass's queue.
    pub queue: u32,
    /// The first access of the pass, a row of `ThLowered::accesses`.
    pub first_access: u32,
    /// One past the last access of the pass.
    pub end_access: u32,
    /// The area that a render pass renders to.
    pub area: vk::Rect2D,
    /// The number of layers that a render pass renders to.
    pub layers: u32,
    /// The view mask of multiview; 0 without multiview.
    pub view_mask: u32,
    /// The number of subpasses of a render pass; 1 for other passes.
    pub subpass_count: u32,
    /// Zero.
    pub reserved: u32,
}

/// Creates a frame from a description, which is validated and copied.
///
/// Fails with `TH_STATUS_ERROR_INVALID_FRAME` if the description breaks a rule; the message names the pass and the resource.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thCreateFrame")]
pub unsafe extern "C" fn create_frame(
    desc: *const FrameDesc,
    frame: *mut FrameHandle,
    error: ErrorHandle,
) -> Status {
    run("thCreateFrame", error, || {
        // SAFETY: null or writable.
        unsafe { begin(frame, "frame") }?;
        // SAFETY: the caller's description.
        let described = unsafe { describe::frame(desc) }?;
        let handle = FrameHandle::create(FrameObject::new(&described))?;
        // SAFETY: not null; the caller lets it be written.
        unsafe { put(frame, handle, "frame") }
    })
}

/// Creates a frame from JSON: a document of the format `tileheap-frame`, as `thCreateFrameText` and `tileheap capture` write it. `baseExtent`
/// replaces the document's base extent unless it is null. The command `tileheap` also reads plain descriptions without `format`; this function does
/// not.
///
/// Fails with `TH_STATUS_ERROR_INVALID_DOCUMENT` if the text is not such a document; the message names the line and the field.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thCreateFrameFromJson")]
pub unsafe extern "C" fn create_frame_from_json(
    json: StringView,
    base_extent: *const vk::Extent2D,
    frame: *mut FrameHandle,
    error: ErrorHandle,
) -> Status {
    run("thCreateFrameFromJson", error, || {
        // SAFETY: null or writable.
        unsafe { begin(frame, "frame") }?;
        // SAFETY: the caller's text.
        let text = unsafe { needed_text(json, "json") }?;
        let mut read = frame::Frame::from_json(text)?;
        if !base_extent.is_null() {
            let mut builder = read.to_builder();
            // SAFETY: not null, so it is the caller's extent.
            builder.set_base_extent(unsafe { base_extent.read_unaligned() });
            read = builder.build()?;
        }
        let handle = FrameHandle::create(FrameObject::new(&read))?;
        // SAFETY: not null; the caller lets it be written.
        unsafe { put(frame, handle, "frame") }
    })
}

/// Writes a frame as JSON; destroy the text with `thDestroyText`. `thCreateFrameFromJson` and the command `tileheap` read it.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thCreateFrameText")]
pub unsafe extern "C" fn create_frame_text(
    frame: FrameHandle,
    json: *mut TextHandle,
    error: ErrorHandle,
) -> Status {
    run("thCreateFrameText", error, || {
        let object = frame.get("frame")?;
        // SAFETY: null or writable.
        unsafe { put_text(json, || Ok(object.frame.to_json())) }
    })
}

/// Returns the name and base extent of a frame, and the sizes of its tables. The name is valid until the frame is destroyed.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thGetFrameInfo")]
pub unsafe extern "C" fn get_frame_info(
    frame: FrameHandle,
    info: *mut FrameInfo,
    error: ErrorHandle,
) -> Status {
    run("thGetFrameInfo", error, || {
        let object = frame.get("frame")?;
        let frame = &object.frame;
        let value = FrameInfo {
            struct_size: 0,
            resource_count: frame.resources().len() as u32,
            name: view(frame.name()),
            base_extent: frame.base_extent(),
            pass_count: frame.passes().len() as u32,
            access_count: frame.accesses().len() as u32,
            command_buffer_count: frame.command_buffers().len() as u32,
            batch_count: frame.batches().len() as u32,
            submit_count: frame.submits().len() as u32,
            queue_count: frame.queues().len() as u32,
            semaphore_count: frame.semaphores().len() as u32,
            reserved: 0,
        };
        // SAFETY: null, or the caller's structure.
        unsafe { write(info, value) }
    })
}

/// Returns a resource of a frame. Its name is valid until the frame is destroyed.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thGetFrameResource")]
pub unsafe extern "C" fn get_frame_resource(
    frame: FrameHandle,
    resource: u32,
    info: *mut ResourceInfo,
    error: ErrorHandle,
) -> Status {
    run("thGetFrameResource", error, || {
        let object = frame.get("frame")?;
        let value = resource_info(&object, resource)?;
        // SAFETY: null, or the caller's structure.
        unsafe { write(info, value) }
    })
}

fn resource_info(object: &FrameObject, index: u32) -> Result<ResourceInfo, Fault> {
    let frame = &object.frame;
    let id = describe::at(&frame.resource_ids().collect::<Vec<_>>(), index, "resource")?;
    let resource = frame.resource(id);
    let lifetime = frame.lifetime_of(id);
    let mut info = ResourceInfo {
        struct_size: 0,
        resource_type: ResourceType::Buffer,
        name: view(&resource.name),
        persistence: match resource.persistence {
            frame::Persistence::Transient => Persistence::Transient,
            frame::Persistence::History => Persistence::History,
            frame::Persistence::External(_) => Persistence::External,
        },
        first_pass: lifetime.first.0,
        end_pass: lifetime.end.0,
        format: resource.format(),
        image_type: vk::ImageType::default(),
        extent: vk::Extent3D::default(),
        mip_levels: 0,
        array_layers: 0,
        samples: vk::SampleCountFlags::empty(),
        image_usage: vk::ImageUsageFlags::empty(),
        buffer_usage: vk::BufferUsageFlags::empty(),
        reserved: 0,
        size: 0,
        level_of: resource.level_of.map_or(u32::MAX, |of| of.image.index() as u32),
        level: resource.level_of.map_or(0, |of| of.level),
    };
    match resource.kind {
        ResourceKind::Image { desc, extent, usage } => {
            info.resource_type = ResourceType::Image;
            (info.image_type, info.extent, info.image_usage) = (desc.image_type, extent, usage);
            (info.mip_levels, info.array_layers) = (desc.mip_levels, desc.array_layers);
            info.samples = desc.samples;
        }
        ResourceKind::Buffer { desc, usage } => (info.size, info.buffer_usage) = (desc.size.0, usage),
    }
    Ok(info)
}

/// Returns a pass of a frame. Its name is valid until the frame is destroyed.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thGetFramePass")]
pub unsafe extern "C" fn get_frame_pass(
    frame: FrameHandle,
    pass: u32,
    info: *mut PassInfo,
    error: ErrorHandle,
) -> Status {
    run("thGetFramePass", error, || {
        let object = frame.get("frame")?;
        let frame = &object.frame;
        let id = describe::at(&frame.pass_ids().collect::<Vec<_>>(), pass, "pass")?;
        let pass = frame.pass(id);
        let value = PassInfo {
            struct_size: 0,
            pass_type: match pass.kind {
                PassKind::Render => PassType::Render,
                PassKind::Compute => PassType::Compute,
                PassKind::Transfer => PassType::Transfer,
            },
            name: view(&pass.name),
            command_buffer: pass.command_buffer.index() as u32,
            queue: frame.queue_of(id).index() as u32,
            first_access: pass.accesses.first,
            end_access: pass.accesses.end,
            area: pass.area,
            layers: pass.layers,
            view_mask: pass.view_mask,
            subpass_count: pass.subpasses,
            reserved: 0,
        };
        // SAFETY: null, or the caller's structure.
        unsafe { write(info, value) }
    })
}

/// The names of a frame's objects of one kind, by index.
fn names(frame: &frame::Frame, kind: NameKind) -> Vec<&str> {
    match kind {
        NameKind::Resource => frame.resources().iter().map(|one| &*one.name).collect(),
        NameKind::Pass => frame.passes().iter().map(|one| &*one.name).collect(),
        NameKind::CommandBuffer => frame.command_buffers().iter().map(|one| &*one.name).collect(),
        NameKind::Semaphore => frame.semaphores().iter().map(|one| &*one.name).collect(),
        NameKind::Queue => frame.queues().iter().map(|one| &*one.name).collect(),
    }
}

/// The name of a kind of object, for messages.
fn noun(kind: NameKind) -> &'static str {
    match kind {
        NameKind::Resource => "resource",
        NameKind::Pass => "pass",
        NameKind::CommandBuffer => "command buffer",
        NameKind::Semaphore => "semaphore",
        NameKind::Queue => "queue",
    }
}

/// Returns the name of an object of a frame, for debug names and labels. It is valid until the frame is destroyed.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thGetFrameName")]
pub unsafe extern "C" fn get_frame_name(
    frame: FrameHandle,
    kind: NameKindValue,
    index: u32,
    name: *mut StringView,
    error: ErrorHandle,
) -> Status {
    run("thGetFrameName", error, || {
        let object = frame.get("frame")?;
        let kind = NameKind::from_number(kind, "kind")?;
        let names = names(&object.frame, kind);
        let known = names.get(index as usize);
        let known = known.ok_or_else(|| {
            let what = noun(kind);
            Fault::argument(format!(
                "{what} {index} is out of range: the frame has {}",
                counted(names.len(), what)
            ))
        })?;
        // SAFETY: null or writable.
        unsafe { put(name, view(known), "name") }
    })
}

/// Finds the index of the object with a given name.
///
/// Fails with `TH_STATUS_ERROR_INVALID_ARGUMENT` if no object of this kind has the name.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thFindFrameName")]
pub unsafe extern "C" fn find_frame_name(
    frame: FrameHandle,
    kind: NameKindValue,
    name: StringView,
    index: *mut u32,
    error: ErrorHandle,
) -> Status {
    run("thFindFrameName", error, || {
        need(index, "index")?;
        let object = frame.get("frame")?;
        let kind = NameKind::from_number(kind, "kind")?;
        // SAFETY: the caller's text.
        let name = unsafe { needed_text(name, "name") }?;
        let found = names(&object.frame, kind).iter().position(|known| *known == name);
        let frame = object.frame.name();
        let what = noun(kind);
        let found =
            found.ok_or_else(|| Fault::argument(format!("frame `{frame}` has no {what} `{name}`")))?;
        // SAFETY: null or writable.
        unsafe { put(index, found as u32, "index") }
    })
}

/// Destroys a frame. Objects that were created from it keep what they need. A null handle is ignored.
///
/// Thread safety: no other thread may use the handle during the call.
#[unsafe(export_name = "thDestroyFrame")]
pub extern "C" fn destroy_frame(frame: FrameHandle) -> Status {
    run("thDestroyFrame", std::ptr::null_mut(), || frame.destroy())
}
