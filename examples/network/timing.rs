//! Times in pairs: both plans in turn, the first one first in every other pair, so that whatever else the machine does hits both
//! alike.

use std::time::Duration;

use tileheap_examples::error::Result;

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
    let sorted = |of: &dyn Fn(&(Duration, Duration)) -> f64| {
        let mut all: Vec<f64> = took.iter().map(of).collect();
        all.sort_unstable_by(f64::total_cmp);
        all
    };
    let apart = median(&sorted(&|pair| pair.0.as_secs_f64() * 1e3));
    let together = median(&sorted(&|pair| pair.1.as_secs_f64() * 1e3));
    let ratios = sorted(&|pair| pair.1.as_secs_f64() / pair.0.as_secs_f64().max(1e-9));
    let interval = interval(&ratios).map_or("too few for an interval".to_owned(), |(least, most)| {
        format!("{least:.3} to {most:.3}")
    });
    println!(
        "    time of {pairs} pairs: unaliased {apart:.2} ms, aliased {together:.2} ms, ratio {:.3} ({interval})",
        median(&ratios)
    );
    Ok(())
}

fn median(sorted: &[f64]) -> f64 {
    let half = sorted.len() / 2;
    match sorted.len() % 2 {
        1 => sorted[half],
        _ => (sorted[half - 1] + sorted[half]) / 2.0,
    }
}

/// Between which of the values, ascending, the median of what they were drawn from is at least 95 times of 100, whatever its distribution: as
/// many are above it as heads fall of as many coins.
fn interval(sorted: &[f64]) -> Option<(f64, f64)> {
    let count = sorted.len();
    let mut probability = 0.5f64.powi(count as i32);
    let (mut below, mut rank) = (probability, 0);
    while below <= 0.025 {
        rank += 1;
        probability *= (count - rank + 1) as f64 / rank as f64;
        below += probability;
    }
    (rank > 0).then(|| (sorted[rank - 1], sorted[count - rank]))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_interval_of_a_median_has_the_ranks_of_published_tables() {
        let values: Vec<f64> = (1..=30).map(f64::from).collect();
        // Conover, Practical Nonparametric Statistics, table of the binomial distribution.
        for (count, expected) in [(30, Some((10.0, 21.0))), (20, Some((6.0, 15.0))), (5, None)] {
            assert_eq!(super::interval(&values[..count]), expected);
        }
    }
}
