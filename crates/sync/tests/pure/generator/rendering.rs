//! Render pass instances.

use std::sync::Arc;

use ash::vk::{AccessFlags2 as A, PipelineStageFlags2 as S};
use tileheap_sync::program::{
    AccessKind, BarrierChange, Command, Dependency, DependencyMemory, DependencyScopes, MemoryAccess,
    ResourceId, ResourcePart, Texels,
};

use super::acts::attached;
use super::past::{Commands, Draw, Need, Touch};
use super::{masks, places};

pub(super) type Attachments = Vec<(ResourceId, Texels)>;

/// An attachment of a subpass.
#[derive(Clone, Copy)]
pub(super) struct Attached {
    pub(super) image: (ResourceId, Texels),
    /// It is the first subpass that uses it.
    pub(super) is_first: bool,
    /// It is the last one.
    pub(super) is_last: bool,
    /// Its layout only allows reads.
    pub(super) is_read: bool,
}

fn attachments_of(images: &Attachments, is_first: bool, is_last: bool) -> Vec<Attached> {
    let of = |image: &(ResourceId, Texels)| Attached {
        image: *image,
        is_first,
        is_last,
        is_read: false,
    };
    images.iter().map(of).collect()
}

impl Draw {
    /// A render pass instance: dynamic rendering, or a render pass object.
    pub(super) fn instance(&mut self, out: &mut Commands) {
        let attachments = self.attachments();
        if self.random.one_in(2) {
            let acts = self.subpass(&attachments_of(&attachments, true, true));
            self.dynamic(out, &acts);
        } else {
            self.object(out, &attachments);
        }
    }

    /// Adds dynamic rendering that continues in the next command buffer.
    pub(super) fn suspended(&mut self, first: &mut Commands, second: &mut Commands) {
        let attachments = self.attachments();
        let acts = self.subpass(&attachments_of(&attachments, true, false));
        let more = self.subpass(&attachments_of(&attachments, false, true));
        let all: Vec<_> = acts.iter().chain(&more).cloned().collect();
        self.before_dynamic(first, &all);
        self.push(
            first,
            Command::BeginRendering {
                resumes: false,
                pass: Arc::default(),
            },
        );
        self.draws(first, &acts);
        self.push(first, Command::EndRendering);
        self.push(
            second,
            Command::BeginRendering {
                resumes: true,
                pass: Arc::default(),
            },
        );
        self.draws(second, &more);
        self.push(second, Command::EndRendering);
        self.subpass = None;
    }

    fn dynamic(&mut self, out: &mut Commands, acts: &[Vec<MemoryAccess>]) {
        self.before_dynamic(out, acts);
        self.push(
            out,
            Command::BeginRendering {
                resumes: false,
                pass: Arc::default(),
            },
        );
        self.draws(out, acts);
        self.push(out, Command::EndRendering);
        self.subpass = None;
    }

    fn before_dynamic(&mut self, out: &mut Commands, acts: &[Vec<MemoryAccess>]) {
        let touches: Vec<Touch> = acts.iter().flatten().map(Touch::from).collect();
        self.order(out, &touches);
        self.instances += 1;
        self.subpass = Some((self.instances, 0));
    }

    fn attachments(&mut self) -> Attachments {
        let area = if self.random.one_in(2) {
            Some(places::area(&mut self.random))
        } else {
            None
        };
        let mut attachments = Attachments::new();
        for _ in 0..1 + self.random.below(2) {
            let (resource, texels) = self.attachment();
            if attachments.iter().all(|(other, _)| *other != resource) {
                attachments.push((resource, Texels { area, ..texels }));
            }
        }
        attachments
    }

    /// The commands of a subpass: load operations first, resolve and store operations last.
    pub(super) fn subpass(&mut self, attachments: &[Attached]) -> Vec<Vec<MemoryAccess>> {
        let mut acts = Vec::new();
        let (mut loads, mut stores) = (Vec::new(), Vec::new());
        for attachment in attachments {
            if attachment.is_first && !self.random.one_in(4) {
                let writes = self.random.one_in(2);
                let discards = writes && self.random.one_in(3);
                loads.push(MemoryAccess {
                    discards,
                    ..attached(attachment.image, AccessKind::Load, writes)
                });
            }
            if attachment.is_last && !self.random.one_in(4) {
                let discards = self.random.one_in(3);
                stores.push(MemoryAccess {
                    discards,
                    ..attached(attachment.image, AccessKind::Store, true)
                });
            }
        }
        if !loads.is_empty() {
            acts.push(loads);
        }
        for _ in 0..1 + self.random.below(2) {
            let drawn = self.drawing(attachments);
            acts.extend((!drawn.is_empty()).then_some(drawn));
        }
        if !attachments.is_empty() && self.random.one_in(4) {
            let to = self.attachment();
            let from = self.random.pick(attachments).image;
            if to.0 != from.0 && to.1.aspects == from.1.aspects {
                let to = (
                    to.0,
                    Texels {
                        area: from.1.area,
                        ..to.1
                    },
                );
                let stage = S::COLOR_ATTACHMENT_OUTPUT;
                acts.push(vec![
                    MemoryAccess {
                        stage,
                        access: A::COLOR_ATTACHMENT_READ,
                        ..attached(from, AccessKind::Resolve, false)
                    },
                    MemoryAccess {
                        stage,
                        access: A::COLOR_ATTACHMENT_WRITE,
                        ..attached(to, AccessKind::Resolve, true)
                    },
                ]);
            }
        }
        if !stores.is_empty() {
            acts.push(stores);
        }
        acts
    }

    fn drawing(&mut self, attachments: &[Attached]) -> Vec<MemoryAccess> {
        let mut accesses = Vec::new();
        for attachment in attachments {
            let Attached { image, is_read, .. } = *attachment;
            if self.random.one_in(if is_read { 2 } else { 5 }) {
                let (resource, part) = (image.0, ResourcePart::Texels(image.1));
                let (stage, access) = (S::FRAGMENT_SHADER, A::INPUT_ATTACHMENT_READ);
                accesses.push(MemoryAccess {
                    resource,
                    part,
                    stage,
                    access,
                    kind: AccessKind::Whole,
                    discards: false,
                });
                continue;
            }
            let writes = !is_read && !self.random.one_in(4);
            let mut access = attached(image, AccessKind::Attachment, writes);
            if access.stage != S::COLOR_ATTACHMENT_OUTPUT && self.random.one_in(2) {
                access.stage = S::LATE_FRAGMENT_TESTS;
            }
            accesses.push(access);
            if self.random.one_in(3) {
                accesses.push(attached(image, AccessKind::Attachment, false));
            }
        }
        if self.random.one_in(2) {
            let stage = self.random.pick(&[S::VERTEX_SHADER, S::FRAGMENT_SHADER]);
            accesses.push(self.shader(stage));
        }
        if self.random.one_in(4) {
            let stage = self.random.pick(&[S::INDEX_INPUT, S::DRAW_INDIRECT]);
            accesses.push(self.fetch(stage));
        }
        accesses
    }

    /// The commands of a subpass, with barriers between them.
    pub(super) fn draws(&mut self, out: &mut Commands, acts: &[Vec<MemoryAccess>]) {
        let subpass = self.subpass;
        for act in acts {
            let news: Vec<Touch> = act.iter().map(Touch::from).collect();
            let mut scopes = None;
            if self.careful() {
                let need = self.needs(&news, |of| of == subpass);
                if !need.src.is_empty() {
                    let (dst, dst_access) = self.second(&news);
                    scopes = Some(self.first(
                        need,
                        DependencyScopes {
                            src: S::NONE,
                            src_access: A::NONE,
                            dst,
                            dst_access,
                        },
                    ));
                }
            } else if self.random.one_in(3) {
                let mut drawn = self.scopes(&news);
                if self.random.one_in(2) {
                    drawn.src = self.random.pick(&masks::FRAMEBUFFER);
                    drawn.dst = self.random.pick(&masks::FRAMEBUFFER);
                }
                scopes = Some(drawn);
            }
            if let Some(scopes) = scopes {
                let part = DependencyMemory::Part(news[0].resource, news[0].part);
                let careful = self.care > 50;
                let extent = if careful {
                    DependencyMemory::All
                } else {
                    self.random
                        .pick(&[DependencyMemory::All, DependencyMemory::Execution, part])
                };
                self.push(
                    out,
                    Command::Barrier(vec![Dependency {
                        scopes,
                        memory: extent,
                        change: BarrierChange::None,
                    }]),
                );
            }
            self.record_act(act);
            self.push(out, Command::Action(act.clone()));
        }
    }

    pub(super) fn needs(&mut self, news: &[Touch], among: impl Fn(Option<(u32, u32)>) -> bool) -> Need {
        let mut need = Need::default();
        for new in news {
            let one = self.need(new, |past| among(past.subpass));
            need.join(one);
        }
        need
    }
}
