//! The contents of every byte and texel, by the rules of `Model` but with a value for each cell.

mod aliases;
mod ownership;
mod rules;

pub(super) use ownership::IMPLICIT;
pub(super) use rules::Rules;

use std::collections::{BTreeMap, BTreeSet};

use tileheap_sync::Certainty;
use tileheap_sync::program::*;

/// Size of pages in which a linear and an optimal neighbor alias.
pub(super) const PAGE: u64 = 16;

/// A cell of a resource: a byte, or a level, a layer and a column; the last column represents the rest of the image, which areas leave out.
pub(super) type Cell = [u64; 3];

pub(super) const COLUMNS: u64 = 5;

pub(super) fn cells(part: &ResourcePart) -> Vec<Cell> {
    match part {
        ResourcePart::Bytes(first, end) => (*first..*end).map(|byte| [byte, 0, 0]).collect(),
        ResourcePart::Texels(texels) => {
            let columns = texels
                .area
                .map_or(0..COLUMNS, |[x, ..]| u64::from(x.first)..u64::from(x.end));
            let levels = texels.levels.first..texels.levels.end;
            levels
                .flat_map(|level| (texels.layers.first..texels.layers.end).map(move |layer| (level, layer)))
                .flat_map(|(level, layer)| {
                    columns
                        .clone()
                        .map(move |column| [level.into(), layer.into(), column])
                })
                .collect()
        }
    }
}

pub(super) fn whole(resource: &Resource) -> ResourcePart {
    match resource.tiling {
        Tiling::Linear | Tiling::Unknown => ResourcePart::Bytes(0, resource.end - resource.first),
        Tiling::Optimal(texels) => ResourcePart::Texels(texels),
    }
}

/// Reason of a loss, with the tag of its command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Why {
    Never,
    Discarded(u64),
    Overwritten(u64),
    Through(u64),
    Memory(u64),
    Taken(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    /// Written by a command, whether that is certain, the resource that it was written through, and the last write through another one.
    Written(u64, bool, ResourceId, Option<(u64, ResourceId)>),
    /// Written through an alias, after the last write through the resource.
    Through(u64, Option<u64>),
    Lost(Why, Certainty, Option<u64>),
}

/// The contents of a cell.
#[derive(Clone, Debug)]
struct State {
    value: Value,
    /// Bytes of an image that were discarded since the cell was written, the first discard of them, and the last write before it.
    gone: BTreeSet<u64>,
    first: Option<(u64, Option<u64>)>,
    /// The release that no acquire or write has followed.
    released: Option<u64>,
    /// The queue family that owns it.
    owner: Option<u32>,
}

impl State {
    fn new(value: Value) -> State {
        State {
            value,
            gone: BTreeSet::new(),
            first: None,
            released: None,
            owner: None,
        }
    }

    fn is_released(&self) -> bool {
        self.released.is_some() && !self.is_lost()
    }

    fn is_undefined(&self) -> bool {
        self.is_released() || self.is_lost()
    }

    fn is_lost(&self) -> bool {
        matches!(self.value, Value::Lost(..))
    }

    /// Returns true for a store operation of lost or discarded contents, which keeps them.
    fn is_kept_by(&self, kind: AccessKind) -> bool {
        kind == AccessKind::Store && (self.is_undefined() || !self.gone.is_empty())
    }

    fn last(&self) -> Option<u64> {
        match self.value {
            Value::Written(by, ..) | Value::Through(by, _) => Some(by),
            Value::Lost(_, _, last) => last,
        }
    }

    fn lose(&mut self, why: Why, verdict: Certainty, rules: Rules) {
        if let Value::Lost(known, certainty, _) = self.value {
            let gives_way = match (known, why) {
                (Why::Never, Why::Discarded(_)) => rules.discards_replace_never_written,
                (Why::Never, Why::Memory(_)) => !rules.memory_discards_keep_never_written,
                _ => !rules.first_loss_remains,
            };
            if certainty >= verdict && !gives_way {
                return;
            }
        }
        let last = self.last().filter(|_| rules.last_write);
        self.value = Value::Lost(why, verdict, last);
        if verdict == Certainty::Certain {
            (self.gone, self.first) = (BTreeSet::new(), None);
        }
    }

    /// The bytes of an image that are undefined if the cell is located there.
    fn undefined(&self, all: &BTreeSet<u64>) -> BTreeSet<u64> {
        match self.value {
            Value::Lost(_, Certainty::Certain, _) => all.clone(),
            _ => self.gone.clone(),
        }
    }
}

/// A finding: the reason, the last write, the bytes.
pub(super) type Loss = (Why, Option<u64>, (u64, u64));

/// The losses that a read may report; it has to report one of them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ExpectedLoss {
    pub(super) any_of: Vec<Loss>,
    pub(super) is_partial: bool,
    pub(super) verdict: Certainty,
}

/// The contents that a discard may report; it has to report one of them: bytes with their last write.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ExpectedDiscard {
    pub(super) any_of: Vec<((u64, u64), u64)>,
    pub(super) verdict: Certainty,
}

/// The run of adjacent bytes in a set that contains a byte.
fn run(bytes: &BTreeSet<u64>, at: u64) -> (u64, u64) {
    let first = (0..=at).rev().take_while(|byte| bytes.contains(byte)).last();
    let last = (at..).take_while(|byte| bytes.contains(byte)).last();
    (first.unwrap_or(at), last.unwrap_or(at) + 1)
}

fn first_run(bytes: &BTreeSet<u64>) -> Option<(u64, u64)> {
    bytes.first().map(|first| run(bytes, *first))
}

pub(super) struct Naive {
    rules: Rules,
    /// The queue family of the next access; `None` for the host.
    pub(super) family: Option<u32>,
    resources: Vec<Resource>,
    cells: Vec<BTreeMap<Cell, State>>,
}

impl Naive {
    pub(super) fn new(resources: &[Resource], rules: Rules) -> Naive {
        let never = |resource: &Resource| {
            let lost = State::new(Value::Lost(Why::Never, Certainty::Certain, None));
            let all = cells(&whole(resource)).into_iter();
            all.map(|cell| (cell, lost.clone())).collect()
        };
        Naive {
            rules,
            family: None,
            cells: resources.iter().map(never).collect(),
            resources: resources.to_vec(),
        }
    }

    fn class(&self, resource: ResourceId) -> usize {
        self.resources[resource.0 as usize].alias_of.unwrap_or(resource).0 as usize
    }

    fn is_linear(&self, class: usize) -> bool {
        self.resources[class].tiling == Tiling::Linear
    }

    fn all_bytes(&self, class: usize) -> BTreeSet<u64> {
        (self.resources[class].first..self.resources[class].end).collect()
    }

    pub(super) fn write(&mut self, tag: u64, access: &MemoryAccess, keeps: bool) {
        let class = self.class(access.resource);
        let is_exact = access.kind != AccessKind::Partial;
        if is_exact && (!keeps || self.rules.transitions_take) {
            self.take(tag, class, &access.part);
        }
        let family = self.new_owner(class);
        for cell in cells(&access.part) {
            let Some(state) = self.cells[class].get_mut(&cell) else {
                continue;
            };
            let stays = self.rules.stores_keep_losses && state.is_kept_by(access.kind);
            if access.discards {
                state.lose(Why::Discarded(tag), Certainty::Certain, self.rules);
                state.owner = family;
            } else if !keeps && !stays {
                let through = access.resource;
                let replaced = match state.value {
                    Value::Written(by, _, other, _) if other != through => Some((by, other)),
                    Value::Written(.., replaced) => replaced,
                    _ => None,
                };
                let written = Value::Written(tag, is_exact, through, replaced);
                let owner = state.owner_after_write(family, is_exact, self.rules);
                let before = std::mem::replace(state, State::new(written));
                state.owner = owner;
                if !self.rules.writes_define {
                    (state.gone, state.first) = (before.gone, before.first);
                }
            }
        }
        let own = self.resources[class];
        let bytes: Vec<u64> = match access.part {
            ResourcePart::Bytes(first, end) => (own.first + first..own.first + end).collect(),
            ResourcePart::Texels(_) => (own.first..own.end).collect(),
        };
        for other in 0..self.resources.len() {
            if other != class && self.resources[other].alias_of.is_none() {
                self.write_alias(tag, access, (class, &bytes), other);
            }
        }
    }

    /// Makes bytes undefined.
    pub(super) fn discard(&mut self, tag: u64, first: u64, end: u64) {
        let rules = self.rules;
        for class in 0..self.resources.len() {
            let (resource, is_linear) = (self.resources[class], self.is_linear(class));
            let all: BTreeSet<u64> = self.all_bytes(class);
            let bytes: BTreeSet<u64> = all.range(first..end).copied().collect();
            for (index, (cell, state)) in self.cells[class].iter_mut().enumerate() {
                if is_linear {
                    let is_hit = bytes.contains(&(resource.first + cell[0]));
                    if is_hit || !rules.discards_are_exact_in_buffers && !bytes.is_empty() {
                        state.lose(Why::Memory(tag), Certainty::Certain, rules);
                    }
                    continue;
                }
                let is_lost = matches!(state.value, Value::Lost(_, Certainty::Certain, _));
                let is_told = !is_lost || bytes == all;
                let is_elsewhere = !rules.images_are_anywhere && index % 2 == 1;
                if bytes.is_empty() || !is_told || is_elsewhere {
                    continue;
                }
                let first = state.first.unwrap_or((tag, state.last()));
                let mut gone = bytes.clone();
                if rules.discards_add_up {
                    gone.extend(&state.gone);
                }
                if gone == all {
                    let known = state.first.map_or(tag, |first| first.0);
                    state.lose(Why::Memory(known), Certainty::Certain, rules);
                    if let Value::Lost(Why::Memory(_), _, last) = &mut state.value {
                        *last = first.1.filter(|_| rules.last_write);
                    }
                } else {
                    state.gone = gone;
                    state.first = Some((first.0, first.1.filter(|_| rules.last_write)));
                }
            }
        }
    }

    /// The losses of a read; `None` if its contents are defined.
    pub(super) fn read(&mut self, tag: u64, access: &MemoryAccess) -> Option<ExpectedLoss> {
        let class = self.class(access.resource);
        let before = self.cells[class].clone();
        self.take(tag, class, &access.part);
        let found = self.found(access);
        if access.kind == AccessKind::Partial && self.rules.partial_reads_take_nothing {
            self.cells[class] = before;
        }
        found
    }

    /// The losses of a read, after it has taken ownership.
    fn found(&self, access: &MemoryAccess) -> Option<ExpectedLoss> {
        let class = self.class(access.resource);
        let all = self.all_bytes(class);
        let of_cell = &self.cells[class];
        let read: Vec<(Cell, &State)> = cells(&access.part)
            .iter()
            .map(|cell| (*cell, &of_cell[cell]))
            .collect();
        let least = read
            .iter()
            .map(|(_, state)| match state.value {
                Value::Lost(_, verdict, _) => Some(verdict),
                _ => state.released.map(|_| Certainty::Certain),
            })
            .min()
            .flatten();
        let (partial, losses) = self.partial(access, &read, &all);
        if let Some(verdict) = least.filter(|least| partial.is_none_or(|partial| partial <= *least)) {
            let lost = |(cell, state): &(Cell, &State)| match state.value {
                Value::Lost(why, known, last) if known == verdict => {
                    Some((why, last, self.run_of(class, &read, *cell, State::is_undefined)))
                }
                Value::Written(..) | Value::Through(..) if verdict == Certainty::Certain => {
                    let last = state.last().filter(|_| self.rules.last_write);
                    let bytes = self.run_of(class, &read, *cell, State::is_undefined);
                    state.released.map(|tag| (Why::Discarded(tag), last, bytes))
                }
                _ => None,
            };
            let mut any_of: Vec<_> = read.iter().filter_map(lost).collect();
            if any_of.iter().any(|(_, last, _)| last.is_some()) {
                any_of.retain(|(_, last, _)| last.is_some());
            }
            return Some(ExpectedLoss {
                any_of,
                is_partial: false,
                verdict,
            });
        }
        partial.map(|verdict| ExpectedLoss {
            any_of: losses,
            is_partial: true,
            verdict,
        })
    }

    /// The most certain losses of a part of the read contents.
    fn partial(
        &self,
        access: &MemoryAccess,
        read: &[(Cell, &State)],
        all: &BTreeSet<u64>,
    ) -> (Option<Certainty>, Vec<Loss>) {
        let (class, rules) = (self.class(access.resource), self.rules);
        let is_all = self.is_linear(class) || read.len() == self.cells[class].len();
        let is_all = is_all && matches!(access.kind, AccessKind::Whole | AccessKind::Load);
        let if_all = |verdict| match is_all || !rules.smaller_reads_are_possible {
            true => verdict,
            false => Certainty::Possible,
        };
        let undefined = read.iter().map(|(_, state)| state.undefined(all));
        let common: BTreeSet<u64> = undefined.reduce(|one, other| &one & &other).unwrap_or_default();
        let mut found: Vec<(Certainty, Loss)> = Vec::new();
        let is_through = |state: &State| matches!(state.value, Value::Through(..));
        for (cell, state) in read {
            let run = |is: fn(&State) -> bool| self.run_of(class, read, *cell, is);
            match state.value {
                Value::Lost(why @ Why::Memory(_), verdict, last) if rules.partial_discards_are_reported => {
                    let is_part = rules.lost_parts_of_images_are_possible && !self.is_linear(class);
                    let verdict = match is_part {
                        true => Certainty::Possible,
                        false => if_all(verdict),
                    };
                    found.push((verdict, (why, last, run(State::is_lost))));
                }
                Value::Lost(why @ (Why::Overwritten(_) | Why::Taken(_)), _, last) => {
                    found.push((Certainty::Possible, (why, last, run(State::is_lost))));
                }
                Value::Through(by, last) if last.is_some() || !rules.only_own_contents_are_replaced => {
                    found.push((Certainty::Possible, (Why::Through(by), last, run(is_through))));
                }
                Value::Written(by, _, through, Some((last, other)))
                    if through != access.resource
                        && other == access.resource
                        && rules.equal_images_are_aliases =>
                {
                    let last = Some(last).filter(|_| rules.last_write);
                    found.push((Certainty::Possible, (Why::Through(by), last, run(is_through))));
                }
                _ => {}
            }
            if let Some(tag) = state.released.filter(|_| !state.is_lost()) {
                let last = state.last().filter(|_| rules.last_write);
                let loss = (Why::Discarded(tag), last, run(State::is_released));
                found.push((Certainty::Possible, loss));
            }
            let Some((by, last)) = state.first.filter(|_| rules.partial_discards_are_reported) else {
                continue;
            };
            let own = first_run(&state.gone);
            let (verdict, bytes) = match (first_run(&common), own) {
                (Some(bytes), _) => (if_all(Certainty::Certain), bytes),
                (None, Some(bytes)) if !rules.partial_loss_needs_common_bytes => {
                    (if_all(Certainty::Certain), bytes)
                }
                (None, Some(bytes)) => (Certainty::Possible, bytes),
                (None, None) => continue,
            };
            found.push((verdict, (Why::Memory(by), last, bytes)));
        }
        let most = found.iter().map(|one| one.0).max();
        let of_most = found.iter().filter(|one| Some(one.0) == most);
        (most, of_most.map(|one| one.1).collect())
    }

    /// The bytes of a cell, with adjacent ones that are also read and have the same state.
    fn run_of(
        &self,
        class: usize,
        read: &[(Cell, &State)],
        cell: Cell,
        is_alike: fn(&State) -> bool,
    ) -> (u64, u64) {
        let Resource { first, end, .. } = self.resources[class];
        if !self.is_linear(class) {
            return (first, end);
        }
        let alike = read.iter().filter(|(_, state)| is_alike(state));
        let bytes: BTreeSet<u64> = alike.map(|(cell, _)| first + cell[0]).collect();
        run(&bytes, first + cell[0])
    }

    /// The contents that a discard reports, before it is applied.
    pub(super) fn defined(&self, discard: &Discard) -> Option<ExpectedDiscard> {
        if !discard.reports_contents && self.rules.discards_report_on_request {
            return None;
        }
        let mut found: Vec<(Certainty, (u64, u64), u64)> = Vec::new();
        for class in 0..self.resources.len() {
            if self.resources[class].alias_of.is_none() {
                let range = self.all_bytes(class);
                let range: BTreeSet<u64> = range.range(discard.first..discard.end).copied().collect();
                match self.is_linear(class) {
                    true => found.extend(self.defined_bytes(class, &range)),
                    false => found.extend(self.defined_image(class, &range)),
                }
            }
        }
        let verdict = found.iter().map(|one| one.0).max()?;
        found.retain(|one| one.0 == verdict);
        let first = found.iter().map(|one| one.1.0).min()?;
        found.retain(|one| one.1.0 == first);
        Some(ExpectedDiscard {
            any_of: found.into_iter().map(|(_, bytes, by)| (bytes, by)).collect(),
            verdict,
        })
    }

    fn value(&self, state: &State) -> Option<(u64, bool)> {
        match state.value {
            Value::Written(by, is_certain, ..) => {
                Some((by, is_certain || !self.rules.partial_writes_are_possible))
            }
            Value::Through(by, _) if self.rules.aliases_hold => Some((by, true)),
            _ => None,
        }
    }

    fn defined_bytes(&self, class: usize, range: &BTreeSet<u64>) -> Vec<(Certainty, (u64, u64), u64)> {
        let first = self.resources[class].first;
        let values: BTreeMap<u64, (u64, bool)> = self.cells[class]
            .iter()
            .filter_map(|(cell, state)| Some((first + cell[0], self.value(state)?)))
            .filter(|(byte, _)| range.contains(byte))
            .collect();
        let each = values.iter().map(|(byte, (by, is_certain))| {
            let alike = values.iter().filter(|(_, other)| **other == (*by, *is_certain));
            let alike: BTreeSet<u64> = alike.map(|(byte, _)| *byte).collect();
            let verdict = match is_certain {
                true => Certainty::Certain,
                false => Certainty::Possible,
            };
            (verdict, run(&alike, *byte), *by)
        });
        each.collect()
    }

    fn defined_image(&self, class: usize, range: &BTreeSet<u64>) -> Vec<(Certainty, (u64, u64), u64)> {
        let rules = self.rules;
        let all = self.all_bytes(class);
        let states: Vec<&State> = self.cells[class].values().collect();
        let held = |state: &State| match rules.discarded_bytes_hold_nothing {
            true => range - &state.gone,
            false => range.clone(),
        };
        let mut found = Vec::new();
        for state in &states {
            let Some((by, is_certain)) = self.value(state) else {
                continue;
            };
            let Some(bytes) = first_run(&held(state)) else {
                continue;
            };
            let is_entire = is_certain && *range == all && state.gone.is_empty();
            let is_certain = is_entire || !rules.some_of_an_image_is_possible;
            let verdict = if is_certain {
                Certainty::Certain
            } else {
                Certainty::Possible
            };
            found.push((verdict, bytes, by));
        }
        let are_certain = states
            .iter()
            .all(|state| self.value(state).is_some_and(|value| value.1));
        let common = states.iter().map(|state| held(state));
        let common = common.reduce(|one, other| &one & &other).unwrap_or_default();
        let is_entire = found.iter().any(|one| one.0 == Certainty::Certain);
        if let Some(bytes) = first_run(&common).filter(|_| are_certain && !is_entire) {
            let each = states.iter().filter_map(|state| self.value(state));
            found.extend(each.map(|(by, _)| (Certainty::Certain, bytes, by)));
        }
        found
    }
}
