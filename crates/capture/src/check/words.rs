//! Descriptions of resources, commands and unknowns.

use tileheap::names::{self, Vocabulary};
use tileheap::units::Bytes;

use crate::document::recording::{Recording, Resource, ResourceKind};

/// Describes the format and the size of a resource: `R16G16B16A16_SFLOAT, 1920x1080, 7 levels`.
pub(super) fn description(resource: &Resource) -> String {
    match resource.kind {
        ResourceKind::Buffer { size } => format!("buffer, {:#}", Bytes(size)),
        ResourceKind::Image {
            format,
            extent: [width, height, depth],
            levels,
            layers,
            is_3d,
            ..
        } => {
            let mut words = format!("{}, {width}x{height}", short(format));
            if is_3d {
                words += &format!("x{depth}");
            }
            for (count, what) in [(levels, "levels"), (layers, "layers")] {
                if count > 1 {
                    words += &format!(", {count} {what}");
                }
            }
            words
        }
    }
}

/// Returns the name of a value without the prefix `VK_FORMAT_`, if it has that.
fn short<T: Vocabulary>(value: T) -> String {
    let name = names::name_of(value);
    match name.strip_prefix("VK_FORMAT_") {
        Some(rest) => rest.to_owned(),
        None => name,
    }
}

/// Describes a command by its position.
pub(super) fn command(recording: &Recording, buffer: usize, index: usize) -> String {
    let buffer = &recording.command_buffers[buffer];
    let command = &buffer.commands[index];
    format!(
        "`{}`, command {} of `{}`",
        command.call, command.number, buffer.name
    )
}

/// Unknown: the elements of their resources that two commands access.
pub(super) fn elements(first: &str, second: &str) -> String {
    match first == second {
        true => format!("which elements of `{first}` the two commands access"),
        false => format!("which elements of `{first}` and `{second}` the two commands access"),
    }
}

/// Unknown: the elements of a resource that a command accesses.
pub(super) fn some_elements(call: &str, resource: &str) -> String {
    format!("which elements of `{resource}` are accessed by `{call}`")
}

/// Unknown: whether a command makes an access.
pub(super) fn shader(call: &str, resource: &str) -> String {
    format!("whether `{call}` accesses `{resource}`: its shaders may skip the access, or not run at all")
}

/// Unknown: whether a copy of query results writes anything.
pub(super) fn results(call: &str, resource: &str) -> String {
    format!("whether `{call}` writes `{resource}`: it does not wait for the query results")
}

/// Unknown: whether depth and stencil tests access an attachment.
pub(super) fn tests(call: &str, resource: &str) -> String {
    format!("whether `{call}` tests or writes `{resource}`: its depth and stencil state was not recorded")
}

/// Unknown: whether draws write an attachment that is not stored.
pub(super) fn mask(call: &str, resource: &str) -> String {
    format!(
        "whether `{call}` writes `{resource}`, which is not stored: its color write masks were not recorded"
    )
}

/// Unknown: the bytes of the texels of a linear image that shares memory.
pub(super) fn texels(resource: &str) -> String {
    format!("which bytes the texels of `{resource}` occupy")
}

/// Unknown: whether something outside of the recording orders two commands.
pub(super) const OUTSIDE: &str =
    "whether an unrecorded signal from the host, another device or another process orders the commands";

/// Unknown: whether accesses to an attachment are ordered if draws of the same subpass read it.
pub(super) const RASTERIZATION_ORDER: &str =
    "whether the pipelines order accesses to attachments (VK_EXT_rasterization_order_attachment_access)";

/// Unknown: whether an image was acquired again after it was presented.
pub(super) fn presented(resource: &str) -> String {
    format!("whether `{resource}` was acquired again in a call that was not recorded")
}

/// Unknown: whether the undefined contents of an attachment that is loaded or resolved are used.
pub(super) fn attachment(resource: &str) -> String {
    format!("whether the undefined contents of `{resource}` are used: draws may cover them")
}

/// Unknown: the other half of a queue family ownership transfer.
pub(super) const TRANSFER: &str = "where the other half of the queue family ownership transfer is";

/// Unknown: whether a read through another resource that interprets the bytes in the same way is intended.
pub(super) const INTENT: &str =
    "whether reading contents that were written through the other resource is intended";

/// Unknown: the accessed elements of contents that were written only in part, or by an access to unknown elements.
pub(super) fn contents(resource: &str) -> String {
    format!("which elements of `{resource}` are accessed")
}

/// Unknown: whether anything uses undefined contents that are copied.
pub(super) fn copied(resource: &str) -> String {
    format!("whether anything uses the undefined contents that are copied from `{resource}`")
}

/// The text of the entry for attachments that have no contents before a render pass loads them; it follows a number.
pub(super) const FIRST_LOADS: &str =
    "attachments are loaded with undefined contents: whether draws cover them is unknown";

/// The text of the entry for descriptors that shaders may leave unused; it follows a number.
pub(super) const UNWRITTEN: &str = "descriptors refer to resources that no recorded command has written: whether the shaders read them is unknown";

/// The text of the entry for accesses between which no barrier is possible; it follows a number.
pub(super) const FRAGMENTS: &str = "accesses in fragment shaders may conflict with accesses by another draw of the same subpass: whether the elements are the same is unknown";
