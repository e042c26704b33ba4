//! Random sequences of frames in one dynamic frame: descriptions change their size, lose passes and return, passes are skipped or render less, and
//! recorders are dropped. Each frame is refused with a reason, or runs without validation messages.
//!
//! `TILEHEAP_SEQUENCES` is the number of sequences, `TILEHEAP_SEED` the seed of the first one; seeds are consecutive.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ash::vk;
use tileheap::frame::tables::PassKind;
use tileheap::frame::{Frame, FrameBuilder, PassId, Persistence};
use tileheap::plan::PlanOptions;
use tileheap::runtime::{BoundFrame, DynamicFrame, FrameNumber, FrameRecorder};
use tileheap::units::SplitMix64;
use tileheap_testkit::generators::descriptions::{Description, describe};
use tileheap_testkit::gpu::Gpu;

use super::caller::Caller;
use super::commands::{SCRATCH_BYTES, Transfers};
use super::run::{LONGEST, Stop, failed, fault, handles_for, record, refused, written};
use super::{Devices, number, panic_text};

/// Number of frames of a sequence.
const FRAMES: usize = 16;

/// Number of frames that are in flight at most.
const IN_FLIGHT: usize = 3;

/// The seeds from which a sequence draws its descriptions.
const DESCRIPTIONS: u64 = 4;

/// A submitted frame, and what it uses.
struct InFlight<'a> {
    number: FrameNumber,
    caller: Caller<'a>,
}

/// A sequence in progress.
struct Sequence<'a> {
    gpu: &'a Gpu,
    random: SplitMix64,
    frames: DynamicFrame,
    /// A frame that shares the pool with the dynamic one.
    other: Option<BoundFrame>,
    known: Vec<Description>,
    in_flight: Vec<InFlight<'a>>,
    scratch: vk::Buffer,
    /// The description of the last frame.
    last: String,
    ran: u32,
}

/// A description like another one: of another size, without a pass, or with a resource whose contents are kept.
fn changed(random: &mut SplitMix64, description: &Description) -> Description {
    let mut changed = description.clone();
    match random.below(3) {
        0 => {
            let (width, height) = random.pick(&[(64, 64), (33, 17), (128, 40), (16, 200)]);
            changed.base_extent = vk::Extent2D { width, height };
        }
        1 => {
            let index = random.below(changed.batches.len() as u64) as usize;
            let passes = &mut changed.batches[index].passes;
            if !passes.is_empty() {
                passes.remove(random.below(passes.len() as u64) as usize);
            }
        }
        _ if changed.resources.is_empty() => {}
        _ => {
            let index = random.below(changed.resources.len() as u64) as usize;
            let persistence = &mut changed.resources[index].persistence;
            *persistence = match *persistence {
                Persistence::Transient => Persistence::History,
                Persistence::History | Persistence::External(_) => Persistence::Transient,
            };
        }
    }
    changed
}

/// A part of an area, or none.
fn part(random: &mut SplitMix64, area: vk::Rect2D) -> Option<vk::Rect2D> {
    if random.one_in(4) {
        return None;
    }
    let mut run = |first: i32, count: u32| {
        let skipped = random.below(u64::from(count)) as u32;
        let rest = 1 + random.below(u64::from(count - skipped)) as u32;
        (first + skipped as i32, rest)
    };
    let (x, width) = run(area.offset.x, area.extent.width);
    let (y, height) = run(area.offset.y, area.extent.height);
    Some(vk::Rect2D {
        offset: vk::Offset2D { x, y },
        extent: vk::Extent2D { width, height },
    })
}

impl<'a> Sequence<'a> {
    fn new(gpu: &'a Gpu, seed: u64, scratch: vk::Buffer) -> tileheap::Result<Sequence<'a>> {
        let mut random = SplitMix64::new(seed);
        let first = random.below(1 << 40);
        Ok(Sequence {
            gpu,
            frames: gpu.runtime().dynamic_frame(PlanOptions::default())?,
            other: None,
            known: (first..first + DESCRIPTIONS).map(describe).collect(),
            random,
            in_flight: Vec::new(),
            scratch,
            last: String::new(),
            ran: 0,
        })
    }

    fn description(&mut self) -> Description {
        let index = self.random.below(self.known.len() as u64) as usize;
        if self.random.one_in(2) {
            return self.known[index].clone();
        }
        let new = changed(&mut self.random, &self.known[index]);
        self.known.push(new.clone());
        new
    }

    /// Waits until at most `most` frames are in flight, and destroys what the others use.
    fn wait(&mut self, most: usize) -> Result<(), Stop> {
        while self.in_flight.len() > most {
            let oldest = self.in_flight.remove(0);
            let complete = self.frames.wait(oldest.number, LONGEST);
            if !complete.map_err(|error| failed("wait", &error))? {
                return Err(Stop::Failed("a frame does not complete".to_owned()));
            }
            self.forget(oldest.caller);
        }
        Ok(())
    }

    /// Destroys what a frame imports.
    fn forget(&mut self, caller: Caller<'a>) {
        for view in caller.image_views() {
            // SAFETY: the frame is complete, or was not submitted.
            unsafe { self.frames.forget_view(view) };
        }
        drop(caller);
    }

    /// Selects a description and runs it, as far as its choices go.
    fn frame(&mut self) -> Result<(), Stop> {
        let description = self.description();
        self.last = written(&description);
        let builder = catch_unwind(AssertUnwindSafe(|| description.builder()))
            .map_err(|panic| Stop::Failed(panic_text(&*panic)))?;
        self.between(&builder)?;
        let frame = builder.to_frame().map_err(|error| refused("build", &error))?;
        // Callers create their images before they select a frame.
        let caller =
            Caller::new(self.gpu, &frame).map_err(|text| Stop::Refused("caller".to_owned(), text))?;
        let selected = match self.frames.select(&builder) {
            Ok(selected) => selected,
            Err(error) => return Err(refused("select", &error)),
        };
        let handles = handles_for(self.gpu, &selected, &caller);
        // SAFETY: imported objects live until the frame is complete, and their views are forgotten.
        let begun = unsafe { selected.begin(&caller.imports()) };
        let mut recorder = begun.map_err(|error| failed("begin", &error))?;
        let areas = limit(&mut self.random, &mut recorder, &frame)?;
        let transfers = Transfers {
            frame: &frame,
            scratch: self.scratch,
            copies: Cell::new(0),
        };
        let left_out: Vec<bool> = frame
            .pass_ids()
            .map(|pass| areas[pass.index()] || frame.pass(pass).optional.is_some() && self.random.one_in(2))
            .collect();
        let skips = |pass: PassId| left_out[pass.index()];
        let count = match self.random.below(6) {
            0 => self.random.below(1 + handles.len() as u64) as usize,
            _ => handles.len(),
        };
        record(&frame, &recorder, &handles[..count], &transfers, &skips)
            .map_err(|error| failed("record", &error))?;
        if count < handles.len() || self.random.one_in(8) {
            self.forget(caller);
            return Ok(());
        }
        let vulkan = |result: vk::Result| Stop::Failed(format!("the caller's submit: {result:?}"));
        caller.before().map_err(vulkan)?;
        // SAFETY: no other thread uses the queues.
        let submitted = unsafe { recorder.submit() };
        let number = submitted.map_err(|error| failed("submit", &error))?;
        self.ran += 1;
        caller.after().map_err(vulkan)?;
        self.in_flight.push(InFlight { number, caller });
        let most = self.random.below(1 + IN_FLIGHT as u64) as usize;
        self.wait(most)
    }

    /// Does something else between two frames.
    fn between(&mut self, builder: &FrameBuilder) -> Result<(), Stop> {
        let tile = self.gpu.runtime();
        let did = match self.random.below(12) {
            0 => tile.trim().map(|_| ()),
            1 => tile.collect().map(|_| ()),
            2 => {
                self.frames.forget(builder);
                Ok(())
            }
            3 => {
                let frame = builder.to_frame();
                let plan = frame.and_then(|frame| tile.plan(&frame, &PlanOptions::default()));
                let bound = plan.and_then(|plan| tile.bind(&plan));
                let replaced = bound.ok().and_then(|bound| self.other.replace(bound));
                if let Some(replaced) = replaced {
                    replaced.retire();
                }
                Ok(())
            }
            _ => Ok(()),
        };
        did.map_err(|error| failed("between frames", &error))
    }
}

/// Limits the areas of some render passes; returns those that render nothing.
fn limit(
    random: &mut SplitMix64,
    recorder: &mut FrameRecorder<'_>,
    frame: &Frame,
) -> Result<Vec<bool>, Stop> {
    let mut nothing = vec![false; frame.passes().len()];
    for pass in frame.pass_ids() {
        if frame.pass(pass).kind != PassKind::Render || !random.one_in(5) {
            continue;
        }
        let area = part(random, frame.pass(pass).area);
        recorder
            .set_area(pass, area)
            .map_err(|error| failed("area", &error))?;
        nothing[pass.index()] = area.is_none();
    }
    Ok(nothing)
}

/// The number of frames that ran in a sequence of at most `frames`, or the failure.
fn sequence(gpu: &Gpu, seed: u64, frames: usize) -> Result<u32, String> {
    let before = gpu.unexpected_messages().len();
    let objects = tileheap_testkit::objects::Objects::default();
    let info = vk::BufferCreateInfo::default()
        .size(SCRATCH_BYTES)
        .usage(vk::BufferUsageFlags::TRANSFER_DST);
    let ordinary = gpu.context.support().profile().ordinary_type_bits();
    let (scratch, _) = objects.buffer(gpu.device(), &info, ordinary);
    let mut sequence = Sequence::new(gpu, seed, scratch).map_err(|error| error.to_string())?;
    let mut failure = None;
    for _ in 0..frames {
        let ended = catch_unwind(AssertUnwindSafe(|| sequence.frame()));
        let message = fault(gpu.unexpected_messages().split_off(before));
        failure = match (ended, message) {
            (_, Some(message)) => Some(format!("{}\n{}", message.id, message.text)),
            (Err(panic), _) => Some(panic_text(&*panic)),
            (Ok(Err(Stop::Failed(text))), _) => Some(text),
            (Ok(Ok(()) | Err(Stop::Refused(..))), None) => continue,
        };
        break;
    }
    let (last, ran) = (std::mem::take(&mut sequence.last), sequence.ran);
    if failure.is_none() {
        if let Err(Stop::Failed(text)) = sequence.wait(0) {
            failure = Some(text);
        }
    }
    // SAFETY: no other thread uses the queues.
    let _ = unsafe { gpu.device().device_wait_idle() };
    drop(sequence);
    let _ = gpu.runtime().trim();
    objects.destroy(gpu.device());
    if failure.is_none() {
        let message = fault(gpu.unexpected_messages().split_off(before));
        failure = message.map(|message| format!("{}\n{}", message.id, message.text));
    }
    match failure {
        Some(text) => Err(format!("{text}\n{last}")),
        None => Ok(ran),
    }
}

#[test]
fn random_sequences_run_or_are_refused_with_a_reason() {
    let (count, first) = (number("TILEHEAP_SEQUENCES", 40), number("TILEHEAP_SEED", 1));
    let (mut ran, mut failures) = (0, Vec::new());
    for devices in Devices::all() {
        let mut gpu = devices.create();
        for seed in devices.seeds(first, count) {
            match sequence(&gpu, seed, FRAMES) {
                Ok(frames) => ran += frames,
                Err(text) => {
                    println!("\nseed {seed}, with TILEHEAP_SEQUENCES=1 TILEHEAP_SEED={seed}: {text}");
                    failures.push(seed);
                    gpu.into_unexpected_messages();
                    gpu = devices.create();
                }
            }
        }
        if let Some(message) = fault(gpu.into_unexpected_messages()) {
            println!("{}\n{}", message.id, message.text);
            failures.push(0);
        }
    }
    println!("{count} sequences: {ran} frames ran");
    assert!(failures.is_empty(), "seeds {failures:?}, see above");
    assert!(count < 20 || ran > count as u32, "only {ran} frames ran");
}
