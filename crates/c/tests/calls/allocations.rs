//! Lowering into the same object allocates no more than Rust's, which allocates nothing but for the checks of debug builds. (For the runtime:
//! `runtime::frames`.)

use std::ptr::null_mut;
use std::sync::Arc;

use tileheap::frame::Frame;
use tileheap::lower::{DeviceQueues, Lowerer, LoweringDesc};
use tileheap::measure::estimate;
use tileheap::plan::{PlanOptions, plan};
use tileheap::profile::DeviceProfile;
use tileheap_c::frame::destroy_frame;
use tileheap_c::lowerer::*;
use tileheap_c::opaque::*;
use tileheap_c::plan::destroy_plan;
use tileheap_c::profile::destroy_profile;
use tileheap_c::status::Status;
use tileheap_testkit::counting;

use super::c::{self, call, get, sized};
use super::planning::{frames, in_c};

/// The allocations of each of 12 frames in Rust: of the first frame again and again, or each after the one before.
fn of_rust(frame: &Frame, chained: bool) -> Vec<usize> {
    let profile = Arc::new(DeviceProfile::preset("adreno-830").unwrap());
    let needs = Arc::new(estimate(frame, &profile).unwrap());
    let plan = plan(frame, &needs, &profile, &PlanOptions::default()).unwrap();
    let mut lowerer = Lowerer::default();
    let mut lowering_desc = LoweringDesc::first(DeviceQueues::single_queue(frame));
    let lower = |_| {
        let before = counting::allocation_count();
        let tables = lowerer.lower(&plan, &lowering_desc).unwrap();
        let allocations = counting::allocation_count() - before;
        if chained {
            lowering_desc = lowering_desc.after(&tables);
        }
        lowerer.recycle(tables);
        allocations
    };
    (0..12).map(lower).collect()
}

#[test]
fn warm_lowering_allocates_no_more_than_in_rust() {
    let profile = c::profile("adreno-830");
    for frame in frames() {
        let described = in_c(&frame);
        let plan = c::plan(described, profile, &sized()).unwrap();
        for chained in [false, true] {
            // SAFETY: it can be written.
            let lowerer: LowererHandle = get(|to, error| unsafe { create_lowerer(to, error) }).unwrap();
            let mut tables: Lowered = sized();
            for (number, expected) in of_rust(&frame, chained).into_iter().enumerate() {
                let previous = if chained && number > 0 {
                    lowerer
                } else {
                    null_mut()
                };
                let desc = LowerDesc {
                    plan,
                    previous,
                    ..sized()
                };
                let before = counting::allocation_count();
                // SAFETY: the tables can be written.
                let status = unsafe { lower(lowerer, &desc, &mut tables, null_mut()) };
                let allocations = counting::allocation_count() - before;
                assert_eq!(status, Status::Success);
                // Even and odd frames have tables of different sizes.
                assert!(
                    number < 6 || allocations <= expected,
                    "{}, frame {number}, chained: {chained}: {allocations} allocations, {expected} in Rust",
                    frame.name()
                );
            }
            call(|_| destroy_lowerer(lowerer)).unwrap();
        }
        call(|_| destroy_plan(plan)).unwrap();
        call(|_| destroy_frame(described)).unwrap();
    }
    call(|_| destroy_profile(profile)).unwrap();
}
