//! Noise from integers, with the same results on every machine.

/// A hash of a cell, 0 to 1.
fn cell(x: i32, y: i32) -> f32 {
    let parts = (x as u32).wrapping_mul(0x9e37_79b1) ^ (y as u32).wrapping_mul(0x85eb_ca77);
    let state = parts.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
    let word = ((state >> ((state >> 28) + 4)) ^ state).wrapping_mul(277_803_737);
    ((word >> 22) ^ word) as f32 / u32::MAX as f32
}

/// Value noise, -1 to 1, and its slope in both directions.
pub(crate) fn noise(x: f32, y: f32) -> [f32; 3] {
    let (floor_x, floor_y) = (x.floor(), y.floor());
    let (cell_x, cell_y) = (floor_x as i32, floor_y as i32);
    let (u, v) = (x - floor_x, y - floor_y);
    let fade = |t: f32| {
        (
            t * t * t * (t * (t * 6.0 - 15.0) + 10.0),
            30.0 * t * t * (t * (t - 2.0) + 1.0),
        )
    };
    let ((fade_u, slope_u), (fade_v, slope_v)) = (fade(u), fade(v));
    let (a, b) = (cell(cell_x, cell_y), cell(cell_x + 1, cell_y));
    let (c, d) = (cell(cell_x, cell_y + 1), cell(cell_x + 1, cell_y + 1));
    let (along, across, both) = (b - a, c - a, a - b - c + d);
    [
        2.0 * (a + along * fade_u + across * fade_v + both * fade_u * fade_v) - 1.0,
        2.0 * slope_u * (along + both * fade_v),
        2.0 * slope_v * (across + both * fade_u),
    ]
}

/// Noise that resembles eroded mountains: octaves have less weight where earlier ones are steep. About -1 to 1.
///
/// Source: I. Quilez, "Value noise derivatives".
pub(crate) fn eroded(x: f32, y: f32, octaves: u32) -> f32 {
    let (mut x, mut y, mut sum, mut weight) = (x, y, 0.0, 1.0);
    let mut slope = [0.0, 0.0];
    for _ in 0..octaves {
        let [value, along, across] = noise(x, y);
        slope = [slope[0] + along, slope[1] + across];
        sum += weight * value / (1.0 + slope[0] * slope[0] + slope[1] * slope[1]);
        weight *= 0.5;
        // Rotated and doubled, so that octaves do not line up.
        (x, y) = (1.6 * x - 1.2 * y + 3.7, 1.2 * x + 1.6 * y + 1.3);
    }
    sum
}

/// Sum of octaves, about -1 to 1.
pub(crate) fn rough(x: f32, y: f32, octaves: u32) -> f32 {
    let (mut x, mut y, mut sum, mut weight) = (x, y, 0.0, 0.5);
    for _ in 0..octaves {
        sum += weight * noise(x, y)[0];
        weight *= 0.5;
        (x, y) = (1.6 * x - 1.2 * y + 3.7, 1.2 * x + 1.6 * y + 1.3);
    }
    sum
}
