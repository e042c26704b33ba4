//! Replays recorded programs: `tests/data/order`.

use std::sync::Arc;

use ash::vk;
use ash::vk::Handle;
use serde_json::Value;
use vk::{AccessFlags2 as A, PipelineStageFlags2 as S};

use super::log::{Access, AccessKind, Change, Dependency, Log, Memory, Recorded};
use super::record::Hazard;
use super::scopes::Usage;
use super::submits::{Order, OrderedBatch};
use crate::model::objects::Object;
use crate::model::position::{Position, Submit};

/// The bits of a mask by their names, as ash prints them.
fn bits(names: &Value, print: impl Fn(u64) -> String) -> u64 {
    let named = |name: &str| (0..u64::BITS).map(|bit| 1 << bit).find(|bit| print(*bit) == name);
    let names = names
        .as_str()
        .expect("names")
        .split(" | ")
        .filter(|name| !name.is_empty());
    names.fold(0, |all, name| all | named(name).expect("a bit's name"))
}

fn stages(names: &Value) -> S {
    S::from_raw(bits(names, |bit| format!("{:?}", S::from_raw(bit))))
}

fn access(names: &Value) -> A {
    A::from_raw(bits(names, |bit| format!("{:?}", A::from_raw(bit))))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A resource by its name, and its bytes of tile memory.
fn resource(facts: &Value, name: &Value) -> (Object, Option<(u64, u64)>) {
    let name = name.as_str().expect("a name");
    let handle = name.bytes().fold(1, |all, byte| all << 5 ^ u64::from(byte));
    let mut place = list(&facts["tile"][name]).iter().filter_map(Value::as_u64);
    (
        Object(vk::ObjectType::IMAGE, handle),
        place.next().zip(place.next()),
    )
}

fn dependency(facts: &Value, one: &Value) -> Dependency {
    let mut dependency = Dependency {
        src: stages(&one["src"]),
        src_access: access(&one["srcAccess"]),
        dst: stages(&one["dst"]),
        dst_access: access(&one["dstAccess"]),
        memory: Memory::All,
        change: Change::None,
    };
    if !one["on"].is_null() {
        let (object, place) = resource(facts, &one["on"]);
        dependency.memory = place.map_or(Memory::None, |(first, end)| Memory::Bytes(first, end));
        let families: Vec<_> = list(&one["families"]).iter().filter_map(Value::as_u64).collect();
        dependency.change = match (families[..].first(), place) {
            (Some(from), _) => Change::Family(object, *from as u32, families[1] as u32),
            (None, Some(_)) if !one["layouts"].is_null() => Change::Layout(object),
            _ => Change::None,
        };
    }
    dependency
}

fn log(facts: &Value, commands: &Value) -> Arc<Log> {
    let (mut recorded, mut at) = (Recorded::new(true), Position::default());
    let color = |name: &Value, writes: bool| {
        let access = [A::COLOR_ATTACHMENT_READ, A::COLOR_ATTACHMENT_WRITE][usize::from(writes)];
        let usage = Usage::of(S::COLOR_ATTACHMENT_OUTPUT, access);
        (name.clone(), usage, AccessKind::Attachment)
    };
    let mut stored = Vec::new();
    for command in list(commands) {
        let mut uses = Vec::new();
        match command["command"].as_str().expect("a command") {
            "barrier" => {
                let dependencies = list(&command["dependencies"])
                    .iter()
                    .map(|one| dependency(facts, one));
                recorded.barrier(dependencies, &[], &at);
            }
            "begin" => {
                at.act("vkCmdBeginRendering");
                recorded.begin_subpass();
                let attachments = list(&command["attachments"]);
                uses.extend(attachments.iter().map(|one| color(&one[0], one[1] != "LOAD")));
                stored = attachments.iter().map(|one| color(&one[0], true)).collect();
            }
            "end" => {
                at.act("vkCmdEndRendering");
                uses.append(&mut stored);
            }
            name => {
                let known = ["vkCmdDispatch", "vkCmdDraw"];
                at.act(known[usize::from(name == "vkCmdDraw")]);
                let one = |one: &Value| {
                    let usage = Usage::of(stages(&one[1]), access(&one[2]));
                    (one[0].clone(), usage, AccessKind::Whole)
                };
                uses.extend(list(&command["accesses"]).iter().map(one));
            }
        }
        let accesses = uses.into_iter().filter_map(|(name, usage, kind)| {
            let (object, place) = resource(facts, &name);
            Some(Access::new(object, place?, usage.expect("a usage"), kind))
        });
        let accesses = recorded.list(accesses.collect());
        recorded.access(accesses, &at);
        if command["command"] == "end" {
            recorded.end_subpass();
        }
    }
    recorded.freeze()
}

/// What lacks order in a recorded program.
fn replay(name: &str) -> Vec<Hazard> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/order");
    let text = std::fs::read_to_string(format!("{folder}/{name}.json")).expect("a recording");
    let facts: Value = serde_json::from_str(&text).expect("JSON");
    let (mut order, mut hazards) = (Order::default(), Vec::new());
    (0..8).for_each(|semaphore| order.create_timeline(vk::Semaphore::from_raw(semaphore + 1), 0));
    for (number, submit) in list(&facts["submits"]).iter().enumerate() {
        for (batch, given) in list(&submit["batches"]).iter().enumerate() {
            let uses = |uses: &Value| {
                let one = |one: &Value| {
                    let semaphore = vk::Semaphore::from_raw(one[0].as_u64().expect("an index") + 1);
                    (semaphore, one[1].as_u64().expect("a value"), stages(&one[2]))
                };
                list(uses).iter().map(one).collect()
            };
            let queue = submit["queue"].as_u64().expect("an index") + 1;
            let commands = list(&given["commands"]).iter();
            hazards.extend(order.submit(OrderedBatch {
                family: submit["family"].as_u64().expect("an index") as u32,
                window: (number * 16 + batch) as u64,
                waits: uses(&given["waits"]),
                logs: commands.map(|commands| log(&facts, commands)).collect(),
                signals: uses(&given["signals"]),
                ..OrderedBatch::empty(Submit {
                    number: number as u64,
                    batch,
                    queue,
                })
            }));
        }
    }
    hazards
}

/// The resources and stages of a hazard.
fn told(hazard: &Hazard) -> String {
    let [before, after] = [hazard.before, hazard.after].map(|done| done.usage.stages());
    format!("[{}, {}) {before:?} {after:?}", hazard.first, hazard.end)
}

#[test]
fn what_the_first_version_did_lacks_order() {
    for name in ["two_plans_on_one_queue", "two_declared_queues_are_one"] {
        let hazards: Vec<_> = replay(name).iter().map(told).collect();
        println!("{name}: {hazards:#?}");
        // The image that compute shaders write takes over the bytes that fragment shaders read.
        assert!(
            hazards.iter().any(|hazard| hazard.contains("FRAGMENT_SHADER")),
            "{name}"
        );
    }
    let hazards = replay("narrow_family_transfer");
    assert_eq!(hazards.len(), 1);
    assert_eq!(
        (hazards[0].before.usage, hazards[0].after.usage),
        (Usage::BARRIER, Usage::BARRIER)
    );
}
