//! Failures of every call that can fail, and mistakes of callers.

use ash::vk;
use tileheap::runtime::{Capabilities, Device, DeviceDesc};
use tileheap_baselines::textures::HeapCache;
use tileheap_testkit::on_fake;
use tileheap_textures::units::Bytes;
use tileheap_textures::vulkan::{TextureCache, TextureCacheDesc};
use tileheap_textures::{Coherent, Error, Level, MipChainId, TextureId};

use crate::fake_driver::Config;
use crate::rig::{Rig, desc};

const OUT: vk::Result = vk::Result::ERROR_OUT_OF_DEVICE_MEMORY;

fn fault(config: Config, desc: &TextureCacheDesc<'_>) -> Error {
    let rig = Rig::bare(config);
    let before = rig.driver.live_below_device();
    let fault = TextureCache::new(rig.context().runtime(), desc).expect_err("it cannot be made");
    assert_eq!(rig.driver.live_below_device(), before, "{fault}");
    fault
}

#[test]
fn impossible_caches_are_refused_by_name() {
    let small = fault(Config::modern(), &desc(Bytes(90_000)));
    assert!(matches!(small, Error::BudgetTooSmall(_, Bytes(90_112))));
    let large = fault(Config::modern(), &desc(Bytes(5 << 30)));
    assert!(large.to_string().contains("heap"), "{large}");
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
    assert!(fault(Config::modern(), &nothing).to_string().contains("0 chains"));
}

#[test]
fn misuse_is_refused_and_changes_nothing() {
    let mut rig = Rig::new(Config::modern(), &desc(Bytes::mib(1)));
    let textures = rig.create(2, 0);
    let _ = rig.draw(&textures, 6, 0).expect("drawn");
    let cache = rig.cache();
    let two_sizes = cache
        .create(textures[0], MipChainId(1))
        .expect_err("it has a size");
    assert!(matches!(two_sizes, Error::ChainMismatch(TextureId(0), ..)));
    assert!(cache.create(TextureId(9), MipChainId(0)).is_err());
    assert!(cache.create(TextureId(2), MipChainId(2)).is_err());
    assert!(cache.release(TextureId(2)).is_err());
    assert!(cache.request(TextureId(2), Level(0)).is_err());
    assert!(cache.request(textures[0], Level(7)).is_err());
    assert!(cache.set_budget(Bytes(90_000)).is_err());
    for (frame, complete) in [(1, 0), (3, 0), (2, 2)] {
        let fault = on_fake!(cache.begin(frame, complete)).expect_err("out of turn");
        assert!(matches!(fault, Error::FrameOrder(..)), "{fault}");
    }
    assert_eq!(rig.draw(&textures, 6, 1).expect("drawn").images, 0);
}

/// Each call of the cache's creation, failing.
#[test]
fn a_cache_that_cannot_be_made_leaves_nothing() {
    for (transfer, policy) in [(false, HeapCache::LRU), (true, Coherent::DESC)] {
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
            let made = TextureCache::new(rig.context().runtime(), &desc);
            let is_made = made.is_ok();
            match made {
                Err(fault) => {
                    failed += 1;
                    assert!(fault.to_string().contains("OUT_OF_DEVICE_MEMORY"), "{fault}");
                    assert_eq!(rig.driver.live_below_device(), before, "call {nth}: {fault}");
                }
                Ok(cache) => on_fake!(cache.destroy()),
            }
            if is_made {
                break;
            }
        }
        assert!(failed > 18, "{failed}");
    }
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
    let device = on_fake!(Device::new(
        context.instance(),
        context.physical_device(),
        context.device(),
        context.support(),
        without,
    ))
    .expect("a device");
    let fault = TextureCache::new(&device, &desc).expect_err("no timelines");
    assert!(fault.to_string().contains("timeline semaphores"), "{fault}");
    on_fake!(device.destroy());
}
