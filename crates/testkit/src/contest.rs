//! Compares policies with each other and with the lower bound, on traces generated from several seeds; checks every step.

use std::collections::BTreeMap;

use tileheap_baselines::textures::{HeapCache, Order, next_uses};
use tileheap_textures::replay::{Distribution, Replay, TraceSummary, lower_bound};
use tileheap_textures::scenario::{Scenario, working_set};
use tileheap_textures::trace::TraceEntry;
use tileheap_textures::units::Bytes;
use tileheap_textures::{CreatePolicy, PolicyDesc};

/// Budgets in percent of the working set.
pub const BUDGETS: [u64; 6] = [50, 80, 95, 100, 105, 150];

pub const LOWER_BOUND: &str = "lower bound";
/// The name of the row of Belady's offline policy.
pub const BELADY: &str = "belady";

/// Results of one policy on one scenario at one budget: medians over seeds, and the spread.
#[derive(Clone, Debug)]
pub struct PolicyResult {
    /// Mean traffic per frame in bytes: the median over seeds.
    pub mean: u64,
    /// Mean traffic per frame in bytes, by seed.
    pub means: Vec<u64>,
    /// 99th percentile of the traffic per frame in bytes: the median over seeds.
    pub p99: u64,
}

/// The policies to compare, and the parameters of the traces.
pub struct ContestDesc<'a> {
    /// Online policies.
    pub policies: &'a [PolicyDesc<'static>],
    /// True to add Belady's policy.
    pub belady: bool,
    /// Seeds of the traces.
    pub seeds: std::ops::Range<u64>,
    /// Number of frames of each trace; a quarter of it for [`Scenario::Switch`].
    pub frames: u32,
}

impl ContestDesc<'_> {
    /// Replays one scenario at one budget; returns the results by policy, including [`LOWER_BOUND`] and, if `belady` is true, [`BELADY`].
    ///
    /// # Panics
    /// If a policy breaks a rule.
    pub fn contest(&self, scenario: Scenario, budget: u64) -> BTreeMap<&'static str, PolicyResult> {
        let mut all: BTreeMap<&'static str, Vec<TraceSummary>> = BTreeMap::new();
        for seed in self.seeds.clone() {
            // This scenario has thousands of textures in each frame.
            let frames = match scenario {
                Scenario::Switch => self.frames / 4,
                _ => self.frames,
            };
            let entries = scenario.entries(seed, frames);
            let geometry = scenario.geometry();
            let bytes = working_set(&entries, geometry.unit()).0 * budget / 100;
            let bytes = Bytes(bytes.max(geometry.largest().0));
            let bound = TraceSummary {
                traffic: Distribution::of(&lower_bound(&entries, bytes)),
                ..TraceSummary::default()
            };
            all.entry(LOWER_BOUND).or_default().push(bound);
            if self.belady {
                let uses = next_uses(&entries);
                let create: &CreatePolicy = &move |geometry, budget, seed, _| {
                    let belady = HeapCache::new(geometry, budget, Order::Belady(uses.clone()), seed)?;
                    Ok(Box::new(belady.compacting()))
                };
                let belady = PolicyDesc::new(BELADY, "", create).evicting_in_use();
                let summary = play(&belady, scenario, (bytes, seed), &entries);
                all.entry(BELADY).or_default().push(summary);
            }
            for desc in self.policies {
                let summary = play(desc, scenario, (bytes, seed), &entries);
                all.entry(desc.name).or_default().push(summary);
            }
        }
        all.into_iter()
            .map(|(name, summaries)| (name, policy_result(&summaries)))
            .collect()
    }
}

fn play(
    policy: &PolicyDesc<'_>,
    scenario: Scenario,
    (budget, seed): (Bytes, u64),
    entries: &[TraceEntry],
) -> TraceSummary {
    let mut replay =
        Replay::new(policy, &scenario.geometry(), budget, seed).expect("the budget holds a texture");
    for &entry in entries {
        if let Err(fault) = replay.play(entry) {
            panic!("{} in {budget}: {fault}", scenario.name());
        }
    }
    replay.finish()
}

fn policy_result(summaries: &[TraceSummary]) -> PolicyResult {
    let of = |figure: &dyn Fn(&TraceSummary) -> u64| median(summaries.iter().map(figure).collect());
    PolicyResult {
        mean: of(&|summary| summary.traffic.mean.0),
        means: summaries.iter().map(|summary| summary.traffic.mean.0).collect(),
        p99: of(&|summary| summary.traffic.p99.0),
    }
}

fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values[values.len() / 2]
}
