//! The application's objects: memory objects, images, buffers, views, framebuffers, render passes.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use ash::vk;
use ash::vk::Handle;
use tileheap_device::format;
use tileheap_device::profile::TileRequirements;
use tileheap_layer::sharded::Sharded;
use tileheap_sync::program::{PassDependency, ResourcePart, SharingMode, Texels, Tiling};
use tileheap_sync::render_pass::AttachmentUse;
use tileheap_units::Run;
use vk::ImageAspectFlags as Aspects;

use super::objects::Object;
use crate::tables::unseen_writes::{SharedUnseenWrites, UnseenWrites};

/// The resources of a device, by handle.
#[derive(Default)]
pub(crate) struct Resources {
    /// Tile memory objects, and their sizes in bytes.
    pub(crate) objects: Sharded<u64>,
    /// Memory objects that are imported or can be exported: other programs may use them.
    pub(crate) external: Sharded<()>,
    pub(crate) images: Sharded<Arc<Resource>>,
    pub(crate) buffers: Sharded<Arc<Resource>>,
    /// Views of the images in `images`.
    pub(crate) image_views: Sharded<Arc<View>>,
    /// Views of the buffers in `buffers`.
    pub(crate) buffer_views: Sharded<Arc<View>>,
    /// Framebuffers with the attachments that the layer knows; the images of imageless framebuffers are given when a
    /// render pass begins.
    pub(crate) framebuffers: Sharded<Arc<Framebuffer>>,
    pub(crate) render_passes: Sharded<Arc<RenderPass>>,
    /// Images that are transient attachments, if the device has an emulated lazy type.
    pub(crate) transient_images: Sharded<()>,
    /// Images with `VK_SHARING_MODE_CONCURRENT`, including those that are not registered.
    pub(crate) concurrent_images: Sharded<()>,
    /// Buffers with `VK_SHARING_MODE_CONCURRENT`, including those that are not registered.
    pub(crate) concurrent_buffers: Sharded<()>,
    /// Swapchains whose images have `VK_SHARING_MODE_CONCURRENT`.
    pub(crate) concurrent_swapchains: Sharded<()>,
    /// The number of images and buffers that were registered.
    resource_count: AtomicU32,
    /// True once a buffer that draws or dispatches may fetch from (vertex, index or indirect) has been tracked; never reset.
    has_fetched: AtomicBool,
    /// True once a dynamic descriptor of a tracked buffer has been written; never reset.
    has_dynamic: AtomicBool,
}

/// An image or a buffer that has the tile usage bit, or any image or buffer if ordinary memory is checked.
#[derive(Debug)]
pub(crate) struct Resource {
    pub(crate) object: Object,
    /// The resource's number on the device, from 1. Handles are reused, numbers are not.
    pub(crate) number: u32,
    /// Tile heap requirements; `None` if size and alignment are 0, or if the resource lacks the tile usage bit.
    pub(crate) needs: Option<TileRequirements>,
    /// Bytes of the heap that the driver uses for the resource.
    pub(crate) driver_size: u64,
    /// True if the driver can bind the resource to the heap's memory.
    pub(crate) fits_driver_memory: bool,
    /// The creation size of a buffer, or the driver's size of an image.
    pub(crate) size: u64,
    /// The mapping of the resource to bytes; for an image with optimal tiling, all of its subresources, where the slices of
    /// a 3D image count as layers.
    pub(crate) tiling: Tiling,
    /// The image's format; `UNDEFINED` for a buffer.
    pub(crate) format: vk::Format,
    /// The image's extent; zero for a buffer.
    pub(crate) extent: vk::Extent3D,
    /// Like [`MemoryBinding::contents`], for resources at the same offset.
    pub(crate) contents: u64,
    /// The kinds of unseen writes that can reach the resource.
    pub(crate) unseen_writes: UnseenWrites,
    /// The kinds of unseen writes that can reach the resource's bytes through other buffers and linear images, including destroyed ones.
    pub(crate) unseen_through_others: SharedUnseenWrites,
    /// True for a buffer of vertices, indices or parameters of indirect commands.
    pub(crate) is_fetched: bool,
    /// True for an image that shaders can read as an input attachment.
    pub(crate) is_input: bool,
    /// The sharing mode: an exclusive resource needs an ownership transfer to keep its contents when another queue family uses it.
    pub(crate) sharing: SharingMode,
    /// The value that [`Resource::is_followed`] returns.
    pub(crate) is_followed: AtomicBool,
    /// The resource's binding to memory, if any.
    pub(crate) place: OnceLock<MemoryBinding>,
}

impl Resource {
    /// The resource's binding, if it is to tile memory.
    pub(crate) fn tile_place(&self) -> Option<&MemoryBinding> {
        self.place.get().filter(|place| place.is_tile)
    }

    /// Returns true if accesses to the resource are logged, because it is bound to memory.
    #[inline]
    pub(crate) fn is_logged(&self) -> bool {
        self.place.get().is_some()
    }

    /// Returns true if the resource is tracked: it is in tile memory, or shares bytes with another resource.
    #[inline]
    pub(crate) fn is_followed(&self) -> bool {
        self.is_followed.load(Ordering::Relaxed)
    }

    /// Returns true if the resource has one mip level, one layer and one slice.
    pub(crate) fn is_single(&self) -> bool {
        self.slices() == 1
    }

    /// The number of slices of an image with one mip level and one layer: 1 for a 2D image and for a buffer; 0 for an image with more levels or
    /// layers.
    fn slices(&self) -> u32 {
        match &self.tiling {
            Tiling::Optimal(all) if (all.levels.end, all.layers.end) != (1, self.extent.depth) => 0,
            _ => self.extent.depth.max(1),
        }
    }

    /// Returns true for a format with depth and stencil, which are separate contents in the same bytes.
    pub(crate) fn has_two_aspects(&self) -> bool {
        has_two_aspects(self.format)
    }

    /// Returns true if a barrier's range covers all of an image with one mip level and one layer.
    ///
    /// For a 3D image, it must include all slices: with maintenance9 a range may name some, which leaves the others unchanged
    /// (VUID-VkImageMemoryBarrier2-maintenance9-10798). Without it, a range of one layer is all slices; such ranges are not tracked.
    pub(crate) fn is_all(&self, range: &vk::ImageSubresourceRange) -> bool {
        let both = vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL;
        let slices = self.slices();
        let names_slices =
            range.base_array_layer == 0 && [vk::REMAINING_ARRAY_LAYERS, slices].contains(&range.layer_count);
        let has_slices = slices == 1 || slices > 1 && names_slices;
        has_slices && (!self.has_two_aspects() || range.aspect_mask.contains(both))
    }
}

/// A view of an image or of a buffer.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) resource: Arc<Resource>,
    /// The subresources of the view's range, or its bytes. As an attachment, a depth/stencil view has both aspects, regardless of its range.
    pub(crate) part: ResourcePart,
}

/// A resource's binding to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MemoryBinding {
    /// The memory object's handle.
    pub(crate) memory: u64,
    /// True if the memory object is tile memory.
    pub(crate) is_tile: bool,
    /// The resource's first byte in the memory object.
    pub(crate) first: u64,
    /// The end of the bytes that the driver uses for the resource.
    pub(crate) end: u64,
    /// Resources with the same number interpret the same bytes in the same way: all buffers, and images that were created with the alias flag and
    /// equal parameters.
    pub(crate) contents: u64,
}

/// A framebuffer, with the views of its attachments.
#[derive(Debug)]
pub(crate) struct Framebuffer {
    /// The views by attachment; `None` for unknown images.
    pub(crate) attachments: Vec<Option<Arc<View>>>,
    pub(crate) imageless: bool,
    pub(crate) extent: vk::Extent2D,
    pub(crate) layers: u32,
    pub(crate) render_pass: u64,
}

/// A render pass object: its attachments, and the operations on them.
#[derive(Debug)]
pub(crate) struct RenderPass {
    /// The framebuffer's attachments; then the stencil aspects of those whose stencil has separate layouts.
    pub(crate) attachments: Vec<Attachment>,
    /// Mask of the views that the subpasses render; 0 without multiview.
    pub(crate) view_mask: u32,
    /// `VkTileMemorySizeInfoQCOM::size`; 0 without the structure.
    pub(crate) tile_size: u64,
    /// Bytes per pixel of each subpass's attachments.
    pub(crate) subpass_bytes: Vec<u64>,
    /// The uses of [`RenderPass::attachments`] in each subpass.
    pub(crate) uses: Vec<Vec<AttachmentUse>>,
    /// The dependencies between different subpasses, and with commands outside the render pass.
    pub(crate) dependencies: Vec<PassDependency>,
    pub(crate) is_tile_shading: bool,
    /// The pass that resumes this one after an interruption.
    pub(crate) resuming_pass: Option<vk::RenderPass>,
}

/// The operations on an attachment of a render pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attachment {
    pub(crate) load: vk::AttachmentLoadOp,
    pub(crate) store: vk::AttachmentStoreOp,
    /// The stencil operations; equal to `load` and `store` if the format has one aspect.
    pub(crate) stencil_load: vk::AttachmentLoadOp,
    pub(crate) stencil_store: vk::AttachmentStoreOp,
    pub(crate) initial_layout: vk::ImageLayout,
    pub(crate) final_layout: vk::ImageLayout,
    /// The index of the attachment's view in the framebuffer; 0 in dynamic rendering.
    pub(crate) view: usize,
    /// The aspects of the format, without stencil if it has separate layouts; in dynamic rendering only the attached aspects.
    pub(crate) aspects: Aspects,
    pub(crate) is_resolve: bool,
    /// True if the attachment has depth or stencil.
    pub(crate) is_depth: bool,
    /// True if neither draws nor resolves can write to the attachment.
    pub(crate) is_read_only: bool,
}

/// The mapping of an image to bytes.
pub(crate) fn image_tiling(info: &vk::ImageCreateInfo<'_>) -> Tiling {
    if info.tiling == vk::ImageTiling::LINEAR {
        return Tiling::Linear;
    }
    let is_3d = info.image_type == vk::ImageType::TYPE_3D;
    let layers = if is_3d {
        info.extent.depth
    } else {
        info.array_layers
    };
    Tiling::Optimal(Texels {
        aspects: aspects(info.format),
        levels: Run::new(0, info.mip_levels.max(1)),
        layers: Run::new(0, layers.max(1)),
        area: None,
    })
}

/// The aspects of a format; for a multi-planar format, color and every plane.
fn aspects(format: vk::Format) -> Aspects {
    let planes = Aspects::COLOR | Aspects::PLANE_0 | Aspects::PLANE_1;
    let name = format!("{format:?}");
    if name.contains("_3PLANE_") {
        planes | Aspects::PLANE_2
    } else if name.contains("_2PLANE_") {
        planes
    } else {
        format::aspects(format)
    }
}

/// Returns true if a format has depth and stencil.
pub(crate) fn has_two_aspects(format: vk::Format) -> bool {
    use vk::Format as F;
    matches!(
        format,
        F::D16_UNORM_S8_UINT | F::D24_UNORM_S8_UINT | F::D32_SFLOAT_S8_UINT
    )
}

/// Returns true if attachments in a layout are read-only.
pub(crate) fn is_read_only_layout(layout: vk::ImageLayout) -> bool {
    use vk::ImageLayout as L;
    matches!(
        layout,
        L::DEPTH_STENCIL_READ_ONLY_OPTIMAL
            | L::DEPTH_READ_ONLY_OPTIMAL
            | L::STENCIL_READ_ONLY_OPTIMAL
            | L::READ_ONLY_OPTIMAL
            | L::SHADER_READ_ONLY_OPTIMAL
    )
}

/// Returns true if a format only has a stencil aspect.
pub(crate) fn is_stencil_only(format: vk::Format) -> bool {
    format == vk::Format::S8_UINT
}

impl Resources {
    /// The size of a tile memory object; `None` for other memory.
    pub(crate) fn object_size(&self, memory: vk::DeviceMemory) -> Option<u64> {
        self.objects.get(memory.as_raw())
    }

    /// Tracks a resource from now on.
    pub(crate) fn follow(&self, resource: &Resource) {
        resource.is_followed.store(true, Ordering::Relaxed);
        if resource.is_fetched {
            self.has_fetched.store(true, Ordering::Relaxed);
        }
    }

    /// Returns true if a buffer that draws or dispatches may fetch from was ever tracked; otherwise the bound buffers do not matter.
    #[inline]
    pub(crate) fn has_fetched(&self) -> bool {
        self.has_fetched.load(Ordering::Relaxed)
    }

    /// Records that a dynamic descriptor of a tracked buffer is written.
    pub(crate) fn write_dynamic(&self) {
        self.has_dynamic.store(true, Ordering::Relaxed);
    }

    /// Returns true if a dynamic descriptor of a tracked buffer was ever written; otherwise dynamic offsets do not matter.
    #[inline]
    pub(crate) fn has_dynamic(&self) -> bool {
        self.has_dynamic.load(Ordering::Relaxed)
    }

    /// The number of a new resource.
    pub(crate) fn next_number(&self) -> u32 {
        self.resource_count.fetch_add(1, Ordering::Relaxed) + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(info: &vk::ImageCreateInfo<'_>) -> Resource {
        Resource {
            object: Object::of(vk::Image::null()),
            number: 1,
            needs: None,
            driver_size: 0,
            fits_driver_memory: false,
            size: 0,
            tiling: image_tiling(info),
            format: info.format,
            extent: info.extent,
            contents: 0,
            unseen_writes: UnseenWrites::NONE,
            unseen_through_others: Default::default(),
            is_fetched: false,
            is_input: false,
            sharing: SharingMode::Concurrent,
            is_followed: false.into(),
            place: OnceLock::new(),
        }
    }

    fn with_slices(depth: u32) -> vk::ImageCreateInfo<'static> {
        vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_3D)
            .format(vk::Format::R8G8B8A8_UNORM)
            .extent(vk::Extent3D {
                width: 8,
                height: 8,
                depth,
            })
            .mip_levels(1)
            .array_layers(1)
    }

    #[test]
    fn a_range_of_some_slices_or_of_one_aspect_is_not_all_of_an_image() {
        const REMAINING: u32 = vk::REMAINING_ARRAY_LAYERS;
        let range = |base, count, aspects| {
            let range = vk::ImageSubresourceRange::default().aspect_mask(aspects);
            range.base_array_layer(base).layer_count(count)
        };
        let (color, depth) = (vk::ImageAspectFlags::COLOR, vk::ImageAspectFlags::DEPTH);
        for (base, count, is_all) in [
            (0, REMAINING, true),
            (0, 4, true),
            (0, 1, false),
            (1, 3, false),
            (1, REMAINING, false),
        ] {
            assert_eq!(
                image(&with_slices(4)).is_all(&range(base, count, color)),
                is_all,
                "{base}, {count}"
            );
        }
        let single = with_slices(1).image_type(vk::ImageType::TYPE_2D);
        assert!(image(&single).is_all(&range(0, 1, color)));
        for several in [
            single.mip_levels(2),
            single.array_layers(2),
            with_slices(4).mip_levels(2),
        ] {
            assert!(!image(&several).is_all(&range(0, REMAINING, color)));
        }
        let both = single.format(vk::Format::D24_UNORM_S8_UINT);
        assert!(!image(&both).is_all(&range(0, 1, depth)));
        assert!(image(&both).is_all(&range(0, 1, depth | vk::ImageAspectFlags::STENCIL)));
    }
}
