//! A recording as plain data: resources, command buffers and submits, without Vulkan objects.
//!
//! ```text
//! place    the use of bytes: cells of a buffer, or the texels of an image
//! resource a buffer over some cells of a place, or the image of a place
//! step     a command with its number; one number is one command of one command buffer
//! ```
//! Several buffers may cover the same cells. Executed *merged*, all buffers of a place are one buffer, so that nothing is aliased; executed
//! *aliased*, each is a separate buffer in the same memory. The commands are the same.

use ash::vk::{self, AccessFlags2 as A, PipelineStageFlags2 as S};

/// Size of a cell in bytes: a dispatch of one workgroup covers it, and an image layer has the same size.
pub(crate) const CELL: u64 = 256;

/// Width and height of every image.
pub(crate) const SIDE: u32 = 8;

#[derive(Clone, Debug)]
pub(crate) struct Recording {
    pub(crate) places: Vec<Place>,
    pub(crate) resources: Vec<Resource>,
    pub(crate) command_buffers: Vec<CommandBuffer>,
    pub(crate) submits: Vec<Submit>,
    /// The number of events.
    pub(crate) events: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Memory of buffers, in cells.
    Cells(u32),
    /// Memory of one image.
    Texels(ImageKind),
    /// Parameters of indirect commands, one cell: only [`Command::Update`] writes them.
    Parameters,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ImageKind {
    /// `R8G8B8A8_UNORM` with two layers.
    Color,
    /// `R8G8B8A8_UNORM` with four samples.
    Multisampled,
    /// `D32_SFLOAT`.
    Depth,
}

impl ImageKind {
    pub(crate) fn layers(self) -> u32 {
        match self {
            ImageKind::Color => 2,
            ImageKind::Multisampled | ImageKind::Depth => 1,
        }
    }

    pub(crate) fn format(self) -> vk::Format {
        match self {
            ImageKind::Depth => vk::Format::D32_SFLOAT,
            _ => vk::Format::R8G8B8A8_UNORM,
        }
    }

    pub(crate) fn samples(self) -> vk::SampleCountFlags {
        match self {
            ImageKind::Multisampled => vk::SampleCountFlags::TYPE_4,
            _ => vk::SampleCountFlags::TYPE_1,
        }
    }

    pub(crate) fn aspect(self) -> vk::ImageAspectFlags {
        match self {
            ImageKind::Depth => vk::ImageAspectFlags::DEPTH,
            _ => vk::ImageAspectFlags::COLOR,
        }
    }
}

/// A buffer over the cells `[first, first + count)` of its place, or the image of its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resource {
    pub(crate) place: usize,
    pub(crate) first: u32,
    pub(crate) count: u32,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct CommandBuffer {
    pub(crate) steps: Vec<Step>,
    /// The inheritance of a secondary command buffer.
    pub(crate) secondary: Option<Inheritance>,
}

/// The inheritance of a secondary command buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inheritance {
    /// Outside of render pass instances.
    Outside,
    /// In this subpass of the render pass instance that begins with this step.
    Inside { begin: u32, subpass: u32 },
}

/// A submit with a single batch.
#[derive(Clone, Debug)]
pub(crate) struct Submit {
    /// A primary command buffer; several submits of one command buffer are simultaneous uses.
    pub(crate) command_buffer: usize,
    /// The previous batch signals a semaphore, for which this one waits at these stages.
    pub(crate) waits_at: Option<S>,
    /// The host waits for it.
    pub(crate) is_waited_for: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// Its number in the recording.
    pub(crate) id: u32,
    pub(crate) command: Command,
}

/// Cells of a buffer: `first` counts from the beginning of the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cells {
    pub(crate) buffer: usize,
    pub(crate) first: u32,
    pub(crate) count: u32,
}

/// A layer of an image, in a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layer {
    pub(crate) image: usize,
    pub(crate) layer: u32,
    pub(crate) layout: vk::ImageLayout,
}

/// Rows `[first, first + count)` of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rows {
    pub(crate) first: u32,
    pub(crate) count: u32,
}

#[derive(Clone, Debug)]
pub(crate) enum Command {
    Fill(Cells),
    /// `vkCmdUpdateBuffer`.
    Update(Cells),
    CopyBuffer {
        from: Cells,
        to: Cells,
    },
    CopyToImage {
        from: Cells,
        to: Layer,
        rows: Rows,
    },
    CopyFromImage {
        from: Layer,
        to: Cells,
        rows: Rows,
    },
    CopyImage {
        from: Layer,
        to: Layer,
        rows: Rows,
    },
    Blit {
        from: Layer,
        to: Layer,
    },
    ClearImage(Layer),
    ResolveImage {
        from: Layer,
        to: Layer,
    },
    Dispatch {
        bindings: Vec<Binding>,
        parameters: Option<usize>,
    },
    BeginPass(Pass),
    Draw(Draw),
    /// `vkCmdClearAttachments` of the first color attachment.
    ClearAttachment,
    NextSubpass {
        secondaries: bool,
    },
    EndPass,
    Execute(usize),
    Barrier(Barrier),
    SetEvent {
        event: usize,
        barrier: Barrier,
    },
    WaitEvent {
        event: usize,
        barrier: Barrier,
    },
}

/// The use of a descriptor by a shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Use {
    /// Reads a uniform buffer.
    Uniform,
    /// Reads a storage buffer.
    Read,
    /// Writes a storage buffer.
    Write,
    /// Reads and writes a storage buffer.
    Modify,
    /// Fetches texels of a sampled image.
    Sample,
    /// Writes a storage image.
    Store,
    /// Reads a storage image.
    Load,
    /// Reads an input attachment.
    Input,
}

impl Use {
    pub(crate) fn writes(self) -> bool {
        matches!(self, Use::Write | Use::Modify | Use::Store)
    }

    pub(crate) fn access(self) -> A {
        match self {
            Use::Uniform => A::UNIFORM_READ,
            Use::Read | Use::Load => A::SHADER_STORAGE_READ,
            Use::Write | Use::Store => A::SHADER_STORAGE_WRITE,
            Use::Modify => A::SHADER_STORAGE_READ | A::SHADER_STORAGE_WRITE,
            Use::Sample => A::SHADER_SAMPLED_READ,
            Use::Input => A::INPUT_ATTACHMENT_READ,
        }
    }

    pub(crate) fn descriptor(self) -> vk::DescriptorType {
        match self {
            Use::Uniform => vk::DescriptorType::UNIFORM_BUFFER,
            Use::Read | Use::Write | Use::Modify => vk::DescriptorType::STORAGE_BUFFER,
            Use::Sample => vk::DescriptorType::SAMPLED_IMAGE,
            Use::Store | Use::Load => vk::DescriptorType::STORAGE_IMAGE,
            Use::Input => vk::DescriptorType::INPUT_ATTACHMENT,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Binding {
    pub(crate) used: Use,
    pub(crate) target: Target,
}

/// One cell of a buffer, or a layer of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Cells(Cells),
    Layer(Layer),
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Draw {
    pub(crate) bindings: Vec<Binding>,
    pub(crate) vertices: Option<Cells>,
    pub(crate) indices: Option<Cells>,
    pub(crate) parameters: Option<usize>,
}

/// A render pass instance, whole images.
#[derive(Clone, Debug)]
pub(crate) struct Pass {
    /// Dynamic rendering, which has one subpass and no dependencies.
    pub(crate) is_dynamic: bool,
    pub(crate) attachments: Vec<Attachment>,
    pub(crate) subpasses: Vec<Subpass>,
    pub(crate) dependencies: Vec<Dependency>,
    /// The first subpass is recorded in secondary command buffers.
    pub(crate) secondaries: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Attachment {
    /// The layer, in its layout before the pass.
    pub(crate) layer: Layer,
    pub(crate) kind: ImageKind,
    pub(crate) load: vk::AttachmentLoadOp,
    pub(crate) store: vk::AttachmentStoreOp,
    pub(crate) final_layout: vk::ImageLayout,
}

/// Attachments by index, with their layouts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Subpass {
    pub(crate) colors: Vec<(usize, vk::ImageLayout)>,
    /// Resolves of all color attachments, or none.
    pub(crate) resolves: Vec<(usize, vk::ImageLayout)>,
    pub(crate) inputs: Vec<(usize, vk::ImageLayout)>,
    pub(crate) depth: Option<(usize, vk::ImageLayout)>,
}

/// A subpass dependency; `None` is `VK_SUBPASS_EXTERNAL`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dependency {
    pub(crate) from: Option<u32>,
    pub(crate) to: Option<u32>,
    pub(crate) masks: Masks,
    pub(crate) by_region: bool,
}

/// Stages and accesses of a dependency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Masks {
    pub(crate) source: (S, A),
    pub(crate) destination: (S, A),
}

#[derive(Clone, Debug)]
pub(crate) struct Barrier {
    /// `vkCmdPipelineBarrier2`, `vkCmdSetEvent2`, `vkCmdWaitEvents2`; otherwise the first versions, whose stages are those of all members.
    pub(crate) second: bool,
    pub(crate) members: Vec<Member>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub(crate) scope: Scope,
    pub(crate) masks: Masks,
}

/// The memory that a barrier's access scopes are limited to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    Memory,
    Buffer(Cells),
    /// Layers `[first, first + count)`, with a layout transition if the layouts differ.
    Image {
        image: usize,
        first: u32,
        count: u32,
        from: vk::ImageLayout,
        to: vk::ImageLayout,
    },
}

impl Recording {
    /// All steps, with their command buffers.
    pub(crate) fn steps(&self) -> impl Iterator<Item = (usize, &Step)> {
        let buffers = self.command_buffers.iter().enumerate();
        buffers.flat_map(|(index, buffer)| buffer.steps.iter().map(move |step| (index, step)))
    }

    /// The step with this number: its command buffer and position.
    pub(crate) fn find(&self, id: u32) -> Option<(usize, usize)> {
        self.command_buffers
            .iter()
            .enumerate()
            .find_map(|(index, buffer)| {
                let at = buffer.steps.iter().position(|step| step.id == id)?;
                Some((index, at))
            })
    }

    /// Returns `true` if a step changes the layout of an image by a barrier.
    pub(crate) fn changes_layout(&self, id: u32) -> bool {
        let Some((buffer, at)) = self.find(id) else {
            return false;
        };
        match &self.command_buffers[buffer].steps[at].command {
            Command::Barrier(barrier) | Command::WaitEvent { barrier, .. } => {
                let mut scopes = barrier.members.iter().map(|member| member.scope);
                scopes.any(|scope| matches!(scope, Scope::Image { from, to, .. } if from != to))
            }
            _ => false,
        }
    }

    /// A step that represents all draws and clears of attachments of one subpass; for any other step, the step itself.
    pub(crate) fn subpass_of(&self, id: u32) -> u32 {
        let Some((buffer, at)) = self.find(id) else {
            return id;
        };
        let commands = &self.command_buffers[buffer];
        if !matches!(
            commands.steps[at].command,
            Command::Draw(_) | Command::ClearAttachment
        ) {
            return id;
        }
        let begins =
            |step: &&Step| matches!(step.command, Command::BeginPass(_) | Command::NextSubpass { .. });
        match (commands.secondary, commands.steps[..at].iter().rev().find(begins)) {
            (Some(Inheritance::Inside { begin, .. }), _) => begin,
            (_, Some(step)) => step.id,
            _ => id,
        }
    }

    /// The kind of the image that a resource is.
    pub(crate) fn image_kind(&self, resource: usize) -> ImageKind {
        match self.places[self.resources[resource].place] {
            Place::Texels(kind) => kind,
            other => panic!("resource {resource} is not an image: {other:?}"),
        }
    }
}
