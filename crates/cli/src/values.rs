//! Values of options: sizes, extents, shares, budgets, sweeps.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use tileheap::units::Bytes;

/// Alternative names of values, each with the usual name.
const ALIASES: [(&str, &str); 1] = [("band", "strips")];

/// Parses one of `all` by its name; help shows the names, with their descriptions if given.
pub(crate) fn named<T: Copy + Send + Sync + 'static>(
    all: impl IntoIterator<Item = T>,
    name: fn(T) -> &'static str,
    description: Option<fn(T) -> &'static str>,
) -> impl TypedValueParser<Value = T> {
    let all: Vec<T> = all.into_iter().collect();
    let value = |one: &T| {
        let aliases = ALIASES.iter().filter(|alias| alias.1 == name(*one));
        let value = PossibleValue::new(name(*one)).aliases(aliases.map(|alias| alias.0));
        description.map_or(value.clone(), |description| value.help(description(*one)))
    };
    let values: Vec<PossibleValue> = all.iter().map(value).collect();
    PossibleValuesParser::new(values).map(move |given| {
        let alias = ALIASES.iter().find(|alias| alias.0 == given);
        let given = alias.map_or(&*given, |alias| alias.1);
        let found = all.iter().find(|one| name(**one) == given);
        *found.expect("clap accepts only known names")
    })
}

/// Parses bytes, rounded to whole ones: `8355840`, `18MiB`, `8.5MB`.
pub(crate) fn parse_bytes(text: &str) -> Result<Bytes, String> {
    parse_size::parse_size(text)
        .map(Bytes)
        .map_err(|error| match error {
            parse_size::Error::PosOverflow => "the size exceeds 64 bits".to_owned(),
            _ => "write a size in bytes or with a unit: 8355840, 18MiB, 8.5MB".to_owned(),
        })
}

/// Parses the cost of a repeated pass: at most 1 TiB, the largest that a frame may declare.
pub(crate) fn parse_repeat_cost(text: &str) -> Result<Bytes, String> {
    let cost = parse_bytes(text)?;
    (cost <= Bytes(1 << 40))
        .then_some(cost)
        .ok_or_else(|| format!("a cost of {cost} exceeds the limit of 1 TiB"))
}

/// Parses a time: `2s`, `1.5s`, `500ms`, `1min`.
pub(crate) fn parse_time(text: &str) -> Result<Duration, String> {
    let help = || "write a time with a unit: 2s, 1.5s, 500ms, 1min".to_owned();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let scale = match unit.trim_start() {
        "ms" => 1e-3,
        "s" => 1.0,
        "min" => 60.0,
        _ => return Err(help()),
    };
    let seconds = number.parse::<f64>().map_err(|_| help())? * scale;
    // More than a year is a mistake.
    match seconds {
        seconds if seconds > 0.0 && seconds <= 3.2e7 => Ok(Duration::from_secs_f64(seconds)),
        _ => Err("the time must be above 0 and at most 370 days".to_owned()),
    }
}

/// A share in percent with one decimal, rounded down: a share just below a threshold does not print as the threshold.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    let tenths = u128::from(part) * 1000 / u128::from(whole.max(1));
    format!("{}.{} %", tenths / 10, tenths % 10)
}

/// A share in percent, rounded down.
pub(crate) fn share(of_one: f64) -> String {
    percent((of_one * 1e6) as u64, 1_000_000)
}

/// Bytes with a unit, rounded.
pub(crate) fn amount(bytes: u64) -> String {
    format!("{:#}", Bytes(bytes))
}

/// Returns true if the plural of a word ends in `es`: `access`, `batch`.
pub(crate) fn has_long_plural(word: &str) -> bool {
    word.ends_with("ss") || word.ends_with("ch")
}

/// A number and a word: `1 access`, `5,310 accesses`, `0 copies`. Only the part before ` by ` is put into the plural.
pub(crate) fn counted(count: u64, word: &str) -> String {
    if count == 1 {
        return format!("1 {word}");
    }
    let plural = match word.strip_suffix("py") {
        Some(start) => format!("{start}pies"),
        None if has_long_plural(word) => format!("{word}es"),
        None => format!("{word}s"),
    };
    format!("{} {plural}", grouped(count))
}

/// A number with commas between its thousands.
pub(crate) fn grouped(number: u64) -> String {
    match number {
        0..1000 => number.to_string(),
        _ => format!("{},{:03}", grouped(number / 1000), number % 1000),
    }
}

/// Parses a percentage to thousandths of the whole: `60%`, `62.5 %`. The sign is required, because a plain number could be a fraction.
pub(crate) fn parse_percent(text: &str) -> Result<u32, String> {
    let help = || "write a percentage from 0% to 100% with at most one decimal: 60%, 62.5%".to_owned();
    let number = text.strip_suffix('%').ok_or_else(help)?.trim_end();
    let tenths = number.parse::<f64>().map_err(|_| help())? * 10.0;
    let is_whole = (tenths - tenths.round()).abs() < 1e-6 && (0.0..=1000.0).contains(&tenths);
    is_whole.then_some(tenths.round() as u32).ok_or_else(help)
}

/// Parses a factor from 1 to 1,000,000: `1.5`.
pub(crate) fn parse_factor(text: &str) -> Result<f64, String> {
    let factor = text
        .parse::<f64>()
        .ok()
        .filter(|factor| (1.0..=1e6).contains(factor));
    factor.ok_or_else(|| "expected a factor of at least 1 and at most 1,000,000, such as 1.5".to_owned())
}

/// Maximum number of search steps: a number, or `none` for no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Budget(pub(crate) u64);

impl FromStr for Budget {
    type Err = String;

    fn from_str(text: &str) -> Result<Budget, String> {
        if text == "none" {
            return Ok(Budget(u64::MAX));
        }
        let help = || "write a number of steps, or `none` for no limit".to_owned();
        text.parse().map(Budget).map_err(|_| help())
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            u64::MAX => f.write_str("none"),
            steps => write!(f, "{steps}"),
        }
    }
}

/// The findings that make a check fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// Errors and certain findings
    #[default]
    Error,
    /// Also warnings and possible findings; with --pedantic, also violations of rules that no known implementation needs
    Warning,
}

/// The range of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sweep {
    /// The smallest and the largest size of the tile heap.
    Heap(Bytes, Bytes),
    /// The smallest and the largest extent of the frame.
    Size((u32, u32), (u32, u32)),
    /// The lowest and the highest cost of one more execution of a pass.
    Repeat(Bytes, Bytes),
}

impl FromStr for Sweep {
    type Err = String;

    fn from_str(text: &str) -> Result<Sweep, String> {
        let help = || {
            "expected a range such as heap=2MiB..24MiB, size=640x360..2560x1440 or repeat=0..6MB".to_owned()
        };
        let (what, range) = text.split_once('=').ok_or_else(help)?;
        let (from, to) = range.split_once("..").ok_or_else(help)?;
        let sweep = match what {
            "heap" => Sweep::Heap(parse_start(from, to)?, parse_bytes(to)?),
            "repeat" => Sweep::Repeat(parse_start(from, to)?, parse_bytes(to)?),
            "size" => Sweep::Size(parse_extent(from)?, parse_extent(to)?),
            _ => return Err(help()),
        };
        let ascends = match sweep {
            Sweep::Heap(from, to) | Sweep::Repeat(from, to) => from < to,
            Sweep::Size(from, to) => from.0 <= to.0 && from.1 <= to.1 && from != to,
        };
        match ascends {
            true => Ok(sweep),
            false => Err(format!(
                "the end of the range {range} must be greater than its start"
            )),
        }
    }
}

/// Parses the start of a range of sizes; without a unit, it has that of the end: `2..24MiB`.
fn parse_start(from: &str, to: &str) -> Result<Bytes, String> {
    let has_unit = |text: &str| text.contains(char::is_alphabetic);
    match to.find(char::is_alphabetic) {
        Some(unit) if !has_unit(from) => parse_bytes(&format!("{from}{}", &to[unit..])),
        _ => parse_bytes(from),
    }
}

/// Parses an extent: `1920x1080`.
pub(crate) fn parse_extent(text: &str) -> Result<(u32, u32), String> {
    let help = || {
        "expected WIDTHxHEIGHT in texels, such as 1920x1080, both at least 1 and small enough for 32 bits"
            .to_owned()
    };
    let (width, height) = text.split_once(['x', 'X']).ok_or_else(help)?;
    let side = |digits: &str| {
        let plain = digits.bytes().all(|digit| digit.is_ascii_digit());
        digits
            .parse::<u32>()
            .ok()
            .filter(|side| plain && *side > 0)
            .ok_or_else(help)
    };
    Ok((side(width)?, side(height)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units_and_fractions() {
        assert_eq!(parse_bytes("8355840"), Ok(Bytes(8_355_840)));
        assert_eq!(parse_bytes("18MiB"), Ok(Bytes::mib(18)));
        assert_eq!(parse_bytes("18 mib"), Ok(Bytes::mib(18)));
        assert_eq!(parse_bytes("8.5MB"), Ok(Bytes(8_500_000)));
        assert_eq!(parse_bytes("0.1KiB"), Ok(Bytes(102)));
        assert_eq!(parse_bytes("0"), Ok(Bytes(0)));
        for wrong in "|MiB|1.2.3|18 miles|-1|99999999999GiB|18446744073709551616".split('|') {
            assert!(parse_bytes(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn counts_agree_with_their_nouns() {
        for (count, word, expected) in [
            (0, "access", "0 accesses"),
            (1, "access", "1 access"),
            (2, "finding", "2 findings"),
            (0, "copy", "0 copies"),
            (1_002_003, "item", "1,002,003 items"),
        ] {
            assert_eq!(counted(count, word), expected);
        }
    }

    #[test]
    fn shares_have_a_tenth_at_most() {
        assert_eq!(parse_percent("60%"), Ok(600));
        assert_eq!(parse_percent("62.5%"), Ok(625));
        assert_eq!(parse_percent("100 %"), Ok(1000));
        for wrong in "|%|60|0.6|100.1%|-1%|6.25%|nan%|60%%|99999999999%".split('|') {
            assert!(parse_percent(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sweeps_ascend() {
        let mib = Bytes::mib;
        assert_eq!("heap=2MiB..24MiB".parse(), Ok(Sweep::Heap(mib(2), mib(24))));
        assert_eq!("heap=2..24MiB".parse(), Ok(Sweep::Heap(mib(2), mib(24))));
        assert_eq!(
            "heap=1.5 .. 2 kB".parse(),
            Ok(Sweep::Heap(Bytes(1500), Bytes(2000)))
        );
        assert_eq!(
            "heap=512KiB..1048576".parse(),
            Ok(Sweep::Heap(Bytes::kib(512), mib(1)))
        );
        assert_eq!("repeat=0..6MiB".parse(), Ok(Sweep::Repeat(mib(0), mib(6))));
        assert_eq!("size=64x36..128x72".parse(), Ok(Sweep::Size((64, 36), (128, 72))));
        for wrong in
            "|heap|heap=2MiB|heap=3MiB..2MiB|heap=3..2MiB|heap=..2MiB|heap=x..2MiB|repeat=1MiB..0|size=1x2..1x2|size=2x2..3x1|time=1..2".split('|')
        {
            assert!(wrong.parse::<Sweep>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn extents_have_two_sides() {
        assert_eq!(parse_extent("1920x1080"), Ok((1920, 1080)));
        for wrong in "|1920|1920x|x1080|0x1080|1920x0|-1x5|+1x5|1x2x3|4294967296x1".split('|') {
            assert!(parse_extent(wrong).is_err(), "{wrong}");
        }
    }
}
