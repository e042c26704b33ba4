//! Times in pairs: both plans in turn, the first one first in every other pair, so that whatever else the machine does hits both
//! alike.

use std::time::{Duration, Instant};

use tileheap_examples::error::Result;

/// How long one run took.
#[derive(Clone, Copy)]
pub(crate) struct Took {
    /// By the clock.
    wall: Duration,
    /// On all processors together, where the system says it (Linux).
    processor: Option<Duration>,
}

/// A run that goes on.
pub(crate) struct Stopwatch {
    start: Instant,
    processor: Option<Duration>,
}

impl Stopwatch {
    pub(crate) fn start() -> Stopwatch {
        let processor = processor_time();
        Stopwatch {
            start: Instant::now(),
            processor,
        }
    }

    pub(crate) fn stop(self) -> Took {
        let wall = self.start.elapsed();
        let both = processor_time().zip(self.processor);
        Took {
            wall,
            processor: both.map(|(now, before)| now.saturating_sub(before)),
        }
    }
}

/// What this process's threads have run for so far: a software driver computes in threads of its own.
fn processor_time() -> Option<Duration> {
    let mut sum = 0;
    for thread in std::fs::read_dir("/proc/self/task").ok()? {
        let text = std::fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        sum += text.split_whitespace().next()?.parse::<u64>().ok()?;
    }
    Some(Duration::from_nanos(sum))
}

/// Times pairs of runs and prints medians, and the median ratio of aliased to unaliased with its confidence interval.
pub(crate) fn time(
    mut apart: impl FnMut() -> Result<Took>,
    mut together: impl FnMut() -> Result<Took>,
    pairs: u32,
) -> Result<()> {
    let mut took = Vec::new();
    for pair in 0..pairs {
        took.push(match pair % 2 {
            0 => {
                let first = apart()?;
                (first, together()?)
            }
            _ => {
                let first = together()?;
                (apart()?, first)
            }
        });
    }
    let clock = took.iter().map(|(a, b)| (a.wall, b.wall)).collect::<Vec<_>>();
    print("time", &clock);
    let processor: Option<Vec<_>> = took.iter().map(|(a, b)| a.processor.zip(b.processor)).collect();
    if let Some(processor) = processor {
        print("processor time", &processor);
    }
    Ok(())
}

fn print(what: &str, pairs: &[(Duration, Duration)]) {
    let sorted = |of: &dyn Fn(&(Duration, Duration)) -> f64| {
        let mut all: Vec<f64> = pairs.iter().map(of).collect();
        all.sort_unstable_by(f64::total_cmp);
        all
    };
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    let apart = median(&sorted(&|pair| milliseconds(pair.0)));
    let together = median(&sorted(&|pair| milliseconds(pair.1)));
    let ratios = sorted(&|pair| pair.1.as_secs_f64() / pair.0.as_secs_f64().max(1e-9));
    let interval = interval(&ratios).map_or("too few for an interval".to_owned(), |(least, most)| {
        format!("{least:.3} to {most:.3}")
    });
    println!(
        "    {what:14} of {} pairs: unaliased {apart:.2} ms, aliased {together:.2} ms, ratio {:.3} ({interval})",
        pairs.len(),
        median(&ratios)
    );
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
    use super::*;

    #[test]
    fn the_interval_of_a_median_has_the_ranks_of_published_tables() {
        let values: Vec<f64> = (1..=30).map(f64::from).collect();
        // Conover, Practical Nonparametric Statistics, table of the binomial distribution.
        assert_eq!(interval(&values), Some((10.0, 21.0)));
        assert_eq!(interval(&values[..20]), Some((6.0, 15.0)));
        assert_eq!(interval(&values[..6]), Some((1.0, 6.0)));
        assert_eq!(interval(&values[..5]), None);
    }
}
