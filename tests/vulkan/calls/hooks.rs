//! Structures of the caller that are chained to images, views, buffers, memory and render passes.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_void;
use std::ptr::null;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use ash::vk;
use tileheap::frame::{BufferDesc, ClearValue, Frame, FrameBuilder, ImageDesc, LoadOp, ResourceId};
use tileheap::lower::Parity;
use tileheap::lower::tables::objects::ViewRow;
use tileheap::measure::estimate;
use tileheap::plan::{MemoryKind, PlanOptions, plan};
use tileheap::runtime::{Capabilities, Hooks, Imports};
use tileheap::units::Bytes;
use tileheap_testkit::fake_driver::{Call, Config};
use tileheap_testkit::frames::one_queue;
use tileheap_testkit::runtime_rig::{EXTENT, on_fake};

use super::{Rig, dynamic, threads};

/// Images with hook 1 are compressed at a fixed rate; counts the other requests.
#[derive(Default)]
struct Compressed {
    control: vk::ImageCompressionControlEXT<'static>,
    counts: [AtomicU32; 2],
}

// SAFETY: the structure has no pointers.
unsafe impl Send for Compressed {}
// SAFETY: as above.
unsafe impl Sync for Compressed {}

impl Compressed {
    fn count(&self, of: usize, hook: u32) -> *const c_void {
        self.counts[of].fetch_add(hook, Ordering::Relaxed);
        null()
    }
}

// SAFETY: the structure may be chained to both, and never changes.
unsafe impl Hooks for Compressed {
    fn image(&self, hook: u32) -> *const c_void {
        let control = &raw const self.control;
        if hook == 1 { control.cast() } else { null() }
    }

    fn image_format(&self, hook: u32) -> *const c_void {
        self.image(hook)
    }

    fn rendering(&self, hook: u32) -> *const c_void {
        self.count(0, hook)
    }

    fn render_pass(&self, hook: u32) -> *const c_void {
        self.count(1, hook)
    }
}

/// Draws two images, with hooks 1 and 2 or without, in a pass with the same hook as the first.
fn describe(frame: &mut FrameBuilder, hooks: [u32; 2]) {
    frame.reset("hooked", EXTENT);
    let [color, other] = hooks.map(|hook| ImageDesc {
        hook,
        ..ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT)
    });
    let (color, other) = (frame.image("color", color), frame.image("other", other));
    let scene = one_queue(frame, vk::QueueFlags::GRAPHICS);
    let clear = LoadOp::Clear(ClearValue::ZERO);
    let pass = frame
        .render_pass(scene, "draw")
        .color(color, clear)
        .color(other, clear)
        .hook(hooks[0]);
    // Without a hook, pipelines have the sample count of the attachments.
    if hooks[0] > 0 {
        pass.samples(vk::SampleCountFlags::TYPE_4);
    }
}

#[test]
fn hooks_reach_the_driver_and_keep_images_apart() {
    for config in [Config::modern(), Config::vulkan_1_1()] {
        let dynamic = config.features.contains(Capabilities::DYNAMIC_RENDERING);
        let mut rig = Rig::new(config.without_tile_memory());
        on_fake!(rig.tile.clone().destroy());
        let flags = vk::ImageCompressionFlagsEXT::FIXED_RATE_DEFAULT;
        let hooks = Arc::new(Compressed {
            control: vk::ImageCompressionControlEXT::default().flags(flags),
            ..Compressed::default()
        });
        rig.fake.desc.hooks = Some(hooks.clone());
        rig.fake.desc.optional_features = None;
        rig.tile = rig.fake.runtime().unwrap();
        let mut frames = rig.tile.dynamic_frame(PlanOptions::default()).unwrap();
        let mut builder = FrameBuilder::default();
        let mut seen = Vec::new();
        for pair in [[0, 0], [1, 2], [0, 0]] {
            describe(&mut builder, pair);
            let bound = frames.select(&builder).unwrap();
            let frame = bound.plan().frame.clone();
            let [color, other] = ["color", "other"].map(|name| frame.resource_named(name).unwrap());
            let size = |of: tileheap::frame::ResourceId| bound.plan().requirements.resources[of.index()].size;
            // The planner takes the effect of the chain into account.
            assert_eq!(size(color) < size(other), pair[0] == 1);
            let draw = frame.pass_named("draw").unwrap();
            let images = [color, other].map(|image| bound.access(draw, image, Parity::Even).image());
            seen.push(images);
            let samples = [vk::SampleCountFlags::TYPE_1, vk::SampleCountFlags::TYPE_4];
            assert_eq!(bound.target(draw).samples, samples[usize::from(pair[0] > 0)]);
            let scene = frame.pass(draw).command_buffer;
            let recorder = on_fake!(bound.begin(&Imports::default())).unwrap();
            let mut commands = on_fake!(recorder.record(rig.fake.commands[0][0], scene)).unwrap();
            commands.pass(draw, |_| ()).unwrap();
            commands.finish().unwrap();
            let number = on_fake!(recorder.submit()).unwrap();
            assert!(frames.wait(number, u64::MAX).unwrap());
        }
        assert_eq!(seen[0], seen[2]);
        assert!(seen[1].iter().all(|image| !seen[0].contains(image)), "{seen:?}");
        let counts = [0, 1].map(|of| hooks.counts[of].load(Ordering::Relaxed));
        assert_eq!(counts, if dynamic { [1, 0] } else { [0, 1] });
        drop(frames);
        assert_eq!(rig.tile.collect().unwrap(), 0);
    }
}

#[test]
fn hooks_that_are_not_there_are_named() {
    let mut rig = Rig::new(Config::modern());
    on_fake!(rig.tile.clone().destroy());
    rig.fake.desc.optional_features = None;
    rig.tile = rig.fake.runtime().unwrap();
    let mut builder = FrameBuilder::default();
    for (pair, named) in [([1, 0], "`color`"), ([0, 3], "`other`"), ([0, 0], "`bins`")] {
        match named {
            "`bins`" => describe_all(&mut builder, [0, 0], [0, 4]),
            _ => describe(&mut builder, pair),
        }
        let plan = rig
            .tile
            .plan(&builder.to_frame().unwrap(), &PlanOptions::default());
        let refused = rig.tile.bind(&plan.unwrap()).unwrap_err().to_string();
        assert!(
            refused.contains(named) && refused.contains("DeviceDesc::hooks"),
            "{refused}"
        );
    }
}

/// A structure for each chain: images and buffers with hook 1 are exported, views with hook 2 are clamped, arenas have a priority.
#[derive(Default)]
struct Everything {
    image: vk::ExternalMemoryImageCreateInfo<'static>,
    buffer: vk::ExternalMemoryBufferCreateInfo<'static>,
    view: vk::ImageViewMinLodCreateInfoEXT<'static>,
    export: vk::ExportMemoryAllocateInfo<'static>,
    priority: vk::MemoryPriorityAllocateInfoEXT<'static>,
}

// SAFETY: the structures have no pointers.
unsafe impl Send for Everything {}
// SAFETY: as above.
unsafe impl Sync for Everything {}

impl Everything {
    fn new() -> Everything {
        let by = vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD;
        Everything {
            image: vk::ExternalMemoryImageCreateInfo::default().handle_types(by),
            buffer: vk::ExternalMemoryBufferCreateInfo::default().handle_types(by),
            export: vk::ExportMemoryAllocateInfo::default().handle_types(by),
            ..Everything::default()
        }
    }
}

/// A structure, if it is wanted.
fn chain<T>(wanted: bool, structure: &T) -> *const c_void {
    if wanted {
        (&raw const *structure).cast()
    } else {
        null()
    }
}

// SAFETY: the structures may be chained there, and never change; exported resources are created for it.
unsafe impl Hooks for Everything {
    fn image(&self, hook: u32) -> *const c_void {
        chain(hook == 1, &self.image)
    }

    fn view(&self, hook: u32, _: &ViewRow) -> *const c_void {
        chain(hook == 2, &self.view)
    }

    fn buffer(&self, hook: u32) -> *const c_void {
        chain(hook == 1, &self.buffer)
    }

    fn dedicated_memory(&self, hook: u32) -> bool {
        hook == 1
    }

    fn memory(&self, kind: MemoryKind, hook: u32) -> *const c_void {
        match (kind, hook) {
            (MemoryKind::Dedicated, 1) => chain(true, &self.export),
            (MemoryKind::Arena, 0) => chain(true, &self.priority),
            _ => null(),
        }
    }
}

/// Draws two images with these hooks, and counts the texels of both in two buffers with others.
fn describe_all(frame: &mut FrameBuilder, images: [u32; 2], buffers: [u32; 2]) {
    frame.reset("chained", EXTENT);
    let images = images.map(|hook| ImageDesc {
        hook,
        ..ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT)
    });
    let buffers = buffers.map(|hook| BufferDesc {
        hook,
        ..BufferDesc::new(Bytes(1024))
    });
    let [color, other] = images;
    let (color, other) = (frame.image("color", color), frame.image("other", other));
    let [counts, bins] = buffers;
    let (counts, bins) = (frame.buffer("counts", counts), frame.buffer("bins", bins));
    let scene = one_queue(frame, vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
    let clear = LoadOp::Clear(ClearValue::ZERO);
    let pass = frame.render_pass(scene, "draw").color(color, clear);
    pass.color(other, clear);
    let pass = frame.compute_pass(scene, "count").sampled(color).sampled(other);
    pass.storage_write(counts).storage_write(bins);
}

/// A rig with these hooks, whose ordinary memory comes from an allocator of the test.
fn rig_with(config: Config, hooks: Everything) -> (Rig, Arc<threads::Blocks>) {
    let (mut rig, blocks) = threads::limited(config, None);
    on_fake!(rig.tile.clone().destroy());
    rig.fake.desc.hooks = Some(Arc::new(hooks));
    rig.tile = rig.fake.runtime().unwrap();
    (rig, blocks)
}

#[test]
fn each_chain_arrives_at_its_call_and_only_there() {
    use vk::StructureType as T;
    let configs = [
        Config::modern(),
        Config::vulkan_1_1(),
        Config::modern().without_tile_memory(),
    ];
    for config in configs {
        for hooks in [[0, 0], [1, 2]] {
            let (rig, blocks) = rig_with(config.clone(), Everything::new());
            let mut frames = rig.tile.dynamic_frame(PlanOptions::default()).unwrap();
            let mut builder = FrameBuilder::default();
            describe_all(&mut builder, hooks, hooks);
            frames.select(&builder).unwrap();
            dynamic::run(&rig, &mut frames, &builder, 0);
            let mut chained: BTreeMap<&str, BTreeSet<T>> = BTreeMap::new();
            let known = [T::SEMAPHORE_TYPE_CREATE_INFO, T::MEMORY_ALLOCATE_FLAGS_INFO];
            for (function, kinds) in rig.fake.driver.chains() {
                let kinds = kinds.into_iter().filter(|kind| !known.contains(kind));
                chained.entry(function).or_default().extend(kinds);
            }
            chained.retain(|_, kinds| !kinds.is_empty());
            // Shared memory has a priority, and an exported resource a dedicated allocation.
            let memory = chained.remove("vkAllocateMemory").unwrap_or_default();
            let own = [T::EXPORT_MEMORY_ALLOCATE_INFO, T::MEMORY_DEDICATED_ALLOCATE_INFO];
            let mut others: Vec<T> = memory
                .iter()
                .copied()
                .filter(|kind| !own.contains(kind))
                .collect();
            others.retain(|kind| *kind != T::MEMORY_PRIORITY_ALLOCATE_INFO_EXT);
            assert_eq!(others, []);
            assert_eq!(own.map(|kind| memory.contains(&kind)), [hooks[0] == 1; 2]);
            let shared = config.tile.heap_flag || memory.contains(&T::MEMORY_PRIORITY_ALLOCATE_INFO_EXT);
            assert!(shared, "{memory:?}");
            let mut expected = BTreeMap::new();
            if hooks[0] == 1 {
                expected.extend([
                    ("vkCreateImage", [T::EXTERNAL_MEMORY_IMAGE_CREATE_INFO].into()),
                    ("vkCreateBuffer", [T::EXTERNAL_MEMORY_BUFFER_CREATE_INFO].into()),
                    (
                        "vkCreateImageView",
                        [T::IMAGE_VIEW_MIN_LOD_CREATE_INFO_EXT].into(),
                    ),
                ]);
            }
            assert_eq!(chained, expected, "{hooks:?}");
            // Blocks with a chain do not come from the allocator.
            assert_eq!(*blocks.bytes.lock().unwrap(), [0, 0]);
            drop(frames);
            rig.tile.collect().unwrap();
        }
    }
}

#[test]
fn memory_of_its_own_is_shared_with_nothing_and_stays_apart_in_the_pool() {
    for config in [Config::modern(), Config::vulkan_1_1()] {
        let (rig, _) = rig_with(config, Everything::new());
        let mut frames = rig.tile.dynamic_frame(PlanOptions::default()).unwrap();
        let mut builder = FrameBuilder::default();
        let mut seen = Vec::new();
        for (turn, hooks) in [[1, 1], [0, 0], [1, 1]].into_iter().enumerate() {
            describe_all(&mut builder, hooks, hooks);
            let bound = frames.select(&builder).unwrap();
            let plan = bound.plan().clone();
            let memory = |id: ResourceId| bound.memory(id, Parity::Even);
            let all: Vec<_> = plan.frame.resource_ids().map(memory).collect();
            if hooks == [1, 1] {
                for (id, own) in plan.frame.resource_ids().zip(&all) {
                    assert_eq!(own.offset, 0);
                    assert_eq!(plan.memory_of(id), Some(MemoryKind::Dedicated));
                    let journal = rig.fake.driver.journal();
                    let bound = journal
                        .iter()
                        .filter(|call| matches!(call, Call::Bind { memory, .. } if *memory == own.memory));
                    assert_eq!(bound.count(), 1);
                    let dedicated = journal.iter().any(|call| {
                        matches!(call, Call::Allocate { memory, dedicated: Some(_), .. } if *memory == own.memory)
                    });
                    assert!(dedicated);
                }
            }
            seen.push(all);
            dynamic::run(&rig, &mut frames, &builder, turn);
            rig.fake.driver.complete();
        }
        assert_eq!(seen[0], seen[2]);
        let shared = seen[1]
            .iter()
            .any(|one| seen[0].iter().any(|own| own.memory == one.memory));
        assert!(!shared, "{seen:?}");
        drop(frames);
        rig.tile.collect().unwrap();
    }
}

/// A plan that was made without the hooks is made again if they require dedicated memory.
#[test]
fn plans_without_the_hooks_get_dedicated_memory_too() {
    let (rig, _) = rig_with(Config::modern().without_tile_memory(), Everything::new());
    let mut builder = FrameBuilder::default();
    describe_all(&mut builder, [1, 2], [1, 2]);
    let frame = builder.build().unwrap();
    let profile = rig.tile.profile();
    let requirements = estimate(&frame, profile).unwrap();
    let plan = plan(&frame, &requirements.into(), profile, &PlanOptions::default()).unwrap();
    let id = |name: &str| frame.resource_named(name).unwrap();
    assert_eq!(plan.memory_of(id("color")), Some(MemoryKind::Arena));
    let bound = rig.tile.bind(&plan.into()).unwrap();
    for (name, kind) in [
        ("color", MemoryKind::Dedicated),
        ("other", MemoryKind::Arena),
        ("counts", MemoryKind::Dedicated),
        ("bins", MemoryKind::Arena),
    ] {
        assert_eq!(bound.plan().memory_of(id(name)), Some(kind), "{name}");
    }
    let memory = bound.memory(id("color"), Parity::Even);
    assert_eq!((memory.offset, memory.size), (0, memory.allocation_size));
    on_fake!(bound.destroy());
}

#[test]
fn the_hooks_of_a_frame_are_in_its_json() {
    let mut builder = FrameBuilder::default();
    describe_all(&mut builder, [1, 2], [3, 0]);
    let frame = builder.to_frame().unwrap();
    let text = frame.to_json();
    assert_eq!(text.matches("\"hook\"").count(), 3, "{text}");
    assert_eq!(Frame::from_json(&text).unwrap().to_json(), text);
}
