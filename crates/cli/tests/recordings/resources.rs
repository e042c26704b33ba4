//! The buffers and images of a recording, placed in the device's block.

use ash::vk;
use tileheap_testkit::objects::Objects;

use crate::device::Gpu;
use crate::recording::*;

/// The buffers of one place: a single one, or several in the same memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// As one buffer: nothing is aliased.
    Merged,
    /// As separate buffers, in the same memory.
    Aliased,
}

/// Distance between places, more than any of them needs.
const DISTANCE: u64 = 64 << 10;

/// Vulkan objects of a recording's resources, by resource.
pub(crate) struct Resources {
    pub(crate) buffers: Vec<vk::Buffer>,
    pub(crate) images: Vec<vk::Image>,
    form: Form,
}

impl Resources {
    pub(crate) fn new(gpu: &Gpu, objects: &Objects, recording: &Recording, form: Form) -> Resources {
        let mut resources = Resources {
            buffers: Vec::new(),
            images: Vec::new(),
            form,
        };
        for (place, kind) in recording.places.iter().enumerate() {
            let offset = DISTANCE * place as u64;
            let size = match kind {
                Place::Cells(count) => u64::from(*count) * CELL,
                Place::Parameters => CELL,
                Place::Texels(_) => CELL,
            };
            // Never used: the layer only tracks memory that two resources share.
            let unused = buffer(gpu, objects, offset, size);
            gpu.name(unused, &format!("unused {place}"));
            let merged = (form == Form::Merged && !matches!(kind, Place::Texels(_)))
                .then(|| buffer(gpu, objects, offset, size));
            if let Some(merged) = merged {
                gpu.name(merged, &format!("place {place}"));
            }
            let all = recording.resources.iter().enumerate();
            for (index, resource) in all.filter(|(_, resource)| resource.place == place) {
                let (mut own_buffer, mut own_image) = (vk::Buffer::null(), vk::Image::null());
                match (*kind, merged) {
                    (Place::Texels(kind), _) => {
                        own_image = image(gpu, objects, offset, kind);
                        gpu.name(own_image, &format!("image {index}"));
                    }
                    (_, Some(merged)) => own_buffer = merged,
                    (_, None) => {
                        let first = offset + u64::from(resource.first) * CELL;
                        own_buffer = buffer(gpu, objects, first, u64::from(resource.count) * CELL);
                        gpu.name(own_buffer, &format!("buffer {index}"));
                    }
                }
                assert_eq!(resources.buffers.len(), index, "resources are sorted by place");
                resources.buffers.push(own_buffer);
                resources.images.push(own_image);
            }
        }
        resources
    }

    /// The buffer of cells, and their bytes in it.
    pub(crate) fn bytes(&self, recording: &Recording, cells: Cells) -> (vk::Buffer, u64, u64) {
        let resource = recording.resources[cells.buffer];
        let before = match self.form {
            Form::Merged => resource.first,
            Form::Aliased => 0,
        };
        let offset = u64::from(before + cells.first) * CELL;
        (self.buffers[cells.buffer], offset, u64::from(cells.count) * CELL)
    }
}

fn buffer(gpu: &Gpu, objects: &Objects, offset: u64, size: u64) -> vk::Buffer {
    use vk::BufferUsageFlags as B;
    let usage = B::TRANSFER_SRC
        | B::TRANSFER_DST
        | B::UNIFORM_BUFFER
        | B::STORAGE_BUFFER
        | B::VERTEX_BUFFER
        | B::INDEX_BUFFER
        | B::INDIRECT_BUFFER;
    let info = vk::BufferCreateInfo::default().size(size).usage(usage);
    let buffer = objects.create(&gpu.device, &info);
    // SAFETY: the buffer is new, and smaller than the distance of places; the block has the type of all buffers.
    unsafe {
        let needs = gpu.device.get_buffer_memory_requirements(buffer);
        assert!(needs.size <= DISTANCE, "a buffer needs {} bytes", needs.size);
        gpu.device.bind_buffer_memory(buffer, gpu.block, offset)
    }
    .expect("bound memory");
    buffer
}

fn image(gpu: &Gpu, objects: &Objects, offset: u64, kind: ImageKind) -> vk::Image {
    use vk::ImageUsageFlags as I;
    let transfers = I::TRANSFER_SRC | I::TRANSFER_DST;
    let usage = match kind {
        ImageKind::Color => transfers | I::SAMPLED | I::STORAGE | I::COLOR_ATTACHMENT | I::INPUT_ATTACHMENT,
        ImageKind::Multisampled => transfers | I::COLOR_ATTACHMENT,
        ImageKind::Depth => transfers | I::DEPTH_STENCIL_ATTACHMENT,
    };
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(kind.format())
        .extent(vk::Extent3D {
            width: SIDE,
            height: SIDE,
            depth: 1,
        })
        .mip_levels(1)
        .array_layers(kind.layers())
        .samples(kind.samples())
        .usage(usage);
    let image = objects.create(&gpu.device, &info);
    // SAFETY: the image is new; the block has the type of all images.
    unsafe {
        let needs = gpu.device.get_image_memory_requirements(image);
        assert!(needs.size <= DISTANCE, "{kind:?} needs {} bytes", needs.size);
        gpu.device.bind_image_memory(image, gpu.block, offset)
    }
    .expect("bound memory");
    image
}

/// All of a layer.
pub(crate) fn range(kind: ImageKind, first: u32, count: u32) -> vk::ImageSubresourceRange {
    vk::ImageSubresourceRange {
        aspect_mask: kind.aspect(),
        base_mip_level: 0,
        level_count: 1,
        base_array_layer: first,
        layer_count: count,
    }
}
