//! What is recorded: barriers, and tile memory that is bound.

use super::*;

#[test]
fn both_kinds_of_barrier_read_alike() {
    let rig = Rig::new(Config::modern());
    let memory = rig.memory(1, 1 << 20);
    let (image, _) = rig.target(1, memory, 0);
    let commands = rig.begun();
    let (old, new) = (vk::ImageLayout::UNDEFINED, vk::ImageLayout::GENERAL);
    let one = [vk::ImageMemoryBarrier::default()
        .image(image)
        .old_layout(old)
        .new_layout(new)
        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_access_mask(vk::AccessFlags::SHADER_WRITE)];
    let stage = vk::PipelineStageFlags::COMPUTE_SHADER;
    let none = vk::DependencyFlags::empty();
    vulkan!(
        rig.device
            .cmd_pipeline_barrier(commands, stage, stage, none, &[], &[], &one)
    );
    let two = [vk::ImageMemoryBarrier2::default()
        .image(image)
        .old_layout(old)
        .new_layout(new)
        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .src_stage_mask(vk::PipelineStageFlags2::COMPUTE_SHADER)
        .dst_stage_mask(vk::PipelineStageFlags2::COMPUTE_SHADER)
        .dst_access_mask(vk::AccessFlags2::SHADER_WRITE)];
    let info = vk::DependencyInfo::default().image_memory_barriers(&two);
    vulkan!(rig.device.cmd_pipeline_barrier2(commands, &info));
    let recorded = rig.driver.recorded(commands);
    let [
        Command::Barriers {
            synchronization_2: false,
            barriers: first,
        },
        Command::Barriers {
            synchronization_2: true,
            barriers: second,
        },
    ] = &recorded[..]
    else {
        panic!("{recorded:?}")
    };
    assert_eq!(first, second);
    assert_eq!(first[0].touched, Touched::Image(image));
    assert_eq!(rig.violation(), "");
}

#[test]
fn tile_memory_is_bound_by_identity() {
    let rig = Rig::new(Config::modern());
    let (tile, none) = (rig.tile(), vk::RenderingFlags::empty());
    let (a, b) = (rig.memory(0, 1_056_768), rig.memory(0, 1_056_768));
    let (_, view) = rig.target(0, a, 0);
    let commands = rig.begun();
    let bind = |memory| {
        let info = ffi::TileMemoryBindInfoQCOM::default().memory(memory);
        vulkan!(tile.cmd_bind_tile_memory(commands, Some(&info)));
    };
    bind(a);
    rig.begin_rendering(commands, view, none);
    vulkan!(rig.device.cmd_draw(commands, 3, 1, 0, 0));
    vulkan!(rig.device.cmd_end_rendering(commands));
    assert_eq!(rig.violation(), "");
    let expected = [
        Command::BindTileMemory(Some(a)),
        Command::Draw,
        Command::EndRendering,
    ];
    let recorded = rig.driver.recorded(commands);
    assert_eq!([&recorded[0], &recorded[2], &recorded[3]], expected.each_ref());

    bind(b);
    rig.begin_rendering(commands, view, none);
    assert!(
        rig.violation().contains("is in tile memory"),
        "{}",
        rig.violation()
    );
    bind(a);
    assert!(
        rig.violation()
            .contains("vkCmdBindTileMemoryQCOM: inside a render pass"),
        "{}",
        rig.violation()
    );
    vulkan!(rig.device.cmd_end_rendering(commands));
    let before = rig.driver.violations().len();
    bind(rig.memory(1, 4096));
    assert!(
        rig.driver.violations()[before].contains("is not of a tile heap"),
        "{}",
        rig.violation()
    );
}

#[test]
fn a_secondary_without_inherited_tile_memory_is_reported() {
    let rig = Rig::new(Config::modern());
    let memory = rig.memory(0, 1_056_768);
    let (_, view) = rig.target(0, memory, 0);
    let secondary = |inherits: bool| {
        let commands = rig.commands(vk::CommandBufferLevel::SECONDARY);
        let mut bind = ffi::TileMemoryBindInfoQCOM::default().memory(memory);
        let mut inheritance = vk::CommandBufferInheritanceInfo::default();
        if inherits {
            inheritance = inheritance.push_next(&mut bind);
        }
        let info = vk::CommandBufferBeginInfo::default()
            .flags(vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE)
            .inheritance_info(&inheritance);
        vulkan!(rig.device.begin_command_buffer(commands, &info)).unwrap();
        vulkan!(rig.device.cmd_draw(commands, 3, 1, 0, 0));
        vulkan!(rig.device.end_command_buffer(commands)).unwrap();
        commands
    };
    let commands = rig.begun();
    let info = ffi::TileMemoryBindInfoQCOM::default().memory(memory);
    vulkan!(rig.tile().cmd_bind_tile_memory(commands, Some(&info)));
    rig.begin_rendering(
        commands,
        view,
        vk::RenderingFlags::CONTENTS_SECONDARY_COMMAND_BUFFERS,
    );
    vulkan!(rig.device.cmd_execute_commands(commands, &[secondary(true)]));
    assert_eq!(rig.violation(), "");
    vulkan!(rig.device.cmd_end_rendering(commands));
    vulkan!(rig.tile().cmd_bind_tile_memory(commands, Some(&info)));
    rig.begin_rendering(
        commands,
        view,
        vk::RenderingFlags::CONTENTS_SECONDARY_COMMAND_BUFFERS,
    );
    vulkan!(rig.device.cmd_execute_commands(commands, &[secondary(false)]));
    assert!(
        rig.violation().contains("inherits None while"),
        "{}",
        rig.violation()
    );
}
