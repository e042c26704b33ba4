//! Random frames that reuse few resources in many ways: cleared, discarded, blended, copied, dispatched, in part and as a whole.

use ash::vk;
use ash::vk::ImageAspectFlags as Aspects;
use tileheap::frame::external::ExternalDesc;
use tileheap::frame::tables::SkippedOutputs;
use tileheap::frame::{
    AccessKind, BufferDesc, ClearValue, CommandBufferId, Frame, FrameBuilder, ImageDesc, LoadOp, PassBuilder,
    Persistence, ResourceId,
};
use tileheap::units::{Bytes, SplitMix64};

const SIDE: u32 = 4;

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Color { layers: u32, levels: u32 },
    Depth,
    Buffer,
}

struct Generator {
    random: SplitMix64,
    frame: FrameBuilder,
    resources: Vec<(ResourceId, Kind)>,
    /// True if all of a resource has been written, as far as the generator knows.
    written: Vec<bool>,
    persistent: Vec<bool>,
}

/// A frame, or `None` if the description breaks a rule.
pub(super) fn random_frame(seed: u64) -> Option<Frame> {
    let extent = vk::Extent2D {
        width: SIDE,
        height: SIDE,
    };
    let mut generator = Generator {
        random: SplitMix64::new(seed),
        frame: FrameBuilder::new(format!("random {seed}"), extent),
        resources: Vec::new(),
        written: Vec::new(),
        persistent: Vec::new(),
    };
    let everything = vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE | vk::QueueFlags::TRANSFER;
    let queues = [
        generator.frame.queue("graphics", everything),
        generator
            .frame
            .queue("compute", vk::QueueFlags::COMPUTE | vk::QueueFlags::TRANSFER),
    ];
    for _ in 0..2 + generator.random.below(4) {
        generator.declare();
    }
    let mut before = None;
    for batch in 0..1 + generator.random.below(4) {
        let compute = batch > 0 && generator.random.one_in(3);
        let submit = generator.frame.submit(queues[usize::from(compute)]);
        let id = generator.frame.batch(submit);
        let stages = vk::PipelineStageFlags2::ALL_COMMANDS;
        if let Some(before) = before.replace(id) {
            let semaphore = generator.frame.semaphore(format!("semaphore {batch}"));
            generator.frame.signal(before, semaphore, stages);
            generator.frame.wait(id, semaphore, stages);
        }
        let commands = generator.frame.command_buffer(id, format!("commands {batch}"));
        for pass in 0..1 + generator.random.below(6) {
            generator.pass(commands, &format!("pass {batch} {pass}"), compute);
        }
    }
    generator.frame.build().ok()
}

impl Generator {
    fn declare(&mut self) {
        let persistence = match self.random.below(8) {
            0 => Persistence::History,
            1 => Persistence::External(ExternalDesc::in_layout(vk::ImageLayout::GENERAL)),
            2 => Persistence::External(ExternalDesc::SWAPCHAIN),
            _ => Persistence::Transient,
        };
        let kind = match self.random.below(6) {
            0 => Kind::Depth,
            1 => Kind::Buffer,
            2 => Kind::Color { layers: 2, levels: 2 },
            3 => Kind::Color { layers: 3, levels: 1 },
            _ => Kind::Color { layers: 1, levels: 1 },
        };
        let name = format!("resource {}", self.resources.len());
        let extent = vk::Extent2D {
            width: SIDE,
            height: SIDE,
        };
        let id = match kind {
            Kind::Buffer => self
                .frame
                .resource(name, BufferDesc::new(Bytes(256)), persistence),
            Kind::Depth => {
                let desc = ImageDesc::new(vk::Format::D32_SFLOAT_S8_UINT, extent);
                self.frame.resource(name, desc, persistence)
            }
            Kind::Color { layers, levels } => {
                let desc = ImageDesc {
                    array_layers: layers,
                    mip_levels: levels,
                    separate_levels: levels > 1 && persistence == Persistence::Transient,
                    ..ImageDesc::new(vk::Format::R8G8B8A8_UNORM, extent)
                };
                self.frame.resource(name, desc, persistence)
            }
        };
        let comes_in = match persistence {
            Persistence::External(desc) => {
                kind == Kind::Buffer || desc.entry.layout != vk::ImageLayout::UNDEFINED
            }
            _ => false,
        };
        self.resources.push((id, kind));
        self.written.push(comes_in);
        self.persistent.push(persistence != Persistence::Transient);
    }

    fn pass(&mut self, commands: CommandBufferId, name: &str, compute: bool) {
        match self.random.below(4) {
            0 | 1 if !compute => self.render(commands, name),
            2 => self.transfer(commands, name),
            _ => self.compute(commands, name),
        }
    }

    /// A resource other than those used.
    fn other(&mut self, used: &[usize], wanted: impl Fn(Kind) -> bool) -> Option<usize> {
        let free = (0..self.resources.len()).filter(|index| !used.contains(index));
        let free: Vec<usize> = free.filter(|&index| wanted(self.resources[index].1)).collect();
        (!free.is_empty()).then(|| free[self.random.below(free.len() as u64) as usize])
    }

    fn render(&mut self, commands: CommandBufferId, name: &str) {
        let Some(target) = self.other(&[], |kind| kind != Kind::Buffer) else {
            return self.compute(commands, name);
        };
        let (id, kind) = self.resources[target];
        let read = self.other(&[target], |kind| kind != Kind::Buffer);
        let read = read.filter(|&read| self.written[read] && !self.random.one_in(3));
        let load = self.written[target] && self.random.one_in(3);
        let value = match kind {
            Kind::Depth => ClearValue::DepthStencil(1.0, 0),
            _ => ClearValue::ZERO,
        };
        let clear = match self.random.one_in(2) {
            _ if load => LoadOp::Load,
            true => LoadOp::Clear(value),
            false => LoadOp::DontCare,
        };
        let [partial, small, optional, in_place] = [4, 6, 8, 6].map(|one_in| self.random.one_in(one_in));
        let (layer, level) = (self.random.below(3) as u32, self.random.below(2) as u32);
        let read_layer = self.random.one_in(4);
        let mut pass = self.frame.render_pass(commands, name);
        let mut whole = !small;
        pass = match kind {
            Kind::Depth => {
                pass = pass.depth(id, clear);
                match partial {
                    true => {
                        whole = false;
                        pass.aspect(if level == 0 {
                            Aspects::DEPTH
                        } else {
                            Aspects::STENCIL
                        })
                    }
                    false => pass,
                }
            }
            Kind::Color { layers, levels } => {
                pass = pass.color(id, clear);
                if levels > 1 {
                    whole = false;
                    pass = pass.level(level);
                }
                if layers > 1 && partial {
                    whole = false;
                    pass = pass.layer(layer.min(layers - 1));
                }
                pass
            }
            Kind::Buffer => unreachable!("a buffer is not an attachment"),
        };
        if in_place && matches!(kind, Kind::Color { layers: 1, levels: 1 }) {
            pass = pass.input(id);
        }
        if let Some(read) = read {
            pass = pass.sampled(self.resources[read].0);
            if let (Kind::Color { layers: 2.., .. }, true) = (self.resources[read].1, read_layer) {
                pass = pass.layer(0);
            }
        }
        if small {
            let extent = vk::Extent2D {
                width: SIDE,
                height: SIDE / 2,
            };
            pass = pass.area(extent.into());
        }
        if optional {
            let kept = clear != LoadOp::DontCare;
            pass = pass.optional(if kept {
                SkippedOutputs::Kept
            } else {
                SkippedOutputs::Lost
            });
        }
        let _ = pass;
        self.written[target] |= whole || self.random.one_in(2);
    }

    fn transfer(&mut self, commands: CommandBufferId, name: &str) {
        let Some(target) = self.other(&[], |kind| kind != Kind::Depth) else {
            return;
        };
        let (id, kind) = self.resources[target];
        let read = self.other(&[target], |of| of == kind);
        let read = read.filter(|&read| self.written[read]);
        let [partial, update] = [3, 4].map(|one_in| self.random.one_in(one_in));
        let update = update && self.written[target];
        let mut pass = self.frame.transfer_pass(commands, name);
        pass = match update {
            true => pass.access(id, AccessKind::TransferDestination, false, true, LoadOp::Load),
            false => pass.transfer_destination(id),
        };
        let in_part = partial && matches!(kind, Kind::Color { layers: 2.., .. });
        if in_part {
            pass = pass.layer(1);
        }
        if let Some(read) = read {
            let _ = pass.transfer_source(self.resources[read].0);
        }
        self.written[target] |= !in_part;
    }

    fn compute(&mut self, commands: CommandBufferId, name: &str) {
        let Some(target) = self.other(&[], |kind| kind != Kind::Depth) else {
            return;
        };
        let (id, kind) = self.resources[target];
        let read = self.other(&[target], |_| true);
        let read = read.filter(|&read| self.written[read] && !self.random.one_in(3));
        let [partial, update, optional] = [4, 4, 8].map(|one_in| self.random.one_in(one_in));
        let update = update && self.written[target];
        let previous = self.random.one_in(4) && self.written[target];
        let mut pass = self.frame.compute_pass(commands, name);
        pass = match update {
            true => pass.storage_update(id),
            false => pass.storage_write(id),
        };
        let mut whole = true;
        if let Kind::Color { layers, levels } = kind {
            if levels > 1 || partial {
                whole = levels == 1 && layers == 1;
                pass = pass.level(0).layers(0..layers.min(2));
            }
        }
        if let Some(read) = read {
            pass = match self.resources[read].1 {
                Kind::Buffer => pass.storage_read(self.resources[read].0),
                _ => sampled(pass, self.resources[read]),
            };
        }
        if previous && self.persistent[target] && kind != Kind::Buffer {
            pass = pass.sampled_previous(id);
        }
        if optional {
            let _ = pass.optional(SkippedOutputs::Lost);
        }
        self.written[target] |= whole;
    }
}

fn sampled(pass: PassBuilder<'_>, (id, kind): (ResourceId, Kind)) -> PassBuilder<'_> {
    let pass = pass.sampled(id);
    match kind {
        Kind::Depth => pass.aspect(Aspects::DEPTH),
        _ => pass,
    }
}
