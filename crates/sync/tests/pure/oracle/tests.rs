//! The oracle on programs whose hazards were derived by hand, and wrong oracles on the same programs.

use std::collections::BTreeSet;

use tileheap_sync::program::Program;
use tileheap_sync::{Certainty, Hazard, MissingDependency, Model};

use super::make::Case;
use super::{EXCEPTIONS, Rules, cases, cases_across, cases_images, cases_passes, hazards, hazards_with};

fn cases_of_one_queue() -> Vec<Case> {
    let mut all = cases::cases();
    all.extend(cases_images::cases());
    all.extend(cases_passes::cases());
    all
}

fn all_cases() -> Vec<Case> {
    let mut all = cases_of_one_queue();
    all.extend(cases_across::cases());
    all
}

/// A hazard: tags of both commands, the missing dependency, the verdict and the bytes.
type Answer = ((u64, u64, MissingDependency, Certainty), (u64, u64));

fn answer(program: &Program, rules: Rules) -> Vec<Answer> {
    let hazards = hazards_with(program, rules);
    hazards
        .iter()
        .map(|hazard| {
            let tags = (hazard.before.tag.0, hazard.after.tag.0);
            ((tags.0, tags.1, hazard.missing, hazard.verdict), hazard.bytes)
        })
        .collect()
}

#[test]
fn finds_the_hazards_of_each_case() {
    let mut wrong = Vec::new();
    for case in all_cases() {
        let found = answer(&case.program, Rules::ALL);
        let found: Vec<_> = found.into_iter().map(|(hazard, _)| hazard).collect();
        if found != case.hazards {
            wrong.push(format!("{}: {found:?} instead of {:?}", case.name, case.hazards));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_model_finds_the_hazards_of_each_case_of_one_queue() {
    for case in cases_of_one_queue() {
        let found = Model::check(&case.program).hazards;
        let told = |one: &Hazard| (one.before.tag.0, one.after.tag.0, one.missing, one.verdict);
        let mut found: Vec<_> = found.iter().map(told).collect();
        let mut expected = case.hazards;
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{}", case.name);
    }
}

#[test]
fn every_rule_matters_to_a_case() {
    let cases = all_cases();
    let mutations = Rules::mutations();
    let unnoticed: Vec<&str> = mutations
        .iter()
        .filter(|(_, rules)| {
            cases
                .iter()
                .all(|case| answer(&case.program, *rules) == answer(&case.program, Rules::ALL))
        })
        .map(|(name, _)| *name)
        .collect();
    assert!(unnoticed.is_empty(), "no case notices {unnoticed:?}");
}

#[test]
fn exceptions_are_named_once() {
    let names: BTreeSet<&str> = EXCEPTIONS.iter().map(|(name, ..)| *name).collect();
    assert_eq!(names.len(), EXCEPTIONS.len());
    assert!(
        EXCEPTIONS
            .iter()
            .all(|(_, section, reason)| !section.is_empty() && !reason.is_empty())
    );
}

#[test]
fn case_names_differ_and_an_empty_program_has_no_hazards() {
    let cases = all_cases();
    let names: BTreeSet<&str> = cases.iter().map(|case| case.name).collect();
    assert_eq!(names.len(), cases.len());
    assert_eq!(hazards(&Program::default()), []);
}
