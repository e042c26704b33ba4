//! Every texel of every level, as read by a shader, while textures are loaded and evicted.

use ash::vk;
use tileheap::runtime::Capabilities;
use tileheap_baselines::textures::{HeapCache, Ring};
use tileheap_textures::arenas::Arenas;
use tileheap_textures::units::Bytes;
use tileheap_textures::vulkan::{TextureCache, TextureCacheDesc, TextureShape};
use tileheap_textures::{Coherent, Level, MipChainId, PolicyDesc, TextureId, UploadMode};

use crate::gpu::{Binding, Gpu};

const fn shape(format: vk::Format, width: u32, height: u32) -> TextureShape {
    let extent = vk::Extent2D { width, height };
    TextureShape::new(format, extent)
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

/// The byte at an index of a level.
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

/// Sums the bytes of a level, each multiplied by its position, so that swapped bytes are detected.
const SUM: &str = "#version 460
    #extension GL_EXT_samplerless_texture_functions : require
    layout(local_size_x = 1) in;
    IMAGES
    layout(set = 1, binding = 0) buffer Sums { uint sums[]; };
    layout(push_constant) uniform Push { uint mip; uint channels; uint slot; };
    ivec2 size_of() { SIZE }
    uvec4 texel(ivec2 at) { TEXEL }
    void main() {
        ivec2 size = size_of();
        uint sum = uint(size.x) << 16 ^ uint(size.y);
        uint place = 0;
        for (int y = 0; y < size.y; y++) {
            for (int x = 0; x < size.x; x++) {
                uvec4 read = texel(ivec2(x, y));
                for (uint channel = 0; channel < channels; channel++) {
                    place++;
                    sum += read[channel] * place;
                }
            }
        }
        sums[slot] = sum;
    }";

/// The shader for one image with levels, or for an array of as many single-level images, the coarsest level first.
fn sum(levels: usize) -> String {
    let of_each = |read: &str| {
        let case = |level: usize| format!("case {level}: return {};", read.replace('#', &level.to_string()));
        let last = read.replace('#', "0");
        format!(
            "switch (mip) {{ {} }} return {last};",
            (0..levels).map(case).collect::<String>()
        )
    };
    let (images, size, texel) = match levels {
        1 => (
            String::new(),
            "return textureSize(image, int(mip));".to_owned(),
            "return texelFetch(image, at, int(mip));".to_owned(),
        ),
        _ => (
            format!("[{levels}]"),
            of_each("textureSize(image[#], 0)"),
            of_each("texelFetch(image[#], at, 0)"),
        ),
    };
    let images = format!("layout(set = 0, binding = 0) uniform utexture2D image{images};");
    SUM.replace("IMAGES", &images)
        .replace("SIZE", &size)
        .replace("TEXEL", &texel)
}

fn expected(texture: TextureId, shape: usize, level: Level) -> u32 {
    let vk::Extent2D { width, height } = SHAPES[shape].extent_at(level);
    let channels = if shape == 0 { 1 } else { 4 };
    let bytes = (width * height) as usize * channels;
    (0..bytes).fold(width << 16 ^ height, |sum, index| {
        sum.wrapping_add(u32::from(texel(texture, level, index)).wrapping_mul(index as u32 + 1))
    })
}

fn check(policy: PolicyDesc<'static>) {
    let mut gpu = Gpu::new(Capabilities::empty());
    let desc = TextureCacheDesc {
        policy,
        uploads: Bytes::kib(96),
        move_buffer: Bytes::kib(450),
        reader_stages: vk::PipelineStageFlags::COMPUTE_SHADER,
        ..TextureCacheDesc::new(&SHAPES, Bytes::kib(400))
    };
    let mut cache = TextureCache::new(gpu.runtime(), &desc).expect("a cache");
    for id in 0..60 {
        let chain = MipChainId(shape_of(TextureId(id)) as u16);
        cache.create(TextureId(id), chain).expect("in order");
    }
    let sums = gpu.host_buffer(4 * 64);
    let commands = gpu.primaries(2);
    let apart = policy.uploads == UploadMode::SingleLevels;
    let shader = sum(if apart { cache.geometry().levels() } else { 1 });
    let sum = gpu.compute_after(
        &[cache.set_layout()],
        &[vk::DescriptorType::STORAGE_BUFFER],
        &shader,
    );
    let set = gpu.set(&sum, &[Binding::Storage(sums.buffer)]);
    let device = gpu.device().clone();
    let queue = gpu.context.queues()[0].handle;
    let (mut whole, mut coarser, mut compared, mut moved) = (0, 0, 0, 0);
    for frame in 1..=40_u64 {
        // Along the row and back; the budget holds a third of it.
        let at = if frame < 20 { frame } else { 40 - frame } as u32 * 2;
        // SAFETY: each frame is waited for.
        unsafe { cache.begin(frame, frame - 1) }.expect("in turn");
        for (_, budget) in [(24, 250), (32, 420)]
            .into_iter()
            .filter(|&(when, _)| when == frame)
        {
            cache.set_budget(Bytes::kib(budget)).expect("it is another");
        }
        let shown: Vec<TextureId> = (at..at + 14).map(TextureId).collect();
        for &texture in &shown {
            let finest = SHAPES[shape_of(texture)].finest();
            let level = Level(finest.0 - ((texture.0 as u64 + frame / 4) % 3) as u8);
            cache.request(texture, level).expect("there");
        }
        let buffer = commands[frame as usize % 2];
        let info = vk::CommandBufferBeginInfo::default();
        // SAFETY: every frame is waited for.
        unsafe { device.begin_command_buffer(buffer, &info) }.expect("recording");
        // SAFETY: recording.
        let recorded = unsafe { cache.record(buffer, &mut paint) }.expect("recorded");
        moved += recorded.moved;
        // Everything that the policy keeps is resident at its level, and nothing else.
        assert_eq!(cache.pending(), 0);
        let mut places: Vec<(TextureId, Level)> = Vec::new();
        for (texture, _, _, level) in cache.blocks() {
            match places.last_mut().filter(|last| last.0 == texture) {
                None if !apart || level == Level(0) => places.push((texture, level)),
                Some(last) if level.0 == last.1.0 + 1 => last.1 = level,
                _ => assert!(apart, "{texture} is placed twice"),
            }
        }
        let mut places = places.into_iter();
        for texture in (0..60).map(TextureId) {
            let found = cache.texture(texture).map(|found| (texture, found.level));
            let place = found.and_then(|_| places.next());
            assert_eq!(found, place, "{texture} in frame {frame}");
        }
        assert_eq!(places.next(), None);
        let mut checks = Vec::new();
        for &texture in &shown {
            let shape = shape_of(texture);
            let Some(found) = cache.texture(texture) else {
                continue;
            };
            let mip = (frame as u32 + texture.0) % (u32::from(found.level.0) + 1);
            let level = Level(found.level.0 - mip as u8);
            // With an image for each level, missing finer levels use the finest one that is resident.
            let mip = match (apart, mip) {
                (false, mip) => mip,
                (true, 0) => cache.geometry().levels() as u32 - 1,
                (true, _) => u32::from(level.0),
            };
            let sets = [found.set, set];
            sum.bind(&device, buffer, None);
            // SAFETY: recording, with sets of the layout.
            unsafe { device.cmd_bind_descriptor_sets(buffer, sum.bind_point, sum.layout, 0, &sets, &[]) };
            sum.push(&device, buffer, &[mip, [1, 4][shape], checks.len() as u32]);
            // SAFETY: recording.
            unsafe { device.cmd_dispatch(buffer, 1, 1, 1) };
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
        // SAFETY: the queue belongs to this test.
        unsafe { device.queue_submit(queue, &[info], vk::Fence::null()) }.expect("submitted");
        // SAFETY: as above.
        unsafe { device.queue_wait_idle(queue) }.expect("complete");
        cache.end().expect("by the rules");
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
    // SAFETY: idle.
    unsafe { cache.destroy() };
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

/// Our policies, those that move textures, and those that place them again.
#[test]
fn every_texel_is_the_right_one() {
    for policy in [
        Coherent::WITHOUT_RELOCATION,
        Coherent::DESC,
        Coherent::KEEPING_LEVELS,
        Arenas::DESC,
        Arenas::FIRST_ATTEMPT,
        HeapCache::LRU_COMPACTING,
        Ring::DESC,
    ] {
        check(policy);
    }
}
