# Reads pairs of numbers; prints both medians, and the mean ratio of second to first with its 95 % confidence interval.

function median(values, count,    i, j, value) {
    for (i = 2; i <= count; i++) {
        value = values[i]
        for (j = i - 1; j >= 1 && values[j] > value; j--) values[j + 1] = values[j]
        values[j + 1] = value
    }
    return count % 2 ? values[(count + 1) / 2] : (values[count / 2] + values[count / 2 + 1]) / 2
}

{ first[NR] = $1; second[NR] = $2; ratio = $2 / $1; sum += ratio; squares += ratio * ratio }

END {
    if (NR < 2) exit 1
    mean = sum / NR
    spread = squares / NR - mean * mean
    spread = sqrt((spread > 0 ? spread : 0) / (NR - 1))
    # Student's t, two-sided, by an expansion in 1/n that is exact to 0.2 % from four degrees of freedom on.
    n = NR - 1; z = 1.959964
    t = z + (z^3 + z) / (4 * n) + (5 * z^5 + 16 * z^3 + 3 * z) / (96 * n^2) + (3 * z^7 + 19 * z^5 + 17 * z^3 - 15 * z) / (384 * n^3)
    printf "%-14s %6.3f %6.3f  %+6.2f %% (%+.2f to %+.2f), %d pairs\n", name, median(first, NR), median(second, NR),
        (mean - 1) * 100, (mean - t * spread - 1) * 100, (mean + t * spread - 1) * 100, NR
}
