//! Render pass objects.

use ash::vk::{AccessFlags2 as A, PipelineStageFlags2 as S};
use tileheap_sync::program::{
    Command, DependencyScopes, ResourcePart, SubpassBoundary, SubpassDependency, Texels, Transition,
};

use super::masks;
use super::past::{Commands, Draw, Touch};
use super::rendering::Attachments;

const ATTACHMENT_WRITES: A =
    A::from_raw(A::COLOR_ATTACHMENT_WRITE.as_raw() | A::DEPTH_STENCIL_ATTACHMENT_WRITE.as_raw());
const ATTACHMENT_ACCESSES: A = A::from_raw(
    ATTACHMENT_WRITES.as_raw()
        | A::COLOR_ATTACHMENT_READ.as_raw()
        | A::DEPTH_STENCIL_ATTACHMENT_READ.as_raw()
        | A::INPUT_ATTACHMENT_READ.as_raw(),
);

impl Draw {
    pub(super) fn object(&mut self, out: &mut Commands, attachments: &Attachments) {
        self.instances += 1;
        let instance = self.instances;
        let subpasses = 1 + self.random.below(3) as u32;
        let finals = self.transitions(attachments);
        for subpass in 0..subpasses {
            self.subpass = Some((instance, subpass));
            let acts = self.subpass(attachments, subpass == 0, subpass + 1 == subpasses);
            let transitions = self.transitions(attachments);
            let mut news: Vec<Touch> = acts.iter().flatten().map(Touch::from).collect();
            let (stages, _) = self.second(&news);
            let moved = touches(&transitions, stages);
            news.extend(&moved);
            if subpass == 0 {
                news.extend(touches(&finals, stages));
            }
            let dependencies = self.subpass_dependencies(subpass, &news, !transitions.is_empty());
            for touch in moved {
                self.record(touch);
            }
            let boundary = SubpassBoundary {
                dependencies,
                transitions,
            };
            let command = match subpass {
                0 => Command::BeginRendering {
                    resumes: false,
                    boundary,
                },
                _ => Command::NextSubpass(boundary),
            };
            self.push(out, command);
            self.draws(out, &acts);
        }
        let last = subpasses - 1;
        let mut dependencies = Vec::new();
        let mut stages = S::ALL_COMMANDS;
        let implicit = !finals.is_empty() && self.random.one_in(2);
        let mut dst = masks::stages(&mut self.random);
        let mut dst_access = masks::accesses(&mut self.random);
        if implicit {
            (dst, dst_access) = (S::NONE, A::NONE);
        } else {
            stages = dst;
        }
        let news = touches(&finals, stages);
        for from in 0..subpasses {
            let need = self.needs(&news, |of| of == Some((instance, from)));
            let mut scopes = DependencyScopes {
                src: S::ALL_COMMANDS,
                src_access: ATTACHMENT_WRITES,
                dst,
                dst_access,
            };
            if !implicit {
                scopes = if self.careful() {
                    self.first(need, scopes)
                } else {
                    self.scopes(&news)
                };
            }
            if !need.is_empty() || (from == last && (implicit || self.random.one_in(2))) {
                dependencies.push(SubpassDependency {
                    from: Some(from),
                    scopes,
                });
            }
        }
        self.subpass = None;
        for touch in news {
            self.record(touch);
        }
        self.push(
            out,
            Command::EndRendering(SubpassBoundary {
                dependencies,
                transitions: finals,
            }),
        );
    }

    fn transitions(&mut self, attachments: &Attachments) -> Vec<Transition> {
        let mut transitions = Vec::new();
        for (resource, texels) in attachments {
            if self.random.one_in(2) {
                let part = ResourcePart::Texels(Texels {
                    area: None,
                    ..*texels
                });
                transitions.push(Transition {
                    resource: *resource,
                    part,
                    discards: self.random.one_in(2),
                });
            }
        }
        transitions
    }

    /// The dependencies whose destination is `subpass`, which begins.
    fn subpass_dependencies(
        &mut self,
        subpass: u32,
        news: &[Touch],
        transitions: bool,
    ) -> Vec<SubpassDependency> {
        let mut dependencies = Vec::new();
        let instance = self.instances;
        let acts: Vec<Touch> = news.iter().filter(|new| new.kind.is_some()).copied().collect();
        let careful = self.careful();
        for from in [None].into_iter().chain((0..subpass).map(Some)) {
            if !careful {
                if !self.random.one_in(3) {
                    dependencies.push(SubpassDependency {
                        from,
                        scopes: self.scopes(&acts),
                    });
                }
                continue;
            }
            let need = match from {
                None => self.needs(news, |of| of.is_none_or(|of| of.0 != instance)),
                Some(from) => self.needs(news, |of| of == Some((instance, from))),
            };
            let (dst, dst_access) = self.second(&acts);
            let scopes = self.first(
                need,
                DependencyScopes {
                    src: S::NONE,
                    src_access: A::NONE,
                    dst,
                    dst_access,
                },
            );
            if !need.is_empty() {
                dependencies.push(SubpassDependency { from, scopes });
            }
        }
        if transitions && dependencies.iter().all(|one| one.from.is_some()) {
            let (src, dst) = (S::NONE, S::ALL_COMMANDS);
            let scopes = DependencyScopes {
                src,
                src_access: A::NONE,
                dst,
                dst_access: ATTACHMENT_ACCESSES,
            };
            dependencies.push(SubpassDependency { from: None, scopes });
        }
        dependencies
    }
}

fn touches(transitions: &[Transition], stages: S) -> Vec<Touch> {
    transitions
        .iter()
        .map(|one| Touch::transition(one.resource, one.part, stages))
        .collect()
}
