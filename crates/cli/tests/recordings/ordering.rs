//! Random dependencies that order accesses after earlier ones.

use ash::vk::{AccessFlags2 as A, PipelineStageFlags2 as S};

use crate::generate::Generator;
use crate::recording::*;
use crate::tracker::{Access, Need, Unit};

impl Generator {
    /// Records the dependencies that these accesses need.
    pub(crate) fn order(&mut self, accesses: &[Access]) {
        let needs: Vec<Need> = accesses
            .iter()
            .filter_map(|access| self.tracker.need(access))
            .collect();
        if needs.is_empty() {
            return;
        }
        match self.random.below(9) {
            0 => {
                let everything = (S::ALL_COMMANDS, A::MEMORY_READ | A::MEMORY_WRITE);
                let masks = Masks {
                    source: everything,
                    destination: everything,
                };
                let second = self.random.one_in(2);
                let members = vec![Member {
                    scope: Scope::Memory,
                    masks,
                }];
                self.push(Command::Barrier(Barrier { second, members }));
                self.tracker.clear();
                return;
            }
            1 if self.can_use_event(&needs) => self.event(&needs),
            1 | 2 => {
                let barrier = Barrier {
                    second: self.random.one_in(2),
                    members: vec![merged(&needs)],
                };
                self.push(Command::Barrier(barrier));
            }
            3 => {
                for need in &needs {
                    let members = vec![self.member(need)];
                    let second = self.random.one_in(2);
                    self.push(Command::Barrier(Barrier { second, members }));
                }
            }
            _ => {
                let members = needs.iter().map(|need| self.member(need)).collect();
                let second = !self.random.one_in(3);
                self.push(Command::Barrier(Barrier { second, members }));
            }
        }
        for need in &needs {
            self.tracker.ordered(need);
        }
    }

    fn member(&mut self, need: &Need) -> Member {
        let scope = match self.random.one_in(3) || self.aliased {
            true => Scope::Memory,
            false => self.scope(need.unit),
        };
        Member {
            scope,
            masks: need.masks,
        }
    }

    /// A scope of the unit's resource, if each place has a single one.
    fn scope(&self, unit: Unit) -> Scope {
        let (Unit::Cell(place, first) | Unit::Layer(place, first)) = unit;
        let resource = self.recording.resources.iter().position(|one| one.place == place);
        let resource = resource.expect("a place has a resource");
        match unit {
            Unit::Cell(..) => Scope::Buffer(Cells {
                buffer: resource,
                first,
                count: 1,
            }),
            Unit::Layer(..) => {
                let layout = self.layout(resource, first);
                Scope::Image {
                    image: resource,
                    first,
                    count: 1,
                    from: layout,
                    to: layout,
                }
            }
        }
    }

    /// Returns true if all of it is in this command buffer.
    fn can_use_event(&self, needs: &[Need]) -> bool {
        needs.iter().all(|need| need.last.0 == self.current())
    }

    /// Adds an event that is set after the last command to wait for.
    fn event(&mut self, needs: &[Need]) {
        let members = match self.random.one_in(2) {
            true => vec![merged(needs)],
            false => needs.iter().map(|need| self.member(need)).collect(),
        };
        let barrier = Barrier {
            second: self.random.one_in(2),
            members,
        };
        let event = self.recording.events;
        self.recording.events += 1;
        let last = needs.iter().map(|need| need.last.1).max().expect("a need");
        let set = self.step(Command::SetEvent {
            event,
            barrier: barrier.clone(),
        });
        self.steps().insert(last, set);
        self.tracker.inserted((self.current(), last));
        self.push(Command::WaitEvent { event, barrier });
    }
}

/// One memory barrier for all of it.
fn merged(needs: &[Need]) -> Member {
    let union = |a: (S, A), b: (S, A)| (a.0 | b.0, a.1 | b.1);
    let masks = needs.iter().fold(Masks::default(), |masks, need| Masks {
        source: union(masks.source, need.masks.source),
        destination: union(masks.destination, need.masks.destination),
    });
    Member {
        scope: Scope::Memory,
        masks,
    }
}
