//! A timeline semaphore of the layer orders queues that use tile memory.
#![allow(clippy::multiple_unsafe_ops_per_block)]

use ash::vk;
use tileheap_device::ffi;

use crate::driver::{arm, lock};
use crate::loader::machine;
use crate::program::Owned;
use crate::queues::{SUBMITTED, Seen};

/// A device with two queues, a command buffer that uses tile memory, and one that does not.
struct Scene {
    owned: Owned,
    queues: [vk::Queue; 2],
    tile: vk::CommandBuffer,
    ordinary: vk::CommandBuffer,
}

impl Scene {
    fn new() -> Scene {
        let mut owned = Owned::default();
        let (second, tile_type) = owned.create(false).expect("a device");
        let info = vk::MemoryAllocateInfo::default().allocation_size(65_536);
        let memory = owned
            .make(info.memory_type_index(tile_type))
            .expect("tile memory");
        let usage = vk::BufferUsageFlags::TRANSFER_DST | ffi::BUFFER_USAGE_TILE_MEMORY_BIT_QCOM;
        let buffer = owned.make(vk::BufferCreateInfo::default().size(4096).usage(usage));
        let buffer = buffer.expect("a buffer");
        let commands = owned.allocate(vk::CommandBufferLevel::PRIMARY);
        let [tile, ordinary] = commands.expect("command buffers");
        let (binder, (_, device)) = (owned.tile(), owned.handles());
        for commands in [tile, ordinary] {
            owned.begin(commands).expect("recording begins");
            // SAFETY: New, and recording by Vulkan's rules.
            unsafe {
                if commands == tile {
                    let bound = device.bind_buffer_memory(buffer, memory, 0);
                    bound.expect("bound tile memory");
                    let bind = ffi::TileMemoryBindInfoQCOM::default().memory(memory);
                    binder.cmd_bind_tile_memory(commands, Some(&bind));
                    device.cmd_fill_buffer(commands, buffer, 0, vk::WHOLE_SIZE, 1);
                }
                device.end_command_buffer(commands).expect("recording ends");
            }
        }
        // SAFETY: A queue that the device has.
        let first = unsafe { device.get_device_queue(0, 0) };
        Scene {
            owned,
            queues: [first, second],
            tile,
            ordinary,
        }
    }

    /// Submits batches of one command buffer each in one call, and returns the batches that reached the driver, one line per batch.
    fn submit(
        &self,
        queue: usize,
        commands: &[vk::CommandBuffer],
        second_kind: bool,
    ) -> Result<Vec<String>, vk::Result> {
        let (_, device) = self.owned.handles();
        *lock(&SUBMITTED) = Some(Vec::new());
        // SAFETY: Recorded command buffers of this device.
        let result = unsafe {
            if second_kind {
                let info = vk::CommandBufferSubmitInfo::default();
                let infos: Vec<_> = commands.iter().map(|one| [info.command_buffer(*one)]).collect();
                let batch = vk::SubmitInfo2::default();
                let batches: Vec<_> = infos.iter().map(|one| batch.command_buffer_infos(one)).collect();
                device.queue_submit2(self.queues[queue], &batches, vk::Fence::null())
            } else {
                let (batch, each) = (vk::SubmitInfo::default(), commands.chunks(1));
                let batches: Vec<_> = each.map(|one| batch.command_buffers(one)).collect();
                device.queue_submit(self.queues[queue], &batches, vk::Fence::null())
            }
        };
        let seen = lock(&SUBMITTED).take().expect("noted");
        result?;
        // SAFETY: A queue of this device.
        unsafe { device.queue_wait_idle(self.queues[queue]) }.expect("an idle queue");
        let [(by, batches)] = &seen[..] else {
            panic!("one call becomes one call: {seen:?}")
        };
        assert_eq!(*by, queue);
        Ok(batches.iter().map(line).collect())
    }
}

fn line(seen: &Seen) -> String {
    match (seen.commands, &seen.waits[..], &seen.signals[..]) {
        (commands, [], []) => format!("runs {commands}"),
        (0, [value], []) => format!("waits for {value}"),
        (0, [], [value]) => format!("signals {value}"),
        _ => format!("{seen:?}"),
    }
}

#[test]
fn queues_take_turns() {
    let _turn = machine();
    let scene = Scene::new();
    let (tile, ordinary) = (scene.tile, scene.ordinary);
    let submit = |queue, commands: &[_], second_kind| {
        scene.submit(queue, commands, second_kind).expect("a submission")
    };
    // Memory that was never written is poisoned first, and live contents are poisoned after the end of a batch.
    assert_eq!(
        submit(0, &[tile], false),
        ["runs 1", "runs 1", "runs 1", "signals 1"]
    );
    assert_eq!(
        submit(1, &[ordinary], false),
        ["runs 1"],
        "it is passed on as it is"
    );
    assert_eq!(
        submit(1, &[tile], false),
        ["waits for 1", "runs 1", "runs 1", "signals 2"]
    );
    let again = ["runs 1", "runs 1", "signals 3"];
    assert_eq!(
        submit(1, &[tile], false),
        again,
        "it is this queue's turn already"
    );
    assert_eq!(
        submit(0, &[tile], true),
        ["waits for 3", "runs 1", "runs 1", "signals 4"]
    );
    // With the profile's submit boundary, contents and the order of queues extend to the last batch that uses them.
    let mixed = submit(1, &[ordinary, tile, ordinary, tile, ordinary], true);
    assert_eq!(
        [&mixed[..2], &mixed[6..]].concat(),
        ["runs 1", "waits for 4", "signals 5", "runs 1"]
    );
    assert_eq!(mixed[2..6], ["runs 1"; 4]);

    // A failed call does not take part in the order.
    for second_kind in [false, true] {
        arm(1, vk::Result::ERROR_OUT_OF_HOST_MEMORY);
        let refused = scene.submit(0, &[tile], second_kind);
        assert_eq!(refused, Err(vk::Result::ERROR_OUT_OF_HOST_MEMORY));
        arm(0, vk::Result::SUCCESS);
    }
    assert_eq!(
        submit(0, &[tile], true),
        ["waits for 5", "runs 1", "runs 1", "signals 6"]
    );
}
