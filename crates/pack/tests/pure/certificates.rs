//! Certificates: found for proved answers, never accepted for false claims, and refused with the right reason if damaged.

use tileheap_pack::units::{Alignment, Bytes, Span, SplitMix64};
use tileheap_pack::{
    Answer, Certificate, CertificateError, Error, Item, Problem, ProblemDesc, Steps, Strategy, Verdict,
    certify, check_certificate, fit, minimize,
};

use crate::go_on;

fn item(first: u32, end: u32, size: u64) -> Item {
    Item::new(Span::new(first, end), Bytes(size), Alignment::ONE)
}

/// A few items with every feature; one in four problems is plain.
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

/// Returns the certificate that the packing is the lowest, or that none exists; `None` for a height of 0 bytes.
fn proved(problem: &Problem) -> Option<Certificate> {
    let answer = minimize(problem, Strategy::Auto, Steps::default(), &mut go_on);
    assert_eq!(answer.verdict, Verdict::Proved);
    let height = answer.packing.as_ref().map(|packing| packing.height.0);
    let above = height.map_or(Some(u64::MAX), |height| height.checked_sub(1))?;
    let certificate = certify(problem, &answer, Steps::default(), &mut go_on).expect("the bound is not 0");
    assert_eq!(certificate.above, Bytes(above), "{problem:?}");
    Some(certificate)
}

/// Proved answers for few items have a certificate; a modified certificate is never accepted for more than is true.
#[test]
fn certificates_prove_what_is_true_and_no_more() {
    let mut random = SplitMix64::new(20);
    let (mut trees, mut nowhere, mut accepted) = (0, 0, 0);
    for round in 0..20_000 {
        let problem = drawn(&mut random);
        let Some(mut of) = proved(&problem) else {
            continue;
        };
        assert_eq!(check_certificate(&problem, &of), Ok(()), "round {round}");
        trees += u32::from(of.branches.len() > 1);
        let Some(higher) = of.above.0.checked_add(1) else {
            nowhere += 1;
            continue;
        };
        let mut below = |end: usize| random.below(end as u64) as usize;
        let (at, other) = (below(of.branches.len()), below(of.branches.len()));
        let items = [(); 2].map(|()| below(problem.items().len()) as u32);
        match below(6) {
            0 => drop(of.items.swap_remove(below(of.items.len()))),
            1 => of.items.push(items[0]),
            2 => drop(of.branches.remove(at)),
            3 => of.branches.insert(at, None),
            4 => of.branches[at] = Some(items.into()),
            _ => of.branches.swap(at, other),
        }
        accepted += u32::from(check_certificate(&problem, &of).is_ok());
        of.above = Bytes(higher);
        assert!(check_certificate(&problem, &of).is_err(), "round {round}: {of:?}");
    }
    let enough = trees > 500 && nowhere > 400 && accepted > 500;
    assert!(
        enough,
        "{trees} trees, {nowhere} without a packing, {accepted} accepted"
    );
}

#[test]
fn damaged_certificates_are_refused_with_the_reason() {
    // The items of 2 and 6 bytes are above one another in either order, and one of them is above or below that of 4.
    let aligned = |first, end, size| Item {
        alignment: Alignment::new(4).unwrap(),
        ..item(first, end, size)
    };
    let problem = Problem::new(vec![
        aligned(2, 5, 2),
        aligned(1, 5, 6),
        item(0, 4, 4),
        item(5, 6, 1),
    ])
    .unwrap();
    let sound = proved(&problem).unwrap();
    let [Some((first, second)), None, None] = sound.branches[..] else {
        panic!("{sound:?}");
    };
    let refused = |damage: &dyn Fn(&mut Certificate)| {
        let mut certificate = sound.clone();
        damage(&mut certificate);
        match check_certificate(&problem, &certificate) {
            Err(Error::Certificate(error)) => error,
            other => panic!("{other:?}"),
        }
    };
    let push = |item: u32| refused(&|of| of.items.push(item));
    assert_eq!(push(9), CertificateError::UnknownItem(9));
    assert_eq!(push(first), CertificateError::DuplicateItem(first));
    let branch = |number: usize, of: Option<(u32, u32)>| refused(&|all| all.branches[number] = of);
    assert_eq!(branch(0, Some((0, 9))), CertificateError::UnlistedItem(0, 9));
    assert_eq!(branch(0, None), CertificateError::OpenLeaf(0, sound.above));
    assert_eq!(
        branch(1, Some((second, first))),
        CertificateError::MissingBranches(3)
    );
    let apart = |of: &mut Certificate| {
        of.items.push(3);
        of.branches[0] = Some((0, 3));
    };
    assert_eq!(refused(&apart), CertificateError::MayShare(0, 0, 3));
    assert_eq!(
        refused(&|of| of.above.0 += 1),
        CertificateError::OpenLeaf(1, Bytes(14))
    );
    assert_eq!(
        refused(&|of| of.branches.push(None)),
        CertificateError::ExtraBranches(3)
    );
    let many = Problem::new((0..129).map(|_| item(0, 1, 1)).collect()).unwrap();
    let mut load = proved(&many).unwrap();
    assert_eq!(check_certificate(&many, &load), Ok(()));
    load.branches = vec![Some((0, 1)), None, None];
    let error = CertificateError::TooManyItems(129);
    assert_eq!(check_certificate(&many, &load), Err(Error::Certificate(error)));
}

/// A certificate covers the capacity of the answer; if its bound cannot be certified, the load is used instead.
#[test]
fn a_certificate_is_about_the_capacity_or_else_the_load() {
    let page = Alignment::new(4).unwrap();
    let paged = Item {
        alignment: page,
        ..item(0, 2, 3)
    };
    let problem = ProblemDesc::new(vec![paged; 5])
        .capacity(Bytes(16))
        .build()
        .unwrap();
    let answer = fit(&problem, Strategy::Auto, Steps::default(), &mut go_on);
    let claimed = Answer {
        bound: Bytes(20),
        ..Answer::default()
    };
    for (answer, above) in [(answer, 16), (claimed, 14)] {
        let certificate = certify(&problem, &answer, Steps::default(), &mut go_on).unwrap();
        assert_eq!(certificate.above, Bytes(above));
        assert_eq!(check_certificate(&problem, &certificate), Ok(()));
    }
    let nothing = certify(
        &Problem::default(),
        &Answer::default(),
        Steps::default(),
        &mut go_on,
    );
    assert_eq!(nothing, None);
}
