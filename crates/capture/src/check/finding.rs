//! Findings, as printed and written by `check-frame`.

use ash::vk;
use serde::{Deserialize, Serialize};
use tileheap::names;
use tileheap_json::is_default;

use crate::document::recording::{DependencyScopes, ResourcePart};

/// The result of checking a recording.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CheckReport {
    /// The number of submitted command buffers.
    pub command_buffers: u64,
    /// The number of submitted commands.
    pub commands: u64,
    /// Number of accesses that were checked, including those of render passes and of the presentation engine.
    pub checked: u64,
    /// Findings: certain ones first, then pedantic ones, then possible ones, each kind in submission order.
    pub findings: Vec<Finding>,
    /// Accesses that were not checked.
    pub unchecked: Vec<UncheckedAccesses>,
}

/// A rule that the program violates, or may violate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The certainty of the finding.
    pub verdict: Certainty,
    /// The problem that was found.
    pub problem: Problem,
    /// The earlier command; `None` for contents that nothing wrote, and for a layout that no recorded command set.
    #[serde(default, skip_serializing_if = "is_default")]
    pub first: Option<ResourceUse>,
    /// The later command.
    pub second: ResourceUse,
    /// The bytes or texels that both commands access, or the texels that are in a wrong layout.
    pub overlap: Overlap,
    /// For a possible finding, a description of what is unknown.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unknown: Option<String>,
    /// The synchronization that fixes the problem; `None` if the program must change in another way.
    #[serde(default, skip_serializing_if = "is_default")]
    pub fix: Option<Fix>,
    /// The section of the Vulkan specification that states the rule.
    pub section: String,
    /// The identifier of the valid usage statement, if there is one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub vuid: Option<String>,
    /// Number of occurrences: more than 1 if a command buffer was submitted again, or if equal commands have the same problem.
    pub count: u64,
}

/// The certainty of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// The specification forbids what the program does, and contents can be wrong.
    Certain,
    /// The specification requires a dependency that no known implementation needs.
    Pedantic,
    /// The finding depends on something unknown.
    Possible,
}

/// The kind of problem that a finding reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Problem {
    /// Nothing orders the first and the second command.
    Unordered,
    /// The commands are ordered, but the first one's write is not made available.
    NotAvailable,
    /// The first command's write is available, but not made visible to the second one.
    NotVisible,
    /// The second command reads contents that nothing wrote.
    NeverWritten,
    /// The second command reads contents that the first one discarded.
    Discarded,
    /// The second command reads contents that the first one overwrote through another resource, which interprets the bytes differently.
    Overwritten,
    /// The second command reads contents that the first one wrote through another resource, which interprets the bytes in the same way. This may be
    /// intended.
    WrittenThrough,
    /// The second command reads contents that the first one wrote on another queue family, without a transfer of ownership.
    NotTransferred {
        /// The queue family that owns the contents.
        from: u32,
        /// The queue family that accesses them.
        to: u32,
    },
    /// The image is not in the layout that the command expects.
    Layout {
        /// The actual layout.
        #[serde(with = "names::value")]
        is: vk::ImageLayout,
        /// The expected layout.
        #[serde(with = "names::value")]
        expected: vk::ImageLayout,
    },
}

/// A command's use of a resource.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ResourceUse {
    /// The command, such as `vkCmdDispatch`; `vkQueuePresentKHR` and `vkAcquireNextImageKHR` for the presentation engine.
    pub call: String,
    /// The name of the command's command buffer; empty for the presentation engine.
    #[serde(default, skip_serializing_if = "is_default")]
    pub command_buffer: String,
    /// The position of the command in the command buffer, from 1; 0 for the presentation engine.
    #[serde(default, skip_serializing_if = "is_default")]
    pub number: u32,
    /// The number of the submission, from 1.
    pub submission: u64,
    /// The innermost enclosing debug label; empty if there is none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub label: String,
    /// The name of the secondary command buffer that the command was recorded in; empty for a primary one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub secondary: String,
    /// The resource's name.
    pub resource: String,
    /// The format and size of the resource, in words: `R16G16B16A16_SFLOAT, 1920x1080, 7 levels`.
    pub description: String,
    /// The action on the resource.
    pub action: Action,
}

/// A command's action on a resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Reads the resource.
    Read {
        /// The stage.
        #[serde(with = "names::bits")]
        stage: vk::PipelineStageFlags2,
        /// The access type.
        #[serde(with = "names::bits")]
        access: vk::AccessFlags2,
    },
    /// Writes the resource.
    Write {
        /// The stage.
        #[serde(with = "names::bits")]
        stage: vk::PipelineStageFlags2,
        /// The access type.
        #[serde(with = "names::bits")]
        access: vk::AccessFlags2,
    },
    /// Changes the layout of the image.
    #[default]
    Transition,
    /// Releases the resource to another queue family.
    Release,
    /// Acquires the resource from another queue family.
    Acquire,
    /// The presentation engine reads the image.
    Present,
}

/// The bytes or texels that two uses share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Overlap {
    /// Part of one resource.
    Resource(ResourcePart),
    /// Bytes of memory that two resources share.
    Memory {
        /// The index of the allocation in `Recording::memories`.
        memory: u32,
        /// The first byte.
        first: u64,
        /// The byte after the last one.
        end: u64,
    },
}

/// A fix for a finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fix {
    /// A memory barrier before the second command, or these scopes in the barrier that transitions the image.
    Barrier(DependencyScopes),
    /// A semaphore that the second batch waits for at these stages: the commands run on different queues.
    Semaphore {
        /// The stages that wait.
        #[serde(with = "names::bits")]
        stages: vk::PipelineStageFlags2,
    },
    /// A transfer of ownership: a release after the first command and an acquire before the second, in barriers with the same scopes.
    Transfer {
        /// The queue family that releases: `srcQueueFamilyIndex`.
        from: u32,
        /// The queue family that acquires: `dstQueueFamilyIndex`.
        to: u32,
        /// The scopes of both barriers.
        scopes: DependencyScopes,
    },
}

/// Accesses that were not checked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UncheckedAccesses {
    /// A description of the accesses, worded to follow a number: `commands access memory by buffer device addresses`.
    pub what: String,
    /// The number of these accesses.
    pub count: u64,
    /// A description of the first of these accesses.
    pub first: String,
    /// Names of at most eight of the resources that may be accessed; empty if any resource may be.
    #[serde(default, skip_serializing_if = "is_default")]
    pub resources: Vec<String>,
    /// The number of resources that may be accessed; 0 if any resource may be.
    #[serde(default, skip_serializing_if = "is_default")]
    pub resource_count: u64,
    /// True for a limit of every check, such as accesses of the host; false for a gap in this recording.
    #[serde(default, skip_serializing_if = "is_default")]
    pub always: bool,
}
