//! Random recordings that are synchronized correctly, mostly with the smallest sufficient dependency.

use std::collections::BTreeMap;

use ash::vk::{self, AccessFlags2 as A, ImageLayout as L, PipelineStageFlags2 as S};
use tileheap_units::SplitMix64;

use crate::recording::*;
use crate::tracker::{Access, Position, Tracker, Unit};
use crate::units::units_of;

/// Maximum number of steps of a recording, without those of the last action.
const MAX_STEPS: u32 = 40;

/// A recording without hazards. With `aliased`, several buffers cover the same cells, and no barrier is limited to a buffer.
pub(crate) fn correct_recording(seed: u64, aliased: bool) -> Recording {
    let mut generator = Generator::new(SplitMix64::new(seed), aliased);
    generator.submits();
    generator.recording
}

pub(crate) struct Generator {
    pub(crate) random: SplitMix64,
    pub(crate) recording: Recording,
    pub(crate) aliased: bool,
    pub(crate) tracker: Tracker,
    /// Layouts of image layers, by resource.
    pub(crate) layouts: BTreeMap<(usize, u32), L>,
    /// The command buffer that is recorded.
    current: usize,
    next_id: u32,
}

impl Generator {
    fn new(mut random: SplitMix64, aliased: bool) -> Generator {
        let mut places = vec![Place::Parameters];
        for _ in 0..1 + random.below(3) {
            places.push(Place::Cells(1 + random.below(4) as u32));
        }
        places.push(Place::Texels(ImageKind::Color));
        for kind in [ImageKind::Color, ImageKind::Multisampled, ImageKind::Depth] {
            if random.one_in(2) {
                places.push(Place::Texels(kind));
            }
        }
        let mut resources = Vec::new();
        for (place, kind) in places.iter().enumerate() {
            match *kind {
                Place::Cells(count) => {
                    resources.push(Resource {
                        place,
                        first: 0,
                        count,
                    });
                    for _ in 0..if aliased { 1 + random.below(2) } else { 0 } {
                        let first = random.below(u64::from(count)) as u32;
                        let count = 1 + random.below(u64::from(count - first)) as u32;
                        resources.push(Resource { place, first, count });
                    }
                }
                Place::Parameters => resources.push(Resource {
                    place,
                    first: 0,
                    count: 1,
                }),
                Place::Texels(_) => resources.push(Resource {
                    place,
                    first: 0,
                    count: 0,
                }),
            }
        }
        let recording = Recording {
            places,
            resources,
            command_buffers: Vec::new(),
            submits: Vec::new(),
            events: 0,
        };
        Generator {
            random,
            recording,
            aliased,
            tracker: Tracker::default(),
            layouts: BTreeMap::new(),
            current: 0,
            next_id: 0,
        }
    }

    fn submits(&mut self) {
        for number in 0..1 + self.random.below(3) {
            let before = self.layouts.clone();
            let events = self.recording.events;
            let index = self.recording.command_buffers.len();
            self.recording.command_buffers.push(CommandBuffer::default());
            self.current = index;
            self.submit(index, number > 0);
            for _ in 0..1 + self.random.below(4) {
                if self.next_id < MAX_STEPS {
                    self.some_actions();
                }
            }
            let can_repeat = self.recording.events == events && self.same_layouts(&before);
            if can_repeat && self.random.one_in(4) {
                // Waits for everything before; otherwise the two uses would have to be ordered by their own commands.
                self.submit_after_everything(index);
            }
        }
    }

    fn same_layouts(&self, before: &BTreeMap<(usize, u32), L>) -> bool {
        let known =
            |layouts: &BTreeMap<(usize, u32), L>, key| layouts.get(key).copied().unwrap_or(L::GENERAL);
        self.layouts
            .keys()
            .all(|key| known(&self.layouts, key) == known(before, key))
    }

    fn submit(&mut self, command_buffer: usize, is_later: bool) {
        let mut submit = Submit {
            command_buffer,
            waits_at: None,
            is_waited_for: false,
        };
        if is_later {
            match self.random.below(4) {
                0 => {
                    submit.waits_at = Some(S::ALL_COMMANDS);
                    self.tracker.clear();
                }
                1 => {
                    submit.waits_at =
                        Some(
                            self.random
                                .pick(&[S::COMPUTE_SHADER, S::COPY, S::FRAGMENT_SHADER]),
                        )
                }
                2 => {
                    self.recording.submits.last_mut().expect("a submit").is_waited_for = true;
                    self.tracker.clear();
                }
                _ => {}
            }
        }
        self.recording.submits.push(submit);
    }

    fn submit_after_everything(&mut self, command_buffer: usize) {
        let waits_at = self.random.one_in(2).then_some(S::ALL_COMMANDS);
        if waits_at.is_none() {
            self.recording.submits.last_mut().expect("a submit").is_waited_for = true;
        }
        self.recording.submits.push(Submit {
            command_buffer,
            waits_at,
            is_waited_for: false,
        });
    }

    /// Generates actions with their barriers, in a secondary command buffer or not.
    pub(crate) fn some_actions(&mut self) {
        let primary = self.current;
        let secondary = self
            .random
            .one_in(6)
            .then(|| self.begin_secondary(Inheritance::Outside));
        for _ in 0..1 + self.random.below(3) {
            self.action(secondary.is_some());
        }
        if let Some(secondary) = secondary {
            self.current = primary;
            self.push(Command::Execute(secondary));
        }
    }

    /// Begins a command buffer for the following steps.
    pub(crate) fn begin_secondary(&mut self, inheritance: Inheritance) -> usize {
        self.recording.command_buffers.push(CommandBuffer {
            steps: Vec::new(),
            secondary: Some(inheritance),
        });
        self.current = self.recording.command_buffers.len() - 1;
        self.current
    }

    pub(crate) fn current(&self) -> usize {
        self.current
    }

    pub(crate) fn set_current(&mut self, command_buffer: usize) {
        self.current = command_buffer;
    }

    pub(crate) fn steps(&mut self) -> &mut Vec<Step> {
        &mut self.recording.command_buffers[self.current].steps
    }

    pub(crate) fn step(&mut self, command: Command) -> Step {
        self.next_id += 1;
        Step {
            id: self.next_id,
            command,
        }
    }

    /// The number of the next step.
    pub(crate) fn next_id(&self) -> u32 {
        self.next_id + 1
    }

    pub(crate) fn push(&mut self, command: Command) {
        let step = self.step(command);
        self.steps().push(step);
    }

    pub(crate) fn position(&self) -> Position {
        (
            self.current,
            self.recording.command_buffers[self.current].steps.len(),
        )
    }

    /// Cells of a buffer that is not for parameters.
    pub(crate) fn some_cells(&mut self, most: u32) -> Option<Cells> {
        let buffers = self.resources_of(|place| matches!(place, Place::Cells(_)));
        let buffer = self.random.pick(&buffers);
        let count = self.recording.resources[buffer].count;
        let first = self.random.below(u64::from(count)) as u32;
        let count = 1 + self.random.below(u64::from(most.min(count - first))) as u32;
        Some(Cells { buffer, first, count })
    }

    pub(crate) fn resources_of(&self, is_it: impl Fn(Place) -> bool) -> Vec<usize> {
        let resources = self.recording.resources.iter().enumerate();
        let fitting = resources.filter(|(_, one)| is_it(self.recording.places[one.place]));
        fitting.map(|(index, _)| index).collect()
    }

    /// A layer of an image of this kind in one of these layouts, after a transition if it is needed.
    pub(crate) fn some_layer(&mut self, kind: ImageKind, layouts: &[L], next: (S, A)) -> Option<Layer> {
        let layer = self.choose_layer(kind)?;
        Some(self.in_layout(layer, layouts, next))
    }

    /// A layer in its current layout.
    pub(crate) fn choose_layer(&mut self, kind: ImageKind) -> Option<Layer> {
        let images = self.resources_of(|place| place == Place::Texels(kind));
        if images.is_empty() {
            return None;
        }
        let image = self.random.pick(&images);
        let layer = self.random.below(u64::from(kind.layers())) as u32;
        let layout = self.layout(image, layer);
        Some(Layer { image, layer, layout })
    }

    pub(crate) fn layout(&self, image: usize, layer: u32) -> L {
        self.layouts.get(&(image, layer)).copied().unwrap_or(L::GENERAL)
    }

    /// The layer in one of these layouts, after a transition if it is needed; sometimes after an unneeded one.
    pub(crate) fn in_layout(&mut self, layer: Layer, layouts: &[L], next: (S, A)) -> Layer {
        let layout = self.layout(layer.image, layer.layer);
        if layouts.contains(&layout) && !self.random.one_in(8) {
            return Layer { layout, ..layer };
        }
        let to = self.random.pick(layouts);
        let kind = self.recording.image_kind(layer.image);
        let whole = (0..kind.layers()).all(|other| self.layout(layer.image, other) == layout);
        let (first, count) = match whole && self.random.one_in(2) {
            true => (0, kind.layers()),
            false => (layer.layer, 1),
        };
        let place = self.recording.resources[layer.image].place;
        let units = (first..first + count).map(|one| Unit::Layer(place, one));
        let source = units.clone().fold((S::NONE, A::NONE), |(stages, access), unit| {
            let (more, mask) = self.tracker.everything(unit);
            (stages | more, access | mask)
        });
        let member = Member {
            scope: Scope::Image {
                image: layer.image,
                first,
                count,
                from: layout,
                to,
            },
            masks: Masks {
                source,
                destination: next,
            },
        };
        let second = self.random.one_in(2);
        self.push(Command::Barrier(Barrier {
            second,
            members: vec![member],
        }));
        let at = self.position();
        for unit in units {
            self.tracker.transitioned(unit, next.0, next, at);
        }
        for one in first..first + count {
            self.layouts.insert((layer.image, one), to);
        }
        Layer { layout: to, ..layer }
    }

    /// Bindings that do not conflict with each other.
    pub(crate) fn some_bindings(&mut self, uses: &[Use], most: u64) -> Vec<Binding> {
        let mut bindings: Vec<Binding> = Vec::new();
        for _ in 0..self.random.below(most + 1) {
            let used = self.random.pick(uses);
            let binding = self.choose_binding(used);
            if !bindings.iter().any(|one| self.overlap(one, &binding)) {
                bindings.push(binding);
            }
        }
        bindings
    }

    /// Bindings with their images in the layouts that they need.
    pub(crate) fn prepared(&mut self, stage: S, mut bindings: Vec<Binding>) -> Vec<Binding> {
        for binding in &mut bindings {
            if let Target::Layer(layer) = binding.target {
                let layouts: &[L] = match binding.used {
                    Use::Sample => &[L::GENERAL, L::SHADER_READ_ONLY_OPTIMAL],
                    _ => &[L::GENERAL],
                };
                binding.target =
                    Target::Layer(self.in_layout(layer, layouts, (stage, binding.used.access())));
            }
        }
        bindings
    }

    /// Bindings that conflict, or use layers of one image.
    pub(crate) fn overlap(&self, a: &Binding, b: &Binding) -> bool {
        let units = self.units(a.target);
        self.units(b.target).iter().any(|unit| match unit {
            Unit::Layer(place, _) => units
                .iter()
                .any(|one| matches!(one, Unit::Layer(other, _) if other == place)),
            Unit::Cell(..) => units.contains(unit),
        })
    }

    pub(crate) fn choose_binding(&mut self, used: Use) -> Binding {
        let target = match used {
            Use::Sample | Use::Store | Use::Load => {
                Target::Layer(self.choose_layer(ImageKind::Color).expect("a color image"))
            }
            _ => Target::Cells(self.some_cells(1).expect("a buffer")),
        };
        Binding { used, target }
    }

    /// The units of a target.
    pub(crate) fn units(&self, target: Target) -> Vec<Unit> {
        units_of(&self.recording, target)
    }

    pub(crate) fn access(&self, target: Target, stages: S, access: A, writes: bool) -> Vec<Access> {
        let units = self.units(target).into_iter();
        units
            .map(|unit| Access {
                unit,
                stages,
                access,
                writes,
            })
            .collect()
    }

    pub(crate) fn accesses_of(&self, stage: S, bindings: &[Binding]) -> Vec<Access> {
        let all = bindings.iter();
        all.flat_map(|one| self.access(one.target, stage, one.used.access(), one.used.writes()))
            .collect()
    }

    pub(crate) fn parameters(&self, buffer: usize) -> Vec<Access> {
        let cells = Cells {
            buffer,
            first: 0,
            count: 1,
        };
        self.access(
            Target::Cells(cells),
            S::DRAW_INDIRECT,
            A::INDIRECT_COMMAND_READ,
            false,
        )
    }

    pub(crate) fn perform(&mut self, accesses: &[Access]) {
        let at = self.position();
        for access in accesses {
            self.tracker.performed(access, at);
        }
    }
}

/// The stages and accesses of attachments of one kind.
pub(crate) fn attachment_scope(kind: ImageKind) -> (S, A) {
    match kind {
        ImageKind::Depth => (
            S::EARLY_FRAGMENT_TESTS | S::LATE_FRAGMENT_TESTS,
            A::DEPTH_STENCIL_ATTACHMENT_READ | A::DEPTH_STENCIL_ATTACHMENT_WRITE,
        ),
        _ => (
            S::COLOR_ATTACHMENT_OUTPUT,
            A::COLOR_ATTACHMENT_READ | A::COLOR_ATTACHMENT_WRITE,
        ),
    }
}

/// The layout of attachments of one kind.
pub(crate) fn attachment_layout(kind: ImageKind) -> vk::ImageLayout {
    match kind {
        ImageKind::Depth => L::DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
        _ => L::COLOR_ATTACHMENT_OPTIMAL,
    }
}
