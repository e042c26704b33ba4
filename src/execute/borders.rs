//! The part of the checker for the borders of strips: copies into and out of the images of strips.

use ash::vk;

use super::areas::{contains_area, is_covered};
use super::check::Checker;
use super::error::OriginRule;
use super::origins::{PassOrigin, ResourceOrigin};
use crate::frame::tables::{Access, CommandSource, HistoryVersion, ResourceKind};
use crate::frame::{PassId, Persistence, ResourceId};

/// A copy between an image and the image of a strip.
#[derive(Clone, Copy)]
struct Border {
    pass: PassId,
    /// The image of the strip.
    part: ResourceId,
    whole: ResourceId,
    /// True for a copy into the image of the strip, false for a copy out of it.
    enters: bool,
}

/// The lifetimes of resources, with split ones joined again: the last stretch stands for the others.
struct Lifetimes<'a> {
    /// Per resource, the last stretch of its lifetime: the resource itself unless a store ends it.
    last: Vec<ResourceId>,
    /// Per last stretch, the accesses to all stretches of that lifetime in pass order, except accesses by stores; empty for other stretches.
    uses: Vec<Vec<&'a Access>>,
}

impl Lifetimes<'_> {
    fn uses(&self, resource: ResourceId) -> impl DoubleEndedIterator<Item = &Access> {
        self.uses[resource.index()].iter().copied()
    }

    fn joined(&self, border: Border) -> Border {
        let [part, whole] = [border.part, border.whole].map(|id| self.last[id.index()]);
        Border {
            part,
            whole,
            ..border
        }
    }
}

impl Checker<'_> {
    fn origin_of(&self, resource: ResourceId) -> ResourceOrigin {
        self.origins.resources[resource.index()]
    }

    /// The copy that a pass makes between the image of a strip and the whole image; `None` if it makes none.
    fn border(&self, pass: PassId) -> Option<Border> {
        let [read, write] = self.executed.frame().accesses_of(pass) else {
            return None;
        };
        let [from, to] = [read, write].map(|access| access.resource);
        let enters = match [from, to].map(|id| self.origin_of(id).area.is_some()) {
            [false, true] => true,
            [true, false] => false,
            _ => return None,
        };
        Some(Border {
            pass,
            part: if enters { to } else { from },
            whole: if enters { from } else { to },
            enters,
        })
    }

    /// Returns why a pass is not a copy of a resource at the border of a strip, next to the described pass `beside`.
    pub(super) fn border_fault(
        &self,
        pass: PassId,
        resource: ResourceId,
        beside: PassId,
    ) -> Option<&'static str> {
        let frame = self.executed.frame();
        let CommandSource::Border { x, y } = frame.pass(pass).contents else {
            return Some("the caller records it");
        };
        let Some(border) = self.border(pass) else {
            return Some("it does not copy between an image and a strip's image");
        };
        let (part, whole) = (self.origin_of(border.part), self.origin_of(border.whole));
        if [part.resource, whole.resource] != [resource; 2] || part.value != whole.value {
            return Some("it copies another resource or another value");
        }
        let area = part.area.unwrap_or_default();
        let rendered = frame.pass(pass).area;
        let vk::Offset2D { x: left, y: top } = area.offset;
        let moved = if border.enters { (left, top) } else { (-left, -top) };
        if (x, y) != moved {
            return Some("its offset is not that of the strip's area");
        }
        if border.enters && (rendered.offset != vk::Offset2D::default() || rendered.extent != area.extent) {
            return Some("it does not fill exactly the strip's image");
        }
        if frame.queue_of(pass) != self.executed.described().queue_of(beside) {
            return Some("it runs on another queue");
        }
        let others = &self.origins.passes;
        let runs = |origin: &PassOrigin| match origin {
            PassOrigin::Runs(runs) => Some(runs.iter().any(|run| run.pass == beside && run.strip.is_some())),
            PassOrigin::Store { .. } | PassOrigin::Border { .. } => None,
        };
        let next = match border.enters {
            true => others[pass.index() + 1..].iter().find_map(runs),
            false => others[..pass.index()].iter().rev().find_map(runs),
        };
        (next != Some(true)).then_some("it is not next to the pass that its origin names")
    }

    fn lifetimes(&self) -> Lifetimes<'_> {
        let frame = self.executed.frame();
        let is_store = |pass: PassId| matches!(self.origins.passes[pass.index()], PassOrigin::Store { .. });
        let mut last: Vec<ResourceId> = frame.resource_ids().collect();
        let passes: Vec<PassId> = frame.pass_ids().filter(|&pass| is_store(pass)).collect();
        for store in passes.into_iter().rev() {
            if let [read, write] = frame.accesses_of(store) {
                last[read.resource.index()] = last[write.resource.index()];
            }
        }
        let mut uses = vec![Vec::new(); last.len()];
        for access in frame.accesses().iter().filter(|access| !is_store(access.pass)) {
            uses[last[access.resource.index()].index()].push(access);
        }
        Lifetimes { last, uses }
    }

    /// Checks that copies into the images of strips come before any use of these images, that copies out of them come after all writes, and
    /// that all parts of an image whose contents are needed after a run of strips are copied out.
    pub(super) fn check_borders(&mut self) {
        let frame = self.executed.frame();
        let passes = frame.pass_ids().zip(&self.origins.passes);
        let borders = passes.filter(|(_, origin)| matches!(origin, PassOrigin::Border { .. }));
        let lifetimes = self.lifetimes();
        let borders = borders.filter_map(|(pass, _)| self.border(pass));
        let borders: Vec<Border> = borders.map(|border| lifetimes.joined(border)).collect();
        let mut faults = Vec::new();
        for border in &borders {
            if let Some(why) = order_fault(&lifetimes, *border) {
                let name = &frame.pass(border.pass).name;
                faults.push(format!("pass `{name}` copies at the wrong time: {why}"));
            }
        }
        for part in frame.resource_ids() {
            if let Some(why) = self.lost_contents_fault(part, &lifetimes, &borders) {
                let name = &frame.resource(part).name;
                faults.push(format!(
                    "`{name}` lacks a complete copy at the border of its strip: {why}"
                ));
            }
        }
        for message in faults {
            self.report(OriginRule::Border, message);
        }
    }

    /// Returns why the contents of a strip's image differ from those of the whole image, or are not copied back.
    fn lost_contents_fault(
        &self,
        part: ResourceId,
        lifetimes: &Lifetimes<'_>,
        borders: &[Border],
    ) -> Option<&'static str> {
        let (frame, described) = (self.executed.frame(), self.executed.described());
        let origin = self.origin_of(part);
        let area = origin.area?;
        let uses = || lifetimes.uses(part);
        let first = uses().next()?;
        let of_part = |enters: bool| {
            borders
                .iter()
                .filter(move |border| border.part == part && border.enters == enters)
        };
        let is_loaded = of_part(true).next().is_some();
        if first.needs_contents() && !is_loaded {
            return Some("its first use needs contents, but nothing is copied into it");
        }
        let is_own = |access: &&Access| frame.pass(access.pass).contents.is_recorded_by_runtime();
        let is_written = uses().any(|access| access.writes && !is_own(&access));
        // The strips of a run are the parts used by the same described pass.
        let pass_of = |id: ResourceId| {
            let mut runs = lifetimes.uses(id).filter(|access| !is_own(access));
            runs.next().map(|access| {
                self.executed
                    .described_passes(access.pass)
                    .next()
                    .map(|run| run.pass)
            })
        };
        let run = pass_of(part);
        let in_run = |border: &&Border| {
            let other = self.origin_of(border.part);
            !border.enters
                && (other.resource, other.value) == (origin.resource, origin.value)
                && pass_of(border.part) == run
        };
        let stores: Vec<&Border> = borders.iter().filter(in_run).collect();
        let is_same =
            |other: ResourceOrigin| (other.resource, other.value) == (origin.resource, origin.value);
        let wholes = frame.resource_ids().filter(|&id| {
            let other = self.origin_of(id);
            other.area.is_none() && is_same(other)
        });
        let parts = frame.resource_ids().filter(|&id| {
            let other = self.origin_of(id);
            other.area.is_some() && is_same(other) && pass_of(id) == run
        });
        let ends = parts.filter_map(|id| Some(lifetimes.uses(id).next_back()?.pass));
        let end = ends.max().unwrap_or(first.pass);
        let is_needed = |id: ResourceId| {
            let mut uses = lifetimes.uses(id);
            let next = uses.find(|access| access.version == HistoryVersion::Current && access.pass > end);
            let kept = frame.resource(id).persistence != Persistence::Transient;
            next.map_or(kept, |next| next.needs_contents())
        };
        let mut wholes = wholes.filter(|&id| is_needed(id));
        if is_written && wholes.next().is_some() {
            let ResourceKind::Image { extent, .. } = described.resource(origin.resource).kind else {
                return Some("it is not an image");
            };
            let whole = vk::Extent2D {
                width: extent.width,
                height: extent.height,
            };
            let areas: Vec<vk::Rect2D> = stores.iter().map(|border| frame.pass(border.pass).area).collect();
            if !is_covered(whole.into(), &areas) {
                return Some("some strips do not copy out contents that are needed later");
            }
        }
        let source = of_part(true).map(|border| border.whole);
        let mut sources = source.filter(|&id| !contains_area(frame.resource(id), frame.base_extent(), area));
        sources
            .next()
            .map(|_| "the image that is copied into it does not cover its area")
    }
}

/// Returns why a copy is not before the first use of a strip's image, or after the last change of it.
fn order_fault(lifetimes: &Lifetimes<'_>, border: Border) -> Option<&'static str> {
    let mut others = lifetimes.uses(border.part);
    match border.enters {
        true if others.any(|access| access.pass < border.pass) => {
            Some("the strip uses its image before the copy")
        }
        false if others.any(|access| access.pass > border.pass && access.writes) => {
            Some("the strip changes its image after the copy")
        }
        _ => None,
    }
}
