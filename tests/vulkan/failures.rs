//! Injected failures of every fallible call: the runtime's errors, and the state that it leaves.

use tileheap_testkit::fake_driver;
use tileheap_testkit::frames::{extent, one_queue};
use tileheap_testkit::runtime_rig;

use ash::vk;
use fake_driver::{Call, Config, FakeDriver, Tile};
use runtime_rig::{IN_FLIGHT, Rig, on_fake};
use tileheap::Result;
use tileheap::frame::external::ExternalDesc;
use tileheap::frame::{ClearValue, FrameBuilder, ImageDesc, LoadOp, Persistence};
use tileheap::plan::PlanOptions;
use tileheap::runtime::{
    BoundFrame, Capabilities, Context, ContextDesc, Device, DeviceDesc, DeviceSupport, MissingRequirement,
};

/// Drivers and devices for which the runtime makes different calls.
fn ways() -> Vec<(&'static str, Config, Capabilities)> {
    let none = Capabilities::empty();
    let modern = || Config::modern().asynchronous();
    let older = || Config::vulkan_1_1().asynchronous();
    let (lazy, dedicated_images) = (true, true);
    vec![
        ("modern", modern(), none),
        ("modern, at once", Config::modern(), none),
        ("modern without tile memory", modern().without_tile_memory(), none),
        ("1.1", older(), none),
        ("1.1 without tile memory", older().without_tile_memory(), none),
        (
            "forced back",
            modern(),
            Capabilities::all() - Capabilities::TILE_MEMORY,
        ),
        ("lazy", Config { lazy, ..modern() }, none),
        (
            "dedicated",
            Config {
                dedicated_images,
                ..modern()
            },
            none,
        ),
    ]
}

/// A full session of the runtime: creation, planning, binding, some frames, destruction.
fn live(rig: &Rig) -> Result<()> {
    let runtime = rig.runtime()?;
    let result = bind_and_run(rig, &runtime);
    on_fake!(runtime.destroy());
    result
}

fn bind_and_run(rig: &Rig, runtime: &Device) -> Result<()> {
    let plan = runtime.plan(&rig.described.frame, &PlanOptions::default())?;
    let mut bound = runtime.bind(&plan)?;
    let result = run(rig, &mut bound);
    // The caller's own wait for the device, which must not fail here.
    rig.driver.complete();
    on_fake!(bound.destroy());
    result
}

/// Runs as many frames as can be in flight, then one more.
fn run(rig: &Rig, bound: &mut BoundFrame) -> Result<()> {
    let mut last = rig.frame(bound)?;
    for _ in 1..IN_FLIGHT {
        last = rig.frame(bound)?;
    }
    bound.completed()?;
    assert!(bound.wait(last, u64::MAX)?, "frame {last:?} completes");
    last = rig.frame(bound)?;
    assert!(bound.wait(last, u64::MAX)?, "frame {last:?} completes");
    assert_eq!(bound.completed()?, Some(last));
    Ok(())
}

/// The first call that failed, and its result.
fn failed(rig: &Rig) -> Option<(&'static str, vk::Result)> {
    rig.driver.journal().iter().find_map(|call| match call {
        Call::Failed { function, result } => Some((*function, *result)),
        _ => None,
    })
}

#[test]
fn without_failures_nothing_is_amiss() {
    for (way, config, without) in ways() {
        let rig = Rig::new(config, without);
        live(&rig).unwrap_or_else(|error| panic!("{way}: {error}"));
        assert_eq!(rig.problems(), [""; 0], "{way}");
    }
}

/// Returns true if a text contains a function's name as a whole word.
fn names(text: &str, function: &str) -> bool {
    let letter = |one: char| one.is_ascii_alphanumeric();
    text.split(|one| !letter(one)).any(|word| word == function)
}

/// Runs the runtime with one injected failure; returns the call, and what the runtime did wrong; `None` if the call was never made.
fn live_with_failure(rig: &Rig) -> Option<(&'static str, Vec<String>)> {
    let outcome = live(rig);
    let Some((function, result)) = failed(rig) else {
        outcome.expect("nothing failed");
        return None;
    };
    let mut wrong = rig.problems();
    match outcome {
        // Names are only for debugging; the next call reports a lost device.
        _ if function == "vkSetDebugUtilsObjectNameEXT" => {}
        Ok(()) => wrong.push("the failure is not reported".to_owned()),
        Err(error) => {
            let text = error.to_string();
            if !names(&text, function) || !text.contains(&format!("{result:?}")) {
                wrong.push(format!("the error is: {text}"));
            }
        }
    }
    Some((function, wrong))
}

/// Makes each fallible call fail in turn with `result`; returns the calls, and what went wrong.
fn fail_each(config: &Config, without: Capabilities, result: vk::Result) -> (Vec<&'static str>, Vec<String>) {
    let (mut calls, mut wrong) = (Vec::new(), Vec::new());
    for nth in 0.. {
        let rig = Rig::new(config.clone(), without);
        rig.driver.fail_at(nth, result);
        let Some((function, faults)) = live_with_failure(&rig) else {
            break;
        };
        calls.push(function);
        wrong.extend(
            faults
                .into_iter()
                .map(|what| format!("{function} (call {nth}): {what}")),
        );
    }
    (calls, wrong)
}

#[test]
fn every_failing_call_is_named_and_leaves_nothing() {
    for (way, config, without) in ways() {
        for result in [
            vk::Result::ERROR_OUT_OF_HOST_MEMORY,
            vk::Result::ERROR_DEVICE_LOST,
        ] {
            let (_, wrong) = fail_each(&config, without, result);
            assert!(wrong.is_empty(), "{way}: {wrong:#?}");
        }
        let (calls, wrong) = fail_each(&config, without, vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
        assert!(wrong.is_empty(), "{way}: {wrong:#?}");
        let expected = [
            "vkCreateImage",
            "vkAllocateMemory",
            "vkBindImageMemory",
            "vkCreateImageView",
            "vkCreateRenderPass",
            "vkBeginCommandBuffer",
            "vkQueueSubmit",
        ];
        for function in expected {
            assert!(
                calls.iter().any(|call| call.starts_with(function)),
                "{way}: no {function} in {calls:?}"
            );
        }
    }
}

#[test]
fn detection_names_the_missing_link() {
    use MissingRequirement as M;
    type Change = fn(&mut Tile);
    let cases: [(Change, &[MissingRequirement]); 8] = [
        (|_| (), &[]),
        (|tile| *tile = Tile::absent(), &[M::Extension, M::Heap]),
        (|tile| *tile = Tile::name_only(), &[M::Feature, M::Heap]),
        (|tile| tile.extension = false, &[M::Extension]),
        (|tile| tile.feature = false, &[M::Feature]),
        (|tile| tile.heap_flag = false, &[M::Heap]),
        (|tile| tile.memory_type = false, &[M::MemoryType]),
        (|tile| tile.command = false, &[M::Function]),
    ];
    for (change, missing) in cases {
        let mut tile = Tile::supported();
        change(&mut tile);
        let case = format!("{tile:?}");
        let config = Config {
            tile,
            ..Config::modern()
        };
        let rig = Rig::new(config, Capabilities::empty());
        let runtime = rig.runtime().unwrap();
        assert_eq!(runtime.missing_requirements(), missing, "{case}");
        assert_eq!(runtime.profile().tile.is_some(), missing.is_empty(), "{case}");
        assert_eq!(
            runtime.capabilities().contains(Capabilities::TILE_MEMORY),
            missing.is_empty(),
            "{case}"
        );
        // The frame runs without the missing capabilities.
        bind_and_run(&rig, &runtime).unwrap_or_else(|error| panic!("{case}: {error}"));
        on_fake!(runtime.destroy());
        assert_eq!(rig.problems(), [""; 0], "{case}");
    }
}

/// A fake driver's instance and device, with the driver's version.
fn instance(config: Config) -> (FakeDriver, ash::Instance, vk::PhysicalDevice) {
    let application = vk::ApplicationInfo::default().api_version(config.api_version);
    let info = vk::InstanceCreateInfo::default().application_info(&application);
    let driver = FakeDriver::new(config);
    let instance = on_fake!(driver.entry().create_instance(&info, None)).unwrap();
    let physical = on_fake!(instance.enumerate_physical_devices()).unwrap()[0];
    (driver, instance, physical)
}

#[test]
fn detection_survives_a_failing_driver() {
    let (driver, instance, physical) = instance(Config::modern());
    driver.fail(
        "vkEnumerateDeviceExtensionProperties",
        0,
        vk::Result::ERROR_OUT_OF_HOST_MEMORY,
    );
    let error = on_fake!(DeviceSupport::query(&instance, physical, vk::API_VERSION_1_3))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("vkEnumerateDeviceExtensionProperties") && error.contains("Fake tiler"),
        "{error}"
    );
}

#[test]
fn an_emulated_heap_is_told_from_a_real_one() {
    let emulated = Config {
        tile: Tile {
            emulated: true,
            ..Tile::supported()
        },
        ..Config::modern()
    };
    let old = Config {
        api_version: vk::API_VERSION_1_2,
        ..emulated.clone()
    };
    let cases = [
        (Config::modern(), None),
        (emulated, Some("fake emulator 1.2")),
        (old, None),
    ];
    for (config, expected) in cases {
        let version = config.api_version;
        let (_driver, instance, physical) = instance(config);
        let support = on_fake!(DeviceSupport::query(&instance, physical, version)).unwrap();
        assert_eq!(support.missing_requirements(), []);
        assert_eq!(support.emulator(), expected);
        let said = support.profile().source.contains("emulated by fake emulator");
        assert_eq!(said, expected.is_some());
    }
}

#[test]
fn a_feature_left_off_is_said_and_done_without() {
    let rig = Rig::new(Config::modern(), Capabilities::TILE_MEMORY);
    let runtime = rig.runtime().unwrap();
    assert_eq!(runtime.missing_requirements(), [MissingRequirement::NotEnabled]);
    bind_and_run(&rig, &runtime).unwrap();
    on_fake!(runtime.destroy());
    assert_eq!(rig.problems(), [""; 0]);
}

#[test]
fn a_refused_format_is_said_by_name() {
    let refused_formats = vec![vk::Format::R16G16B16A16_SFLOAT];
    let config = Config {
        refused_formats,
        ..Config::modern()
    };
    let rig = Rig::new(config, Capabilities::empty());
    let runtime = rig.runtime().unwrap();
    let error = runtime
        .plan(&rig.described.frame, &PlanOptions::default())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("`normal`") && error.contains("R16G16B16A16_SFLOAT"),
        "{error}"
    );
    on_fake!(runtime.destroy());
    assert_eq!(rig.problems(), [""; 0]);
}

#[test]
fn a_context_that_fails_leaves_nothing_behind() {
    for config in [Config::modern(), Config::vulkan_1_1()] {
        let context = |driver: &FakeDriver| Context::on(driver.entry(), &ContextDesc::default());
        let whole = FakeDriver::new(config.clone());
        context(&whole).expect("nothing fails").destroy();
        for (nth, name) in whole.fallible().iter().enumerate() {
            let driver = FakeDriver::new(config.clone());
            driver.fail_at(nth, vk::Result::ERROR_OUT_OF_HOST_MEMORY);
            match context(&driver) {
                // Waiting for an idle device happens at the very end.
                Ok(context) => drop(context.destroy()),
                Err(error) => assert!(!error.to_string().contains('\n')),
            }
            assert_eq!(driver.violations(), [""; 0], "after call {nth}, {name}, failed");
            assert!(
                driver.live().is_empty(),
                "call {nth}, {name}: {:?}",
                driver.live()
            );
        }
    }
}

/// A context enables `VK_KHR_swapchain` without a surface, too: frames are planned and tested without a window.
#[test]
fn frames_that_present_need_the_extension() {
    let mut frame = FrameBuilder::new("presented", extent(4, 4));
    let image = ImageDesc::new(vk::Format::B8G8R8A8_UNORM, extent(4, 4));
    let screen = frame.resource("screen", image, Persistence::External(ExternalDesc::SWAPCHAIN));
    let scene = one_queue(&mut frame, vk::QueueFlags::GRAPHICS);
    let clear = LoadOp::Clear(ClearValue::ZERO);
    frame.render_pass(scene, "show").color(screen, clear);
    let frame = frame.build().unwrap();
    for extensions in [vec![ash::khr::swapchain::NAME], Vec::new()] {
        let is_listed = !extensions.is_empty();
        let driver = FakeDriver::new(Config {
            extensions,
            ..Config::modern()
        });
        let context = Context::on(driver.entry(), &ContextDesc::default()).unwrap();
        let planned = context.runtime().plan(&frame, &PlanOptions::default());
        match planned {
            Ok(_) => assert!(is_listed),
            Err(error) => {
                let text = error.to_string();
                assert!(!is_listed && text.contains("VK_KHR_swapchain"), "{text}");
                assert!(
                    text.contains("`screen`") && text.contains("PRESENT_SRC_KHR"),
                    "{text}"
                );
            }
        }
        context.destroy();
        assert_eq!(driver.violations(), [""; 0]);
    }
}

/// A device of a caller who chains `Vulkan13Features` and names the extension: nothing is enabled twice, and disabled features are not used.
#[test]
fn enabling_doubles_nothing() {
    let (driver, instance, physical) = instance(Config::modern());
    let support = on_fake!(DeviceSupport::query(&instance, physical, vk::API_VERSION_1_3)).unwrap();
    let names = [tileheap::ffi::tile_memory_heap::NAME.as_ptr()];
    let mut newer = vk::PhysicalDeviceVulkan13Features::default()
        .synchronization2(true)
        .dynamic_rendering(false);
    let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
    let info = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .enabled_extension_names(&names)
        .push_next(&mut newer);
    let mut enable = on_fake!(support.enable(&info, Capabilities::RECOMMENDED));
    let capabilities = enable.capabilities();
    assert!(capabilities.contains(Capabilities::SYNCHRONIZATION_2 | Capabilities::TILE_MEMORY));
    assert!(!capabilities.intersects(Capabilities::DYNAMIC_RENDERING | Capabilities::MAINTENANCE_4));
    for _ in 0..2 {
        let more = enable.info(&info);
        assert_eq!(more.enabled_extension_count, 1, "named already");
        let mut kinds = Vec::new();
        let mut next: *const vk::BaseInStructure<'_> = more.p_next.cast();
        while !next.is_null() {
            let base = on_fake!(&*next);
            kinds.push(base.s_type);
            next = base.p_next;
        }
        let doubled = [
            vk::StructureType::PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES,
            vk::StructureType::PHYSICAL_DEVICE_DYNAMIC_RENDERING_FEATURES,
            vk::StructureType::PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES,
        ];
        assert!(kinds.iter().all(|kind| !doubled.contains(kind)), "{kinds:?}");
        assert_eq!(
            kinds.len(),
            3,
            "timeline semaphores, tile memory, and the caller's own: {kinds:?}"
        );
    }
    let info = enable.info(&info);
    let device = on_fake!(instance.create_device(physical, &info, None)).unwrap();
    let desc = DeviceDesc {
        enabled: capabilities,
        ..DeviceDesc::default()
    };
    let tile = on_fake!(Device::new(&instance, physical, &device, &support, desc)).unwrap();
    assert!(tile.missing_requirements().is_empty());
    let plan = tile.plan(&runtime_rig::describe().frame, &PlanOptions::default());
    let text = tile.bind(&plan.unwrap()).expect_err("no queue").to_string();
    assert!(text.contains("DeviceDesc::queues"), "{text}");
    on_fake!(tile.destroy());
    on_fake!(device.destroy_device(None));
    on_fake!(instance.destroy_instance(None));
    assert_eq!(driver.violations(), [""; 0]);
    assert!(driver.live().is_empty(), "{:?}", driver.live());
}

#[test]
fn frames_before_a_failed_submission_can_be_waited_for() {
    let rig = Rig::new(Config::vulkan_1_1().asynchronous(), Capabilities::empty());
    let runtime = rig.runtime().unwrap();
    let plan = runtime
        .plan(&rig.described.frame, &PlanOptions::default())
        .unwrap();
    let mut bound = runtime.bind(&plan).unwrap();
    // As many frames as there are fences.
    let numbers = [(); 4].map(|()| {
        let number = rig.frame(&mut bound).unwrap();
        rig.driver.complete();
        number
    });
    rig.driver
        .fail("vkQueueSubmit", 0, vk::Result::ERROR_OUT_OF_HOST_MEMORY);
    rig.frame(&mut bound).unwrap_err();
    for number in numbers {
        assert!(bound.wait(number, 0).unwrap(), "{number:?}");
    }
    assert_eq!(bound.completed().unwrap(), Some(numbers[3]));
    on_fake!(bound.destroy());
    on_fake!(runtime.destroy());
}
