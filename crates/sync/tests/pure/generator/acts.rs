//! Action commands.

use ash::vk::{AccessFlags2 as A, ImageAspectFlags as Aspects, PipelineStageFlags2 as S};
use tileheap_sync::program::{AccessKind, Command, MemoryAccess, ResourceId, ResourcePart, Texels, Tiling};

use super::past::{Commands, Draw, Touch};
use super::places;

impl Draw {
    fn access(&mut self, resource: ResourceId, stage: S, access: A, kind: AccessKind) -> MemoryAccess {
        let described = *self.at(resource);
        let part = places::part(&mut self.random, &described);
        MemoryAccess {
            resource,
            part,
            stage,
            access,
            kind,
            discards: false,
        }
    }

    pub(super) fn is_linear(&self, resource: ResourceId) -> bool {
        self.at(resource).tiling == Tiling::Linear
    }

    /// A resource of this tiling, of which there is always one.
    fn tiled(&mut self, linear: bool) -> ResourceId {
        loop {
            let resource = self.resource();
            if self.is_linear(resource) == linear {
                return resource;
            }
        }
    }

    /// A shader's access through a descriptor.
    pub(super) fn shader(&mut self, stage: S) -> MemoryAccess {
        let resource = self.resource();
        let read = if self.is_linear(resource) {
            A::UNIFORM_READ
        } else {
            A::SHADER_SAMPLED_READ
        };
        let access = self.random.pick(&[
            read,
            read,
            A::SHADER_STORAGE_READ,
            A::SHADER_STORAGE_WRITE,
            A::SHADER_STORAGE_WRITE,
        ]);
        let kind = self
            .random
            .pick(&[AccessKind::Whole, AccessKind::Whole, AccessKind::Partial]);
        self.access(resource, stage, access, kind)
    }

    /// A read of a buffer by a fixed function.
    pub(super) fn fetch(&mut self, stage: S) -> MemoryAccess {
        let resource = self.tiled(true);
        let access = if stage == S::INDEX_INPUT {
            A::INDEX_READ
        } else {
            A::INDIRECT_COMMAND_READ
        };
        self.access(resource, stage, access, AccessKind::Whole)
    }

    /// One side of a copy, sometimes with an area.
    fn transfer(&mut self, stage: S, access: A, image: bool) -> MemoryAccess {
        let resource = if image { self.tiled(false) } else { self.resource() };
        let mut drawn = self.access(resource, stage, access, AccessKind::Whole);
        if let ResourcePart::Texels(texels) = drawn.part {
            if self.random.one_in(2) {
                let levels = places::run(&mut self.random, texels.levels);
                let levels = tileheap_units::Run::new(levels.first, levels.first + 1);
                let area = Some(places::area(&mut self.random));
                drawn.part = ResourcePart::Texels(Texels {
                    levels,
                    area,
                    ..texels
                });
            }
        }
        drawn
    }

    /// A command outside of render pass instances.
    pub(super) fn act(&mut self) -> Vec<MemoryAccess> {
        match self.random.below(8) {
            0..=3 => {
                let mut accesses = vec![self.shader(S::COMPUTE_SHADER)];
                if self.random.one_in(3) {
                    accesses.push(self.shader(S::COMPUTE_SHADER));
                }
                if self.random.one_in(6) {
                    accesses.push(self.fetch(S::DRAW_INDIRECT));
                }
                accesses
            }
            4 | 5 => vec![
                self.transfer(S::COPY, A::TRANSFER_READ, false),
                self.transfer(S::COPY, A::TRANSFER_WRITE, false),
            ],
            6 => {
                let stage = self.random.pick(&[S::BLIT, S::RESOLVE]);
                vec![
                    self.transfer(stage, A::TRANSFER_READ, true),
                    self.transfer(stage, A::TRANSFER_WRITE, true),
                ]
            }
            _ => vec![self.transfer(S::CLEAR, A::TRANSFER_WRITE, false)],
        }
    }

    pub(super) fn record_act(&mut self, accesses: &[MemoryAccess]) {
        for access in accesses {
            self.record(access.into());
        }
    }

    /// A command that needs no order with earlier commands, nor with `news`; if there is one.
    pub(super) fn unrelated(&mut self, out: &mut Commands, news: &[Touch]) {
        for _ in 0..4 {
            let accesses = self.act();
            let free = |access: &MemoryAccess| {
                let touch = Touch::from(access);
                self.before(&touch).next().is_none() && !news.iter().any(|new| self.conflict(new, &touch))
            };
            if accesses.iter().all(free) {
                self.record_act(&accesses);
                self.push(out, Command::Action(accesses));
                return;
            }
        }
    }

    /// An image and its subresources to attach: of one level.
    pub(super) fn attachment(&mut self) -> (ResourceId, Texels) {
        let resource = self.tiled(false);
        let ResourcePart::Texels(all) = places::whole(self.at(resource)) else {
            unreachable!("an image")
        };
        let level = places::run(&mut self.random, all.levels).first;
        let layers = if self.random.one_in(2) {
            all.layers
        } else {
            places::run(&mut self.random, all.layers)
        };
        let levels = tileheap_units::Run::new(level, level + 1);
        (
            resource,
            Texels {
                levels,
                layers,
                ..all
            },
        )
    }
}

/// An access to an attachment.
pub(super) fn attached(attachment: (ResourceId, Texels), kind: AccessKind, writes: bool) -> MemoryAccess {
    let color = attachment.1.aspects == Aspects::COLOR;
    let access = match (color, writes) {
        (true, false) => A::COLOR_ATTACHMENT_READ,
        (true, true) => A::COLOR_ATTACHMENT_WRITE,
        (false, false) => A::DEPTH_STENCIL_ATTACHMENT_READ,
        (false, true) => A::DEPTH_STENCIL_ATTACHMENT_WRITE,
    };
    let stage = match kind {
        _ if color => S::COLOR_ATTACHMENT_OUTPUT,
        AccessKind::Store => S::LATE_FRAGMENT_TESTS,
        _ => S::EARLY_FRAGMENT_TESTS,
    };
    MemoryAccess {
        resource: attachment.0,
        part: ResourcePart::Texels(attachment.1),
        stage,
        access,
        kind,
        discards: false,
    }
}
