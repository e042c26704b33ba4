use tileheap::cache::replay::{Levels, Replay};
use tileheap::cache::scenario::{Scenario, working_set};
use tileheap::cache::*;
use tileheap::units::Bytes;
#[test]
fn scratch() {
    let variants: Vec<(String, CoherentDesc)> = {
        let d = CoherentDesc::default();
        vec![("default".into(), d), ("seeds128".into(), CoherentDesc { seeds: 128, ..d }), ("looks300".into(), CoherentDesc { looks: 300, ..d }),
        ("accept1000".into(), CoherentDesc { accept: 1000, ..d }),
        ("accept900".into(), CoherentDesc { accept: 900, ..d }),
        ("patience4".into(), CoherentDesc { patience: 4, ..d }),
        ]
    };
    let only = std::env::var("S").unwrap_or("strafe,turn-around,zoom,switch,mixed,flight".into());
    for sc in Scenario::ALL {
        if !only.split(',').any(|o| o == sc.name()) { continue; }
        for b in [50, 80, 95u64, 105, 150] {
            let e = sc.entries(0, 300);
            let g = sc.geometry();
            let bytes = Bytes(working_set(&e, g.unit()).0 * b / 100);
            let f = Levels::of(&floor(&e, bytes));
            print!("{:<12} {b:>4} floor {:>8} p99 {:>8}:", sc.name(), f.mean.0, f.p99.0);
            let mut run = |name: &str, p: Box<dyn Policy>| {
                let mut r = Replay::new(p, &g, bytes);
                for &x in &e { r.play(x).unwrap_or_else(|f| panic!("{name}: {f}")); }
                let s = r.finish();
                print!(" | {name} {:.3} p{:.2} b{}", s.traffic.mean.0 as f64 / f.mean.0 as f64, s.traffic.p99.0 as f64 / f.p99.0.max(1) as f64, s.total.bypasses);
            };
            for k in [PolicyKind::LruCompacting, PolicyKind::FrameMru, PolicyKind::Lru] { run(k.name(), k.build(&g, bytes, 0).unwrap()); }
            for (n, d) in &variants { run(n, Box::new(Coherent::new(&g, bytes, *d).unwrap())); }
            println!();
        }
    }
}
