//! Whatever fails, and whichever error it is: an error comes out, and nothing is left behind.

use ash::vk;
use tileheap::plan::MemoryKind;

use super::rig::{Outside, Pool, Rig, context, frame, run};
use tileheap_testkit::fake_driver::{Call, Config, FakeDriver};

/// A program from start to end, giving up at the first error. What it made is destroyed by what made it.
fn program(driver: &FakeDriver) -> Result<(), String> {
    let context = context(driver).map_err(|error| error.to_string())?;
    let frame = frame();
    // The caller's own objects do not count.
    let outside = Outside::new(&context);
    let pool = Pool::new(&context);
    let result = pool
        .as_ref()
        .map_err(|error| format!("{error:?}"))
        .and_then(|pool| {
            let tile = context.tile();
            let plan = tile
                .plan(&frame, &Default::default())
                .map_err(|error| error.to_string())?;
            let mut bound = tile.bind(&plan).map_err(|error| error.to_string())?;
            let mut result = Ok(());
            for _ in 0..2 {
                let one = run(&context, &mut bound, &frame, pool, &outside);
                let one = one.and_then(|number| bound.wait(number, u64::MAX));
                result = one.map(|_| ()).map_err(|error| error.to_string());
                if result.is_err() {
                    break;
                }
            }
            bound.retire();
            let collected = tile.collect().map_err(|error| error.to_string());
            result.and(collected.map(|_| ()))
        });
    outside.destroy(&context);
    if let Ok(pool) = pool {
        pool.destroy(&context);
    }
    context.destroy();
    result
}

#[test]
fn every_failing_call_is_an_error_that_leaves_nothing_behind() {
    for config in [Config::modern(), Config::vulkan_1_1()] {
        let whole = FakeDriver::new(config.clone());
        program(&whole).expect("nothing fails");
        assert_eq!(whole.violations(), [""; 0]);
        assert!(whole.live().is_empty(), "{:?}", whole.live());
        // The context and the caller's own objects come first; their failures are the caller's to test.
        let calls = whole.fallible();
        let own = |name: &&str| ["vkCreateCommandPool", "vkAllocateCommandBuffers"].contains(name);
        let start = calls.iter().position(own).expect("the test's pool") + 3;
        for (nth, name) in calls.iter().enumerate().skip(start) {
            for result in [
                vk::Result::ERROR_OUT_OF_DEVICE_MEMORY,
                vk::Result::ERROR_DEVICE_LOST,
            ] {
                let driver = FakeDriver::new(config.clone());
                driver.fail_at(nth, result);
                let outcome = program(&driver);
                let failed = driver
                    .journal()
                    .iter()
                    .any(|call| matches!(call, Call::Failed { .. }));
                assert!(failed, "call {nth}, {name}, was made again");
                let excused = ["vkDeviceWaitIdle", "vkSetDebugUtilsObjectNameEXT"].contains(name);
                assert!(
                    excused || outcome.is_err(),
                    "call {nth}, {name}, failed unnoticed"
                );
                assert_eq!(driver.violations(), [""; 0], "after call {nth}, {name}, failed");
                assert!(
                    driver.live().is_empty(),
                    "call {nth}, {name}: {:?}",
                    driver.live()
                );
            }
        }
    }
}

#[test]
fn a_context_that_fails_leaves_nothing_behind() {
    for config in [Config::modern(), Config::vulkan_1_1()] {
        let whole = FakeDriver::new(config.clone());
        context(&whole).expect("nothing fails").destroy();
        for (nth, name) in whole.fallible().iter().enumerate() {
            let driver = FakeDriver::new(config.clone());
            driver.fail_at(nth, vk::Result::ERROR_OUT_OF_HOST_MEMORY);
            match context(&driver) {
                // Waiting for an idle device comes when everything is over.
                Ok(context) => drop(context.destroy()),
                Err(error) => assert!(!error.to_string().contains('\n')),
            }
            assert_eq!(driver.violations(), [""; 0], "after call {nth}, {name}, failed");
            assert!(
                driver.live().is_empty(),
                "call {nth}, {name}: {:?}",
                driver.live()
            );
        }
    }
}

#[test]
fn requirements_that_grow_are_planned_for_anew() {
    let rig = Rig::new(Config {
        grows_when_created: 4096,
        ..Config::modern()
    });
    let frame = frame();
    let tile = rig.context().tile();
    let plan = tile.plan(&frame, &Default::default()).expect("a plan");
    let bound = tile.bind(&plan).expect("bound");
    assert_ne!(**bound.plan(), *plan);
    for (placement, old) in bound.plan().placements.iter().zip(&plan.placements) {
        if placement.memory == MemoryKind::Arena && frame.resource(placement.resource).is_image() {
            assert!(placement.size > old.size);
        }
    }
    // What holds is remembered: the next time around, nothing has to be planned anew.
    let again = tile.plan(&frame, &Default::default()).expect("a plan");
    assert!(std::sync::Arc::ptr_eq(&again, bound.plan()));
    bound.retire();
    rig.finish();
}

#[test]
fn what_is_in_flight_is_not_destroyed() {
    for config in [Config::modern(), Config::vulkan_1_1()] {
        let rig = Rig::new(Config {
            asynchronous: true,
            ..config
        });
        let frame = frame();
        let (pool, outside) = (
            Pool::new(rig.context()).expect("a pool"),
            Outside::new(rig.context()),
        );
        let mut bound = rig.bind(&frame).expect("bound");
        let number = run(rig.context(), &mut bound, &frame, &pool, &outside).expect("submitted");
        assert!(rig.driver.pending() > 0);
        assert_eq!(bound.completed().expect("asked"), None);
        bound.retire();
        assert_eq!(
            rig.context().tile().collect().expect("collected"),
            1,
            "frame {number:?} is in flight"
        );
        rig.driver.complete();
        assert_eq!(rig.context().tile().collect().expect("collected"), 0);
        pool.destroy(rig.context());
        outside.destroy(rig.context());
        rig.finish();
    }
}
