//! Groups equal findings, with a count.

use std::collections::{HashMap, HashSet};
use std::mem::{Discriminant, discriminant};

use tileheap_sync::program::Tag;

use super::finding::{Action, Certainty, Finding, Fix, Overlap, Problem};
use super::sites::{Sites, UsePosition};
use crate::document::recording::DependencyScopes;

/// A finding, with positions instead of words.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) verdict: Certainty,
    pub(super) problem: Problem,
    pub(super) first: Option<UsePosition>,
    pub(super) second: UsePosition,
    pub(super) overlap: Overlap,
    pub(super) unknown: Option<String>,
    pub(super) fix: Option<Fix>,
    pub(super) section: &'static str,
    pub(super) vuid: Option<&'static str>,
}

impl Draft {
    /// Merges a finding that the same dependency fixes. Keeps the more certain one; if they are equally certain and have the same second command, the
    /// one whose first command is later. The fix covers both.
    pub(super) fn merge(&mut self, mut other: Draft) {
        let order = |draft: &Draft| draft.first.map(|first| (first.step, first.tag));
        let is_closer = (other.second.step, other.second.tag) == (self.second.step, self.second.tag)
            && order(&other) > order(self);
        if other.verdict < self.verdict || other.verdict == self.verdict && is_closer {
            std::mem::swap(self, &mut other);
        }
        match (&mut self.fix, other.fix) {
            (Some(Fix::Barrier(own)), Some(Fix::Barrier(with))) => {
                *own = DependencyScopes {
                    src_stages: own.src_stages | with.src_stages,
                    src_access: own.src_access | with.src_access,
                    dst_stages: own.dst_stages | with.dst_stages,
                    dst_access: own.dst_access | with.dst_access,
                };
            }
            (Some(Fix::Semaphore { stages }), Some(Fix::Semaphore { stages: with })) => *stages |= with,
            _ => {}
        }
    }
}

/// A command's name, label, resource and action: commands for which these are equal are grouped.
type UseProperties<'a> = (&'a str, &'a str, usize, Action);

/// The properties that are equal for all findings of a group.
#[derive(PartialEq)]
struct GroupProperties<'a> {
    first: Option<UseProperties<'a>>,
    second: UseProperties<'a>,
    problem: Problem,
    verdict: Certainty,
}

/// The hash key of a group; groups with equal keys are compared in full.
type Key = (u8, Discriminant<Problem>, Option<usize>, usize);

/// The step and tag of a command.
type At = (u64, Tag);

/// A group of equal findings: one of them, and the pairs of commands of all.
struct Group<'a> {
    properties: GroupProperties<'a>,
    representative: Draft,
    /// The pairs of commands of all findings in the group.
    pairs: HashSet<(Option<At>, At)>,
}

/// Groups of equal findings, each reported once.
#[derive(Default)]
pub(super) struct Groups<'a> {
    groups: Vec<Group<'a>>,
    by_key: HashMap<Key, Vec<usize>>,
}

impl<'a> Groups<'a> {
    /// Adds a finding to its group.
    pub(super) fn add(&mut self, sites: &Sites<'a>, draft: Draft) {
        let of = |spot: &UsePosition| {
            let label = sites
                .command(spot.step, spot.tag)
                .map_or("", |command| &command.label);
            (sites.call(spot.step, spot.tag), label, spot.resource, spot.action)
        };
        let properties = GroupProperties {
            first: draft.first.as_ref().map(of),
            second: of(&draft.second),
            problem: draft.problem,
            verdict: draft.verdict,
        };
        let at = |spot: UsePosition| (spot.step, spot.tag);
        let pair = (draft.first.map(at), at(draft.second));
        let first = draft.first.map(|spot| spot.resource);
        let key = (
            draft.verdict as u8,
            discriminant(&draft.problem),
            first,
            draft.second.resource,
        );
        let of_key = self.by_key.entry(key).or_default();
        match of_key
            .iter()
            .find(|&&index| self.groups[index].properties == properties)
        {
            Some(&index) => _ = self.groups[index].pairs.insert(pair),
            None => {
                of_key.push(self.groups.len());
                self.groups.push(Group {
                    properties,
                    representative: draft,
                    pairs: HashSet::from([pair]),
                });
            }
        }
    }

    /// Returns one finding for each group, sorted by verdict and then in submission order.
    pub(super) fn finish(mut self, sites: &Sites<'a>) -> Vec<Finding> {
        self.groups.sort_by_key(|group| {
            let second = group.representative.second;
            (group.representative.verdict, second.step, second.tag)
        });
        let findings = self.groups.into_iter().map(|group| {
            let Draft {
                verdict,
                problem,
                first,
                second,
                overlap,
                unknown,
                fix,
                section,
                vuid,
            } = group.representative;
            Finding {
                verdict,
                problem,
                first: first.map(|spot| sites.resource_use(&spot)),
                second: sites.resource_use(&second),
                overlap,
                unknown,
                fix,
                section: section.to_owned(),
                vuid: vuid.map(str::to_owned),
                count: group.pairs.len() as u64,
            }
        });
        findings.collect()
    }
}
