//! The rules that only this layer checks: each broken once, and the same program without the mistake.

use crate::rig;
use crate::rig::Rig;
use ash::vk;
use tileheap_device::ffi;

/// The emulator's messages about `run`; those of validation about the same mistake are listed in `validated`.
fn said(settings: &[(&str, &str)], validated: &[&str], run: impl FnOnce(&Rig)) -> Vec<String> {
    let rig = Rig::new(settings);
    run(&rig);
    let ids = rig.take_ids_but(validated);
    rig.finish();
    ids
}

/// Records a fill of a tile buffer by a shader while `bound` is bound.
fn dispatch_with(rig: &Rig, bound: impl FnOnce(&Rig, vk::DeviceMemory) -> Option<vk::DeviceMemory>) {
    let own = rig.object(12_288);
    let buffer = rig.tile_words(64, own, 0);
    let bound = bound(rig, own);
    rig.record(|commands| {
        rig.bind(commands, bound);
        rig.fill(commands, buffer, 64, 1);
    });
}

const WRONG: [&str; 1] = ["TILEHEAP-wrong-object"];
const VALIDATED_10746: [&str; 1] = ["VUID-vkCmdDispatch-commandBuffer-10746"];

#[test]
fn a_dispatch_reaches_only_the_object_bound() {
    assert!(said(&[], &[], |rig| dispatch_with(rig, |_, own| Some(own))).is_empty());
    let other = |rig: &Rig, _| Some(rig.object(12_288));
    assert_eq!(
        said(&[], &VALIDATED_10746, |rig| dispatch_with(rig, other)),
        WRONG
    );
    assert_eq!(
        said(&[], &VALIDATED_10746, |rig| dispatch_with(rig, |_, _| None)),
        WRONG
    );
}

/// Nothing is defined where nothing is bound; but of one mistake there is one message, also where the command buffer is submitted.
#[test]
fn what_a_wrong_object_holds_is_not_said_beside_it() {
    let copied = |bind: bool| {
        said(&[], if bind { &[] } else { &VALIDATED_10746 }, |rig| {
            let own = rig.object(12_288);
            let buffer = rig.tile_words(64, own, 0);
            let out = rig.host_buffer(64);
            let commands = rig.record(|commands| {
                rig.bind(commands, Some(own).filter(|_| bind));
                rig.copy(commands, buffer, out.buffer, 64);
            });
            rig.submit(&[&[commands]]);
        })
    };
    assert_eq!(copied(false), WRONG);
    assert_eq!(copied(true), ["TILEHEAP-reads-discarded"]);
}

/// What was checked once is checked again when another object is bound, and when what it reads was discarded.
#[test]
fn the_same_dispatch_is_judged_by_what_changed_in_between() {
    let ids = said(&[], &VALIDATED_10746, |rig| {
        let (own, other) = (rig.object(12_288), rig.object(12_288));
        let buffer = rig.tile_words(64, own, 0);
        let pipeline = rig.compute(&[vk::DescriptorType::STORAGE_BUFFER], rig::FILL);
        let set = rig.set(&pipeline, &[rig::Descriptor::Buffer(buffer)]);
        rig.record(|commands| {
            for bound in [own, own, other, own] {
                rig.bind(commands, Some(bound));
                rig.dispatch(commands, &pipeline, set, 1, 64);
            }
        });
    });
    assert_eq!(ids, WRONG);
    let ids = said(&[], &[], |rig| {
        let own = rig.object(12_288);
        let buffer = rig.tile_words(64, own, 0);
        let out = rig.host_buffer(64);
        let kinds = [vk::DescriptorType::STORAGE_BUFFER; 2];
        let pipeline = rig.compute(&kinds, rig::COPY);
        let descriptors = [
            rig::Descriptor::Buffer(buffer),
            rig::Descriptor::Buffer(out.buffer),
        ];
        let set = rig.set(&pipeline, &descriptors);
        let commands = rig.record(|commands| {
            rig.bind(commands, Some(own));
            rig.fill(commands, buffer, 64, 7);
            rig.dispatch(commands, &pipeline, set, 0, 64);
            rig.bind(commands, None);
            rig.fill(commands, out.buffer, 64, 0);
            rig.bind(commands, Some(own));
            rig.dispatch(commands, &pipeline, set, 0, 64);
            rig.dispatch(commands, &pipeline, set, 0, 64);
        });
        rig.submit(&[&[commands]]);
    });
    assert_eq!(ids, ["TILEHEAP-reads-discarded"]);
}

#[test]
fn what_validation_checks_too_need_not_be_said_twice() {
    let quiet = [("report", "beyond-validation")];
    assert!(said(&quiet, &VALIDATED_10746, |rig| dispatch_with(rig, |_, _| None)).is_empty());
    assert_eq!(
        said(&quiet, &[], pass_without_draws),
        ["TILEHEAP-attachment-unbound"]
    );
}

/// Records a pass that clears an attachment whose object is not bound.
fn pass_without_draws(rig: &Rig) {
    let object = rig.object(rig.heap_size());
    let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT;
    let (_, view) = rig.tile_image(vk::Format::R32_UINT, rig::SIDE, usage, object, 0);
    rig.record(|commands| rig.render(commands, view, rig::CLEAR, rig::SIDE));
}

/// A suite of tests of the extension counts every error, also those of the emulator: where validation sits above, it is
/// validation that speaks of what both check. A pass over an unbound attachment is no error until something is drawn, and not
/// silent.
#[test]
fn by_default_nothing_is_said_twice() {
    let auto = [("report", "auto")];
    let expected: &[&str] = if rig::is_validated() { &[] } else { &WRONG };
    let ids = said(&auto, &VALIDATED_10746, |rig| dispatch_with(rig, |_, _| None));
    assert_eq!(ids, expected);
    let ids = said(&auto, &[], pass_without_draws);
    assert_eq!(
        ids,
        ["TILEHEAP-attachment-unbound"],
        "validation says this of draws alone"
    );
    let beyond = said(
        &[("report", "auto"), ("tile_buffer_transfers", "true")],
        &[],
        |rig| {
            record_transfer(rig, false);
        },
    );
    assert_eq!(beyond, ["TILEHEAP-transfer-unbound"], "nobody else says this");
}

/// Records a fill of a tile buffer by a transfer, with its object bound or nothing.
fn record_transfer(rig: &Rig, bind: bool) -> vk::CommandBuffer {
    let object = rig.object(12_288);
    let usage = vk::BufferUsageFlags::TRANSFER_DST | vk::BufferUsageFlags::STORAGE_BUFFER;
    let buffer = rig.tile_buffer(256, usage);
    // SAFETY: New, at an offset that every alignment allows.
    unsafe { rig.device.bind_buffer_memory(buffer, object, 0) }.expect("bound tile memory");
    rig.record(|commands| {
        if bind {
            rig.bind(commands, Some(object));
        }
        // SAFETY: Recording; a transfer destination.
        unsafe { rig.device.cmd_fill_buffer(commands, buffer, 0, vk::WHOLE_SIZE, 7) };
    })
}

fn transfer(bind: bool) -> Vec<String> {
    said(&[("tile_buffer_transfers", "true")], &[], |rig| {
        let commands = record_transfer(rig, bind);
        rig.submit(&[&[commands]]);
    })
}

#[test]
fn a_transfer_needs_its_object_bound() {
    assert!(transfer(true).is_empty());
    assert_eq!(transfer(false), ["TILEHEAP-transfer-unbound"]);
}

/// Validation 1.4.363 does not say so of dynamic rendering.
#[test]
fn tile_memory_is_bound_outside_of_passes() {
    let bind = |inside: bool| {
        said(&[], &[], |rig| {
            let object = rig.object(rig.heap_size());
            let (image, view) = rig.tile_image(
                vk::Format::R32_UINT,
                rig::SIDE,
                vk::ImageUsageFlags::COLOR_ATTACHMENT,
                object,
                0,
            );
            rig.record(|commands| {
                rig.bind(commands, Some(object));
                let (from, to) = (vk::ImageLayout::UNDEFINED, vk::ImageLayout::GENERAL);
                rig.transition(commands, image, from, to);
                let flags = vk::RenderingFlags::empty();
                rig.render_with(commands, view, rig::CLEAR, rig::SIDE, flags, |commands| {
                    if inside {
                        rig.bind(commands, Some(object));
                    }
                });
            });
        })
    };
    assert!(bind(false).is_empty());
    assert_eq!(bind(true), ["TILEHEAP-bound-inside"]);
}

#[test]
fn a_resource_with_requirements_of_0_is_reported_where_it_is_bound() {
    let ids = said(
        &[],
        &[
            "VUID-VkBufferCreateInfo-usage-10764",
            "VUID-vkBindBufferMemory-memory-01035",
        ],
        |rig| {
            // A vertex buffer cannot live in tile memory.
            let buffer = rig.tile_buffer(256, vk::BufferUsageFlags::VERTEX_BUFFER);
            assert_eq!(rig.buffer_needs(buffer).1, (0, 0));
            let object = rig.object(12_288);
            // SAFETY: Wrong on purpose: bound where it cannot live, and never used.
            let _ = unsafe { rig.device.bind_buffer_memory(buffer, object, 0) };
        },
    );
    assert_eq!(ids, ["TILEHEAP-unsupported-resource"]);
}

#[test]
fn tile_memory_cannot_be_mapped() {
    let ids = said(&[], &["VUID-vkMapMemory-memory-00682"], |rig| {
        let object = rig.object(12_288);
        // SAFETY: Wrong on purpose; it fails.
        let mapped = unsafe {
            rig.device
                .map_memory(object, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())
        };
        assert_eq!(mapped, Err(vk::Result::ERROR_MEMORY_MAP_FAILED));
    });
    assert_eq!(ids, ["TILEHEAP-mapped"]);
}

#[test]
fn an_object_larger_than_the_heap_is_refused() {
    let ids = said(&[], &["VUID-vkAllocateMemory-pAllocateInfo-01713"], |rig| {
        let refused = rig.allocate(rig.heap_size() + 1, rig.tile_type());
        assert_eq!(refused, Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY));
        assert!(rig.allocate(rig.heap_size(), rig.tile_type()).is_ok());
        assert!(
            rig.allocate(rig.heap_size(), rig.tile_type()).is_ok(),
            "objects share the heap"
        );
    });
    assert_eq!(ids, ["TILEHEAP-too-large"]);
}

/// Programs that know nothing of tile memory and take the first device local type: they are told so, and run.
#[test]
fn the_first_type_holds_what_is_bound_to_it_where_the_feature_is_off() {
    let messages = std::sync::Mutex::default();
    let (_entry, instance, utils, messenger) =
        rig::instance_with(&[("tile_type_position", "first")], &messages);
    let validated = [
        "VUID-vkAllocateMemory-tileMemoryHeap-10976",
        "VUID-vkBindBufferMemory-memory-01035",
    ];
    // SAFETY: Valid create infos, but for the type; all is destroyed in the order of use.
    unsafe {
        let physical = instance.enumerate_physical_devices().expect("devices")[0];
        let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
        let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
        let device = instance.create_device(physical, &info, None).expect("a device");
        let size = 4 << 20;
        let info = vk::BufferCreateInfo::default()
            .size(size)
            .usage(vk::BufferUsageFlags::TRANSFER_DST);
        let buffer = device.create_buffer(&info, None).expect("a buffer");
        let info = vk::MemoryAllocateInfo::default().allocation_size(size);
        let memory = device.allocate_memory(&info, None).expect("memory of type 0");
        device
            .bind_buffer_memory(buffer, memory, 0)
            .expect("bound memory");
        let pool = device
            .create_command_pool(&vk::CommandPoolCreateInfo::default(), None)
            .expect("a pool");
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .command_buffer_count(1);
        let commands = device.allocate_command_buffers(&info).expect("a command buffer");
        device
            .begin_command_buffer(commands[0], &vk::CommandBufferBeginInfo::default())
            .expect("recording begins");
        // All of it is there: a driver would write past less.
        device.cmd_fill_buffer(commands[0], buffer, 0, vk::WHOLE_SIZE, 7);
        device.end_command_buffer(commands[0]).expect("recording ends");
        let queue = device.get_device_queue(0, 0);
        let batch = vk::SubmitInfo::default().command_buffers(&commands);
        device
            .queue_submit(queue, &[batch], vk::Fence::null())
            .expect("a submission");
        device.device_wait_idle().expect("an idle device");
        device.destroy_command_pool(pool, None);
        device.destroy_buffer(buffer, None);
        device.free_memory(memory, None);
        device.destroy_device(None);
        utils.destroy_debug_utils_messenger(messenger, None);
        instance.destroy_instance(None);
    }
    let messages = messages.into_inner().expect("no panic while collecting");
    let (own, others): (Vec<_>, Vec<_>) = messages
        .into_iter()
        .map(|(id, _)| id)
        .partition(|id| id.starts_with("TILEHEAP-"));
    assert_eq!(own, ["TILEHEAP-not-enabled"]);
    assert!(
        others.iter().all(|id| validated.contains(&id.as_str())),
        "{others:?}"
    );
}

#[test]
fn a_bad_place_is_refused() {
    let validated = [
        "VUID-vkBindBufferMemory-memory-10740",
        "VUID-vkBindBufferMemory-memory-10742",
        "VUID-vkBindBufferMemory-memoryOffset-01031",
    ];
    let ids = said(&[], &validated, |rig| {
        let object = rig.object(12_288);
        for offset in [4096, 12_288] {
            let buffer = rig.tile_buffer(256, vk::BufferUsageFlags::STORAGE_BUFFER);
            // SAFETY: Wrong on purpose; it fails.
            let bound = unsafe { rig.device.bind_buffer_memory(buffer, object, offset) };
            assert_eq!(bound, Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY), "{offset}");
        }
    });
    assert_eq!(ids, ["TILEHEAP-bad-place"; 2]);
}

#[test]
fn per_tile_commands_outside_a_pass_are_reported() {
    // What validation has to say of a call outside a pass is not the point here.
    let validated = [
        "VUID-vkCmdBeginPerTileExecutionQCOM-renderpass",
        "VUID-vkCmdBeginPerTileExecutionQCOM-None-10664",
        "VUID-vkCmdBeginPerTileExecutionQCOM-None-10665",
    ];
    let ids = said(&[], &validated, |rig| {
        // SAFETY: A live device and a C string.
        let pointer = unsafe {
            (rig.instance.fp_v1_0().get_device_proc_addr)(
                rig.device.handle(),
                c"vkCmdBeginPerTileExecutionQCOM".as_ptr(),
            )
        };
        type Command = unsafe extern "system" fn(vk::CommandBuffer, *const ffi::PerTileBeginInfoQCOM<'_>);
        // SAFETY: The command of that name.
        let begin = unsafe { std::mem::transmute::<vk::PFN_vkVoidFunction, Option<Command>>(pointer) };
        rig.record(|commands| {
            let info = ffi::PerTileBeginInfoQCOM::default();
            // SAFETY: Recording; the emulator does nothing here.
            unsafe { begin.expect("the command")(commands, &info) };
        });
    });
    assert_eq!(ids, ["TILEHEAP-tile-shading"]);
}
