//! Times plans in pairs: the plans alternate, and their order changes from pair to pair, so that other load on the machine
//! affects both equally.

use std::time::Duration;

use tileheap_examples::error::Result;
use tileheap_examples::statistics::{interval, median};

/// Times pairs of runs and prints medians, and the median ratio of aliased to unaliased with its confidence interval.
pub(crate) fn time(
    mut apart: impl FnMut() -> Result<Duration>,
    mut together: impl FnMut() -> Result<Duration>,
    pairs: u32,
) -> Result<()> {
    let mut took = Vec::new();
    for pair in 0..pairs {
        let early = if pair % 2 > 0 { Some(together()?) } else { None };
        let first = apart()?;
        took.push((first, early.map_or_else(&mut together, Ok)?));
    }
    let each = |of: &dyn Fn(&(Duration, Duration)) -> f64| took.iter().map(of).collect::<Vec<f64>>();
    let apart = median(&each(&|pair| pair.0.as_secs_f64() * 1e3));
    let together = median(&each(&|pair| pair.1.as_secs_f64() * 1e3));
    let ratios = each(&|pair| pair.1.as_secs_f64() / pair.0.as_secs_f64().max(1e-9));
    let interval = interval(&ratios).map_or("too few for an interval".to_owned(), |(least, most)| {
        format!("{least:.3} to {most:.3}")
    });
    println!(
        "    time of {pairs} pairs: unaliased {apart:.2} ms, aliased {together:.2} ms, ratio {:.3} ({interval})",
        median(&ratios)
    );
    Ok(())
}
