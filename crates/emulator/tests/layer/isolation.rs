//! Several devices at once, several threads, many creations: the contents of each are separate.

use std::thread;

use crate::rig::Rig;
use ash::vk;
use tileheap_emulator::POISON;
use tileheap_testkit::objects::{command_buffers, record};

const WORDS: u32 = 256;

/// Writes `value` to tile memory in one batch, reads it there, and finds poison in the next.
fn work(rig: &Rig, value: u32) {
    // The hostile profile's sizes are odd.
    let object = rig.object(2 * 12_288);
    let buffer = rig.tile_words(WORDS.into(), object, 0);
    let out = rig.host_buffer(WORDS as usize);
    let writer = rig.record(|commands| {
        rig.bind(commands, Some(object));
        rig.fill(commands, buffer, WORDS, value);
    });
    let reader = rig.record(|commands| {
        rig.bind(commands, Some(object));
        rig.copy(commands, buffer, out.buffer, WORDS);
    });
    rig.submit(&[&[writer, reader]]);
    assert_eq!(out.read(), vec![value; WORDS as usize]);
    rig.submit2(&[&[reader]]);
    assert_eq!(out.read(), vec![POISON; WORDS as usize]);
    assert_eq!(rig.take_ids(), ["TILEHEAP-reads-discarded"]);
}

#[test]
fn devices_on_threads_do_not_meet() {
    thread::scope(|scope| {
        for value in 1..=3 {
            scope.spawn(move || {
                let rig = Rig::new(&[("profile", if value == 2 { "hostile" } else { "adreno-830" })]);
                for round in 0..4 {
                    work(&rig, value * 1000 + round);
                }
            });
        }
    });
}

#[test]
fn two_threads_record_at_once() {
    let rig = Rig::new(&[]);
    let object = rig.object(2 * 12_288);
    let buffers = [0, 12_288].map(|offset| rig.tile_words(WORDS.into(), object, offset));
    let outs = [(); 2].map(|()| rig.host_buffer(WORDS as usize));
    // All objects of a thread are created before, since command pools belong to one thread.
    let recorded = [0, 1].map(|index: usize| {
        rig.record(|commands| {
            rig.bind(commands, Some(object));
            rig.fill(commands, buffers[index], WORDS, 7 + index as u32);
            rig.copy(commands, buffers[index], outs[index].buffer, WORDS);
        })
    });
    let info = vk::CommandPoolCreateInfo::default().queue_family_index(rig.family);
    let pools = [(); 2].map(|()| rig.create(&info));
    let (device, tile, barrier) = (&rig.device, &rig.tile, &*rig);
    thread::scope(|scope| {
        for pool in pools {
            scope.spawn(move || {
                for _ in 0..200 {
                    let commands = command_buffers(device, pool, vk::CommandBufferLevel::PRIMARY, 1);
                    let bound = tileheap_device::ffi::TileMemoryBindInfoQCOM::default().memory(object);
                    // SAFETY: The pool is this thread's, and none of its command buffers are pending.
                    record(device, commands[0], &Default::default(), || unsafe {
                        tile.cmd_bind_tile_memory(commands[0], Some(&bound));
                        barrier.barrier(commands[0]);
                        tile.cmd_bind_tile_memory(commands[0], None);
                    });
                    // SAFETY: As above.
                    unsafe { device.free_command_buffers(pool, &commands) };
                }
            });
        }
    });
    rig.submit(&[&recorded]);
    for (index, out) in outs.iter().enumerate() {
        assert_eq!(out.read(), vec![7 + index as u32; WORDS as usize]);
    }
}
