//! Scratch textures: the RFC's `addone`, recycling, growth, the cap, staging where it pays.

use ash::vk;
use tileheap::runtime::Capabilities;
use tileheap_tensor::ElementType;
use tileheap_tensor::layout::Convention;
use tileheap_tensor::units::Bytes;
use tileheap_tensor::vulkan::scratch::{
    GrowthPolicy, KernelCall, ScratchDesc, ScratchOperand, ScratchPool, ScratchScope, StagingCost,
};
use tileheap_tensor::vulkan::{HostBuffer, KernelSet};

use crate::gpu::Gpu;
use crate::rig::noise;

const SHAPE: [u64; 3] = [32, 32, 4];

fn pool(gpu: &Gpu, cap: Bytes, growth: GrowthPolicy) -> ScratchPool {
    let kernels = KernelSet::new();
    ScratchPool::new(gpu.tile(), ScratchDesc { cap, growth, kernels })
}

/// Records with `record`, submits, waits.
fn submit(gpu: &mut Gpu, record: impl FnOnce(vk::CommandBuffer)) {
    let commands = gpu.primaries(1);
    let device = gpu.device().clone();
    // SAFETY: new.
    unsafe { device.begin_command_buffer(commands[0], &Default::default()) }.expect("recording");
    record(commands[0]);
    let visible = [vk::MemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::SHADER_WRITE)
        .dst_access_mask(vk::AccessFlags::HOST_READ)];
    let (from, to) = (
        vk::PipelineStageFlags::COMPUTE_SHADER,
        vk::PipelineStageFlags::HOST,
    );
    // SAFETY: recording.
    unsafe { device.cmd_pipeline_barrier(commands[0], from, to, Default::default(), &visible, &[], &[]) };
    // SAFETY: recording.
    unsafe { device.end_command_buffer(commands[0]) }.expect("recorded");
    let info = vk::SubmitInfo::default().command_buffers(&commands);
    let queue = gpu.context.queues()[0].handle;
    // SAFETY: nobody else uses the queue.
    unsafe { device.queue_submit(queue, &[info], vk::Fence::null()) }.expect("submitted");
    // SAFETY: as above.
    unsafe { device.queue_wait_idle(queue) }.expect("done");
}

/// `x + 1` in tiles of 4 x 4 vectors, from a buffer or a texture.
fn add_one<'a>(operands: &'a [ScratchOperand<'a>]) -> KernelCall<'a> {
    KernelCall {
        kernel: "add_one",
        operands,
        element: ElementType::Float32,
        numbers: [[0; 4]; 4],
        tile: [4, 4],
    }
}

#[test]
fn add_one_through_every_scope_in_textures_that_are_recycled() {
    let mut gpu = Gpu::new(Capabilities::empty());
    let tile = gpu.tile().clone();
    let mut pool = pool(&gpu, Bytes::mib(1), GrowthPolicy::LeastArea);
    let elements = noise(3, 32 * 32 * 4);
    let mut x = HostBuffer::new(&tile, 32 * 32 * 16).expect("a buffer");
    x.write_floats(&elements);
    let images = Convention::ALL.into_iter();
    let images =
        images.flat_map(|convention| [ScratchScope::Image(convention), ScratchScope::Array(convention)]);
    let scopes: Vec<_> = [ScratchScope::Buffer, ScratchScope::TexelBuffer]
        .into_iter()
        .chain(images)
        .collect();
    let ys: Vec<_> = scopes
        .iter()
        .map(|_| HostBuffer::new(&tile, x.buffer().size).expect("a buffer"))
        .collect();
    submit(&mut gpu, |commands| {
        for (scope, y) in scopes.iter().zip(&ys) {
            let staged = pool
                .allocate(&SHAPE, ElementType::Float32, *scope)
                .expect("allocated");
            let given = |host: &HostBuffer, filled| ScratchOperand::Buffer {
                buffer: host.buffer(),
                shape: &SHAPE,
                filled,
            };
            let copy = [given(&x, true), ScratchOperand::Scratch(&staged)];
            let copy = KernelCall {
                kernel: "copy",
                tile: [1, 1],
                ..add_one(&copy)
            };
            // SAFETY: recording; the buffers outlive the wait.
            unsafe { pool.dispatch(commands, &copy) }.unwrap_or_else(|error| panic!("{scope:?}: {error}"));
            let compute = [ScratchOperand::Scratch(&staged), given(y, false)];
            // SAFETY: as above.
            unsafe { pool.dispatch(commands, &add_one(&compute)) }
                .unwrap_or_else(|error| panic!("{scope:?}: {error}"));
            pool.free(staged);
        }
    });
    for (scope, y) in scopes.iter().zip(&ys) {
        let expected: Vec<f32> = elements.iter().map(|element| element + 1.0).collect();
        assert_eq!(y.read_floats(), expected, "{scope:?}");
    }
    // Buffer, texel buffer, and of images one square, one long; of arrays 32 layers of a row, one of 32 rows, one row.
    assert!(
        pool.len() < scopes.len(),
        "{} things for {} requests",
        pool.len(),
        scopes.len()
    );
    for host in ys.into_iter().chain([x]) {
        // SAFETY: waited for.
        unsafe { host.destroy() };
    }
    // SAFETY: waited for.
    unsafe { pool.destroy() };
    gpu.finish();
}

#[test]
fn textures_are_recycled_in_program_order_grown_by_the_rule_and_capped() {
    let gpu = Gpu::new(Capabilities::empty());
    let image = ScratchScope::Image(Convention::Texture);
    let mut pool = pool(&gpu, Bytes::kib(256), GrowthPolicy::LeastArea);
    let allocate = |pool: &mut ScratchPool, sides: [u64; 2]| {
        pool.allocate(&[sides[0], sides[1], 4], ElementType::Float32, image)
    };
    let first = allocate(&mut pool, [64, 64]).expect("64 KiB");
    let second = allocate(&mut pool, [64, 64]).expect("64 KiB");
    assert_eq!(pool.len(), 2);
    pool.free(first);
    // Smaller: it fits. Larger by a quarter: it is grown, and the old one stays until nothing can be in flight.
    let third = allocate(&mut pool, [32, 60]).expect("recycled");
    assert_eq!(pool.len(), 2);
    pool.free(third);
    let before = pool.held();
    let fourth = allocate(&mut pool, [64, 80]).expect("grown");
    assert_eq!(pool.len(), 2);
    assert!(pool.held() > before);
    // SAFETY: nothing was recorded.
    unsafe { pool.trim() };
    assert_eq!(pool.len(), 2);
    let said = allocate(&mut pool, [128, 128])
        .expect_err("over the cap")
        .to_string();
    assert!(
        said.contains("262,144 B") && said.contains("cap") || said.contains("at most"),
        "{said}"
    );
    let said = allocate(&mut pool, [1, 1 << 20])
        .expect_err("over the limits")
        .to_string();
    assert!(said.contains("limit"), "{said}");
    let said = pool
        .allocate(&[8, 8, 3], ElementType::Float32, image)
        .expect_err("no vectors")
        .to_string();
    assert!(said.contains("4"), "{said}");
    pool.free(second);
    pool.free(fourth);
    // SAFETY: nothing was recorded.
    unsafe { pool.trim() };
    assert!(pool.is_empty());
    // SAFETY: nothing was recorded.
    unsafe { pool.destroy() };
    gpu.finish();
}

#[test]
fn a_buffer_is_staged_where_its_reads_outweigh_the_copy() {
    let mut gpu = Gpu::new(Capabilities::empty());
    let tile = gpu.tile().clone();
    let mut pool = pool(&gpu, Bytes::mib(1), GrowthPolicy::Never);
    let mut x = HostBuffer::new(&tile, 32 * 32 * 16).expect("a buffer");
    x.write_floats(&noise(5, 32 * 32 * 4));
    let given = (x.buffer(), &SHAPE[..]);
    let image = ScratchScope::Image(Convention::Texture);
    submit(&mut gpu, |commands| {
        for (reads, expected) in [(1, false), (4, false), (9, true)] {
            let cost = (StagingCost::CACHED_TEXTURES, reads);
            // SAFETY: recording; the buffer outlives the wait.
            let staged = unsafe { pool.stage(commands, given, ElementType::Float32, image, cost) };
            let staged = staged.unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(staged.is_some(), expected, "{reads} reads");
            if let Some(staged) = staged {
                pool.free(staged);
            }
        }
    });
    // What was freed holds nothing: reading it is refused.
    let fresh = pool
        .allocate(&SHAPE, ElementType::Float32, image)
        .expect("recycled");
    let y = ScratchOperand::Buffer {
        buffer: x.buffer(),
        shape: &SHAPE,
        filled: false,
    };
    let operands = [ScratchOperand::Scratch(&fresh), y];
    // SAFETY: refused before anything is recorded.
    let said = unsafe { pool.dispatch(vk::CommandBuffer::null(), &add_one(&operands)) };
    assert!(said.is_err());
    pool.free(fresh);
    // SAFETY: waited for.
    unsafe { x.destroy() };
    // SAFETY: waited for.
    unsafe { pool.destroy() };
    gpu.finish();
}
