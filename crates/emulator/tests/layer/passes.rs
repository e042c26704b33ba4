//! Effects of render passes and transitions on tile images: operations DONT_CARE, layouts UNDEFINED, secondaries.

use crate::rig;
use crate::rig::{CLEAR, CLEARED, Operations, Rig, SIDE};
use ash::vk;
use ash::vk::{AttachmentLoadOp as Load, AttachmentStoreOp as Store, ImageLayout as Layout};
use tileheap_device::ffi::TileMemoryBindInfoQCOM;
use tileheap_emulator::POISON;

const USAGE: vk::ImageUsageFlags = vk::ImageUsageFlags::from_raw(
    vk::ImageUsageFlags::COLOR_ATTACHMENT.as_raw() | vk::ImageUsageFlags::STORAGE.as_raw(),
);

/// A tile image with a host-readable copy of its texels.
struct Scene {
    rig: Rig,
    object: vk::DeviceMemory,
    image: vk::Image,
    view: vk::ImageView,
    texels: rig::HostBuffer,
}

crate::rig::deref!(Scene, rig: Rig);

impl Scene {
    fn new() -> Scene {
        let rig = Rig::new(&[]);
        let object = rig.object(rig.heap_size());
        let (image, view) = rig.tile_image(vk::Format::R32_UINT, SIDE, USAGE, object, 12_288);
        Scene {
            texels: rig.host_buffer((SIDE * SIDE) as usize),
            rig,
            object,
            image,
            view,
        }
    }

    /// Clears the image, records `between`, copies the texels to the host, and returns the first and the last one.
    fn run(self, between: impl FnOnce(&Scene, vk::CommandBuffer)) -> ([u32; 2], Vec<String>) {
        let commands = self.record(|commands| {
            self.bind(commands, Some(self.object));
            self.to_general(commands, self.image);
            self.render(commands, self.view, CLEAR, SIDE);
            between(&self, commands);
            self.bind(commands, Some(self.object));
            self.copy_texels(commands, self.view, self.texels.buffer);
        });
        self.submit2(&[&[commands]]);
        let texels = self.texels.read();
        ([texels[0], texels[texels.len() - 1]], self.take_ids())
    }
}

const ALIVE: [u32; 2] = [CLEARED; 2];
const DEAD: [u32; 2] = [POISON; 2];

const fn operations(load: Load, store: Store, from: Layout) -> Operations {
    Operations { load, store, from }
}

const LOADED: Operations = operations(Load::LOAD, CLEAR.store, CLEAR.from);
const NOT_LOADED: Operations = operations(Load::DONT_CARE, CLEAR.store, CLEAR.from);
const NOT_STORED: Operations = operations(CLEAR.load, Store::DONT_CARE, CLEAR.from);
const FROM_UNDEFINED: Operations = operations(Load::DONT_CARE, CLEAR.store, Layout::UNDEFINED);

#[test]
fn operations_dont_care_discard_where_the_render_area_is_all() {
    assert_eq!(Scene::new().run(|_, _| ()), (ALIVE, Vec::new()));
    for (operations, height, expected) in [
        (LOADED, SIDE, ALIVE),
        (NOT_STORED, SIDE, DEAD),
        (NOT_LOADED, SIDE, DEAD),
        (NOT_LOADED, SIDE / 2, ALIVE),
        (NOT_STORED, SIDE / 2, ALIVE),
    ] {
        let render = |scene: &Scene, commands| scene.render(commands, scene.view, operations, height);
        assert_eq!(Scene::new().run(render).0, expected, "{operations:?}, {height}");
    }
}

#[test]
fn a_transition_from_undefined_discards() {
    for (from, expected) in [(Layout::UNDEFINED, DEAD), (Layout::GENERAL, ALIVE)] {
        let transition =
            |scene: &Scene, commands| scene.transition(commands, scene.image, from, Layout::GENERAL);
        let (texels, ids) = Scene::new().run(transition);
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
            .subresource_range(rig::whole_image(vk::ImageAspectFlags::COLOR))];
        let info = vk::DependencyInfo::default().image_memory_barriers(&barrier);
        // SAFETY: Recording, outside render passes.
        unsafe { scene.device.cmd_pipeline_barrier2(commands, &info) };
    });
    assert_eq!(texels, DEAD);
}

/// With and without an imageless framebuffer.
#[test]
fn render_pass_objects_do_the_same() {
    for (operations, expected) in [
        (LOADED, ALIVE),
        (NOT_STORED, DEAD),
        (NOT_LOADED, DEAD),
        (FROM_UNDEFINED, DEAD),
    ] {
        for imageless in [false, true] {
            let scene = Scene::new();
            let pass = scene.pass_object(scene.view, operations, imageless, 0);
            let (texels, _) = scene.run(|scene, commands| {
                let view = imageless.then_some(scene.view);
                scene.run_pass(commands, pass, view, vk::SubpassContents::INLINE, |_| ());
            });
            assert_eq!(texels, expected, "{operations:?}, imageless: {imageless}");
        }
    }
}

/// Runs a secondary command buffer with an action command inside a pass, with or without inherited tile memory.
fn secondary_inside(inherits: bool) -> ([u32; 2], Vec<String>) {
    let scene = Scene::new();
    let pass = scene.pass_object(scene.view, LOADED, false, 0);
    scene.run(|scene, commands| {
        let secondary = scene.allocate_commands(vk::CommandBufferLevel::SECONDARY);
        let mut bound = TileMemoryBindInfoQCOM::default().memory(scene.object);
        let mut inheritance = vk::CommandBufferInheritanceInfo::default()
            .render_pass(pass.0)
            .framebuffer(pass.1);
        if inherits {
            inheritance = inheritance.push_next(&mut bound);
        }
        use vk::CommandBufferUsageFlags as F;
        let info = vk::CommandBufferBeginInfo::default()
            .flags(F::RENDER_PASS_CONTINUE | F::SIMULTANEOUS_USE)
            .inheritance_info(&inheritance);
        scene.record_into(secondary, &info, |secondary| {
            let clear = [vk::ClearAttachment::default()
                .aspect_mask(vk::ImageAspectFlags::COLOR)
                .clear_value(rig::clear_value(CLEARED))];
            let rects = [vk::ClearRect::default().rect(rig::area(1, 1)).layer_count(1)];
            // SAFETY: Recording, inside the pass of the inheritance.
            unsafe { scene.device.cmd_clear_attachments(secondary, &clear, &rects) };
        });
        let contents = vk::SubpassContents::SECONDARY_COMMAND_BUFFERS;
        scene.run_pass(commands, pass, None, contents, |commands| {
            scene.execute(commands, secondary)
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
        let (alias, _) = scene.tile_image(vk::Format::R32_UINT, SIDE, USAGE, scene.object, 12_288);
        scene.to_general(commands, alias);
    });
    assert_eq!(texels, DEAD);
    assert_eq!(ids, ["TILEHEAP-reads-discarded"]);
}

/// Listing 4.3 of the extension's proposal: two dispatches without tile memory, 4 MiB bound for a pass and for a dispatch that reads what the pass
/// rendered, and a pass without tile memory.
#[test]
fn listing_4_3_of_the_proposal_runs_without_messages() {
    const SIZE: u64 = 4 << 20;
    const WORDS: u32 = 64;
    let rig = Rig::new(&[]);
    let object = rig.object(SIZE);
    let (image, view) = rig.tile_image(vk::Format::R32_UINT, SIDE, USAGE, object, 0);
    let (ordinary, ordinary_view) = rig.ordinary_image(&rig::image_info(vk::Format::R32_UINT, SIDE, USAGE));
    let filled = rig.host_buffer(WORDS as usize);
    let texels = rig.host_buffer((SIDE * SIDE) as usize);
    let rendered = rig.host_buffer((SIDE * SIDE) as usize);
    let commands = rig.record(|commands| {
        rig.fill(commands, filled.buffer, WORDS, 1);
        rig.fill(commands, filled.buffer, WORDS, 2);

        rig.bind(commands, Some(object));
        rig.to_general(commands, image);
        rig.render(commands, view, CLEAR, SIDE);
        rig.copy_texels(commands, view, texels.buffer);

        rig.bind(commands, None);
        rig.to_general(commands, ordinary);
        rig.render(commands, ordinary_view, CLEAR, SIDE);
        rig.copy_texels(commands, ordinary_view, rendered.buffer);
    });
    rig.submit(&[&[commands]]);
    assert_eq!(filled.read(), [2; WORDS as usize]);
    for copied in [texels, rendered] {
        assert!(copied.read().iter().all(|texel| *texel == CLEARED));
    }
    assert_eq!(rig.take_ids(), [""; 0]);
}
