//! The validation of problems: items become units, and conflicts become edges between them.

use tileheap_units::CompactSort;

use super::problem::{Item, Problem, ProblemDesc, Unit};
use super::{Error, Result, gap};
use crate::units::{Bytes, Run, Span};

impl Problem {
    pub(super) fn build(desc: ProblemDesc) -> Result<Problem> {
        let mut problem = Problem {
            units: Vec::with_capacity(desc.items.len()),
            members: Vec::with_capacity(desc.items.len()),
            unit_conflicts: Vec::new(),
            is_irregular: false,
            desc,
        };
        problem.form_units()?;
        problem.is_irregular = !problem.units.iter().all(Unit::is_plain);
        problem.check_sum()?;
        if !problem.desc.conflicts.is_empty() {
            problem.form_conflicts()?;
        }
        problem.check_fixed()?;
        Ok(problem)
    }

    /// Forms units from single items and groups, in the order of their first items.
    fn form_units(&mut self) -> Result<()> {
        let items = &self.desc.items;
        let group = |(index, item): (u32, &Item)| Some((item.together?, index));
        let mut grouped: Vec<(u32, u32)> = (0..).zip(items).filter_map(group).collect();
        grouped.compact_sort();
        for (index, item) in items.iter().enumerate() {
            let first = self.members.len() as u32;
            match item.together {
                None => self.members.push(index as u32),
                Some(group) => {
                    let from = grouped.partition_point(|&(other, _)| other < group);
                    if grouped[from].1 != index as u32 {
                        continue;
                    }
                    let same = grouped[from..].iter().take_while(|&&(other, _)| other == group);
                    self.members.extend(same.map(|&(_, member)| member));
                }
            }
            let members = Run {
                first,
                end: self.members.len() as u32,
            };
            self.units
                .push(unit_of(items, members.of(&self.members), members)?);
        }
        Ok(())
    }

    /// Checks that no solver can exceed 64 bits: an offset is at most the end of the highest unit (or a bound), rounded up once.
    fn check_sum(&self) -> Result<()> {
        let floor = |unit: &Unit| unit.fixed.map_or(unit.low, |offset| offset + unit.size);
        let mut sum = self.units.iter().map(floor).max().unwrap_or(0);
        for unit in self.units.iter().filter(|unit| unit.fixed.is_none()) {
            let padded = unit.size.checked_add(unit.alignment.get() - 1);
            sum = padded
                .and_then(|padded| sum.checked_add(padded))
                .ok_or(Error::SumOverflow(
                    self.members[unit.members.first as usize],
                    Bytes(unit.size),
                    unit.alignment,
                ))?;
        }
        Ok(())
    }

    fn form_conflicts(&mut self) -> Result<()> {
        let unit_of = self.unit_of_items();
        let mut pairs: Vec<(u32, u32)> = Vec::with_capacity(self.desc.conflicts.len() * 2);
        for &(a, b) in &self.desc.conflicts {
            let items = unit_of.len();
            if a as usize >= items || b as usize >= items {
                return Err(Error::UnknownItem(a, b, items));
            }
            let (first, second) = (unit_of[a as usize], unit_of[b as usize]);
            if first == second {
                return Err(Error::ConflictInGroup(a, b));
            }
            pairs.extend([(first, second), (second, first)]);
        }
        pairs.compact_sort();
        pairs.dedup();
        self.unit_conflicts = pairs.iter().map(|&(_, rival)| rival).collect();
        let mut next = 0;
        for (index, unit) in self.units.iter_mut().enumerate() {
            let first = next;
            while pairs.get(next).is_some_and(|&(owner, _)| owner == index as u32) {
                next += 1;
            }
            unit.conflicts = Run::from([first as u32, next as u32]);
        }
        Ok(())
    }

    /// Checks that fixed units that conflict do not share bytes; units that are not fixed can be placed elsewhere.
    fn check_fixed(&self) -> Result<()> {
        let mut fixed: Vec<(Span, u32)> = Vec::new();
        for (index, unit) in self.units.iter().enumerate() {
            if unit.fixed.is_some() && unit.size > 0 {
                fixed.extend(self.spans(unit).map(|span| (span, index as u32)));
            }
        }
        if fixed.is_empty() {
            return Ok(());
        }
        fixed.compact_sort_by_key(|&(span, unit)| (span.first, unit));
        let mut alive: Vec<(Span, u32)> = Vec::new();
        for &(span, unit) in &fixed {
            alive.retain(|&(other, _)| other.end > span.first);
            for &(other_span, other) in &alive {
                if other != unit && other_span.overlaps(span) {
                    self.check_fixed_pair(other, unit)?;
                }
            }
            alive.push((span, unit));
        }
        for (index, unit) in self.units.iter().enumerate() {
            for &rival in unit.conflicts.of(&self.unit_conflicts) {
                self.check_fixed_pair(index as u32, rival)?;
            }
        }
        Ok(())
    }

    fn check_fixed_pair(&self, a: u32, b: u32) -> Result<()> {
        let (first, second) = (&self.units[a as usize], &self.units[b as usize]);
        let (Some(a_offset), Some(b_offset)) = (first.fixed, second.fixed) else {
            return Ok(());
        };
        if a_offset.max(b_offset) < (a_offset + first.size).min(b_offset + second.size) {
            let a = self.members[first.members.first as usize];
            let b = self.members[second.members.first as usize];
            return Err(Error::FixedCollision(a.min(b), a.max(b)));
        }
        Ok(())
    }
}

/// Returns the unit formed by `members`, which are at `run` in the table of members.
fn unit_of(items: &[Item], members: &[u32], run: Run) -> Result<Unit> {
    let first = &items[members[0] as usize];
    let mut unit = Unit {
        size: first.size.0,
        alignment: first.alignment,
        fixed: first.fixed.map(|offset| offset.0),
        low: first.lowest.0,
        high: first.highest.map(|offset| offset.0),
        hull: first.span,
        members: run,
        conflicts: Run::default(),
    };
    let mut fixed_by = members[0];
    for &member in &members[1..] {
        let item = &items[member as usize];
        unit.size = unit.size.max(item.size.0);
        unit.low = unit.low.max(item.lowest.0);
        unit.high = match (unit.high, item.highest) {
            (Some(high), Some(other)) => Some(high.min(other.0)),
            (high, other) => high.or(other.map(|offset| offset.0)),
        };
        let common = unit.alignment.lcm(item.alignment);
        unit.alignment = common.ok_or(Error::GroupAlignment(member, item.alignment, unit.alignment))?;
        match (unit.fixed, item.fixed) {
            (Some(earlier), Some(offset)) if earlier != offset.0 => {
                return Err(Error::GroupFixedTwice(fixed_by, member, Bytes(earlier), offset));
            }
            (None, Some(offset)) => (unit.fixed, fixed_by) = (Some(offset.0), member),
            _ => {}
        }
        if unit.hull.is_empty() {
            unit.hull = item.span;
        } else if !item.span.is_empty() {
            unit.hull.first = unit.hull.first.min(item.span.first);
            unit.hull.end = unit.hull.end.max(item.span.end);
        }
    }
    if let Some(offset) = unit.fixed {
        if !Bytes(offset).is_aligned(unit.alignment) {
            return Err(Error::Misaligned(fixed_by, Bytes(offset), unit.alignment));
        }
        if offset.checked_add(unit.size).is_none() {
            return Err(Error::EndOverflow(fixed_by, Bytes(unit.size), Bytes(offset)));
        }
    }
    let least = gap::align_up(unit.low, unit.alignment);
    let outside = |offset: u64| offset < unit.low || unit.high.is_some_and(|high| offset > high);
    if least.is_none_or(outside) || unit.fixed.is_some_and(outside) {
        return Err(Error::EmptyBounds {
            item: unit.fixed.map_or(members[0], |_| fixed_by),
            lowest: Bytes(unit.low),
            highest: Bytes(unit.high.unwrap_or(u64::MAX)),
            alignment: unit.alignment,
        });
    }
    Ok(unit)
}
