//! Programs as text.

use std::fmt::Write;

use tileheap_sync::program::{
    BarrierChange, Command, CommandBuffer, Dependency, DependencyMemory, DependencyScopes, HostStep,
    MemoryAccess, PassStructure, Program, ResourcePart, SemaphoreUse, Texels, Tiling,
};

/// A listing of the program, a command per line.
pub(crate) fn describe(program: &Program) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "granularity {}, timelines {:?}",
        program.granularity, program.timelines
    );
    for (index, one) in program.resources.iter().enumerate() {
        let kind = match one.tiling {
            Tiling::Linear => "linear".to_owned(),
            Tiling::Unknown => "unknown".to_owned(),
            Tiling::Optimal(all) => format!("optimal {}", texels(all)),
        };
        let same = one
            .alias_of
            .map_or(String::new(), |other| format!(" same as r{}", other.0));
        let _ = writeln!(
            text,
            "r{index}: memory {} [{}, {}) {kind}{same}",
            one.memory.0, one.first, one.end
        );
    }
    for one in &program.steps {
        step(&mut text, one);
    }
    text
}

fn step(text: &mut String, step: &HostStep) {
    let _ = match step {
        HostStep::Submit(batch) => {
            let _ = write!(
                text,
                "batch {} on queue {} of family {}",
                batch.number, batch.queue.0, batch.family
            );
            let _ = write!(text, ", waits [{}]", join(&batch.waits, semaphore));
            let _ = write!(text, ", signals [{}]", join(&batch.signals, semaphore));
            let fence = batch
                .fence
                .map_or(String::new(), |fence| format!(", fence {}", fence.0));
            let _ = writeln!(text, "{fence}");
            for buffer in &batch.command_buffers {
                let _ = writeln!(text, "  buffer {:p}", std::sync::Arc::as_ptr(buffer));
                commands(text, buffer, 4);
            }
            Ok(())
        }
        HostStep::WaitFence(fence) => writeln!(text, "wait for fence {}", fence.0),
        HostStep::ResetFence(fence) => writeln!(text, "reset fence {}", fence.0),
        HostStep::WaitSemaphore(semaphore, value) => {
            writeln!(text, "wait for semaphore {} = {value}", semaphore.0)
        }
        HostStep::SignalSemaphore(semaphore, value) => {
            writeln!(text, "signal semaphore {} = {value}", semaphore.0)
        }
        HostStep::WaitIdle(None) => writeln!(text, "wait for the device"),
        HostStep::WaitIdle(Some(queue)) => writeln!(text, "wait for queue {}", queue.0),
        HostStep::Host(number, tag, one) => {
            writeln!(text, "batch {number} on the host: #{} {}", tag.0, access(one))
        }
    };
}

fn commands(text: &mut String, buffer: &CommandBuffer, indent: usize) {
    for (tag, command) in &buffer.commands {
        let line = match command {
            Command::Action(accesses) => format!("act {}", join(accesses, access)),
            Command::Barrier(dependencies) => format!("barrier {}", join(dependencies, dependency)),
            Command::SetEvent(event, stages) => format!("set event {} after {stages:?}", event.0),
            Command::ResetEvent(event) => format!("reset event {}", event.0),
            Command::WaitEvents(events, dependencies) => {
                let events = join(events, |event| event.0.to_string());
                format!("wait for events {events}: {}", join(dependencies, dependency))
            }
            Command::BeginRendering { resumes, pass: one } => {
                format!("{} {}", if *resumes { "resume" } else { "begin" }, pass(one))
            }
            Command::NextSubpass => "next".to_owned(),
            Command::EndRendering => "end".to_owned(),
            Command::Discard(one) => {
                format!("discard [{}, {}) of memory {}", one.first, one.end, one.memory.0)
            }
            Command::Execute(inner) => format!("execute {:p}", std::sync::Arc::as_ptr(inner)),
        };
        let _ = writeln!(text, "{:indent$}#{} {line}", "", tag.0);
        if let Command::Execute(inner) = command {
            commands(text, inner, indent + 2);
        }
    }
}

fn join<T>(list: &[T], shown: impl Fn(&T) -> String) -> String {
    list.iter().map(shown).collect::<Vec<_>>().join("; ")
}

fn semaphore(one: &SemaphoreUse) -> String {
    format!("{} = {} at {:?}", one.semaphore.0, one.value, one.stages)
}

fn access(one: &MemoryAccess) -> String {
    let discards = if one.discards { " discards" } else { "" };
    let place = format!("r{}{}", one.resource.0, part(one.part));
    format!(
        "{:?} {:?} {:?} {place}{discards}",
        one.kind, one.stage, one.access
    )
}

fn part(part: ResourcePart) -> String {
    match part {
        ResourcePart::Bytes(first, end) => format!("[{first}, {end})"),
        ResourcePart::Texels(all) => format!("({})", texels(all)),
    }
}

fn texels(all: Texels) -> String {
    let run = |run: tileheap_units::Run| format!("{}..{}", run.first, run.end);
    let area = all.area.map_or(String::new(), |area| {
        format!(" area {}", area.map(run).join(" x "))
    });
    format!(
        "{:?} levels {} layers {}{area}",
        all.aspects,
        run(all.levels),
        run(all.layers)
    )
}

fn scopes(one: &DependencyScopes) -> String {
    format!(
        "{:?} {:?} -> {:?} {:?}",
        one.src, one.src_access, one.dst, one.dst_access
    )
}

fn dependency(one: &Dependency) -> String {
    let extent = match one.memory {
        DependencyMemory::Execution => " for execution".to_owned(),
        DependencyMemory::All => String::new(),
        DependencyMemory::Part(resource, of) => format!(" for r{}{}", resource.0, part(of)),
    };
    let change = match one.change {
        BarrierChange::None => String::new(),
        change => format!(" {change:?}"),
    };
    format!("{}{extent}{change}", scopes(&one.scopes))
}

fn pass(one: &PassStructure) -> String {
    let subpass = |index: Option<u32>| index.map_or("outside".to_owned(), |index| format!("subpass {index}"));
    let dependencies = join(&one.dependencies, |one| {
        format!(
            "{} to {}: {}",
            subpass(one.from),
            subpass(one.to),
            scopes(&one.scopes)
        )
    });
    let attachments = join(&one.attachments, |one| {
        let resource = one
            .resource
            .map_or("none".to_owned(), |resource| format!("r{}", resource.0));
        format!(
            "{resource}{} {:?} {:?} {:?}",
            part(one.part),
            one.initial_layout,
            one.uses,
            one.final_layout
        )
    });
    format!("[{dependencies}] attachments [{attachments}]")
}
