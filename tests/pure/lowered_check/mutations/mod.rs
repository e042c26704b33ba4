//! Damage: tables that the checker accepts are broken in one place, and it must refuse them with the right reason.
//!
//! A kind of damage is three things: *sites*, the places of the tables at which it certainly breaks a rule; what is done there; and the
//! error that belongs to it. Every kind must find enough sites among the planned frames, so that none is tested on nothing.

mod barriers;
mod fields;
mod objects;
mod queues;

use std::fmt::Debug;

use tileheap::lower::check::{CheckError, Rule};
use tileheap::lower::{Lowered, Situation, lower};
use tileheap::plan::Plan;
use tileheap::units::SplitMix64;

use super::{arrangements, device, executable};

/// Every kind of damage is done at so many sites at least.
const ENOUGH: usize = 15;
/// So many frames are searched for them.
const SEEDS: u64 = 400;
/// At most so many sites are taken from one table, for variety.
const PER_TABLE: usize = 2;

/// Sound tables, and what they are for.
struct Sound<'a> {
    plan: &'a Plan,
    situation: Situation,
    tables: Lowered,
}

/// Breaks tables and asserts that the checker says why they are broken.
///
/// # Panics
/// If damaged tables are accepted or refused for other reasons only, or if there are too few sites.
fn refused<T: Debug>(
    sites: impl Fn(&Sound<'_>) -> Vec<T>,
    damage: impl Fn(&mut Lowered, &T),
    right: impl Fn(&CheckError) -> bool,
) {
    break_tables(sites, damage, right, |_| false);
}

/// As [`refused`], for damage that does no harm where another barrier or wait does the same: such sites do not count.
fn refused_or_harmless<T: Debug>(
    sites: impl Fn(&Sound<'_>) -> Vec<T>,
    damage: impl Fn(&mut Lowered, &T),
    right: impl Fn(&CheckError) -> bool,
) {
    break_tables(sites, damage, right, <[CheckError]>::is_empty);
}

fn break_tables<T: Debug>(
    sites: impl Fn(&Sound<'_>) -> Vec<T>,
    damage: impl Fn(&mut Lowered, &T),
    right: impl Fn(&CheckError) -> bool,
    harmless: impl Fn(&[CheckError]) -> bool,
) {
    let mut done = 0;
    for seed in 0..SEEDS {
        let Some(plan) = executable(seed) else { continue };
        let arrangements = arrangements(&plan);
        let mut random = SplitMix64::new(seed);
        let queues = arrangements[random.below(arrangements.len() as u64) as usize].clone();
        let mut situation = Situation::first(queues);
        for _ in 0..random.below(3) {
            situation = situation.after(&lower(&plan, &situation).unwrap());
        }
        let tables = lower(&plan, &situation).unwrap().into_inner();
        let device = device(&plan, &situation);
        let sound = Sound {
            plan: &plan,
            situation,
            tables,
        };
        let mut found = sites(&sound);
        for _ in 0..PER_TABLE.min(found.len()) {
            let site = found.swap_remove(random.below(found.len() as u64) as usize);
            let mut damaged = sound.tables.clone();
            damage(&mut damaged, &site);
            let errors = damaged.violations(&plan.frame, &sound.situation, &device);
            if harmless(&errors) {
                continue;
            }
            assert!(
                errors.iter().any(&right),
                "seed {seed}, {site:?}: not refused for the right reason, but: {errors:#?}\n{}",
                sound.tables.text(&plan.frame)
            );
            done += 1;
        }
        if done >= ENOUGH {
            return;
        }
    }
    panic!("only {done} sites in {SEEDS} frames");
}

fn is_parameter(error: &CheckError, name: &str) -> bool {
    matches!(error.rule, Rule::Parameter(of) if of == name)
}

fn is_hazard(error: &CheckError) -> bool {
    matches!(error.rule, Rule::Execution | Rule::Memory)
}

fn is_layout(error: &CheckError) -> bool {
    matches!(
        error.rule,
        Rule::OldLayout | Rule::Layout | Rule::Owner | Rule::NotReleased | Rule::NotAcquired
    )
}

fn is_contents(error: &CheckError) -> bool {
    error.rule == Rule::Contents
}

/// Rows for which `wanted` holds.
fn rows<T>(table: &[T], wanted: impl Fn(&T) -> bool) -> Vec<usize> {
    (0..table.len()).filter(|&row| wanted(&table[row])).collect()
}
