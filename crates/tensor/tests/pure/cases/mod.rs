//! Published cases of other planners, as facts in `tests/data/tensor/cases`, by the strategies that reproduce them.

mod executorch;
mod litert;
mod nnc;
mod relay;
mod tvm;
mod usmp;
mod vgg_d;

use std::collections::BTreeMap;

use serde_json::Value;
use tileheap_tensor::units::Alignment;
use tileheap_tensor::{
    Graph, Layout, LayoutRule, TensorPlan, TensorPlanOptions, TensorRequirements, check, plan,
};

/// A file of cases by its name.
fn case(name: &str) -> Value {
    serde_json::from_str(&file(&format!("{name}.json"))).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The rows of a table by its name, as texts by column.
fn rows(name: &str) -> Vec<BTreeMap<String, String>> {
    let file = file(&format!("{name}.csv"));
    let mut lines = file
        .lines()
        .map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let header = lines.next().unwrap();
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

/// The plan of a graph whose tensors all lie in buffers, at `alignment`.
fn planned(graph: &Graph, options: &TensorPlanOptions<'_>, alignment: u64) -> TensorPlan {
    let layouts: Vec<Layout> = graph
        .tensors()
        .iter()
        .map(|tensor| {
            LayoutRule::buffer()
                .apply(&tensor.name, &tensor.shape.fixed().unwrap(), tensor.element)
                .unwrap()
        })
        .collect();
    let alignment = Alignment::new(alignment).unwrap();
    let needs: Vec<TensorRequirements> = layouts
        .iter()
        .map(|layout| TensorRequirements::of_layout(layout, alignment))
        .collect();
    let plan = plan(graph, &layouts, &needs, options).unwrap();
    check(graph, &needs, &plan, 20).unwrap();
    plan
}
