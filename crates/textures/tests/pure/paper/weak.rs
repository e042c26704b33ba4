//! Where it is weak, as it says itself.

use tileheap_baselines::textures::Ring;
use tileheap_textures::Geometry;
use tileheap_textures::arenas::{Arenas, ArenasDesc, InitialWalls};
use tileheap_textures::scenario::Scenario;

use super::{TWO_MIB, play, summary};

#[test]
fn the_weak_case_is_weak() {
    // Twice as many textures of one size as their arena holds, though all fit into memory: the ring has no ejection.
    let entries = Scenario::DoubleLoad.entries(1, 100);
    let geometry = Geometry::wulfram();
    let desc = ArenasDesc {
        walls: InitialWalls::EqualBytes,
        ..ArenasDesc::default()
    };
    let arenas = Arenas::new(&geometry, TWO_MIB, 1, desc).expect("2 MiB");
    let (arenas, uploads) = play(Box::new(arenas), &geometry, TWO_MIB, &entries);
    let ring = summary(Ring::DESC, &geometry, TWO_MIB, &entries);
    assert_eq!(ring.total.reloads_60, 0);
    assert!(arenas.total.reloads_60 > 0);
    assert_eq!(uploads[60..].iter().sum::<u64>(), 0, "but it adjusts");
}
