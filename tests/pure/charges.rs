//! Charges of arranged frames, in plans and their JSON.

use ash::vk;
use tileheap::arrange::{Arrangement, ArrangementCosts, DescriptionChange, SearchResult, ShortfallCause};
use tileheap::execute::{CarriedCharges, Charge, ChargeCause, Charges, ExecutedFrame, OriginRule};
use tileheap::frame::Frame;
use tileheap::plan::{Plan, PlanOptions, Traffic};
use tileheap::profile::DeviceProfile;
use tileheap::units::Bytes;

use crate::execute_strips::{blurred, in_strips};
use crate::planned::plan_with;

/// Strips after the first are charged the cost that their pass declares, and it is in the plan's totals and JSON.
#[test]
fn repeated_passes_are_charged_what_they_declare() {
    let frame = blurred();
    let executed = in_strips(&frame);
    let light = frame.pass_ids().next().unwrap();
    let repeats = executed.executed_passes(light).skip(1);
    let charge = |pass| Charge {
        pass,
        cause: ChargeCause::Repeat,
        bytes: Bytes::mib(1),
    };
    assert_eq!(executed.charges().passes, repeats.map(charge).collect::<Vec<_>>());
    let profile = DeviceProfile::preset("adreno-830").unwrap();
    let plan = plan_with(&executed, &profile, &PlanOptions::default());
    let traffic = Traffic::of(&plan);
    assert_eq!((traffic.repeats, traffic.merges), (Bytes::mib(3), Bytes::ZERO));
    assert_eq!(plan.totals.charged_bytes, traffic.charges());
    assert_eq!(plan.totals.on_chip_bytes, traffic.on_chip());
    let text = plan.to_json();
    assert!(text.contains("\"cause\": \"repeat\""), "{text}");
    assert_eq!(Plan::from_json(&executed, &text).unwrap(), *plan);
    // The totals are derived from the charges.
    let wrong = text.replace("\"bytes\": 1048576", "\"bytes\": 1048577");
    assert_ne!(wrong, text);
    let wrong = Plan::from_json(&executed, &wrong).unwrap();
    assert!(wrong.check().is_err());
}

/// Bytes that strips move around themselves are charged at the measured cost.
#[test]
fn halos_cost_what_was_measured() {
    let executed = in_strips(&blurred());
    let profile = DeviceProfile::preset("no-tile-memory").unwrap();
    let traffic = |halo_thousandths| {
        let charges = Charges {
            halo_thousandths,
            ..executed.charges().clone()
        };
        let executed = executed.clone().with_charges(charges);
        let plan = plan_with(&executed, &profile, &PlanOptions::default());
        plan.check().unwrap();
        Traffic::of(&plan)
    };
    let [none, half, all] = [0, 500, 1000].map(traffic);
    assert!(all.halos > Bytes::ZERO);
    assert_eq!((none.halos, half.halos), (Bytes::ZERO, Bytes(all.halos.0 / 2)));
    assert_eq!((none.moved, half.moved), (all.moved, all.moved));
}

/// A charge to a pass that does not repeat or merge anything is refused, and so is a duplicate.
#[test]
fn charges_that_do_not_belong_are_found() {
    let executed = in_strips(&blurred());
    let [first, second] = [0, 3].map(|number| executed.frame().pass_ids().nth(number).unwrap());
    let faults = |change: &dyn Fn(&mut Vec<Charge>)| {
        let mut charges = executed.charges().clone();
        change(&mut charges.passes);
        let rules = executed.clone().with_charges(charges).violations();
        rules.into_iter().map(|fault| fault.rule).collect::<Vec<_>>()
    };
    assert_eq!(faults(&|_| ()), []);
    assert_eq!(faults(&|charges| charges[0].pass = first), [OriginRule::Charge]);
    assert_eq!(faults(&|charges| charges[1].pass = second), [OriginRule::Charge]);
    assert_eq!(
        faults(&|charges| charges[0].cause = ChargeCause::Merge),
        [OriginRule::Charge]
    );
    assert_eq!(
        faults(&|charges| charges.push(Charge {
            cause: ChargeCause::Merge,
            ..charges[0]
        })),
        [OriginRule::Charge]
    );
}

/// Stores of split lifetimes move charges along with their passes.
#[test]
fn charges_follow_their_passes_through_later_rewrites() {
    let executed = in_strips(&blurred());
    let mut splits = 0;
    for (resource, after) in executed.splittable().collect::<Vec<_>>() {
        let Some(Ok(split)) = executed.split(resource, after) else {
            continue;
        };
        split.check().unwrap();
        splits += 1;
        assert_eq!(split.charges().of(ChargeCause::Repeat), Bytes::mib(3));
        let name = |executed: &ExecutedFrame| {
            let passes = executed.charges().passes.iter();
            passes
                .map(|charge| executed.frame().pass(charge.pass).name.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(name(&split), name(&executed));
    }
    assert!(splits > 0);
}

/// A change of the description begins a new map, and what came before it still costs the same: in the plan, its JSON and later changes.
#[test]
fn changes_of_the_description_keep_earlier_charges() {
    let executed = in_strips(&blurred());
    let carried = CarriedCharges {
        repeats: Bytes::mib(3),
        merges: Bytes::ZERO,
    };
    let profile = DeviceProfile::preset("adreno-830").unwrap();
    let mut input = executed;
    for image in ["lit #1", "blurred #2"] {
        let image = input.frame().resource_named(image).unwrap();
        let mut arrangement = Arrangement::described(input.frame());
        arrangement.changes.push(DescriptionChange::Format {
            image,
            format: vk::Format::B10G11R11_UFLOAT_PACK32,
        });
        let changed = arrangement.apply(&input).unwrap();
        changed.check().unwrap();
        assert_eq!(changed.charges().of(ChargeCause::Repeat), Bytes::mib(3));
        assert_eq!(
            (changed.charges().carried, changed.charges().passes.len()),
            (carried, 0)
        );
        let plan = plan_with(&changed, &profile, &PlanOptions::default());
        plan.check().unwrap();
        assert_eq!(Traffic::of(&plan).repeats, Bytes::mib(3));
        assert_eq!(plan.totals.charged_bytes, Bytes::mib(3));
        let text = plan.to_json();
        assert_eq!(Plan::from_json(&changed, &text).unwrap(), *plan);
        let wrong = text.replace("\"repeats\": 3145728", "\"repeats\": 3145729");
        assert_ne!(wrong, text);
        assert!(Plan::from_json(&changed, &wrong).unwrap().check().is_err());
        input = changed;
    }
}

/// Arrangements that swap two passes, and change nothing else.
fn swapped(frame: &Frame) -> Vec<Arrangement> {
    let described = Arrangement::described(frame);
    let swapped = (1..frame.passes().len()).filter_map(|at| {
        let mut swapped = described.clone();
        swapped.batches[0].groups.swap(at - 1, at);
        swapped.check(frame).is_ok().then_some(swapped)
    });
    let swapped: Vec<Arrangement> = swapped.collect();
    assert!(!swapped.is_empty());
    swapped
}

/// The search counts what the frame that it arranges is already charged, so that its result is that of the arranged frame's plan.
#[test]
fn searches_count_the_charges_of_the_frame_that_they_arrange() {
    let executed = in_strips(&blurred());
    let profile = DeviceProfile::preset("adreno-830").unwrap();
    let plan = plan_with(&executed, &profile, &PlanOptions::default());
    for arrangement in swapped(executed.frame()) {
        let costs = ArrangementCosts::default();
        let found = SearchResult::of(&plan, arrangement, costs).unwrap();
        let arranged = plan_with(found.apply(&plan).unwrap(), &profile, &plan.options);
        assert_eq!(found.described.repeats, Bytes::mib(3));
        assert_eq!(found.traffic.repeats, Bytes::mib(3));
        assert_eq!(found.traffic.off_chip(), Traffic::of(&arranged).off_chip());
        let rewritten = found
            .shortfalls
            .iter()
            .find(|one| one.cause == ShortfallCause::Rewritten);
        assert_eq!(rewritten.map(|one| one.bytes), Some(Bytes::mib(3)));
    }
}

/// Halos of a frame that is in strips already cost the search what they cost the plan of the arranged frame.
#[test]
fn searches_count_the_halos_of_the_frame_that_they_arrange_at_their_cost() {
    let plain = in_strips(&blurred());
    let profile = DeviceProfile::preset("no-tile-memory").unwrap();
    // Of the frame, of the search, and of the arranged frame.
    for (before, costs, after) in [
        (1000, 1.0, 1000),
        (200, 1.0, 200),
        (200, 0.2, 200),
        (500, 0.3, 300),
    ] {
        let charges = Charges {
            halo_thousandths: before,
            ..plain.charges().clone()
        };
        let executed = plain.clone().with_charges(charges);
        let plan = plan_with(&executed, &profile, &PlanOptions::default());
        let mut arrangements = swapped(executed.frame());
        arrangements.truncate(2);
        for arrangement in arrangements {
            let costs = ArrangementCosts {
                halo: costs,
                ..ArrangementCosts::default()
            };
            let found = SearchResult::of(&plan, arrangement, costs).unwrap();
            let arranged = found.apply(&plan).unwrap();
            assert_eq!(arranged.charges().halo_thousandths, after);
            let arranged = Traffic::of(&plan_with(arranged, &profile, &plan.options));
            assert!(arranged.halos > Bytes::ZERO);
            // Each resource's cost is rounded to bytes.
            let [expected, planned] = [found.traffic, arranged].map(|traffic| traffic.off_chip().0);
            let resources = executed.frame().resources().len() as u64;
            assert!(expected.abs_diff(planned) <= resources, "{expected}, {planned}");
        }
    }
}
