//! The best lower bound on the bytes that move: each resource's bytes are counted in parts, in the passes where they move for lack of room.
//!
//! ```text
//! hdr moves 8 unless it is on chip for its whole lifetime     5 of 8 count in light, 3 of 8 in bloom
//! a repeat of light costs 4                                   1 of 4 counts in light, 3 of 4 in bloom, whose strips repeat light
//! ```
//! Any division into parts gives a lower bound: in each pass, the least that its own parts cost ([`least_cost`]). A search improves the division for
//! a number of rounds, and the best bound is returned: parts move to where they count, as in an auction (a subgradient method).

use tileheap_units::CompactSort;

use super::fit::{Fit, Held, Use, least_cost};

/// A pass whose resources do not all fit in tile memory at once.
pub(super) struct CrowdedUses {
    /// Per use, the index of its resource.
    pub(super) resources: Vec<usize>,
    /// The uses, with all bytes of their accesses; their `lifetime` is 0.
    pub(super) uses: Vec<Use>,
    /// Per use, the bytes that its accesses load.
    pub(super) loads: Vec<u64>,
    /// Per use, true if the resource is on chip in this pass whenever it is on chip for its whole lifetime.
    pub(super) is_kept: Vec<bool>,
    /// The passes that its strips may repeat, by index, the pass itself first.
    pub(super) repeats: Vec<usize>,
    /// True if the pass may run in strips.
    pub(super) may_divide: bool,
}

/// Lower bounds on the bytes of one resource.
#[derive(Clone, Copy, Default)]
pub(super) struct ResourceBound {
    /// The bytes that it moves unless it is on chip for its whole lifetime, or in every arrangement.
    pub(super) bytes: u64,
    /// True if it moves these bytes in every arrangement.
    pub(super) is_always: bool,
    /// Bytes that are already counted elsewhere.
    pub(super) counted: u64,
    /// The bytes of the accesses that are never on chip.
    pub(super) off_chip: u64,
    /// Minimum number of bytes of one store: unless it is on chip for its whole lifetime, the resource moves these, and all loads that are off chip.
    pub(super) stored: u64,
    /// The bytes loaded by accesses that are never on chip.
    pub(super) off_chip_loads: u64,
}

/// A division of bytes and repeats among passes: the sum of the bounds that it gives, and their parts.
#[derive(Clone)]
pub(super) struct Division {
    pub(super) total: u64,
    /// Per resource, the part of the bytes that counts in no pass.
    pub(super) outside_passes: Vec<u64>,
    /// Per crowded pass, its least cost.
    pub(super) fits: Vec<Fit>,
    /// Per crowded pass and use, the maximum number of bytes that count there.
    pub(super) uses: Vec<Vec<u64>>,
}

/// The whole of an amount: parts are multiples of 1 / ONE.
const ONE: u32 = 4096;

/// Maximum number of rounds, and of passes evaluated in all rounds together.
const MAX_ROUNDS: usize = 100;
const MAX_PASSES: usize = 6_000;

/// An amount of bytes that is divided into parts, each of which counts in a different place.
struct Shared {
    amount: u64,
    /// The places where parts of the amount can count.
    places: Vec<Place>,
    /// Per place, the part of the amount that counts there: `amount` times this number divided by [`ONE`].
    parts: Vec<u32>,
    /// The sum of all parts.
    sum: u32,
    /// The greatest gain of a place so far.
    scale: f64,
}

#[derive(Clone, Copy)]
enum Place {
    /// The bytes that a resource moves in every arrangement.
    EveryArrangement,
    /// A resource's accesses, in all passes.
    Accesses,
    /// A resource's loads, in all passes, and one store. The store counts in one use of a crowded pass (the indices of the pass and of the use);
    /// `None` if it counts in every arrangement.
    Loads(Option<(usize, usize)>),
    /// A resource's lifetime, in one use of a crowded pass: the indices of the pass and of the use.
    Lifetime(usize, usize),
    /// A repeated pass, in a crowded pass: the indices of the crowded pass and of the repeat.
    Repeat(usize, usize),
}

pub(super) struct Auction<'a> {
    pub(super) heap: u64,
    pub(super) resources: &'a [ResourceBound],
    pub(super) passes: &'a [CrowdedUses],
    /// Per pass, the cost of one more execution.
    pub(super) repeats: &'a [u64],
}

impl Auction<'_> {
    /// The best division found.
    pub(super) fn best(&self) -> Division {
        let mut shared = self.shared();
        let by_access = self.improved(&mut shared);
        self.count_lifetimes(&mut shared);
        let by_lifetime = self.improved(&mut shared);
        match by_lifetime.total > by_access.total {
            true => by_lifetime,
            false => by_access,
        }
    }

    /// Improves a division for a number of rounds; returns the best one found.
    fn improved(&self, shared: &mut [Shared]) -> Division {
        let mut best = self.divided(shared);
        let rounds = (MAX_PASSES / self.passes.len().max(1)).min(MAX_ROUNDS);
        let mut last = best.clone();
        for round in 0..rounds {
            let step = 0.4 / (1.0 + 0.1 * round as f64);
            self.improve(shared, &last, step);
            last = self.divided(shared);
            if last.total > best.total {
                best = last.clone();
            }
        }
        best
    }

    /// Counts each lifetime in one pass: the one that keeps the most bytes.
    fn count_lifetimes(&self, shared: &mut [Shared]) {
        let kept = |crowded: &CrowdedUses| {
            let resources = crowded.resources.iter().zip(&crowded.is_kept);
            let kept = resources.filter(|(_, is_kept)| **is_kept);
            kept.map(|(&at, _)| self.resources[at].bytes).sum::<u64>()
        };
        let kept: Vec<u64> = self.passes.iter().map(kept).collect();
        for one in shared {
            let bytes = |place: &Place| match *place {
                Place::Lifetime(pass, _) => kept[pass],
                _ => 0,
            };
            let most = (0..one.places.len()).max_by_key(|&at| bytes(&one.places[at]));
            if let Some(most) = most.filter(|&most| bytes(&one.places[most]) > 0) {
                one.parts.fill(0);
                one.parts[most] = one.sum;
            }
        }
    }

    /// Creates the first division: resources count where they are accessed, those that move in every arrangement count in no pass, and
    /// repeats count in their own pass.
    fn shared(&self) -> Vec<Shared> {
        let mut all = Vec::new();
        for (number, resource) in self.resources.iter().enumerate() {
            let mut places = vec![Place::Accesses];
            if resource.is_always {
                places.extend([Place::EveryArrangement, Place::Loads(None)]);
            } else {
                let uses = self.passes.iter().enumerate().flat_map(|(pass, crowded)| {
                    let uses = crowded.resources.iter().enumerate();
                    let own = uses.filter(|&(at, &of)| of == number && crowded.is_kept[at]);
                    own.map(move |(at, _)| (pass, at))
                });
                for (pass, at) in uses {
                    places.push(Place::Lifetime(pass, at));
                    if resource.stored > 0 {
                        places.push(Place::Loads(Some((pass, at))));
                    }
                }
            }
            let bytes = u128::from(resource.bytes.max(1));
            let counted = (u128::from(resource.counted) * u128::from(ONE)).div_ceil(bytes);
            let sum = ONE - counted.min(u128::from(ONE)) as u32;
            let mut parts = vec![0; places.len()];
            parts[usize::from(resource.is_always)] = sum;
            all.push(Shared {
                amount: resource.bytes,
                places,
                parts,
                sum,
                scale: 1.0,
            });
        }
        for (number, &cost) in self.repeats.iter().enumerate() {
            let passes = self.passes.iter().enumerate();
            let places: Vec<Place> = passes
                .filter_map(|(pass, crowded)| {
                    let at = crowded.repeats.iter().position(|&of| of == number)?;
                    Some(Place::Repeat(pass, at))
                })
                .collect();
            let own = places
                .iter()
                .position(|place| matches!(place, Place::Repeat(_, 0)));
            let mut parts = vec![0; places.len()];
            match own {
                Some(own) => parts[own] = ONE,
                None => {
                    let each = ONE / (places.len().max(1) as u32);
                    parts.iter_mut().for_each(|part| *part = each);
                }
            }
            all.push(Shared {
                amount: cost,
                places,
                parts,
                sum: ONE,
                scale: 1.0,
            });
        }
        all
    }

    /// Computes the bounds of a division.
    fn divided(&self, shared: &[Shared]) -> Division {
        let mut uses: Vec<Vec<Use>> = self.passes.iter().map(|crowded| crowded.uses.clone()).collect();
        let passes = self.passes.iter();
        let mut repeats: Vec<Vec<u64>> = passes.map(|crowded| vec![0; crowded.repeats.len()]).collect();
        let mut outside_passes = vec![0; self.resources.len()];
        let (mut accesses, mut loads) = (outside_passes.clone(), outside_passes.clone());
        for (number, one) in shared.iter().enumerate() {
            for (place, &part) in one.places.iter().zip(&one.parts) {
                let bytes = part_of(one.amount, part);
                match *place {
                    Place::EveryArrangement => outside_passes[number] += bytes,
                    Place::Accesses => {
                        outside_passes[number] += part_of(self.resources[number].off_chip, part);
                        accesses[number] = u64::from(part);
                    }
                    Place::Loads(place) => {
                        outside_passes[number] += part_of(self.resources[number].off_chip_loads, part);
                        loads[number] += u64::from(part);
                        let stored = part_of(self.resources[number].stored, part);
                        match place {
                            Some((pass, at)) => uses[pass][at].lifetime += stored,
                            None => outside_passes[number] += stored,
                        }
                    }
                    Place::Lifetime(pass, at) => uses[pass][at].lifetime += bytes,
                    Place::Repeat(pass, at) => repeats[pass][at] = bytes,
                }
            }
        }
        for (crowded, uses) in self.passes.iter().zip(&mut uses) {
            for ((one, &loaded), &at) in uses.iter_mut().zip(&crowded.loads).zip(&crowded.resources) {
                let loaded = part_of(loaded, loads[at] as u32);
                one.accessed = part_of(one.accessed, accesses[at] as u32) + loaded;
            }
        }
        let passes = self.passes.iter().zip(&uses).zip(&repeats);
        let fits =
            passes.map(|((crowded, uses), repeats)| least_cost(uses, self.heap, repeats, crowded.may_divide));
        let fits: Vec<Fit> = fits.collect();
        let sum = outside_passes.iter().sum::<u64>() + fits.iter().map(|fit| fit.cost).sum::<u64>();
        let bytes = |uses: &Vec<Use>| {
            let bytes = uses.iter().map(|one| one.accessed + one.lifetime);
            bytes.collect::<Vec<u64>>()
        };
        Division {
            total: sum,
            outside_passes,
            fits,
            uses: uses.iter().map(bytes).collect(),
        }
    }

    /// Moves parts to the places where they count for more.
    fn improve(&self, shared: &mut [Shared], last: &Division, step: f64) {
        let mut lost = vec![0.0; self.resources.len()];
        let mut loaded = lost.clone();
        for (crowded, fit) in self.passes.iter().zip(&last.fits) {
            for (at, &resource) in crowded.resources.iter().enumerate() {
                if matches!(fit.held[at], Held::OffChip | Held::WithoutParts) {
                    lost[resource] += crowded.uses[at].accessed as f64;
                    loaded[resource] += crowded.loads[at] as f64;
                }
            }
        }
        for (number, one) in shared.iter_mut().enumerate() {
            if one.places.len() < 2 || one.amount == 0 {
                continue;
            }
            let amount = one.amount as f64;
            let ends = |(pass, at): (usize, usize)| match last.fits[pass].held[at] {
                Held::ForLifetime | Held::WithoutParts => 0.0,
                Held::InPart | Held::OffChip => 1.0,
            };
            let resource = self.resources.get(number).copied().unwrap_or_default();
            let gain = |place: &Place| match *place {
                Place::EveryArrangement => amount,
                Place::Accesses => lost[number] + resource.off_chip as f64,
                Place::Loads(place) => {
                    let loads = loaded[number] + resource.off_chip_loads as f64;
                    loads + resource.stored as f64 * place.map_or(1.0, ends)
                }
                Place::Lifetime(pass, at) => amount * ends((pass, at)),
                Place::Repeat(pass, at) => match (last.fits[pass].repeated >> at.min(63)) & 1 {
                    1 if at < 64 => amount * last.fits[pass].repeat_count as f64,
                    _ => 0.0,
                },
            };
            let gains: Vec<f64> = one.places.iter().map(gain).collect();
            one.scale = gains.iter().copied().fold(one.scale, f64::max);
            let factor = step * f64::from(ONE) / one.scale;
            let wanted = one
                .parts
                .iter()
                .zip(&gains)
                .map(|(&part, gain)| f64::from(part) + factor * gain);
            let wanted: Vec<f64> = wanted.collect();
            one.parts = projected(&wanted, one.sum);
        }
    }
}

fn part_of(amount: u64, part: u32) -> u64 {
    (u128::from(amount) * u128::from(part) / u128::from(ONE)) as u64
}

/// Returns the parts nearest to `wanted` that are not negative and whose sum is at most `sum`.
fn projected(wanted: &[f64], sum: u32) -> Vec<u32> {
    let mut order = wanted.to_vec();
    order.compact_sort_by(|a, b| b.total_cmp(a));
    let (mut above, mut level) = (0.0, 0.0);
    for (at, value) in order.iter().enumerate() {
        above += value;
        let next = (above - f64::from(sum)) / (at + 1) as f64;
        if value - next <= 0.0 {
            break;
        }
        level = next;
    }
    let parts = wanted.iter().map(|value| (value - level).max(0.0) as u32);
    let mut left = sum;
    parts
        .map(|part| {
            let part = part.min(left);
            left -= part;
            part
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use tileheap_units::SplitMix64;

    use super::*;

    /// A problem with few passes and resources, whose least cost is found by exhaustive search.
    struct Small {
        heap: u64,
        resources: Vec<ResourceBound>,
        passes: Vec<CrowdedUses>,
        repeats: Vec<u64>,
    }

    fn small(random: &mut SplitMix64) -> Small {
        let count = 2;
        let resources: Vec<ResourceBound> = (0..3)
            .map(|_| {
                let bytes = random.below(40);
                ResourceBound {
                    bytes,
                    is_always: random.one_in(4),
                    stored: random.below(bytes + 1),
                    ..ResourceBound::default()
                }
            })
            .collect();
        let sizes: Vec<u64> = (0..3).map(|_| 2 + random.below(9)).collect();
        let divisible: Vec<bool> = (0..3)
            .map(|at| !resources[at].is_always && random.one_in(2))
            .collect();
        let passes = (0..count).map(|pass| {
            let uses = (0..3).map(|at| Use {
                whole_size: Some(sizes[at]),
                is_lasting: !resources[at].is_always,
                divided_size: divisible[at].then_some(sizes[at]),
                run: divisible[at].then_some((1 << count) - 1),
                is_part: divisible[at],
                accessed: random.below(3) * 8,
                ..Use::default()
            });
            let uses: Vec<Use> = uses.collect();
            CrowdedUses {
                resources: vec![0, 1, 2],
                loads: uses.iter().map(|one| random.below(one.accessed + 1)).collect(),
                uses,
                is_kept: resources.iter().map(|one| !one.is_always).collect(),
                repeats: (0..count).map(|at| (pass + at) % count).collect(),
                may_divide: true,
            }
        });
        Small {
            heap: 12,
            passes: passes.collect(),
            repeats: (0..count).map(|_| random.below(12)).collect(),
            resources,
        }
    }

    /// All states of a resource: on chip for its whole lifetime (`None`), or for each pass off chip (0), on chip as a whole (1), or in strips (2).
    fn states(passes: usize) -> Vec<Option<Vec<u32>>> {
        let each = (0..3u32.pow(passes as u32)).map(|number| {
            let states = (0..passes as u32).map(|pass| number / 3u32.pow(pass) % 3);
            Some(states.collect())
        });
        each.chain([None]).collect()
    }

    impl Small {
        fn least(&self) -> u64 {
            let count = self.passes.len();
            let states = states(count);
            let mut least = u64::MAX;
            for number in 0..(states.len() + 1).pow(3) {
                let of = |at: u32| {
                    let state = number / (states.len() + 1).pow(at) % (states.len() + 1);
                    (states.get(state), state > states.len() - 1)
                };
                for strips in 0..5u64.pow(count as u32) {
                    let strips: Vec<u64> = (0..count as u32)
                        .map(|at| strips / 5u64.pow(at) % 5 + 1)
                        .collect();
                    let cost = self.cost([of(0), of(1), of(2)], &strips);
                    least = least.min(cost.unwrap_or(u64::MAX));
                }
            }
            least
        }

        /// The cost of a choice; `None` if it does not fit.
        fn cost(&self, of: [(Option<&Option<Vec<u32>>>, bool); 3], strips: &[u64]) -> Option<u64> {
            let mut cost: u64 = strips
                .iter()
                .zip(&self.repeats)
                .map(|(strips, cost)| (strips - 1) * cost)
                .sum();
            let mut used = vec![(0, 0); strips.len()];
            for (at, (state, in_strips)) in of.into_iter().enumerate() {
                let resource = self.resources[at];
                let (mut accessed, mut loaded) = (0, resource.stored);
                let each = state.and_then(|state| state.as_ref());
                let lasts = each.is_none();
                if lasts
                    && (resource.is_always || in_strips && self.passes[0].uses[at].divided_size.is_none())
                {
                    return None;
                }
                if lasts && in_strips && strips.iter().any(|&other| other == 1 || other != strips[0]) {
                    return None;
                }
                for (pass, used) in used.iter_mut().enumerate() {
                    let one = &self.passes[pass].uses[at];
                    match each.map(|each| each[pass]) {
                        Some(0) => {
                            accessed += one.accessed;
                            loaded += self.passes[pass].loads[at];
                        }
                        Some(1) => used.0 += one.whole_size?,
                        None if !in_strips => used.0 += one.whole_size?,
                        _ if strips[pass] > 1 => used.1 += one.divided_size?,
                        _ => return None,
                    }
                }
                if !lasts {
                    cost += accessed.max(resource.bytes).max(loaded);
                }
            }
            let mut fits = used.iter().zip(strips);
            fits.all(|(used, strips)| used.0 * strips + used.1 <= self.heap * strips)
                .then_some(cost)
        }
    }

    /// No bound is above the least cost of anything that fits; most are equal, and above those of a fixed division.
    #[test]
    fn bounds_are_below_all_that_fits() {
        let mut random = SplitMix64::new(7);
        let (mut equal, mut better) = (0, 0);
        for number in 0..200 {
            let small = small(&mut random);
            let auction = Auction {
                heap: small.heap,
                resources: &small.resources,
                passes: &small.passes,
                repeats: &small.repeats,
            };
            let (first, best) = (auction.divided(&auction.shared()).total, auction.best().total);
            let least = small.least();
            assert!(
                first <= best && best <= least,
                "{number}: {first}, {best} of {least}"
            );
            equal += usize::from(best == least);
            better += usize::from(best > first);
        }
        assert!(equal >= 100 && better >= 50, "{equal} equal, {better} better");
    }

    #[test]
    fn parts_keep_their_sum() {
        assert_eq!(projected(&[10.0, 0.0], 10), [10, 0]);
        assert_eq!(projected(&[10.0, 10.0], 10), [5, 5]);
        assert_eq!(projected(&[20.0, 4.0, -5.0], 10), [10, 0, 0]);
        assert_eq!(projected(&[8.0, 4.0, 3.0], 6), [5, 1, 0]);
    }
}
