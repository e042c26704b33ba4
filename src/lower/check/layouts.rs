//! Tracks the layout of every part of every image, and the queue family that owns every part, step by step.

use ash::vk::ImageLayout as L;

use super::barriers::{BarrierKind, is_outside};
use super::checker::Checker;
use super::error::LoweringRule;
use super::parts::Part;
use crate::frame::PassId;
use crate::frame::external::{ExternalFamily, ResourceState};
use crate::lower::state::ContentState;
use crate::lower::tables::ImageOrBuffer;
use crate::lower::tables::commands::{Families, ImageBarrierRow};
use crate::plan::MemoryKind;

/// Layouts and owners of every part of every image, and of every buffer.
pub(super) struct Layouts {
    parts: Vec<(Part, State)>,
}

#[derive(Clone, Copy, Debug)]
struct State {
    /// The layout; `UNDEFINED` for buffers.
    layout: L,
    owner: Owner,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    /// No family: the part has no contents, or families share them.
    Unowned,
    Family(u32),
    /// Between two families: released by a pass, not yet acquired.
    InTransfer(Families, PassId, [L; 2]),
}

impl Layouts {
    /// The initial state: images are in `UNDEFINED`, except for those that earlier work left in another layout.
    pub(super) fn new(checker: &Checker<'_>) -> Layouts {
        let objects = checker.objects().flat_map(|object| checker.parts.of(object));
        let state = |part: Part| {
            let of_part = |left: &&ContentState| {
                left.object == part.object
                    && checker
                        .parts
                        .within(checker.tables, part.object, left.range)
                        .contains(&part)
            };
            let left = checker.lowering_desc.before.contents.iter().find(of_part);
            let owner = left.and_then(|left| left.family.get());
            State {
                layout: left.map_or(L::UNDEFINED, |left| left.layout),
                owner: owner.map_or(Owner::Unowned, Owner::Family),
            }
        };
        Layouts {
            parts: objects.map(|part| (part, state(part))).collect(),
        }
    }

    fn state(&mut self, part: Part) -> &mut State {
        &mut self.parts[part.index].1
    }

    /// Adds the entry of an external resource.
    pub(super) fn enter(&mut self, object: ImageOrBuffer, layout: L, owner: Option<u32>) {
        let owner = owner.map_or(Owner::Unowned, Owner::Family);
        let parts = self.parts.iter_mut().filter(|(part, _)| part.object == object);
        parts.for_each(|(_, state)| *state = State { layout, owner });
    }

    /// The layout of a part.
    pub(super) fn layout_of(&self, part: Part) -> L {
        self.parts[part.index].1.layout
    }

    /// The family that owns the contents of a part.
    pub(super) fn owner_of(&self, part: Part) -> Option<u32> {
        match self.parts[part.index].1.owner {
            Owner::Family(family) => Some(family),
            Owner::Unowned | Owner::InTransfer(..) => None,
        }
    }

    /// Resets an object to `UNDEFINED` without an owner, since another resource overwrote its bytes.
    pub(super) fn clobber(&mut self, object: ImageOrBuffer) {
        self.enter(object, L::UNDEFINED, None);
    }

    /// Applies a barrier of a part of an image on a queue of `family`.
    pub(super) fn image_barrier(
        &mut self,
        checker: &mut Checker<'_>,
        barrier: &ImageBarrierRow,
        part: Part,
        kind: BarrierKind,
        (family, pass): (u32, PassId),
    ) {
        let discards = barrier.old_layout == L::UNDEFINED;
        let acquired =
            kind == BarrierKind::Acquire && matches!(self.state(part).owner, Owner::InTransfer(..));
        let tracked = self.layout_of(part);
        if !discards && !acquired && tracked != barrier.old_layout {
            let (pass, resource) = (checker.pass(pass), checker.name_of(part.object));
            let named = barrier.old_layout;
            let message = format!(
                "a barrier at pass `{pass}` names {named:?} as the old layout of `{resource}`, but it is in {tracked:?} \
                 (VUID-VkImageMemoryBarrier2-oldLayout-01197)"
            );
            checker.report(LoweringRule::OldLayout, message);
        }
        let layouts = [barrier.old_layout, barrier.new_layout];
        match kind {
            BarrierKind::Release => {
                self.claim(checker, part, family, pass);
                if is_outside(barrier.families.dst) {
                    let (layout, owner) = (barrier.new_layout, Owner::Family(barrier.families.dst));
                    *self.state(part) = State { layout, owner };
                    return;
                }
                self.state(part).owner = Owner::InTransfer(barrier.families, pass, layouts);
                // The layout changes once, between the halves; either half then leaves the image in the new one.
                return;
            }
            BarrierKind::Acquire => self.acquire(checker, part, barrier.families, layouts, pass),
            BarrierKind::Plain | BarrierKind::Transition if discards => {
                self.drop_release(checker, part);
                self.take(checker, part, family);
            }
            BarrierKind::Plain | BarrierKind::Transition => self.claim(checker, part, family, pass),
        }
        if kind != BarrierKind::Plain {
            self.state(part).layout = barrier.new_layout;
        }
    }

    /// Applies a barrier of a buffer on a queue of `family`.
    pub(super) fn buffer_barrier(
        &mut self,
        checker: &mut Checker<'_>,
        part: Part,
        families: Families,
        kind: BarrierKind,
        (family, pass): (u32, PassId),
    ) {
        match kind {
            BarrierKind::Release => {
                self.claim(checker, part, family, pass);
                self.state(part).owner = match families.dst {
                    outside if is_outside(outside) => Owner::Family(outside),
                    _ => Owner::InTransfer(families, pass, [L::UNDEFINED; 2]),
                };
            }
            BarrierKind::Acquire => self.acquire(checker, part, families, [L::UNDEFINED; 2], pass),
            BarrierKind::Plain | BarrierKind::Transition => {}
        }
    }

    /// Checks that a pass on a queue of `family` may use a part in `layout`, which is `None` if the pass's view leaves out the aspect; `fresh` is true if a
    /// buffer's earlier contents are not needed.
    pub(super) fn access(
        &mut self,
        checker: &mut Checker<'_>,
        part: Part,
        layout: Option<L>,
        (family, pass): (u32, PassId),
        fresh: bool,
    ) {
        let tracked = self.layout_of(part);
        if let Some(needs) = layout.filter(|&needs| needs != tracked) {
            self.state(part).layout = needs;
            let (pass, resource) = (checker.pass(pass), checker.name_of(part.object));
            let message = format!(
                "pass `{pass}` uses `{resource}` in layout {needs:?}, but it is in {tracked:?} (VUID-vkCmdDraw-None-09600)"
            );
            checker.report(LoweringRule::Layout, message);
        }
        if fresh && matches!(part.object, ImageOrBuffer::Buffer(_)) {
            self.drop_release(checker, part);
            self.take(checker, part, family);
        }
        self.claim(checker, part, family, pass);
    }

    /// Checks at the end of the frame that the used parts of external resources are in their exit state.
    pub(super) fn exit(&mut self, checker: &mut Checker<'_>, part: Part, exit: ResourceState) {
        let needs = exit.layout;
        let unmet = |family: &ExternalFamily| self.owner_of(part) != Some(family.index());
        if let Some(family) = exit.family.filter(unmet) {
            let resource = checker.name_of(part.object);
            let message = format!(
                "external `{resource}` is not released to queue family {family:?} at the end of the frame"
            );
            checker.report(LoweringRule::NotReleased, message);
        }
        let tracked = self.layout_of(part);
        if matches!(part.object, ImageOrBuffer::Image(_)) && needs != L::UNDEFINED && tracked != needs {
            let resource = checker.name_of(part.object);
            let message = format!(
                "external `{resource}` is in layout {tracked:?} after the frame, but must be in {needs:?}"
            );
            checker.report(LoweringRule::Layout, message);
        }
    }

    /// Checks at the end of the replay that no resource is released without being acquired.
    pub(super) fn finish(&mut self, checker: &mut Checker<'_>) {
        let parts: Vec<Part> = self.parts.iter().map(|(part, _)| *part).collect();
        parts
            .into_iter()
            .for_each(|part| self.drop_release(checker, part));
    }

    fn acquire(
        &mut self,
        checker: &mut Checker<'_>,
        part: Part,
        families: Families,
        layouts: [L; 2],
        pass: PassId,
    ) {
        let owner = self.state(part).owner;
        let released = match owner {
            Owner::InTransfer(of, _, how) => of == families && how == layouts,
            Owner::Family(owner) => owner == families.src && is_outside(owner),
            Owner::Unowned => false,
        };
        if !released {
            let Families { src, dst } = families;
            let (resource, pass) = (checker.name_of(part.object), checker.pass(pass));
            let message = format!(
                "the acquire of `{resource}` at pass `{pass}` does not follow a release from family {src} to {dst} with the same \
                 layouts (VUID-vkQueueSubmit2-commandBuffer-03879)"
            );
            checker.report(LoweringRule::NotReleased, message);
        }
        self.take(checker, part, families.dst);
    }

    /// Makes a family the owner of a part, unless families share it.
    fn take(&mut self, checker: &Checker<'_>, part: Part, family: u32) {
        self.state(part).owner = if checker.is_concurrent(part.object) {
            Owner::Unowned
        } else {
            Owner::Family(family)
        };
    }

    /// Checks that a family may use the contents of a part, and makes it their owner.
    fn claim(&mut self, checker: &mut Checker<'_>, part: Part, family: u32, pass: PassId) {
        match self.state(part).owner {
            Owner::Family(owner) if owner != family => {
                let (resource, pass) = (checker.name_of(part.object), checker.pass(pass));
                let message = format!(
                    "pass `{pass}` on queue family {family} uses `{resource}`, which family {owner} owns: release and \
                     acquire are missing"
                );
                checker.report(LoweringRule::Owner, message);
            }
            Owner::InTransfer(..) => self.drop_release(checker, part),
            Owner::Family(_) | Owner::Unowned => {}
        }
        self.take(checker, part, family);
    }

    /// Reports a pending release of a part, which something other than its acquire follows, and forgets it.
    fn drop_release(&mut self, checker: &mut Checker<'_>, part: Part) {
        if let Owner::InTransfer(Families { src, dst }, pass, _) = self.state(part).owner {
            let (resource, pass) = (checker.name_of(part.object), checker.pass(pass));
            let message = format!(
                "`{resource}` is released from family {src} to {dst} at pass `{pass}` but not acquired before its next use or the end of the frame"
            );
            checker.report(LoweringRule::NotAcquired, message);
            self.state(part).owner = Owner::Unowned;
        }
    }
}

/// Checks that every access is in a layout that allows it.
pub(super) fn check_fit(checker: &mut Checker<'_>) {
    let accesses = checker.tables.accesses.iter().zip(checker.frame.accesses());
    for (row, access) in accesses {
        let image = matches!(row.object.get(), ImageOrBuffer::Image(_));
        let fits = if image {
            access.kind.is_allowed_in(row.layout, access.writes)
        } else {
            row.layout == L::UNDEFINED
        };
        let tile = |object: &&ImageOrBuffer| checker.memory_of(**object) == Some(MemoryKind::Tile);
        let several = checker.objects_of(access.resource).iter().filter(tile).count() > 1;
        let mut at = checker.at(checker.access(access));
        at.demand(
            fits,
            "layout",
            row.layout,
            format_args!("one for {}", access.kind.noun()),
        );
        let needs =
            "GENERAL: the resource has images in several tile memory objects, whose layouts are independent";
        at.demand(
            !image || !several || row.layout == L::GENERAL,
            "layout",
            row.layout,
            needs,
        );
    }
}
