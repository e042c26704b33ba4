//! Rules that only this layer checks: each is broken once, and the same program runs without the mistake.

use crate::rig;
use crate::rig::{Instance, Rig};
use ash::vk;
use tileheap_device::ffi;
use tileheap_testkit::objects::{Objects, command_buffers, record};

/// The emulator's messages about `run`; validation messages about the same mistake are listed in `validated`.
fn said(settings: &[(&str, &str)], validated: &[&str], run: impl FnOnce(&Rig)) -> Vec<String> {
    let rig = Rig::new(settings);
    run(&rig);
    rig.take_ids_but(validated)
}

/// Records a shader fill of a tile buffer with the memory of `bound` bound.
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

/// Nothing is defined if nothing is bound; but each mistake has a single message, even when the command buffer is submitted.
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

/// A checked dispatch is checked again when another object is bound, and when the contents it reads were discarded.
#[test]
fn the_same_dispatch_is_judged_by_what_changed_in_between() {
    let ids = said(&[], &VALIDATED_10746, |rig| {
        let (own, other) = (rig.object(12_288), rig.object(12_288));
        let buffer = rig.tile_words(64, own, 0);
        let (pipeline, set) = rig.work(rig::FILL, &[rig::Descriptor::buffer(buffer)]);
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
        let descriptors = [buffer, out.buffer].map(rig::Descriptor::buffer);
        let (pipeline, set) = rig.work(rig::COPY, &descriptors);
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

/// One update writes two bindings, the second of which is a tile buffer whose object is not bound.
#[test]
fn an_update_that_continues_in_the_next_binding_is_followed() {
    for way in ["write", "copy", "template"] {
        let ids = said(&[], &VALIDATED_10746, |rig| {
            let own = rig.object(12_288);
            let (buffer, out) = (rig.tile_words(64, own, 0), rig.host_buffer(64).buffer);
            let ordinary = [out; 2].map(rig::Descriptor::buffer);
            let (pipeline, set) = rig.work(rig::COPY, &ordinary);
            let infos = [out, buffer].map(|buffer| {
                let info = vk::DescriptorBufferInfo::default().buffer(buffer);
                info.range(vk::WHOLE_SIZE)
            });
            update_both(rig, way, (&pipeline, set), &infos);
            rig.record(|commands| rig.dispatch(commands, &pipeline, set, 0, 64));
        });
        assert_eq!(ids, WRONG, "{way}");
    }
}

/// Updates bindings 0 and 1 of a set with one update.
fn update_both(
    rig: &Rig,
    way: &str,
    (pipeline, set): (&rig::Pipeline, vk::DescriptorSet),
    infos: &[vk::DescriptorBufferInfo; 2],
) {
    let (device, kind) = (&rig.device, vk::DescriptorType::STORAGE_BUFFER);
    let write = vk::WriteDescriptorSet::default()
        .dst_set(set)
        .descriptor_type(kind);
    match way {
        // SAFETY: Valid usage, in each arm.
        "write" => unsafe { device.update_descriptor_sets(&[write.buffer_info(infos)], &[]) },
        "copy" => {
            let from = rig.set(pipeline, &infos.map(rig::Descriptor::Bytes));
            let copy = vk::CopyDescriptorSet::default().src_set(from).dst_set(set);
            // SAFETY: As above.
            unsafe { device.update_descriptor_sets(&[], &[copy.descriptor_count(2)]) };
        }
        _ => {
            let entries = [vk::DescriptorUpdateTemplateEntry::default()
                .descriptor_count(2)
                .descriptor_type(kind)
                .stride(size_of::<vk::DescriptorBufferInfo>())];
            let info = vk::DescriptorUpdateTemplateCreateInfo::default()
                .descriptor_update_entries(&entries)
                .template_type(vk::DescriptorUpdateTemplateType::DESCRIPTOR_SET)
                .descriptor_set_layout(pipeline.set_layout);
            let template = rig.create(&info);
            // SAFETY: As above.
            unsafe { device.update_descriptor_set_with_template(set, template, infos.as_ptr().cast()) };
        }
    }
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

/// A test suite of the extension counts every error, including the emulator's: with validation above, only validation reports rules that both check.
/// A pass over an unbound attachment is not an error until something is drawn, and is not silent.
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
        "validation only reports this for draws"
    );
    let settings = [("report", "auto"), ("tile_buffer_transfers", "true")];
    let beyond = said(&settings, &[], |rig| _ = record_transfer(rig, false));
    assert_eq!(
        beyond,
        ["TILEHEAP-transfer-unbound"],
        "only the emulator reports this"
    );
}

/// Records a transfer fill of a tile buffer, with its object bound or nothing.
fn record_transfer(rig: &Rig, bind: bool) -> vk::CommandBuffer {
    let object = rig.object(12_288);
    let usage = vk::BufferUsageFlags::TRANSFER_DST | vk::BufferUsageFlags::STORAGE_BUFFER;
    let buffer = rig.tile_buffer(256, usage);
    rig.bind_buffer(buffer, object, 0);
    rig.record(|commands| {
        if bind {
            rig.bind(commands, Some(object));
        }
        rig.fill_buffer(commands, buffer, 7);
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

/// Validation 1.4.363 does not report this for dynamic rendering.
#[test]
fn tile_memory_is_bound_outside_of_passes() {
    let bind = |inside: bool| {
        said(&[], &[], |rig| {
            let object = rig.object(rig.heap_size());
            let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT;
            let (image, view) = rig.tile_image(vk::Format::R32_UINT, rig::SIDE, usage, object, 0);
            rig.record(|commands| {
                rig.bind(commands, Some(object));
                rig.to_general(commands, image);
                rig.render_with(commands, view, rig::CLEAR, rig::SIDE, |commands| {
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
    let validated = [
        "VUID-VkBufferCreateInfo-usage-10764",
        "VUID-vkBindBufferMemory-memory-01035",
    ];
    let ids = said(&[], &validated, |rig| {
        // A vertex buffer cannot be placed in tile memory; it is never used.
        let buffer = rig.tile_buffer(256, vk::BufferUsageFlags::VERTEX_BUFFER);
        assert_eq!(rig.buffer_needs(buffer).1, (0, 0));
        let _ = rig.try_bind_buffer(buffer, rig.object(12_288), 0);
    });
    assert_eq!(ids, ["TILEHEAP-unsupported-resource"]);
}

#[test]
fn tile_memory_cannot_be_mapped() {
    let ids = said(&[], &["VUID-vkMapMemory-memory-00682"], |rig| {
        let (object, all) = (rig.object(12_288), vk::MemoryMapFlags::empty());
        // SAFETY: Wrong on purpose; it fails.
        let mapped = unsafe { rig.device.map_memory(object, 0, vk::WHOLE_SIZE, all) };
        assert_eq!(mapped, Err(vk::Result::ERROR_MEMORY_MAP_FAILED));
    });
    assert_eq!(ids, ["TILEHEAP-mapped"]);
}

#[test]
fn an_object_larger_than_the_heap_is_refused() {
    let ids = said(&[], &["VUID-vkAllocateMemory-pAllocateInfo-01713"], |rig| {
        let refused = rig.try_allocate(rig.heap_size() + 1, rig.tile_type());
        assert_eq!(refused, Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY));
        for _ in 0..2 {
            rig.object(rig.heap_size()); // They share the heap.
        }
    });
    assert_eq!(ids, ["TILEHEAP-too-large"]);
}

/// Programs that do not know tile memory and take the first device-local type, with or without work per tile: they get a message, and run.
#[test]
fn the_first_type_holds_what_is_bound_to_it_where_the_feature_is_off() {
    for with_tile_shading in [false, true] {
        let on = Instance::new(&[("tile_type_position", "first")]);
        let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
        let extensions = [
            ffi::tile_properties::NAME.as_ptr(),
            ffi::tile_shading::NAME.as_ptr(),
        ];
        let mut features = ffi::PhysicalDeviceTileShadingFeaturesQCOM::default()
            .tile_shading(true)
            .tile_shading_per_tile_dispatch(true);
        let mut info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
        if with_tile_shading {
            info = info.enabled_extension_names(&extensions).push_next(&mut features);
        }
        // SAFETY: Every device has a family 0 with a queue, and the emulator supports the features.
        let device = unsafe { on.instance.create_device(on.physical(), &info, None) }.expect("a device");
        let (objects, size) = (Objects::default(), 4 << 20);
        let usage = vk::BufferUsageFlags::TRANSFER_DST;
        let buffer = objects.create(&device, &vk::BufferCreateInfo::default().size(size).usage(usage));
        let memory = objects.create(&device, &vk::MemoryAllocateInfo::default().allocation_size(size));
        let pool = objects.create(&device, &vk::CommandPoolCreateInfo::default());
        // SAFETY: Valid, except for the type; all is destroyed when idle.
        unsafe {
            device
                .bind_buffer_memory(buffer, memory, 0)
                .expect("bound memory");
            let commands = command_buffers(&device, pool, vk::CommandBufferLevel::PRIMARY, 1);
            // All of it is real memory: a driver would write past a smaller allocation.
            record(&device, commands[0], &Default::default(), || {
                device.cmd_fill_buffer(commands[0], buffer, 0, vk::WHOLE_SIZE, 7)
            });
            let batch = vk::SubmitInfo::default().command_buffers(&commands);
            let submitted = device.queue_submit(device.get_device_queue(0, 0), &[batch], vk::Fence::null());
            submitted.expect("a submission");
            device.device_wait_idle().expect("an idle device");
            objects.destroy(&device);
            device.destroy_device(None);
        }
        let validated = [
            "VUID-vkAllocateMemory-tileMemoryHeap-10976",
            "VUID-vkBindBufferMemory-memory-01035",
        ];
        let ids = on.take_ids_but(&validated);
        assert_eq!(ids, ["TILEHEAP-not-enabled"], "tile shading: {with_tile_shading}");
    }
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
            let bound = rig.try_bind_buffer(buffer, object, offset);
            assert_eq!(bound, Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY), "{offset}");
        }
    });
    assert_eq!(ids, ["TILEHEAP-bad-place"; 2]);
}

#[test]
fn per_tile_commands_outside_a_pass_are_reported() {
    // Validation messages about a call outside a pass are irrelevant here.
    let validated = [
        "VUID-vkCmdBeginPerTileExecutionQCOM-renderpass",
        "VUID-vkCmdBeginPerTileExecutionQCOM-None-10664",
        "VUID-vkCmdBeginPerTileExecutionQCOM-None-10665",
    ];
    let ids = said(&[], &validated, |rig| {
        let shading = ffi::tile_shading::Device::new(&rig.instance, &rig.device).expect("its commands");
        let info = ffi::PerTileBeginInfoQCOM::default();
        // SAFETY: Recording; the emulator does nothing in this case.
        rig.record(|commands| unsafe { shading.cmd_begin_per_tile_execution(commands, &info) });
    });
    assert_eq!(ids, ["TILEHEAP-tile-shading"]);
}
