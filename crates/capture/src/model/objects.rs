//! Images, buffers, views and descriptor sets.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use ash::vk;
use ash::vk::Handle;
use tileheap::format;
use tileheap::frame::{BufferDesc, ImageDesc, SubresourceRange};
use tileheap::units::{Bytes, Run};
use tileheap_layer::descriptors::{Source, Written};
use tileheap_layer::sharded::Sharded;

use crate::document::Placement;

/// What images and buffers have in common.
#[derive(Debug, Default)]
pub(crate) struct Common {
    /// The order of creation, from 1: stable names where the program gave none.
    pub(crate) number: u64,
    name: Mutex<String>,
    placement: Mutex<Option<Placement>>,
    /// Memory of others, or sparse.
    pub(crate) shared: AtomicBool,
}

/// A small number for the handle of an object of which nothing else is known: the same one for the same handle.
pub(crate) fn number_of(handle: u64) -> u32 {
    static KNOWN: LazyLock<Mutex<BTreeMap<u64, u32>>> = LazyLock::new(Mutex::default);
    let mut known = lock(&KNOWN);
    let next = known.len() as u32;
    *known.entry(handle).or_insert(next)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Common {
    pub(crate) fn new(number: u64) -> Common {
        Common {
            number,
            ..Common::default()
        }
    }

    pub(crate) fn set_name(&self, name: &str) {
        name.clone_into(&mut lock(&self.name));
    }

    pub(crate) fn name(&self) -> String {
        lock(&self.name).clone()
    }

    pub(crate) fn bind(&self, memory: vk::DeviceMemory, offset: u64, size: u64) {
        let object = number_of(memory.as_raw());
        *lock(&self.placement) = Some(Placement { object, offset, size });
    }

    pub(crate) fn placement(&self) -> Option<Placement> {
        *lock(&self.placement)
    }

    pub(crate) fn is_shared(&self) -> bool {
        self.shared.load(Ordering::Relaxed)
    }
}

/// An image.
#[derive(Debug)]
pub(crate) struct Image {
    pub(crate) common: Common,
    pub(crate) desc: ImageDesc,
    pub(crate) extent: vk::Extent3D,
    pub(crate) linear: bool,
    pub(crate) swapchain: bool,
}

impl Image {
    /// An image as it is created; what a frame cannot describe of it makes it shared with the outside.
    pub(crate) fn new(number: u64, info: &vk::ImageCreateInfo<'_>) -> Image {
        use vk::ImageCreateFlags as F;
        let known = F::MUTABLE_FORMAT
            | F::CUBE_COMPATIBLE
            | F::TYPE_2D_ARRAY_COMPATIBLE
            | F::BLOCK_TEXEL_VIEW_COMPATIBLE
            | F::EXTENDED_USAGE
            | F::ALIAS;
        let common = Common::new(number);
        let sparse = F::SPARSE_BINDING | F::SPARSE_RESIDENCY | F::SPARSE_ALIASED | F::PROTECTED;
        common
            .shared
            .store(info.flags.intersects(sparse), Ordering::Relaxed);
        Image {
            common,
            desc: ImageDesc {
                image_type: info.image_type,
                mip_levels: info.mip_levels.max(1),
                array_layers: info.array_layers.max(1),
                samples: info.samples,
                usage: info.usage,
                flags: info.flags & known,
                ..ImageDesc::new(info.format, info.extent)
            },
            extent: info.extent,
            linear: info.tiling == vk::ImageTiling::LINEAR,
            swapchain: false,
        }
    }

    /// An image of a swapchain.
    pub(crate) fn of_swapchain(number: u64, desc: ImageDesc) -> Image {
        Image {
            common: Common::new(number),
            desc,
            extent: desc.extent.resolve(vk::Extent2D::default()),
            linear: false,
            swapchain: true,
        }
    }

    fn is_3d(&self) -> bool {
        self.desc.image_type == vk::ImageType::TYPE_3D
    }

    /// A range with nothing left open; of 3D images all slices.
    pub(crate) fn range(&self, range: vk::ImageSubresourceRange) -> SubresourceRange {
        let run = |first: u32, count: u32, all: u32| {
            let first = first.min(all - 1);
            Run::new(first, first.saturating_add(count).clamp(first + 1, all))
        };
        let levels = run(range.base_mip_level, range.level_count, self.desc.mip_levels);
        let layers = if self.is_3d() {
            Run::new(0, (self.extent.depth >> levels.first).max(1))
        } else {
            run(range.base_array_layer, range.layer_count, self.desc.array_layers)
        };
        let all = format::aspects(self.desc.format);
        let aspects = range.aspect_mask & all;
        SubresourceRange {
            aspects: if aspects.is_empty() { all } else { aspects },
            levels,
            layers,
        }
    }

    /// The layers of a copy.
    pub(crate) fn layers(&self, layers: vk::ImageSubresourceLayers) -> SubresourceRange {
        self.range(vk::ImageSubresourceRange {
            aspect_mask: layers.aspect_mask,
            base_mip_level: layers.mip_level,
            level_count: 1,
            base_array_layer: layers.base_array_layer,
            layer_count: layers.layer_count,
        })
    }

    /// Whether texels are all of a level.
    pub(crate) fn is_whole(&self, level: u32, offset: vk::Offset3D, extent: vk::Extent3D) -> bool {
        let side = |texels: u32| (texels >> level.min(31)).max(1);
        offset == vk::Offset3D::default()
            && extent.width >= side(self.extent.width)
            && extent.height >= side(self.extent.height)
            && extent.depth >= side(self.extent.depth)
    }
}

/// A buffer.
#[derive(Debug)]
pub(crate) struct Buffer {
    pub(crate) common: Common,
    pub(crate) desc: BufferDesc,
}

impl Buffer {
    pub(crate) fn new(number: u64, info: &vk::BufferCreateInfo<'_>) -> Buffer {
        let common = Common::new(number);
        common.shared.store(!info.flags.is_empty(), Ordering::Relaxed);
        Buffer {
            common,
            desc: BufferDesc {
                size: Bytes(info.size),
                usage: info.usage,
            },
        }
    }
}

/// An image or a buffer.
#[derive(Clone, Debug)]
pub(crate) enum Resource {
    Image(Arc<Image>),
    Buffer(Arc<Buffer>),
}

impl Resource {
    /// What tells resources apart while they are held.
    pub(crate) fn key(&self) -> usize {
        match self {
            Resource::Image(image) => Arc::as_ptr(image) as usize,
            Resource::Buffer(buffer) => Arc::as_ptr(buffer) as usize,
        }
    }

    /// Whether they are created alike.
    pub(crate) fn is_like(&self, other: &Resource) -> bool {
        match (self, other) {
            (Resource::Image(a), Resource::Image(b)) => a.desc == b.desc && !a.swapchain && !b.swapchain,
            (Resource::Buffer(a), Resource::Buffer(b)) => a.desc == b.desc,
            _ => false,
        }
    }

    /// In bytes, without padding.
    pub(crate) fn size(&self) -> u64 {
        let Resource::Image(image) = self else {
            let Resource::Buffer(buffer) = self else { return 0 };
            return buffer.desc.size.0;
        };
        let Some(block) = format::texel_block(image.desc.format) else {
            return 0;
        };
        let side =
            |texels: u32, level: u32, block: u32| u64::from((texels >> level.min(31)).max(1).div_ceil(block));
        let of_level = |level| {
            let vk::Extent3D { width, height, depth } = image.extent;
            side(width, level, block.width) * side(height, level, block.height) * side(depth, level, 1)
        };
        let blocks: u64 = (0..image.desc.mip_levels).map(of_level).sum();
        let samples = u64::from(image.desc.samples.as_raw());
        blocks * u64::from(image.desc.array_layers) * samples * u64::from(block.bytes)
    }

    pub(crate) fn common(&self) -> &Common {
        match self {
            Resource::Image(image) => &image.common,
            Resource::Buffer(buffer) => &buffer.common,
        }
    }
}

/// A view of an image.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) image: Arc<Image>,
    pub(crate) range: SubresourceRange,
    pub(crate) format: vk::Format,
}

impl View {
    pub(crate) fn new(image: Arc<Image>, info: &vk::ImageViewCreateInfo<'_>) -> View {
        let mut range = image.range(info.subresource_range);
        if image.is_3d() && info.view_type != vk::ImageViewType::TYPE_3D {
            let all = range.layers.end;
            let first = info.subresource_range.base_array_layer.min(all - 1);
            let end = first.saturating_add(info.subresource_range.layer_count);
            range.layers = Run::new(first, end.clamp(first + 1, all));
        }
        View {
            image,
            range,
            format: info.format,
        }
    }
}

/// What a descriptor points to.
#[derive(Clone, Debug)]
pub(crate) enum Descriptor {
    Image(Arc<View>, vk::ImageLayout),
    Buffer(Arc<Buffer>),
}

/// A descriptor set, or descriptors pushed to a command buffer.
#[derive(Debug, Default)]
pub(crate) struct Set {
    pub(crate) pool: vk::DescriptorPool,
    contents: Mutex<BTreeMap<(u32, u32), Descriptor>>,
}

/// The objects of a device that descriptors and commands refer to, by handle.
#[derive(Default)]
pub(crate) struct Objects {
    pub(crate) images: Sharded<Arc<Image>>,
    pub(crate) buffers: Sharded<Arc<Buffer>>,
    pub(crate) views: Sharded<Arc<View>>,
    pub(crate) buffer_views: Sharded<Arc<Buffer>>,
}

impl Objects {
    pub(crate) fn image(&self, image: vk::Image) -> Option<Arc<Image>> {
        self.images.get(image.as_raw())
    }

    pub(crate) fn buffer(&self, buffer: vk::Buffer) -> Option<Arc<Buffer>> {
        self.buffers.get(buffer.as_raw())
    }

    pub(crate) fn view(&self, view: vk::ImageView) -> Option<Arc<View>> {
        self.views.get(view.as_raw())
    }
}

impl Descriptor {
    pub(crate) fn resource(&self) -> Resource {
        match self {
            Descriptor::Image(view, _) => Resource::Image(view.image.clone()),
            Descriptor::Buffer(buffer) => Resource::Buffer(buffer.clone()),
        }
    }
}

impl Set {
    pub(crate) fn new(pool: vk::DescriptorPool) -> Set {
        Set {
            pool,
            ..Set::default()
        }
    }

    /// The same descriptors, to change some of them.
    pub(crate) fn copied(&self) -> Set {
        Set {
            pool: self.pool,
            contents: Mutex::new(lock(&self.contents).clone()),
        }
    }

    /// Writes a descriptor.
    pub(crate) fn write(&self, objects: &Objects, (binding, element, _, source): Written<'_>) {
        let mut contents = lock(&self.contents);
        match source.and_then(|source| descriptor(objects, source)) {
            Some(found) => _ = contents.insert((binding, element), found),
            None => _ = contents.remove(&(binding, element)),
        }
    }

    /// Copies descriptors of another set, or of this one.
    pub(crate) fn copy(&self, from: &Set, copy: &vk::CopyDescriptorSet<'_>) {
        let moved: Vec<_> = (0..copy.descriptor_count)
            .map(|index| {
                let place = (copy.src_binding, copy.src_array_element + index);
                lock(&from.contents).get(&place).cloned()
            })
            .collect();
        let mut contents = lock(&self.contents);
        for (index, found) in (copy.dst_array_element..).zip(moved) {
            if let Some(found) = found {
                contents.insert((copy.dst_binding, index), found);
            }
        }
    }

    /// The descriptors of a binding.
    pub(crate) fn at(&self, binding: u32) -> Vec<Descriptor> {
        let contents = lock(&self.contents);
        let of_binding = contents.range((binding, 0)..=(binding, u32::MAX));
        of_binding.map(|(_, descriptor)| descriptor.clone()).collect()
    }

    /// All of them.
    pub(crate) fn all(&self) -> Vec<Descriptor> {
        lock(&self.contents).values().cloned().collect()
    }
}

fn descriptor(objects: &Objects, source: Source<'_>) -> Option<Descriptor> {
    match source {
        Source::Image(info) => Some(Descriptor::Image(
            objects.view(info.image_view)?,
            info.image_layout,
        )),
        Source::Buffer(info) => objects.buffer(info.buffer).map(Descriptor::Buffer),
        Source::Texels(view) => objects.buffer_views.get(view.as_raw()).map(Descriptor::Buffer),
    }
}
