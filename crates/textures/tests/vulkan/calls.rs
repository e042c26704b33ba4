//! What a cache calls, in which order, and what lives when.

use std::collections::BTreeMap;
use tileheap_textures::arenas::{Arenas, ArenasDesc};
use tileheap_textures::limiter::Served;
use tileheap_textures::units::Bytes;
use tileheap_textures::vulkan::TextureCacheDesc;
use tileheap_textures::{Level, PolicyDesc, TextureId};

use ash::vk;

use crate::fake_driver::{Call, Command, Config, Touched};
use crate::rig::{Rig, asynchronous, desc};

#[test]
fn images_lie_at_their_offsets_in_one_allocation() {
    let mut rig = Rig::new(Config::modern(), &desc(Bytes::mib(1)));
    let small = rig.create(12, 0);
    let large = rig.create(5, 1);
    for _ in 0..3 {
        let _ = rig.draw(&small, 6, 0).expect("drawn");
        let _ = rig.draw(&large, 8, 0).expect("drawn");
    }
    let mut blocks: Vec<_> = rig.cache().blocks().collect();
    blocks.sort_by_key(|&(_, offset, ..)| offset);
    assert_eq!(blocks.len(), 17);
    assert!(blocks.is_sorted_by(|a, b| a.1 + a.2 <= b.1), "{blocks:?}");
    // One allocation for the cache, one for staging; an image and a view for each texture.
    assert_eq!(rig.live(vk::ObjectType::DEVICE_MEMORY), 2);
    assert_eq!(rig.live(vk::ObjectType::IMAGE), 17);
    assert_eq!(rig.live(vk::ObjectType::IMAGE_VIEW), 17);
    let bound = rig.driver.journal().into_iter().filter_map(|call| match call {
        Call::Bind { object, offset, .. } if object.kind == vk::ObjectType::IMAGE => {
            Some((object.handle, offset))
        }
        _ => None,
    });
    let bound: BTreeMap<u64, u64> = bound.collect();
    for (texture, offset, _, level) in blocks {
        let found = rig.cache().texture(texture).expect("it was uploaded");
        assert_eq!(bound[&ash::vk::Handle::as_raw(found.image)], offset.0);
        assert_eq!(found.level, level);
    }
    rig.finish();
}

#[test]
fn bytes_are_handed_over_by_barriers_behind_their_readers() {
    let mut rig = Rig::new(Config::modern(), &desc(Bytes::mib(1)));
    let textures = rig.create(1, 0);
    let recorded = rig.draw(&textures, 6, 0).expect("drawn");
    assert_eq!((recorded.images, recorded.wait), (1, None));
    let image = rig.cache().texture(textures[0]).expect("uploaded").image;
    let commands = rig.driver.recorded(rig.commands_of(1));
    let [
        Command::Barriers { barriers: before, .. },
        Command::Transfer("vkCmdCopyBufferToImage"),
        Command::Barriers { barriers: after, .. },
    ] = &commands[..]
    else {
        panic!("{commands:?}")
    };
    use vk::ImageLayout as L;
    use vk::PipelineStageFlags2 as S;
    assert_eq!(before[0].touched, Touched::Image(image));
    assert_eq!(
        (before[0].old_layout, before[0].new_layout),
        (L::UNDEFINED, L::TRANSFER_DST_OPTIMAL)
    );
    assert!(before[0].src_stages.contains(S::FRAGMENT_SHADER));
    assert_eq!(
        (after[0].old_layout, after[0].new_layout),
        (L::TRANSFER_DST_OPTIMAL, L::SHADER_READ_ONLY_OPTIMAL)
    );
    assert_eq!(after[0].dst_stages, S::FRAGMENT_SHADER);
    // Nothing new: nothing recorded.
    let recorded = rig.draw(&textures, 6, 1).expect("drawn");
    assert_eq!(recorded.images, 0);
    assert_eq!(rig.driver.recorded(rig.commands_of(2)), []);
    rig.finish();
}

/// The fake driver objects to anything that is destroyed while a frame uses it.
#[test]
fn what_frames_under_way_use_outlives_them() {
    let mut rig = Rig::new(asynchronous(), &desc(Bytes(10 * 24_576)));
    let textures = rig.create(40, 0);
    for (step, some) in textures.chunks(10).enumerate() {
        let step = step as u64;
        let _ = rig.draw(some, 6, 0).expect("drawn");
        assert_eq!(rig.live(vk::ObjectType::IMAGE), 10 * (step as usize + 1));
    }
    // Done with the first two on the device; what they alone used goes.
    rig.driver.complete();
    let _ = rig.draw(&textures[30..], 6, 3).expect("drawn");
    assert_eq!(rig.live(vk::ObjectType::IMAGE), 20);
    rig.driver.complete();
    let _ = rig.draw(&textures[30..], 6, 5).expect("drawn");
    assert_eq!(rig.live(vk::ObjectType::IMAGE), 10);
    rig.finish();
}

#[test]
fn staging_that_is_in_use_lets_uploads_wait_and_loses_none() {
    let desc = TextureCacheDesc {
        uploads: Bytes(150_000),
        frames_in_flight: 1,
        ..desc(Bytes::mib(4))
    };
    let mut rig = Rig::new(asynchronous(), &desc);
    let textures = rig.create(40, 0);
    let mut waited = false;
    // Seven frames under way, where the ring was told there would be one.
    for _ in 0..7 {
        let _ = rig.draw(&textures, 6, 0).expect("drawn");
        waited |= rig.cache().pending() > 0;
    }
    assert!(waited);
    for _ in 0..30 {
        rig.driver.complete();
        let complete = rig.frame;
        let _ = rig.draw(&textures, 6, complete).expect("drawn");
    }
    assert_eq!(rig.cache().pending(), 0);
    for &texture in &textures {
        let level = rig.cache().texture(texture).map(|found| found.level);
        assert_eq!(level, Some(Level(6)));
    }
    rig.finish();
}

#[test]
fn uploads_on_a_queue_of_their_own_change_hands() {
    let mut rig = Rig::with_transfer_queue(asynchronous(), &desc(Bytes(3 * 24_576 + 90_112)));
    let (graphics, transfer) = (rig.context().queues()[0].family, rig.context().queues()[1].family);
    let textures = rig.create(12, 0);
    for (index, some) in textures.chunks(3).enumerate() {
        let frame = index as u64 + 1;
        rig.driver.clear_journal();
        let recorded = rig.draw(some, 6, 0).expect("drawn");
        let (uploaded, value) = recorded.wait.expect("a queue of its own");
        assert_eq!(value, frame);
        let submits = rig.driver.journal().into_iter().filter_map(|call| match call {
            Call::Submit { batches, .. } => Some(batches),
            _ => None,
        });
        let submits: Vec<_> = submits.collect();
        let [uploads, draws] = &submits[..] else {
            panic!("{submits:?}")
        };
        // Behind the frame before, whose bytes may be written.
        assert_eq!(uploads[0].waits, [(rig.frames, frame - 1)]);
        assert_eq!(uploads[0].signals, [(uploaded, frame)]);
        assert_eq!(draws[0].waits, [(uploaded, frame)]);
        let barriers = |commands: Vec<Command>| -> Vec<_> {
            let found = commands.into_iter().filter_map(|command| match command {
                Command::Barriers { barriers, .. } => Some(barriers),
                _ => None,
            });
            found.collect()
        };
        let released = barriers(rig.driver.recorded(uploads[0].command_buffers[0]));
        let acquired = barriers(rig.driver.recorded(rig.commands_of(frame)));
        assert_eq!((released.len(), acquired.len()), (2, 1));
        for (release, acquire) in released[1].iter().zip(&acquired[0]) {
            assert_eq!(release.families, (transfer, graphics));
            assert_eq!(acquire.families, release.families);
            assert_eq!(acquire.touched, release.touched);
            assert_eq!(
                (acquire.old_layout, acquire.new_layout),
                (release.old_layout, release.new_layout)
            );
            assert_eq!(acquire.dst_access, vk::AccessFlags2::SHADER_READ);
        }
        assert_eq!(released[1].len(), 3);
    }
    rig.finish();
}

#[test]
fn the_cache_gives_way_when_the_system_is_short_of_memory_and_comes_back() {
    let config = Config {
        extensions: vec![ash::ext::memory_budget::NAME],
        ..asynchronous()
    };
    let full = Bytes(40 * 24_576);
    let mut rig = Rig::new(config, &desc(full));
    rig.driver.set_heap_use(8 << 20, 2 << 20);
    let textures = rig.create(40, 0);
    let _ = rig.draw(&textures, 6, 0).expect("drawn");
    assert_eq!(rig.cache().adapt_to_memory_budget().expect("asked"), None);

    let over = 10 * 24_576;
    rig.driver.set_heap_use(8 << 20, (8 << 20) + over);
    let smaller = Bytes(full.0 - over);
    assert_eq!(
        rig.cache().adapt_to_memory_budget().expect("asked"),
        Some(smaller)
    );
    let within = |(_, offset, block, _)| offset + block <= smaller;
    assert!(rig.cache().blocks().all(within));
    // Some 30 were kept, and are copied; the old allocation goes with the frame that copies.
    let recorded = rig.draw(&textures[..30], 6, 0).expect("drawn");
    let kept = 30 - recorded.images as usize;
    assert!(kept >= 29, "{kept}");
    let copies = (rig.driver.recorded(rig.commands_of(2)).into_iter())
        .filter(|command| *command == Command::Transfer("vkCmdCopyImage"))
        .count();
    assert_eq!(copies, kept);
    assert_eq!(rig.live(vk::ObjectType::DEVICE_MEMORY), 3);
    rig.driver.complete();
    let _ = rig.draw(&textures[..30], 6, 2).expect("drawn");
    assert_eq!(rig.live(vk::ObjectType::DEVICE_MEMORY), 2);
    assert_eq!(rig.live(vk::ObjectType::IMAGE), 30);

    rig.driver.set_heap_use(8 << 20, 2 << 20);
    assert_eq!(rig.cache().adapt_to_memory_budget().expect("asked"), Some(full));
    let recorded = rig.draw(&textures, 6, 2).expect("drawn");
    assert_eq!(recorded.images, 10);
    rig.finish();
}

#[test]
fn without_the_extension_the_cache_keeps_its_size() {
    let mut rig = Rig::new(Config::modern(), &desc(Bytes::mib(1)));
    rig.driver.set_heap_use(0, 1 << 30);
    assert_eq!(rig.cache().heap_usage(), None);
    assert_eq!(
        rig.cache().adapt_to_memory_budget().expect("nothing to ask"),
        None
    );
    rig.finish();
}

#[test]
fn new_contents_are_uploaded_and_what_is_released_is_gone() {
    let mut rig = Rig::new(Config::modern(), &desc(Bytes::mib(1)));
    let textures = rig.create(2, 0);
    let _ = rig.draw(&textures, 6, 0).expect("drawn");
    let before = rig.cache().texture(textures[0]).expect("uploaded");
    rig.cache()
        .replace(textures[0], tileheap_textures::ChainId(1))
        .expect("it is there");
    rig.cache().release(textures[1]).expect("it is there");
    let recorded = rig.draw(&textures[..1], 8, 1).expect("drawn");
    assert_eq!(recorded.images, 1);
    let after = rig.cache().texture(textures[0]).expect("uploaded");
    assert_ne!(before.image, after.image);
    assert_eq!(rig.cache().changed().len(), 1);
    assert_eq!(rig.cache().texture(textures[1]), None);
    assert_eq!(rig.cache().texture(TextureId(77)), None);
    rig.finish();
}

#[test]
fn upload_budgets_hold_and_coarser_levels_stand_in() {
    let desc = TextureCacheDesc {
        uploads: Bytes(10 * 24_576),
        ..desc(Bytes::mib(4))
    };
    let mut rig = Rig::new(Config::modern(), &desc);
    let textures = rig.create(40, 0);
    let mut images = Vec::new();
    // Two frames until each has something, three more until each is whole.
    for _ in 0..6 {
        let complete = rig.frame;
        let recorded = rig.draw(&textures, 6, complete).expect("drawn");
        images.push(recorded.images);
        let cache = rig.cache();
        assert!(cache.uploads().uploaded <= Bytes(12 * 24_576));
        let level = cache.request(textures[0], Level(6)).expect("it is there");
        assert_eq!(level, Served::Whole);
    }
    assert!(images[..4].iter().all(|&images| images >= 10), "{images:?}");
    assert_eq!(images[5], 0, "{images:?}");
    rig.finish();
}

/// A policy with parameters of the caller's, through the same description as the built-in ones.
#[test]
fn policies_of_the_caller_place_images() {
    let params = ArenasDesc {
        active_frames: 3,
        ..ArenasDesc::default()
    };
    let policy = PolicyDesc {
        name: "own",
        create: &move |geometry, budget, seed| Ok(Box::new(Arenas::new(geometry, budget, seed, params)?)),
        ..Arenas::DESC
    };
    let desc = TextureCacheDesc {
        policy,
        ..desc(Bytes::mib(1))
    };
    let mut rig = Rig::new(Config::modern(), &desc);
    let textures = rig.create(4, 0);
    assert_eq!(rig.draw(&textures, 6, 0).expect("drawn").images, 4);
    assert!(rig.cache().arena(0).is_some(), "the policy of the caller decides");
    rig.finish();
}
