//! The cost of a frame of 30 passes and 40 resources through the C interface, and from Rust: known to the planner, and changed. *Planning* validates
//! a description, finds or makes its plan, and lowers it; *recording* runs the frame through the runtime. Rust also describes the frame again; in C
//! the description is the caller's arrays.
//!
//! With `TILEHEAP_COUNT=GROUP/NAME=CALLS`, only calls one of the functions as often, for scripts/measure-c.sh.

#[path = "../../tests/calls/c.rs"]
#[allow(dead_code, reason = "test programs use the rest")]
mod c;
#[path = "../../tests/calls/described.rs"]
mod described;
mod recording;

use std::hint::black_box;
use std::ptr::null_mut;
use std::sync::Arc;

use ash::vk;
use criterion::{Criterion, criterion_group, criterion_main};
use tileheap::frame::external::ExternalDesc;
use tileheap::frame::{FrameBuilder, ImageDesc, LoadOp, Persistence};
use tileheap::lower::{DeviceQueues, Lowerer, LoweringDesc};
use tileheap::measure::estimate;
use tileheap::plan::{PlanOptions, Planner, plan};
use tileheap::profile::DeviceProfile;
use tileheap_c::frame::*;
use tileheap_c::lowerer::*;
use tileheap_c::opaque::*;
use tileheap_c::plan::*;
use tileheap_c::profile::*;
use tileheap_c::requirements::*;

use c::{get, sized, view};
use described::Described;

const PROFILE: &str = "adreno-830";
const NAME: &str = "30 passes, 40 resources";

/// Describes a frame of 30 render passes: each reads two images that earlier passes wrote, and writes one or two.
fn describe(frame: &mut FrameBuilder, name: &str) {
    let extent = vk::Extent2D {
        width: 1920,
        height: 1080,
    };
    frame.reset(name, extent);
    let formats = [
        vk::Format::R8G8B8A8_UNORM,
        vk::Format::R16G16B16A16_SFLOAT,
        vk::Format::R8_UNORM,
    ];
    let image = |frame: &mut FrameBuilder, index: usize| {
        let scale = 1.0 / (1 << (index % 3)) as f32;
        frame.image(
            format!("image {index}"),
            ImageDesc::scaled(formats[index % 3], scale, scale),
        )
    };
    let images: Vec<_> = (0..39).map(|index| image(frame, index)).collect();
    let screen = ImageDesc::scaled(formats[0], 1.0, 1.0);
    let screen = frame.resource("screen", screen, Persistence::External(ExternalDesc::SWAPCHAIN));
    let queue = frame.queue("graphics", vk::QueueFlags::GRAPHICS);
    let submit = frame.submit(queue);
    let mut written = 0;
    let mut commands = None;
    for pass in 0..30 {
        if pass % 15 == 0 {
            let batch = frame.batch(submit);
            commands = Some(frame.command_buffer(batch, format!("commands {pass}")));
        }
        let commands = commands.expect("pass 0 has one");
        let mut builder = frame.render_pass(commands, format!("pass {pass}"));
        for back in [1, 5] {
            if written >= back {
                builder = builder.sampled(images[written - back]);
            }
        }
        let outputs = if pass == 29 {
            0
        } else {
            1 + usize::from(pass % 3 == 0)
        };
        for output in &images[written..written + outputs] {
            builder = builder.color(*output, LoadOp::DontCare);
        }
        written += outputs;
        if pass == 29 {
            builder.color(screen, LoadOp::DontCare);
        }
    }
    assert_eq!(written, images.len());
}

/// Measures a function, or only calls it if it is the one to be counted.
fn measure(criterion: &mut Criterion, group: &str, name: &str, mut function: impl FnMut()) {
    let Ok(counted) = std::env::var("TILEHEAP_COUNT") else {
        let mut group = criterion.benchmark_group(group);
        group.bench_function(name, |bencher| bencher.iter(&mut function));
        return group.finish();
    };
    let (which, calls) = counted.split_once('=').expect("GROUP/NAME=CALLS");
    if which == format!("{group}/{name}") {
        let calls = calls.parse().expect("a number of calls");
        (0..calls).for_each(|_: u32| function());
    }
}

fn cost(criterion: &mut Criterion) {
    let mut builder = FrameBuilder::default();
    describe(&mut builder, NAME);
    let frame = builder.to_frame().unwrap();
    let profile = Arc::new(DeviceProfile::preset(PROFILE).unwrap());
    let needs = Arc::new(estimate(&frame, &profile).unwrap());
    let options = PlanOptions::default();
    let lowering_desc = LoweringDesc::first(DeviceQueues::single_queue(&frame));

    let described = Described::new(&frame);
    // SAFETY: the description is alive.
    let c_frame = unsafe { c::frame(&described.desc) }.unwrap();
    // SAFETY: the name is alive.
    let c_profile = get(|to, error| unsafe { create_profile(view(PROFILE), to, error) }).unwrap();
    // SAFETY: it can be written.
    let c_needs =
        get(|to, error| unsafe { create_estimated_requirements(c_frame, c_profile, to, error) }).unwrap();
    // SAFETY: it can be written.
    let c_planner: PlannerHandle = get(|to, error| unsafe { create_planner(to, error) }).unwrap();
    // SAFETY: it can be written.
    let c_lowerer: LowererHandle = get(|to, error| unsafe { create_lowerer(to, error) }).unwrap();
    // SAFETY: it can be written.
    let c_error: ErrorHandle = get(|to, _| unsafe { tileheap_c::text::create_error(to) }).unwrap();

    for (group, known) in [("planning known", true), ("planning changed", false)] {
        let (mut planner, mut lowerer) = (Planner::default(), Lowerer::default());
        measure(criterion, group, "rust", || {
            describe(&mut builder, NAME);
            let frame = builder.to_frame().unwrap();
            let plan = match known {
                true => planner.plan(&frame, &needs, &profile, &options).unwrap(),
                false => Arc::new(plan(&frame, &needs, &profile, &options).unwrap()),
            };
            let tables = lowerer.lower(&plan, &lowering_desc).unwrap();
            black_box(tables.passes.len());
            lowerer.recycle(tables);
        });
        measure(criterion, group, "c", || {
            let (mut frame, mut plan) = (null_mut(), null_mut());
            // SAFETY: the description is alive, and it can be written.
            let status = unsafe { create_frame(&described.desc, &mut frame, c_error) };
            assert!(status as i32 >= 0);
            let desc = PlanDesc {
                frame,
                requirements: c_needs,
                profile: c_profile,
                planner: if known { c_planner } else { null_mut() },
                ..sized()
            };
            // SAFETY: it can be written.
            let status = unsafe { create_plan(&desc, &mut plan, c_error) };
            assert!(status as i32 >= 0);
            let desc = LowerDesc { plan, ..sized() };
            let mut tables: Lowered = sized();
            // SAFETY: it can be written.
            let status = unsafe { lower(c_lowerer, &desc, &mut tables, c_error) };
            assert!(status as i32 >= 0);
            black_box(tables.pass_count);
            destroy_plan(plan);
            destroy_frame(frame);
        });
    }
    recording::compare(criterion, &frame, describe);
}

criterion_group!(benches, cost);
criterion_main!(benches);
