//! Every texel of every level, as a shader reads it, while textures come and go.

use ash::vk;
use tileheap::runtime::Capabilities;
use tileheap_baselines::textures::{HeapCache, Ring};
use tileheap_textures::arenas::Arenas;
use tileheap_textures::limiter::UploadLimiter;
use tileheap_textures::units::Bytes;
use tileheap_textures::vulkan::{TextureCache, TextureCacheDesc, TextureShape};
use tileheap_textures::{ChainId, Coherent, Level, PolicyDesc, TextureId, Textures};

use crate::gpu::{Binding, Gpu};

const fn shape(format: vk::Format, width: u32, height: u32) -> TextureShape {
    let extent = vk::Extent2D { width, height };
    TextureShape { format, extent }
}

/// The second is neither square nor a power of two.
const SHAPES: [TextureShape; 2] = [
    shape(vk::Format::R8_UINT, 128, 128),
    shape(vk::Format::R8G8B8A8_UINT, 52, 20),
];

/// The shape of a texture of the test.
fn shape_of(texture: TextureId) -> usize {
    usize::from(texture.0 % 3 == 2)
}

/// The byte at a place of a level.
fn texel(texture: TextureId, level: Level, index: usize) -> u8 {
    let mixed = (u64::from(texture.0) << 40 | u64::from(level.0) << 32 | index as u64)
        .wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 40) as u8
}

fn paint(texture: TextureId, level: Level, texels: &mut [u8]) {
    for (index, byte) in texels.iter_mut().enumerate() {
        *byte = texel(texture, level, index);
    }
}

/// Adds up the bytes of a level, each times its place, so that no two may be swapped.
const SUM: &str = "#version 460
    #extension GL_EXT_samplerless_texture_functions : require
    layout(local_size_x = 1) in;
    layout(set = 0, binding = 0) uniform utexture2D image;
    layout(set = 1, binding = 0) buffer Sums { uint sums[]; };
    layout(push_constant) uniform Push { uint mip; uint channels; uint slot; };
    void main() {
        ivec2 size = textureSize(image, int(mip));
        uint sum = uint(size.x) << 16 ^ uint(size.y);
        uint place = 0;
        for (int y = 0; y < size.y; y++) {
            for (int x = 0; x < size.x; x++) {
                uvec4 read = texelFetch(image, ivec2(x, y), int(mip));
                for (uint channel = 0; channel < channels; channel++) {
                    place++;
                    sum += read[channel] * place;
                }
            }
        }
        sums[slot] = sum;
    }";

fn expected(texture: TextureId, shape: usize, level: Level) -> u32 {
    let vk::Extent2D { width, height } = SHAPES[shape].extent_at(level);
    let channels = if shape == 0 { 1 } else { 4 };
    let bytes = (width * height) as usize * channels;
    (0..bytes).fold(width << 16 ^ height, |sum, index| {
        sum.wrapping_add(u32::from(texel(texture, level, index)).wrapping_mul(index as u32 + 1))
    })
}

/// What has to be there: the policy under its upload budget, without a device.
struct Model {
    levelled: UploadLimiter,
    textures: Textures,
}

impl Model {
    fn new(cache: &TextureCache, desc: &TextureCacheDesc<'_>) -> Model {
        let geometry = cache.geometry();
        let policy = desc.policy.create(geometry, desc.budget, desc.seed);
        Model {
            levelled: UploadLimiter::new(policy.expect("the cache has one"), geometry, desc.uploads),
            textures: Textures::new(geometry.clone()),
        }
    }

    fn request(&mut self, texture: TextureId, level: Level) -> tileheap_textures::limiter::Served {
        self.levelled
            .request(self.textures.request(texture, level).expect("there"))
    }
}

fn check(policy: PolicyDesc<'static>) {
    let mut gpu = Gpu::new(Capabilities::empty());
    let desc = TextureCacheDesc {
        policy,
        uploads: Bytes::kib(96),
        reader_stages: vk::PipelineStageFlags::COMPUTE_SHADER,
        ..TextureCacheDesc::new(&SHAPES, Bytes::kib(400))
    };
    let mut cache = TextureCache::new(gpu.tile(), &desc).expect("a cache");
    let mut model = Model::new(&cache, &desc);
    for id in 0..60 {
        let chain = ChainId(shape_of(TextureId(id)) as u16);
        cache.create(TextureId(id), chain).expect("in order");
        model.textures.create(TextureId(id), chain).expect("in order");
    }
    let sums = gpu.host_buffer(4 * 64);
    let commands = gpu.primaries(2);
    let sum = Sum::new(&mut gpu, cache.set_layout());
    let set = gpu.set(&sum.buffer, &[Binding::Storage(sums.buffer)]);
    let device = gpu.device().clone();
    let queue = gpu.context.queues()[0].handle;
    let (mut whole, mut coarser, mut compared, mut moved) = (0, 0, 0, 0);
    for frame in 1..=40_u64 {
        // Along the row, and back; the budget holds a third of it.
        let at = if frame < 20 { frame } else { 40 - frame } as u32 * 2;
        // SAFETY: each frame is waited for.
        unsafe { cache.begin(frame, frame - 1) }.expect("in turn");
        model.levelled.begin_frame();
        for (_, budget) in [(24, 250), (32, 420)]
            .into_iter()
            .filter(|&(when, _)| when == frame)
        {
            let budget = Bytes::kib(budget);
            cache.set_budget(budget).expect("it is another");
            model.levelled.set_budget(budget).expect("it is another");
        }
        let shown: Vec<TextureId> = (at..at + 14).map(TextureId).collect();
        for &texture in &shown {
            let finest = SHAPES[shape_of(texture)].finest();
            let level = Level(finest.0 - ((texture.0 as u64 + frame / 4) % 3) as u8);
            let served = cache.request(texture, level).expect("there");
            assert_eq!(served, model.request(texture, level));
        }
        let buffer = commands[frame as usize % 2];
        let info = vk::CommandBufferBeginInfo::default();
        // SAFETY: every frame is waited for.
        unsafe { device.begin_command_buffer(buffer, &info) }.expect("recording");
        // SAFETY: recording.
        let recorded = unsafe { cache.record(buffer, &mut paint) }.expect("recorded");
        moved += recorded.moved;
        // Everything that the policy keeps is there, as it keeps it, and nothing else.
        assert_eq!(cache.pending(), 0);
        for texture in (0..60).map(TextureId) {
            let found = cache.texture(texture).map(|found| found.level);
            assert_eq!(found, model.levelled.level(texture), "{texture} in frame {frame}");
        }
        let mut checks = Vec::new();
        for &texture in &shown {
            let shape = shape_of(texture);
            let Some(found) = cache.texture(texture) else {
                continue;
            };
            let mip = (frame as u32 + texture.0) % (u32::from(found.level.0) + 1);
            let level = Level(found.level.0 - mip as u8);
            let push = [mip, [1, 4][shape], checks.len() as u32, 0];
            sum.run(&gpu, buffer, [found.set, set], &push);
            checks.push(expected(texture, shape, level));
        }
        let finest = |&&texture: &&TextureId| {
            let found = cache.texture(texture).map(|found| found.level);
            found == Some(SHAPES[shape_of(texture)].finest())
        };
        let finest = shown.iter().filter(finest).count();
        (whole, coarser) = (whole + finest, coarser + shown.len() - finest);
        host_reads(&device, buffer);
        // SAFETY: recording.
        unsafe { device.end_command_buffer(buffer) }.expect("recorded");
        let buffers = [buffer];
        let info = vk::SubmitInfo::default().command_buffers(&buffers);
        // SAFETY: the queue is this test's.
        unsafe { device.queue_submit(queue, &[info], vk::Fence::null()) }.expect("submitted");
        // SAFETY: as above.
        unsafe { device.queue_wait_idle(queue) }.expect("complete");
        cache.end();
        model.levelled.end_frame();
        model.levelled.clear_events();
        compared += checks.len();
        assert_eq!(
            sums.words()[..checks.len()],
            checks[..],
            "frame {frame}, {}",
            policy.name
        );
    }
    assert!(whole > 100 && coarser > 100, "{whole} {coarser}");
    assert!(compared > 40 * 12, "{compared} of {}", 40 * 14);
    assert_eq!(moved > 0, policy.relocates, "{moved}");
    sum.destroy(&device);
    // SAFETY: idle.
    unsafe { cache.destroy() };
    gpu.finish();
}

/// A pipeline with the cache's sets and one of the test's.
struct Sum {
    handle: vk::Pipeline,
    layout: vk::PipelineLayout,
    /// Has the layout of the second set.
    buffer: crate::gpu::Pipeline,
}

impl Sum {
    fn new(gpu: &mut Gpu, textures: vk::DescriptorSetLayout) -> Sum {
        let nothing = "#version 460
            layout(local_size_x = 1) in;
            layout(set = 0, binding = 0) buffer Sums { uint sums[]; };
            void main() { sums[0] = 1; }";
        let buffer = gpu.compute(&[vk::DescriptorType::STORAGE_BUFFER], nothing);
        let device = gpu.device();
        let layouts = [textures, buffer.set_layout];
        let ranges = [vk::PushConstantRange {
            stage_flags: vk::ShaderStageFlags::COMPUTE,
            offset: 0,
            size: 16,
        }];
        let info = vk::PipelineLayoutCreateInfo::default()
            .set_layouts(&layouts)
            .push_constant_ranges(&ranges);
        // SAFETY: both layouts are alive.
        let layout = unsafe { device.create_pipeline_layout(&info, None) }.expect("a layout");
        let words = crate::gpu::compile(tileheap_testkit::glsl::Stage::Compute, SUM);
        let info = vk::ShaderModuleCreateInfo::default().code(&words);
        // SAFETY: the words are a module, says the compiler.
        let module = unsafe { device.create_shader_module(&info, None) }.expect("a module");
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(c"main");
        let info = vk::ComputePipelineCreateInfo::default()
            .stage(stage)
            .layout(layout);
        // SAFETY: module and layout are alive and match.
        let made = unsafe { device.create_compute_pipelines(vk::PipelineCache::null(), &[info], None) };
        // SAFETY: pipelines keep nothing of it.
        unsafe { device.destroy_shader_module(module, None) };
        Sum {
            handle: made.expect("a pipeline")[0],
            layout,
            buffer,
        }
    }

    fn run(&self, gpu: &Gpu, commands: vk::CommandBuffer, sets: [vk::DescriptorSet; 2], push: &[u32; 4]) {
        let (device, compute) = (gpu.device(), vk::PipelineBindPoint::COMPUTE);
        // SAFETY: recording.
        unsafe { device.cmd_bind_pipeline(commands, compute, self.handle) };
        // SAFETY: recording, with sets of the layout.
        unsafe { device.cmd_bind_descriptor_sets(commands, compute, self.layout, 0, &sets, &[]) };
        let bytes: Vec<u8> = push.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let stages = vk::ShaderStageFlags::COMPUTE;
        // SAFETY: recording, within the range.
        unsafe { device.cmd_push_constants(commands, self.layout, stages, 0, &bytes) };
        // SAFETY: recording.
        unsafe { device.cmd_dispatch(commands, 1, 1, 1) };
    }

    fn destroy(&self, device: &ash::Device) {
        // SAFETY: idle.
        unsafe { device.destroy_pipeline(self.handle, None) };
        // SAFETY: idle.
        unsafe { device.destroy_pipeline_layout(self.layout, None) };
    }
}

fn host_reads(device: &ash::Device, commands: vk::CommandBuffer) {
    let barrier = [vk::MemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::SHADER_WRITE)
        .dst_access_mask(vk::AccessFlags::HOST_READ)];
    let (from, to) = (
        vk::PipelineStageFlags::COMPUTE_SHADER,
        vk::PipelineStageFlags::HOST,
    );
    let none = vk::DependencyFlags::empty();
    // SAFETY: recording.
    unsafe { device.cmd_pipeline_barrier(commands, from, to, none, &barrier, &[], &[]) };
}

/// Ours, those that move textures, and those that place them anew.
#[test]
fn every_texel_is_the_right_one() {
    for policy in [
        Coherent::WITHOUT_RELOCATION,
        Coherent::DESC,
        Arenas::DESC,
        HeapCache::LRU_COMPACTING,
        Ring::DESC,
    ] {
        check(policy);
    }
}
