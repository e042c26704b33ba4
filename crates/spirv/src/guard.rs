//! Conditions under which invocations perform an access, and the invocations of a dispatch that meet them.
//!
//! ```text
//! if (gl_GlobalInvocationID.x >= count) return;        count at byte 8 of the push constants
//! data[gl_GlobalInvocationID.x] = …                    guard: global x < push constant 8
//!
//!     vkCmdDispatch(2, 1, 1), local size 64, count 100
//!     │ 0 │ 1 │ … │ 99 │ 100 │ … │ 127 │               passing on axis x: [0, 100)
//! ```
//! A guard is sufficient, not necessary: invocations that meet all guards of an access perform it, and others may.

use std::ops::Range;

/// A built-in id of an invocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InvocationId {
    /// `GlobalInvocationId`.
    Global,
    /// `WorkgroupId`.
    Workgroup,
    /// `LocalInvocationId`.
    Local,
}

/// An index that is a component of an invocation id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InvocationIndex {
    /// The invocation id whose component this is.
    pub id: InvocationId,
    /// The component: 0, 1 or 2.
    pub axis: u8,
    /// Number of invocations of a workgroup along the axis.
    pub local_size: u32,
}

impl InvocationIndex {
    /// Returns the number of values that the index takes in a dispatch with base zero: they begin at 0.
    pub fn count(&self, groups: [u32; 3]) -> u64 {
        let groups = groups.get(usize::from(self.axis)).copied().unwrap_or(0);
        match self.id {
            InvocationId::Global => u64::from(groups) * u64::from(self.local_size),
            InvocationId::Workgroup => u64::from(groups),
            InvocationId::Local => u64::from(self.local_size),
        }
    }

    /// Returns `true` if the values of the index depend on the base of the dispatch (`vkCmdDispatchBase`).
    pub fn depends_on_base(&self) -> bool {
        self.id != InvocationId::Local
    }
}

/// A 32-bit number that a guard compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GuardValue {
    /// The same value in all invocations of all dispatches.
    Constant(u32),
    /// A component of an invocation id.
    Invocation(InvocationIndex),
    /// A word of the push constants.
    PushConstant {
        /// The offset of the word's first byte.
        offset: u32,
    },
    /// The size of level 0 of an image view along an axis, in texels.
    ImageSize {
        /// Descriptor set.
        set: u32,
        /// Binding in the set.
        binding: u32,
        /// Width, height or depth: 0, 1 or 2.
        axis: u8,
    },
    /// The number of elements of the runtime array at the end of a buffer's block.
    ArrayLength {
        /// Descriptor set.
        set: u32,
        /// Binding in the set.
        binding: u32,
        /// The first byte of the array.
        offset: u32,
        /// Distance between elements in bytes.
        stride: u32,
    },
}

impl GuardValue {
    /// Returns the number of elements of a runtime array if the buffer descriptor has `range` bytes; `None` for other values.
    pub fn length_in(&self, range: u64) -> Option<u32> {
        let GuardValue::ArrayLength { offset, stride, .. } = *self else {
            return None;
        };
        let elements = range.saturating_sub(offset.into()).checked_div(stride.into())?;
        Some(u32::try_from(elements).unwrap_or(u32::MAX))
    }
}

/// The operator of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Comparison {
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
}

/// A comparison that is true in the invocations that perform an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Guard {
    /// The number on the left.
    pub left: GuardValue,
    /// The operator that compares the two numbers.
    pub comparison: Comparison,
    /// True if both numbers are signed.
    pub signed: bool,
    /// The number on the right.
    pub right: GuardValue,
}

impl Guard {
    /// Returns both numbers.
    pub fn values(&self) -> [GuardValue; 2] {
        [self.left, self.right]
    }

    /// Returns the guard that is true if and only if this one is false.
    pub(crate) fn negated(self) -> Guard {
        let swapped = Guard {
            left: self.right,
            right: self.left,
            ..self
        };
        match self.comparison {
            Comparison::Less => Guard {
                comparison: Comparison::LessOrEqual,
                ..swapped
            },
            Comparison::LessOrEqual => Guard {
                comparison: Comparison::Less,
                ..swapped
            },
            Comparison::Equal => Guard {
                comparison: Comparison::NotEqual,
                ..self
            },
            Comparison::NotEqual => Guard {
                comparison: Comparison::Equal,
                ..self
            },
        }
    }
}

/// The known parameters of a dispatch.
#[derive(Clone, Copy)]
pub struct Dispatch<'a> {
    /// The number of workgroups, from base zero (`vkCmdDispatchBase`), or a lower bound: `[1; 3]` is valid for any non-empty dispatch from base
    /// zero.
    pub groups: [u32; 3],
    /// Returns the value of a push constant, image size or array length; `None` if it is not known.
    pub values: &'a dyn Fn(GuardValue) -> Option<u32>,
}

impl From<[u32; 3]> for Dispatch<'_> {
    /// Creates a dispatch of `groups` workgroups, without other known values.
    fn from(groups: [u32; 3]) -> Self {
        Dispatch {
            groups,
            values: &|_| None,
        }
    }
}

/// Maximum number of invocations along an axis: more of them would be negative as signed numbers.
const MAX_INVOCATIONS: u64 = i32::MAX as u64;

/// The invocations that meet guards on one axis.
#[derive(Clone, Debug)]
struct Axis {
    groups: u64,
    /// For each kind of id, the half-open range of ids that meet the guards. If nothing limits an id, the end is larger than the dispatch.
    global: Range<u64>,
    workgroup: Range<u64>,
    local: Range<u64>,
}

/// Invocations of a dispatch: the product of the ranges on all axes.
#[derive(Clone, Debug)]
pub(crate) struct Invocations([Axis; 3]);

impl Invocations {
    /// Returns the invocations that meet all guards; `None` if they are not known, or if there are none.
    pub(crate) fn passing(guards: &[Guard], dispatch: &Dispatch<'_>) -> Option<Invocations> {
        if dispatch.groups.contains(&0) {
            return None;
        }
        let mut all = Invocations(dispatch.groups.map(|groups| Axis {
            groups: groups.into(),
            global: 0..u64::MAX,
            workgroup: 0..u64::MAX,
            local: 0..u64::MAX,
        }));
        for guard in guards {
            all.restrict(guard, dispatch)?;
        }
        let indices = guards.iter().flat_map(Guard::values);
        for value in indices {
            if let GuardValue::Invocation(index) = value {
                let axis = all.0.get(usize::from(index.axis))?;
                axis.has_invocations(index.local_size.into()).then_some(())?;
            }
        }
        Some(all)
    }

    /// Removes the invocations that do not meet a guard, and others if the rest would not form a range; `None` if the guard cannot be evaluated or no
    /// invocation meets it.
    fn restrict(&mut self, guard: &Guard, dispatch: &Dispatch<'_>) -> Option<()> {
        let number = |value: GuardValue| -> Option<i64> {
            let bits = match value {
                GuardValue::Constant(value) => value,
                other => (dispatch.values)(other)?,
            };
            Some(if guard.signed {
                i64::from(bits as i32)
            } else {
                bits.into()
            })
        };
        let at = |number: i64| u64::try_from(number).unwrap_or(0);
        match (guard.left, guard.right) {
            (GuardValue::Invocation(_), GuardValue::Invocation(_)) => None,
            (GuardValue::Invocation(index), bound) => {
                let bound = number(bound)?;
                let range = self.range(index)?;
                match guard.comparison {
                    Comparison::Less => range.end = range.end.min(at(bound)),
                    Comparison::LessOrEqual => range.end = range.end.min(at(bound + 1)),
                    Comparison::Equal if bound < 0 => return None,
                    Comparison::Equal => {
                        range.start = range.start.max(at(bound));
                        range.end = range.end.min(at(bound) + 1);
                    }
                    Comparison::NotEqual if bound < 0 || !range.contains(&at(bound)) => {}
                    Comparison::NotEqual if range.start == at(bound) => range.start += 1,
                    // Keeps the values on one side.
                    Comparison::NotEqual => range.end = at(bound),
                }
                Some(())
            }
            (bound, GuardValue::Invocation(index)) => {
                let swapped = match guard.comparison {
                    Comparison::Less => at(number(bound)? + 1),
                    Comparison::LessOrEqual => at(number(bound)?),
                    Comparison::Equal | Comparison::NotEqual => {
                        let swapped = Guard {
                            left: guard.right,
                            right: guard.left,
                            ..*guard
                        };
                        return self.restrict(&swapped, dispatch);
                    }
                };
                let range = self.range(index)?;
                range.start = range.start.max(swapped);
                Some(())
            }
            (left, right) => {
                let (left, right) = (number(left)?, number(right)?);
                let is_met = match guard.comparison {
                    Comparison::Less => left < right,
                    Comparison::LessOrEqual => left <= right,
                    Comparison::Equal => left == right,
                    Comparison::NotEqual => left != right,
                };
                is_met.then_some(())
            }
        }
    }

    /// Returns the remaining values of an index; `None` if they exceed the range of signed numbers.
    fn range(&mut self, index: InvocationIndex) -> Option<&mut Range<u64>> {
        let axis = self.0.get_mut(usize::from(index.axis))?;
        if axis.groups * u64::from(index.local_size) > MAX_INVOCATIONS {
            return None;
        }
        Some(match index.id {
            InvocationId::Global => &mut axis.global,
            InvocationId::Workgroup => &mut axis.workgroup,
            InvocationId::Local => &mut axis.local,
        })
    }

    /// Returns consecutive values that an index takes in these invocations; `None` if there are gaps or too many values.
    pub(crate) fn values(&self, index: &InvocationIndex) -> Option<Range<u64>> {
        let axis = self.0.get(usize::from(index.axis))?;
        let size = u64::from(index.local_size);
        let (global, workgroup, local) = axis.clipped(size)?;
        let is_restricted = global != (0..axis.groups * size);
        let is_whole = local == (0..size);
        let values = match index.id {
            InvocationId::Global if is_whole => {
                global.start.max(workgroup.start * size)..global.end.min(workgroup.end * size)
            }
            InvocationId::Global if workgroup.end - workgroup.start == 1 => {
                let first = workgroup.start * size;
                global.start.max(first + local.start)..global.end.min(first + local.end)
            }
            InvocationId::Workgroup if is_whole => {
                let first = global.start / size;
                workgroup.start.max(first)..workgroup.end.min(global.end.div_ceil(size))
            }
            InvocationId::Workgroup if !is_restricted => workgroup,
            InvocationId::Local if !is_restricted => local,
            _ => return None,
        };
        (!values.is_empty()).then_some(values)
    }
}

impl Axis {
    /// Returns the ranges clipped to the dispatch; `None` if one is empty, or if there are too many invocations.
    fn clipped(&self, size: u64) -> Option<(Range<u64>, Range<u64>, Range<u64>)> {
        let count = self.groups * size;
        let global = self.global.start..self.global.end.min(count);
        let workgroup = self.workgroup.start..self.workgroup.end.min(self.groups);
        let local = self.local.start..self.local.end.min(size);
        let is_some = !global.is_empty() && !workgroup.is_empty() && !local.is_empty();
        (is_some && count <= MAX_INVOCATIONS).then_some((global, workgroup, local))
    }

    /// Returns `true` if an invocation has IDs in all three ranges.
    fn has_invocations(&self, size: u64) -> bool {
        let Some((global, workgroup, local)) = self.clipped(size) else {
            return false;
        };
        // The first workgroup that reaches the range of global ids.
        let reaching = (global.start + 1).saturating_sub(local.end).div_ceil(size);
        let first = workgroup.start.max(reaching);
        first < workgroup.end && first * size + local.start < global.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares every combination of small ranges with a search of all invocations.
    #[test]
    fn ranges_are_those_of_a_search() {
        let (size, groups) = (3u32, 3u32);
        let ranges = |end: u64| (0..=end).flat_map(move |a| (a..=end).map(move |b| a..b));
        let index = |id| InvocationIndex {
            id,
            axis: 1,
            local_size: size,
        };
        let ids = [InvocationId::Global, InvocationId::Workgroup, InvocationId::Local];
        let mut known = 0;
        for global in ranges(9) {
            for workgroup in ranges(3) {
                for local in ranges(3) {
                    let all = [&global, &workgroup, &local];
                    let guards: Vec<Guard> = ids
                        .iter()
                        .zip(all)
                        .flat_map(|(&id, range)| {
                            let of = GuardValue::Invocation(index(id));
                            let [first, end] =
                                [range.start, range.end].map(|at| GuardValue::Constant(at as u32));
                            let guard = |left, comparison, right| Guard {
                                left,
                                comparison,
                                signed: false,
                                right,
                            };
                            [
                                guard(first, Comparison::LessOrEqual, of),
                                guard(of, Comparison::Less, end),
                            ]
                        })
                        .collect();
                    let found: Vec<[u64; 3]> = (0..u64::from(size * groups))
                        .map(|at| [at, at / u64::from(size), at % u64::from(size)])
                        .filter(|ids| ids.iter().zip(all).all(|(id, range)| range.contains(id)))
                        .collect();
                    let passing = Invocations::passing(&guards, &[1, groups, 1].into());
                    assert_eq!(passing.is_some(), !found.is_empty(), "{all:?}");
                    for (which, id) in ids.into_iter().enumerate() {
                        let Some(values) = passing.as_ref().and_then(|it| it.values(&index(id))) else {
                            continue;
                        };
                        known += 1;
                        let mut expected: Vec<u64> = found.iter().map(|ids| ids[which]).collect();
                        expected.dedup();
                        if id == InvocationId::Local {
                            expected.sort_unstable();
                            expected.dedup();
                        }
                        assert_eq!(values.collect::<Vec<_>>(), expected, "{all:?} {id:?}");
                    }
                }
            }
        }
        assert!(known > 500, "{known}");
    }

    #[test]
    fn comparisons_are_signed_or_not() {
        let index = InvocationIndex {
            id: InvocationId::Global,
            axis: 0,
            local_size: 8,
        };
        let of = GuardValue::Invocation(index);
        let passing = |left, comparison, signed, right| {
            let guard = Guard {
                left,
                comparison,
                signed,
                right,
            };
            let values = |guard| Invocations::passing(&[guard], &[2, 1, 1].into())?.values(&index);
            let (one, other) = (values(guard), values(guard.negated()));
            let count = |range: &Option<Range<u64>>| range.clone().map_or(0, Iterator::count);
            assert!(
                comparison >= Comparison::Equal || count(&one) + count(&other) == 16,
                "{guard:?}"
            );
            one
        };
        use Comparison as C;
        use GuardValue::Constant as Number;
        let minus = (-3i32) as u32;
        for (left, comparison, signed, right, expected) in [
            (of, C::Less, false, Number(5), Some(0..5)),
            (of, C::LessOrEqual, false, Number(5), Some(0..6)),
            (Number(5), C::Less, false, of, Some(6..16)),
            (Number(5), C::LessOrEqual, true, of, Some(5..16)),
            (of, C::Less, false, Number(0), None),
            (of, C::Less, false, Number(99), Some(0..16)),
            (of, C::Less, false, Number(minus), Some(0..16)),
            (of, C::Less, true, Number(minus), None),
            (of, C::LessOrEqual, false, Number(u32::MAX), Some(0..16)),
            (of, C::LessOrEqual, true, Number(u32::MAX), None),
            (Number(minus), C::Less, true, of, Some(0..16)),
            (Number(minus), C::Less, false, of, None),
            (of, C::Equal, true, Number(3), Some(3..4)),
            (of, C::Equal, true, Number(minus), None),
            (of, C::Equal, false, Number(16), None),
            (Number(0), C::NotEqual, false, of, Some(1..16)),
            (of, C::NotEqual, true, Number(minus), Some(0..16)),
            // Keeps one side of the gap.
            (of, C::NotEqual, false, Number(4), Some(0..4)),
            (Number(1), C::Less, false, Number(2), Some(0..16)),
            (Number(2), C::Less, false, Number(1), None),
            (Number(minus), C::Less, true, Number(1), Some(0..16)),
        ] {
            assert_eq!(
                passing(left, comparison, signed, right),
                expected,
                "{comparison:?} {right:?}"
            );
        }
    }
}
