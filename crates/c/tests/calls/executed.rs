//! Frames that run in place of described ones map back to them, and are planned with the traffic of the described one.

use std::sync::Arc;

use ash::vk;
use tileheap::execute::ExecutedFrame;
use tileheap::frame::{Frame, FrameBuilder, ImageDesc, LoadOp};
use tileheap::lower::tables::commands::StoreShader;
use tileheap::measure::estimate;
use tileheap::plan::{PlanOptions, plan};
use tileheap::profile::DeviceProfile;
use tileheap_c::enums::PlanFlag;
use tileheap_c::executed::*;
use tileheap_c::frame::*;
use tileheap_c::opaque::*;
use tileheap_c::origins::*;
use tileheap_c::plan::*;
use tileheap_c::profile::destroy_profile;
use tileheap_c::stores::*;

use super::c::{self, call, fill, get, sized, slice, text};
use super::planning::{frames, in_c};

/// A frame in which one image is lent to two uses, one after the other.
fn lent_twice() -> Frame {
    let extent = vk::Extent2D {
        width: 1920,
        height: 1080,
    };
    let mut frame = FrameBuilder::new("lent twice", extent);
    let [pool, half, out] = ["pool", "half", "out"]
        .map(|name| frame.image(name, ImageDesc::new(vk::Format::R8G8B8A8_UNORM, extent)));
    let queue = frame.queue("graphics", vk::QueueFlags::GRAPHICS);
    let submit = frame.submit(queue);
    let batch = frame.batch(submit);
    let commands = frame.command_buffer(batch, "frame");
    frame.render_pass(commands, "ao").color(pool, LoadOp::DontCare);
    let apply = frame.render_pass(commands, "apply");
    apply.sampled(pool).color(half, LoadOp::DontCare);
    let down = frame.render_pass(commands, "down");
    down.sampled(half).color(pool, LoadOp::DontCare);
    let up = frame.render_pass(commands, "up");
    up.sampled(pool).color(out, LoadOp::DontCare);
    frame.build().unwrap()
}

fn origins_of(frame: FrameHandle) -> FrameOrigins {
    // SAFETY: it can be written.
    fill(|to, error| unsafe { get_frame_origins(frame, to, error) }).unwrap()
}

fn json_of(frame: FrameHandle) -> String {
    // SAFETY: it can be written.
    text(|to, error| unsafe { create_frame_text(frame, to, error) }).unwrap()
}

fn totals_of(plan: PlanHandle) -> PlanTotals {
    // SAFETY: it can be written.
    fill(|to, error| unsafe { get_plan_totals(plan, to, error) }).unwrap()
}

/// Checks that the arrays of a frame equal Rust's mapping.
fn leads_back(frame: FrameHandle, executed: &ExecutedFrame) {
    let origins = origins_of(frame);
    let described = slice(origins.described, origins.described_count);
    let passes = slice(origins.passes, origins.pass_count);
    assert_eq!(passes.len(), executed.frame().passes().len());
    for (id, pass) in executed.frame().pass_ids().zip(passes) {
        let runs = executed.described_passes(id).map(|run| DescribedPass {
            pass: run.pass.index() as u32,
            subpass: run.subpass,
        });
        assert_eq!(pass.described.of(described), runs.collect::<Vec<_>>());
    }
    let resources = slice(origins.resources, origins.resource_count);
    assert_eq!(resources.len(), executed.frame().resources().len());
    for (id, resource) in executed.frame().resource_ids().zip(resources) {
        let origin = executed.origins().resource(id);
        let value = origin.value.map_or((0, 0), |value| (value.number, value.count));
        assert_eq!(resource.described as usize, origin.resource.index());
        assert_eq!((resource.value, resource.value_count), value);
        let until = origin.until.map_or(u32::MAX, |pass| pass.index() as u32);
        assert_eq!(resource.until_pass, until);
        assert_eq!(resource.area, origin.area.unwrap_or_default());
    }
}

#[test]
fn values_are_placed_apart_and_count_as_the_described_frame() {
    let frame = lent_twice();
    let executed = ExecutedFrame::as_described(&frame).separate_values().unwrap();
    assert_eq!(executed.frame().resources().len(), 4);
    let profile = c::profile("adreno-830");
    let described = in_c(&frame);
    leads_back(described, &ExecutedFrame::as_described(&frame));
    // SAFETY: it can be written.
    let apart = get(|to, error| unsafe { create_frame_of_values(described, to, error) }).unwrap();
    assert_eq!(json_of(apart), executed.frame().to_json());
    leads_back(apart, &executed);
    // There is nothing left to divide.
    // SAFETY: it can be written.
    let again = get(|to, error| unsafe { create_frame_of_values(apart, to, error) }).unwrap();
    leads_back(again, &executed);

    let of_apart = c::plan(apart, profile, &sized()).unwrap();
    let of_described = c::plan(described, profile, &sized()).unwrap();
    let (totals, whole) = (totals_of(of_apart), totals_of(of_described));
    assert_eq!(totals.traffic_bytes, whole.traffic_bytes);
    let device = Arc::new(DeviceProfile::preset("adreno-830").unwrap());
    let needs = Arc::new(estimate(executed.frame(), &device).unwrap());
    let of_rust = plan(&executed, &needs, &device, &PlanOptions::default()).unwrap();
    assert_eq!(totals.on_chip_bytes, of_rust.totals.on_chip_bytes.0);
    assert_eq!(totals.dram_bytes, of_rust.dram_traffic().0);

    // The frame that was planned: it gives the same plan.
    // SAFETY: it can be written.
    let input = get(|to, error| unsafe { create_input_frame(of_apart, to, error) }).unwrap();
    leads_back(input, &executed);
    let replanned = c::plan(input, profile, &sized()).unwrap();
    // SAFETY: it can be written.
    let equal: vk::Bool32 =
        get(|to, error| unsafe { compare_plans(of_apart, replanned, to, error) }).unwrap();
    assert_eq!(equal, vk::TRUE);
    for plan in [of_apart, of_described, replanned] {
        call(|error| check_plan(plan, error)).unwrap();
        call(|_| destroy_plan(plan)).unwrap();
    }
    for frame in [described, apart, again, input] {
        call(|_| destroy_frame(frame)).unwrap();
    }
    call(|_| destroy_profile(profile)).unwrap();
}

#[test]
fn the_frame_of_a_plan_leads_back_past_its_stores() {
    let profile = c::profile("adreno-830");
    let device = Arc::new(DeviceProfile::preset("adreno-830").unwrap());
    let options = PlanOptionsDesc {
        flags: PlanFlag::Split as u32,
        ..sized()
    };
    let mut stores = 0;
    for frame in frames() {
        let described = in_c(&frame);
        let planned = c::plan(described, profile, &options).unwrap();
        let needs = Arc::new(estimate(&frame, &device).unwrap());
        let split = PlanOptions {
            split: true,
            ..PlanOptions::default()
        };
        let of_rust = plan(&frame, &needs, &device, &split).unwrap();
        stores += of_rust.stores().count();
        // SAFETY: it can be written.
        let runs = get(|to, error| unsafe { create_planned_frame(planned, to, error) }).unwrap();
        leads_back(runs, &of_rust.executed());
        // SAFETY: it can be written.
        let input = get(|to, error| unsafe { create_input_frame(planned, to, error) }).unwrap();
        assert_eq!(json_of(input), frame.to_json());
        for frame in [described, runs, input] {
            call(|_| destroy_frame(frame)).unwrap();
        }
        call(|_| destroy_plan(planned)).unwrap();
    }
    assert!(stores > 0, "a lifetime is split");
    call(|_| destroy_profile(profile)).unwrap();
}

#[test]
fn the_shaders_of_stores_are_those_of_the_runtime() {
    use StoreShader::*;
    for shader in [Float, Int, Uint, Depth, Buffer] {
        // SAFETY: it can be written.
        let found: StoreShaders =
            fill(|to, error| unsafe { get_store_shaders(shader as u32, to, error) }).unwrap();
        let vertex = slice(found.vertex_words, found.vertex_word_count);
        let words = slice(found.words, found.word_count);
        let expected = shader.spirv();
        assert_eq!(expected.last(), Some(&(found.stage, words)));
        assert_eq!(expected.len(), if shader == Buffer { 1 } else { 2 });
        let expected_vertex = expected[..expected.len() - 1].first();
        let expected_vertex = expected_vertex.map_or(&[][..], |(_, words)| *words);
        assert_eq!(vertex, expected_vertex, "{shader:?}");
    }
    // SAFETY: it can be written.
    let unknown = fill::<StoreShaders>(|to, error| unsafe { get_store_shaders(5, to, error) });
    assert_eq!(
        unknown.unwrap_err().1,
        "thGetStoreShaders: shader is 5: ThStoreShader has the values 0 to 4"
    );
}
