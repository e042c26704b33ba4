//! Immutable objects are used by several threads; others by one at a time, and a second one gets a status.

use std::sync::atomic::{AtomicU32, Ordering};

use tileheap_c::frame::destroy_frame;
use tileheap_c::lowerer::*;
use tileheap_c::plan::*;
use tileheap_c::profile::destroy_profile;
use tileheap_c::status::Status;

use super::c::{self, call, get, sized};
use super::planning::frames;

/// Handles are numbers.
#[derive(Clone, Copy)]
struct Shared<T>(T);
// SAFETY: a handle is not the address of anything.
unsafe impl<T> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Shared<T> {}

#[test]
fn a_lowerer_in_use_is_a_status_and_plans_are_shared() {
    let profile = c::profile("adreno-830");
    let frame = c::frame_from_json(&frames()[1].to_json()).unwrap();
    let plan = c::plan(frame, profile, &sized()).unwrap();
    // SAFETY: it can be written.
    let lowerer = get(|to, error| unsafe { create_lowerer(to, error) }).unwrap();
    let (in_use, lowered) = (AtomicU32::new(0), AtomicU32::new(0));
    let shared = Shared((plan, lowerer));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                // All of it: closures capture individual fields.
                let (plan, lowerer) = { &shared }.0;
                let desc = LowerDesc { plan, ..sized() };
                // Runs until both results were seen.
                while in_use.load(Ordering::Relaxed) == 0 || lowered.load(Ordering::Relaxed) == 0 {
                    let mut to: Lowered = sized();
                    // SAFETY: everything is alive; the tables are not read.
                    match unsafe { lower(lowerer, &desc, &mut to, std::ptr::null_mut()) } {
                        Status::Success => lowered.fetch_add(1, Ordering::Relaxed),
                        Status::ErrorInUse => in_use.fetch_add(1, Ordering::Relaxed),
                        other => panic!("{other:?}"),
                    };
                    call(|error| check_plan(plan, error)).unwrap();
                }
            });
        }
    });
    call(|_| destroy_lowerer(lowerer)).unwrap();
    call(|_| destroy_plan(plan)).unwrap();
    call(|_| destroy_frame(frame)).unwrap();
    call(|_| destroy_profile(profile)).unwrap();
}
