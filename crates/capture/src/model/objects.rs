//! Images, buffers, views and descriptor sets.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use ash::vk;
use ash::vk::Handle;
use tileheap::format;
use tileheap::frame::{BufferDesc, ImageDesc, SubresourceRange};
use tileheap::units::{Bytes, Run};
use tileheap_layer::descriptors::{Source, WrittenDescriptor};
use tileheap_layer::set_layouts::{SetLayout, consecutive};
use tileheap_layer::sharded::Sharded;
use tileheap_layer::{array, chained};

use crate::document::MemoryBinding;

/// A memory allocation.
#[derive(Debug, Default)]
pub(crate) struct Allocation {
    /// Position in the order of allocation, which distinguishes allocations that have the same, reused handle.
    pub(crate) number: u32,
    /// True if the host has mapped the allocation.
    pub(crate) mapped: AtomicBool,
}

/// The memory that a resource is bound to.
#[derive(Clone, Debug)]
struct BoundMemory {
    allocation: Arc<Allocation>,
    offset: u64,
    size: u64,
}

/// The common properties of images and buffers.
#[derive(Debug, Default)]
pub(crate) struct CommonProperties {
    /// Position in the order of creation, from 1, which gives unnamed objects stable names.
    pub(crate) number: u64,
    name: Mutex<String>,
    bound: Mutex<Option<BoundMemory>>,
    /// True for external, sparse or protected memory.
    pub(crate) shared: AtomicBool,
    pub(crate) sharing_mode: vk::SharingMode,
}

/// Numbers of objects that are not tracked otherwise, by type and handle.
#[derive(Default)]
struct Numbers {
    known: HashMap<(vk::ObjectType, u64), u32>,
    next: u32,
}

static NUMBERS: LazyLock<Mutex<Numbers>> = LazyLock::new(Mutex::default);

/// Returns the number of a semaphore, fence, event or queue. It stays the same for a handle until an object is created with that handle.
pub(crate) fn number_of<T: Handle>(handle: T) -> u32 {
    let numbers = &mut *lock(&NUMBERS);
    let number = numbers.known.entry((T::TYPE, handle.as_raw()));
    *number.or_insert_with(|| {
        numbers.next += 1;
        numbers.next - 1
    })
}

/// Assigns a number to a new object.
pub(crate) fn new_number_of<T: Handle + Copy>(handle: T) -> u32 {
    lock(&NUMBERS).known.remove(&(T::TYPE, handle.as_raw()));
    number_of(handle)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl CommonProperties {
    pub(crate) fn new(number: u64, sharing_mode: vk::SharingMode) -> CommonProperties {
        CommonProperties {
            number,
            sharing_mode,
            ..CommonProperties::default()
        }
    }

    pub(crate) fn set_name(&self, name: &str) {
        name.clone_into(&mut lock(&self.name));
    }

    pub(crate) fn name(&self) -> String {
        lock(&self.name).clone()
    }

    pub(crate) fn bind(&self, allocation: Arc<Allocation>, offset: u64, size: u64) {
        *lock(&self.bound) = Some(BoundMemory {
            allocation,
            offset,
            size,
        });
    }

    pub(crate) fn placement(&self) -> Option<MemoryBinding> {
        let bound = lock(&self.bound);
        bound.as_ref().map(|bound| MemoryBinding {
            object: bound.allocation.number,
            offset: bound.offset,
            size: bound.size,
        })
    }

    /// Returns true if the host has mapped the memory that the resource is bound to.
    pub(crate) fn is_mapped(&self) -> bool {
        let bound = lock(&self.bound);
        bound
            .as_ref()
            .is_some_and(|bound| bound.allocation.mapped.load(Ordering::Relaxed))
    }

    pub(crate) fn is_shared(&self) -> bool {
        self.shared.load(Ordering::Relaxed)
    }
}

/// An image.
#[derive(Debug)]
pub(crate) struct Image {
    pub(crate) common: CommonProperties,
    pub(crate) desc: ImageDesc,
    pub(crate) extent: vk::Extent3D,
    pub(crate) linear: bool,
    pub(crate) swapchain: bool,
    /// With `VK_IMAGE_CREATE_ALIAS_BIT`, a number that is equal for images with identical create info structures.
    pub(crate) alias_group: Option<u64>,
    /// True if its initial layout is `UNDEFINED`, so that it is created without contents.
    pub(crate) starts_undefined: bool,
}

/// Returns a number shared by images with "identical create info structures" (*Memory Aliasing*); `None` without `VK_IMAGE_CREATE_ALIAS_BIT`.
fn alias_group(info: &vk::ImageCreateInfo<'_>) -> Option<u64> {
    if !info.flags.contains(vk::ImageCreateFlags::ALIAS) {
        return None;
    }
    let mut hasher = DefaultHasher::new();
    (
        info.flags,
        info.image_type,
        info.format,
        info.samples,
        info.tiling,
    )
        .hash(&mut hasher);
    let vk::Extent3D { width, height, depth } = info.extent;
    [width, height, depth, info.mip_levels, info.array_layers].hash(&mut hasher);
    (info.usage, info.sharing_mode, info.initial_layout).hash(&mut hasher);
    if info.sharing_mode == vk::SharingMode::CONCURRENT {
        array!(info.p_queue_family_indices, info.queue_family_index_count).hash(&mut hasher);
    }
    let formats = chained!(info.p_next => vk::ImageFormatListCreateInfo<'_>);
    let formats = formats.map_or(&[][..], |list| {
        array!(list.p_view_formats, list.view_format_count)
    });
    formats.hash(&mut hasher);
    Some(hasher.finish())
}

impl Image {
    /// Describes a newly created image; one with sparse or protected memory counts as shared.
    pub(crate) fn new(number: u64, info: &vk::ImageCreateInfo<'_>) -> Image {
        use vk::ImageCreateFlags as F;
        let known = F::MUTABLE_FORMAT
            | F::CUBE_COMPATIBLE
            | F::TYPE_2D_ARRAY_COMPATIBLE
            | F::BLOCK_TEXEL_VIEW_COMPATIBLE
            | F::EXTENDED_USAGE
            | F::ALIAS;
        let common = CommonProperties::new(number, info.sharing_mode);
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
            alias_group: alias_group(info),
            starts_undefined: info.initial_layout == vk::ImageLayout::UNDEFINED,
        }
    }

    /// Describes an image of a swapchain.
    pub(crate) fn of_swapchain(number: u64, desc: ImageDesc, sharing_mode: vk::SharingMode) -> Image {
        Image {
            common: CommonProperties::new(number, sharing_mode),
            desc,
            extent: desc.extent.resolve(vk::Extent2D::default()),
            linear: false,
            swapchain: true,
            alias_group: None,
            starts_undefined: true,
        }
    }

    pub(crate) fn is_3d(&self) -> bool {
        self.desc.image_type == vk::ImageType::TYPE_3D
    }

    /// Returns a range with explicit aspects, levels and layers, clamped to the image; for 3D images, with all slices.
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

    /// Converts the layers of a copy to a range.
    pub(crate) fn layers(&self, layers: vk::ImageSubresourceLayers) -> SubresourceRange {
        self.range(vk::ImageSubresourceRange {
            aspect_mask: layers.aspect_mask,
            base_mip_level: layers.mip_level,
            level_count: 1,
            base_array_layer: layers.base_array_layer,
            layer_count: layers.layer_count,
        })
    }

    /// Converts the layers of a copy to a range; for 3D images, to `depth` slices from `first` on.
    pub(crate) fn copied(
        &self,
        layers: vk::ImageSubresourceLayers,
        first: i32,
        depth: u32,
    ) -> SubresourceRange {
        let mut range = self.layers(layers);
        if self.is_3d() {
            let first = u32::try_from(first).unwrap_or(0).min(range.layers.end - 1);
            let end = first.saturating_add(depth).clamp(first + 1, range.layers.end);
            range.layers = Run::new(first, end);
        }
        range
    }

    /// Returns the width and height of a level.
    pub(crate) fn level(&self, level: u32) -> [u32; 2] {
        [self.extent.width, self.extent.height].map(|texels| (texels >> level.min(31)).max(1))
    }

    /// Returns the columns and rows of an area, clamped to the level; `None` if it covers the whole level.
    pub(crate) fn area(&self, level: u32, at: [i32; 2], size: [u32; 2]) -> Option<[[u32; 2]; 2]> {
        let whole = self.level(level);
        let run = |axis: usize| {
            let end = (i64::from(at[axis]) + i64::from(size[axis])).clamp(0, whole[axis].into());
            [i64::from(at[axis]).clamp(0, end) as u32, end as u32]
        };
        let area = [run(0), run(1)];
        (area != [[0, whole[0]], [0, whole[1]]]).then_some(area)
    }

    /// Returns true if these texels cover the whole level.
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
    pub(crate) common: CommonProperties,
    pub(crate) desc: BufferDesc,
}

impl Buffer {
    pub(crate) fn new(number: u64, info: &vk::BufferCreateInfo<'_>) -> Buffer {
        let common = CommonProperties::new(number, info.sharing_mode);
        common.shared.store(!info.flags.is_empty(), Ordering::Relaxed);
        Buffer {
            common,
            desc: BufferDesc {
                usage: info.usage,
                ..BufferDesc::new(Bytes(info.size))
            },
        }
    }
}

/// A range of bytes in a buffer.
#[derive(Clone, Debug)]
pub(crate) struct BufferRange {
    pub(crate) buffer: Arc<Buffer>,
    pub(crate) first: u64,
    pub(crate) end: u64,
}

impl BufferRange {
    /// Creates a range of `size` bytes from `offset` on; a size past the end, such as `VK_WHOLE_SIZE`, means up to the end of the buffer.
    pub(crate) fn new(buffer: Arc<Buffer>, offset: u64, size: u64) -> BufferRange {
        let all = buffer.desc.size.0;
        let first = offset.min(all);
        BufferRange {
            buffer,
            first,
            end: first.saturating_add(size).min(all),
        }
    }

    /// Returns the bytes of the range within the buffer, `[first, end)`.
    pub(crate) fn bytes(&self) -> [u64; 2] {
        [self.first, self.end]
    }

    /// Returns the bytes of a part of the range.
    pub(crate) fn part(&self, offset: u64, size: u64) -> [u64; 2] {
        let first = self.first.saturating_add(offset).min(self.end);
        [first, first.saturating_add(size).min(self.end)]
    }
}

/// An image or a buffer.
#[derive(Clone, Debug)]
pub(crate) enum Resource {
    Image(Arc<Image>),
    Buffer(Arc<Buffer>),
}

impl Resource {
    /// Returns a key that identifies the resource while it is held.
    pub(crate) fn key(&self) -> usize {
        match self {
            Resource::Image(image) => Arc::as_ptr(image) as usize,
            Resource::Buffer(buffer) => Arc::as_ptr(buffer) as usize,
        }
    }

    /// Returns true if two resources have equal descriptions and neither is a swapchain image.
    pub(crate) fn is_like(&self, other: &Resource) -> bool {
        match (self, other) {
            (Resource::Image(a), Resource::Image(b)) => a.desc == b.desc && !a.swapchain && !b.swapchain,
            (Resource::Buffer(a), Resource::Buffer(b)) => a.desc == b.desc,
            _ => false,
        }
    }

    /// Returns the size in bytes, without padding.
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

    pub(crate) fn common(&self) -> &CommonProperties {
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
    /// True if the view was created with `VK_IMAGE_VIEW_CREATE_FRAGMENT_DENSITY_MAP_DYNAMIC_BIT_EXT`, so that the device, not the host, reads the
    /// densities.
    pub(crate) is_dynamic: bool,
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
        if let Some(sliced) = chained!(info.p_next => vk::ImageViewSlicedCreateInfoEXT<'_>) {
            let all = range.layers.end;
            let first = sliced.slice_offset.min(all - 1);
            let end = first.saturating_add(sliced.slice_count);
            range.layers = Run::new(first, end.clamp(first + 1, all));
        }
        View {
            image,
            range,
            format: info.format,
            is_dynamic: info
                .flags
                .contains(vk::ImageViewCreateFlags::FRAGMENT_DENSITY_MAP_DYNAMIC_EXT),
        }
    }
}

/// The target of a descriptor.
#[derive(Clone, Debug)]
pub(crate) enum Descriptor {
    Image(Arc<View>, vk::ImageLayout),
    Buffer(BufferRange),
    /// A dynamic uniform or storage buffer: the offset to which the dynamic offset is added, and the size.
    Dynamic(Arc<Buffer>, u64, u64),
}

/// A descriptor set, or descriptors pushed to a command buffer.
#[derive(Debug, Default)]
pub(crate) struct Set {
    pub(crate) pool: vk::DescriptorPool,
    pub(crate) layout: Option<Arc<SetLayout>>,
    contents: Mutex<BTreeMap<(u32, u32), Descriptor>>,
}

/// The objects of a device that descriptors and commands refer to, by handle.
#[derive(Default)]
pub(crate) struct Objects {
    pub(crate) images: Sharded<Arc<Image>>,
    pub(crate) buffers: Sharded<Arc<Buffer>>,
    pub(crate) views: Sharded<Arc<View>>,
    pub(crate) buffer_views: Sharded<BufferRange>,
    pub(crate) allocations: Sharded<Arc<Allocation>>,
}

impl Objects {
    pub(crate) fn image(&self, image: vk::Image) -> Option<Arc<Image>> {
        self.images.get(image.as_raw())
    }

    pub(crate) fn buffer(&self, buffer: vk::Buffer) -> Option<Arc<Buffer>> {
        self.buffers.get(buffer.as_raw())
    }

    /// Returns a range of bytes of a buffer.
    pub(crate) fn buffer_range(&self, buffer: vk::Buffer, offset: u64, size: u64) -> Option<BufferRange> {
        Some(BufferRange::new(self.buffer(buffer)?, offset, size))
    }

    pub(crate) fn view(&self, view: vk::ImageView) -> Option<Arc<View>> {
        self.views.get(view.as_raw())
    }
}

impl Descriptor {
    pub(crate) fn resource(&self) -> Resource {
        match self {
            Descriptor::Image(view, _) => Resource::Image(view.image.clone()),
            Descriptor::Buffer(range) => Resource::Buffer(range.buffer.clone()),
            Descriptor::Dynamic(buffer, ..) => Resource::Buffer(buffer.clone()),
        }
    }
}

impl Set {
    pub(crate) fn new(pool: vk::DescriptorPool, layout: Option<Arc<SetLayout>>) -> Set {
        Set {
            pool,
            layout,
            ..Set::default()
        }
    }

    /// Returns a copy of the descriptors, to change some of them.
    pub(crate) fn copied(&self) -> Set {
        Set {
            pool: self.pool,
            layout: self.layout.clone(),
            contents: Mutex::new(lock(&self.contents).clone()),
        }
    }

    /// Writes a descriptor, or removes it if it refers to no known object.
    pub(crate) fn write(&self, objects: &Objects, (binding, element, kind, source): WrittenDescriptor<'_>) {
        let mut contents = lock(&self.contents);
        match source.and_then(|source| descriptor(objects, kind, source)) {
            Some(found) => _ = contents.insert((binding, element), found),
            None => _ = contents.remove(&(binding, element)),
        }
    }

    /// Copies descriptors from another set, or within this one.
    pub(crate) fn copy(&self, from: &Set, copy: &vk::CopyDescriptorSet<'_>) {
        let count = copy.descriptor_count;
        let places = |set: &Set, binding, element| {
            consecutive(set.layout.as_deref(), binding, element, count).collect()
        };
        let sources: Vec<_> = places(from, copy.src_binding, copy.src_array_element);
        let targets: Vec<_> = places(self, copy.dst_binding, copy.dst_array_element);
        let moved: Vec<_> = {
            let contents = lock(&from.contents);
            sources.iter().map(|place| contents.get(place).cloned()).collect()
        };
        let mut contents = lock(&self.contents);
        for (place, found) in targets.into_iter().zip(moved) {
            match found {
                Some(found) => _ = contents.insert(place, found),
                None => _ = contents.remove(&place),
            }
        }
    }

    /// Returns the descriptors of a binding, with the set's dynamic offsets added.
    pub(crate) fn at(&self, binding: u32, offsets: &[u32]) -> Vec<Descriptor> {
        let contents = lock(&self.contents);
        let of_binding = contents.range((binding, 0)..=(binding, u32::MAX));
        let moved = |(place, descriptor): (&(u32, u32), &Descriptor)| match descriptor {
            Descriptor::Dynamic(buffer, offset, size) => {
                let dynamic = self.layout.iter().flat_map(|layout| layout.dynamic());
                let given = dynamic.zip(offsets).find(|(one, _)| one == place);
                // Without the offset, the descriptor may refer to any bytes of the buffer.
                let (first, size) = given.map_or((0, vk::WHOLE_SIZE), |(_, moved)| {
                    (offset.saturating_add((*moved).into()), *size)
                });
                Descriptor::Buffer(BufferRange::new(buffer.clone(), first, size))
            }
            other => other.clone(),
        };
        of_binding.map(moved).collect()
    }

    /// Returns all descriptors.
    pub(crate) fn all(&self) -> Vec<Descriptor> {
        lock(&self.contents).values().cloned().collect()
    }
}

fn descriptor(objects: &Objects, kind: vk::DescriptorType, source: Source<'_>) -> Option<Descriptor> {
    use vk::DescriptorType as T;
    match source {
        Source::Image(info) => Some(Descriptor::Image(
            objects.view(info.image_view)?,
            info.image_layout,
        )),
        Source::Buffer(info) => {
            let is_dynamic = [T::UNIFORM_BUFFER_DYNAMIC, T::STORAGE_BUFFER_DYNAMIC].contains(&kind);
            let buffer = objects.buffer(info.buffer)?;
            Some(if is_dynamic {
                Descriptor::Dynamic(buffer, info.offset, info.range)
            } else {
                Descriptor::Buffer(BufferRange::new(buffer, info.offset, info.range))
            })
        }
        Source::Texels(view) => objects.buffer_views.get(view.as_raw()).map(Descriptor::Buffer),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_that_is_used_again_gets_another_number() {
        let handle = 0x7e57_0001;
        let (semaphore, fence) = (vk::Semaphore::from_raw(handle), vk::Fence::from_raw(handle));
        let (first, other) = (number_of(semaphore), number_of(fence));
        assert_eq!([number_of(semaphore), number_of(fence)], [first, other]);
        let again = new_number_of(semaphore);
        assert_eq!([number_of(semaphore), number_of(fence)], [again, other]);
        let mut all = [first, other, again];
        all.sort_unstable();
        assert!(all[0] < all[1] && all[1] < all[2], "{all:?}");
    }
}
