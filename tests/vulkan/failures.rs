//! Every call that can fail, failing: what the runtime says, and what it leaves behind.

use tileheap_testkit::fake_driver;
use tileheap_testkit::runtime_rig;

use ash::vk;
use fake_driver::{Call, Config, FakeDriver, Tile};
use runtime_rig::{IN_FLIGHT, Rig, on_fake};
use tileheap::Result;
use tileheap::plan::PlanOptions;
use tileheap::runtime::{BoundFrame, Capabilities, Device, Missing, Support};

/// The drivers and ways that differ in what the runtime calls.
fn ways() -> Vec<(&'static str, Config, Capabilities)> {
    let none = Capabilities::empty();
    let asynchronous = |config| Config {
        asynchronous: true,
        ..config
    };
    vec![
        ("modern", asynchronous(Config::modern()), none),
        ("modern, at once", Config::modern(), none),
        (
            "modern without tile memory",
            asynchronous(Config::modern().without_tile_memory()),
            none,
        ),
        ("1.1", asynchronous(Config::vulkan_1_1()), none),
        (
            "1.1 without tile memory",
            asynchronous(Config::vulkan_1_1().without_tile_memory()),
            none,
        ),
        (
            "forced back",
            asynchronous(Config::modern()),
            Capabilities::all() - Capabilities::TILE_MEMORY,
        ),
        (
            "lazy",
            Config {
                lazy: true,
                ..asynchronous(Config::modern())
            },
            none,
        ),
        (
            "dedicated",
            Config {
                dedicated_images: true,
                ..asynchronous(Config::modern())
            },
            none,
        ),
    ]
}

/// A whole life of the runtime: taken up, planned, bound, some frames, given up.
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
    // The caller's own wait for the device, which is not to fail here.
    rig.driver.complete();
    on_fake!(bound.destroy());
    result
}

/// As many frames as can be in flight, then one more.
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

/// The first call that failed, and how.
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
        assert_eq!(rig.amiss(), [""; 0], "{way}");
    }
}

/// What is wrong with how the runtime took a failure, if one came.
struct Taken {
    function: &'static str,
    wrong: Vec<String>,
}

/// Whether a text has a function's name as a whole word.
fn names(text: &str, function: &str) -> bool {
    let letter = |one: char| one.is_ascii_alphanumeric();
    text.split(|one| !letter(one)).any(|word| word == function)
}

/// One run of the runtime with an injected failure; `None` if the call never came.
fn live_with_failure(rig: &Rig) -> Option<Taken> {
    let outcome = live(rig);
    let Some((function, result)) = failed(rig) else {
        outcome.expect("nothing failed");
        return None;
    };
    let mut wrong = rig.amiss();
    match outcome {
        // Names are for debuggers alone.
        Ok(()) if function == "vkSetDebugUtilsObjectNameEXT" => {}
        Ok(()) => wrong.push("the failure is not reported".to_owned()),
        Err(error) => {
            let text = error.to_string();
            if !names(&text, function) || !text.contains(&format!("{result:?}")) {
                wrong.push(format!("the error is: {text}"));
            }
        }
    }
    Some(Taken { function, wrong })
}

/// Lets each fallible call fail in turn with `result`; the calls that did, and what went wrong.
fn fail_each(config: &Config, without: Capabilities, result: vk::Result) -> (Vec<&'static str>, Vec<String>) {
    let (mut calls, mut wrong) = (Vec::new(), Vec::new());
    for nth in 0.. {
        let rig = Rig::new(config.clone(), without);
        rig.driver.fail_at(nth, result);
        let Some(taken) = live_with_failure(&rig) else {
            break;
        };
        calls.push(taken.function);
        wrong.extend(
            taken
                .wrong
                .into_iter()
                .map(|what| format!("{} (call {nth}): {what}", taken.function)),
        );
    }
    (calls, wrong)
}

#[test]
fn every_failing_call_is_named_and_leaves_nothing() {
    for (way, config, without) in ways() {
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
fn running_out_of_host_memory_leaves_nothing() {
    for (way, config, without) in ways() {
        let (_, wrong) = fail_each(&config, without, vk::Result::ERROR_OUT_OF_HOST_MEMORY);
        assert!(wrong.is_empty(), "{way}: {wrong:#?}");
    }
}

#[test]
fn a_lost_device_is_said_and_leaves_nothing() {
    let functions = [
        "vkQueueSubmit",
        "vkQueueSubmit2",
        "vkWaitForFences",
        "vkWaitSemaphores",
        "vkGetSemaphoreCounterValue",
        "vkGetFenceStatus",
    ];
    for (way, config, without) in ways() {
        let (mut seen, mut wrong) = (0, Vec::new());
        for function in functions {
            for nth in 0.. {
                let rig = Rig::new(config.clone(), without);
                rig.driver.fail(function, nth, vk::Result::ERROR_DEVICE_LOST);
                let Some(taken) = live_with_failure(&rig) else {
                    break;
                };
                seen += 1;
                wrong.extend(
                    taken
                        .wrong
                        .into_iter()
                        .map(|what| format!("{function} ({nth}): {what}")),
                );
            }
        }
        assert!(wrong.is_empty(), "{way}: {wrong:#?}");
        assert!(seen >= 2 * IN_FLIGHT, "{way}: each frame submits to two queues");
    }
}

#[test]
fn detection_names_the_missing_link() {
    let whole = Tile::whole();
    let cases = [
        ("whole", whole.clone(), vec![]),
        ("absent", Tile::absent(), vec![Missing::Extension, Missing::Heap]),
        (
            "name only",
            Tile::name_only(),
            vec![Missing::Feature, Missing::Heap],
        ),
        (
            "no extension",
            Tile {
                extension: false,
                ..whole.clone()
            },
            vec![Missing::Extension],
        ),
        (
            "no feature",
            Tile {
                feature: false,
                ..whole.clone()
            },
            vec![Missing::Feature],
        ),
        (
            "no heap flag",
            Tile {
                heap_flag: false,
                ..whole.clone()
            },
            vec![Missing::Heap],
        ),
        (
            "no type",
            Tile {
                memory_type: false,
                ..whole.clone()
            },
            vec![Missing::MemoryType],
        ),
        (
            "no function",
            Tile {
                command: false,
                ..whole.clone()
            },
            vec![Missing::Function],
        ),
    ];
    for (case, tile, missing) in cases {
        let rig = Rig::new(
            Config {
                tile,
                ..Config::modern()
            },
            Capabilities::empty(),
        );
        let runtime = rig.runtime().unwrap();
        assert_eq!(runtime.missing(), missing, "{case}");
        assert_eq!(runtime.profile().tile.is_some(), missing.is_empty(), "{case}");
        assert_eq!(
            runtime.capabilities().contains(Capabilities::TILE_MEMORY),
            missing.is_empty(),
            "{case}"
        );
        // Whatever is missing, the frame runs.
        bind_and_run(&rig, &runtime).unwrap_or_else(|error| panic!("{case}: {error}"));
        on_fake!(runtime.destroy());
        assert_eq!(rig.amiss(), [""; 0], "{case}");
    }
}

#[test]
fn detection_survives_a_failing_driver() {
    let driver = FakeDriver::new(Config::modern());
    let entry = driver.entry();
    let instance = on_fake!(entry.create_instance(&vk::InstanceCreateInfo::default(), None)).unwrap();
    let physical = on_fake!(instance.enumerate_physical_devices()).unwrap()[0];
    driver.fail(
        "vkEnumerateDeviceExtensionProperties",
        0,
        vk::Result::ERROR_OUT_OF_HOST_MEMORY,
    );
    let error = on_fake!(Support::query(&instance, physical, vk::API_VERSION_1_3))
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
            ..Tile::whole()
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
        let driver = FakeDriver::new(config);
        let entry = driver.entry();
        let instance = on_fake!(entry.create_instance(&vk::InstanceCreateInfo::default(), None)).unwrap();
        let physical = on_fake!(instance.enumerate_physical_devices()).unwrap()[0];
        let support = on_fake!(Support::query(&instance, physical, version)).unwrap();
        assert_eq!(support.missing(), []);
        assert_eq!(support.emulator(), expected);
        let said = support.profile().source.contains("emulated by fake emulator");
        assert_eq!(said, expected.is_some());
    }
}

#[test]
fn a_feature_left_off_is_said_and_done_without() {
    let rig = Rig::new(Config::modern(), Capabilities::TILE_MEMORY);
    let runtime = rig.runtime().unwrap();
    assert_eq!(runtime.missing(), [Missing::NotEnabled]);
    bind_and_run(&rig, &runtime).unwrap();
    on_fake!(runtime.destroy());
    assert_eq!(rig.amiss(), [""; 0]);
}

#[test]
fn a_refused_format_is_said_by_name() {
    let refused_formats = vec![vk::Format::R16G16B16A16_SFLOAT];
    let rig = Rig::new(
        Config {
            refused_formats,
            ..Config::modern()
        },
        Capabilities::empty(),
    );
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
    assert_eq!(rig.amiss(), [""; 0]);
}
