//! Random descriptions: each is refused with a reason, or runs twice without validation messages.
//!
//! `TILEHEAP_FRAMES` is the number of descriptions, `TILEHEAP_SEED` the seed of the first one; seeds are consecutive.

mod caller;
mod commands;
mod kinds;
mod run;
mod sequences;

use std::any::Any;
use std::collections::BTreeMap;

use ash::vk;
use tileheap::runtime::{Capabilities, ContextDesc};
use tileheap_testkit::generators::descriptions::{Description, describe, shrink};
use tileheap_testkit::gpu::Gpu;
use tileheap_testkit::own_file;

use run::{Outcome, attempt};

/// Number of descriptions per device.
const PER_DEVICE: u64 = 250;

/// Maximum number of descriptions tried to reduce a failing one.
const MAX_TRIES: u32 = 400;

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |text| {
        text.parse()
            .unwrap_or_else(|_| panic!("{name} is not a number: {text}"))
    })
}

/// The text of a panic.
fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
    format!("panic: {}", text.unwrap_or_default())
}

/// The recording modes with which descriptions run, in turn: with a device's usual features, and without those of newer versions.
fn ways() -> [(Capabilities, bool); 4] {
    let oldest = Capabilities::SYNCHRONIZATION_2
        | Capabilities::DYNAMIC_RENDERING
        | Capabilities::TIMELINE_SEMAPHORE
        | Capabilities::MAINTENANCE_4
        | Capabilities::STORE_OP_NONE;
    [
        (Capabilities::empty(), true),
        (Capabilities::DYNAMIC_RENDERING, false),
        (Capabilities::SYNCHRONIZATION_2, true),
        (oldest, true),
    ]
}

/// The features with which some devices are created, if supported.
fn features(gpu: &Gpu) -> vk::PhysicalDeviceFeatures {
    let instance = gpu.context.instance();
    // SAFETY: the physical device is the instance's.
    let there = unsafe { instance.get_physical_device_features(gpu.context.physical_device()) };
    vk::PhysicalDeviceFeatures {
        image_cube_array: there.image_cube_array,
        geometry_shader: there.geometry_shader,
        tessellation_shader: there.tessellation_shader,
        shader_storage_image_multisample: there.shader_storage_image_multisample,
        ..Default::default()
    }
}

/// Creates devices for one mode.
#[derive(Clone, Copy)]
struct Devices {
    way: usize,
    features: vk::PhysicalDeviceFeatures,
    addresses: bool,
}

impl Devices {
    /// Devices for each mode.
    fn all() -> impl Iterator<Item = Devices> {
        let probe = Gpu::new(Capabilities::empty());
        let support = probe.context.support();
        let first = Devices {
            way: 0,
            features: features(&probe),
            addresses: support
                .offered_capabilities()
                .contains(Capabilities::BUFFER_DEVICE_ADDRESS),
        };
        (0..ways().len()).map(move |way| Devices { way, ..first })
    }

    /// The seeds of the mode, among `count` of them.
    fn seeds(&self, first: u64, count: u64) -> Vec<u64> {
        let own = |seed: &u64| seed % ways().len() as u64 == self.way as u64;
        (first..first + count).filter(own).collect()
    }

    fn create(&self) -> Gpu {
        let (without, usual) = ways()[self.way];
        Gpu::with(ContextDesc {
            without,
            features: if usual { self.features } else { Default::default() },
            buffer_device_address: usual && self.addresses,
            ..ContextDesc::from_env("tileheap tests")
        })
    }
}

/// The kind of a failure: its rule and the extension that it requires, or else its text without names and numbers.
fn kind_of(text: &str) -> String {
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    if first.starts_with("VUID") || first.starts_with("SYNC") {
        let named = lines
            .next()
            .and_then(|line| line.split_once("requires the extensions"));
        return format!("{first}{}", named.map_or("", |(_, extensions)| extensions));
    }
    let mut quoted = false;
    let kept = first.chars().filter(|letter| {
        quoted ^= *letter == '`';
        !quoted && !letter.is_ascii_digit()
    });
    kept.take(120).collect()
}

/// The outcome of a description on a new device, including its destruction.
fn alone(devices: &Devices, description: &Description) -> Outcome {
    let mut gpu = devices.create();
    let outcome = attempt(&mut gpu, description);
    let before = gpu.unexpected_messages().len();
    let messages = gpu.into_unexpected_messages();
    match (outcome, messages.get(before)) {
        (Outcome::Failed(text), _) => Outcome::Failed(text),
        (_, Some(message)) => Outcome::Failed(format!("{}\n{}", message.id, message.text)),
        (other, None) => other,
    }
}

/// The smallest description that fails in the same way, with its failure.
fn smallest(devices: &Devices, seed: u64, text: &str) -> String {
    let kind = kind_of(text);
    let mut tries = 0;
    let mut found = None;
    let mut fails = |candidate: &Description| {
        tries += 1;
        let outcome = if tries > MAX_TRIES {
            Outcome::Ran
        } else {
            alone(devices, candidate)
        };
        match outcome {
            Outcome::Failed(text) if kind_of(&text) == kind => {
                found = Some(text);
                true
            }
            _ => false,
        }
    };
    let description = describe(seed);
    if !fails(&description) {
        return format!("only after other frames: {text}\n{}", run::written(&description));
    }
    let small = shrink(description, &mut fails);
    format!("{}\n{}", found.as_deref().unwrap_or(text), run::written(&small))
}

/// Number of failures of each kind, with the seed of the first one.
type Failures = BTreeMap<String, (u32, u64)>;

#[test]
fn random_descriptions_run_or_are_refused_with_a_reason() {
    let (count, first) = (number("TILEHEAP_FRAMES", 240), number("TILEHEAP_SEED", 1));
    let mut rules: BTreeMap<String, (u32, String)> = BTreeMap::new();
    let mut failures = Failures::new();
    let mut ran = 0;
    let last_seed = own_file("random-description");
    for devices in Devices::all() {
        let seeds = devices.seeds(first, count);
        for seeds in seeds.chunks(PER_DEVICE as usize) {
            let mut gpu = devices.create();
            for &seed in seeds {
                // In case the driver terminates the program.
                std::fs::write(&last_seed, seed.to_string()).expect("the seed is written");
                match attempt(&mut gpu, &describe(seed)) {
                    Outcome::Ran => ran += 1,
                    Outcome::Refused(rule, text) => {
                        assert!(
                            !text.trim().is_empty(),
                            "seed {seed}: refused without a reason ({rule})"
                        );
                        rules.entry(rule).or_insert((0, text)).0 += 1;
                    }
                    Outcome::Failed(text) => {
                        gpu.into_unexpected_messages();
                        note(&mut failures, &devices, seed, &text);
                        gpu = devices.create();
                    }
                }
            }
            let before = gpu.unexpected_messages().len();
            if let Some(message) = gpu.into_unexpected_messages().get(before) {
                note_last(&mut failures, &devices, seeds, &message.id);
            }
        }
    }
    let refused: u32 = rules.values().map(|(count, _)| count).sum();
    println!("{count} descriptions: {ran} ran, {refused} were refused, by rule and with the first reason:");
    let mut most: Vec<_> = rules.into_iter().collect();
    most.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
    for (rule, (count, text)) in most {
        println!("{count:6} {rule}: {text}");
    }
    for (kind, (count, seed)) in &failures {
        println!("{count:6} FAILED, first with seed {seed}: {kind}");
    }
    assert!(
        failures.is_empty(),
        "{} kinds of failures, see above",
        failures.len()
    );
    assert!(count < 100 || ran * 10 >= count * 3, "{ran} of {count} ran");
}

fn note(failures: &mut Failures, devices: &Devices, seed: u64, text: &str) {
    let kind = kind_of(text);
    if let Some((count, ..)) = failures.get_mut(&kind) {
        *count += 1;
        return;
    }
    let text = smallest(devices, seed, text);
    println!("\nseed {seed}, with TILEHEAP_FRAMES=1 TILEHEAP_SEED={seed}: {text}");
    failures.insert(kind, (1, seed));
}

/// Records a message at the destruction of a device, with the first seed that causes it on its own, if there is one.
fn note_last(failures: &mut Failures, devices: &Devices, seeds: &[u64], id: &str) {
    let alone = |&seed: &u64| match alone(devices, &describe(seed)) {
        Outcome::Failed(text) => Some((seed, text)),
        _ => None,
    };
    match seeds.iter().find_map(alone) {
        Some((seed, text)) => note(failures, devices, seed, &text),
        None => {
            println!("\n{id} after seeds {seeds:?} together");
            failures.entry(id.to_owned()).or_insert((0, seeds[0])).0 += 1;
        }
    }
}
