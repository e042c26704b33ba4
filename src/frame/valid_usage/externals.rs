//! Rules about the states in which external resources enter and leave, and about semaphores.

use ash::vk::{ImageAspectFlags as Aspects, ImageLayout as L, PipelineStageFlags2 as S};

use super::rule::{NOT_SUPPORTED, Problem, Rule, Rules, Subject};
use super::stages::{listed, unknown_access, unknown_stages};
use crate::frame::external::ResourceState;
use crate::frame::tables::{Queue, Resource, SemaphoreOp};
use crate::names;
use tileheap_device::scopes;

/// An external resource as it enters or leaves the frame.
pub(super) struct External<'a> {
    pub(super) resource: &'a Resource,
    pub(super) state: &'a ResourceState,
    pub(super) leaves: bool,
    /// The aspects of the resource that the frame uses.
    pub(super) used_aspects: Aspects,
}

impl External<'_> {
    /// Returns the problem if a barrier with `aspects` has a layout for stencil only, and the aspects include depth.
    pub(super) fn layout_of_stencil(&self, aspects: Aspects) -> Problem {
        let layouts = [L::STENCIL_ATTACHMENT_OPTIMAL, L::STENCIL_READ_ONLY_OPTIMAL];
        self.layout_without(Aspects::DEPTH, &layouts, aspects)
    }

    /// Returns the problem if a barrier with `aspects` has a layout for depth only, and the aspects include stencil.
    pub(super) fn layout_of_depth(&self, aspects: Aspects) -> Problem {
        let layouts = [L::DEPTH_ATTACHMENT_OPTIMAL, L::DEPTH_READ_ONLY_OPTIMAL];
        self.layout_without(Aspects::STENCIL, &layouts, aspects)
    }

    fn layout_without(&self, missing: Aspects, layouts: &[L], aspects: Aspects) -> Problem {
        let layout = self.state.layout;
        (layouts.contains(&layout) && aspects.contains(missing))
            .then(|| format!("layout {layout:?} does not apply to {missing:?}, which its barriers include"))
    }
}

impl Subject for External<'_> {
    fn words(&self) -> String {
        let kind = if self.resource.is_image() {
            "image"
        } else {
            "buffer"
        };
        let moment = if self.leaves { "exit" } else { "entry" };
        format!("{moment} state of external {kind} `{}`", self.resource.name)
    }
}

pub(super) static EXTERNALS: &Rules<fn(&External<'_>) -> Problem> = &[
    Rule {
        rule: NOT_SUPPORTED,
        broken: |external| unknown_stages(external.state.stages),
    },
    Rule {
        rule: NOT_SUPPORTED,
        broken: |external| unknown_access(external.state.access),
    },
    Rule {
        rule: "section \"Image Layouts\"",
        broken: |external| {
            let layout = external.state.layout;
            (!external.resource.is_image() && layout != L::UNDEFINED).then(|| {
                format!(
                    "buffers have no layout, but {} is given: use UNDEFINED",
                    names::name_of(layout)
                )
            })
        },
    },
    Rule {
        rule: NOT_SUPPORTED,
        broken: |external| {
            let name = names::name_of(external.state.layout);
            name.starts_with("0x")
                .then(|| format!("layout {name} is unknown"))
        },
    },
    // An image shared with the presentation engine stays in this layout; frames transition their images.
    Rule {
        rule: NOT_SUPPORTED,
        broken: |external| {
            let layout = external.state.layout;
            (layout == L::SHARED_PRESENT_KHR)
                .then(|| format!("layout {} is not supported", names::name_of(layout)))
        },
    },
    Rule {
        rule: "VUID-VkImageMemoryBarrier2-newLayout-01198",
        broken: |external| {
            let layout = external.state.layout;
            let none = [L::UNDEFINED, L::PREINITIALIZED].contains(&layout);
            (external.leaves && external.resource.is_image() && none).then(|| {
                format!("images cannot transition to layout {layout:?}: name the layout that you need")
            })
        },
    },
    Rule {
        rule: "VUID-VkImageMemoryBarrier2-oldLayout-01208",
        broken: |external| layout_of_other_aspects(external, L::COLOR_ATTACHMENT_OPTIMAL),
    },
    Rule {
        rule: "VUID-VkImageMemoryBarrier2-oldLayout-01209",
        broken: |external| layout_of_other_aspects(external, L::DEPTH_STENCIL_ATTACHMENT_OPTIMAL),
    },
    Rule {
        rule: "VUID-VkImageMemoryBarrier2-oldLayout-01210",
        broken: |external| layout_of_other_aspects(external, L::DEPTH_STENCIL_READ_ONLY_OPTIMAL),
    },
    Rule {
        rule: "VUID-VkImageMemoryBarrier2-oldLayout-01658",
        broken: |external| layout_of_other_aspects(external, L::DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL),
    },
    Rule {
        rule: "VUID-VkImageMemoryBarrier2-oldLayout-01659",
        broken: |external| layout_of_other_aspects(external, L::DEPTH_ATTACHMENT_STENCIL_READ_ONLY_OPTIMAL),
    },
    Rule {
        rule: "VUID-VkImageMemoryBarrier2-srcQueueFamilyIndex-04066",
        broken: |external| layout_of_other_aspects(external, L::DEPTH_ATTACHMENT_OPTIMAL),
    },
    Rule {
        rule: "VUID-VkImageMemoryBarrier2-srcQueueFamilyIndex-04068",
        broken: |external| layout_of_other_aspects(external, L::STENCIL_ATTACHMENT_OPTIMAL),
    },
    Rule {
        rule: "VUID-VkImageMemoryBarrier2-aspectMask-08702",
        broken: |external| external.layout_of_stencil(external.used_aspects),
    },
    Rule {
        rule: "VUID-VkImageMemoryBarrier2-aspectMask-08703",
        broken: |external| external.layout_of_depth(external.used_aspects),
    },
];

/// Returns the problem if an image without the aspects of `layout` is in that layout: it cannot have the usage that the layout needs.
fn layout_of_other_aspects(external: &External<'_>, layout: L) -> Problem {
    let needed = match layout {
        L::COLOR_ATTACHMENT_OPTIMAL => Aspects::COLOR,
        _ => Aspects::DEPTH | Aspects::STENCIL,
    };
    let needed_name = match needed {
        Aspects::COLOR => "COLOR",
        _ => "DEPTH or STENCIL",
    };
    let fits = external.resource.aspects().intersects(needed);
    (external.resource.is_image() && external.state.layout == layout && !fits).then(|| {
        format!(
            "layout {layout:?} needs a format with {needed_name}, but the format of this image is {:?}",
            external.resource.format()
        )
    })
}

/// A wait or a signal of a batch.
pub(super) struct Semaphore<'a> {
    pub(super) name: &'a str,
    pub(super) op: &'a SemaphoreOp,
    pub(super) queue: &'a Queue,
    pub(super) batch: usize,
    pub(super) waits: bool,
}

impl Semaphore<'_> {
    /// Returns the problem if the stages of a wait (or signal) include the host's.
    fn includes_host(&self, waits: bool) -> Problem {
        let host = self.waits == waits && self.op.stages.contains(S::HOST);
        host.then(|| {
            format!(
                "no command of a batch uses {}: remove this stage",
                listed(S::HOST)
            )
        })
    }

    /// Returns the problem if the queue does not support the stages of a wait (or signal).
    fn unsupported(&self, waits: bool) -> Problem {
        let missing =
            scopes::unsupported(self.op.stages, self.queue.capabilities).filter(|_| self.waits == waits)?;
        Some(format!(
            "queue `{}` is declared with {:?}, which does not support {}",
            self.queue.name,
            self.queue.capabilities,
            listed(missing)
        ))
    }
}

impl Subject for Semaphore<'_> {
    fn words(&self) -> String {
        let what = if self.waits { "waited for" } else { "signaled" };
        format!("semaphore `{}`, {what} by batch {}", self.name, self.batch)
    }
}

pub(super) static SEMAPHORES: &Rules<fn(&Semaphore<'_>) -> Problem> = &[
    Rule {
        rule: NOT_SUPPORTED,
        broken: |semaphore| unknown_stages(semaphore.op.stages),
    },
    Rule {
        // The rule is about vkQueueSubmit; the validation layers (1.4.363) report it for vkQueueSubmit2, too.
        rule: "VUID-VkSubmitInfo-pWaitDstStageMask-00078",
        broken: |semaphore| semaphore.includes_host(true),
    },
    Rule {
        // No rule of Vulkan forbids it, but the validation layers (1.4.363) report it.
        rule: NOT_SUPPORTED,
        broken: |semaphore| semaphore.includes_host(false),
    },
    Rule {
        rule: "VUID-vkQueueSubmit2-stageMask-03870",
        broken: |semaphore| semaphore.unsupported(true),
    },
    Rule {
        rule: "VUID-vkQueueSubmit2-stageMask-03869",
        broken: |semaphore| semaphore.unsupported(false),
    },
];
