//! Damage: valid tables are broken in one place, and the checker must refuse them with the right reason.
//!
//! `tests/data/damaged_tables.json` has damage to single rows; damage to several is here: *sites*, the positions at which it certainly breaks a rule;
//! the change made there; and the errors that belong to it.

mod fields;
mod passes;
mod queues;

use std::fmt::Debug;
use std::sync::Arc;

use tileheap::Checked;
use tileheap::lower::check::{DeviceFacts, LoweredCheckError, LoweringRule};
use tileheap::lower::{Lowered, LoweringDesc, lower};
use tileheap::plan::Plan;
use tileheap::units::SplitMix64;

use super::{arrangements, device, executable};
use crate::damage::{self, Amount, assert_refused};

const AMOUNT: Amount = Amount {
    enough: 15,
    seeds: 400,
    per_seed: 2,
};

/// Valid tables, and their frame and device.
struct Sound {
    plan: Arc<Checked<Plan>>,
    lowering_desc: LoweringDesc,
    device: DeviceFacts,
    tables: Lowered,
}

impl Sound {
    /// The seed's tables, for one of the first frames and one mapping of queues.
    fn of(seed: u64, random: &mut SplitMix64) -> Option<Sound> {
        let plan = executable(seed)?;
        let arrangements = arrangements(&plan);
        let queues = arrangements[random.below(arrangements.len() as u64) as usize].clone();
        let mut lowering_desc = LoweringDesc::first(queues);
        for _ in 0..random.below(3) {
            lowering_desc = lowering_desc.after(&lower(&plan, &lowering_desc).unwrap());
        }
        Some(Sound {
            tables: lower(&plan, &lowering_desc).unwrap().into_inner(),
            device: device(&plan, &lowering_desc),
            plan,
            lowering_desc,
        })
    }

    fn violations(&self, damaged: &Lowered) -> Vec<LoweredCheckError> {
        damaged.violations(&self.plan.frame, &self.lowering_desc, &self.device)
    }
}

/// Breaks tables and asserts that the checker reports why they are broken.
fn refused<T: Debug>(
    sites: impl Fn(&Sound) -> Vec<T>,
    damage: impl Fn(&mut Lowered, &T),
    right: impl Fn(&LoweredCheckError) -> bool,
) {
    let violations = |sound: &Sound, site: &T| {
        let mut damaged = sound.tables.clone();
        damage(&mut damaged, site);
        sound.violations(&damaged)
    };
    damage::refused(&AMOUNT, Sound::of, sites, violations, |error, _| right(error));
}

#[test]
fn damaged_rows_are_refused() {
    let sound = |seed, random: &mut SplitMix64| {
        let sound = Sound::of(seed, random)?;
        let tables = serde_json::to_value(&sound.tables).unwrap();
        Some((sound, tables))
    };
    let check = |sound: &Sound, damaged| {
        let errors = sound.violations(&serde_json::from_value(damaged).unwrap());
        errors
            .iter()
            .map(|error| (rule_of(error), error.to_string()))
            .collect()
    };
    assert_refused("damaged_tables.json", &AMOUNT, sound, check);
}

/// The name of the parameter, or of the rule.
fn rule_of(error: &LoweredCheckError) -> String {
    match error.rule {
        LoweringRule::Parameter(name) => name.to_owned(),
        rule => format!("{rule:?}"),
    }
}

fn is_hazard(error: &LoweredCheckError) -> bool {
    matches!(error.rule, LoweringRule::Execution | LoweringRule::Memory)
}

fn is_layout(error: &LoweredCheckError) -> bool {
    matches!(
        error.rule,
        LoweringRule::OldLayout
            | LoweringRule::Layout
            | LoweringRule::Owner
            | LoweringRule::NotReleased
            | LoweringRule::NotAcquired
    )
}
