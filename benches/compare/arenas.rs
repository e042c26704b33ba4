//! Compares packing strategies by the size of the block that many lifetimes share, in bytes.

use tileheap::frame::Persistence;
use tileheap::units::{Alignment, Bytes, Span, SplitMix64};
use tileheap_baselines::pack::{BankedGreedy, Executorch, Nnc, PingPong, STRATEGIES};
use tileheap_pack::{Item, Packer, PackingStrategy, Problem, Strategy};
use tileheap_testkit::generators::FAMILIES;

use crate::planning::random;
use crate::rows::{Better, Rows, Side, Table, Unit, data};

/// The maximum number of items for strategies that compare all pairs of items, or take even longer.
const LARGE: usize = 5000;

/// Packing strategies: published rules under their usual names, and ours.
const CONTENDERS: [(&str, Side, &dyn PackingStrategy); 12] = [
    ("no aliasing", Side::Baseline, &Strategy::Naive),
    ("greedy by size (LiteRT)", Side::Baseline, &Strategy::GreedyBySize),
    ("by breadth (LiteRT)", Side::Baseline, &Strategy::GreedyByBreadth),
    ("first fit (IREE)", Side::Baseline, &Strategy::FirstFitByBirth),
    ("by conflicts (TVM)", Side::Baseline, &Strategy::GreedyByConflicts),
    ("hill climb (TVM)", Side::Baseline, &Strategy::HillClimb),
    ("ExecuTorch", Side::Baseline, &Executorch),
    ("banked (ExecuTorch, described)", Side::Baseline, &BankedGreedy),
    ("ping-pong (CLML, described)", Side::Baseline, &PingPong),
    ("NNC", Side::Baseline, &Nnc),
    ("quick", Side::Ours, &Strategy::Quick),
    ("auto", Side::Ours, &Strategy::Auto),
];

/// This project's problem instances; a quick run uses only the first few.
const OWN: [&str; 9] = [
    "pack/guillotine-60.1000.csv",
    "pack/pinwheel-60.1000.csv",
    "tensor/models/gpt2s_prefill128.fp16.csv",
    "tensor/compilers/executorch_transformer.csv",
    "tensor/compilers/iree_mobilenet_v2.csv",
    "tensor/compilers/litert_mobilenet_v2.csv",
    "tensor/compilers/relax_resnet18_llvm.csv",
    "tensor/models/densenet121.fp16.csv",
    "tensor/models/lstm2_loop32_train_b1.fp16.csv",
];

/// Other projects' problem instances; a quick run uses only the first few.
const OTHERS: [&str; 8] = [
    "planning/somas_resnet50.csv",
    "planning/A.1048576.csv",
    "planning/C.1048576.csv",
    "planning/E.1048576.csv",
    "planning/G.1048576.csv",
    "planning/I.1048576.csv",
    "planning/K.1048576.csv",
    "planning/iopddl_S_1.csv",
];

pub(crate) fn compare(rows: &mut Rows) {
    rows.table(Table {
        name: "arenas",
        title: "Arena bytes",
        says: "Size of one block for lifetimes that share it, each rule on the same instances. Nothing can go below the bound, the most \
               bytes alive at once. The named rules are this project's implementations of what the projects publish, those \
               described from descriptions alone.",
        unit: Unit::Bytes,
        better: Better::Lower,
    });
    for (passes, resources) in [(30, 40), (256, 400)] {
        let problem = transients(passes, resources);
        row(
            rows,
            &format!("synthetic frame, {passes} passes, {resources} resources"),
            &problem,
        );
    }
    let count = if rows.quick { 60 } else { 400 };
    for family in FAMILIES {
        let problem = Problem::new(family.generate(1, count).items).expect("families are sound");
        row(rows, &format!("{}, {count} items", family.name), &problem);
    }
    let (own, others) = if rows.quick {
        (4, 1)
    } else {
        (OWN.len(), OTHERS.len())
    };
    for path in &OWN[..own] {
        table(rows, path, &data(path));
    }
    for path in &OTHERS[..others] {
        if let Some(text) = rows.shared(path) {
            table(rows, path, &text);
        }
    }
}

/// Adds the row of an instance from a table with the columns `id,lower,upper,size`.
fn table(rows: &mut Rows, path: &str, text: &str) {
    let items = text.lines().skip(1).map(|line| {
        let mut fields = line
            .split(',')
            .skip(1)
            .map(|field| field.trim().parse::<u64>().expect("a number"));
        let mut next = || fields.next().expect("a column");
        Item::new(
            Span::new(next() as u32, next() as u32),
            Bytes(next()),
            Alignment::ONE,
        )
    });
    let problem = Problem::new(items.collect()).expect("the data is sound");
    row(
        rows,
        &format!("{path}, {} items", problem.items().len()),
        &problem,
    );
}

/// The transient resources of a synthetic frame, with random sizes like those of images at a few scales.
fn transients(passes: u32, resources: u32) -> Problem {
    let frame = random(passes, resources, passes / 15);
    let mut sizes = SplitMix64::new(7);
    let page = Alignment::new(4096).expect("4096 is not 0");
    let items = frame
        .resource_ids()
        .filter(|&id| frame.resource(id).persistence == Persistence::Transient)
        .map(|id| {
            let size = Bytes((1 << sizes.below(5)) * 518_400).align_up(page);
            Item::new(frame.lifetime_of(id), size, page)
        });
    Problem::new(items.collect()).expect("frames are sound")
}

fn row(rows: &mut Rows, case: &str, problem: &Problem) {
    let mut packer = Packer::default();
    let bound = packer.lower_bound(problem);
    rows.add(case, "bound", Side::LowerBound, Some(bound.0 as f64));
    for (name, side, strategy) in CONTENDERS {
        let slow = STRATEGIES.iter().any(|other| other.name() == strategy.name());
        let packed =
            (!slow || problem.items().len() <= LARGE).then(|| packer.pack(problem, strategy).height.0 as f64);
        rows.add(case, name, side, packed);
    }
}
