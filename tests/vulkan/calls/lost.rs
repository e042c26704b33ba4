//! Lost devices: every call that can report the loss, later calls that fail, and destruction without waiting.

use std::collections::BTreeMap;

use ash::vk;
use tileheap::Result;
use tileheap::frame::FrameBuilder;
use tileheap::plan::PlanOptions;
use tileheap::runtime::objects::OneShotCommands;
use tileheap::runtime::{BoundFrame, Device, FrameNumber};
use tileheap_testkit::fake_driver::{Call, Config, FakeDriver};
use tileheap_testkit::runtime_rig::{IN_FLIGHT, on_fake};

use super::{Rig, dynamic};

const LOST: vk::Result = vk::Result::ERROR_DEVICE_LOST;

/// The calls of the runtime that may return `VK_ERROR_DEVICE_LOST` according to the specification.
const REPORTING: [&str; 7] = [
    "vkGetFenceStatus",
    "vkGetSemaphoreCounterValue",
    "vkQueueSubmit",
    "vkQueueSubmit2",
    "vkQueueWaitIdle",
    "vkWaitForFences",
    "vkWaitSemaphores",
];

fn configs() -> [Config; 3] {
    [
        Config::modern().asynchronous(),
        Config::vulkan_1_1().asynchronous(),
        Config::vulkan_1_1().asynchronous().without_tile_memory(),
    ]
}

/// Runs more frames than there are fences, on two bound frames, and one-shot commands.
fn run(rig: &Rig, [one, other]: [&mut BoundFrame; 2]) -> Result<()> {
    let mut last = FrameNumber(0);
    for _ in 0..IN_FLIGHT {
        last = rig.fake.frame(one)?;
    }
    one.completed()?;
    one.wait(last, u64::MAX)?;
    let last = rig.fake.frame(other)?;
    other.wait(last, u64::MAX)?;
    let commands = OneShotCommands::begin(&rig.tile, 0, "upload")?;
    on_fake!(commands.submit_and_wait())?;
    rig.tile.collect()?;
    Ok(())
}

/// Waits for the device, as programs must (the wait returns in finite time). Later waits are violations.
fn settle(rig: &Rig) {
    let waited = || on_fake!(rig.fake.device.device_wait_idle());
    assert_eq!(rig.fake.driver.without_failures(waited), Err(LOST));
    rig.fake.driver.forbid_waits();
    rig.fake.driver.clear_journal();
}

/// The destroyed objects in order, with their numbers in the journal.
fn destroyed(driver: &FakeDriver) -> Vec<(usize, vk::ObjectType)> {
    let journal = driver.journal();
    let destroyed = journal
        .iter()
        .enumerate()
        .filter_map(|(number, call)| match call {
            Call::Destroy { object, .. } => Some((number, object.kind)),
            _ => None,
        });
    destroyed.collect()
}

/// Asserts that framebuffers are destroyed before views, views before images, images and buffers before memory.
fn assert_destroyed_in_order(driver: &FakeDriver) {
    use vk::ObjectType as T;
    let mut range = BTreeMap::new();
    for (number, kind) in destroyed(driver) {
        let (_, last) = range.entry(kind).or_insert((number, number));
        *last = number;
    }
    let order = [
        (T::FRAMEBUFFER, T::IMAGE_VIEW),
        (T::IMAGE_VIEW, T::IMAGE),
        (T::IMAGE, T::DEVICE_MEMORY),
        (T::BUFFER, T::DEVICE_MEMORY),
    ];
    for (earlier, later) in order {
        if let (Some((_, last)), Some((first, _))) = (range.get(&earlier), range.get(&later)) {
            assert!(last < first, "{earlier:?} is destroyed after {later:?}");
        }
    }
    assert!(range.contains_key(&T::IMAGE));
}

/// Asserts that the calls of a lost device return the error at once, by the name of the call that reported it.
fn assert_calls_fail(tile: &Device, bound: &mut BoundFrame, function: &str) {
    let mut errors = Vec::new();
    errors.extend(tile.collect().err());
    errors.extend(tile.trim().err());
    // SAFETY: nothing is recorded.
    errors.extend(unsafe { bound.begin(&tileheap::runtime::Imports::default()) }.err());
    assert_eq!(errors.len(), 3);
    // Frames that were known to be complete still are.
    errors.extend(bound.completed().err());
    errors.extend(bound.wait(FrameNumber(0), u64::MAX).err());
    for error in errors {
        if error.to_string().contains("submitted frames is 0") {
            continue;
        }
        assert!(error.is_device_lost(), "{error}");
        assert!(error.to_string().contains(function), "{function}: {error}");
    }
}

#[test]
fn a_lost_device_is_abandoned_without_waiting() {
    for config in configs() {
        let mut reported = Vec::new();
        for nth in 0.. {
            let rig = Rig::new(config.clone());
            let mut one = rig.bind(&PlanOptions::default());
            let mut other = rig.bind(&PlanOptions::default());
            rig.bind(&PlanOptions::default()).retire();
            assert!(!rig.tile.is_device_lost());
            rig.fake.driver.fail_at(nth, LOST);
            let outcome = run(&rig, [&mut one, &mut other]);
            let journal = rig.fake.driver.journal();
            let function = journal.iter().find_map(|call| match call {
                Call::Failed { function, .. } => Some(*function),
                _ => None,
            });
            let Some(function) = function else {
                outcome.unwrap();
                rig.fake.driver.complete();
                on_fake!(one.destroy());
                on_fake!(other.destroy());
                break;
            };
            // Names are only for debugging: the next call reports the loss.
            let error = outcome.unwrap_err();
            assert!(error.is_device_lost(), "{function}: {error}");
            let reports = REPORTING.contains(&function);
            if reports {
                assert!(rig.tile.is_device_lost(), "{function}");
            }
            settle(&rig);
            if rig.tile.is_device_lost() {
                reported.push(function);
                assert_calls_fail(&rig.tile, &mut one, if reports { function } else { "" });
            }
            on_fake!(one.abandon());
            assert_destroyed_in_order(&rig.fake.driver);
            on_fake!(other.abandon());
            // Dropping the rig destroys the runtime and checks that nothing is left.
        }
        let timelines = reported.contains(&"vkWaitSemaphores");
        assert!(timelines || reported.contains(&"vkWaitForFences"), "{reported:?}");
        for function in ["vkQueueSubmit", "vkGet"] {
            let known = reported.iter().any(|call| call.starts_with(function));
            assert!(known, "no {function} in {reported:?}");
        }
    }
}

#[test]
fn dropping_on_a_lost_device_waits_for_nothing_and_leaks_nothing() {
    for config in configs() {
        let rig = Rig::new(config);
        let [mut one, mut other] = [(); 2].map(|()| rig.bind(&PlanOptions::default()));
        rig.fake.frame(&mut one).unwrap();
        // Both use the same command buffers.
        rig.fake.driver.complete();
        rig.fake.frame(&mut other).unwrap();
        let name = match on_fake!(
            rig.fake
                .instance
                .get_physical_device_properties(rig.fake.physical)
        ) {
            properties if properties.api_version < vk::API_VERSION_1_3 => "vkQueueSubmit",
            _ => "vkQueueSubmit2",
        };
        rig.fake.driver.fail(name, 0, LOST);
        assert!(rig.fake.frame(&mut one).unwrap_err().is_device_lost());
        assert!(rig.tile.is_device_lost());
        settle(&rig);
        one.retire();
        drop(other);
        assert!(rig.tile.collect().unwrap_err().is_device_lost());
    }
}

#[test]
fn all_descriptions_of_a_dynamic_frame_are_abandoned() {
    for config in [Config::modern().asynchronous(), Config::vulkan_1_1()] {
        let rig = Rig::new(config);
        let mut frames = rig.tile.dynamic_frame(PlanOptions::default()).unwrap();
        let mut builder = FrameBuilder::default();
        // The second description needs larger blocks, and retires the objects bound for the first; the others have histories.
        let mut last = FrameNumber(0);
        for (turn, on) in [0, 0b1011, 0b0011_0000, 0b0010_0000].into_iter().enumerate() {
            dynamic::describe(&mut builder, on);
            last = dynamic::run(&rig, &mut frames, &builder, turn);
        }
        for wait in ["vkWaitSemaphores", "vkWaitForFences"] {
            rig.fake.driver.fail(wait, 0, LOST);
        }
        assert!(frames.wait(last, u64::MAX).unwrap_err().is_device_lost());
        assert!(rig.tile.is_device_lost());
        settle(&rig);
        assert!(frames.completed().is_err_and(|error| error.is_device_lost()));
        on_fake!(frames.abandon());
        let live = rig.fake.driver.live();
        // Only the images of the rig itself.
        assert_eq!(live[&vk::ObjectType::IMAGE], rig.fake.outputs.len());
        assert_eq!(live[&vk::ObjectType::IMAGE_VIEW], rig.fake.outputs.len());
        assert_eq!(rig.tile.pool_bytes(), tileheap::units::Bytes::ZERO);
    }
}

#[test]
fn a_recorder_that_is_dropped_after_an_error_has_no_effect() {
    for config in configs() {
        let mut calls = Vec::new();
        for nth in 0.. {
            let mut rig = Rig::new(config.clone());
            let mut bound = rig.bind(&PlanOptions::default());
            let before = (IN_FLIGHT - 1) as u64;
            for number in 0..before {
                assert_eq!(rig.fake.frame(&mut bound).unwrap(), FrameNumber(number));
            }
            let error = vk::Result::ERROR_OUT_OF_HOST_MEMORY;
            rig.fake.driver.fail_at(nth, error);
            let outcome = rig.fake.frame(&mut bound);
            let failed = rig.fake.driver.journal().into_iter().find_map(|call| match call {
                Call::Failed { function, .. } => Some(function),
                _ => None,
            });
            let submitted = failed.is_some_and(|function| function.starts_with("vkQueueSubmit"));
            if outcome.is_err() && !submitted {
                calls.extend(failed);
                // The fences of the failed frame are not reset.
                rig.fake.driver.complete();
                rig.fake.commands.swap(0, IN_FLIGHT - 1);
                rig.fake.secondaries.swap(0, IN_FLIGHT - 1);
                assert_eq!(bound.parity().index() as u64, before % 2);
                assert_eq!(rig.fake.frame(&mut bound).unwrap(), FrameNumber(before));
                assert!(bound.wait(FrameNumber(before), u64::MAX).unwrap());
            }
            rig.fake.driver.complete();
            on_fake!(bound.destroy());
            if failed.is_none() {
                break;
            }
        }
        for function in ["vkBeginCommandBuffer", "vkEndCommandBuffer"] {
            assert!(calls.contains(&function), "{calls:?}");
        }
    }
}
