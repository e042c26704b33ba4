//! Small programs of safe code that caused harm in the first version, or might: each ends with an error that names the reason, or succeeds. For each,
//! the driver checks that Vulkan's rules were kept and that nothing is left.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::channel;

use ash::vk;
use tileheap::Checked;
use tileheap::frame::tables::ViewDesc;
use tileheap::frame::{BufferDesc, FrameBuilder, ImageDesc, LoadOp};
use tileheap::lower::{DeviceQueues, FamilyQueue, Lowered, LoweringDesc, lower};
use tileheap::measure::estimate;
use tileheap::plan::{Plan, PlanOptions, ResidencyStrategy, WindowRule, plan};
use tileheap::profile::{DeviceProfile, Features, Limits};
use tileheap::runtime::objects::{DedicatedTo, MemoryDesc, OneShotCommands};
use tileheap::runtime::{Capabilities, FrameRecorder, SubmitCall};
use tileheap::units::{Alignment, Bytes};

use tileheap_testkit::fake_driver::{Call, Config};
use tileheap_testkit::runtime_rig::{self, EXTENT, on_fake};

use super::Rig;
use tileheap_testkit::frames::{by, one_queue};

/// The name, the expected result, and the program.
type Program = (&'static str, &'static str, fn(&Rig) -> String);

fn said<T>(result: tileheap::Result<T>) -> String {
    match result {
        Ok(_) => "ran".to_owned(),
        Err(error) => error.to_string(),
    }
}

fn panics(program: impl FnOnce()) -> String {
    match catch_unwind(AssertUnwindSafe(program)) {
        Ok(()) => "ran".to_owned(),
        Err(panic) => match panic.downcast_ref::<&str>() {
            Some(text) => (*text).to_owned(),
            None => panic.downcast_ref::<String>().cloned().unwrap_or_default(),
        },
    }
}

fn planned(rig: &Rig) -> Arc<Checked<Plan>> {
    let frame = &rig.fake.described.frame;
    rig.tile.plan(frame, &PlanOptions::default()).unwrap()
}

/// Modifies the profile of a plan to one without a name and without the frames that the device can run, as before version 0.2.
fn unstated(plan: &mut Plan) {
    let profile = Arc::make_mut(&mut plan.profile);
    let limits = profile.limits;
    (profile.name, profile.optional_features) = ("unstated".to_owned(), None);
    profile.limits = Limits {
        buffer_image_granularity: limits.buffer_image_granularity,
        max_allocation: limits.max_allocation,
        max_color_attachments: limits.max_color_attachments,
        ..Limits::UNKNOWN
    };
}

/// Binds the plan of the frame after a change.
fn bind_changed(rig: &Rig, change: impl FnOnce(&mut Plan)) -> String {
    let mut plan = Plan::clone(&planned(rig));
    change(&mut plan);
    said(
        plan.checked()
            .map_err(tileheap::Error::from)
            .and_then(|plan| rig.tile.bind(&plan.into())),
    )
}

/// Describes a frame with one image that is drawn to.
fn build(image: ImageDesc) -> String {
    let mut frame = FrameBuilder::new("f", EXTENT);
    let image = frame.image("image", image);
    let commands = one_queue(&mut frame, vk::QueueFlags::GRAPHICS);
    frame.render_pass(commands, "draw").color(image, LoadOp::DontCare);
    said(frame.build())
}

fn image(change: impl FnOnce(&mut ImageDesc)) -> String {
    let mut image = ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT);
    change(&mut image);
    build(image)
}

fn allocate(rig: &Rig, change: impl FnOnce(&mut MemoryDesc<'_>)) -> String {
    let mut objects = rig.tile.owned_objects();
    let ordinary = rig.tile.profile().ordinary_type_bits().trailing_zeros();
    let mut desc = MemoryDesc::new("block", ordinary, Bytes(4096), Alignment::ONE);
    change(&mut desc);
    let said = said(objects.allocate(&desc));
    // SAFETY: nothing uses it.
    unsafe { objects.destroy() };
    said
}

/// Begins a frame, and continues with its recorder.
fn begun(rig: &Rig, go_on: impl FnOnce(FrameRecorder<'_>) -> String) -> String {
    let mut bound = rig.bind(&PlanOptions::default());
    go_on(rig.fake.begin(&mut bound).unwrap())
}

/// Adopts changed tables for the first frame of a plan, then runs two frames.
fn adopt(rig: &Rig, change: impl FnOnce(&mut Lowered, &mut LoweringDesc)) -> String {
    let mut bound = rig.bind(&PlanOptions::default());
    let mut lowering_desc = bound.lowering_desc();
    let mut tables = lower(bound.plan(), &lowering_desc).unwrap().into_inner();
    change(&mut tables, &mut lowering_desc);
    let adopted = bound.adopt(tables.clone(), &lowering_desc);
    if adopted.is_ok() {
        let recorder = rig.fake.record(&mut bound).unwrap();
        assert_eq!(**recorder.lowered(), tables);
        // SAFETY: one thread.
        unsafe { recorder.submit() }.unwrap();
        rig.run(&mut bound);
    }
    said(adopted)
}

/// Returns true if a thread sleeps, according to its folder in `/proc`.
fn sleeps(thread: &Path) -> bool {
    let said = std::fs::read_to_string(thread.join("stat")).unwrap_or_default();
    // After its name in parentheses.
    said.rsplit_once(") ")
        .is_some_and(|(_, state)| state.starts_with('S'))
}

const PROGRAMS: &[Program] = &[
    ("bind a plan whose offset is beyond its memory", "offset", |rig| {
        bind_changed(rig, |plan| plan.placements[0].offset = Bytes(4 << 30))
    }),
    (
        "bind a plan whose memory is too small",
        "which has only 1 B",
        |rig| bind_changed(rig, |plan| plan.objects[0].size = Bytes(1)),
    ),
    (
        "bind a plan with a memory type that is not there",
        "type",
        |rig| bind_changed(rig, |plan| plan.objects[0].memory_type = 99),
    ),
    ("bind a plan that binds no tile memory", "tile", |rig| {
        bind_changed(rig, |plan| {
            plan.passes.iter_mut().for_each(|pass| pass.bound_object = None)
        })
    }),
    ("bind a plan for another device", "adreno-840", |rig| {
        let mut profile = DeviceProfile::preset("adreno-840").unwrap();
        bind_changed(rig, |plan| {
            // With the same memory, so that objects are of its types.
            profile.heaps.clone_from(&plan.profile.heaps);
            profile.memory_types.clone_from(&plan.profile.memory_types);
            profile.tile = plan.profile.tile;
            plan.profile = Arc::new(profile);
        })
    }),
    (
        "bind a plan whose device states no more than what plans depend on",
        "ran",
        |rig| bind_changed(rig, unstated),
    ),
    (
        "adopt a plan whose device states no more than what plans depend on",
        "true, true",
        |rig| {
            let mut plan = Plan::clone(&planned(rig));
            unstated(&mut plan);
            let adopted = rig.tile.adopt(plan.checked().unwrap().into());
            let own = planned(rig).profile == *rig.tile.profile();
            format!("{adopted}, {own}")
        },
    ),
    (
        "bind a plan of a device with more features",
        "has different features",
        |rig| {
            bind_changed(rig, |plan| {
                Arc::make_mut(&mut plan.profile)
                    .features
                    .toggle(Features::MULTIVIEW);
            })
        },
    ),
    (
        "adopt a plan of a frame that the device does not run",
        "false",
        |rig| {
            let wide = vk::Extent2D {
                width: 1 << 20,
                height: 1,
            };
            let mut frame = FrameBuilder::new("f", wide);
            let image = frame.image("image", ImageDesc::new(vk::Format::R8G8B8A8_UNORM, wide));
            let commands = one_queue(&mut frame, vk::QueueFlags::GRAPHICS);
            frame.render_pass(commands, "draw").color(image, LoadOp::DontCare);
            let frame = frame.build().unwrap();
            let mut profile = DeviceProfile::clone(rig.tile.profile());
            (
                profile.limits.max_image_dimension_2d,
                profile.limits.max_framebuffer_width,
            ) = (1 << 20, 1 << 20);
            let needs = Arc::new(estimate(&frame, &profile).unwrap());
            let planned = plan(&frame, &needs, &Arc::new(profile), &PlanOptions::default()).unwrap();
            rig.tile.adopt(planned.into()).to_string()
        },
    ),
    ("bind a plan for comparison", "one discard window", |rig| {
        let options = PlanOptions {
            windows: WindowRule::WholeFrame,
            ..PlanOptions::default()
        };
        let compared = rig.tile.plan(&rig.fake.described.frame, &options).unwrap();
        said(rig.tile.bind(&compared))
    }),
    ("bind graphics to a queue that computes", "`graphics`", |rig| {
        said(rig.tile.bind_on(&planned(rig), &[1, 1]))
    }),
    (
        "bind to no queue",
        "declares 2 queues, but 0 device queues were given",
        |rig| said(rig.tile.bind_on(&planned(rig), &[])),
    ),
    ("describe a sparse image", "sparse", |_| {
        image(|image| image.flags = vk::ImageCreateFlags::SPARSE_BINDING)
    }),
    ("describe a cube of rectangles", "must be square", |_| {
        image(|image| (image.flags, image.array_layers) = (vk::ImageCreateFlags::CUBE_COMPATIBLE, 6))
    }),
    ("describe more levels than there are", "levels", |_| {
        image(|image| image.mip_levels = 12)
    }),
    ("describe samples with levels", "multisampled", |_| {
        image(|image| (image.samples, image.mip_levels) = (vk::SampleCountFlags::TYPE_4, 2))
    }),
    (
        "allocate for an image of somebody else",
        "was not created with the same OwnedObjects",
        |rig| {
            let other = DedicatedTo::Image(<vk::Image as vk::Handle>::from_raw(7));
            allocate(rig, |desc| desc.dedicated_to = Some(other))
        },
    ),
    (
        "allocate memory of a type that is not there",
        "memory type 40 is out of range",
        |rig| allocate(rig, |desc| (desc.memory_type, desc.own_object) = (40, true)),
    ),
    (
        "ask for images that are none",
        "[true, false, false, false, false, false, false]",
        |rig| {
            let image = |change: fn(&mut vk::ImageCreateInfo<'_>)| {
                let mut info = runtime_rig::image_info(vk::ImageUsageFlags::COLOR_ATTACHMENT);
                change(&mut info);
                rig.tile.supports_image("image", &info).unwrap()
            };
            let asked = [
                image(|_| ()),
                image(|info| info.format = vk::Format::from_raw(123_456)),
                image(|info| info.format = vk::Format::PVRTC1_4BPP_UNORM_BLOCK_IMG),
                image(|info| info.image_type = vk::ImageType::from_raw(7)),
                image(|info| info.usage = vk::ImageUsageFlags::empty()),
                image(|info| info.tiling = vk::ImageTiling::from_raw(9)),
                image(|info| info.mip_levels = 0),
            ];
            format!("{asked:?}")
        },
    ),
    (
        "allocate less for an image than it requires",
        "image-02964",
        |rig| {
            let mut objects = rig.tile.owned_objects();
            let info = runtime_rig::image_info(vk::ImageUsageFlags::COLOR_ATTACHMENT);
            // SAFETY: within the limits of the device.
            let (image, needs) = unsafe { objects.create_image("image", &info) }.unwrap();
            let types = needs.memory_type_bits & rig.tile.profile().ordinary_type_bits();
            let allocated = [needs.size, Bytes(needs.size.0 / 2)].map(|size| {
                said(objects.allocate(&MemoryDesc {
                    own_object: true,
                    dedicated_to: Some(DedicatedTo::Image(image)),
                    ..MemoryDesc::new("image", types.trailing_zeros(), size, needs.alignment)
                }))
            });
            // SAFETY: nothing uses it.
            unsafe { objects.destroy() };
            assert_eq!(allocated[0], "ran");
            allocated[1].clone()
        },
    ),
    ("allocate nothing", "its size must not be 0", |rig| {
        allocate(rig, |desc| desc.size = Bytes::ZERO)
    }),
    ("allocate more than a heap has", "01713", |rig| {
        allocate(rig, |desc| (desc.size, desc.own_object) = (Bytes(1 << 50), true))
    }),
    ("describe nine color attachments", "maxColorAttachments", |rig| {
        let mut frame = FrameBuilder::new("nine", EXTENT);
        let images = [0; 9].map(|_| ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT));
        let images = images.into_iter().enumerate();
        let images: Vec<_> = images
            .map(|(index, desc)| frame.image(format!("image {index}"), desc))
            .collect();
        let commands = one_queue(&mut frame, vk::QueueFlags::GRAPHICS);
        let pass = frame.render_pass(commands, "draw");
        images
            .into_iter()
            .fold(pass, |pass, image| pass.color(image, LoadOp::DontCare));
        said(rig.tile.measure(&frame.build().unwrap()))
    }),
    (
        "describe a geometry shader that is not enabled",
        "geometryShader",
        |rig| {
            let mut frame = FrameBuilder::new("geometry", EXTENT);
            let image = frame.image("image", ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT));
            let buffer = frame.buffer("buffer", BufferDesc::new(Bytes(64)));
            let commands = one_queue(&mut frame, vk::QueueFlags::GRAPHICS);
            let pass = frame.transfer_pass(commands, "fill");
            pass.transfer_destination(buffer);
            let pass = frame.render_pass(commands, "draw").color(image, LoadOp::DontCare);
            pass.uniform(buffer).at(vk::PipelineStageFlags2::GEOMETRY_SHADER);
            said(rig.tile.measure(&frame.build().unwrap()))
        },
    ),
    (
        "go on after a pass that panicked",
        "pass `occlusion` of command buffer `light` has begun but not ended",
        |rig| {
            begun(rig, |recorder| {
                let described = &rig.fake.described;
                let (first, second) = (rig.fake.pass("occlusion"), rig.fake.pass("lighting"));
                // SAFETY: new.
                let mut commands =
                    unsafe { recorder.record(rig.fake.commands[0][1], described.commands[1]) }.unwrap();
                let panicked = panics(|| drop(commands.pass(first, |pass| pass.access(described.bins))));
                assert!(panicked.contains("declares no access"), "{panicked}");
                assert!(commands.pass(second, |_| ()).is_err());
                said(commands.finish())
            })
        },
    ),
    (
        "submit once while another thread has the queues",
        "waited",
        |rig| {
            let tile = &rig.tile;
            let submitted = || {
                let journal = rig.fake.driver.journal();
                journal.iter().any(|call| matches!(call, Call::Submit { .. }))
            };
            let (sender, receiver) = channel();
            std::thread::scope(|scope| {
                let locked = tile.lock_queues();
                let once = scope.spawn(move || {
                    let once = OneShotCommands::begin(tile, 0, "nothing").unwrap();
                    let this = std::fs::read_link("/proc/thread-self").unwrap();
                    sender.send(this).unwrap();
                    // SAFETY: nothing was recorded.
                    unsafe { once.submit_and_wait() }.unwrap();
                });
                let thread = Path::new("/proc").join(receiver.recv().unwrap());
                // From here on it only sleeps to wait for the queues; without that wait it finishes.
                while !sleeps(&thread) && !once.is_finished() {
                    std::thread::yield_now();
                }
                assert!(!submitted());
                drop(locked);
                once.join().unwrap();
            });
            if submitted() { "waited" } else { "never" }.to_owned()
        },
    ),
    (
        "bind while this thread has the queues",
        "drop the guard of `Device::lock_queues`",
        |rig| {
            let plan = planned(rig);
            let locked = rig.tile.lock_queues();
            let panicked = panics(|| drop(rig.tile.bind(&plan)));
            assert_eq!(panicked, panics(|| drop(rig.tile.lock_queues())));
            drop(locked);
            drop(rig.tile.bind(&plan).unwrap());
            panicked
        },
    ),
    (
        "lock the queues while it submits a frame",
        "drop the guard of `Device::lock_queues`",
        |rig| {
            let (tile, mut bound) = (&rig.tile, rig.bind(&PlanOptions::default()));
            let recorder = rig.fake.record(&mut bound).unwrap();
            let lock = |_: &SubmitCall<'_>| {
                drop(tile.lock_queues());
                Ok(())
            };
            let panicked = panics(|| drop(on_fake!(recorder.submit_with(lock))));
            drop(tile.lock_queues());
            panicked
        },
    ),
    (
        "submit once to a queue that is not there",
        "index out of bounds",
        |rig| panics(|| drop(OneShotCommands::begin(&rig.tile, 9, "nothing"))),
    ),
    ("run tables as they are", "ran", |rig| adopt(rig, |_, _| ())),
    ("run tables read from text, which wait for more", "ran", |rig| {
        adopt(rig, |tables, lowering_desc| {
            for barrier in &mut tables.image_barriers {
                barrier.scopes.src_stages |= vk::PipelineStageFlags2::ALL_COMMANDS;
            }
            let text = tables.to_json(&rig.fake.described.frame, lowering_desc);
            (*tables, *lowering_desc) = Lowered::from_json("rig", &text).unwrap();
        })
    }),
    ("run tables without their barriers", "uses `albedo` in ", |rig| {
        adopt(rig, |tables, _| {
            tables
                .passes
                .iter_mut()
                .for_each(|pass| pass.before = Default::default())
        })
    }),
    (
        "run tables with another offset",
        "images differ from those that were created",
        |rig| adopt(rig, |tables, _| tables.images[0].binding.offset = Bytes(1 << 20)),
    ),
    (
        "run tables for other queues",
        "the tables are for queues (family, index) [(5, 0), (5, 1)]",
        |rig| {
            adopt(rig, |_, lowering_desc| {
                let queues = [0, 1].map(|index| FamilyQueue { family: 5, index });
                lowering_desc.queues = DeviceQueues::new(&queues);
            })
        },
    ),
    (
        "run tables of another plan",
        "differ from those that were created",
        |rig| {
            let options = by(ResidencyStrategy::Off);
            let other = rig.tile.plan(&rig.fake.described.frame, &options).unwrap();
            adopt(rig, |tables, lowering_desc| {
                *tables = lower(&other, lowering_desc).unwrap().into_inner()
            })
        },
    ),
    (
        "storage through a view that does not allow it",
        "VUID-VkImageViewCreateInfo-usage-02275",
        |rig| {
            let mut frame = FrameBuilder::new("f", EXTENT);
            let image = frame.image("image", ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT));
            let commands = one_queue(&mut frame, vk::QueueFlags::COMPUTE);
            let pass = frame.compute_pass(commands, "store").storage_write(image);
            pass.viewed(ViewDesc {
                format: Some(vk::Format::R8G8B8A8_SRGB),
                ..ViewDesc::default()
            });
            said(rig.tile.measure(&frame.build().unwrap()))
        },
    ),
];

#[test]
fn safe_code_does_no_harm() {
    let mut wrong = Vec::new();
    for (name, ends, program) in PROGRAMS {
        let rig = Rig::new(Config::modern());
        let said = program(&rig);
        if !said.contains(ends) {
            wrong.push(format!("{name}: {said}"));
        }
    }
    assert!(PROGRAMS.len() >= 20 && wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn memory_for_addresses_needs_their_feature() {
    for (without, expected) in [
        (Capabilities::BUFFER_DEVICE_ADDRESS, "03331"),
        (Capabilities::empty(), "ran"),
    ] {
        let fake = runtime_rig::Rig::new(Config::modern(), without);
        let tile = fake.runtime().unwrap();
        let rig = Rig { fake, tile };
        let said = allocate(&rig, |desc| (desc.device_address, desc.own_object) = (true, true));
        assert!(said.contains(expected), "{said}");
    }
}
