//! The pipelines and descriptor sets bound to a command buffer.

use ash::vk;
use ash::vk::Handle;
use tileheap_layer::push_constants::PushConstants;
use tileheap_spirv::GuardValue;
use tileheap_units::{GOLDEN, spread};

use super::descriptors::{Descriptors, Set};
use super::shaders::{DescriptorAccess, UNKNOWN_SHADER};
use crate::tables::action_commands::ReachableDescriptors;
use crate::tables::unseen_writes::UnseenWrites;

/// The sets and the pipeline of each bind point, by handle; looked up when a command accesses them.
#[derive(Default)]
pub(crate) struct BoundSets {
    bind_points: [BindPointState; 3],
    push_count: u64,
}

#[derive(Default)]
struct BindPointState {
    pipeline: u64,
    /// The handle of each set; for push descriptors, the complement of the number of the push. 0 if unknown.
    sets: [u64; SETS],
    /// A hash of the pipeline and the sets.
    key: u64,
    /// Keys of draws and dispatches that need not be checked again, each with its list of accesses.
    checked: [[(u64, u32); 2]; CHECKED],
    /// Push descriptors, by the number that represents them in `sets`.
    pushed: Vec<(u64, Set)>,
    /// Dynamic offsets by the index of their set; only sets whose offsets were recorded.
    offsets: Vec<(usize, Vec<u32>)>,
    /// Pipelines that were checked, each with the offsets of the push constants that its guards compare.
    compared: Vec<(u64, Vec<u32>)>,
}

/// Parameters that the accesses of a dispatch depend on, in addition to its pipeline and sets.
#[derive(Clone, Copy)]
pub(crate) struct Parameters<'a> {
    /// The number of workgroups; `None` if it is unknown, and for draws.
    pub(crate) groups: Option<[u32; 3]>,
    pub(crate) push_constants: &'a PushConstants,
}

/// Marks accesses that depend on dynamic offsets, the number of workgroups, or push constants; stored in place of the number of a list.
const DEPENDS_ON_PARAMETERS: u32 = u32::MAX - 1;

/// Number of tracked sets: no driver binds more at once (`maxBoundDescriptorSets` is 32 at most).
const SETS: usize = 32;

/// Number of hash buckets in the `checked` field of [`BindPointState`], which each keep two combinations of pipeline and sets.
const CHECKED: usize = 8;

impl BindPointState {
    #[inline]
    fn put(&mut self, index: usize, set: u64) {
        if let Some(slot) = self.sets.get_mut(index) {
            let salt = 2 * index as u64 + 1;
            self.key ^= spread(*slot ^ salt) ^ spread(set ^ salt);
            *slot = set;
        }
    }

    /// Hash of the dynamic offsets, and of the parameters that accesses of the pipeline may depend on.
    fn parameters_key(&self, parameters: Parameters<'_>) -> u64 {
        let mut compared = self.compared.iter();
        let compared = compared.find(|(pipeline, _)| *pipeline == self.pipeline);
        let pushed = compared.map_or(0, |(_, offsets)| parameters.push_constants.key(offsets));
        parameters_key(self.offsets_key(), parameters.groups, pushed)
    }

    /// Hash of the dynamic offsets.
    fn offsets_key(&self) -> u64 {
        let each = self.offsets.iter().flat_map(|(set, offsets)| {
            let numbers = offsets.iter().map(|offset| u64::from(*offset));
            std::iter::once(*set as u64).chain(numbers)
        });
        each.fold(NO_OFFSETS, |key, number| spread(key.rotate_left(7) ^ number))
    }

    #[inline]
    fn checked(&self, state: u64) -> Option<u32> {
        let (key, index) = self.pair(state);
        let known = self.checked[index].iter().find(|known| known.0 == key);
        known.map(|known| known.1)
    }

    fn check(&mut self, state: u64, list: u32) {
        let (key, index) = self.pair(state);
        self.checked[index] = [(key, list), self.checked[index][0]];
    }

    /// Returns the key of the pipeline, the sets and `state`, a hash of all other relevant state, and the index of its entries in `checked`.
    #[inline]
    fn pair(&self, state: u64) -> (u64, usize) {
        // Each bit of both affects the highest bits, which select the pair.
        let key = (self.key ^ state).wrapping_mul(GOLDEN);
        (key, (key >> (u64::BITS - CHECKED.ilog2())) as usize)
    }
}

/// The hash of an empty list of dynamic offsets. Not 0, so that it changes the key.
const NO_OFFSETS: u64 = GOLDEN;

/// Hash of the parameters that accesses of a pipeline may depend on, from the hashes of dynamic offsets and push constants.
#[inline(always)]
fn parameters_key(offsets: u64, groups: Option<[u32; 3]>, pushed: u64) -> u64 {
    let [x, y, z] = groups.unwrap_or_default().map(u64::from);
    let mix = |key: u64, part: u64| spread(key.rotate_left(7) ^ part);
    // Mixed one after another: parts with the same structure would cancel each other.
    mix(mix(mix(offsets, x | y << 32), z), pushed)
}

/// The index of a bind point, if its descriptors are tracked.
#[inline]
fn index_of(point: vk::PipelineBindPoint) -> Option<usize> {
    match point {
        vk::PipelineBindPoint::GRAPHICS => Some(0),
        vk::PipelineBindPoint::COMPUTE => Some(1),
        vk::PipelineBindPoint::RAY_TRACING_KHR => Some(2),
        _ => None,
    }
}

#[inline]
fn index_of_reachable(reachable: ReachableDescriptors) -> usize {
    match reachable {
        ReachableDescriptors::Draw => 0,
        ReachableDescriptors::Dispatch => 1,
        _ => 2,
    }
}

impl BoundSets {
    /// Calls `access` for each binding that the bound pipeline accesses, with its set and the dynamic offsets of the set, if they are known. Returns the
    /// other writes that its shaders may perform.
    pub(crate) fn for_each_access(
        &self,
        reachable: ReachableDescriptors,
        descriptors: &Descriptors,
        mut access: impl FnMut(&DescriptorAccess, &Set, &[u32]),
    ) -> UnseenWrites {
        let point = &self.bind_points[index_of_reachable(reachable)];
        let Some(pipeline) = descriptors.pipelines.get(point.pipeline) else {
            // Without a pipeline there are shader objects, whose writes are unseen since they were bound.
            return UNKNOWN_SHADER.only_if(point.pipeline != 0);
        };
        let mut unseen = pipeline.unseen_writes;
        for accessed in pipeline.iter() {
            let index = accessed.set as usize;
            let Some(handle) = point.sets.get(index) else {
                continue;
            };
            if let Some((_, set)) = point.pushed.iter().find(|(number, _)| number == handle) {
                access(accessed, set, &[]);
            } else if let Some(set) = descriptors.sets.get(*handle) {
                let offsets = point.offsets.iter().find(|(set, _)| *set == index);
                access(accessed, &set, offsets.map_or(&[][..], |(_, offsets)| offsets));
            } else {
                // A set whose creation the layer did not see, or none: its shaders may get descriptors in another way.
                unseen |= UnseenWrites::DESCRIPTORS.only_if(accessed.writes);
            }
        }
        unseen
    }

    /// The bound pipeline's handle; 0 if unknown.
    pub(crate) fn pipeline(&self, point: vk::PipelineBindPoint) -> u64 {
        index_of(point).map_or(0, |at| self.bind_points[at].pipeline)
    }

    /// Binds a pipeline.
    #[inline]
    pub(crate) fn bind_pipeline(&mut self, point: vk::PipelineBindPoint, pipeline: vk::Pipeline) {
        if let Some(at) = index_of(point) {
            let point = &mut self.bind_points[at];
            point.key ^= spread(point.pipeline) ^ spread(pipeline.as_raw());
            point.pipeline = pipeline.as_raw();
        }
    }

    /// Binds sets, starting at an index.
    #[inline]
    pub(crate) fn bind_sets(
        &mut self,
        point: vk::PipelineBindPoint,
        first: u32,
        sets: impl Iterator<Item = vk::DescriptorSet>,
    ) {
        if let Some(at) = index_of(point) {
            let point = &mut self.bind_points[at];
            for (index, set) in (first as usize..).zip(sets) {
                point.put(index, set.as_raw());
            }
        }
    }

    /// Binds the dynamic offsets of sets, starting at the index of a set. Offsets after a set of unknown layout stay unknown.
    pub(crate) fn bind_offsets(
        &mut self,
        point: vk::PipelineBindPoint,
        first: u32,
        sets: &[vk::DescriptorSet],
        offsets: &[u32],
        descriptors: &Descriptors,
    ) {
        let Some(at) = index_of(point) else { return };
        let known = &mut self.bind_points[at].offsets;
        let indices = first as usize..first as usize + sets.len();
        known.retain(|(set, _)| !indices.contains(set));
        let mut offsets = offsets.iter().copied();
        for (index, set) in indices.zip(sets) {
            let set = descriptors.sets.get(set.as_raw());
            let Some(layout) = set.as_ref().and_then(|set| set.layout.as_ref()) else {
                // The offsets that follow are unknown.
                return;
            };
            let own: Vec<u32> = offsets.by_ref().take(layout.dynamic().count()).collect();
            if !own.is_empty() {
                known.push((index, own));
            }
        }
    }

    /// Updates some of the push descriptors of a set.
    pub(crate) fn push(&mut self, point: vk::PipelineBindPoint, index: u32, write: impl FnOnce(&Set)) {
        let Some(at) = index_of(point) else { return };
        self.push_count += 1;
        let (point, number) = (&mut self.bind_points[at], !self.push_count);
        let before = point.sets.get(index as usize).copied().unwrap_or_default();
        let known = point.pushed.iter().position(|(number, _)| *number == before);
        let set = known.map_or_else(Set::default, |at| point.pushed.swap_remove(at).1);
        write(&set);
        point.put(index as usize, number);
        point.pushed.retain(|(number, _)| point.sets.contains(number));
        point.pushed.push((number, set));
    }

    /// The list of accesses of a draw or dispatch that was checked with its pipeline, its sets, its parameters and `state`, a hash of all other relevant
    /// state; `None` if it has not been checked recently.
    #[inline]
    pub(crate) fn checked<'a>(
        &self,
        reachable: ReachableDescriptors,
        state: u64,
        parameters: impl FnOnce() -> Parameters<'a>,
    ) -> Option<u32> {
        let point = &self.bind_points[index_of_reachable(reachable)];
        match point.checked(state) {
            Some(DEPENDS_ON_PARAMETERS) => {
                let state = state ^ point.parameters_key(parameters());
                point.checked(state)
            }
            list => list,
        }
    }

    /// Like `checked`, but faster; also `None` if the accesses may depend on dynamic offsets or push constants.
    #[inline(always)]
    pub(crate) fn checked_quickly(
        &self,
        reachable: ReachableDescriptors,
        state: u64,
        groups: Option<[u32; 3]>,
    ) -> Option<u32> {
        let point = &self.bind_points[index_of_reachable(reachable)];
        match point.checked(state) {
            Some(DEPENDS_ON_PARAMETERS) if point.offsets.is_empty() && point.compared.is_empty() => {
                point.checked(state ^ parameters_key(NO_OFFSETS, groups, 0))
            }
            Some(DEPENDS_ON_PARAMETERS) => None,
            list => list,
        }
    }

    /// Records that a draw or dispatch was checked, and that it performs the accesses of a list. If the list depends on dynamic offsets and
    /// parameters, the record only applies to the current ones.
    pub(crate) fn check(
        &mut self,
        reachable: ReachableDescriptors,
        state: u64,
        list: u32,
        depends_on_parameters: Option<Parameters<'_>>,
    ) {
        let point = &mut self.bind_points[index_of_reachable(reachable)];
        match depends_on_parameters {
            Some(parameters) => {
                point.check(state ^ point.parameters_key(parameters), list);
                if point.checked(state).is_none() {
                    point.check(state, DEPENDS_ON_PARAMETERS);
                }
            }
            None => point.check(state, list),
        }
    }

    /// The known values that the guards in the bound pipeline's shaders compare.
    pub(crate) fn guard_values(
        &mut self,
        reachable: ReachableDescriptors,
        descriptors: &Descriptors,
        push_constants: &PushConstants,
    ) -> Vec<(GuardValue, u32)> {
        let point = &mut self.bind_points[index_of_reachable(reachable)];
        let Some(pipeline) = descriptors.pipelines.get(point.pipeline) else {
            return Vec::new();
        };
        let handle = point.pipeline;
        if pipeline.push_constants().next().is_some() && point.compared.iter().all(|one| one.0 != handle) {
            point.compared.push((handle, pipeline.push_constants().collect()));
        }
        let of_descriptor = |set: u32, binding, value| {
            let handle = *point.sets.get(set as usize)?;
            let pushed = point.pushed.iter().find(|(number, _)| *number == handle);
            let entry = match pushed {
                Some((_, set)) => set.only_at(binding),
                None => descriptors.sets.get(handle)?.only_at(binding),
            };
            entry?.guard_value(value)
        };
        let values = pipeline.guard_values.iter().filter_map(|&value| {
            let known = match value {
                GuardValue::PushConstant { offset } => push_constants.word(offset),
                GuardValue::ImageSize { set, binding, .. } | GuardValue::ArrayLength { set, binding, .. } => {
                    of_descriptor(set, binding, value)
                }
                GuardValue::Constant(_) | GuardValue::Invocation(_) => None,
            };
            Some((value, known?))
        });
        values.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quick_look_ups_find_what_full_ones_find_without_offsets() {
        const DISPATCH: ReachableDescriptors = ReachableDescriptors::Dispatch;
        let push_constants = PushConstants::default();
        let parameters = |groups| Parameters {
            groups: Some(groups),
            push_constants: &push_constants,
        };
        let mut sets = BoundSets::default();
        sets.bind_pipeline(vk::PipelineBindPoint::COMPUTE, vk::Pipeline::from_raw(7));
        sets.check(DISPATCH, 1, 5, None);
        sets.check(DISPATCH, 2, 6, Some(parameters([1, 2, 3])));
        let both = |sets: &BoundSets, state, groups| {
            let full = sets.checked(DISPATCH, state, || parameters(groups));
            (full, sets.checked_quickly(DISPATCH, state, Some(groups)))
        };
        assert_eq!(both(&sets, 1, [1, 1, 1]), (Some(5), Some(5)));
        assert_eq!(both(&sets, 2, [1, 2, 3]), (Some(6), Some(6)));
        assert_eq!(both(&sets, 2, [3, 2, 1]), (None, None), "other workgroups");
        assert_eq!(both(&sets, 3, [1, 2, 3]), (None, None), "another state");
        sets.bind_points[index_of_reachable(DISPATCH)]
            .offsets
            .push((0, vec![64]));
        sets.check(DISPATCH, 2, 8, Some(parameters([1, 2, 3])));
        assert_eq!(both(&sets, 2, [1, 2, 3]), (Some(8), None), "with offsets");
        sets.bind_pipeline(vk::PipelineBindPoint::COMPUTE, vk::Pipeline::from_raw(9));
        assert_eq!(both(&sets, 1, [1, 1, 1]), (None, None), "another pipeline");
    }
}
