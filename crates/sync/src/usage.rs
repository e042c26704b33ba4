//! Usages: a pipeline stage with an access type that it performs, and sets of them.

use ash::vk;
use tileheap_device::scopes::{ExpandedScope, NO_STAGE, PERFORMERS, WRITES};
use vk::{AccessFlags2 as A, PipelineStageFlags2 as S};

/// The stages that build acceleration structures and micromaps.
const BUILDS: S = S::from_raw(S::ACCELERATION_STRUCTURE_BUILD_KHR.as_raw() | S::MICROMAP_BUILD_EXT.as_raw());

/// The number of usages that fit in a set.
const CAPACITY: usize = 128;

/// Every stage with every access type that it performs, without composite flags. The first and the unused entries are [`NO_STAGE`] without an access. The
/// entries from `CAPACITY` on are unknown accesses of each stage, which no set contains.
const USAGES: [(S, A); CAPACITY + 64] = {
    let composite = A::SHADER_READ.as_raw() | A::SHADER_WRITE.as_raw();
    let mut usages = [(NO_STAGE, A::NONE); CAPACITY + 64];
    // The first one is for operations without a stage.
    let (mut next, mut row) = (1, 0);
    while row < PERFORMERS.len() {
        let (access, stages) = PERFORMERS[row];
        let mut bit = 0;
        while bit < 63 {
            // Builds read buffers by SHADER_READ: the sampled part represents it.
            let is_build = access.as_raw() == A::SHADER_READ.as_raw() && BUILDS.as_raw() >> bit & 1 == 1;
            let access = if is_build { A::SHADER_SAMPLED_READ } else { access };
            if stages.as_raw() >> bit & 1 == 1 && access.as_raw() & composite == 0 {
                usages[next] = (S::from_raw(1 << bit), access);
                next += 1;
            }
            bit += 1;
        }
        row += 1;
    }
    assert!(next <= CAPACITY, "a set can contain every usage");
    let mut bit = 0;
    while bit < 63 {
        usages[CAPACITY + bit] = (S::from_raw(1 << bit), A::NONE);
        bit += 1;
    }
    usages
};

/// Returns, for each bit of a mask of stages (or of accesses), the set of usages with that stage (or access).
const fn by_bit(of_stages: bool) -> [u128; 64] {
    let mut sets = [0; 64];
    let mut index = 1;
    while index < CAPACITY {
        let (stage, access) = USAGES[index];
        let bits = if of_stages {
            stage.as_raw()
        } else {
            access.as_raw()
        };
        if !access.is_empty() {
            sets[bits.trailing_zeros() as usize] |= 1 << index;
        }
        index += 1;
    }
    sets
}

const BY_STAGE: [u128; 64] = by_bit(true);
const BY_ACCESS: [u128; 64] = by_bit(false);

/// Returns the union of the sets of all bits of a mask.
fn any(sets: &[u128; 64], mut mask: u64) -> u128 {
    let mut all = 0;
    while mask != 0 {
        all |= sets[mask.trailing_zeros() as usize];
        mask &= mask - 1;
    }
    all
}

/// A stage with an access type that it performs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Usage(u8);

impl Usage {
    /// A layout transition or a queue family ownership transfer.
    pub(crate) const NO_STAGE: Usage = Usage(0);

    /// Returns the usage of a single stage with a single access; `None` if the stage does not perform the access, or if the usage is not tracked.
    pub(crate) fn of(stage: S, access: A) -> Option<Usage> {
        let is_single = stage.as_raw().is_power_of_two() && stage != NO_STAGE;
        let bit = stage.as_raw().trailing_zeros();
        if !is_single {
            return None;
        }
        if access.is_empty() {
            return Some(Usage((CAPACITY as u32 + bit) as u8));
        }
        let access = match access {
            A::SHADER_READ if BUILDS.contains(stage) => A::SHADER_SAMPLED_READ,
            _ => access,
        };
        let found = any(&BY_STAGE, stage.as_raw()) & any(&BY_ACCESS, access.as_raw());
        (found.count_ones() == 1).then(|| Usage(found.trailing_zeros() as u8))
    }

    pub(crate) fn stage(self) -> S {
        USAGES[usize::from(self.0)].0
    }

    pub(crate) fn access(self) -> A {
        USAGES[usize::from(self.0)].1
    }

    /// Returns true if only the stage is known: all conflicting accesses need an execution dependency with it, and its writes count as available.
    pub(crate) fn is_unknown(self) -> bool {
        self != Usage::NO_STAGE && self.access().is_empty()
    }

    pub(crate) fn writes(self) -> bool {
        self.access().is_empty() || WRITES.contains(self.access())
    }
}

/// A set of usages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usages(u128);

impl Usages {
    /// Returns the usages of the host: reads and writes of mapped memory.
    pub(crate) fn of_host() -> Usages {
        Usages::performed(S::HOST, A::HOST_READ | A::HOST_WRITE)
    }

    /// Returns the access scope of a dependency: its accesses, performed by the stages that it names.
    pub(crate) fn of(scope: &ExpandedScope) -> Usages {
        Usages::performed(scope.access_stages, scope.access)
    }

    /// Returns all usages of some stages.
    pub(crate) fn by(stages: S) -> Usages {
        Usages::performed(stages, A::from_raw(u64::MAX))
    }

    fn performed(stages: S, accesses: A) -> Usages {
        Usages(any(&BY_STAGE, stages.as_raw()) & any(&BY_ACCESS, accesses.as_raw()))
    }

    pub(crate) fn contains(self, usage: Usage) -> bool {
        usize::from(usage.0) < CAPACITY && self.0 >> usage.0 & 1 == 1
    }

    pub(crate) fn contains_all(self, other: Usages) -> bool {
        self.0 & other.0 == other.0
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl std::ops::BitOrAssign for Usages {
    fn bitor_assign(&mut self, other: Usages) {
        self.0 |= other.0;
    }
}

impl std::ops::BitAnd for Usages {
    type Output = Usages;
    fn bitand(self, other: Usages) -> Usages {
        Usages(self.0 & other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stage_with_an_access_is_one_usage() {
        let usages = || {
            USAGES[..CAPACITY]
                .iter()
                .skip(1)
                .filter(|usage| usage.0 != NO_STAGE)
        };
        let count = usages().count();
        assert!((80..CAPACITY).contains(&count), "{count}");
        for usage in usages() {
            assert_eq!(usages().filter(|other| *other == usage).count(), 1, "{usage:?}");
            let found = Usage::of(usage.0, usage.1).expect("it is listed");
            assert_eq!((found.stage(), found.access()), *usage);
        }
    }

    #[test]
    fn access_scopes_hold_only_accesses_of_the_stages_they_name() {
        let scope = ExpandedScope::source(S::COPY, A::MEMORY_WRITE);
        let writes = Usages::of(&scope);
        let usage = |stage, access| Usage::of(stage, access).expect("a usage");
        assert!(writes.contains(usage(S::COPY, A::TRANSFER_WRITE)));
        assert!(!writes.contains(usage(S::CLEAR, A::TRANSFER_WRITE)));
        assert!(!writes.contains(usage(S::COPY, A::TRANSFER_READ)));
        assert!(Usage::of(S::CLEAR, A::SHADER_STORAGE_WRITE).is_none());
    }

    #[test]
    fn builds_read_as_shaders_do() {
        for build in [S::ACCELERATION_STRUCTURE_BUILD_KHR, S::MICROMAP_BUILD_EXT] {
            let read = Usage::of(build, A::SHADER_READ).expect("a usage");
            let scope = ExpandedScope::destination(build, A::SHADER_READ);
            assert!(Usages::of(&scope).contains(read), "{build:?}");
            assert!(Usage::of(build, A::SHADER_STORAGE_WRITE).is_none());
        }
    }
}
