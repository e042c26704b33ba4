//! Two queue families use a buffer that shares its memory with another one.
#![allow(clippy::multiple_unsafe_ops_per_block)]

use std::ffi::CString;

use ash::vk;

use crate::loader::machine;
use crate::program::{Options, Owned};

const SIZE: u64 = 4096;

/// Writes a buffer on family 0 and reads it on family 1, after a semaphore; `transfers` releases and acquires it in between. Returns the layer's messages.
fn messages(transfers: bool) -> Vec<serde_json::Value> {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("messages.jsonl");
    let path = CString::new(log.to_str().expect("UTF-8")).expect("a path");
    let mut owned = Owned::default();
    let options = Options {
        ordinary_log: Some(path),
        ..Options::default()
    };
    owned.create_with(&options).expect("a device");
    write_and_read(&owned, transfers).expect("no call fails");
    drop(owned);
    let text = std::fs::read_to_string(&log).expect("a log");
    let lines = text
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
    lines.filter(|line| line["event"] == "message").collect()
}

fn write_and_read(owned: &Owned, transfers: bool) -> Result<(), vk::Result> {
    use vk::BufferUsageFlags as B;
    let (_, device) = owned.handles();
    let info = vk::BufferCreateInfo::default()
        .size(SIZE)
        .usage(B::TRANSFER_SRC | B::TRANSFER_DST);
    let [buffer, alias, copy] = [owned.make(info)?, owned.make(info)?, owned.make(info)?];
    // SAFETY: A buffer of this device.
    let needs = unsafe { device.get_buffer_memory_requirements(buffer) };
    let memory_type = needs.memory_type_bits.trailing_zeros();
    let info = vk::MemoryAllocateInfo::default()
        .allocation_size(needs.size)
        .memory_type_index(memory_type);
    let [shared, other] = [owned.make(info)?, owned.make(info)?];
    let pools =
        [0, 1].map(|family| owned.make(vk::CommandPoolCreateInfo::default().queue_family_index(family)));
    let semaphore = owned.make(vk::SemaphoreCreateInfo::default())?;
    let transfer = vk::BufferMemoryBarrier::default()
        .src_queue_family_index(0)
        .dst_queue_family_index(1)
        .buffer(buffer)
        .size(vk::WHOLE_SIZE);
    let release = transfer.src_access_mask(vk::AccessFlags::TRANSFER_WRITE);
    let acquire = transfer.dst_access_mask(vk::AccessFlags::TRANSFER_READ);
    // SAFETY: Live objects of this device, which are used by Vulkan's rules, except that ownership is not transferred without `transfers`.
    unsafe {
        for (buffer, memory) in [(buffer, shared), (alias, shared), (copy, other)] {
            device.bind_buffer_memory(buffer, memory, 0)?;
        }
        for (family, pool) in (0u32..).zip(pools) {
            let info = vk::CommandBufferAllocateInfo::default()
                .command_pool(pool?)
                .command_buffer_count(1);
            let commands = device.allocate_command_buffers(&info)?[0];
            owned.begin(commands)?;
            let barrier = |barrier| {
                let (copies, none) = (vk::PipelineStageFlags::TRANSFER, vk::DependencyFlags::empty());
                if transfers {
                    device.cmd_pipeline_barrier(commands, copies, copies, none, &[], &[barrier], &[]);
                }
            };
            let submit = vk::SubmitInfo::default();
            let (all, semaphores) = ([commands], [semaphore]);
            let submit = if family == 0 {
                device.cmd_fill_buffer(commands, buffer, 0, vk::WHOLE_SIZE, 1);
                barrier(release);
                submit.signal_semaphores(&semaphores)
            } else {
                barrier(acquire);
                let region = vk::BufferCopy::default().size(SIZE);
                device.cmd_copy_buffer(commands, buffer, copy, &[region]);
                submit
                    .wait_semaphores(&semaphores)
                    .wait_dst_stage_mask(&[vk::PipelineStageFlags::ALL_COMMANDS])
            };
            device.end_command_buffer(commands)?;
            let queue = device.get_device_queue(family, 0);
            device.queue_submit(queue, &[submit.command_buffers(&all)], vk::Fence::null())?;
            if family == 1 {
                device.queue_wait_idle(queue)?;
            }
        }
    }
    Ok(())
}

#[test]
fn another_family_reads_a_buffer_after_a_transfer() {
    let _turn = machine();
    let found = messages(false);
    let [one] = &found[..] else { panic!("{found:#?}") };
    assert_eq!(one["id"], "TILEHEAP-reads-discarded");
    let cause = one["cause"].as_str().expect("a cause");
    assert!(
        cause.contains(
            "on queue family 0; queue family 1 accesses the resource without a transfer of ownership"
        ),
        "{cause}"
    );
    assert_eq!(messages(true), [] as [serde_json::Value; 0]);
}
