//! Tracks the accesses that a correct recording must wait for: the last write of each unit of memory, and the reads since.

use std::collections::BTreeMap;

use ash::vk::{AccessFlags2 as A, PipelineStageFlags2 as S};

use crate::recording::Masks;

/// Memory that is ordered as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Unit {
    /// A cell of a place.
    Cell(usize, u32),
    /// A layer of an image: place and layer.
    Layer(usize, u32),
}

impl Unit {
    /// The place that it is part of.
    pub(crate) fn place(self) -> usize {
        match self {
            Unit::Cell(place, _) | Unit::Layer(place, _) => place,
        }
    }
}

/// An access to a unit by a command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) unit: Unit,
    pub(crate) stages: S,
    pub(crate) access: A,
    pub(crate) writes: bool,
}

/// Position of a command: its command buffer, and the number of steps after it there.
pub(crate) type Position = (usize, usize);

#[derive(Clone, Debug, Default)]
struct State {
    writer: Option<(S, A)>,
    readers: S,
    /// Scopes to which the write was made visible.
    visible: Vec<(S, A)>,
    last: Position,
}

/// The accesses that later ones have to be ordered after.
#[derive(Debug, Default)]
pub(crate) struct Tracker {
    states: BTreeMap<Unit, State>,
}

/// A dependency that an access needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Need {
    pub(crate) unit: Unit,
    pub(crate) masks: Masks,
    /// The last command that it waits for.
    pub(crate) last: Position,
}

impl Tracker {
    /// The dependency that an access needs, if any.
    pub(crate) fn need(&self, access: &Access) -> Option<Need> {
        let state = self.states.get(&access.unit)?;
        let (stages, mask) = state.writer.unwrap_or_default();
        let is_visible = state
            .visible
            .iter()
            .any(|(stage, mask)| stage.contains(access.stages) && mask.contains(access.access));
        let waits_for_writer = state.writer.is_some() && !is_visible;
        let waits_for_readers = access.writes && !state.readers.is_empty();
        (waits_for_writer || waits_for_readers).then_some(Need {
            unit: access.unit,
            masks: Masks {
                source: (
                    if access.writes {
                        stages | state.readers
                    } else {
                        stages
                    },
                    mask,
                ),
                destination: (access.stages, access.access),
            },
            last: state.last,
        })
    }

    /// Everything that a transition of the unit's layout has to wait for.
    pub(crate) fn everything(&self, unit: Unit) -> (S, A) {
        let Some(state) = self.states.get(&unit) else {
            return Default::default();
        };
        let (stages, mask) = state.writer.unwrap_or_default();
        (stages | state.readers, mask)
    }

    /// Updates the state after a dependency.
    pub(crate) fn ordered(&mut self, need: &Need) {
        let state = self.states.entry(need.unit).or_default();
        state.visible.push(need.masks.destination);
    }

    /// Updates the state after a command.
    pub(crate) fn performed(&mut self, access: &Access, at: Position) {
        let state = self.states.entry(access.unit).or_default();
        state.last = at;
        if access.writes {
            state.writer = Some((access.stages, access.access & writes()));
            (state.readers, state.visible) = (S::NONE, Vec::new());
        } else {
            state.readers |= access.stages;
        }
    }

    /// Updates the state after a layout transition, after which these stages may access the unit.
    pub(crate) fn transitioned(&mut self, unit: Unit, stages: S, visible: (S, A), at: Position) {
        let state = State {
            writer: Some((stages, A::NONE)),
            readers: S::NONE,
            visible: vec![visible],
            last: at,
        };
        self.states.insert(unit, state);
    }

    /// Orders everything so far before everything that follows.
    pub(crate) fn clear(&mut self) {
        self.states.clear();
    }

    /// Updates positions after a step was inserted.
    pub(crate) fn inserted(&mut self, (buffer, index): Position) {
        for state in self.states.values_mut() {
            if state.last.0 == buffer && state.last.1 > index {
                state.last.1 += 1;
            }
        }
    }
}

/// The accesses that write.
pub(crate) fn writes() -> A {
    A::SHADER_STORAGE_WRITE
        | A::TRANSFER_WRITE
        | A::COLOR_ATTACHMENT_WRITE
        | A::DEPTH_STENCIL_ATTACHMENT_WRITE
        | A::MEMORY_WRITE
}
