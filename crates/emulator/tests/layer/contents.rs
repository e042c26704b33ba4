//! The lifetime of contents in tile memory: for each rule of the specification contents that survive and contents that do not.

use crate::rig;
use crate::rig::Rig;
use ash::vk;
use tileheap_emulator::POISON;

const WORDS: u32 = 256;
const VALUE: u32 = 0x1234_5678;
/// A whole number of blocks of every profile but the one whose alignment is smaller.
const BLOCK: u64 = 12_288;

/// Two buffers, each in a block of its own, in one object of two blocks, and objects of one block and of two.
struct Scene {
    rig: Rig,
    small: vk::DeviceMemory,
    large: vk::DeviceMemory,
    low: vk::Buffer,
    high: vk::Buffer,
    low_out: rig::HostBuffer,
    high_out: rig::HostBuffer,
}

impl Scene {
    fn new(settings: &[(&str, &str)]) -> Scene {
        let rig = Rig::new(settings);
        let (small, large) = (rig.object(BLOCK), rig.object(2 * BLOCK));
        let (low, high) = (
            rig.tile_words(WORDS.into(), large, 0),
            rig.tile_words(WORDS.into(), large, BLOCK),
        );
        let (low_out, high_out) = (rig.host_buffer(WORDS as usize), rig.host_buffer(WORDS as usize));
        Scene {
            rig,
            small,
            large,
            low,
            high,
            low_out,
            high_out,
        }
    }

    /// Fills both buffers.
    fn write(&self, commands: vk::CommandBuffer) {
        self.rig.bind(commands, Some(self.large));
        self.rig.fill(commands, self.low, WORDS, VALUE);
        self.rig.fill(commands, self.high, WORDS, VALUE);
    }

    /// Copies both out.
    fn read(&self, commands: vk::CommandBuffer) {
        self.rig.bind(commands, Some(self.large));
        self.rig.copy(commands, self.low, self.low_out.buffer, WORDS);
        self.rig.copy(commands, self.high, self.high_out.buffer, WORDS);
    }

    /// What was read: whether each buffer survived. Nothing in between is possible.
    fn survivors(&self) -> (bool, bool) {
        let survived = |out: &rig::HostBuffer| {
            let words = out.read();
            let first = words[0];
            assert!(
                first == VALUE || first == POISON,
                "0x{first:x} is neither value nor poison"
            );
            assert!(words.iter().all(|word| *word == first), "{words:x?}");
            first == VALUE
        };
        (survived(&self.low_out), survived(&self.high_out))
    }
}

/// Records `between` between writing and reading, in one command buffer, and tells what survived.
fn within(
    settings: &[(&str, &str)],
    between: impl FnOnce(&Scene, vk::CommandBuffer),
) -> ((bool, bool), Vec<String>) {
    let scene = Scene::new(settings);
    let commands = scene.rig.record(|commands| {
        scene.write(commands);
        between(&scene, commands);
        scene.read(commands);
    });
    scene.rig.submit(&[&[commands]]);
    let result = (scene.survivors(), scene.rig.take_ids());
    scene.rig.finish();
    result
}

const READS_DISCARDED: &str = "TILEHEAP-reads-discarded";

/// An action command that reaches nothing.
fn action(scene: &Scene, commands: vk::CommandBuffer) {
    let memory = scene.low_out.buffer;
    scene.rig.barrier(commands);
    // SAFETY: Recording; a transfer destination of that size.
    unsafe { scene.rig.device.cmd_fill_buffer(commands, memory, 0, 4, 0) };
}

#[test]
fn contents_survive_while_their_bytes_are_bound() {
    assert_eq!(within(&[], action).0, (true, true));
}

#[test]
fn an_action_command_with_less_bound_discards_above() {
    let (survivors, ids) = within(&[], |scene, commands| {
        scene.rig.bind(commands, Some(scene.small));
        action(scene, commands);
    });
    assert_eq!(survivors, (true, false));
    assert!(ids.contains(&READS_DISCARDED.to_owned()), "{ids:?}");
}

#[test]
fn an_action_command_with_nothing_bound_discards_everything() {
    let (survivors, ids) = within(&[], |scene, commands| {
        scene.rig.bind(commands, None);
        action(scene, commands);
    });
    assert_eq!(survivors, (false, false));
    assert_eq!(ids, [READS_DISCARDED; 2]);
}

#[test]
fn binding_alone_discards_nothing() {
    let (survivors, ids) = within(&[], |scene, commands| {
        scene.rig.bind(commands, None);
        scene.rig.bind(commands, Some(scene.small));
        scene.rig.barrier(commands);
    });
    assert_eq!((survivors, ids.len()), ((true, true), 0));
}

#[test]
fn a_query_reset_is_an_action_command() {
    let (survivors, _) = within(&[], |scene, commands| {
        scene.rig.bind(commands, None);
        // SAFETY: Recording; a pool with a query.
        unsafe {
            scene
                .rig
                .device
                .cmd_reset_query_pool(commands, scene.rig.query_pool(), 0, 1)
        };
    });
    assert_eq!(survivors, (false, false));
}

#[test]
fn without_poison_nothing_is_overwritten_but_reads_are_still_reported() {
    let (survivors, ids) = within(&[("poison", "false")], |scene, commands| {
        scene.rig.bind(commands, None);
        action(scene, commands);
    });
    assert_eq!(survivors, (true, true));
    assert_eq!(ids, [READS_DISCARDED; 2]);
}

/// Writes in one command buffer, reads in another, and tells what survived when both are submitted by `submit`.
fn across(
    settings: &[(&str, &str)],
    submit: impl FnOnce(&Scene, vk::CommandBuffer, vk::CommandBuffer),
) -> ((bool, bool), Vec<String>) {
    let scene = Scene::new(settings);
    let writer = scene.rig.record(|commands| scene.write(commands));
    let reader = scene.rig.record(|commands| scene.read(commands));
    submit(&scene, writer, reader);
    let result = (scene.survivors(), scene.rig.take_ids());
    scene.rig.finish();
    result
}

#[test]
fn contents_survive_across_the_command_buffers_of_a_batch() {
    let silent = ((true, true), Vec::new());
    assert_eq!(
        across(&[], |scene, writer, reader| scene
            .rig
            .submit(&[&[writer, reader]])),
        silent
    );
    assert_eq!(
        across(&[], |scene, writer, reader| scene
            .rig
            .submit2(&[&[writer, reader]])),
        silent
    );
}

#[test]
fn contents_die_with_the_batch() {
    let dead = ((false, false), vec![READS_DISCARDED.to_owned(); 2]);
    assert_eq!(
        across(&[], |scene, writer, reader| scene
            .rig
            .submit(&[&[writer], &[reader]])),
        dead
    );
    assert_eq!(
        across(&[], |scene, writer, reader| scene
            .rig
            .submit2(&[&[writer], &[reader]])),
        dead
    );
}

#[test]
fn with_the_submit_boundary_contents_die_with_the_call() {
    let settings = [("queue_submit_boundary", "true")];
    let alive = across(&settings, |scene, writer, reader| {
        scene.rig.submit(&[&[writer], &[reader]])
    });
    assert_eq!(alive, ((true, true), Vec::new()));
    let dead = across(&settings, |scene, writer, reader| {
        scene.rig.submit(&[&[writer]]);
        scene.rig.submit(&[&[reader]]);
    });
    assert_eq!(dead.0, (false, false));
}

#[test]
fn resubmission_begins_with_nothing() {
    let dead = across(&[], |scene, writer, reader| {
        scene.rig.submit(&[&[writer, reader]]);
        assert_eq!(scene.survivors(), (true, true));
        scene.rig.submit(&[&[reader]]);
        assert_eq!(scene.survivors(), (false, false));
        scene
            .rig
            .submit(&[&[writer, reader, writer], &[writer, writer, reader]]);
        assert_eq!(scene.survivors(), (true, true));
        scene.rig.submit(&[&[reader]]);
    });
    assert_eq!(dead.0, (false, false));
}

#[test]
fn a_command_buffer_that_begins_unbound_discards_everything() {
    let dead = across(&[], |scene, writer, reader| {
        let forgetful = scene.rig.record(|commands| action(scene, commands));
        scene.rig.submit(&[&[writer, forgetful, reader]]);
    });
    assert_eq!(dead, ((false, false), vec![READS_DISCARDED.to_owned(); 2]));
    let alive = across(&[], |scene, writer, reader| {
        let harmless = scene.rig.record(|commands| scene.rig.barrier(commands));
        scene.rig.submit(&[&[writer, harmless, reader]]);
    });
    assert_eq!(alive.0, (true, true));
}

#[test]
fn a_command_buffer_that_begins_with_less_discards_above() {
    let half = across(&[], |scene, writer, reader| {
        let smaller = scene.rig.record(|commands| {
            scene.rig.bind(commands, Some(scene.small));
            action(scene, commands);
        });
        scene.rig.submit2(&[&[writer, smaller, reader]]);
    });
    assert_eq!(half, ((true, false), vec![READS_DISCARDED.to_owned()]));
}

#[test]
fn secondaries_outside_a_pass_bind_for_themselves() {
    for (binds, expected) in [(true, (true, true)), (false, (false, false))] {
        let (survivors, _) = within(&[], |scene, commands| {
            let secondary = scene.rig.record_secondary(|secondary| {
                if binds {
                    scene.rig.bind(secondary, Some(scene.large));
                }
                action(scene, secondary);
            });
            // SAFETY: Recording outside a pass, and recorded.
            unsafe { scene.rig.device.cmd_execute_commands(commands, &[secondary]) };
        });
        assert_eq!(survivors, expected, "binds: {binds}");
    }
}

#[test]
fn after_secondaries_nothing_is_known_to_be_bound() {
    let (survivors, _) = within(&[], |scene, commands| {
        let secondary = scene.rig.record_secondary(|secondary| {
            scene.rig.bind(secondary, Some(scene.large));
            action(scene, secondary);
        });
        // SAFETY: Recording outside a pass, and recorded.
        unsafe { scene.rig.device.cmd_execute_commands(commands, &[secondary]) };
        action(scene, commands);
    });
    assert_eq!(survivors, (false, false));
}
