//! Render passes: the dependencies, layout transitions, load, store and resolve operations of a render pass instance, as commands.
//!
//! ```text
//! BeginRendering         all dependencies, and the layouts of the attachments; the model derives implicit dependencies and transitions
//! Act                    loads of the attachments that subpass 0 uses first
//!   …draws…              recorded by the caller
//! Act, Act               resolves of subpass 0, stores of the attachments that it uses last
//! NextSubpass
//! …
//! EndRendering
//! ```
//! Source: "Render Pass Load Operations", "Render Pass Store Operations", "Render Pass Multisample Resolve Operations".

use std::sync::Arc;

use ash::vk;
use tileheap_units::Run;
use vk::{
    AccessFlags2 as A, AttachmentLoadOp as Load, AttachmentStoreOp as Store, ImageAspectFlags as Aspects,
    ImageLayout, PipelineStageFlags2 as S,
};

use crate::program::{
    AccessKind, Command, MemoryAccess, PassAttachment, PassDependency, PassStructure, ResourceId,
    ResourcePart, Texels,
};

/// An attachment of a render pass instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// The image that the attachment is a view of.
    pub resource: ResourceId,
    /// The subresources of the attachment's view, without an area.
    pub texels: Texels,
    /// The load operation; that of depth if there is also stencil.
    pub load: Load,
    /// The store operation; that of depth if there is also stencil. `NONE` for a resolve target of dynamic rendering, which has no store operation.
    pub store: Store,
    /// The load operation of stencil.
    pub stencil_load: Load,
    /// The store operation of stencil.
    pub stencil_store: Store,
    /// The layout before the instance.
    pub initial_layout: ImageLayout,
    /// The layout after the instance.
    pub final_layout: ImageLayout,
}

/// An attachment of a subpass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttachmentUse {
    /// The index of the attachment.
    pub attachment: usize,
    /// The kind of attachment.
    pub role: Role,
    /// The layout of the attachment during the subpass.
    pub layout: ImageLayout,
}

/// The kinds of attachments of a subpass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A color attachment.
    Color,
    /// A depth and stencil attachment; some aspects may be read-only.
    DepthStencil {
        /// The aspects that the layout allows to be written.
        written: Aspects,
    },
    /// An input attachment.
    Input,
    /// The source of a resolve operation, in addition to its use as a color or depth attachment.
    ResolveSource {
        /// The aspects that are resolved.
        resolved: Aspects,
    },
    /// The target of a resolve operation.
    ResolveTarget {
        /// The aspects that are resolved: those of depth and stencil have separate modes, which may be `NONE`.
        resolved: Aspects,
    },
}

/// A render pass instance: a render pass object with a framebuffer, or dynamic rendering as one subpass without dependencies, with the same layouts
/// before and after.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RenderPass {
    /// The attachments, indexed by [`AttachmentUse::attachment`].
    pub attachments: Vec<Attachment>,
    /// The render area: x, y and z.
    pub area: [Run; 3],
    /// The attachments that each subpass uses, without preserved ones and `VK_ATTACHMENT_UNUSED`. Aspects with separate layouts are two attachments.
    pub subpasses: Vec<Vec<AttachmentUse>>,
    /// The dependencies, without those of a subpass on itself.
    pub dependencies: Vec<PassDependency>,
    /// True for dynamic rendering that continues a suspended instance: it loads nothing.
    pub resumes: bool,
    /// True for dynamic rendering that is suspended: it stores and resolves nothing.
    pub suspends: bool,
}

impl RenderPass {
    /// Returns the commands that begin a subpass, including load operations.
    ///
    /// # Panics
    /// If there is no such subpass.
    pub fn begin(&self, subpass: u32) -> Vec<Command> {
        let begins = match subpass {
            0 => Command::BeginRendering {
                resumes: self.resumes,
                pass: Arc::new(self.structure()),
            },
            _ => Command::NextSubpass,
        };
        let first = (0..self.attachments.len()).filter(|&index| self.first_use(index) == Some(subpass));
        let loads = first.flat_map(|index| self.loads(index));
        std::iter::once(begins)
            .chain(act(loads.filter(|_| !self.resumes).collect()))
            .collect()
    }

    /// Returns the commands that end a subpass: its resolve and store operations and, for the last subpass, the end of the instance. `written` returns the
    /// aspects of an attachment that draws, clears and resolves of the instance have written: a store operation `NONE` discards them.
    ///
    /// # Panics
    /// If there is no such subpass.
    pub fn end(&self, subpass: u32, written: impl Fn(usize) -> Aspects) -> Vec<Command> {
        let (mut resolves, mut stores) = (Vec::new(), Vec::new());
        for one in &self.subpasses[subpass as usize] {
            if let Some((access, resolved)) = resolve(one.role) {
                let attachment = &self.attachments[one.attachment];
                let resolved = resolved & attachment.texels.aspects;
                if resolved.is_empty() {
                    continue;
                }
                let part = self.part(attachment, resolved);
                let (kind, stage) = (AccessKind::Resolve, S::COLOR_ATTACHMENT_OUTPUT);
                resolves.push(whole(attachment.resource, part, (stage, access), kind));
            }
        }
        for index in (0..self.attachments.len()).filter(|&index| self.last_use(index) == Some(subpass)) {
            stores.extend(self.stores(index, written(index)));
        }
        if self.suspends {
            (resolves, stores) = (Vec::new(), Vec::new());
        }
        let mut commands = act(resolves);
        commands.extend(act(stores));
        if subpass as usize + 1 == self.subpasses.len() {
            commands.push(Command::EndRendering);
        }
        commands
    }

    /// Returns the accesses of draws to an attachment. For aspects that are written, these are only writes, although blending and depth or stencil tests may
    /// also read.
    pub fn draw(&self, one: &AttachmentUse) -> Vec<MemoryAccess> {
        let attachment = &self.attachments[one.attachment];
        let access = |aspects: Aspects, stage, access| {
            let part = self.part(attachment, aspects);
            whole(attachment.resource, part, (stage, access), AccessKind::Attachment)
        };
        let all = attachment.texels.aspects;
        match one.role {
            Role::Color => vec![access(all, S::COLOR_ATTACHMENT_OUTPUT, A::COLOR_ATTACHMENT_WRITE)],
            Role::DepthStencil { written } => {
                let (read, written) = (all & !written, all & written);
                let reads = (!read.is_empty())
                    .then(|| access(read, S::EARLY_FRAGMENT_TESTS, A::DEPTH_STENCIL_ATTACHMENT_READ));
                let writes = (!written.is_empty())
                    .then(|| access(written, S::LATE_FRAGMENT_TESTS, A::DEPTH_STENCIL_ATTACHMENT_WRITE));
                reads.into_iter().chain(writes).collect()
            }
            Role::Input => {
                let mut input = access(all, S::FRAGMENT_SHADER, A::INPUT_ATTACHMENT_READ);
                input.kind = AccessKind::Whole;
                vec![input]
            }
            Role::ResolveSource { .. } | Role::ResolveTarget { .. } => Vec::new(),
        }
    }

    /// Returns the dependencies of the render pass, and the layouts of its attachments.
    fn structure(&self) -> PassStructure {
        let subpasses = 0..self.subpasses.len() as u32;
        let attachments = self.attachments.iter().enumerate().map(|(index, one)| {
            let uses = subpasses
                .clone()
                .filter_map(|subpass| Some((subpass, self.use_in(index, subpass)?.layout)));
            PassAttachment {
                resource: Some(one.resource),
                part: ResourcePart::Texels(one.texels),
                initial_layout: one.initial_layout,
                uses: uses.collect(),
                final_layout: one.final_layout,
            }
        });
        PassStructure {
            dependencies: self.dependencies.clone(),
            attachments: attachments.collect(),
        }
    }

    fn use_in(&self, index: usize, subpass: u32) -> Option<&AttachmentUse> {
        self.subpasses[subpass as usize]
            .iter()
            .find(|one| one.attachment == index)
    }

    fn first_use(&self, index: usize) -> Option<u32> {
        (0..self.subpasses.len() as u32).find(|&subpass| self.use_in(index, subpass).is_some())
    }

    fn last_use(&self, index: usize) -> Option<u32> {
        (0..self.subpasses.len() as u32)
            .rev()
            .find(|&subpass| self.use_in(index, subpass).is_some())
    }

    fn loads(&self, index: usize) -> Vec<MemoryAccess> {
        let attachment = &self.attachments[index];
        let of = |(aspects, load): (Aspects, Load)| {
            let is_color = aspects.contains(Aspects::COLOR);
            let (stage, [read, write]) = operations(is_color, S::EARLY_FRAGMENT_TESTS);
            let access = match load {
                Load::LOAD => read,
                Load::CLEAR | Load::DONT_CARE => write,
                _ => return None,
            };
            let part = self.part(attachment, aspects);
            let mut access = whole(attachment.resource, part, (stage, access), AccessKind::Load);
            access.discards = load == Load::DONT_CARE;
            Some(access)
        };
        let [main, stencil] = split(attachment.texels.aspects);
        [(main, attachment.load), (stencil, attachment.stencil_load)]
            .into_iter()
            .filter(|(aspects, _)| !aspects.is_empty())
            .filter_map(of)
            .collect()
    }

    /// Returns the store operations of an attachment. `STORE` is omitted for aspects that no subpass writes, `NONE` for aspects that are not in `drawn`.
    fn stores(&self, index: usize, drawn: Aspects) -> Vec<MemoryAccess> {
        let attachment = &self.attachments[index];
        let written = (0..self.subpasses.len() as u32)
            .flat_map(|subpass| {
                self.subpasses[subpass as usize]
                    .iter()
                    .filter(|one| one.attachment == index)
            })
            .fold(Aspects::empty(), |all, one| {
                all | match one.role {
                    Role::Color => Aspects::COLOR | attachment.texels.aspects,
                    Role::ResolveTarget { resolved } => resolved,
                    Role::DepthStencil { written } => written,
                    Role::Input | Role::ResolveSource { .. } => Aspects::empty(),
                }
            });
        let of = |(aspects, store): (Aspects, Store)| {
            let is_none = store == Store::NONE && !aspects.intersects(drawn);
            if is_none || !aspects.intersects(written) && store == Store::STORE {
                return None;
            }
            let is_color = aspects.contains(Aspects::COLOR);
            let (stage, [_, write]) = operations(is_color, S::LATE_FRAGMENT_TESTS);
            let part = self.part(attachment, aspects);
            let mut access = whole(attachment.resource, part, (stage, write), AccessKind::Store);
            access.discards = store != Store::STORE;
            Some(access)
        };
        let [main, stencil] = split(attachment.texels.aspects);
        [(main, attachment.store), (stencil, attachment.stencil_store)]
            .into_iter()
            .filter(|(aspects, _)| !aspects.is_empty())
            .filter_map(of)
            .collect()
    }

    /// Returns the part of an attachment that the render area covers, for some aspects.
    fn part(&self, attachment: &Attachment, aspects: Aspects) -> ResourcePart {
        ResourcePart::Texels(Texels {
            aspects,
            area: Some(self.area),
            ..attachment.texels
        })
    }
}

/// Returns the aspects of a depth and stencil attachment that a layout allows to be written.
pub fn written_in(layout: ImageLayout) -> Aspects {
    use ImageLayout as L;
    let all = Aspects::DEPTH | Aspects::STENCIL;
    match layout {
        L::DEPTH_STENCIL_READ_ONLY_OPTIMAL | L::READ_ONLY_OPTIMAL | L::SHADER_READ_ONLY_OPTIMAL => {
            Aspects::empty()
        }
        L::DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL | L::DEPTH_READ_ONLY_OPTIMAL => all & !Aspects::DEPTH,
        L::DEPTH_ATTACHMENT_STENCIL_READ_ONLY_OPTIMAL | L::STENCIL_READ_ONLY_OPTIMAL => {
            all & !Aspects::STENCIL
        }
        _ => all,
    }
}

/// Returns the stage of load or store operations, and their read and write accesses.
fn operations(is_color: bool, tests: S) -> (S, [A; 2]) {
    if is_color {
        let accesses = [A::COLOR_ATTACHMENT_READ, A::COLOR_ATTACHMENT_WRITE];
        (S::COLOR_ATTACHMENT_OUTPUT, accesses)
    } else {
        let accesses = [
            A::DEPTH_STENCIL_ATTACHMENT_READ,
            A::DEPTH_STENCIL_ATTACHMENT_WRITE,
        ];
        (tests, accesses)
    }
}

/// Returns the access and the aspects of a resolve operation: both color and depth attachments are accessed as color.
fn resolve(role: Role) -> Option<(A, Aspects)> {
    match role {
        Role::ResolveSource { resolved } => Some((A::COLOR_ATTACHMENT_READ, resolved)),
        Role::ResolveTarget { resolved } => Some((A::COLOR_ATTACHMENT_WRITE, resolved)),
        _ => None,
    }
}

/// Splits aspects into color or depth, and stencil.
fn split(aspects: Aspects) -> [Aspects; 2] {
    [aspects & !Aspects::STENCIL, aspects & Aspects::STENCIL]
}

fn whole(
    resource: ResourceId,
    part: ResourcePart,
    (stage, access): (S, A),
    kind: AccessKind,
) -> MemoryAccess {
    MemoryAccess {
        resource,
        part,
        stage,
        access,
        kind,
        discards: false,
    }
}

fn act(accesses: Vec<MemoryAccess>) -> Vec<Command> {
    if accesses.is_empty() {
        Vec::new()
    } else {
        vec![Command::Action(accesses)]
    }
}
