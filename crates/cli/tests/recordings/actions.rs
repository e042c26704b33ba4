//! Random commands outside of passes, and their accesses.

use ash::vk::{AccessFlags2 as A, ImageLayout as L, PipelineStageFlags2 as S};

use crate::generate::Generator;
use crate::passes;
use crate::recording::*;
use crate::tracker::Access;

impl Generator {
    pub(crate) fn action(&mut self, in_secondary: bool) {
        let command = match self.random.below(if in_secondary { 11 } else { 16 }) {
            0 => self.some_cells(2).map(Command::Fill),
            1 => Some(match self.random.one_in(2) {
                true => Command::Update(Cells {
                    buffer: 0,
                    first: 0,
                    count: 1,
                }),
                false => Command::Update(self.some_cells(2).expect("a buffer")),
            }),
            2 => self.copy_of_buffers(),
            3 => Some(self.copy_to_image()),
            4 => Some(self.copy_from_image()),
            5 => self.between_images(),
            6 => Some(self.clear_of_image()),
            7 => self.resolve(),
            8..11 => self.dispatch(),
            _ => {
                passes::pass(self);
                None
            }
        };
        if let Some(command) = command {
            let accesses = self.accesses(&command);
            self.order(&accesses);
            self.push(command);
            self.perform(&accesses);
        }
    }

    fn rows(&mut self) -> Rows {
        match self.random.one_in(4) {
            true => {
                let first = self.random.below(u64::from(SIDE)) as u32;
                let count = 1 + self.random.below(u64::from(SIDE - first)) as u32;
                Rows { first, count }
            }
            false => Rows {
                first: 0,
                count: SIDE,
            },
        }
    }

    fn copy_of_buffers(&mut self) -> Option<Command> {
        let (from, mut to) = (self.some_cells(2)?, self.some_cells(2)?);
        to.count = from.count;
        let room = self.recording.resources[to.buffer].count;
        let units = |generator: &Generator, cells| generator.units(Target::Cells(cells));
        let fits = to.first + to.count <= room;
        let apart = fits && {
            let read = units(self, from);
            units(self, to).iter().all(|unit| !read.contains(unit))
        };
        apart.then_some(Command::CopyBuffer { from, to })
    }

    fn copy_to_image(&mut self) -> Command {
        let from = self.some_cells(1).expect("a buffer");
        let layouts = [L::GENERAL, L::TRANSFER_DST_OPTIMAL];
        let to = self.some_layer(ImageKind::Color, &layouts, (S::COPY, A::TRANSFER_WRITE));
        Command::CopyToImage {
            from,
            to: to.expect("a color image"),
            rows: self.rows(),
        }
    }

    fn copy_from_image(&mut self) -> Command {
        let to = self.some_cells(1).expect("a buffer");
        let layouts = [L::GENERAL, L::TRANSFER_SRC_OPTIMAL];
        let from = self.some_layer(ImageKind::Color, &layouts, (S::COPY, A::TRANSFER_READ));
        Command::CopyFromImage {
            from: from.expect("a color image"),
            to,
            rows: self.rows(),
        }
    }

    /// A copy or blit of one layer to another.
    fn between_images(&mut self) -> Option<Command> {
        let stage = self.random.pick(&[S::COPY, S::BLIT]);
        let (from, to) = (
            self.choose_layer(ImageKind::Color)?,
            self.choose_layer(ImageKind::Color)?,
        );
        if (from.image, from.layer) == (to.image, to.layer) {
            return None;
        }
        // One image can only have one layout that both of them allow: the general layout works for both.
        let (sources, targets) = match from.image == to.image {
            true => (vec![L::GENERAL], vec![L::GENERAL]),
            false => (
                vec![L::GENERAL, L::TRANSFER_SRC_OPTIMAL],
                vec![L::GENERAL, L::TRANSFER_DST_OPTIMAL],
            ),
        };
        let to = self.in_layout(to, &targets, (stage, A::TRANSFER_WRITE));
        let from = self.in_layout(from, &sources, (stage, A::TRANSFER_READ));
        Some(match stage == S::COPY {
            true => Command::CopyImage {
                from,
                to,
                rows: self.rows(),
            },
            false => Command::Blit { from, to },
        })
    }

    fn clear_of_image(&mut self) -> Command {
        let kind = self.random.pick(&[
            ImageKind::Color,
            ImageKind::Color,
            ImageKind::Multisampled,
            ImageKind::Depth,
        ]);
        let layouts = [L::GENERAL, L::TRANSFER_DST_OPTIMAL];
        let next = (S::CLEAR, A::TRANSFER_WRITE);
        let layer = self.some_layer(kind, &layouts, next);
        let layer = layer.or_else(|| self.some_layer(ImageKind::Color, &layouts, next));
        Command::ClearImage(layer.expect("a color image"))
    }

    fn resolve(&mut self) -> Option<Command> {
        let sources = [L::GENERAL, L::TRANSFER_SRC_OPTIMAL];
        let from = self.some_layer(ImageKind::Multisampled, &sources, (S::RESOLVE, A::TRANSFER_READ))?;
        let targets = [L::GENERAL, L::TRANSFER_DST_OPTIMAL];
        let to = self.some_layer(ImageKind::Color, &targets, (S::RESOLVE, A::TRANSFER_WRITE))?;
        Some(Command::ResolveImage { from, to })
    }

    fn dispatch(&mut self) -> Option<Command> {
        let stage = S::COMPUTE_SHADER;
        let uses = [
            Use::Uniform,
            Use::Read,
            Use::Write,
            Use::Modify,
            Use::Sample,
            Use::Store,
            Use::Load,
        ];
        let mut bindings = self.some_bindings(&uses, 3);
        if !bindings.iter().any(|one| one.used.writes()) {
            let write = self.choose_binding(Use::Write);
            bindings.retain(|one| !self.overlap(one, &write));
            bindings.push(write);
        }
        let bindings = self.prepared(stage, bindings);
        let parameters = self.random.one_in(6).then_some(0);
        Some(Command::Dispatch { bindings, parameters })
    }

    /// The accesses of a command outside of passes.
    fn accesses(&self, command: &Command) -> Vec<Access> {
        let read = |target, stage| self.access(target, stage, A::TRANSFER_READ, false);
        let write = |target, stage| self.access(target, stage, A::TRANSFER_WRITE, true);
        let (cells, layer) = (Target::Cells, Target::Layer);
        match *command {
            Command::Fill(to) | Command::Update(to) => write(cells(to), S::CLEAR),
            Command::CopyBuffer { from, to } => {
                [read(cells(from), S::COPY), write(cells(to), S::COPY)].concat()
            }
            Command::CopyToImage { from, to, .. } => {
                [read(cells(from), S::COPY), write(layer(to), S::COPY)].concat()
            }
            Command::CopyFromImage { from, to, .. } => {
                [read(layer(from), S::COPY), write(cells(to), S::COPY)].concat()
            }
            Command::CopyImage { from, to, .. } => {
                [read(layer(from), S::COPY), write(layer(to), S::COPY)].concat()
            }
            Command::Blit { from, to } => [read(layer(from), S::BLIT), write(layer(to), S::BLIT)].concat(),
            Command::ClearImage(to) => write(layer(to), S::CLEAR),
            Command::ResolveImage { from, to } => {
                [read(layer(from), S::RESOLVE), write(layer(to), S::RESOLVE)].concat()
            }
            Command::Dispatch {
                ref bindings,
                parameters,
            } => {
                let mut accesses = self.accesses_of(S::COMPUTE_SHADER, bindings);
                accesses.extend(parameters.iter().flat_map(|buffer| self.parameters(*buffer)));
                accesses
            }
            ref other => panic!("{other:?} is not an action outside of passes"),
        }
    }
}
