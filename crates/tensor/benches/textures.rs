//! One kernel, one tensor, from a buffer and from textures: whether staging pays (`StagingCost`) on the device at hand.
//!
//! ```text
//! cargo bench --bench textures
//! ```
//! Means over windows of growing size, which read every vector of their source as often as the window has places: from the buffer, from a
//! texture, and from a texture that the buffer is copied to first. The costs that follow from them, as `StagingCost` takes them, and whether its rule
//! stages where that was quicker. Every variant runs 16 times in one submission, variants in turn; the least time of 12 turns counts.
//! Without Vulkan it says so and measures nothing.

use std::time::{Duration, Instant};

use ash::vk;
use tileheap::runtime::{Context, ContextDesc};
use tileheap_tensor::ElementType;
use tileheap_tensor::layout::Convention;
use tileheap_tensor::units::Bytes;
use tileheap_tensor::vulkan::scratch::{
    GrowthPolicy, KernelCall, Scratch, ScratchDesc, ScratchOperand, ScratchPool, ScratchScope, StagingCost,
};
use tileheap_tensor::vulkan::{HostBuffer, KernelSet};

const REPEATS: usize = 16;
const TURNS: usize = 12;
/// 64 channels of 56 x 56: `[n, c/4, h, w, 4]`.
const SHAPE: [u64; 5] = [1, 16, 56, 56, 4];
/// Sides of windows.
const WINDOWS: [i32; 5] = [1, 2, 3, 5, 7];

/// What is timed: a mean over windows of this side, or the copy alone.
#[derive(Clone, Copy, PartialEq)]
enum Work {
    Copy,
    Buffer(i32),
    Texture(i32),
    /// The copy, and the mean of the copy.
    Staged(i32),
}

struct Tensors {
    buffer: Scratch,
    texture: Scratch,
    result: Scratch,
}

fn main() {
    let context = match Context::new(&ContextDesc::from_env("tileheap: textures")) {
        Ok(context) => context,
        Err(error) => return println!("nothing measured: {error}"),
    };
    println!("{}", context.tile().profile().name);
    for element in [ElementType::Float32, ElementType::Float16] {
        if let Err(error) = measure(&context, element) {
            println!("staging of {element}: {error}");
        }
    }
    context.destroy();
}

fn measure(context: &Context, element: ElementType) -> tileheap_tensor::Result<()> {
    let desc = ScratchDesc {
        cap: Bytes::mib(64),
        growth: GrowthPolicy::Never,
        kernels: KernelSet::new(),
    };
    let mut pool = ScratchPool::new(context.tile(), desc);
    let size = SHAPE.iter().product::<u64>() * element.bytes();
    let mut host = HostBuffer::new(context.tile(), size)?;
    host.write(&vec![0; size as usize]);
    let image = ScratchScope::Image(Convention::Texture);
    let mut allocate = |scope| pool.allocate(&SHAPE, element, scope);
    let tensors = Tensors {
        buffer: allocate(ScratchScope::Buffer)?,
        texture: allocate(image)?,
        result: allocate(ScratchScope::Buffer)?,
    };
    let filled = ScratchOperand::Buffer {
        buffer: host.buffer(),
        shape: &SHAPE,
        filled: true,
    };
    timed(context, |commands| {
        let (buffer, texture) = (
            ScratchOperand::Scratch(&tensors.buffer),
            ScratchOperand::Scratch(&tensors.texture),
        );
        for operands in [[filled, buffer], [buffer, texture]] {
            // SAFETY: recording; everything outlives the wait.
            unsafe { pool.dispatch(commands, &copy(&operands, element)) }.expect("recorded");
        }
    });
    let mut works = vec![(Work::Copy, Duration::MAX)];
    for window in WINDOWS {
        let kinds = [Work::Buffer(window), Work::Texture(window), Work::Staged(window)];
        works.extend(kinds.map(|work| (work, Duration::MAX)));
    }
    for turn in 0..TURNS {
        for index in 0..works.len() {
            // Another one first at every turn, so that none is always behind the same.
            let index = (index + turn) % works.len();
            let work = works[index].0;
            let took = timed(context, |commands| {
                for _ in 0..REPEATS {
                    // SAFETY: recording; everything outlives the wait.
                    unsafe { record(&mut pool, commands, &tensors, element, work) }.expect("recorded");
                }
            });
            works[index].1 = works[index].1.min(took);
        }
    }
    let each = |work: Work| {
        let found = works.iter().find(|(of, _)| *of == work).expect("it was timed");
        found.1.as_secs_f64() * 1e6 / REPEATS as f64
    };
    print(element, &each);
    for scratch in [tensors.buffer, tensors.texture, tensors.result] {
        pool.free(scratch);
    }
    // SAFETY: everything was waited for.
    unsafe { pool.destroy() };
    // SAFETY: everything was waited for.
    unsafe { host.destroy() };
    Ok(())
}

/// # Safety
/// As [`ScratchPool::dispatch`].
unsafe fn record(
    pool: &mut ScratchPool,
    commands: vk::CommandBuffer,
    tensors: &Tensors,
    element: ElementType,
    work: Work,
) -> tileheap_tensor::Result<()> {
    let [buffer, texture, result] =
        [&tensors.buffer, &tensors.texture, &tensors.result].map(ScratchOperand::Scratch);
    if let Work::Copy | Work::Staged(_) = work {
        // SAFETY: the caller's duty.
        unsafe { pool.dispatch(commands, &copy(&[buffer, texture], element)) }?;
    }
    let (source, window) = match work {
        Work::Copy => return Ok(()),
        Work::Buffer(window) => (buffer, window),
        Work::Texture(window) | Work::Staged(window) => (texture, window),
    };
    let (padding, operands) = (window / 2, [source, result]);
    let call = KernelCall {
        kernel: "pool",
        numbers: [[1, 1, padding, padding], [window, window, 0, 0], [0; 4], [0; 4]],
        ..copy(&operands, element)
    };
    // SAFETY: the caller's duty.
    unsafe { pool.dispatch(commands, &call) }
}

fn copy<'a>(operands: &'a [ScratchOperand<'a>], element: ElementType) -> KernelCall<'a> {
    KernelCall {
        kernel: "copy",
        operands,
        element,
        numbers: [[0; 4]; 4],
        tile: [1, 1],
    }
}

/// How many vectors a mean over windows of this side reads; those at the border are smaller.
fn reads(window: i32) -> f64 {
    let [n, c, h, w, _] = SHAPE;
    let along = |side: u64| -> u64 {
        let (side, padding) = (side as i64, i64::from(window / 2));
        let places = (0..side).map(|at| {
            let first = at - padding;
            (first + i64::from(window)).min(side) - first.max(0)
        });
        places.sum::<i64>() as u64
    };
    (n * c * along(h) * along(w)) as f64
}

/// The table, the costs of a vector, and the rule beside what was measured.
fn print(element: ElementType, each: &dyn Fn(Work) -> f64) {
    let [n, c, h, w, _] = SHAPE;
    let vectors = (n * c * h * w) as f64;
    // What a dispatch takes anyway does not count; the median of all slopes, as one slow run would tilt a line through all points.
    let read = |of: &dyn Fn(i32) -> Work| {
        let pairs = WINDOWS
            .iter()
            .enumerate()
            .flat_map(|(index, &less)| WINDOWS[index + 1..].iter().map(move |&more| (less, more)));
        let slope = |(less, more)| (each(of(more)) - each(of(less))) / (reads(more) - reads(less)) * 1e6;
        let mut slopes: Vec<f64> = pairs.map(slope).collect();
        slopes.sort_unstable_by(f64::total_cmp);
        slopes[slopes.len() / 2].max(0.0)
    };
    let (from_buffer, from_texture) = (read(&Work::Buffer), read(&Work::Texture));
    let written = (each(Work::Copy) * 1e6 / vectors - from_buffer).max(0.0);
    let cost = StagingCost {
        buffer_read: from_buffer.round() as u32,
        texture_read: from_texture.round() as u32,
        texture_write: written.round() as u32,
    };
    println!(
        "staging, {} channels of {h} x {w}, {element}: a copy to a texture takes {:.1} us",
        4 * c,
        each(Work::Copy)
    );
    println!("  window  reads   from the buffer  from a texture   staged first            the rule");
    let mut right = 0;
    for window in WINDOWS {
        let times = [Work::Buffer(window), Work::Texture(window), Work::Staged(window)].map(each);
        let [buffer, texture, staged] = times;
        let count = (window * window) as u64;
        let (pays, paid) = (cost.pays(count), staged < buffer);
        right += u32::from(pays == paid);
        println!(
            "  {window} x {window} {count:7} {buffer:14.1} us {texture:12.1} us {staged:11.1} us {:6.2} x   {}{}",
            staged / buffer,
            if pays { "stages" } else { "does not stage" },
            if pays == paid { "" } else { ": wrong" },
        );
    }
    println!("  {cost:?}, in picoseconds a vector");
    let breaks_even = f64::from(cost.buffer_read + cost.texture_write)
        / f64::from(cost.buffer_read.saturating_sub(cost.texture_read));
    match breaks_even.is_finite() {
        true => println!(
            "  it pays from {:.0} reads of every vector on",
            breaks_even.floor() + 1.0
        ),
        false => println!("  it never pays: a texture's read takes no less than a buffer's"),
    }
    println!("  the rule was right for {right} of {} windows", WINDOWS.len());
}

/// How long what `record` records takes, from submission to completion.
fn timed(context: &Context, record: impl FnOnce(vk::CommandBuffer)) -> Duration {
    let (device, queue) = (context.device(), context.queues()[0]);
    let info = vk::CommandPoolCreateInfo::default().queue_family_index(queue.family);
    // SAFETY: the device has the family.
    let pool = unsafe { device.create_command_pool(&info, None) }.expect("a command pool");
    let info = vk::CommandBufferAllocateInfo::default()
        .command_pool(pool)
        .command_buffer_count(1);
    // SAFETY: the pool was just created.
    let commands = unsafe { device.allocate_command_buffers(&info) }.expect("a command buffer");
    // SAFETY: new.
    unsafe { device.begin_command_buffer(commands[0], &Default::default()) }.expect("recording");
    record(commands[0]);
    // SAFETY: recording.
    unsafe { device.end_command_buffer(commands[0]) }.expect("recorded");
    let submit = vk::SubmitInfo::default().command_buffers(&commands);
    let start = Instant::now();
    // SAFETY: nobody else uses the queue.
    unsafe { device.queue_submit(queue.handle, &[submit], vk::Fence::null()) }.expect("submitted");
    // SAFETY: nobody else uses the queue.
    unsafe { device.queue_wait_idle(queue.handle) }.expect("done");
    let took = start.elapsed();
    // SAFETY: idle.
    unsafe { device.destroy_command_pool(pool, None) };
    took
}
