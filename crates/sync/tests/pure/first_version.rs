//! Programs that the first version of this project recorded and submitted, each with a known fault: `tests/data/order`.

use std::collections::HashMap;
use std::sync::Arc;

use ash::vk;
use serde_json::Value;
use tileheap_sync::program::*;
use tileheap_sync::{Action, Certainty, Hazard, Model};
use tileheap_units::Run;
use vk::{AccessFlags2 as A, PipelineStageFlags2 as S};

/// The bits of a mask by their names, as ash prints them.
fn bits(names: &Value, print: impl Fn(u64) -> String) -> u64 {
    let named = |name: &str| (0..u64::BITS).map(|bit| 1 << bit).find(|bit| print(*bit) == name);
    let names = names.as_str().expect("names").split(" | ");
    let names = names.filter(|name| !name.is_empty());
    names.fold(0, |all, name| all | named(name).expect("a bit's name"))
}

fn stages(names: &Value) -> S {
    S::from_raw(bits(names, |bit| format!("{:?}", S::from_raw(bit))))
}

fn access_types(names: &Value) -> A {
    A::from_raw(bits(names, |bit| format!("{:?}", A::from_raw(bit))))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn number(value: &Value) -> u64 {
    value.as_u64().expect("a number")
}

/// A program, with the resources added so far. Every queue has separate tile memory.
struct Replay<'a> {
    facts: &'a Value,
    model: Model,
    ids: HashMap<(String, u64), ResourceId>,
}

impl Replay<'_> {
    /// An image by its name: in tile memory, or in its own ordinary memory.
    fn image(&mut self, name: &Value, queue: u64) -> ResourceId {
        let name = name.as_str().expect("a name").to_owned();
        let place: Vec<u64> = list(&self.facts["tile"][&name]).iter().map(number).collect();
        let (memory, first, end) = match place[..] {
            [first, end] => (queue, first, end),
            _ => (
                100 + name.bytes().fold(0, |all, byte| all << 5 ^ u64::from(byte)),
                0,
                1,
            ),
        };
        let key = (name, if place.is_empty() { 0 } else { queue });
        let model = &mut self.model;
        let add = || {
            let id = model.add(Resource {
                memory: MemoryId(memory),
                first,
                end,
                tiling: Tiling::Optimal(texels()),
                alias_of: None,
                sharing: SharingMode::Concurrent,
            });
            model.assume_written(id);
            id
        };
        *self.ids.entry(key).or_insert_with(add)
    }

    fn access(
        &mut self,
        (name, queue): (&Value, u64),
        (stage, access): (S, A),
        kind: AccessKind,
    ) -> MemoryAccess {
        MemoryAccess {
            resource: self.image(name, queue),
            part: ResourcePart::Texels(texels()),
            stage,
            access,
            kind,
            discards: false,
        }
    }

    fn dependency(&mut self, one: &Value, queue: u64) -> Dependency {
        let (extent, change) = match &one["on"] {
            Value::Null => (DependencyMemory::All, BarrierChange::None),
            name => {
                let part = DependencyMemory::Part(self.image(name, queue), ResourcePart::Texels(texels()));
                let families: Vec<u64> = list(&one["families"]).iter().map(number).collect();
                let change = match (&families[..], &one["layouts"]) {
                    ([from, to], _) => BarrierChange::Family {
                        from: *from as u32,
                        to: *to as u32,
                    },
                    (_, Value::Null) => BarrierChange::None,
                    (_, layouts) => BarrierChange::Layout {
                        discards: layouts[0] == "UNDEFINED",
                    },
                };
                (part, change)
            }
        };
        Dependency {
            scopes: DependencyScopes {
                src: stages(&one["src"]),
                src_access: access_types(&one["srcAccess"]),
                dst: stages(&one["dst"]),
                dst_access: access_types(&one["dstAccess"]),
            },
            memory: extent,
            change,
        }
    }

    fn commands(&mut self, commands: &Value, queue: u64) -> CommandBuffer {
        let color = |writes: bool| {
            let access = [A::COLOR_ATTACHMENT_READ, A::COLOR_ATTACHMENT_WRITE][usize::from(writes)];
            (S::COLOR_ATTACHMENT_OUTPUT, access)
        };
        let (mut all, mut stored) = (Vec::new(), Vec::new());
        for command in list(commands) {
            match command["command"].as_str().expect("a command") {
                "barrier" => {
                    let dependencies = list(&command["dependencies"]).iter();
                    let dependencies = dependencies.map(|one| self.dependency(one, queue));
                    all.push(Command::Barrier(dependencies.collect()));
                }
                "begin" => {
                    let (resumes, pass) = (false, Arc::default());
                    all.push(Command::BeginRendering { resumes, pass });
                    let mut loads = Vec::new();
                    for one in list(&command["attachments"]) {
                        let load = color(one[1] != "LOAD");
                        loads.push(self.access((&one[0], queue), load, AccessKind::Load));
                        stored.push(self.access((&one[0], queue), color(true), AccessKind::Store));
                    }
                    all.push(Command::Action(loads));
                }
                "end" => {
                    all.push(Command::Action(std::mem::take(&mut stored)));
                    all.push(Command::EndRendering);
                }
                _ => {
                    let accesses = list(&command["accesses"]).iter().map(|one| {
                        let side = (stages(&one[1]), access_types(&one[2]));
                        self.access((&one[0], queue), side, AccessKind::Whole)
                    });
                    all.push(Command::Action(accesses.collect()));
                }
            }
        }
        let commands = (0..).map(Tag).zip(all).collect();
        CommandBuffer { commands }
    }
}

fn texels() -> Texels {
    let one = Run::new(0, 1);
    Texels {
        aspects: vk::ImageAspectFlags::COLOR,
        levels: one,
        layers: one,
        area: None,
    }
}

/// The certain hazards of a recorded program.
fn replay(name: &str) -> Vec<Hazard> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/order");
    let text = std::fs::read_to_string(format!("{folder}/{name}.json")).expect("a recording");
    let facts: Value = serde_json::from_str(&text).expect("JSON");
    let mut replay = Replay {
        facts: &facts,
        model: Model::new(1),
        ids: HashMap::new(),
    };
    for semaphore in 0..8 {
        replay.model.create_timeline(SemaphoreId(semaphore), 0);
    }
    let mut hazards = Vec::new();
    let submits = list(&facts["submits"]).iter();
    let batches =
        submits.flat_map(|submit| list(&submit["batches"]).iter().map(move |batch| (submit, batch)));
    for (index, (submit, given)) in (0..).zip(batches) {
        let queue = number(&submit["queue"]) + 1;
        let uses = |uses: &Value| {
            let one = |one: &Value| SemaphoreUse {
                semaphore: SemaphoreId(number(&one[0])),
                value: number(&one[1]),
                stages: stages(&one[2]),
            };
            list(uses).iter().map(one).collect()
        };
        let command_buffers = list(&given["commands"]).iter();
        let command_buffers = command_buffers.map(|commands| Arc::new(replay.commands(commands, queue)));
        let batch = Batch {
            number: index,
            queue: QueueId(queue),
            family: number(&submit["family"]) as u32,
            command_buffers: command_buffers.collect(),
            waits: uses(&given["waits"]),
            signals: uses(&given["signals"]),
            fence: None,
        };
        hazards.extend(replay.model.step(&HostStep::Submit(batch)).hazards);
    }
    hazards.retain(|hazard| hazard.verdict == Certainty::Certain);
    hazards
}

#[test]
fn an_image_takes_over_bytes_that_fragment_shaders_read() {
    for name in ["two_plans_on_one_queue", "two_declared_queues_are_one"] {
        let hazards = replay(name);
        let is_it = |hazard: &Hazard| {
            let after_fragments =
                matches!(hazard.before.action, Action::Access(stage, _) if stage == S::FRAGMENT_SHADER);
            after_fragments && hazard.before.resource != hazard.after.resource
        };
        assert!(hazards.iter().any(is_it), "{name}: {hazards:#?}");
    }
}

#[test]
fn a_semaphore_with_narrow_stages_does_not_order_a_queue_family_transfer() {
    let hazards = replay("narrow_family_transfer");
    let actions: Vec<[Action; 2]> = hazards
        .iter()
        .map(|hazard| [hazard.before.action, hazard.after.action])
        .collect();
    assert_eq!(actions, [[Action::Release, Action::Acquire]], "{hazards:#?}");
}
