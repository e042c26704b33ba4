//! Draws and dispatches that access an object other than the bound one, and binding itself.

use ash::vk;
use tileheap_device::ffi;
use tileheap_device::ffi::TileMemoryBindInfoQCOM;

use super::suite::{Ask, Suite, on_every_profile};
use crate::rig::{Descriptor, TILE, image_info};

const TILE_BUFFER: vk::BufferUsageFlags = ffi::BUFFER_USAGE_TILE_MEMORY_BIT_QCOM;
const WRONG_DISPATCH: &str = "VUID-vkCmdDispatch-commandBuffer-10746";
const TILE_MEMORY: Ask<'_> = Ask::tile_memory(vk::API_VERSION_1_1);

/// Writes the first word of a buffer.
const WRITES: &str = "layout(set = 0, binding = 0) buffer Data { float first; };
void main() { first = 1.0; }";
/// Like `WRITES` for two buffers, the second through texels.
const WRITES_BOTH: &str = "layout(set = 0, binding = 0) buffer Data { float first; };
layout(set = 0, binding = 1, r32f) uniform imageBuffer texels;
void main() { first = 1.0; imageStore(texels, 0, vec4(0.5)); }";
/// Reads a texel.
const READS: &str = "layout(set = 0, binding = 0, rgba8) uniform readonly image2D texels;
void main() { vec4 texel = imageLoad(texels, ivec2(0)); }";

impl Suite {
    /// Begins the test's command buffer, and binds a pipeline and a set of the descriptors.
    fn begin_work(&self, source: &str, reached: &[Descriptor]) -> vk::CommandBuffer {
        let (pipeline, set) = self.work(source, reached);
        let commands = self.begin();
        self.bind_work(commands, &pipeline, set);
        commands
    }

    /// Records a dispatch with `times` validation messages: wrong on purpose, and never submitted.
    fn dispatch_wrong(&self, commands: vk::CommandBuffer, times: usize) {
        let expected = vec![WRONG_DISPATCH; times];
        // SAFETY: Recording.
        self.expect(&expected, |device| unsafe {
            device.cmd_dispatch(commands, 1, 1, 1)
        });
    }

    fn end(&self, commands: vk::CommandBuffer) {
        // SAFETY: Recording.
        let ended = self.expect(&[], |device| unsafe { device.end_command_buffer(commands) });
        ended.expect("recorded");
    }

    /// Creates a tile storage buffer of 4096 bytes at the beginning of a separate object, and returns both.
    fn tile_storage(&self) -> (vk::Buffer, vk::DeviceMemory) {
        let buffer = self.tile_buffer(4096, vk::BufferUsageFlags::STORAGE_BUFFER);
        let object = self.object_of(&self.buffer_needs(buffer), 0);
        self.bind_buffer(buffer, object, 0);
        (buffer, object)
    }
}

/// A dispatch with the buffer's own object bound is valid, both recorded and submitted.
#[test]
fn a_dispatch_writes_a_tile_buffer() {
    on_every_profile(&TILE_MEMORY, |suite| {
        let (buffer, object) = suite.tile_storage();
        let commands = suite.begin_work(WRITES, &[Descriptor::buffer(buffer)]);
        suite.expect(&[], |_| suite.bind(commands, Some(object)));
        suite.dispatch_wrong(commands, 0);
        suite.end(commands);
        suite.expect(&[], |_| suite.submit(&[&[commands]]));
    });
}

/// Two buffers in one object, the second after the first and accessed through texels.
#[test]
fn a_dispatch_reaches_two_buffers_that_are_not_bound() {
    on_every_profile(&TILE_MEMORY, |suite| {
        let storage = suite.buffer(4096, TILE_BUFFER | vk::BufferUsageFlags::STORAGE_BUFFER);
        let texels = suite.buffer(4096, TILE_BUFFER | vk::BufferUsageFlags::STORAGE_TEXEL_BUFFER);
        let (_, (first, _)) = suite.buffer_needs(storage);
        let needs = suite.buffer_needs(texels);
        let (second, alignment) = needs.1;
        assert!(first > 0 && second > 0, "profile {}", suite.profile);
        let offset = first.next_multiple_of(alignment);
        let object = suite.object_of(&needs, offset as i64);
        suite.bind_buffer(storage, object, 0);
        suite.bind_buffer(texels, object, offset);
        // The view's usage in 64 bits, without the tile bit.
        let mut usage = vk::BufferUsageFlags2CreateInfoKHR::default()
            .usage(vk::BufferUsageFlags2KHR::STORAGE_TEXEL_BUFFER);
        let info = vk::BufferViewCreateInfo::default()
            .buffer(texels)
            .format(vk::Format::R32_SFLOAT)
            .range(vk::WHOLE_SIZE)
            .push_next(&mut usage);
        let reached = [
            Descriptor::buffer(storage),
            Descriptor::Texels(suite.create(&info)),
        ];
        suite.dispatch_wrong(suite.begin_work(WRITES_BOTH, &reached), 2);
    });
}

/// Contents that were never written are also read here; but that follows from the binding, and is not reported in addition.
#[test]
fn a_dispatch_reads_an_image_that_is_not_bound() {
    on_every_profile(&TILE_MEMORY, |suite| {
        let usage = vk::ImageUsageFlags::STORAGE | TILE;
        let view = suite.tile_view(&image_info(vk::Format::R8G8B8A8_UNORM, 32, usage));
        let commands = suite.begin_work(READS, &[Descriptor::storage_image(view)]);
        suite.dispatch_wrong(commands, 1);
        suite.end(commands);
    });
}

/// Memory of any other heap, bound to a primary and inherited by a secondary.
#[test]
fn only_tile_memory_is_bound_as_tile_memory() {
    on_every_profile(&TILE_MEMORY, |suite| {
        let is_ordinary = |kind: &vk::MemoryType| {
            let is_protected = kind.property_flags.contains(vk::MemoryPropertyFlags::PROTECTED);
            !suite.is_tile(kind) && !is_protected
        };
        let ordinary = suite.types.memory_types_as_slice().iter().position(is_ordinary);
        let memory = suite.allocate(256, ordinary.expect("ordinary memory") as u32);
        let commands = suite.begin();
        let expected = ["VUID-VkTileMemoryBindInfoQCOM-memory-10726"];
        suite.expect(&expected, |_| suite.bind(commands, Some(memory)));
        let secondary = suite.allocate_commands(vk::CommandBufferLevel::SECONDARY);
        let mut info = TileMemoryBindInfoQCOM::default().memory(memory);
        let inheritance = vk::CommandBufferInheritanceInfo::default().push_next(&mut info);
        let begin = vk::CommandBufferBeginInfo::default().inheritance_info(&inheritance);
        // SAFETY: Wrong on purpose, and never submitted.
        let begun = suite.expect(&expected, |device| unsafe {
            device.begin_command_buffer(secondary, &begin)
        });
        assert_eq!(begun.is_err(), suite.stops());
    });
}
