//! Render pass instances: "Render Pass Creation", from `VkSubpassDependency` to the end of the section. Read it next to the text.

use ash::vk;
use tileheap_sync::program::*;
use tileheap_sync::{Action as Did, MemoryUse};
use vk::{AccessFlags2 as A, ImageLayout, PipelineStageFlags2 as S};

use super::flatten::Flattener;
use super::operations::{Dependency as Scoped, Place, Scope};
use super::stages;

/// The render pass instance of a queue.
#[derive(Debug, Default)]
pub(super) struct Instance {
    transitions: Vec<Automatic>,
    /// The dependencies whose destination is `VK_SUBPASS_EXTERNAL`; their second scopes are complete once the instance ends.
    outward: Vec<usize>,
}

/// An automatic layout transition.
#[derive(Clone, Debug)]
struct Automatic {
    attachment: PassAttachment,
    /// The subpass that begins then, or the end of the instance.
    at: Option<u32>,
    /// The dependencies whose availability operations happen before it, and those whose visibility operations happen after it.
    after: Vec<usize>,
    before: Vec<usize>,
}

/// Both ends of a dependency, and its index.
type Ends = (Option<u32>, Option<u32>, usize);

fn is_used(attachment: &PassAttachment, subpass: Option<u32>) -> bool {
    subpass.is_some_and(|subpass| layout_in(attachment, subpass).is_some())
}

fn layout_in(attachment: &PassAttachment, subpass: u32) -> Option<ImageLayout> {
    let mut uses = attachment.uses.iter();
    uses.find(|(other, _)| *other == subpass)
        .map(|(_, layout)| *layout)
}

/// True if an attachment is in one layout from the use in one subpass to the use in another one.
fn stays(attachment: &PassAttachment, from: u32, to: u32) -> bool {
    let layout = layout_in(attachment, from);
    let mut between = attachment
        .uses
        .iter()
        .filter(|(subpass, _)| (from..=to).contains(subpass));
    let are_uses = layout.is_some() && layout_in(attachment, to).is_some();
    from <= to && are_uses && between.all(|(_, other)| Some(*other) == layout)
}

fn used_before(aliases: &[&PassAttachment], subpass: u32) -> bool {
    let mut uses = aliases.iter().flat_map(|alias| &alias.uses);
    uses.any(|(other, _)| *other < subpass)
}

fn used_after(aliases: &[&PassAttachment], subpass: u32) -> bool {
    let mut uses = aliases.iter().flat_map(|alias| &alias.uses);
    uses.any(|(other, _)| *other > subpass)
}

/// "a read-only layout"
fn is_read_only(layout: ImageLayout) -> bool {
    const LAYOUTS: [ImageLayout; 5] = [
        ImageLayout::READ_ONLY_OPTIMAL,
        ImageLayout::SHADER_READ_ONLY_OPTIMAL,
        ImageLayout::DEPTH_READ_ONLY_OPTIMAL,
        ImageLayout::STENCIL_READ_ONLY_OPTIMAL,
        ImageLayout::DEPTH_STENCIL_READ_ONLY_OPTIMAL,
    ];
    LAYOUTS.contains(&layout)
}

impl Flattener<'_> {
    /// Begins an instance: its dependencies exist from now on.
    pub(super) fn begin_pass(&mut self, queue: usize, at: usize, instance: usize, pass: &PassStructure) {
        let mut all = pass.dependencies.clone();
        if self.rules.implicit_dependencies {
            for attachment in &pass.attachments {
                all.extend(implicit_dependencies(pass, attachment));
            }
        }
        if self.rules.implicit_dependencies_between_reads {
            pass.attachments
                .iter()
                .for_each(|attachment| all.extend(implicit_between_reads(attachment)));
        }
        let ends: Vec<Ends> = all
            .iter()
            .map(|one| {
                (
                    one.from,
                    one.to,
                    self.subpass_dependency(queue, at, instance, one),
                )
            })
            .collect();
        let mut transitions = Vec::new();
        for (index, attachment) in pass.attachments.iter().enumerate() {
            let others = pass.attachments.iter().enumerate();
            let aliases: Vec<&PassAttachment> = others
                .filter(|(other, one)| *other != index && self.share_memory(attachment, one))
                .map(|(_, one)| one)
                .filter(|_| self.rules.aliases_in_passes)
                .collect();
            transitions.extend(self.transitions(attachment, &aliases, &ends));
        }
        let outward = ends.iter().filter(|end| end.1.is_none()).map(|end| end.2);
        self.queues[queue].pass = Instance {
            transitions,
            outward: outward.collect(),
        };
    }

    /// `VkSubpassDependency`: "it defines a dependency between the subpasses".
    fn subpass_dependency(
        &mut self,
        queue: usize,
        at: usize,
        instance: usize,
        one: &PassDependency,
    ) -> usize {
        let rules = self.rules;
        let id = self.queues[queue].id;
        let subpass = |index: Option<u32>, is_limited: bool| {
            index.map(|index| (instance, index)).filter(|_| is_limited)
        };
        let is_earlier = one.from.is_none() && rules.external_is_before_the_instance;
        let first = Scope::Commands {
            queue: id,
            after: 0,
            before: if is_earlier { at } else { usize::MAX },
            subpass: subpass(one.from, rules.source_subpass),
            stages: stages::first_synchronization_scope(one.scopes.src, rules),
        };
        let second = Scope::Commands {
            queue: id,
            // The end of the instance is not known yet.
            after: if one.to.is_none() { usize::MAX } else { at },
            before: usize::MAX,
            subpass: subpass(one.to, rules.destination_subpass),
            stages: stages::second_synchronization_scope(one.scopes.dst, rules),
        };
        let available = self.first_access_scope(&one.scopes, DependencyMemory::All);
        let visible = self.second_access_scope(&one.scopes, DependencyMemory::All);
        self.depend(Scoped {
            first: vec![first],
            second: vec![second],
            available,
            visible,
        })
    }

    /// "Attachments using distinct image views that correspond to the same image subresource", or to "overlapping memory ranges".
    fn share_memory(&self, one: &PassAttachment, other: &PassAttachment) -> bool {
        let (Some(x), Some(y)) = (one.resource, other.resource) else {
            return false;
        };
        let root = |mut resource: ResourceId| {
            while let Some(same) = self.resources[resource.0 as usize].alias_of {
                resource = same;
            }
            resource
        };
        if root(x) == root(y) {
            return match (one.part, other.part) {
                (ResourcePart::Texels(a), ResourcePart::Texels(b)) => {
                    let meet = |a: tileheap_units::Run, b: tileheap_units::Run| {
                        a.first.max(b.first) < a.end.min(b.end)
                    };
                    a.aspects.intersects(b.aspects) && meet(a.levels, b.levels) && meet(a.layers, b.layers)
                }
                _ => true,
            };
        }
        let [x, y] = [x, y].map(|resource| &self.resources[resource.0 as usize]);
        x.memory == y.memory && x.first.max(y.first) < x.end.min(y.end)
    }

    /// The automatic layout transitions of an attachment.
    fn transitions(
        &self,
        attachment: &PassAttachment,
        aliases: &[&PassAttachment],
        ends: &[Ends],
    ) -> Vec<Automatic> {
        let mut transitions = Vec::new();
        let mut last: Option<u32> = None;
        let mut layout = attachment.initial_layout;
        let next_uses = attachment
            .uses
            .iter()
            .map(|(subpass, layout)| (Some(*subpass), *layout));
        for (next, new) in next_uses.chain([(None, attachment.final_layout)]) {
            if new != layout {
                let which = |is_it: &dyn Fn(&Ends) -> bool| -> Vec<usize> {
                    ends.iter().filter(|end| is_it(end)).map(|end| end.2).collect()
                };
                // The exception "aliases in a render pass".
                let early = last
                    .filter(|last| used_after(aliases, *last))
                    .map(|last| last + 1);
                transitions.push(Automatic {
                    attachment: attachment.clone(),
                    at: next.or(early),
                    after: which(&|end| self.happens_after(attachment, aliases, (last, next), end)),
                    before: which(&|end| self.happens_before(attachment, aliases, (last, next), end)),
                });
            }
            (last, layout) = (next, new);
        }
        transitions
    }

    /// True if a transition between two uses happens after the availability operation of a dependency.
    fn happens_after(
        &self,
        attachment: &PassAttachment,
        aliases: &[&PassAttachment],
        (last, next): (Option<u32>, Option<u32>),
        &(source, destination, _): &Ends,
    ) -> bool {
        let uses_alias = |subpass| aliases.iter().any(|alias| is_used(alias, subpass));
        match last {
            // "Automatic layout transitions away from the layout used in a subpass happen-after the availability operations for all
            // dependencies with that subpass as the srcSubpass."
            Some(last) => {
                source.is_some_and(|source| stays(attachment, source, last))
                    && (self.rules.whatever_their_destination || destination == next)
            }
            // "Automatic layout transitions away from initialLayout happen-after the availability operations for all dependencies with a
            // srcSubpass equal to VK_SUBPASS_EXTERNAL, where dstSubpass uses the attachment that will be transitioned." And for
            // VK_ATTACHMENT_DESCRIPTION_MAY_ALIAS_BIT: "where dstSubpass uses any aliased attachment."
            None if source.is_none() => {
                let is_first = self.rules.every_use_from_outside || destination == next;
                is_first && is_used(attachment, destination) || uses_alias(destination)
            }
            // The exception "aliases in a render pass".
            None => match (next, source, destination) {
                (Some(next), Some(source), Some(to)) => {
                    used_before(aliases, next) && source < next && stays(attachment, next, to)
                }
                _ => false,
            },
        }
    }

    /// True if a transition between two uses happens before the visibility operation of a dependency.
    fn happens_before(
        &self,
        attachment: &PassAttachment,
        aliases: &[&PassAttachment],
        (last, next): (Option<u32>, Option<u32>),
        &(source, destination, _): &Ends,
    ) -> bool {
        let uses_alias = |subpass| aliases.iter().any(|alias| is_used(alias, subpass));
        match next {
            // "Automatic layout transitions into the layout used in a subpass happen-before the visibility operations for all
            // dependencies with that subpass as the dstSubpass."
            Some(next) => {
                destination.is_some_and(|destination| stays(attachment, next, destination))
                    && (self.rules.whatever_their_source || source == last)
            }
            // "Automatic layout transitions into finalLayout happen-before the visibility operations for all dependencies with a
            // dstSubpass equal to VK_SUBPASS_EXTERNAL, where srcSubpass uses the attachment that will be transitioned." And for
            // VK_ATTACHMENT_DESCRIPTION_MAY_ALIAS_BIT: "where srcSubpass uses any aliased attachment."
            None if destination.is_none() => {
                let is_last = self.rules.every_use_to_outside || source == last;
                is_last && is_used(attachment, source) || uses_alias(source)
            }
            // The exception "aliases in a render pass".
            None => match (last, source, destination) {
                (Some(last), Some(from), Some(destination)) => {
                    used_after(aliases, last) && destination > last && stays(attachment, from, last)
                }
                _ => false,
            },
        }
    }

    /// Performs the transitions at the beginning of a subpass, or at the end of the instance.
    pub(super) fn automatic_transitions(&mut self, queue: usize, batch: u64, tag: Tag, at: usize) {
        let current = self.queues[queue].subpass.map(|subpass| subpass.1);
        if current.is_none() {
            for index in &self.queues[queue].pass.outward {
                if let Scope::Commands { after, .. } = &mut self.flat.dependencies[*index].second[0] {
                    *after = at;
                }
            }
        }
        let place = Place::Queue(self.queues[queue].id, None);
        for one in self.queues[queue].pass.transitions.clone() {
            if one.at != current {
                continue;
            }
            let usage = MemoryUse {
                batch,
                tag,
                resource: one.attachment.resource.unwrap_or(ResourceId(u32::MAX)),
                part: one.attachment.part,
                action: Did::Transition,
            };
            self.change(place, at, usage, (one.after, one.before), Vec::new());
            if one.attachment.resource.is_none() {
                let transition = self.flat.actions.pop();
                self.flat.unfollowed.extend(transition);
            }
        }
    }
}

/// "If there is no subpass dependency from VK_SUBPASS_EXTERNAL to the first subpass that uses an attachment, then an implicit subpass
/// dependency exists [...] only [...] if there exists an automatic layout transition away from initialLayout." And likewise to outside.
fn implicit_dependencies(pass: &PassStructure, attachment: &PassAttachment) -> Vec<PassDependency> {
    let writes = A::COLOR_ATTACHMENT_WRITE | A::DEPTH_STENCIL_ATTACHMENT_WRITE;
    let reads = A::INPUT_ATTACHMENT_READ | A::COLOR_ATTACHMENT_READ | A::DEPTH_STENCIL_ATTACHMENT_READ;
    let exists = |from, to| {
        let mut explicit = pass.dependencies.iter();
        explicit.any(|one| one.from == from && one.to == to)
    };
    let mut all = Vec::new();
    if let Some((first, layout)) = attachment.uses.first() {
        if *layout != attachment.initial_layout && !exists(None, Some(*first)) {
            all.push(PassDependency {
                from: None,
                to: Some(*first),
                scopes: DependencyScopes {
                    src: S::NONE,
                    src_access: A::NONE,
                    dst: S::ALL_COMMANDS,
                    dst_access: reads | writes,
                },
            });
        }
    }
    if let Some((last, layout)) = attachment.uses.last() {
        if *layout != attachment.final_layout && !exists(Some(*last), None) {
            all.push(PassDependency {
                from: Some(*last),
                to: None,
                scopes: DependencyScopes {
                    src: S::ALL_COMMANDS,
                    src_access: writes,
                    dst: S::NONE,
                    dst_access: A::NONE,
                },
            });
        }
    }
    all
}

/// "If two subpasses use the same attachment, and both subpasses use the attachment in a read-only layout, [...] If an implementation treats those
/// layouts separately, it must insert an implicit subpass dependency", with the exception "loads before reads".
fn implicit_between_reads(attachment: &PassAttachment) -> Vec<PassDependency> {
    let stages = S::FRAGMENT_SHADER | S::EARLY_FRAGMENT_TESTS | S::LATE_FRAGMENT_TESTS;
    let mut all = Vec::new();
    for (from, old) in &attachment.uses {
        for (to, new) in &attachment.uses {
            if from < to && old != new && is_read_only(*old) && is_read_only(*new) {
                all.push(PassDependency {
                    from: Some(*from),
                    to: Some(*to),
                    scopes: DependencyScopes {
                        src: stages | S::COLOR_ATTACHMENT_OUTPUT,
                        src_access: A::NONE,
                        dst: stages,
                        dst_access: A::INPUT_ATTACHMENT_READ | A::DEPTH_STENCIL_ATTACHMENT_READ,
                    },
                });
            }
        }
    }
    all
}
