//! Whether a buffer that is read several times is staged in a texture first.

use std::time::Duration;

use tileheap::runtime::Context;
use tileheap_tensor::ElementType;
use tileheap_tensor::layout::Convention;
use tileheap_tensor::units::Bytes;
use tileheap_tensor::vulkan::scratch::{
    GrowthPolicy, KernelCall, Scratch, ScratchDesc, ScratchOperand, ScratchPool, ScratchScope, StagingCost,
};
use tileheap_tensor::vulkan::{HostBuffer, KernelSet};

use crate::{REPEATS, TURNS, device};

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

pub(crate) fn measure(context: &Context, element: ElementType) -> tileheap_tensor::Result<()> {
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
    device::timed(context, |commands| {
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
            let took = device::timed(context, |commands| {
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
    let Tensors {
        buffer,
        texture,
        result,
    } = tensors;
    for scratch in [buffer, texture, result] {
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
    commands: ash::vk::CommandBuffer,
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
