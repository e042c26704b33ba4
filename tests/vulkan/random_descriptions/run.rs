//! Runs one description.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ash::vk;
use tileheap::Error;
use tileheap::frame::tables::CommandSource;
use tileheap::frame::{Frame, PassId, QueueId};
use tileheap::lower::LowerError;
use tileheap::plan::PlanOptions;
use tileheap::runtime::context::ValidationMessage;
use tileheap::runtime::{BoundFrame, FrameRecorder, RuntimeError};
use tileheap_testkit::generators::descriptions::Description;
use tileheap_testkit::gpu::Gpu;
use tileheap_testkit::objects::command_buffers;

use super::caller::Caller;
use super::commands::{SCRATCH_BYTES, Transfers};
use super::panic_text;

/// The outcome of a description.
#[derive(Debug)]
pub(super) enum Outcome {
    Ran,
    /// The rule, or the stage and the kind of error; and the reason.
    Refused(String, String),
    /// A panic, a validation message, or an error during recording.
    Failed(String),
}

/// The reason why a run ended early.
pub(super) enum Stop {
    Refused(String, String),
    Failed(String),
}

/// Nanoseconds after which a frame counts as hanging.
pub(super) const LONGEST: u64 = 60_000_000_000;

/// The description as text: the frame's JSON, if it is a frame.
pub(super) fn written(description: &Description) -> String {
    let built = catch_unwind(|| description.builder().build());
    match built {
        Ok(Ok(frame)) => frame.to_json(),
        _ => format!("{description:#?}"),
    }
}

/// The first message that is not about undefined contents.
pub(super) fn fault(messages: Vec<ValidationMessage>) -> Option<ValidationMessage> {
    let mut messages = messages.into_iter();
    messages.find(|message| message.id != "TILEHEAP-reads-discarded")
}

/// True if a frame declares writes that the test may not make: no shader runs, and some transfers have no command.
fn leaves_contents_undefined(frame: &Frame) -> bool {
    let mut accesses = frame.pass_ids().flat_map(|pass| frame.accesses_of(pass));
    accesses.any(|access| access.writes && !access.kind.is_attachment())
}

/// Builds, plans, binds, records and submits a description twice, and destroys all its objects.
pub(super) fn attempt(gpu: &mut Gpu, description: &Description) -> Outcome {
    attempt_frame(gpu, || description.builder().build())
}

/// The same for a frame.
pub(super) fn attempt_frame(gpu: &mut Gpu, build: impl FnOnce() -> tileheap::Result<Frame>) -> Outcome {
    let before = gpu.unexpected_messages().len();
    let mut undefined = false;
    let stopped = catch_unwind(AssertUnwindSafe(|| {
        let frame = build().map_err(|error| refused("build", &error))?;
        undefined = leaves_contents_undefined(&frame);
        run(gpu, &frame)
    }));
    let messages = gpu.unexpected_messages().split_off(before);
    let message = match undefined {
        true => fault(messages),
        false => messages.into_iter().next(),
    };
    if let Some(message) = message {
        return Outcome::Failed(format!("{}\n{}", message.id, message.text));
    }
    match stopped {
        Ok(Ok(())) => Outcome::Ran,
        Ok(Err(Stop::Refused(rule, text))) => Outcome::Refused(rule, text),
        Ok(Err(Stop::Failed(text))) => Outcome::Failed(text),
        Err(panic) => Outcome::Failed(panic_text(&*panic)),
    }
}

/// The rule that an error names, or else its kind.
pub(super) fn refused(stage: &str, error: &Error) -> Stop {
    let text = error.to_string();
    // The library's own checkers report a fault in the library.
    if matches!(
        error,
        Error::Lower(LowerError::Check(_)) | Error::CheckLowered(_) | Error::Check(_)
    ) {
        return Stop::Failed(format!("{stage}: {text}"));
    }
    let named = text.rfind("(VUID-").or(text.rfind("(section "));
    let rule = named.map(|at| text[at + 1..].trim_end_matches(')').to_owned());
    let debug = format!("{error:?}");
    let kind = debug.split(&['{', '"'][..]).next().unwrap_or_default().trim();
    let broken = debug
        .split("rule: ")
        .nth(1)
        .and_then(|rest| rest.split(',').next());
    let rule = rule.unwrap_or_else(|| format!("{stage}: {kind} {}", broken.unwrap_or_default()));
    Stop::Refused(rule, text)
}

/// An error after binding: only a lack of memory is a valid reason.
pub(super) fn failed(stage: &str, error: &Error) -> Stop {
    let lacks_memory = matches!(
        error,
        Error::Runtime(RuntimeError::Vulkan {
            result: vk::Result::ERROR_OUT_OF_DEVICE_MEMORY | vk::Result::ERROR_OUT_OF_HOST_MEMORY,
            ..
        })
    );
    match lacks_memory {
        true => refused(stage, error),
        false => Stop::Failed(format!("{stage}: {error}")),
    }
}

fn run(gpu: &mut Gpu, frame: &Frame) -> Result<(), Stop> {
    let plan = gpu.runtime().plan(frame, &PlanOptions::default());
    let plan = plan.map_err(|error| refused("plan", &error))?;
    // Callers create their images before they bind a frame to a device.
    let caller = Caller::new(gpu, frame).map_err(|text| Stop::Refused("caller".to_owned(), text))?;
    let mut bound = gpu
        .runtime()
        .bind(&plan)
        .map_err(|error| refused("bind", &error))?;
    let info = vk::BufferCreateInfo::default()
        .size(SCRATCH_BYTES)
        .usage(vk::BufferUsageFlags::TRANSFER_DST);
    let ordinary = gpu.context.support().profile().ordinary_type_bits();
    let (scratch, _) = caller.objects.buffer(gpu.device(), &info, ordinary);
    for round in 0..if caller.only_once { 1 } else { 2 } {
        let transfers = Transfers {
            frame,
            scratch,
            copies: Cell::new(0),
        };
        run_once(gpu, &mut bound, &caller, &transfers, round)?;
    }
    match caller.imports_resources() || frame.passes().len() % 2 == 0 {
        // SAFETY: every submitted frame was waited for.
        true => unsafe { bound.destroy() },
        false => bound.retire(),
    }
    Ok(())
}

fn run_once(
    gpu: &Gpu,
    bound: &mut BoundFrame,
    caller: &Caller<'_>,
    transfers: &Transfers<'_>,
    round: u32,
) -> Result<(), Stop> {
    let vulkan = |result: vk::Result| Stop::Failed(format!("the caller's submit: {result:?}"));
    caller.before().map_err(vulkan)?;
    let frame = transfers.frame;
    let handles = handles_for(gpu, bound, caller);
    // SAFETY: imported objects live until the frame is complete.
    let recorder = unsafe { bound.begin(&caller.imports()) }.map_err(|error| failed("begin", &error))?;
    let skips = |pass: PassId| round > 0 && frame.pass(pass).optional.is_some();
    record(frame, &recorder, &handles, transfers, &skips).map_err(|error| failed("record", &error))?;
    // SAFETY: no other thread uses the queues.
    let number = unsafe { recorder.submit() }.map_err(|error| failed("submit", &error))?;
    let complete = bound
        .wait(number, LONGEST)
        .map_err(|error| failed("wait", &error))?;
    if !complete {
        return Err(Stop::Failed("the frame does not complete".to_owned()));
    }
    caller.after().map_err(vulkan)
}

/// A new command buffer of the caller for each one of a frame.
pub(super) fn handles_for(gpu: &Gpu, bound: &BoundFrame, caller: &Caller<'_>) -> Vec<vk::CommandBuffer> {
    let frame = bound.plan().described();
    let queue_of = |batch: usize| frame.submits()[frame.batches()[batch].submit.index()].queue;
    let handle = |queue: QueueId| {
        let info = vk::CommandPoolCreateInfo::default().queue_family_index(bound.queue(queue).family);
        let pool = caller.objects.create(gpu.device(), &info);
        command_buffers(gpu.device(), pool, vk::CommandBufferLevel::PRIMARY, 1)[0]
    };
    let commands = frame.command_buffers().iter();
    commands
        .map(|commands| handle(queue_of(commands.batch.index())))
        .collect()
}

/// Records the passes of the first command buffers, as many as there are handles, without those that `skips` leaves out.
pub(super) fn record(
    frame: &Frame,
    recorder: &FrameRecorder<'_>,
    handles: &[vk::CommandBuffer],
    transfers: &Transfers<'_>,
    skips: &dyn Fn(PassId) -> bool,
) -> tileheap::Result<()> {
    for (commands, handle) in frame.command_buffers().iter().zip(handles) {
        let Some(first) = frame.passes()[commands.passes.indices()].first() else {
            continue;
        };
        // SAFETY: the command buffer and its pool are new.
        let mut recorded = unsafe { recorder.record(*handle, first.command_buffer) }?;
        for pass in frame.pass_ids().skip(commands.passes.first as usize) {
            let described = frame.pass(pass);
            if described.command_buffer != first.command_buffer {
                break;
            }
            if skips(pass) {
                recorded.skip(pass)?;
            } else if described.contents == CommandSource::Secondary {
                let none: &[vk::CommandBuffer] = &[];
                // SAFETY: no secondary command buffers are executed.
                unsafe { recorded.pass_secondary(pass, &vec![none; described.subpasses as usize]) }?;
            } else {
                recorded.pass(pass, |commands| transfers.record(pass, commands))?;
            }
        }
        recorded.finish()?;
    }
    Ok(())
}
