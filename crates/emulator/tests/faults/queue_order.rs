//! A timeline semaphore of the layer orders queues that use tile memory.
#![allow(clippy::multiple_unsafe_ops_per_block)]

use std::sync::atomic::Ordering::SeqCst;

use ash::vk;
use tileheap_device::ffi;

use crate::driver::{LIVE, arm, lock};
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
        let (instance, device) = (
            owned.instance.clone().expect("created"),
            owned.device.clone().expect("created"),
        );
        let binder = ffi::tile_memory_heap::Device::new(&instance, &device).expect("vkCmdBindTileMemoryQCOM");
        // SAFETY: Valid create infos, handles of this device, and recording as Vulkan wants it; `Owned` waits before it destroys.
        let (first, commands) = unsafe {
            let info = vk::MemoryAllocateInfo::default()
                .allocation_size(65_536)
                .memory_type_index(tile_type);
            let memory = device.allocate_memory(&info, None).expect("tile memory");
            owned.memory.push(memory);
            let usage = vk::BufferUsageFlags::TRANSFER_DST | ffi::BUFFER_USAGE_TILE_MEMORY_BIT_QCOM;
            let info = vk::BufferCreateInfo::default().size(4096).usage(usage);
            let buffer = device.create_buffer(&info, None).expect("a buffer");
            owned.buffers.push(buffer);
            device
                .bind_buffer_memory(buffer, memory, 0)
                .expect("bound tile memory");
            let pool = device
                .create_command_pool(&vk::CommandPoolCreateInfo::default(), None)
                .expect("a pool");
            owned.pools.push(pool);
            let info = vk::CommandBufferAllocateInfo::default()
                .command_pool(pool)
                .command_buffer_count(2);
            let commands = device.allocate_command_buffers(&info).expect("command buffers");
            for (commands, is_tile) in commands.iter().zip([true, false]) {
                device
                    .begin_command_buffer(*commands, &vk::CommandBufferBeginInfo::default())
                    .expect("recording begins");
                if is_tile {
                    let bind = ffi::TileMemoryBindInfoQCOM::default().memory(memory);
                    binder.cmd_bind_tile_memory(*commands, Some(&bind));
                    device.cmd_fill_buffer(*commands, buffer, 0, vk::WHOLE_SIZE, 1);
                }
                device.end_command_buffer(*commands).expect("recording ends");
            }
            (device.get_device_queue(0, 0), commands)
        };
        Scene {
            owned,
            queues: [first, second],
            tile: commands[0],
            ordinary: commands[1],
        }
    }

    /// Submits batches of one command buffer each in one call, and tells what reached the driver, in one line per batch.
    fn submit(
        &self,
        queue: usize,
        commands: &[vk::CommandBuffer],
        second_kind: bool,
    ) -> Result<Vec<String>, vk::Result> {
        let device = self.owned.device.as_ref().expect("created");
        *lock(&SUBMITTED) = Some(Vec::new());
        // SAFETY: Recorded command buffers of this device.
        let result = unsafe {
            if second_kind {
                let infos: Vec<_> = commands
                    .iter()
                    .map(|commands| vk::CommandBufferSubmitInfo::default().command_buffer(*commands))
                    .collect();
                let batches: Vec<_> = infos
                    .iter()
                    .map(|info| vk::SubmitInfo2::default().command_buffer_infos(std::slice::from_ref(info)))
                    .collect();
                device.queue_submit2(self.queues[queue], &batches, vk::Fence::null())
            } else {
                let batches: Vec<_> = commands
                    .iter()
                    .map(|commands| vk::SubmitInfo::default().command_buffers(std::slice::from_ref(commands)))
                    .collect();
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
    arm(0, vk::Result::SUCCESS);
    let scene = Scene::new();
    let (tile, ordinary) = (scene.tile, scene.ordinary);
    let submit = |queue, commands: &[_], second_kind| {
        scene.submit(queue, commands, second_kind).expect("a submission")
    };
    // Memory that nobody wrote is poisoned first, and what lives at the end of a batch behind it.
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
    assert_eq!(
        submit(1, &[tile], false),
        ["runs 1", "runs 1", "signals 3"],
        "it is this queue's turn already"
    );
    assert_eq!(
        submit(0, &[tile], true),
        ["waits for 3", "runs 1", "runs 1", "signals 4"]
    );
    // The submit boundary of the profile: contents live on to the last batch that uses them, and the turn with them.
    let mixed = submit(1, &[ordinary, tile, ordinary, tile, ordinary], true);
    let expected = [
        "runs 1",
        "waits for 4",
        "runs 1",
        "runs 1",
        "runs 1",
        "runs 1",
        "signals 5",
        "runs 1",
    ];
    assert_eq!(mixed, expected);

    // A call that fails takes no turn.
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
    drop(scene);
    assert_eq!(LIVE.load(SeqCst), 0);
}
