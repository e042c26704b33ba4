//! Published cases of other planners, as facts in `tests/data/tensor/cases`, with the strategies that reproduce them.

mod executorch;
mod litert;
mod nnc;
mod tvm;
mod usmp;

use std::collections::BTreeMap;

use serde_json::Value;
use tileheap_tensor::plan::Region;
use tileheap_tensor::{Graph, Shape, TensorId, TensorPlan, TensorPlanOptions};

/// A file of cases, by name.
fn case(name: &str) -> Value {
    serde_json::from_str(&file(&format!("{name}.json"))).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The rows of a table, by name, as strings by column.
fn rows(name: &str) -> Vec<BTreeMap<String, String>> {
    let file = file(&format!("{name}.csv"));
    let mut lines = file.lines().map(|line| line.split(',').map(str::to_owned));
    let header: Vec<String> = lines.next().unwrap().collect();
    lines
        .map(|row| header.iter().cloned().zip(row).collect())
        .collect()
}

fn file(name: &str) -> String {
    std::fs::read_to_string(tileheap_testkit::data("tensor/cases").join(name))
        .unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("{value} is a list"))
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is a number"))
}

fn numbers(value: &Value) -> Vec<u64> {
    list(value).iter().map(number).collect()
}

fn indices(value: &Value) -> Vec<usize> {
    list(value).iter().map(|index| number(index) as usize).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is a text"))
}

/// A shape of these numbers.
fn shape(value: &Value) -> Shape {
    Shape::new(numbers(value))
}

/// The region of a tensor that is the same in every round.
fn region(plan: &TensorPlan, id: TensorId) -> Region {
    plan.tensor(id).placement.as_ref().unwrap().region(&[]).unwrap()
}

/// The plan of a graph with all tensors in buffers, at `alignment`.
fn planned(graph: &Graph, options: &TensorPlanOptions<'_>, alignment: u64) -> TensorPlan {
    crate::planned(graph, &crate::buffers(graph), options, alignment).unwrap()
}
