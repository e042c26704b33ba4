//! Scratch textures: the RFC's `addone`, recycling, growth, the cap.

use ash::vk;
use tileheap::runtime::Capabilities;
use tileheap_tensor::ElementType;
use tileheap_tensor::layout::Convention;
use tileheap_tensor::units::Bytes;
use tileheap_tensor::vulkan::scratch::{
    GrowthPolicy, KernelCall, ScratchDesc, ScratchOperand, ScratchPool, ScratchScope,
};
use tileheap_tensor::vulkan::{HostBuffer, KernelSet};

use crate::gpu::Gpu;
use crate::rig::submit;
use tileheap_testkit::tensor::{assert_says, noise};

const SHAPE: [u64; 3] = [32, 32, 4];

fn pool(gpu: &Gpu, max_bytes: Bytes, growth: GrowthPolicy) -> ScratchPool {
    let kernels = KernelSet::new();
    ScratchPool::new(
        gpu.runtime(),
        ScratchDesc {
            max_bytes,
            growth,
            kernels,
        },
    )
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
    let tile = gpu.runtime().clone();
    let mut pool = pool(&gpu, Bytes::mib(1), GrowthPolicy::LeastArea);
    let elements = noise(3, 32 * 32 * 4);
    let mut x = HostBuffer::new(&tile, 32 * 32 * 16).expect("a buffer");
    x.write_floats(&elements);
    let images = Convention::ALL.map(|of| [ScratchScope::Image(of), ScratchScope::Array(of)]);
    let mut scopes = vec![ScratchScope::Buffer, ScratchScope::TexelBuffer];
    scopes.extend(images.into_iter().flatten());
    let host = |_: &ScratchScope| HostBuffer::new(&tile, x.buffer().size).expect("a buffer");
    let ys: Vec<_> = scopes.iter().map(host).collect();
    submit(&mut gpu, |commands| {
        for (scope, y) in scopes.iter().zip(&ys) {
            let staged = pool
                .allocate(&SHAPE, ElementType::Float32, *scope)
                .expect("allocated");
            let given = |host: &HostBuffer, has_contents| ScratchOperand::Buffer {
                buffer: host.buffer(),
                shape: &SHAPE,
                has_contents,
            };
            let copy = [given(&x, true), ScratchOperand::Scratch(&staged)];
            let copy = KernelCall {
                kernel: "copy",
                tile: [1, 1],
                ..add_one(&copy)
            };
            let compute = [ScratchOperand::Scratch(&staged), given(y, false)];
            for call in [copy, add_one(&compute)] {
                // SAFETY: recording; the buffers outlive the wait.
                unsafe { pool.dispatch(commands, &call) }
                    .unwrap_or_else(|error| panic!("{scope:?}: {error}"));
            }
            pool.free(staged);
        }
    });
    for (scope, y) in scopes.iter().zip(&ys) {
        let expected: Vec<f32> = elements.iter().map(|element| element + 1.0).collect();
        assert_eq!(y.read_floats(), expected, "{scope:?}");
    }
    // Buffer, texel buffer; a square and a long image; arrays with 32 layers of a row, with one layer of 32 rows, with
    // one row.
    let (count, requests) = (pool.len(), scopes.len());
    assert!(count < requests, "{count} things for {requests} requests");
    for host in ys.into_iter().chain([x]) {
        // SAFETY: waited for.
        unsafe { host.destroy() };
    }
    // SAFETY: waited for.
    unsafe { pool.destroy() };
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
    // A smaller request fits. A larger one, by a quarter, enlarges it; the old one is kept until nothing can be in flight.
    let third = allocate(&mut pool, [32, 60]).expect("recycled");
    assert_eq!(pool.len(), 2);
    pool.free(third);
    let before = pool.held_bytes();
    let fourth = allocate(&mut pool, [64, 80]).expect("grown");
    assert_eq!(pool.len(), 2);
    assert!(pool.held_bytes() > before);
    // SAFETY: nothing was recorded.
    unsafe { pool.trim() };
    assert_eq!(pool.len(), 2);
    let over_the_cap = allocate(&mut pool, [128, 128]).unwrap_err();
    assert_says(over_the_cap, &["262,144 B", "at most"]);
    assert_says(allocate(&mut pool, [1, 1 << 20]).unwrap_err(), &["limit"]);
    let no_vectors = pool.allocate(&[8, 8, 3], ElementType::Float32, image);
    assert_says(no_vectors.unwrap_err(), &["a last axis of 4 elements"]);
    // A recycled texture has no contents: reading it is refused.
    let operands = [&second, &fourth].map(ScratchOperand::Scratch);
    // SAFETY: refused before anything is recorded.
    assert!(unsafe { pool.dispatch(vk::CommandBuffer::null(), &add_one(&operands)) }.is_err());
    let refused = [
        (
            ElementType::Float16,
            "the call's elements are float16, but an operand's are float32",
        ),
        (
            ElementType::Int32,
            "kernels support only float32 and float16 elements",
        ),
    ];
    for (element, why) in refused {
        let call = KernelCall {
            element,
            ..add_one(&operands)
        };
        // SAFETY: refused before anything is recorded.
        let refusal = unsafe { pool.dispatch(vk::CommandBuffer::null(), &call) }.unwrap_err();
        assert_says(refusal, &["add_one", why]);
    }
    pool.free(second);
    pool.free(fourth);
    // SAFETY: nothing was recorded.
    unsafe { pool.trim() };
    assert!(pool.is_empty());
    // SAFETY: nothing was recorded.
    unsafe { pool.destroy() };
}
