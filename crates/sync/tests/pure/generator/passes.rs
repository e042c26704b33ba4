//! Render pass objects.

use std::sync::Arc;

use ash::vk::{AccessFlags2 as A, ImageLayout, PipelineStageFlags2 as S};
use tileheap_sync::program::{
    Command, DependencyScopes, PassAttachment, PassDependency, PassStructure, ResourceId, ResourcePart,
    Texels,
};

use super::past::{Commands, Draw, Need, Touch};
use super::rendering::{Attached, Attachments};
use super::{masks, places};

const ATTACHMENT_WRITES: A =
    A::from_raw(A::COLOR_ATTACHMENT_WRITE.as_raw() | A::DEPTH_STENCIL_ATTACHMENT_WRITE.as_raw());

/// The layouts that attachments only have for reads.
const READ_ONLY: [ImageLayout; 2] = [
    ImageLayout::SHADER_READ_ONLY_OPTIMAL,
    ImageLayout::READ_ONLY_OPTIMAL,
];

impl Draw {
    pub(super) fn object(&mut self, out: &mut Commands, images: &Attachments) {
        self.instances += 1;
        let instance = self.instances;
        let subpasses = 1 + self.random.below(4) as u32;
        let mut images = images.clone();
        if self.random.one_in(4) {
            // The same view again, or other layers of the image.
            let (resource, mut texels) = self.random.pick(&images);
            if let (ResourcePart::Texels(all), true) =
                (places::whole(self.at(resource)), self.random.one_in(2))
            {
                texels.layers = places::run(&mut self.random, all.layers);
            }
            images.push((resource, texels));
        }
        let mut attachments: Vec<PassAttachment> = Vec::new();
        for image in &images {
            let attachment = self.pass_attachment(image, &attachments, subpasses);
            attachments.push(attachment);
        }
        let mut pass = PassStructure {
            dependencies: Vec::new(),
            attachments,
        };
        let finals: Vec<PassAttachment> = changed(&pass, None);
        let begin = out.len();
        for subpass in 0..subpasses {
            self.subpass = Some((instance, subpass));
            let used = used_in(&pass, &images, subpass);
            let acts = self.subpass(&used);
            let news: Vec<Touch> = acts.iter().flatten().map(Touch::from).collect();
            let (stages, _) = self.second(&news);
            let moved = touches(&changed(&pass, Some(subpass)), stages);
            let mut ahead = moved.clone();
            if subpass == 0 {
                ahead.extend(touches(&finals, stages));
            }
            let dependencies = self.subpass_dependencies((subpass, subpasses), &news, &ahead);
            pass.dependencies.extend(dependencies);
            for touch in moved {
                self.record(touch);
            }
            if subpass > 0 {
                self.push(out, Command::NextSubpass);
            }
            self.draws(out, &acts);
        }
        self.outward_dependencies(&mut pass, &finals, subpasses);
        self.subpass = None;
        let tag = self.tag();
        let pass = Arc::new(pass);
        out.insert(begin, (tag, Command::BeginRendering { resumes: false, pass }));
        self.push(out, Command::EndRendering);
    }

    /// The layouts and uses of an attachment; aliases of earlier attachments mostly follow them.
    fn pass_attachment(
        &mut self,
        (resource, texels): &(ResourceId, Texels),
        others: &[PassAttachment],
        subpasses: u32,
    ) -> PassAttachment {
        let part = ResourcePart::Texels(Texels {
            area: None,
            ..*texels
        });
        let is_alias = |other: &&PassAttachment| {
            let of = other.resource.map(|of| (of, other.part));
            of.is_some_and(|of| places::meet(&self.resources, 1, of, (*resource, part)))
        };
        let aliases = others.iter().filter(is_alias);
        let last = aliases
            .filter_map(|other| other.uses.last())
            .map(|last| last.0)
            .max();
        let is_after = last.is_some() && !self.random.one_in(4);
        let first = last.filter(|_| is_after).map_or(0, |last| last + 1);
        let mut layout = self.layout();
        let mut uses = Vec::new();
        let usual = self.random.pick(&[1, 2, 2, 2, 3]);
        for subpass in first..subpasses {
            if self.random.below(3) < usual {
                if self.random.one_in(2) {
                    layout = self.layout();
                }
                uses.push((subpass, layout));
            }
        }
        let initial = self.layout();
        let before = uses.first().map_or(initial, |first| first.1);
        let last = uses.last().map_or(initial, |last| last.1);
        let next = self.layout();
        PassAttachment {
            resource: Some(*resource).filter(|_| !self.random.one_in(12)),
            part,
            initial_layout: match is_after {
                true => ImageLayout::UNDEFINED,
                false => self.random.pick(&[initial, before, ImageLayout::UNDEFINED]),
            },
            uses,
            final_layout: self.random.pick(&[last, next]),
        }
    }

    fn layout(&mut self) -> ImageLayout {
        let written = [ImageLayout::GENERAL, ImageLayout::COLOR_ATTACHMENT_OPTIMAL];
        match self.random.below(3) {
            0 => self.random.pick(&READ_ONLY),
            _ => self.random.pick(&written),
        }
    }

    /// Dependencies whose destination is mostly `subpass`, which begins; those for transitions (`moved`) also have other destinations.
    fn subpass_dependencies(
        &mut self,
        (subpass, subpasses): (u32, u32),
        acts: &[Touch],
        moved: &[Touch],
    ) -> Vec<PassDependency> {
        let mut dependencies = Vec::new();
        let instance = self.instances;
        let careful = self.careful();
        for from in [None].into_iter().chain((0..subpass).map(Some)) {
            if !careful {
                if !self.random.one_in(3) {
                    let to = match self.random.one_in(4) {
                        true => self.destination(from, subpasses),
                        false => Some(subpass),
                    };
                    let scopes = self.scopes(acts);
                    dependencies.push(PassDependency { from, to, scopes });
                }
                continue;
            }
            let among = |of: Option<(u32, u32)>| match from {
                None => of.is_none_or(|of| of.0 != instance),
                Some(from) => of == Some((instance, from)),
            };
            let mut need = self.needs(acts, among);
            let of_moved = self.needs(moved, among);
            let (dst, dst_access) = self.second(acts);
            if !of_moved.is_empty() && self.random.one_in(3) {
                let to = self.destination(from, subpasses);
                let (dst, dst_access) = self.random.pick(&[
                    (dst, dst_access),
                    (S::BOTTOM_OF_PIPE, A::NONE),
                    (S::ALL_COMMANDS, ATTACHMENT_WRITES),
                ]);
                let scopes = self.towards(of_moved, (dst, dst_access));
                dependencies.push(PassDependency { from, to, scopes });
            } else {
                need.join(of_moved);
            }
            if !need.is_empty() {
                let scopes = self.towards(need, (dst, dst_access));
                let to = Some(subpass);
                dependencies.push(PassDependency { from, to, scopes });
            }
        }
        dependencies
    }

    /// A destination for dependencies from a subpass or from outside.
    fn destination(&mut self, from: Option<u32>, subpasses: u32) -> Option<u32> {
        let first = from.map_or(0, |from| from + 1);
        let outside = u64::from(from.is_some());
        let to = first + self.random.below(u64::from(subpasses - first) + outside) as u32;
        Some(to).filter(|to| *to < subpasses)
    }

    fn towards(&mut self, need: Need, (dst, dst_access): (S, A)) -> DependencyScopes {
        let scopes = DependencyScopes {
            src: S::NONE,
            src_access: A::NONE,
            dst,
            dst_access,
        };
        self.first(need, scopes)
    }

    /// Adds the dependencies to outside, and records the final transitions.
    fn outward_dependencies(&mut self, pass: &mut PassStructure, finals: &[PassAttachment], subpasses: u32) {
        let instance = self.instances;
        let is_implicit = !finals.is_empty() && self.random.one_in(2);
        let dst = masks::stages(&mut self.random);
        let dst_access = masks::accesses(&mut self.random);
        let news = touches(finals, if is_implicit { S::ALL_COMMANDS } else { dst });
        for from in (0..subpasses).filter(|_| !is_implicit) {
            let need = self.needs(&news, |of| of == Some((instance, from)));
            let scopes = if self.careful() {
                self.towards(need, (dst, dst_access))
            } else {
                self.scopes(&news)
            };
            if !need.is_empty() || from + 1 == subpasses && self.random.one_in(2) {
                let to = match self.random.one_in(5) {
                    true => self.destination(Some(from), subpasses),
                    false => None,
                };
                let from = Some(from);
                pass.dependencies.push(PassDependency { from, to, scopes });
            }
        }
        for touch in news {
            self.record(touch);
        }
    }
}

/// The attachments that a subpass uses.
fn used_in(pass: &PassStructure, images: &Attachments, subpass: u32) -> Vec<Attached> {
    let all = pass.attachments.iter().zip(images);
    let used = all.filter_map(|(attachment, image)| {
        let (_, layout) = attachment.uses.iter().find(|one| one.0 == subpass)?;
        Some(Attached {
            image: *image,
            is_first: attachment.uses.first().is_some_and(|one| one.0 == subpass),
            is_last: attachment.uses.last().is_some_and(|one| one.0 == subpass),
            is_read: READ_ONLY.contains(layout),
        })
    });
    used.collect()
}

/// The attachments whose layouts change before a subpass, or before the end.
fn changed(pass: &PassStructure, before: Option<u32>) -> Vec<PassAttachment> {
    let changes = |one: &&PassAttachment| {
        let new = match before {
            Some(subpass) => one.uses.iter().find(|one| one.0 == subpass).map(|one| one.1),
            None => Some(one.final_layout),
        };
        let is_earlier = |other: &&(u32, ImageLayout)| before.is_none_or(|before| other.0 < before);
        let old = one.uses.iter().rev().find(is_earlier);
        new.is_some_and(|new| new != old.map_or(one.initial_layout, |old| old.1))
    };
    pass.attachments.iter().filter(changes).cloned().collect()
}

fn touches(attachments: &[PassAttachment], stages: S) -> Vec<Touch> {
    let of = |one: &PassAttachment| Some(Touch::transition(one.resource?, one.part, stages));
    attachments.iter().filter_map(of).collect()
}
