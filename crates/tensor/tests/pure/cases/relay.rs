//! TVM's relay: scopes of whole graphs, as they are built for Adreno.

use std::collections::BTreeMap;

use serde_json::Value;
use tileheap_tensor::graph::{Attribute, Operator};
use tileheap_tensor::storage::ScopeLimits;
use tileheap_tensor::{ElementType, Graph, GraphBuilder, Shape, TensorId};
use tileheap_testkit::tensor::relay::storage_scopes;

use super::{case, indices, list, numbers, shape, text};

/// A program as a graph: values in order, the last of which is the result.
fn read(program: &Value) -> Graph {
    let element: ElementType = text(&program["element"]).parse().unwrap();
    let mut graph = GraphBuilder::new("relay");
    let mut values: Vec<TensorId> = Vec::new();
    for (index, value) in list(&program["values"]).iter().enumerate() {
        let (operator, attributes) = (text(&value[0]), &value[2]);
        let name = format!("{operator} {index}");
        let operands = indices(&value[1]).into_iter().map(|operand| values[operand]);
        let operands: Vec<TensorId> = operands.collect();
        let shape = || shape(&attributes["shape"]);
        let made = match operator {
            "input" => graph.input(name, element, shape()),
            "constant" => graph.constant(name, element, shape()),
            "reduce" => {
                let operator = Operator::named(operator);
                let outputs = vec![(name.clone(), element, shape())];
                graph.node(&name, operator, &operands, outputs, Vec::new())[0]
            }
            operator => {
                let attributes = attributes.as_object().unwrap().iter().map(|(key, value)| {
                    let numbers: Vec<i64> = numbers(value).into_iter().map(|n| n as i64).collect();
                    (key.as_str(), Attribute::from(numbers))
                });
                let attributes: Vec<_> = attributes.collect();
                graph.operator(&name, operator, attributes, &operands).unwrap()[0]
            }
        };
        values.push(made);
    }
    graph.output(*values.last().unwrap());
    graph.build().unwrap()
}

#[test]
fn graphs_get_the_scopes_that_relay_gives_them() {
    for program in list(&case("tvm_relay_scopes")["programs"]) {
        let entries = storage_scopes(&read(program), ScopeLimits::default()).unwrap();
        let scopes: Vec<&str> = entries.iter().map(|entry| entry.scope.as_str()).collect();
        let expected: Vec<&str> = list(&program["scopes"]).iter().map(text).collect();
        let at = format!("{}, {}", program["name"], program["element"]);
        assert_eq!(scopes, expected, "{at}: {entries:#?}");
    }
}

/// The scopes of values by name.
fn scopes(graph: GraphBuilder) -> BTreeMap<String, String> {
    let entries = storage_scopes(&graph.build().unwrap(), ScopeLimits::default()).unwrap();
    entries
        .into_iter()
        .map(|entry| (entry.name, entry.scope))
        .collect()
}

/// What the residual block has besides at 16 bits, alone: a number is a value of its own, in a buffer.
#[test]
fn numbers_of_16_bits_are_values_of_their_own() {
    for (element, expected) in [(ElementType::Float16, true), (ElementType::Float32, false)] {
        let mut graph = GraphBuilder::new("scaled");
        let x = graph.input("x", element, [1, 8, 16, 16]);
        let weights = ["v", "w"].map(|name| graph.constant(name, element, [8, 8, 1, 1]));
        let number = graph.constant("number", element, Shape(Vec::new()));
        let y = graph.operator("y", "conv2d", [], &[x, weights[0]]).unwrap()[0];
        let scaled = graph.operator("scaled", "mul", [], &[y, number]).unwrap()[0];
        let z = graph.operator("z", "conv2d", [], &[scaled, weights[1]]).unwrap()[0];
        graph.output(z);
        let scopes = scopes(graph);
        let number = scopes.get("number").map(String::as_str);
        assert_eq!(number, expected.then_some("global"));
        assert_eq!(scopes["scaled"], "global.texture");
    }
}

/// Of two readers one takes textures: the value is in a buffer, and is copied to a texture for that one.
#[test]
fn a_value_with_readers_of_both_kinds_is_copied_for_the_one() {
    let mut graph = GraphBuilder::new("fork");
    let element = ElementType::Float32;
    let x = graph.input("x", element, [1, 8, 16, 16]);
    let weights =
        [("u", 8), ("v", 8), ("w", 5)].map(|(name, out)| graph.constant(name, element, [out, 8, 1, 1]));
    let y = graph.operator("y", "conv2d", [], &[x, weights[0]]).unwrap()[0];
    let even = graph.operator("even", "conv2d", [], &[y, weights[1]]).unwrap()[0];
    let odd = graph.operator("odd", "conv2d", [], &[y, weights[2]]).unwrap()[0];
    graph.output(even);
    graph.output(odd);
    let scopes = scopes(graph);
    let found = ["y", "device_copy of y", "odd"].map(|name| scopes[name].as_str());
    assert_eq!(found, ["global", "global.texture", ""]);
}
