//! The details of a finding in words: both commands, the bytes or texels that they access, and the missing dependency.

use ash::vk;
use tileheap::frame::SubresourceRange;
use tileheap::names::{Vocabulary, bit_names, name_of};
use tileheap::units::Run;
use tileheap_capture::check::finding::{Action, Finding, Overlap, Problem, ResourceUse};
use tileheap_capture::document::recording::ResourcePart;

/// A label and its text.
pub(super) type Row = (&'static str, String);

/// Returns true if two resources share the memory that both commands access.
pub(super) fn is_alias(finding: &Finding) -> bool {
    matches!(finding.overlap, Overlap::Memory { .. })
}

/// Puts a text from the captured program on one line: control characters become spaces.
pub(super) fn clean(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

/// A layout without its prefix: `SHADER_READ_ONLY_OPTIMAL`.
pub(super) fn layout(layout: vk::ImageLayout) -> String {
    let name = name_of(layout);
    name.strip_prefix("VK_IMAGE_LAYOUT_").unwrap_or(&name).to_owned()
}

/// Bits without prefix and suffix: `VERTEX_SHADER | FRAGMENT_SHADER`; `NONE` for none.
fn bits<T: Vocabulary>(flags: T, prefix: &str) -> String {
    let short = |name: &String| {
        let name = name.strip_prefix(prefix).unwrap_or(name);
        match name.rsplit_once("_BIT") {
            Some((stem, vendor)) => format!("{stem}{vendor}"),
            None => name.to_owned(),
        }
    };
    let names: Vec<String> = bit_names(flags).iter().map(short).collect();
    if names.is_empty() {
        return "NONE".to_owned();
    }
    names.join(" | ")
}

/// Stages without prefix and suffix: `VERTEX_SHADER | FRAGMENT_SHADER`.
pub(super) fn stages(stages: vk::PipelineStageFlags2) -> String {
    bits(stages, "VK_PIPELINE_STAGE_2_")
}

fn accesses(accesses: vk::AccessFlags2) -> String {
    bits(accesses, "VK_ACCESS_2_")
}

/// The stages and accesses of one scope, such as `BLIT, TRANSFER_WRITE`; only the stages if there are no accesses.
pub(super) fn scope(scope: (vk::PipelineStageFlags2, vk::AccessFlags2)) -> String {
    match scope {
        (stage, access) if access.is_empty() => stages(stage),
        (stage, access) => format!("{}, {}", stages(stage), accesses(access)),
    }
}

/// The position of a command: ``command 12 of `post` ``, or the name of a host call.
pub(super) fn position(one: &ResourceUse) -> String {
    match &*one.command_buffer {
        "" => format!("`{}`", clean(&one.call)),
        name => format!("command {} of `{}`", one.number, clean(name)),
    }
}

/// A command with its context and its action; includes the description of the resource if `is_new` is true.
pub(super) fn command(one: &ResourceUse, is_new: bool) -> String {
    let mut context = Vec::new();
    if one.submission > 0 {
        context.push(format!("submission {}", one.submission));
    }
    if !one.secondary.is_empty() {
        context.push(format!("secondary command buffer `{}`", clean(&one.secondary)));
    }
    if !one.label.is_empty() {
        context.push(format!("label `{}`", clean(&one.label)));
    }
    let context = match &*context.join(", ") {
        "" => String::new(),
        context => format!(" ({context})"),
    };
    let resource = match &*one.description {
        description if is_new && !description.is_empty() => {
            format!("`{}` ({})", clean(&one.resource), clean(description))
        }
        _ => format!("`{}`", clean(&one.resource)),
    };
    let action = match one.action {
        Action::Read { stage, access } => format!("reads {resource} at {}", scope((stage, access))),
        Action::Write { stage, access } => format!("writes {resource} at {}", scope((stage, access))),
        Action::Transition => format!("changes the layout of {resource}"),
        Action::Release => format!("releases {resource} to another queue family"),
        Action::Acquire => format!("acquires {resource} from another queue family"),
        Action::Present => format!("the presentation engine reads {resource}"),
    };
    format!("{}{context}: {action}", position(one))
}

/// The memory that both commands access.
pub(super) fn overlap(finding: &Finding) -> String {
    match &finding.overlap {
        Overlap::Resource(ResourcePart::Bytes(first, end)) => format!("bytes [{first}, {end})"),
        Overlap::Resource(ResourcePart::Texels { range, area }) => texels(*range, *area),
        Overlap::Memory { memory, first, end } => {
            let bytes = format!("bytes [{first}, {end}) of memory {memory}");
            match &finding.first {
                Some(other) => format!(
                    "{bytes}, which `{}` and `{}` share",
                    clean(&other.resource),
                    clean(&finding.second.resource)
                ),
                None => bytes,
            }
        }
    }
}

/// Texels in words: `level 2, layer 0, x [0, 480), y [0, 270)`. The aspect is named unless it is color.
fn texels(range: SubresourceRange, area: Option<[[u32; 2]; 2]>) -> String {
    let run = |what: &str, run: Run| match (run.first, run.end) {
        (0, 0) => format!("all {what}s"),
        (first, end) if first + 1 == end => format!("{what} {first}"),
        (first, end) => format!("{what}s [{first}, {end})"),
    };
    let mut parts = Vec::new();
    let is_color = (vk::ImageAspectFlags::COLOR | vk::ImageAspectFlags::NONE).contains(range.aspects);
    if !is_color {
        let aspects = bits(range.aspects, "VK_IMAGE_ASPECT_").to_lowercase();
        let plural = if aspects.contains('|') { "s" } else { "" };
        parts.push(format!("{} aspect{plural}", aspects.replace(" | ", " and ")));
    }
    parts.extend([run("level", range.levels), run("layer", range.layers)]);
    match area {
        Some([[left, right], [top, bottom]]) => {
            parts.push(format!("x [{left}, {right}), y [{top}, {bottom})"));
        }
        None => parts.push("all texels".to_owned()),
    }
    parts.join(", ")
}

/// The missing dependency between the two commands, or the reason why contents are undefined.
pub(super) fn cause(finding: &Finding) -> Row {
    let first = finding.first.as_ref().map(|first| first.action);
    let second = finding.second.action;
    let from = || first.map_or_else(|| "earlier work".to_owned(), operation);
    match finding.problem {
        Problem::Unordered => ("missing", dependency(first, second)),
        Problem::NotAvailable => {
            let text = format!(
                "an availability operation for {}; the two are already ordered",
                from()
            );
            ("missing", text)
        }
        Problem::NotVisible => {
            let to = operation(second);
            let text = format!("a visibility operation for {to}; the write is already available");
            ("missing", text)
        }
        Problem::NeverWritten => {
            let text = "no command wrote the contents after the resource was created";
            ("cause", text.to_owned())
        }
        Problem::Discarded => ("cause", discard(first).to_owned()),
        Problem::Overwritten => {
            let text = "the two resources interpret the shared bytes differently: a write through one makes the other undefined";
            ("cause", text.to_owned())
        }
        Problem::WrittenThrough => {
            let text = "the two resources interpret the shared bytes alike, so this may be intended";
            ("cause", text.to_owned())
        }
        Problem::NotTransferred { from, to } => {
            let text = format!(
                "a transfer of ownership: a release on queue family {from} and an acquire on queue family {to}"
            );
            ("missing", text)
        }
        Problem::Layout { is, .. } if second == Action::Transition => {
            let before = before_transition(&finding.second);
            let is = layout(is);
            let text = format!(
                "the {before} must be the current layout of the image ({is}), or UNDEFINED to discard its contents"
            );
            ("cause", text)
        }
        Problem::Layout { is, expected } => {
            let text = format!("a transition from {} to {}", layout(is), layout(expected));
            ("missing", text)
        }
    }
}

/// The missing dependency between two unordered operations.
fn dependency(first: Option<Action>, second: Action) -> String {
    match (first, second) {
        (None, second) => format!(
            "an execution dependency from earlier work to {}",
            operation(second)
        ),
        (Some(Action::Transition), Action::Transition) => {
            "a memory dependency between the two layout transitions".to_owned()
        }
        // After a read, only the order matters, and the access of a write is irrelevant.
        (Some(Action::Read { stage, .. }), Action::Write { stage: later, .. }) => {
            format!(
                "an execution dependency from {} to {}",
                stages(stage),
                stages(later)
            )
        }
        (Some(Action::Read { stage, .. }), second) => {
            format!(
                "an execution dependency from {} to {}",
                stages(stage),
                operation(second)
            )
        }
        (Some(Action::Present), second) => {
            format!(
                "an execution dependency from the presentation engine to {}",
                operation(second)
            )
        }
        (Some(first), second) => {
            format!(
                "a memory dependency from {} to {}",
                operation(first),
                operation(second)
            )
        }
    }
}

/// Reason why contents that an operation touched are undefined.
fn discard(action: Option<Action>) -> &'static str {
    match action {
        Some(Action::Transition) => "a layout transition from UNDEFINED discards contents",
        Some(Action::Read { .. } | Action::Write { .. }) => {
            "a load or store operation of DONT_CARE discards contents"
        }
        _ => "the contents were discarded",
    }
}

/// An access or operation at one end of a dependency.
fn operation(action: Action) -> String {
    match action {
        Action::Read { stage, access } | Action::Write { stage, access } => scope((stage, access)),
        Action::Transition => "the layout transition".to_owned(),
        Action::Release => "the release".to_owned(),
        Action::Acquire => "the acquire".to_owned(),
        Action::Present => "the presentation engine".to_owned(),
    }
}

/// The term for an image's layout before a transition: `initial layout` in a render pass, `old layout` in a barrier.
pub(super) fn before_transition(one: &ResourceUse) -> &'static str {
    match is_of_render_pass(one) {
        true => "initial layout",
        false => "old layout",
    }
}

/// Returns true if a render pass, and not a barrier, changes the layout of an image.
pub(super) fn is_of_render_pass(one: &ResourceUse) -> bool {
    let calls = ["vkCmdBeginRenderPass", "vkCmdNextSubpass", "vkCmdEndRenderPass"];
    calls.iter().any(|call| one.call.starts_with(call))
}
