//! The pairs of steps that each layer reports.

use std::collections::BTreeMap;

use ash::vk::{AccessFlags2 as A, PipelineStageFlags2 as S};

use crate::device::Message;
use crate::execute::{Executed, Position};
use crate::order::Act;

/// Two steps without order between them: the one before, if it is known, and the one after.
pub(crate) type Pair = (Option<u32>, u32);

/// A conflict between two steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conflict {
    /// The accesses or transitions of both steps, the earlier one first.
    pub(crate) acts: [Act; 2],
    /// The resource that the message names, or the place of merged buffers.
    pub(crate) memory: Option<Named>,
    /// The part of a dependency that is missing, according to the layer's message.
    pub(crate) missing: Missing,
}

/// The part of a dependency that is missing between two accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    Execution,
    Availability,
    Visibility,
}

/// A name that the recordings give to objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    Place(usize),
    Resource(usize),
}

/// The conflicts of each pair; `None` if a message cannot be read.
pub(crate) type Pairs = BTreeMap<Pair, Vec<Option<Conflict>>>;

/// Pairs by verdict.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Verdicts {
    /// Hazards of synchronization validation.
    pub(crate) validation: Pairs,
    /// Certain missing order.
    pub(crate) certain: Pairs,
    /// Possible missing order.
    pub(crate) possible: Pairs,
    /// Messages of core validation, or about steps that are not in the recording.
    pub(crate) unexpected: Vec<Message>,
}

impl Verdicts {
    pub(crate) fn new(executed: &Executed) -> Verdicts {
        let mut verdicts = Verdicts::default();
        for (id, text) in &executed.messages {
            let pair = pair(executed, id, text);
            match (id.as_str(), pair) {
                ("TILEHEAP-missing-order", Some(pair)) => {
                    add(&mut verdicts.certain, pair, text, acts_of_layer(text))
                }
                ("TILEHEAP-possible-order", Some(pair)) => {
                    add(&mut verdicts.possible, pair, text, acts_of_layer(text))
                }
                // The contents of aliased buffers are written through other buffers on purpose.
                ("TILEHEAP-possible-contents", _) => {}
                (id, Some(pair)) if id.starts_with("SYNC-") => {
                    add(&mut verdicts.validation, pair, text, acts_of_validation(text));
                }
                _ => verdicts.unexpected.push((id.clone(), text.clone())),
            }
        }
        verdicts
    }
}

/// The steps that a message is about.
pub(crate) fn pair(executed: &Executed, id: &str, text: &str) -> Option<Pair> {
    match id.split('-').next() {
        Some("SYNC") => pair_of_validation(executed, text),
        Some("TILEHEAP") => pair_of_layer(executed, text),
        _ => None,
    }
}

/// The steps of the innermost debug labels. Without a prior command in the message, both accesses belong to the same command.
fn pair_of_validation(executed: &Executed, text: &str) -> Option<Pair> {
    let property = |name: &str| text.lines().find_map(|line| line.trim().strip_prefix(name));
    let step = |region: &str, command: &str| -> Option<u32> {
        let label = property(region)?.rsplit("::").next()?;
        let step = label.trim().trim_start_matches('s').parse().ok()?;
        let ends =
            property(command).is_some_and(|one| one.starts_with("vkCmdEnd") || one.starts_with("vkCmdNext"));
        match executed.ends.get(&step).filter(|_| ends) {
            Some(end) => Some(*end),
            None => executed.rows.get(&step).copied(),
        }
    };
    let after = step("debug_region = ", "command = ")?;
    let before = match property("prior_command = ") {
        Some(_) => step("prior_debug_region = ", "prior_command = "),
        None => Some(after),
    };
    Some((before, after))
}

/// The steps at the positions that the layer names.
fn pair_of_layer(executed: &Executed, text: &str) -> Option<Pair> {
    let line = |start: &str| text.lines().find_map(|line| line.trim().strip_prefix(start));
    let step = |text: &str| executed.ids.get(&position(text)?).copied();
    Some((line("cause: ").and_then(step), step(line("at: ")?)?))
}

/// The position in a sentence of the layer.
fn position(text: &str) -> Option<Position> {
    let buffer = text.split("`cb").nth(1)?.split('`').next()?.parse().ok()?;
    let number = |before: &str| -> Option<u32> {
        let rest = text.split(before).nth(1)?;
        rest.split(' ').next()?.parse().ok()
    };
    if text.contains("before the first action command") {
        Some((buffer, 0, false))
    } else if let Some(actions) = number(" after action command ") {
        Some((buffer, actions, false))
    } else {
        Some((buffer, number(", action command ")?, true))
    }
}

fn add(pairs: &mut Pairs, pair: Pair, text: &str, acts: Option<[Act; 2]>) {
    let missing = if text.contains("is not made available") {
        Missing::Availability
    } else if text.contains("is not made visible") {
        Missing::Visibility
    } else {
        Missing::Execution
    };
    let memory = named_memory(text);
    let conflict = acts.map(|acts| Conflict {
        acts,
        memory,
        missing,
    });
    pairs.entry(pair).or_default().push(conflict);
}

/// The first buffer or image that a message names.
///
/// Only counts objects of the kinds that every recording names. Validation runs without wrapped handles, and keeps the name of a destroyed object: a
/// pipeline at its address is then printed with the name of a buffer of an earlier recording.
fn named_memory(text: &str) -> Option<Named> {
    const OF_VALIDATION: [&str; 3] = ["VkBuffer ", "VkImage ", "VkImageView "];
    const OF_LAYER: [&str; 2] = ["buffer `", "image `"];
    let after = |kind: &'static str| {
        text.match_indices(kind)
            .map(move |(at, _)| (at, &text[at + kind.len()..]))
    };
    let of_validation = OF_VALIDATION
        .into_iter()
        .flat_map(after)
        .filter_map(|(at, rest)| {
            let (handle, name) = rest.split_once('[')?;
            let is_handle = handle
                .strip_prefix("0x")?
                .bytes()
                .all(|byte| byte.is_ascii_hexdigit());
            Some((at, name.split_once(']')?.0)).filter(|_| is_handle)
        });
    let of_layer = OF_LAYER
        .into_iter()
        .flat_map(after)
        .filter_map(|(at, rest)| Some((at, rest.split_once('`')?.0)));
    let memory = of_validation.chain(of_layer).filter_map(|(at, name)| {
        let (kind, number) = name.split_once(' ')?;
        let number = number.parse().ok()?;
        match kind {
            "place" => Some((at, Named::Place(number))),
            "image" | "buffer" => Some((at, Named::Resource(number))),
            _ => None,
        }
    });
    memory.min_by_key(|(at, _)| *at).map(|(_, memory)| memory)
}

/// The accesses that validation names, the earlier one first.
fn acts_of_validation(text: &str) -> Option<[Act; 2]> {
    let act = |property: &str| -> Option<Act> {
        let line = text.lines().find_map(|line| line.trim().strip_prefix(property))?;
        if line == "SYNC_IMAGE_LAYOUT_TRANSITION" {
            return Some(Act::Transition);
        }
        let (stage, access) = line.strip_suffix(')')?.split_once('(')?;
        let stage = stage.strip_prefix("VK_PIPELINE_STAGE_2_")?.strip_suffix("_BIT")?;
        let access = access.strip_prefix("VK_ACCESS_2_")?.strip_suffix("_BIT")?;
        named(stage, access)
    };
    Some([act("prior_access = ")?, act("access = ")?])
}

/// The accesses that the layer names, the earlier one first.
fn acts_of_layer(text: &str) -> Option<[Act; 2]> {
    let (first, rest) = text.split_once('\n')?;
    let cause = rest
        .lines()
        .find_map(|line| line.trim().strip_prefix("cause: "))?;
    let act = |line: &str| {
        let mut words = line.split([' ', ',']).peekable();
        let mut previous = "";
        while let Some(word) = words.next() {
            if word == "in" {
                let stage = words.peek().copied().unwrap_or_default();
                if let Some(act) = named(stage, previous) {
                    return act;
                }
            }
            previous = word;
        }
        Act::Transition
    };
    Some([act(cause), act(first)])
}

/// A stage and an access by their names without prefix and suffix.
fn named(stage: &str, access: &str) -> Option<Act> {
    let bits = || (0..63).map(|shift| 1u64 << shift);
    let stage = bits().map(S::from_raw).find(|one| format!("{one:?}") == stage)?;
    let access = bits().map(A::from_raw).find(|one| format!("{one:?}") == access)?;
    Some(Act::Access(stage, access))
}

#[test]
fn memory_is_named_by_buffers_and_images() {
    let of_pass = "writes to attachment 0 in VkRenderPass 0x7f48[image 4] subpass 0, VkImageView 0x7f50[image 2] (VkImage 0x7f60[image 2])";
    assert_eq!(named_memory(of_pass), Some(Named::Resource(2)));
    let of_buffer = "reads VkBuffer 0x7f48[place 1]. Referenced by VkDescriptorSet 0x7f50[place 0], VkPipeline 0x7f60[buffer 9].";
    assert_eq!(named_memory(of_buffer), Some(Named::Place(1)));
    let of_layer = "image `image 3` (0x7f48) is read\n    at: vkCmdDraw of command buffer `cb2` (0x7f50)\n    cause: buffer `buffer 5`";
    assert_eq!(named_memory(of_layer), Some(Named::Resource(3)));
    let without_names = "VkBuffer 0x7f48, VkPipeline 0x7f60[buffer 9], VkCommandBuffer 0x7f70[cb1]";
    assert_eq!(named_memory(without_names), None);
}
