//! The objects that a frame's caller provides: external images with views, buffers and semaphores.

use ash::vk;
use tileheap::frame::tables::{Access, ResourceKind};
use tileheap::frame::{Frame, Persistence, ResourceId, SubresourceRange};
use tileheap::runtime::import::{ImportedBuffer, ImportedImage, ImportedSemaphore, ImportedView};
use tileheap::runtime::{BoundBuffer, Capabilities, Imports};
use tileheap_testkit::gpu::Gpu;
use tileheap_testkit::objects::{Objects, command_buffers, record};

/// Maximum size in bytes of an external buffer or image.
const MAX_BYTES: u64 = 1 << 27;

/// The usages of Vulkan 1.0; the test enables no extensions that define others.
const IMAGE_USAGES: vk::ImageUsageFlags = vk::ImageUsageFlags::from_raw(0xff);

/// Flags of extensions.
const FLAGS_OF_EXTENSIONS: vk::ImageCreateFlags = vk::ImageCreateFlags::from_raw(
    vk::ImageCreateFlags::MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED_EXT.as_raw()
        | vk::ImageCreateFlags::SUBSAMPLED_EXT.as_raw(),
);

/// The usages of Vulkan 1.0, and addresses.
const BUFFER_USAGES: vk::BufferUsageFlags =
    vk::BufferUsageFlags::from_raw(0x1ff | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS.as_raw());

/// Everything that a frame imports.
pub(super) struct Caller<'a> {
    gpu: &'a Gpu,
    pub(super) objects: Objects,
    images: Vec<ImportedImage>,
    views: Vec<ImportedView>,
    buffers: Vec<ImportedBuffer>,
    semaphores: Vec<ImportedSemaphore>,
    /// Transitions to the layouts in which images enter.
    entries: Vec<vk::ImageMemoryBarrier<'static>>,
    /// Semaphores that the caller signals before a frame, and waits for after it.
    signals: Vec<vk::Semaphore>,
    waits: Vec<vk::Semaphore>,
    commands: vk::CommandBuffer,
    /// True if images enter in a layout that only new ones have.
    pub(super) only_once: bool,
}

impl Drop for Caller<'_> {
    fn drop(&mut self) {
        let device = self.gpu.device();
        // SAFETY: no other thread uses the queues.
        if unsafe { device.device_wait_idle() }.is_ok() {
            self.objects.destroy(device);
        }
    }
}

impl<'a> Caller<'a> {
    /// Creates what a frame imports.
    ///
    /// # Errors
    /// The reason why the caller cannot create an object that fits its description.
    pub(super) fn new(gpu: &'a Gpu, frame: &Frame) -> Result<Caller<'a>, String> {
        let objects = Objects::default();
        let pool = vk::CommandPoolCreateInfo::default()
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER)
            .queue_family_index(gpu.context.queues()[0].family);
        let pool = objects.create(gpu.device(), &pool);
        let commands = command_buffers(gpu.device(), pool, vk::CommandBufferLevel::PRIMARY, 1)[0];
        let mut caller = Caller {
            gpu,
            objects,
            images: Vec::new(),
            views: Vec::new(),
            buffers: Vec::new(),
            semaphores: Vec::new(),
            entries: Vec::new(),
            signals: Vec::new(),
            waits: Vec::new(),
            commands,
            only_once: false,
        };
        for id in frame.resource_ids() {
            let resource = frame.resource(id);
            let Persistence::External(_) = resource.persistence else {
                continue;
            };
            if frame.accesses_to(id).next().is_none() {
                continue;
            }
            match resource.kind {
                ResourceKind::Image { .. } => caller.add_image(frame, id)?,
                ResourceKind::Buffer { desc, usage } => caller.add_buffer(id, desc.size.0, usage)?,
            }
        }
        caller.add_semaphores(frame);
        Ok(caller)
    }

    pub(super) fn imports(&self) -> Imports<'_> {
        Imports {
            images: &self.images,
            views: &self.views,
            buffers: &self.buffers,
            semaphores: &self.semaphores,
        }
    }

    /// Returns true if the frame imports images or buffers.
    pub(super) fn imports_resources(&self) -> bool {
        !self.images.is_empty() || !self.buffers.is_empty()
    }

    /// The views that the frame imports.
    pub(super) fn image_views(&self) -> Vec<vk::ImageView> {
        let images = self.images.iter().map(|image| image.view);
        images.chain(self.views.iter().map(|one| one.view)).collect()
    }

    fn add_image(&mut self, frame: &Frame, id: ResourceId) -> Result<(), String> {
        let resource = frame.resource(id);
        let Persistence::External(external) = resource.persistence else {
            unreachable!()
        };
        let ResourceKind::Image { desc, extent, usage } = resource.kind else {
            unreachable!()
        };
        let device = self.gpu.device();
        if usage.is_empty() || !IMAGE_USAGES.contains(usage) {
            return Err(format!("the test creates no images with usage {usage:?}"));
        }
        if desc.flags.intersects(FLAGS_OF_EXTENSIONS) {
            return Err(format!("the test creates no images with flags {:?}", desc.flags));
        }
        // Only linear images can be initialized by the host before their first use.
        let preinitialized = external.entry.layout == vk::ImageLayout::PREINITIALIZED;
        self.only_once |= preinitialized;
        let (layout, tiling) = match preinitialized {
            true => (external.entry.layout, vk::ImageTiling::LINEAR),
            false => (vk::ImageLayout::UNDEFINED, vk::ImageTiling::OPTIMAL),
        };
        let info = vk::ImageCreateInfo::default()
            .flags(desc.flags)
            .image_type(desc.image_type)
            .format(desc.format)
            .extent(extent)
            .mip_levels(desc.mip_levels)
            .array_layers(desc.array_layers)
            .samples(desc.samples)
            .tiling(tiling)
            .usage(usage)
            .initial_layout(layout);
        let supported = self.gpu.runtime().supports_image(&resource.name, &info);
        if !supported.map_err(|error| error.to_string())? {
            return Err(format!("the device supports no image {info:?}"));
        }
        let image = self.objects.create(device, &info);
        // SAFETY: just created.
        let needs = unsafe { device.get_image_memory_requirements(image) };
        let memory = self.memory(needs, false)?;
        // SAFETY: both just created, and made for each other.
        unsafe { device.bind_image_memory(image, memory, 0) }.map_err(|error| error.to_string())?;
        if ![vk::ImageLayout::UNDEFINED, vk::ImageLayout::PREINITIALIZED].contains(&external.entry.layout) {
            self.entries.push(
                vk::ImageMemoryBarrier::default()
                    .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE)
                    .new_layout(external.entry.layout)
                    .image(image)
                    .subresource_range(vk::ImageSubresourceRange {
                        aspect_mask: resource.aspects(),
                        level_count: vk::REMAINING_MIP_LEVELS,
                        layer_count: vk::REMAINING_ARRAY_LAYERS,
                        ..Default::default()
                    }),
            );
        }
        let view = self.add_views(frame, id, image)?;
        self.images.push(ImportedImage {
            resource: id,
            image,
            view,
        });
        Ok(())
    }

    /// Creates a view for each part that passes use; returns the first of them, if any.
    fn add_views(
        &mut self,
        frame: &Frame,
        id: ResourceId,
        image: vk::Image,
    ) -> Result<vk::ImageView, String> {
        let mut first = vk::ImageView::null();
        let mut seen: Vec<&Access> = Vec::new();
        let mut accesses: Vec<&Access> = frame
            .accesses_to(id)
            .filter(|access| !access.kind.is_transfer())
            .collect();
        // If a part is attached, its view is one for attachments.
        accesses.sort_by_key(|access| !is_attached(access));
        for access in accesses {
            let same = |other: &&&Access| {
                (other.range.levels, other.range.layers) == (access.range.levels, access.range.layers)
            };
            if let Some(other) = seen.iter().find(same) {
                if is_attached(access) && other.view != access.view {
                    return Err("the caller has one view of a part, and passes attach two".to_owned());
                }
                continue;
            }
            seen.push(access);
            let view = self.view(frame, access, image)?;
            self.views.push(ImportedView {
                resource: id,
                range: SubresourceRange {
                    aspects: frame.resource(id).aspects(),
                    ..access.range
                },
                view,
            });
            if first == vk::ImageView::null() {
                first = view;
            }
        }
        Ok(first)
    }

    fn view(&self, frame: &Frame, access: &Access, image: vk::Image) -> Result<vk::ImageView, String> {
        use vk::ImageViewType as V;
        let resource = frame.resource(access.resource);
        let ResourceKind::Image { desc, usage, .. } = resource.kind else {
            unreachable!()
        };
        let format = access.view.format.unwrap_or(desc.format);
        let depth = !resource.aspects().contains(vk::ImageAspectFlags::COLOR);
        let same = |other: &&Access| {
            (other.range.levels, other.range.layers) == (access.range.levels, access.range.layers)
        };
        let shared = frame.accesses_to(access.resource).filter(same);
        let wanted = match format == desc.format {
            true => usage,
            false => shared.fold(vk::ImageUsageFlags::empty(), |usage, other| {
                usage | other.kind.image_usage(depth)
            }),
        };
        if format != desc.format {
            self.check_features(format, wanted)?;
        }
        let solid = resource.is_3d() && !is_attached(access);
        let several = access.range.layers.len() > 1;
        let view_type = match (desc.image_type, several) {
            _ if solid => V::TYPE_3D,
            (vk::ImageType::TYPE_1D, false) => V::TYPE_1D,
            (vk::ImageType::TYPE_1D, true) => V::TYPE_1D_ARRAY,
            (_, false) => V::TYPE_2D,
            (_, true) => V::TYPE_2D_ARRAY,
        };
        let (first_layer, layers) = if solid {
            (0, 1)
        } else {
            (access.range.layers.first, access.range.layers.len() as u32)
        };
        let mut usage = vk::ImageViewUsageCreateInfo::default().usage(wanted);
        let info = vk::ImageViewCreateInfo::default()
            .image(image)
            .view_type(access.view.view_type.unwrap_or(view_type))
            .format(format)
            .subresource_range(vk::ImageSubresourceRange {
                aspect_mask: resource.aspects(),
                base_mip_level: access.range.levels.first,
                level_count: access.range.levels.len() as u32,
                base_array_layer: first_layer,
                layer_count: layers,
            })
            .push_next(&mut usage);
        let created = self.objects.try_create(self.gpu.device(), &info);
        created.map_err(|error| format!("no view: {error}"))
    }

    fn check_features(&self, format: vk::Format, usage: vk::ImageUsageFlags) -> Result<(), String> {
        use vk::FormatFeatureFlags as Needs;
        use vk::ImageUsageFlags as U;
        let instance = self.gpu.context.instance();
        // SAFETY: the physical device is the instance's.
        let found = unsafe {
            instance.get_physical_device_format_properties(self.gpu.context.physical_device(), format)
        };
        let needs = [
            (U::SAMPLED, Needs::SAMPLED_IMAGE),
            (U::STORAGE, Needs::STORAGE_IMAGE),
            (U::COLOR_ATTACHMENT, Needs::COLOR_ATTACHMENT),
            (U::DEPTH_STENCIL_ATTACHMENT, Needs::DEPTH_STENCIL_ATTACHMENT),
        ];
        let missing = needs.iter().find(|(usage_bit, needed)| {
            usage.contains(*usage_bit) && !found.optimal_tiling_features.contains(*needed)
        });
        missing.map_or(Ok(()), |(usage, _)| {
            Err(format!("no view of {format:?} with usage {usage:?}"))
        })
    }

    fn add_buffer(&mut self, id: ResourceId, size: u64, usage: vk::BufferUsageFlags) -> Result<(), String> {
        let device = self.gpu.device();
        if usage.is_empty() || !BUFFER_USAGES.contains(usage) {
            return Err(format!("the test creates no buffers with usage {usage:?}"));
        }
        if size > MAX_BYTES {
            return Err(format!("the test creates no buffers of {size} B"));
        }
        let info = vk::BufferCreateInfo::default().size(size).usage(usage);
        let handle = self.objects.create(device, &info);
        // Without the feature, memory has no addresses (VUID-VkMemoryAllocateInfo-flags-03331), whatever the usage of its buffers.
        let enabled = self.gpu.runtime().capabilities();
        let by_address = usage.contains(vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS)
            && enabled.contains(Capabilities::BUFFER_DEVICE_ADDRESS);
        // SAFETY: just created.
        let needs = unsafe { device.get_buffer_memory_requirements(handle) };
        let memory = self.memory(needs, by_address)?;
        // SAFETY: both just created, and made for each other.
        unsafe { device.bind_buffer_memory(handle, memory, 0) }.map_err(|error| error.to_string())?;
        self.buffers.push(ImportedBuffer {
            resource: id,
            buffer: BoundBuffer {
                handle,
                offset: 0,
                size,
                address: 0,
            },
        });
        Ok(())
    }

    fn memory(&self, needs: vk::MemoryRequirements, by_address: bool) -> Result<vk::DeviceMemory, String> {
        if needs.size > MAX_BYTES {
            return Err(format!("the test allocates no {} B for one resource", needs.size));
        }
        let ordinary = self.gpu.context.support().profile().ordinary_type_bits();
        let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        let mut info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index((needs.memory_type_bits & ordinary).trailing_zeros());
        if by_address {
            info = info.push_next(&mut flags);
        }
        let memory = self.objects.try_create(self.gpu.device(), &info);
        memory.map_err(|error| format!("no memory: {error}"))
    }

    fn add_semaphores(&mut self, frame: &Frame) {
        let declared = frame.semaphores();
        let mut handles = vec![vk::Semaphore::null(); declared.len()];
        let mut pending = vec![false; declared.len()];
        let batches = frame.batches().iter();
        let ops = batches.flat_map(|batch| {
            let waits = batch.waits.iter().map(|op| (op, true));
            waits.chain(batch.signals.iter().map(|op| (op, false)))
        });
        for (op, is_wait) in ops {
            let index = op.semaphore.index();
            if !declared[index].external {
                continue;
            }
            if handles[index] == vk::Semaphore::null() {
                let info = vk::SemaphoreCreateInfo::default();
                handles[index] = self.objects.create(self.gpu.device(), &info);
                self.semaphores.push(ImportedSemaphore {
                    semaphore: op.semaphore,
                    handle: handles[index],
                    value: 0,
                });
            }
            if !std::mem::replace(&mut pending[index], !is_wait) && is_wait {
                self.signals.push(handles[index]);
            }
        }
        let signaled = handles.into_iter().zip(pending).filter(|(_, pending)| *pending);
        self.waits = signaled.map(|(handle, _)| handle).collect();
    }

    /// Transitions images to their entry layouts, and signals the semaphores that the frame waits for.
    pub(super) fn before(&self) -> ash::prelude::VkResult<()> {
        let device = self.gpu.device();
        let queue = self.gpu.context.queues()[0].handle;
        let (all, none) = (vk::PipelineStageFlags::ALL_COMMANDS, vk::DependencyFlags::empty());
        record(device, self.commands, &Default::default(), || {
            if !self.entries.is_empty() {
                // SAFETY: recording; the images are this test's.
                unsafe {
                    device.cmd_pipeline_barrier(self.commands, all, all, none, &[], &[], &self.entries)
                };
            }
        });
        let commands = [self.commands];
        let submit = vk::SubmitInfo::default()
            .command_buffers(&commands)
            .signal_semaphores(&self.signals);
        // SAFETY: no other thread uses the queue; the semaphores are not signaled.
        unsafe { device.queue_submit(queue, &[submit], vk::Fence::null()) }?;
        // SAFETY: as above.
        unsafe { device.queue_wait_idle(queue) }
    }

    /// Waits for the semaphores that the frame signals.
    pub(super) fn after(&self) -> ash::prelude::VkResult<()> {
        let device = self.gpu.device();
        let queue = self.gpu.context.queues()[0].handle;
        let stages = vec![vk::PipelineStageFlags::ALL_COMMANDS; self.waits.len()];
        let submit = vk::SubmitInfo::default()
            .wait_semaphores(&self.waits)
            .wait_dst_stage_mask(&stages);
        // SAFETY: no other thread uses the queue; the frame has signaled the semaphores.
        unsafe { device.queue_submit(queue, &[submit], vk::Fence::null()) }?;
        // SAFETY: as above.
        unsafe { device.queue_wait_idle(queue) }
    }
}

fn is_attached(access: &Access) -> bool {
    use tileheap::frame::AccessKind as K;
    access.kind.is_attachment() || matches!(access.kind, K::InputAttachment | K::TileAttachment)
}
