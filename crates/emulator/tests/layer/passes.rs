//! What render passes and transitions do to tile images: operations DONT_CARE, layouts UNDEFINED, secondaries.

use crate::rig;
use crate::rig::{CLEAR, CLEARED, Operations, Rig, SIDE};
use ash::vk;
use ash::vk::{AttachmentLoadOp as Load, AttachmentStoreOp as Store, ImageLayout as Layout};
use tileheap_device::ffi::TileMemoryBindInfoQCOM;
use tileheap_emulator::POISON;

/// A tile image with a copy of its texels that the host reads.
struct Scene {
    rig: Rig,
    object: vk::DeviceMemory,
    image: vk::Image,
    view: vk::ImageView,
    texels: rig::HostBuffer,
}

impl Scene {
    fn new() -> Scene {
        let rig = Rig::new(&[]);
        let object = rig.object(rig.heap_size());
        let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::STORAGE;
        let (image, view) = rig.tile_image(vk::Format::R32_UINT, SIDE, usage, object, 12_288);
        let texels = rig.host_buffer((SIDE * SIDE) as usize);
        Scene {
            rig,
            object,
            image,
            view,
            texels,
        }
    }

    /// Clears the image, records `between`, copies the texels out, and gives the first and the last one.
    fn run(self, between: impl FnOnce(&Scene, vk::CommandBuffer)) -> ([u32; 2], Vec<String>) {
        let commands = self.rig.record(|commands| {
            self.rig.bind(commands, Some(self.object));
            self.rig
                .transition(commands, self.image, Layout::UNDEFINED, Layout::GENERAL);
            self.rig.render(commands, self.view, CLEAR, SIDE);
            between(&self, commands);
            self.rig.bind(commands, Some(self.object));
            self.rig.copy_texels(commands, self.view, self.texels.buffer);
        });
        self.rig.submit2(&[&[commands]]);
        let texels = self.texels.read();
        let ids = self.rig.take_ids();
        self.rig.finish();
        ([texels[0], texels[texels.len() - 1]], ids)
    }
}

const ALIVE: [u32; 2] = [CLEARED; 2];
const DEAD: [u32; 2] = [POISON; 2];

fn dynamic(operations: Operations, height: u32) -> [u32; 2] {
    Scene::new()
        .run(|scene, commands| scene.rig.render(commands, scene.view, operations, height))
        .0
}

#[test]
fn what_is_cleared_and_stored_survives() {
    assert_eq!(Scene::new().run(|_, _| ()), (ALIVE, Vec::new()));
    assert_eq!(
        dynamic(
            Operations {
                load: Load::LOAD,
                ..CLEAR
            },
            SIDE
        ),
        ALIVE
    );
}

#[test]
fn operations_dont_care_discard() {
    assert_eq!(
        dynamic(
            Operations {
                store: Store::DONT_CARE,
                ..CLEAR
            },
            SIDE
        ),
        DEAD
    );
    assert_eq!(
        dynamic(
            Operations {
                load: Load::DONT_CARE,
                ..CLEAR
            },
            SIDE
        ),
        DEAD
    );
}

#[test]
fn operations_reach_no_further_than_the_render_area() {
    assert_eq!(
        dynamic(
            Operations {
                load: Load::DONT_CARE,
                ..CLEAR
            },
            SIDE / 2
        ),
        ALIVE
    );
    assert_eq!(
        dynamic(
            Operations {
                store: Store::DONT_CARE,
                ..CLEAR
            },
            SIDE / 2
        ),
        ALIVE
    );
}

#[test]
fn a_transition_from_undefined_discards() {
    for from in [Layout::UNDEFINED, Layout::GENERAL] {
        let expected = if from == Layout::UNDEFINED { DEAD } else { ALIVE };
        let (texels, ids) = Scene::new()
            .run(|scene, commands| scene.rig.transition(commands, scene.image, from, Layout::GENERAL));
        assert_eq!(texels, expected, "{from:?}");
        assert_eq!(ids.len(), usize::from(expected == DEAD), "{ids:?}");
    }
}

#[test]
fn a_transition_by_synchronization2_discards_too() {
    let (texels, _) = Scene::new().run(|scene, commands| {
        let accesses = vk::AccessFlags2::MEMORY_READ | vk::AccessFlags2::MEMORY_WRITE;
        let barrier = [vk::ImageMemoryBarrier2::default()
            .src_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
            .src_access_mask(accesses)
            .dst_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
            .dst_access_mask(accesses)
            .new_layout(Layout::GENERAL)
            .image(scene.image)
            .subresource_range(rig::whole(vk::ImageAspectFlags::COLOR))];
        let info = vk::DependencyInfo::default().image_memory_barriers(&barrier);
        // SAFETY: Recording, outside render passes.
        unsafe { scene.rig.device.cmd_pipeline_barrier2(commands, &info) };
    });
    assert_eq!(texels, DEAD);
}

/// The same by a render pass object, with and without an imageless framebuffer.
fn object(operations: Operations) -> [[u32; 2]; 2] {
    [false, true].map(|imageless| {
        let scene = Scene::new();
        let pass = scene.rig.pass_object(scene.view, operations, imageless, 0);
        let run = |scene: &Scene, commands: vk::CommandBuffer| {
            let view = imageless.then_some(scene.view);
            scene
                .rig
                .run_pass(commands, pass, view, vk::SubpassContents::INLINE, |_| ());
        };
        scene.run(run).0
    })
}

#[test]
fn render_pass_objects_do_the_same() {
    assert_eq!(
        object(Operations {
            load: Load::LOAD,
            ..CLEAR
        }),
        [ALIVE; 2]
    );
    assert_eq!(
        object(Operations {
            store: Store::DONT_CARE,
            ..CLEAR
        }),
        [DEAD; 2]
    );
    assert_eq!(
        object(Operations {
            load: Load::DONT_CARE,
            ..CLEAR
        }),
        [DEAD; 2]
    );
    let undefined = Operations {
        load: Load::DONT_CARE,
        from: Layout::UNDEFINED,
        ..CLEAR
    };
    assert_eq!(object(undefined), [DEAD; 2]);
}

/// Runs a secondary command buffer with an action command inside a pass, which inherits tile memory or does not.
fn secondary_inside(inherits: bool) -> ([u32; 2], Vec<String>) {
    let scene = Scene::new();
    let keep = Operations {
        load: Load::LOAD,
        ..CLEAR
    };
    let pass = scene.rig.pass_object(scene.view, keep, false, 0);
    scene.run(|scene, commands| {
        let secondary = scene.rig.allocate_commands(vk::CommandBufferLevel::SECONDARY);
        let mut bound = TileMemoryBindInfoQCOM::default().memory(scene.object);
        let mut inheritance = vk::CommandBufferInheritanceInfo::default()
            .render_pass(pass.0)
            .framebuffer(pass.1);
        if inherits {
            inheritance = inheritance.push_next(&mut bound);
        }
        let info = vk::CommandBufferBeginInfo::default()
            .flags(
                vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE
                    | vk::CommandBufferUsageFlags::SIMULTANEOUS_USE,
            )
            .inheritance_info(&inheritance);
        scene.rig.record_into(secondary, &info, |secondary| {
            let clear = [vk::ClearAttachment::default()
                .aspect_mask(vk::ImageAspectFlags::COLOR)
                .clear_value(vk::ClearValue {
                    color: vk::ClearColorValue { uint32: [CLEARED; 4] },
                })];
            let extent = vk::Extent2D { width: 1, height: 1 };
            let rects = [vk::ClearRect::default()
                .rect(vk::Rect2D::default().extent(extent))
                .layer_count(1)];
            // SAFETY: Recording, inside the pass of the inheritance.
            unsafe { scene.rig.device.cmd_clear_attachments(secondary, &clear, &rects) };
        });
        let contents = vk::SubpassContents::SECONDARY_COMMAND_BUFFERS;
        scene.rig.run_pass(commands, pass, None, contents, |commands| {
            // SAFETY: Recording, inside a pass of secondaries.
            unsafe { scene.rig.device.cmd_execute_commands(commands, &[secondary]) };
        });
    })
}

#[test]
fn a_secondary_inside_a_pass_needs_the_inheritance_structure() {
    assert_eq!(secondary_inside(true), (ALIVE, Vec::new()));
    let (texels, ids) = secondary_inside(false);
    assert_eq!(texels, DEAD);
    assert_eq!(ids, ["TILEHEAP-inheritance-missing", "TILEHEAP-reads-discarded"]);
}

#[test]
fn aliases_take_each_others_bytes() {
    let (texels, ids) = Scene::new().run(|scene, commands| {
        let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::STORAGE;
        let (alias, _) = scene
            .rig
            .tile_image(vk::Format::R32_UINT, SIDE, usage, scene.object, 12_288);
        scene
            .rig
            .transition(commands, alias, Layout::UNDEFINED, Layout::GENERAL);
    });
    assert_eq!(texels, DEAD);
    assert_eq!(ids, ["TILEHEAP-reads-discarded"]);
}
