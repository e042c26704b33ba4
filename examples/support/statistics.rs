//! Medians of measurements, and their confidence intervals.

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

/// The median of the values, of which there must be at least one.
pub fn median(values: &[f64]) -> f64 {
    let (sorted, half) = (sorted(values), values.len() / 2);
    match sorted.len() % 2 {
        1 => sorted[half],
        _ => (sorted[half - 1] + sorted[half]) / 2.0,
    }
}

/// The 95 % confidence interval of the median, between two of the values, for any distribution; `None` for fewer than six values. The
/// number of values above the median is distributed like the number of heads in as many coin tosses.
pub fn interval(values: &[f64]) -> Option<(f64, f64)> {
    let (sorted, count) = (sorted(values), values.len());
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
