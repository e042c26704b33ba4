//! Draws and dispatches that reach another object than the one bound, and binding itself.

use ash::vk;
use tileheap_device::ffi;
use tileheap_device::ffi::TileMemoryBindInfoQCOM;
use tileheap_testkit::glsl::Stage;

use super::suite::{Ask, Suite, on_every_profile};
use crate::rig::glsl::compile;

const TILE_BUFFER: vk::BufferUsageFlags = ffi::BUFFER_USAGE_TILE_MEMORY_BIT_QCOM;
const WRONG_DISPATCH: &str = "VUID-vkCmdDispatch-commandBuffer-10746";

/// Writes the first word of a buffer.
const WRITES: &str = "layout(set = 0, binding = 0) buffer Data { float first; };
void main() { first = 1.0; }";
/// The same of two buffers, the second through texels.
const WRITES_BOTH: &str = "layout(set = 0, binding = 0) buffer Data { float first; };
layout(set = 0, binding = 1, r32f) uniform imageBuffer texels;
void main() { first = 1.0; imageStore(texels, 0, vec4(0.5)); }";
/// Reads a texel.
const READS: &str = "layout(set = 0, binding = 0, rgba8) uniform readonly image2D texels;
void main() { vec4 texel = imageLoad(texels, ivec2(0)); }";

/// What a descriptor is of.
#[derive(Clone, Copy)]
enum Of {
    Buffer(vk::Buffer),
    Texels(vk::BufferView),
    Image(vk::ImageView),
}

impl Of {
    fn kind(self) -> vk::DescriptorType {
        match self {
            Of::Buffer(_) => vk::DescriptorType::STORAGE_BUFFER,
            Of::Texels(_) => vk::DescriptorType::STORAGE_TEXEL_BUFFER,
            Of::Image(_) => vk::DescriptorType::STORAGE_IMAGE,
        }
    }
}

/// A compute pipeline, its layout, and a set of what it reaches.
struct Work {
    pipeline: vk::Pipeline,
    layout: vk::PipelineLayout,
    set: vk::DescriptorSet,
}

impl Suite {
    pub(crate) fn module(&self, stage: Stage, source: &str) -> vk::ShaderModule {
        let words = compile(stage, source, 3);
        let info = vk::ShaderModuleCreateInfo::default().code(&words);
        // SAFETY: A compiler's words.
        let module = unsafe { self.device.create_shader_module(&info, None) }.expect("a module");
        // SAFETY: Idle by then.
        self.made(module, |device, module| unsafe {
            device.destroy_shader_module(module, None)
        })
    }

    fn work(&self, source: &str, reached: &[Of]) -> Work {
        let bindings: Vec<_> = (0u32..)
            .zip(reached)
            .map(|(binding, of)| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(binding)
                    .descriptor_type(of.kind())
                    .descriptor_count(1)
                    .stage_flags(vk::ShaderStageFlags::ALL)
            })
            .collect();
        let sizes: Vec<_> = reached
            .iter()
            .map(|of| vk::DescriptorPoolSize {
                ty: of.kind(),
                descriptor_count: 1,
            })
            .collect();
        let module = self.module(Stage::Compute, source);
        let device = &self.device;
        // SAFETY: All of one device, made for each other, and destroyed idle, users first.
        unsafe {
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let set_layouts = [device
                .create_descriptor_set_layout(&info, None)
                .expect("a set layout")];
            self.made(set_layouts[0], |device, layout| {
                device.destroy_descriptor_set_layout(layout, None);
            });
            let info = vk::DescriptorPoolCreateInfo::default()
                .max_sets(1)
                .pool_sizes(&sizes);
            let pool = device.create_descriptor_pool(&info, None).expect("a pool");
            self.made(pool, |device, pool| device.destroy_descriptor_pool(pool, None));
            let info = vk::DescriptorSetAllocateInfo::default()
                .descriptor_pool(pool)
                .set_layouts(&set_layouts);
            let set = device.allocate_descriptor_sets(&info).expect("a set")[0];
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts);
            let layout = device.create_pipeline_layout(&info, None).expect("a layout");
            self.made(layout, |device, layout| {
                device.destroy_pipeline_layout(layout, None)
            });
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(module)
                .name(c"main");
            let infos = [vk::ComputePipelineCreateInfo::default()
                .stage(stage)
                .layout(layout)];
            let pipeline = device
                .create_compute_pipelines(vk::PipelineCache::null(), &infos, None)
                .expect("a pipeline")[0];
            self.made(pipeline, |device, pipeline| {
                device.destroy_pipeline(pipeline, None)
            });
            for (binding, of) in (0u32..).zip(reached) {
                self.write(set, binding, *of);
            }
            Work {
                pipeline,
                layout,
                set,
            }
        }
    }

    fn write(&self, set: vk::DescriptorSet, binding: u32, of: Of) {
        let (mut buffers, mut images, mut views) = (
            [vk::DescriptorBufferInfo::default().range(4096)],
            [vk::DescriptorImageInfo::default().image_layout(vk::ImageLayout::GENERAL)],
            [vk::BufferView::null()],
        );
        let write = vk::WriteDescriptorSet::default()
            .dst_set(set)
            .dst_binding(binding)
            .descriptor_type(of.kind())
            .descriptor_count(1);
        let write = match of {
            Of::Buffer(buffer) => {
                buffers[0].buffer = buffer;
                write.buffer_info(&buffers)
            }
            Of::Texels(view) => {
                views[0] = view;
                write.texel_buffer_view(&views)
            }
            Of::Image(view) => {
                images[0].image_view = view;
                write.image_info(&images)
            }
        };
        // SAFETY: A new set, and what it points to is alive.
        unsafe { self.device.update_descriptor_sets(&[write], &[]) };
    }

    /// Records the binding of a pipeline and its set.
    fn bind_work(&self, commands: vk::CommandBuffer, work: &Work) {
        let point = vk::PipelineBindPoint::COMPUTE;
        // SAFETY: Recording; all of this device.
        unsafe {
            self.device
                .cmd_bind_descriptor_sets(commands, point, work.layout, 0, &[work.set], &[]);
            self.device.cmd_bind_pipeline(commands, point, work.pipeline);
        }
    }

    pub(crate) fn view(&self, image: vk::Image) -> vk::ImageView {
        let info = vk::ImageViewCreateInfo::default()
            .image(image)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(vk::Format::R8G8B8A8_UNORM)
            .subresource_range(crate::rig::whole(vk::ImageAspectFlags::COLOR));
        // SAFETY: An image of this device, bound.
        let view = unsafe { self.device.create_image_view(&info, None) }.expect("a view");
        // SAFETY: Idle by then.
        self.made(view, |device, view| unsafe {
            device.destroy_image_view(view, None)
        })
    }

    /// A tile storage buffer of 4096 bytes at the beginning of an object of its own, and the object.
    fn tile_storage(&self) -> (vk::Buffer, vk::DeviceMemory) {
        let buffer = self.buffer(TILE_BUFFER | vk::BufferUsageFlags::STORAGE_BUFFER);
        let (ordinary, (size, _)) = self.buffer_needs(buffer);
        assert!(size > 0, "profile {}", self.profile);
        let object = self.allocate(size, self.tile_type(ordinary.memory_type_bits, size));
        // SAFETY: New, and made for each other.
        unsafe { self.device.bind_buffer_memory(buffer, object, 0) }.expect("bound tile memory");
        (buffer, object)
    }
}

/// A dispatch while the buffer's own object is bound, and nothing is wrong, neither recorded nor submitted.
#[test]
fn a_dispatch_writes_a_tile_buffer() {
    on_every_profile(&Ask::tile_memory(vk::API_VERSION_1_1), |suite| {
        let (buffer, object) = suite.tile_storage();
        let work = suite.work(WRITES, &[Of::Buffer(buffer)]);
        let info = TileMemoryBindInfoQCOM::default().memory(object);
        let commands = suite.begin();
        suite.bind_work(commands, &work);
        // SAFETY: Recording, outside render passes; a tile memory object; so below.
        suite.expect(&[], |device| unsafe {
            suite.binder().cmd_bind_tile_memory(commands, Some(&info));
            device.cmd_dispatch(commands, 1, 1, 1);
            device.end_command_buffer(commands).expect("recorded");
            let (commands, queue) = ([commands], device.get_device_queue(0, 0));
            let batch = vk::SubmitInfo::default().command_buffers(&commands);
            device
                .queue_submit(queue, &[batch], vk::Fence::null())
                .expect("submitted");
            device.queue_wait_idle(queue).expect("done");
        });
    });
}

#[test]
fn nothing_may_be_bound() {
    on_every_profile(&Ask::tile_memory(vk::API_VERSION_1_1), |suite| {
        let buffer = suite.buffer(vk::BufferUsageFlags::STORAGE_BUFFER);
        let (needs, _) = suite.buffer_needs(buffer);
        let memory = suite.allocate(needs.size, needs.memory_type_bits.trailing_zeros());
        // SAFETY: New, and made for each other.
        unsafe { suite.device.bind_buffer_memory(buffer, memory, 0) }.expect("bound memory");
        let work = suite.work(WRITES, &[Of::Buffer(buffer)]);
        let commands = suite.begin();
        suite.bind_work(commands, &work);
        // SAFETY: Recording, outside render passes; so below.
        suite.expect(&[], |device| unsafe {
            suite.binder().cmd_bind_tile_memory(commands, None);
            device.cmd_dispatch(commands, 1, 1, 1);
            device.end_command_buffer(commands).expect("recorded");
        });
    });
}

#[test]
fn a_dispatch_reaches_a_buffer_that_is_not_bound() {
    on_every_profile(&Ask::tile_memory(vk::API_VERSION_1_1), |suite| {
        let (buffer, _) = suite.tile_storage();
        let work = suite.work(WRITES, &[Of::Buffer(buffer)]);
        let commands = suite.begin();
        suite.bind_work(commands, &work);
        // SAFETY: Recording; wrong on purpose, and never submitted.
        suite.expect(&[WRONG_DISPATCH], |device| unsafe {
            device.cmd_dispatch(commands, 1, 1, 1);
        });
    });
}

/// Two buffers in one object, the second behind the first and seen through texels.
#[test]
fn a_dispatch_reaches_two_buffers_that_are_not_bound() {
    on_every_profile(&Ask::tile_memory(vk::API_VERSION_1_1), |suite| {
        let storage = suite.buffer(TILE_BUFFER | vk::BufferUsageFlags::STORAGE_BUFFER);
        let texels = suite.buffer(TILE_BUFFER | vk::BufferUsageFlags::STORAGE_TEXEL_BUFFER);
        let (_, (first, _)) = suite.buffer_needs(storage);
        let (ordinary, (second, alignment)) = suite.buffer_needs(texels);
        assert!(first > 0 && second > 0, "profile {}", suite.profile);
        let offset = first.next_multiple_of(alignment);
        let size = offset + second;
        let object = suite.allocate(size, suite.tile_type(ordinary.memory_type_bits, size));
        // The view's usage in 64 bits, without the tile bit.
        let mut usage = vk::BufferUsageFlags2CreateInfoKHR::default()
            .usage(vk::BufferUsageFlags2KHR::STORAGE_TEXEL_BUFFER);
        // SAFETY: New, and made for each other.
        let view = unsafe {
            suite
                .device
                .bind_buffer_memory(storage, object, 0)
                .expect("bound");
            suite
                .device
                .bind_buffer_memory(texels, object, offset)
                .expect("bound");
            let info = vk::BufferViewCreateInfo::default()
                .buffer(texels)
                .format(vk::Format::R32_SFLOAT)
                .range(vk::WHOLE_SIZE)
                .push_next(&mut usage);
            suite.device.create_buffer_view(&info, None).expect("a view")
        };
        // SAFETY: Idle by then.
        suite.made(view, |device, view| unsafe {
            device.destroy_buffer_view(view, None)
        });
        let work = suite.work(WRITES_BOTH, &[Of::Buffer(storage), Of::Texels(view)]);
        let commands = suite.begin();
        suite.bind_work(commands, &work);
        // SAFETY: Recording; wrong on purpose, and never submitted.
        suite.expect(&[WRONG_DISPATCH; 2], |device| unsafe {
            device.cmd_dispatch(commands, 1, 1, 1);
        });
    });
}

/// What was never written is read here, too; but that follows from what is bound, and is not said beside it.
#[test]
fn a_dispatch_reads_an_image_that_is_not_bound() {
    on_every_profile(&Ask::tile_memory(vk::API_VERSION_1_1), |suite| {
        let usage = vk::ImageUsageFlags::STORAGE | ffi::IMAGE_USAGE_TILE_MEMORY_BIT_QCOM;
        let image = suite.image(&Suite::image_info(usage, 32));
        suite.bind_tile_image(image);
        let work = suite.work(READS, &[Of::Image(suite.view(image))]);
        let commands = suite.begin();
        suite.bind_work(commands, &work);
        // SAFETY: Recording; wrong on purpose, and never submitted.
        suite.expect(&[WRONG_DISPATCH], |device| unsafe {
            device.cmd_dispatch(commands, 1, 1, 1);
        });
        // SAFETY: As above.
        suite
            .expect(&[], |device| unsafe { device.end_command_buffer(commands) })
            .expect("recorded");
    });
}

/// Of any other heap, bound to a primary and handed to a secondary.
#[test]
fn only_tile_memory_is_bound_as_tile_memory() {
    on_every_profile(&Ask::tile_memory(vk::API_VERSION_1_1), |suite| {
        let is_ordinary = |kind: &vk::MemoryType| {
            let heap = suite.types.memory_heaps[kind.heap_index as usize];
            !heap.flags.contains(ffi::MEMORY_HEAP_TILE_MEMORY_BIT_QCOM)
                && !kind.property_flags.contains(vk::MemoryPropertyFlags::PROTECTED)
        };
        let ordinary = suite.types.memory_types_as_slice().iter().position(is_ordinary);
        let memory = suite.allocate(256, ordinary.expect("ordinary memory") as u32);
        let mut info = TileMemoryBindInfoQCOM::default().memory(memory);
        let commands = suite.begin();
        let expected = ["VUID-VkTileMemoryBindInfoQCOM-memory-10726"];
        // SAFETY: Recording; wrong on purpose, and never submitted.
        suite.expect(&expected, |_| unsafe {
            suite.binder().cmd_bind_tile_memory(commands, Some(&info));
        });
        let secondary = suite.allocate_commands(vk::CommandBufferLevel::SECONDARY);
        let inheritance = vk::CommandBufferInheritanceInfo::default().push_next(&mut info);
        let begin = vk::CommandBufferBeginInfo::default().inheritance_info(&inheritance);
        // SAFETY: As above.
        let begun = suite.expect(&expected, |device| unsafe {
            device.begin_command_buffer(secondary, &begin)
        });
        assert_eq!(begun.is_err(), suite.stops());
    });
}
