//! Every call that can fail, failing; and what callers can get wrong.

use ash::vk;
use tileheap::runtime::{Capabilities, Device, DeviceDesc};
use tileheap_baselines::textures::HeapCache;
use tileheap_textures::arenas::Arenas;
use tileheap_textures::units::Bytes;
use tileheap_textures::vulkan::{TextureCache, TextureCacheDesc};
use tileheap_textures::{ChainId, Coherent, Error, Level, TextureId};

use crate::fake_driver::Config;
use crate::rig::{Rig, asynchronous, desc};

const OUT: vk::Result = vk::Result::ERROR_OUT_OF_DEVICE_MEMORY;

fn fault(config: Config, desc: &TextureCacheDesc<'_>) -> Error {
    let rig = Rig::bare(config);
    let before = rig.driver.live_below_device();
    let fault = TextureCache::new(rig.context().tile(), desc).expect_err("it cannot be made");
    assert_eq!(rig.driver.live_below_device(), before, "{fault}");
    rig.finish();
    fault
}

#[test]
fn impossible_caches_are_refused_by_name() {
    let small = fault(Config::modern(), &desc(Bytes(90_000)));
    assert!(matches!(small, Error::BudgetTooSmall(_, Bytes(90_112))));
    let large = fault(Config::modern(), &desc(Bytes(5 << 30)));
    assert!(large.to_string().contains("heap"), "{large}");
    for policy in [Arenas::FIRST_ATTEMPT, Coherent::KEEPING_LEVELS] {
        let levels = TextureCacheDesc {
            policy,
            ..desc(Bytes::mib(1))
        };
        let text = fault(Config::modern(), &levels).to_string();
        assert!(text.contains(policy.name) && text.contains("coherent,"), "{text}");
    }
    let refusing = Config {
        refused_formats: vec![vk::Format::R8_UINT],
        ..Config::modern()
    };
    let text = fault(refusing, &desc(Bytes::mib(1))).to_string();
    assert!(text.contains("256 x 256, R8_UINT"), "{text}");
    let nothing = TextureCacheDesc {
        shapes: &[],
        ..desc(Bytes::mib(1))
    };
    assert!(matches!(fault(Config::modern(), &nothing), Error::ChainCount(0)));
}

/// Uploads on a queue of their own do not wait for copies of the frame that they belong to.
#[test]
fn moving_policies_want_no_transfer_queue() {
    for policy in [Coherent::DESC, HeapCache::LRU_COMPACTING] {
        let rig = Rig::bare(Config::modern());
        let desc = rig.on_transfer_queue(TextureCacheDesc {
            policy,
            ..desc(Bytes::mib(1))
        });
        let fault = TextureCache::new(rig.context().tile(), &desc).expect_err("it moves");
        let text = fault.to_string();
        assert!(
            text.contains(policy.name) && text.contains("coherent-still"),
            "{text}"
        );
        rig.finish();
    }
}

#[test]
fn misuse_is_refused_and_changes_nothing() {
    let mut rig = Rig::new(Config::modern(), &desc(Bytes::mib(1)));
    let textures = rig.create(2, 0);
    let _ = rig.draw(&textures, 6, 0).expect("drawn");
    let cache = rig.cache();
    let two_sizes = cache.create(textures[0], ChainId(1)).expect_err("it has a size");
    assert!(matches!(two_sizes, Error::ChainMismatch(TextureId(0), ..)));
    assert!(cache.create(TextureId(9), ChainId(0)).is_err());
    assert!(cache.create(TextureId(2), ChainId(2)).is_err());
    assert!(cache.release(TextureId(2)).is_err());
    assert!(cache.request(TextureId(2), Level(0)).is_err());
    assert!(cache.request(textures[0], Level(7)).is_err());
    assert!(cache.set_budget(Bytes(90_000)).is_err());
    for (frame, complete) in [(1, 0), (3, 0), (2, 2)] {
        // SAFETY: it is refused.
        let fault = unsafe { cache.begin(frame, complete) }.expect_err("out of turn");
        assert!(matches!(fault, Error::FrameOrder { .. }), "{fault}");
    }
    assert_eq!(rig.draw(&textures, 6, 1).expect("drawn").images, 0);
    rig.finish();
}

/// Each call that making a cache comes to, failing.
#[test]
fn a_cache_that_cannot_be_made_leaves_nothing() {
    for (transfer, policy) in [
        (false, HeapCache::LRU),
        (true, HeapCache::LRU),
        (false, Coherent::DESC),
    ] {
        let mut failed = 0;
        for nth in 0.. {
            let rig = Rig::bare(Config::modern());
            let before = rig.driver.live_below_device();
            let mut desc = TextureCacheDesc {
                policy,
                ..desc(Bytes::mib(1))
            };
            if transfer {
                desc = rig.on_transfer_queue(desc);
            }
            rig.driver.fail_at(nth, OUT);
            let made = TextureCache::new(rig.context().tile(), &desc);
            let is_made = made.is_ok();
            match made {
                Err(fault) => {
                    failed += 1;
                    assert!(fault.to_string().contains("OUT_OF_DEVICE_MEMORY"), "{fault}");
                    assert_eq!(rig.driver.live_below_device(), before, "call {nth}: {fault}");
                }
                // SAFETY: unused.
                Ok(cache) => unsafe { cache.destroy() },
            }
            rig.finish();
            if is_made {
                break;
            }
        }
        assert!(failed > 18, "{failed}");
    }
}

/// Each call of frames that upload and evict in a cache that is resized meanwhile, failing once: the fault is said, nothing is recorded
/// (see `Rig::draw`), and the next frame makes up for it.
#[test]
fn a_frame_that_fails_is_made_up_for() {
    for (transfer, policy) in [
        (false, HeapCache::LRU),
        (true, HeapCache::LRU),
        (false, HeapCache::LRU_COMPACTING),
    ] {
        let mut failed = 0;
        for nth in 0.. {
            let desc = TextureCacheDesc {
                policy,
                ..desc(Bytes(12 * 24_576))
            };
            let mut rig = match transfer {
                true => Rig::with_transfer_queue(asynchronous(), &desc),
                false => Rig::new(asynchronous(), &desc),
            };
            let textures = rig.create(18, 0);
            rig.driver.fail_at(nth, OUT);
            let mut faults = 0;
            for step in 0..6 {
                // A third of them comes and goes.
                let shown = &textures[step % 3 * 6..][..6];
                let complete = rig.frame.saturating_sub(2);
                rig.driver.complete();
                let resized = match step {
                    4 => rig.cache().set_budget(Bytes(13 * 24_576)),
                    _ => Ok(()),
                };
                let drawn = rig.draw(shown, 6, complete).map(|_| ());
                for fault in [resized, drawn].into_iter().filter_map(Result::err) {
                    assert!(fault.to_string().contains("OUT_OF_DEVICE_MEMORY"), "{fault}");
                    faults += 1;
                }
            }
            let complete = rig.frame.saturating_sub(2);
            rig.driver.complete();
            rig.driver.fail_no_more();
            let _ = rig
                .draw(&textures[..6], 6, complete)
                .expect("nothing fails any more");
            let is_there = |&texture: &TextureId| rig.cache().texture(texture).is_some();
            assert!(textures[..6].iter().all(is_there), "call {nth}");
            assert!(faults <= 1);
            failed += faults;
            rig.finish();
            if faults == 0 {
                break;
            }
        }
        assert!(failed > 50, "{failed}");
    }
}

#[test]
fn a_budget_that_cannot_be_allocated_leaves_the_cache_as_it_is() {
    let mut rig = Rig::new(Config::modern(), &desc(Bytes::mib(1)));
    let textures = rig.create(8, 0);
    let _ = rig.draw(&textures, 6, 0).expect("drawn");
    rig.driver.fail("vkAllocateMemory", 0, OUT);
    let fault = rig.cache().set_budget(Bytes::mib(2)).expect_err("out of memory");
    assert!(fault.to_string().contains("2,097,152 B"), "{fault}");
    assert_eq!(rig.cache().budget(), Bytes::mib(1));
    assert_eq!(rig.draw(&textures, 6, 1).expect("drawn").images, 0);

    // Allocated, and then an image of those that move cannot be made: the next frame moves them.
    rig.cache().set_budget(Bytes::mib(2)).expect("allocated");
    rig.driver.fail("vkCreateImage", 5, OUT);
    assert!(rig.draw(&textures, 6, 2).is_err());
    assert!(rig.cache().texture(textures[7]).is_some());
    assert_eq!(rig.draw(&textures, 6, 3).expect("drawn").images, 0);
    assert_eq!(rig.live(vk::ObjectType::DEVICE_MEMORY), 3);
    let _ = rig.draw(&textures, 6, 4).expect("drawn");
    assert_eq!(rig.live(vk::ObjectType::DEVICE_MEMORY), 2);
    assert_eq!(rig.live(vk::ObjectType::IMAGE), 8);
    rig.finish();
}

#[test]
fn transfer_queues_need_timeline_semaphores() {
    let rig = Rig::bare(Config::modern());
    let desc = rig.on_transfer_queue(desc(Bytes::mib(1)));
    let context = rig.context();
    let without = DeviceDesc {
        queues: context.queues().to_vec(),
        enabled: Capabilities::all() - Capabilities::TIMELINE_SEMAPHORE,
        ..Default::default()
    };
    // SAFETY: the context's own handles, which outlive it.
    let device = unsafe {
        Device::new(
            context.instance(),
            context.physical_device(),
            context.device(),
            context.support(),
            without,
        )
    }
    .expect("a device");
    let fault = TextureCache::new(&device, &desc).expect_err("no timelines");
    assert!(fault.to_string().contains("timeline semaphores"), "{fault}");
    // SAFETY: unused.
    unsafe { device.destroy() };
    rig.finish();
}
