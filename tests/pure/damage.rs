//! Damage: rows of tables broken one at a time, as listed in case files.
//!
//! A case names a table by a JSON pointer; with pointers into its rows (an empty one for rows that are numbers), `where` selects rows at which the
//! damage certainly breaks a rule, and `set` is the value put there (without it the row is removed); and it names the rules that refuse it. Every
//! case must find enough rows among the planned frames, so that none is vacuous.
//!
//! `where` contains a value, or `{"not": test}`; `{"any": […]}`, a list with one of these; `{"most": number}`; `{"is": pointer}`, the value elsewhere
//! in the row; `{"row": [table, where]}`, an index of such a row or a run that contains one; for the whole row, whether the table contains one. `set`
//! contains a value, or `{"add": number}`; `{"half": true}`; `{"from": pointer}`, the value elsewhere in the row; `{"without": […]}` of a list;
//! `{"other": true}`, the value of some other row.

use std::fmt::Debug;

use serde::Deserialize;
use serde_json::{Map, Value};
use tileheap::units::SplitMix64;

/// A kind of damage.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    table: String,
    #[serde(default, rename = "where")]
    conditions: Map<String, Value>,
    set: Option<Map<String, Value>>,
    /// Rules of which at least one must be broken.
    refused: Vec<String>,
    /// A part of the checker's message.
    #[serde(default)]
    says: String,
    /// True if the damage may be harmless because another row has the same effect: such rows do not count.
    #[serde(default)]
    harmless: bool,
}

/// Amount of testing.
pub(crate) struct Amount {
    /// Minimum number of rows for each kind of damage.
    pub(crate) enough: usize,
    /// Number of seeds that are searched for them.
    pub(crate) seeds: u64,
    /// Maximum number of rows from one seed's tables, for variety.
    pub(crate) per_seed: usize,
}

/// Applies the damage of a file of `tests/data` to the tables that `sound` returns for a seed; `check` returns the violations in the damaged tables:
/// rule and message.
///
/// # Panics
/// If damaged tables are accepted or refused only for other reasons, or if there are too few rows.
pub(crate) fn assert_refused<S>(
    file: &str,
    amount: &Amount,
    sound: impl Fn(u64, &mut SplitMix64) -> Option<(S, Value)>,
    check: impl Fn(&S, Value) -> Vec<(String, String)>,
) {
    let text = std::fs::read_to_string(tileheap_testkit::data(file)).unwrap();
    let cases: Vec<Case> = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
    let mut open: Vec<(&Case, usize)> = cases.iter().map(|case| (case, 0)).collect();
    let mut wrong = Vec::new();
    for seed in 0..amount.seeds {
        let mut random = SplitMix64::new(seed);
        let Some((of, tables)) = sound(seed, &mut random) else {
            continue;
        };
        open.retain_mut(|(case, done)| {
            for (row, damaged) in case.damaged(&tables, amount.per_seed, &mut random) {
                let errors = check(&of, damaged);
                let right = |(rule, says): &(String, String)| {
                    case.refused.contains(rule) && says.contains(&case.says)
                };
                if errors.iter().any(right) {
                    *done += 1;
                } else if !case.harmless || !errors.is_empty() {
                    wrong.push(format!("{}: seed {seed}, row {row}: {errors:#?}", case.name));
                    return false;
                }
            }
            *done < amount.enough
        });
    }
    let few = open
        .iter()
        .map(|(case, done)| format!("{}: only {done} rows", case.name));
    wrong.extend(few);
    assert!(
        wrong.is_empty(),
        "not refused for the right reason: {}",
        wrong.join("\n")
    );
}

/// Damages the result of `sound` for a seed at sites where that certainly breaks a rule; `damage` returns the errors, and `right` recognizes those
/// that belong to a site.
///
/// # Panics
/// If damage is accepted or refused only for other reasons, or if there are too few sites.
pub(crate) fn refused<S, T: Debug, E: Debug>(
    amount: &Amount,
    sound: impl Fn(u64, &mut SplitMix64) -> Option<S>,
    sites: impl Fn(&S) -> Vec<T>,
    damage: impl Fn(&S, &T) -> Vec<E>,
    right: impl Fn(&E, &T) -> bool,
) {
    let mut done = 0;
    for seed in 0..amount.seeds {
        let mut random = SplitMix64::new(seed);
        let Some(sound) = sound(seed, &mut random) else {
            continue;
        };
        let mut found = sites(&sound);
        for _ in 0..amount.per_seed.min(found.len()) {
            let site = found.swap_remove(random.below(found.len() as u64) as usize);
            let errors = damage(&sound, &site);
            assert!(
                errors.iter().any(|error| right(error, &site)),
                "seed {seed}, {site:?}: not refused for the right reason, but: {errors:#?}"
            );
            done += 1;
        }
        if done >= amount.enough {
            return;
        }
    }
    panic!("only {done} sites in {} seeds", amount.seeds);
}

impl Case {
    fn damaged(&self, tables: &Value, most: usize, random: &mut SplitMix64) -> Vec<(usize, Value)> {
        let rows = rows_of(tables, &self.table);
        let mut sites: Vec<usize> = (0..rows.len())
            .filter(|&row| holds(tables, &rows[row], &self.conditions))
            .collect();
        let mut damaged = Vec::new();
        while damaged.len() < most && !sites.is_empty() {
            let row = sites.swap_remove(random.below(sites.len() as u64) as usize);
            damaged.extend(self.damage(tables, row, random).map(|tables| (row, tables)));
        }
        damaged
    }

    /// The tables with the damage at a row; `None` if another value is needed and there is none.
    fn damage(&self, tables: &Value, row: usize, random: &mut SplitMix64) -> Option<Value> {
        let sound = &rows_of(tables, &self.table)[row];
        let mut tables_after = tables.clone();
        let rows = tables_after.pointer_mut(&self.table)?.as_array_mut()?;
        let Some(set) = &self.set else {
            rows.remove(row);
            return Some(tables_after);
        };
        for (at, value) in set {
            let place = match at.rsplit_once('/') {
                None => &mut rows[row],
                Some((of, field)) => {
                    let of = rows[row].pointer_mut(of)?;
                    match field.parse::<usize>() {
                        Ok(index) => &mut of[index],
                        // An omitted field is added.
                        Err(_) => &mut of[field],
                    }
                }
            };
            *place = match operation(value) {
                Some(("add", number)) => (place.as_i64()? + number.as_i64()?).into(),
                Some(("half", _)) => (place.as_i64()? / 2).into(),
                Some(("from", at)) => sound.pointer(at.as_str()?)?.clone(),
                Some(("without", gone)) => {
                    let mut left = place.take();
                    let gone = gone.as_array()?;
                    left.as_array_mut()?.retain(|one| !gone.contains(one));
                    left
                }
                Some(("other", _)) => {
                    let others = rows_of(tables, &self.table)
                        .iter()
                        .filter_map(|row| row.pointer(at));
                    let others: Vec<&Value> = others
                        .filter(|other| !other.is_null() && *other != place)
                        .collect();
                    if others.is_empty() {
                        return None;
                    }
                    random.pick(&others).clone()
                }
                _ => value.clone(),
            };
        }
        Some(tables_after)
    }
}

fn rows_of<'a>(tables: &'a Value, table: &str) -> &'a [Value] {
    let rows = tables.pointer(table).and_then(Value::as_array);
    rows.unwrap_or_else(|| panic!("no table {table}"))
}

/// The only field of an object: an operation and its argument.
fn operation(value: &Value) -> Option<(&str, &Value)> {
    let fields = value.as_object().filter(|fields| fields.len() == 1)?;
    fields.iter().next().map(|(name, given)| (name.as_str(), given))
}

fn holds(tables: &Value, row: &Value, conditions: &Map<String, Value>) -> bool {
    let value = |at: &String| row.pointer(at).unwrap_or(&Value::Null);
    conditions
        .iter()
        .all(|(at, test)| passes(tables, row, value(at), test))
}

fn passes(tables: &Value, row: &Value, value: &Value, test: &Value) -> bool {
    let Some((kind, given)) = operation(test) else {
        return value == test;
    };
    let list = || given.as_array().expect("a list");
    match kind {
        "not" => !passes(tables, row, value, given),
        "any" => value
            .as_array()
            .is_some_and(|all| list().iter().any(|one| all.contains(one))),
        "most" => value
            .as_i64()
            .is_some_and(|number| number <= given.as_i64().expect("a number")),
        "is" => row.pointer(given.as_str().expect("a pointer")) == Some(value),
        "row" => {
            let table = rows_of(tables, list()[0].as_str().expect("a table"));
            let index = |value: &Value| value.as_u64().map(|index| index as usize);
            let found = match (index(value), value.as_array().map(Vec::as_slice)) {
                (Some(index), _) => &table[index..=index],
                (_, Some([first, end])) => &table[index(first).unwrap()..index(end).unwrap()],
                _ if value.is_object() => table,
                _ => &[],
            };
            let conditions = list()[1].as_object().expect("conditions");
            found.iter().any(|row| holds(tables, row, conditions))
        }
        _ => panic!("no such test: {test}"),
    }
}
