//! Certificates: found for what is proved, never accepted for what is not so, and refused for the right reason where they are damaged.

use tileheap_pack::units::{Alignment, Bytes, Span, SplitMix64};
use tileheap_pack::{
    Answer, Certificate, CertificateError, Error, Item, Problem, ProblemDesc, Steps, Strategy, Verdict,
    certify, check_certificate, fit, lower_bound, minimise,
};

use crate::go_on;

fn item(first: u32, end: u32, size: u64) -> Item {
    Item::new(Span::new(first, end), Bytes(size), Alignment::ONE)
}

/// A few items with every feature; one in four problems has none.
fn drawn(random: &mut SplitMix64) -> Problem {
    let plain = random.one_in(4);
    let items = (0..3 + random.below(6)).map(|_| {
        let (first, size) = (random.below(5) as u32, random.below(7));
        let mut item = item(first, first + random.below(4) as u32, size);
        if !plain {
            item.alignment = Alignment::new(random.pick(&[1, 1, 2, 3, 4])).unwrap();
            item.together = random.one_in(6).then_some(1);
            item.lowest = Bytes(random.below(3));
            item.fixed = random.one_in(16).then_some(Bytes(12 * random.below(2)));
            item.highest = random.one_in(4).then(|| Bytes(random.below(9)));
        }
        item
    });
    let mut desc = ProblemDesc::new(items.collect());
    if !plain {
        desc.conflicts
            .push((0, 1 + random.below(desc.items.len() as u64 - 1) as u32));
    }
    desc.build().unwrap_or_else(|_| drawn(random))
}

/// The certificate of the lowest packing or of there being none; and what it has to be above.
fn proved(problem: &Problem) -> Option<(Certificate, Bytes)> {
    let answer = minimise(problem, Strategy::Auto, Steps::default(), &mut go_on);
    assert_eq!(answer.verdict, Verdict::Proved);
    let height = answer.packing.as_ref().map(|packing| packing.height.0);
    let most = height.map_or(Some(u64::MAX), |height| height.checked_sub(1))?;
    let found = certify(problem, &answer, Steps::default(), &mut go_on);
    found.map(|certificate| (certificate, Bytes(most)))
}

#[test]
fn what_is_proved_of_few_items_has_a_certificate() {
    let mut random = SplitMix64::new(20);
    let (mut trees, mut nowhere) = (0, 0);
    for round in 0..2000 {
        let problem = drawn(&mut random);
        if lower_bound(&problem) == Bytes::ZERO {
            continue;
        }
        let (certificate, above) = proved(&problem).expect("the bound is not 0");
        assert_eq!(certificate.above, above, "round {round}");
        assert_eq!(check_certificate(&problem, &certificate), Ok(()), "round {round}");
        trees += u32::from(certificate.branches.len() > 1);
        nowhere += u32::from(above == Bytes(u64::MAX));
    }
    assert!(
        trees > 50 && nowhere > 40,
        "too easy: {trees} trees, {nowhere} without a packing"
    );
}

/// Whatever is done to a certificate, it is not accepted for more than is true.
#[test]
fn no_damaged_certificate_proves_too_much() {
    let mut random = SplitMix64::new(21);
    let (mut accepted, mut refused) = (0, 0);
    for round in 0..20_000 {
        let problem = drawn(&mut random);
        let found = proved(&problem).filter(|(certificate, _)| certificate.above.0 < 1 << 32);
        let Some((sound, above)) = found else { continue };
        let Certificate { items, branches, .. } = &mut sound.clone();
        let last = branches.len() - 1;
        let at = random.below(branches.len() as u64) as usize;
        let of = random.below(problem.items().len() as u64) as u32;
        match random.below(6) {
            0 => drop(items.swap_remove(random.below(items.len() as u64) as usize)),
            1 => items.push(of),
            2 => drop(branches.remove(at)),
            3 => branches.insert(at, None),
            4 => branches[at] = Some((of, random.below(problem.items().len() as u64) as u32)),
            _ => branches.swap(at, last),
        }
        let higher = Bytes(above.0 + random.below(3));
        let damaged = Certificate {
            above: higher,
            items: items.clone(),
            branches: branches.clone(),
        };
        match check_certificate(&problem, &damaged) {
            Ok(()) => {
                assert_eq!(higher, above, "round {round}: {damaged:?}");
                accepted += 1;
            }
            Err(_) => refused += 1,
        }
    }
    assert!(
        accepted > 500 && refused > 5000,
        "{accepted} accepted, {refused} refused"
    );
}

#[test]
fn damaged_certificates_are_refused_with_the_reason() {
    // Between 0 and 12 the pages of 4 hold three items of 3 bytes; a fourth ends at 15.
    let page = Alignment::new(4).unwrap();
    let paged = |first: u32, end: u32| Item {
        alignment: page,
        ..item(first, end, 3)
    };
    let low = Item {
        highest: Some(Bytes(4)),
        ..paged(0, 2)
    };
    let items = vec![
        low,
        Item {
            highest: Some(Bytes(4)),
            ..paged(1, 3)
        },
        paged(0, 3),
        item(5, 6, 1),
        item(1, 2, 2),
        item(1, 2, 5),
    ];
    let problem = Problem::new(items).unwrap();
    let (sound, above) = proved(&problem).unwrap();
    assert_eq!(check_certificate(&problem, &sound), Ok(()));
    assert!(sound.branches.len() > 2, "{sound:?}");
    let (_, number) = sound
        .branches
        .iter()
        .zip(0..)
        .find(|(branch, _)| branch.is_none())
        .unwrap();
    let refused = |damage: &dyn Fn(&mut Certificate)| {
        let mut certificate = sound.clone();
        damage(&mut certificate);
        match check_certificate(&problem, &certificate) {
            Err(Error::Certificate(error)) => error,
            other => panic!("{other:?}"),
        }
    };
    let count = sound.branches.len();
    let first = sound.items[0];
    assert_eq!(refused(&|of| of.items.push(9)), CertificateError::UnknownItem(9));
    assert_eq!(
        refused(&|of| of.items.push(first)),
        CertificateError::Repeated(first)
    );
    assert_eq!(
        refused(&|of| of.branches[0] = Some((0, 9))),
        CertificateError::NotListed(0, 9)
    );
    let apart = |of: &mut Certificate| {
        of.items.push(3);
        of.branches[0] = Some((2, 3));
    };
    assert_eq!(refused(&apart), CertificateError::MayShare(0, 2, 3));
    assert_eq!(
        refused(&|of| of.branches = vec![None]),
        CertificateError::Open(0, above)
    );
    assert_eq!(
        refused(&|of| of.above.0 += 100),
        CertificateError::Open(number, above + Bytes(100))
    );
    assert_eq!(
        refused(&|of| of.branches.truncate(count - 1)),
        CertificateError::Incomplete(count - 1)
    );
    assert_eq!(
        refused(&|of| of.branches.push(None)),
        CertificateError::Complete(count)
    );
    let many = Problem::new((0..129).map(|_| item(0, 1, 1)).collect()).unwrap();
    let certificate = Certificate {
        above: Bytes(128),
        items: (0..129).collect(),
        branches: vec![None],
    };
    assert_eq!(check_certificate(&many, &certificate), Ok(()));
    let branched = Certificate {
        branches: vec![Some((0, 1)), None, None],
        ..certificate
    };
    let error = CertificateError::TooMany(129);
    assert_eq!(
        check_certificate(&many, &branched),
        Err(Error::Certificate(error))
    );
}

/// The capacity of an answer is what its certificate is about; a bound that takes too long to prove gives way to the load.
#[test]
fn a_certificate_is_about_the_capacity_or_else_the_load() {
    let page = Alignment::new(4).unwrap();
    let items: Vec<Item> = (0..5)
        .map(|_| Item {
            alignment: page,
            ..item(0, 2, 3)
        })
        .collect();
    let problem = ProblemDesc::new(items).capacity(Bytes(16)).build().unwrap();
    let answer = fit(&problem, Strategy::Auto, Steps::default(), &mut go_on);
    assert!(answer.is_impossible());
    let certificate = certify(&problem, &answer, Steps::default(), &mut go_on).unwrap();
    assert_eq!(certificate.above, Bytes(16));
    assert_eq!(check_certificate(&problem, &certificate), Ok(()));
    let claimed = Answer {
        bound: Bytes(20),
        ..Answer::default()
    };
    let certificate = certify(&problem, &claimed, Steps::default(), &mut go_on).unwrap();
    assert_eq!(
        certificate.above,
        Bytes(lower_bound(&problem).0 - 1),
        "no packing ends below 19, and one at 19"
    );
    assert_eq!(check_certificate(&problem, &certificate), Ok(()));
    assert_eq!(
        certify(
            &Problem::default(),
            &Answer::default(),
            Steps::default(),
            &mut go_on
        ),
        None
    );
}
