//! Decodes arbitrary bytes as packing problems, and checks the properties that every answer must have.

use std::ops::ControlFlow;

use tileheap_pack::units::{Alignment, Bytes, Span};
use tileheap_pack::{Item, Packer, Packing, Problem, ProblemDesc, Steps, Strategy, Verdict, check};

/// The input bytes in order; 0 once they are used up.
struct Source<'a>(&'a [u8]);

impl Source<'_> {
    fn next(&mut self) -> u64 {
        let Some((&first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        u64::from(first)
    }
}

/// A problem and the weights of its items; `None` if validation rejects the decoded problem.
pub(crate) fn problem(bytes: &[u8]) -> Option<(Problem, Vec<u64>)> {
    let mut source = Source(bytes);
    let kind = source.next();
    let mut desc = ProblemDesc::default();
    let mut weights = Vec::new();
    let large = if kind & 1 > 0 {
        1 << (source.next() % 50)
    } else {
        1
    };
    while !source.0.is_empty() && desc.items.len() < 40 {
        let (first, lifetime, size) = (source.next(), source.next() % 32, source.next());
        let alignment = if kind & 2 > 0 { 1 + source.next() % 7 } else { 1 };
        let span = Span::new(first as u32, (first + lifetime) as u32);
        let mut item = Item::new(span, Bytes(size * large), Alignment::new(alignment)?);
        if kind & 4 > 0 {
            match source.next() % 8 {
                0 => item.fixed = Some(Bytes(source.next() * alignment * large)),
                1 => item.lowest = Bytes(source.next() * large),
                2 => item.highest = Some(Bytes(source.next() * 4 * large)),
                3 => item.together = Some((source.next() % 3) as u32),
                _ => {}
            }
        }
        if kind & 8 > 0 && source.next() % 4 == 0 {
            let other = source.next() as u32 % (desc.items.len() as u32 + 1);
            desc.conflicts.push((other, desc.items.len() as u32));
        }
        desc.items.push(item);
        weights.push(source.next());
    }
    desc.capacity = (kind & 16 > 0).then_some(Bytes(source.next() * 8 * large + 64 * large));
    Some((desc.build().ok()?, weights))
}

/// Runs all strategies and searches on a problem.
///
/// # Panics
/// If an answer is wrong.
pub(crate) fn judge(problem: &Problem, weights: &[u64]) {
    let steps = Steps(3000);
    let mut go_on = |_| ControlFlow::Continue(());
    let mut packer = Packer::default();
    let bound = packer.lower_bound(problem);
    let bounded = problem.items().iter().any(|item| item.highest.is_some());
    let mut least = None;
    for strategy in Strategy::ALL {
        let answer = packer.minimize(problem, strategy, steps, &mut go_on);
        let again = packer.minimize(problem, strategy, steps, &mut go_on);
        assert_eq!(answer, again, "{strategy}");
        assert!(answer.bound >= bound, "{strategy}");
        let Some(packing) = answer.packing else {
            assert!(bounded || strategy == Strategy::Exact, "{strategy}");
            continue;
        };
        check(problem, &packing).unwrap_or_else(|fault| panic!("{strategy}: {fault}"));
        assert!(packing.height >= answer.bound, "{strategy}");
        if answer.verdict == Verdict::Proved {
            assert_eq!(*least.get_or_insert(packing.height), packing.height, "{strategy}");
        }
    }
    if problem.capacity().is_some() {
        let answer = packer.fit(problem, Strategy::Auto, steps, &mut go_on);
        if let Some(packing) = &answer.packing {
            check(problem, packing).unwrap_or_else(|fault| panic!("{fault}"));
            assert!(packing.fits(problem));
        }
        assert_eq!(answer.is_impossible(), answer.conflict.is_some());
        if let (Some(least), true) = (least, answer.is_impossible()) {
            assert!(Some(least) > problem.capacity());
        }
    }
    let selection = packer.select(problem, weights, steps, &mut go_on);
    assert!(selection.weight <= selection.bound);
    let mut kept: Vec<usize> = (0..weights.len()).collect();
    kept.retain(|&index| selection.offsets[index].is_some());
    let weight: u64 = kept.iter().map(|&index| weights[index]).sum();
    assert_eq!(weight, selection.weight);
    let place = |item: u32| kept.iter().position(|&index| index == item as usize);
    let conflicts = problem.conflicts().iter().filter_map(|&(a, b)| Some((place(a)? as u32, place(b)? as u32)));
    let desc = ProblemDesc {
        items: kept.iter().map(|&index| problem.items()[index]).collect(),
        conflicts: conflicts.collect(),
        capacity: problem.capacity(),
    };
    let part = desc.build().expect("a part of a sound problem is sound");
    let packing = Packing {
        offsets: selection.offsets.into_iter().flatten().collect(),
        height: selection.height,
    };
    check(&part, &packing).unwrap_or_else(|fault| panic!("select: {fault}"));
    assert!(packing.fits(&part));
}
