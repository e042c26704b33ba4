//! The calls of a cache, their order, and the lifetimes of its objects.

use tileheap_textures::units::Bytes;
use tileheap_textures::vulkan::{Layers, TextureCacheDesc, TextureShape};
use tileheap_textures::{Level, TextureId};

use ash::vk;
use tileheap_testkit::on_fake;

use crate::fake_driver::{Call, Command, Config};
use crate::rig::{Rig, asynchronous, desc};

#[test]
fn uploads_on_a_queue_of_their_own_change_hands() {
    let mut rig = Rig::with_transfer_queue(asynchronous(), &desc(Bytes(6 * 24_576)));
    let (graphics, transfer) = (rig.context().queues()[0].family, rig.context().queues()[1].family);
    let textures = rig.create(12, 0);
    for (index, some) in textures.chunks(3).enumerate() {
        let frame = index as u64 + 1;
        rig.driver.clear_journal();
        // Frame 3 reuses bytes of frame 1, which is complete, while frame 2 is not; frame 4 reuses those of frame 2.
        if frame == 3 {
            rig.driver.complete();
        }
        let recorded = rig.draw(some, 6, u64::from(frame > 2)).expect("drawn");
        if frame == 4 {
            assert_eq!(
                (recorded.images, recorded.transferred, recorded.wait),
                (3, 0, None)
            );
            continue;
        }
        assert_eq!((recorded.images, recorded.transferred), (3, 3));
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
        // Concurrently with the previous frame.
        assert_eq!(uploads[0].waits, []);
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
            assert_eq!(acquire.target, release.target);
            assert_eq!(
                (acquire.old_layout, acquire.new_layout),
                (release.old_layout, release.new_layout)
            );
            assert_eq!(acquire.dst_access, vk::AccessFlags2::SHADER_READ);
        }
        assert_eq!(released[1].len(), 3);
    }
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
    // Some 30 were kept, and are copied; the old allocation is freed with the frame that copies.
    let recorded = rig.draw(&textures[..30], 6, 0).expect("drawn");
    assert!(recorded.images <= 1, "{recorded:?}");
    assert_eq!(rig.live(vk::ObjectType::DEVICE_MEMORY), 3);
    rig.driver.complete();
    let _ = rig.draw(&textures[..30], 6, 2).expect("drawn");
    assert_eq!(rig.live(vk::ObjectType::DEVICE_MEMORY), 2);
    assert_eq!(rig.live(vk::ObjectType::IMAGE), 30);

    rig.driver.set_heap_use(8 << 20, 2 << 20);
    assert_eq!(rig.cache().adapt_to_memory_budget().expect("asked"), Some(full));
    let recorded = rig.draw(&textures, 6, 2).expect("drawn");
    assert_eq!(recorded.images, 10);
}

/// Pinned textures stay without requests, prefetched ones are resident when they are requested, and a placeholder is drawn meanwhile.
#[test]
fn pins_prefetches_and_fallbacks_are_resident() {
    let desc = TextureCacheDesc {
        uploads: Bytes(4 * 24_576),
        ..desc(Bytes(8 * 24_576))
    };
    let mut rig = Rig::new(Config::modern(), &desc);
    let textures = rig.create(24, 0);
    let (placeholder, ahead) = (textures[0], textures[23]);
    rig.cache().pin(placeholder, Some(Level(6))).expect("it exists");
    for &texture in &textures[1..] {
        rig.cache()
            .set_fallback(texture, Some(placeholder))
            .expect("both exist");
    }
    for chunk in textures[1..].chunks(3).take(6) {
        let complete = rig.frame;
        let _ = rig.draw(chunk, 6, complete).expect("drawn");
        let cache = rig.cache();
        assert_eq!(cache.texture(placeholder).expect("pinned").level, Level(6));
        assert_eq!(cache.drawable(ahead), cache.texture(placeholder));
        assert!(cache.uploads().uploaded <= Bytes(4 * 24_576));
    }
    let complete = rig.frame;
    rig.frame += 1;
    let frame = rig.frame;
    let cache = rig.cache();
    on_fake!(cache.begin(frame, complete)).expect("in turn");
    assert!(cache.prefetch(ahead, Level(6)).expect("it exists"));
    assert_eq!(cache.uploads().prefetched, 1);
    cache.end().expect("by the rules");
    let recorded = rig.draw(&[ahead], 6, complete).expect("drawn");
    assert_eq!(
        (recorded.images, rig.cache().uploads().uploaded),
        (1, Bytes::ZERO)
    );
    assert_ne!(rig.cache().drawable(ahead), rig.cache().texture(placeholder));
    rig.cache().pin(placeholder, None).expect("it exists");
    assert!(rig.cache().pin(TextureId(99), Some(Level(0))).is_err());
    assert!(rig.cache().set_fallback(ahead, Some(TextureId(99))).is_err());
}

#[test]
fn cubes_and_arrays_are_copied_layer_by_layer() {
    let extent = vk::Extent2D {
        width: 64,
        height: 64,
    };
    let format = vk::Format::R8G8B8A8_UNORM;
    let shapes = [Layers::Cube, Layers::Array(3)].map(|layers| TextureShape {
        format,
        extent,
        layers,
    });
    let desc = TextureCacheDesc {
        shapes: &shapes,
        ..desc(Bytes::mib(1))
    };
    let mut rig = Rig::new(Config::modern(), &desc);
    let textures = [rig.create(1, 0), rig.create(1, 1)].concat();
    let recorded = rig.draw(&textures, 6, 0).expect("drawn");
    assert_eq!(
        (recorded.images, recorded.texels),
        (2, 9 * 4 * (4096 * 4 - 1) / 3)
    );
}
