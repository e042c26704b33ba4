//! The lifetime of contents in tile memory: for each rule of the specification, contents that survive and contents that do not.

use crate::rig::{HostBuffer, Rig};
use ash::vk;
use tileheap_device::ffi::BUFFER_USAGE_TILE_MEMORY_BIT_QCOM;
use tileheap_emulator::POISON;
use vk::BufferUsageFlags as B;

const WORDS: u32 = 256;
const VALUE: u32 = 0x1234_5678;
/// A multiple of the block size of every profile except the one with a smaller alignment.
const BLOCK: u64 = 12_288;

/// Two buffers in separate blocks of one object of two blocks, and objects of one block and of two.
struct Scene {
    rig: Rig,
    small: vk::DeviceMemory,
    large: vk::DeviceMemory,
    buffers: [vk::Buffer; 2],
    outs: [HostBuffer; 2],
}

crate::rig::deref!(Scene, rig: Rig);

impl Scene {
    fn new(settings: &[(&str, &str)]) -> Scene {
        let rig = Rig::new(settings);
        let (small, large) = (rig.object(BLOCK), rig.object(2 * BLOCK));
        Scene {
            buffers: [0, BLOCK].map(|offset| rig.tile_words(WORDS.into(), large, offset)),
            outs: [(); 2].map(|()| rig.host_buffer(WORDS as usize)),
            small,
            large,
            rig,
        }
    }

    /// Fills both buffers.
    fn write(&self, commands: vk::CommandBuffer) {
        self.bind(commands, Some(self.large));
        for buffer in self.buffers {
            self.fill(commands, buffer, WORDS, VALUE);
        }
    }

    /// Copies both to host buffers.
    fn read(&self, commands: vk::CommandBuffer) {
        self.bind(commands, Some(self.large));
        for (buffer, out) in self.buffers.iter().zip(&self.outs) {
            self.copy(commands, *buffer, out.buffer, WORDS);
        }
    }

    /// Returns whether each buffer survived; a partly surviving buffer is impossible.
    fn survivors(&self) -> [bool; 2] {
        self.outs.map(|out| {
            let words = out.read();
            let first = words[0];
            assert!(
                [VALUE, POISON].contains(&first),
                "0x{first:x} is neither value nor poison"
            );
            assert!(words.iter().all(|word| *word == first), "{words:x?}");
            first == VALUE
        })
    }

    /// Records an action command that accesses nothing.
    fn act(&self, commands: vk::CommandBuffer) {
        self.barrier(commands);
        self.fill_buffer(commands, self.outs[0].buffer, 0);
    }
}

type Outcome = ([bool; 2], Vec<String>);

/// Records `between` between writing and reading, in one command buffer, and returns the buffers that survived.
fn within(settings: &[(&str, &str)], between: impl FnOnce(&Scene, vk::CommandBuffer)) -> Outcome {
    let scene = Scene::new(settings);
    let commands = scene.record(|commands| {
        scene.write(commands);
        between(&scene, commands);
        scene.read(commands);
    });
    scene.submit(&[&[commands]]);
    (scene.survivors(), scene.take_ids())
}

const READS_DISCARDED: &str = "TILEHEAP-reads-discarded";

/// The surviving buffers, and a message for each buffer that does not survive.
fn outcome(survivors: [bool; 2]) -> Outcome {
    let lost = survivors.iter().filter(|survived| !**survived).count();
    (survivors, vec![READS_DISCARDED.to_owned(); lost])
}

#[test]
fn an_action_command_discards_what_is_not_bound() {
    assert_eq!(within(&[], Scene::act), outcome([true, true]));
    let less = within(&[], |scene, commands| {
        scene.bind(commands, Some(scene.small));
        scene.act(commands);
    });
    assert_eq!(less, outcome([true, false]));
    let nothing = |scene: &Scene, commands| {
        scene.bind(commands, None);
        scene.act(commands);
    };
    assert_eq!(within(&[], nothing), outcome([false, false]));
    let unpoisoned = within(&[("poison", "false")], nothing);
    let still_reported = outcome([false, false]).1;
    assert_eq!(
        unpoisoned,
        ([true, true], still_reported),
        "nothing is overwritten"
    );
}

#[test]
fn binding_alone_discards_nothing() {
    let bound = within(&[], |scene, commands| {
        scene.bind(commands, None);
        scene.bind(commands, Some(scene.small));
        scene.barrier(commands);
    });
    assert_eq!(bound, outcome([true, true]));
}

#[test]
fn a_query_reset_is_an_action_command() {
    let reset = within(&[], |scene, commands| {
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::OCCLUSION);
        let pool = scene.create(&info.query_count(1));
        scene.bind(commands, None);
        // SAFETY: Recording; a pool with a query.
        unsafe { scene.device.cmd_reset_query_pool(commands, pool, 0, 1) };
    });
    assert_eq!(reset, outcome([false, false]));
}

/// Writes in one command buffer, reads in another, and returns the buffers that survived when `submit` submits both.
fn across(
    settings: &[(&str, &str)],
    submit: impl FnOnce(&Scene, vk::CommandBuffer, vk::CommandBuffer),
) -> Outcome {
    let scene = Scene::new(settings);
    let writer = scene.record(|commands| scene.write(commands));
    let reader = scene.record(|commands| scene.read(commands));
    submit(&scene, writer, reader);
    (scene.survivors(), scene.take_ids())
}

#[test]
fn contents_live_as_long_as_their_batch() {
    type Submit = fn(&Scene, &[&[vk::CommandBuffer]]);
    let submits: [Submit; 2] = [|scene, all| scene.submit(all), |scene, all| scene.submit2(all)];
    for submit in submits {
        let alive = across(&[], |scene, writer, reader| submit(scene, &[&[writer, reader]]));
        let dead = across(&[], |scene, writer, reader| {
            submit(scene, &[&[writer], &[reader]])
        });
        assert_eq!((alive, dead), (outcome([true, true]), outcome([false, false])));
    }
}

#[test]
fn with_the_submit_boundary_contents_die_with_the_call() {
    let settings = [("queue_submit_boundary", "true")];
    let alive = across(&settings, |scene, writer, reader| {
        scene.submit(&[&[writer], &[reader]])
    });
    assert_eq!(alive, outcome([true, true]));
    let dead = across(&settings, |scene, writer, reader| {
        scene.submit(&[&[writer]]);
        scene.submit(&[&[reader]]);
    });
    assert_eq!(dead, outcome([false, false]));
}

#[test]
fn resubmission_begins_with_nothing() {
    let dead = across(&[], |scene, writer, reader| {
        scene.submit(&[&[writer, reader]]);
        assert_eq!(scene.survivors(), [true, true]);
        scene.submit(&[&[reader]]);
        assert_eq!(scene.survivors(), [false, false]);
        scene.submit(&[&[writer, reader, writer], &[writer, writer, reader]]);
        assert_eq!(scene.survivors(), [true, true]);
        scene.submit(&[&[reader]]);
    });
    assert_eq!(dead.0, [false, false]);
}

#[test]
fn a_command_buffer_discards_what_it_does_not_bind() {
    for (binds, expected) in [(false, [false, false]), (true, [true, false])] {
        let found = across(&[], |scene, writer, reader| {
            let between = scene.record(|commands| {
                if binds {
                    scene.bind(commands, Some(scene.small));
                }
                scene.act(commands);
            });
            scene.submit2(&[&[writer, between, reader]]);
        });
        assert_eq!(found, outcome(expected), "binds: {binds}");
    }
    let alive = across(&[], |scene, writer, reader| {
        let harmless = scene.record(|commands| scene.barrier(commands));
        scene.submit(&[&[writer, harmless, reader]]);
    });
    assert_eq!(alive.0, [true, true], "no action command");
}

#[test]
fn secondaries_outside_a_pass_bind_for_themselves_and_then_nothing_is_known_to_be_bound() {
    for (binds, acts, expected) in [(true, false, true), (false, false, false), (true, true, false)] {
        let (survivors, _) = within(&[], |scene, commands| {
            let secondary = scene.record_secondary(|secondary| {
                if binds {
                    scene.bind(secondary, Some(scene.large));
                }
                scene.act(secondary);
            });
            scene.execute(commands, secondary);
            if acts {
                scene.act(commands);
            }
        });
        assert_eq!(survivors, [expected; 2], "binds: {binds}, acts after it: {acts}");
    }
}

/// The contents of an exclusive buffer are undefined after its release to another queue family, those of a concurrent one are not. A driver with one family
/// is told of another one, which nothing uses.
#[test]
fn only_exclusive_buffers_are_released() {
    let ids = |mode: vk::SharingMode| {
        let rig = Rig::new(&[("tile_buffer_transfers", "true")]);
        let other = if rig.family == 0 { 1 } else { 0 };
        let families = [rig.family, other];
        let mut info = vk::BufferCreateInfo::default()
            .size(256)
            .usage(B::TRANSFER_DST | B::TRANSFER_SRC | BUFFER_USAGE_TILE_MEMORY_BIT_QCOM)
            .sharing_mode(mode);
        if mode == vk::SharingMode::CONCURRENT {
            info = info.queue_family_indices(&families);
        }
        let buffer = rig.create(&info);
        let object = rig.object(12_288);
        rig.bind_buffer(buffer, object, 0);
        let out = rig.host_buffer(64);
        let commands = rig.record(|commands| {
            rig.bind(commands, Some(object));
            rig.fill_buffer(commands, buffer, 7);
            let release = [vk::BufferMemoryBarrier2::default()
                .src_stage_mask(vk::PipelineStageFlags2::CLEAR)
                .src_access_mask(vk::AccessFlags2::TRANSFER_WRITE)
                .src_queue_family_index(families[0])
                .dst_queue_family_index(families[1])
                .buffer(buffer)
                .size(vk::WHOLE_SIZE)];
            let info = vk::DependencyInfo::default().buffer_memory_barriers(&release);
            // SAFETY: Recording; a buffer of this device.
            unsafe { rig.device.cmd_pipeline_barrier2(commands, &info) };
            rig.barrier(commands);
            let all = [vk::BufferCopy::default().size(256)];
            // SAFETY: Recording; buffers of that size.
            unsafe { rig.device.cmd_copy_buffer(commands, buffer, out.buffer, &all) };
        });
        rig.submit(&[&[commands]]);
        rig.take_ids_but(&[
            "VUID-VkBufferCreateInfo-sharingMode-01419",
            "VUID-VkBufferMemoryBarrier2-buffer-09096",
        ])
    };
    assert_eq!(ids(vk::SharingMode::CONCURRENT), [""; 0]);
    assert_eq!(ids(vk::SharingMode::EXCLUSIVE), ["TILEHEAP-reads-discarded"]);
}
