//! Barriers and events.

use ash::vk::{AccessFlags2 as A, PipelineStageFlags2 as S};
use tileheap_sync::program::{
    BarrierChange, Command, Dependency, DependencyMemory, DependencyScopes, EventId,
};

use super::past::{Commands, Draw, Need, Touch};
use super::{masks, places};

impl Draw {
    /// Orders `news` after earlier commands, outside of render pass instances: by masks that fit, or random ones.
    pub(super) fn order(&mut self, out: &mut Commands, news: &[Touch]) {
        let mut dependencies = Vec::new();
        let mut moved = Vec::new();
        if self.careful() {
            let mut need = Need::default();
            for new in news {
                let one = self.need(new, |_| true);
                need.join(one);
            }
            let (dst, dst_access) = self.second(news);
            let images: Vec<Touch> = news
                .iter()
                .filter(|new| !self.is_linear(new.resource))
                .copied()
                .collect();
            if !images.is_empty() && self.random.one_in(3) {
                let image = self.random.pick(&images);
                let touch = Touch::transition(image.resource, image.part, dst);
                let one = self.need(&touch, |_| true);
                need.join(one);
                let mut scopes = self.first(
                    need,
                    DependencyScopes {
                        src: S::NONE,
                        src_access: A::NONE,
                        dst,
                        dst_access,
                    },
                );
                if need.is_empty() {
                    scopes.src = self.random.pick(&[S::NONE, S::TOP_OF_PIPE, S::ALL_COMMANDS]);
                }
                let change = BarrierChange::Layout {
                    discards: self.random.one_in(2),
                };
                dependencies.push(Dependency {
                    scopes,
                    memory: DependencyMemory::Part(image.resource, touch.part),
                    change,
                });
                if need.others || news.len() > 1 {
                    dependencies.push(Dependency {
                        scopes,
                        memory: DependencyMemory::All,
                        change: BarrierChange::None,
                    });
                }
                moved.push(touch);
            } else if !need.src.is_empty() {
                let dst_access = if need.src_access.is_empty() {
                    A::NONE
                } else {
                    dst_access
                };
                let scopes = self.first(
                    need,
                    DependencyScopes {
                        src: S::NONE,
                        src_access: A::NONE,
                        dst,
                        dst_access,
                    },
                );
                let extent = if need.src_access.is_empty() {
                    self.random
                        .pick(&[DependencyMemory::Execution, DependencyMemory::All])
                } else if need.others || news.len() > 1 || self.random.one_in(2) {
                    DependencyMemory::All
                } else {
                    DependencyMemory::Part(news[0].resource, news[0].part)
                };
                dependencies.push(Dependency {
                    scopes,
                    memory: extent,
                    change: BarrierChange::None,
                });
            }
        } else if !self.random.one_in(3) {
            for _ in 0..1 + self.random.below(3) {
                dependencies.push(self.dependency(news, &mut moved));
            }
        }
        if !dependencies.is_empty() {
            let all: Vec<Touch> = news.iter().chain(&moved).copied().collect();
            self.emit(out, dependencies, &all);
        }
        for touch in moved {
            self.record(touch);
        }
    }

    /// The second scopes that fit `news`; writes are only named sometimes, as they need no visibility.
    pub(super) fn second(&mut self, news: &[Touch]) -> (S, A) {
        let mut dst = S::NONE;
        let mut dst_access = A::NONE;
        for new in news {
            dst |= new.stages;
            if !new.writes || self.random.one_in(2) {
                dst_access |= new.access;
            }
        }
        (
            masks::widen(&mut self.random, dst),
            masks::widen_access(&mut self.random, dst_access),
        )
    }

    /// `scopes` with first scopes that fit.
    pub(super) fn first(&mut self, need: Need, scopes: DependencyScopes) -> DependencyScopes {
        let mut src = if need.src_access.is_empty() && !need.src.is_empty() {
            masks::later(&mut self.random, need.src)
        } else {
            masks::widen(&mut self.random, need.src)
        };
        if src.is_empty() && need.waited {
            src = S::ALL_COMMANDS;
        }
        let src_access = masks::widen_access(&mut self.random, need.src_access);
        DependencyScopes {
            src,
            src_access,
            ..scopes
        }
    }

    /// A random dependency, with masks that fit half of the time.
    fn dependency(&mut self, news: &[Touch], moved: &mut Vec<Touch>) -> Dependency {
        let scopes = self.scopes(news);
        let resource = if self.random.one_in(2) {
            news[0].resource
        } else {
            self.resource()
        };
        let described = *self.at(resource);
        let part = places::part(&mut self.random, &described);
        let part = if news[0].resource == resource && self.random.one_in(2) {
            news[0].part
        } else {
            part
        };
        let extent = match self.random.below(5) {
            0 => DependencyMemory::Execution,
            1 => DependencyMemory::All,
            _ => DependencyMemory::Part(resource, part),
        };
        let mut change = BarrierChange::None;
        if matches!(extent, DependencyMemory::Part(..)) && self.random.one_in(2) {
            if self.random.one_in(4) {
                let from = self.random.below(2) as u32;
                change = BarrierChange::Family { from, to: 1 - from };
                let stages = if from == self.family {
                    S::ALL_COMMANDS
                } else {
                    scopes.dst
                };
                moved.push(Touch::transition(resource, part, stages));
            } else if !self.is_linear(resource) {
                change = BarrierChange::Layout {
                    discards: self.random.one_in(2),
                };
                moved.push(Touch::transition(resource, part, scopes.dst));
            }
        }
        Dependency {
            scopes,
            memory: extent,
            change,
        }
    }

    /// Random scopes, each mask fitting half of the time.
    pub(super) fn scopes(&mut self, news: &[Touch]) -> DependencyScopes {
        let mut scopes = masks::scopes(&mut self.random);
        let old = self
            .past
            .iter()
            .rev()
            .find(|past| past.queue == self.queue)
            .map(|past| past.touch);
        if let Some(old) = old {
            if self.random.one_in(2) {
                scopes.src = masks::widen(&mut self.random, old.stages);
            }
            if self.random.one_in(2) {
                scopes.src_access = masks::widen_access(&mut self.random, old.access);
            }
        }
        if !news.is_empty() {
            let new = self.random.pick(news);
            if self.random.one_in(2) {
                scopes.dst = masks::widen(&mut self.random, new.stages);
            }
            if self.random.one_in(2) {
                scopes.dst_access = masks::widen_access(&mut self.random, new.access);
            }
        }
        scopes
    }

    /// Emits the dependencies as one barrier, as two, or as an event.
    fn emit(&mut self, out: &mut Commands, mut dependencies: Vec<Dependency>, news: &[Touch]) {
        let families = dependencies
            .iter()
            .any(|one| matches!(one.change, BarrierChange::Family { .. }));
        let src = dependencies.iter().fold(S::NONE, |src, one| src | one.scopes.src);
        if self.random.one_in(4) && !families && !src.is_empty() && !src.contains(S::HOST) {
            let which = self.random.below(2);
            let events = [
                EventId(2 * self.queue as u64 + which),
                EventId(2 * self.queue as u64 + 1 - which),
            ];
            let first = masks::STAGES
                .into_iter()
                .find(|stage| src.contains(*stage) && src != *stage);
            let mut waited = vec![events[0]];
            match first {
                Some(first) if self.random.one_in(2) => {
                    let rest = S::from_raw(src.as_raw() & !first.as_raw());
                    self.push(out, Command::SetEvent(events[1], first));
                    self.unrelated(out, news);
                    self.push(out, Command::SetEvent(events[0], rest));
                    self.events[self.queue] = [true; 2];
                    waited.push(events[1]);
                }
                _ => {
                    // A wait for an event also is limited to the stages with which it was set.
                    let set = match self.random.one_in(4) {
                        true => masks::stages(&mut self.random) | self.random.pick(&masks::STAGES),
                        false => src,
                    };
                    self.push(out, Command::SetEvent(events[0], set));
                    self.events[self.queue][which as usize] = true;
                }
            }
            self.unrelated(out, news);
            self.push(out, Command::WaitEvents(waited, dependencies));
            if self.random.one_in(3) {
                self.push(out, Command::ResetEvent(events[0]));
                self.events[self.queue][which as usize] = false;
            }
            return;
        }
        if self.random.one_in(5) && dependencies.iter().all(|one| one.change == BarrierChange::None) {
            let middle = self.random.pick(&masks::STAGES);
            let mut first = dependencies.clone();
            for (first, second) in first.iter_mut().zip(&mut dependencies) {
                first.scopes.dst = middle;
                first.scopes.dst_access = A::NONE;
                second.scopes.src = middle;
                second.scopes.src_access = A::NONE;
            }
            self.push(out, Command::Barrier(first));
            self.unrelated(out, news);
        }
        self.push(out, Command::Barrier(dependencies));
    }

    /// Releases a resource to another family, or acquires it from there.
    pub(super) fn transfer_family(&mut self, out: &mut Commands, mut dependency: Dependency) {
        let (DependencyMemory::Part(resource, part), BarrierChange::Family { from, .. }) =
            (dependency.memory, dependency.change)
        else {
            unreachable!("a transfer of a part");
        };
        let releases = from == self.family;
        let stages = if releases {
            S::ALL_COMMANDS
        } else {
            dependency.scopes.dst
        };
        let touch = Touch::transition(resource, part, stages);
        let need = self.need(&touch, |_| true);
        if releases {
            let src = dependency.scopes.src;
            dependency.scopes = self.first(need, dependency.scopes);
            if need.is_empty() {
                dependency.scopes.src = src;
            }
        }
        let mut dependencies = vec![dependency];
        if need.others || !releases && !need.src.is_empty() {
            let scopes = self.first(need, masks::full());
            let all = Dependency {
                scopes,
                memory: DependencyMemory::All,
                change: BarrierChange::None,
            };
            if releases {
                dependencies.push(all);
            } else {
                self.push(out, Command::Barrier(vec![all]));
            }
        }
        self.push(out, Command::Barrier(dependencies));
        self.record(touch);
    }
}
