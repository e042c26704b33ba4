//! Frames of a texture cache do not allocate on the heap once every texture was seen, although each frame uploads and evicts.

use tileheap_baselines::textures::ALL;
use tileheap_testkit::counting;
use tileheap_testkit::on_fake;
use tileheap_textures::units::Bytes;
use tileheap_textures::vulkan::TextureCacheDesc;
use tileheap_textures::{Level, TextureId};

use crate::fake_driver::Config;
use crate::rig::{Rig, desc};
use ash::vk;

/// Allocations of the cache in each frame, and the images that it filled.
fn frames(rig: &mut Rig, textures: &[TextureId], count: u64) -> Vec<(usize, u32)> {
    let device = rig.context().device().clone();
    let mut counts = Vec::with_capacity(count as usize);
    for _ in 0..count {
        let frame = rig.frame + 1;
        rig.frame = frame;
        let commands = rig.commands_of(frame);
        on_fake!(device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default()))
            .expect("recording");
        let before = counting::allocation_count();
        let cache = rig.cache();
        on_fake!(cache.begin(frame, frame - 1)).expect("in turn");
        let at = frame as usize * 3 % (textures.len() - 12);
        for &texture in &textures[at..at + 12] {
            cache.request(texture, Level(6)).expect("there");
        }
        let mut paint = |_, _, texels: &mut [u8]| texels.fill(1);
        let recorded = on_fake!(cache.record(commands, &mut paint)).expect("recorded");
        cache.end().expect("by the rules");
        counts.push((counting::allocation_count() - before, recorded.images));
        on_fake!(device.end_command_buffer(commands)).expect("recorded");
    }
    counts
}

#[test]
fn frames_that_upload_and_evict_allocate_nothing() {
    for policy in ALL {
        let desc = TextureCacheDesc {
            policy,
            ..desc(Bytes(16 * 24_576 + 90_112))
        };
        let mut rig = Rig::new(Config::modern(), &desc);
        let textures = rig.create(90, 0);
        frames(&mut rig, &textures, 80);
        let counts = frames(&mut rig, &textures, 60);
        let name = policy.name;
        assert!(
            counts.iter().all(|&(allocations, _)| allocations == 0),
            "{name}: {counts:?}"
        );
        let images: u32 = counts.iter().map(|&(_, images)| images).sum();
        assert!(images > 60, "{name}: {images}");
    }
}
