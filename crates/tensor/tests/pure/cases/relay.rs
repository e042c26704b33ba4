//! TVM's relay: scopes of whole graphs, as they are built for Adreno.

use std::collections::BTreeMap;

use serde_json::Value;
use tileheap_baselines::tensor::relay::storage_scopes;
use tileheap_tensor::graph::{Attribute, InPlace, Operator};
use tileheap_tensor::storage::ScopeLimits;
use tileheap_tensor::{ElementType, Graph, GraphBuilder, Shape, TensorId};

use super::{case, list, numbers, text};

/// A program of relay's as a graph: the first parameter of the function is its input, the others are bound.
struct Program<'a> {
    graph: GraphBuilder,
    known: BTreeMap<&'a str, TensorId>,
    half: bool,
}

impl<'a> Program<'a> {
    fn read(ops: &'a [Value], half: bool) -> Graph {
        let function = ops.iter().find(|op| text(&op["op"]) == "relay.Function").unwrap();
        let (parameters, result) = (list(&function["args"][0]), text(&function["args"][1]));
        let mut program = Program {
            graph: GraphBuilder::new("relay"),
            known: BTreeMap::new(),
            half,
        };
        for (index, op) in ops.iter().enumerate() {
            let (name, out) = (text(&op["op"]), text(&op["out"]));
            match name.rsplit('.').next().unwrap() {
                "var" => {
                    let element = program.element(text(&op["kwargs"]["dtype"]));
                    let shape = Shape::new(numbers(&op["kwargs"]["shape"]));
                    let id = if parameters[0] == out {
                        program.graph.input(out, element, shape)
                    } else {
                        program.graph.constant(out, element, shape)
                    };
                    program.known.insert(out, id);
                }
                "Function" => {}
                name => {
                    let made = program.call(&format!("{name} {index}"), name, op);
                    program.known.insert(out, made);
                }
            }
        }
        program.graph.output(program.known[result]);
        program.graph.build().unwrap()
    }

    fn element(&self, named: &str) -> ElementType {
        if self.half {
            ElementType::Float16
        } else {
            named.parse().unwrap()
        }
    }

    fn call(&mut self, name: &str, operator: &str, op: &Value) -> TensorId {
        let mut inputs = Vec::new();
        for arg in list(&op["args"]) {
            match arg {
                Value::String(arg) => inputs.push(self.known[arg.as_str()]),
                // A tuple.
                Value::Array(args) => inputs.extend(args.iter().map(|arg| self.known[text(arg)])),
                // A number, in the type of what it stands beside.
                number => {
                    let element = self.graph.tensor(inputs[0]).element;
                    let constant =
                        self.graph
                            .constant(format!("{number} of {name}"), element, Shape(Vec::new()));
                    inputs.push(constant);
                }
            }
        }
        let kwargs = &op["kwargs"];
        let numbers = |key: &str| {
            Attribute::from(
                numbers(&kwargs[key])
                    .into_iter()
                    .map(|n| n as i64)
                    .collect::<Vec<_>>(),
            )
        };
        let known = [
            ("strides", "strides"),
            ("padding", "padding"),
            ("dilation", "dilations"),
            ("pool_size", "kernel"),
        ];
        let mut attributes: Vec<(&str, Attribute)> = known
            .iter()
            .filter(|(key, _)| kwargs[*key].is_array())
            .map(|&(key, ours)| (ours, numbers(key)))
            .collect();
        for key in ["groups", "axis"] {
            if let Some(value) = kwargs[key].as_i64() {
                attributes.push((key, value.into()));
            }
        }
        let ours = match operator {
            "multiply" => "mul",
            "subtract" => "sub",
            "divide" => "div",
            "maximum" => "max",
            "minimum" => "min",
            "concatenate" => "concat",
            "mean" | "sum" => return self.reduce(name, &inputs, kwargs),
            other => other,
        };
        self.graph.operator(name, ours, attributes, &inputs).unwrap()[0]
    }

    fn reduce(&mut self, name: &str, inputs: &[TensorId], kwargs: &Value) -> TensorId {
        let mut shape = self.graph.tensor(inputs[0]).shape.fixed().unwrap();
        let axis = kwargs["axis"].as_u64().unwrap() as usize;
        match kwargs["keepdims"].as_bool() {
            Some(true) => shape[axis] = 1,
            _ => drop(shape.remove(axis)),
        }
        let operator = Operator {
            name: "reduce".to_owned(),
            ..Operator::default()
        };
        let element = self.graph.tensor(inputs[0]).element;
        let outputs = vec![(name.to_owned(), element, Shape::new(shape))];
        self.graph
            .node(name, operator, inputs, outputs, Vec::<InPlace>::new())[0]
    }
}

/// Whether an expectation is for elements of 16 bits, by its conditions.
fn is_for_halves(of: &Value) -> Option<bool> {
    let conditions: Vec<&str> = list(&of["when"]).iter().map(text).collect();
    match conditions[..] {
        [] => None,
        [condition] if condition.contains("float16") => Some(!condition.trim_start().starts_with("not")),
        _ => panic!("{conditions:?} is a condition on the type"),
    }
}

/// The program with the multiplication by a number that its drawing has and its list lacks: numbers of 16 bits are values of their own.
/// It is where the drawing has it, counted in operators from the end.
fn with_the_number(ops: &[Value], drawing: &str) -> Option<Vec<Value>> {
    let listed = ops.iter().any(|op| text(&op["op"]).ends_with("multiply"));
    let operators = drawing.lines().filter_map(|line| {
        let word = line.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
        let word = word.split([' ', '(']).next()?;
        let known = ["add", "conv2d", "multiply", "relu"];
        known.contains(&word).then_some(word)
    });
    let mut after = operators.collect::<Vec<_>>().into_iter().rev();
    let after = after
        .position(|operator| operator == "multiply")
        .filter(|_| !listed)?;
    let is_operator = |op: &Value| !["relay.var", "relay.Function"].contains(&text(&op["op"]));
    let places: Vec<usize> = (0..ops.len()).filter(|&at| is_operator(&ops[at])).collect();
    let at = places[places.len() - after];
    let (reader, read) = (&ops[at], &ops[at]["args"][0]);
    let mut with = ops.to_vec();
    let mut multiply = reader.clone();
    multiply["op"] = "relay.op.multiply".into();
    multiply["out"] = "scaled".into();
    multiply["args"] = vec![read.clone(), 0.15.into()].into();
    multiply["kwargs"] = Value::Object(Default::default());
    with[at]["args"][0] = "scaled".into();
    with.insert(at, multiply);
    Some(with)
}

#[test]
fn graphs_get_the_scopes_that_relay_gives_them() {
    let Some(cases) = case("tvm_relay_storage_scopes.json") else {
        return;
    };
    let mut found = 0;
    for of in list(&cases["cases"]) {
        let name = text(&of["name"]);
        let ops = list(&of["ops"]);
        for expected in list(&of["expected_storage_scope"]) {
            // Without a condition, for the type that the program is listed with.
            let half = is_for_halves(expected).unwrap_or(false);
            let drawn = half.then(|| with_the_number(ops, text(&of["doc"]))).flatten();
            let graph = Program::read(drawn.as_deref().unwrap_or(ops), half);
            let entries = storage_scopes(&graph, ScopeLimits::default()).unwrap();
            let scopes: Vec<&str> = entries.iter().map(|entry| entry.scope.as_str()).collect();
            let expected: Vec<&str> = list(&expected["scopes"]).iter().map(text).collect();
            assert_eq!(scopes, expected, "{name}, {half}: {entries:#?}");
            found += 1;
        }
    }
    assert!(found > 0);
}

/// What the list of `test_residual_block` at 16 bits has besides, written out: a number is a value of its own, in a buffer.
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
        let entries = storage_scopes(&graph.build().unwrap(), ScopeLimits::default()).unwrap();
        let found = entries.iter().find(|entry| entry.name == "number");
        assert_eq!(
            found.map(|entry| entry.scope.as_str()),
            expected.then_some("global")
        );
        assert!(
            entries
                .iter()
                .any(|entry| entry.name == "scaled" && entry.scope == "global.texture")
        );
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
    let entries = storage_scopes(&graph.build().unwrap(), ScopeLimits::default()).unwrap();
    let scope = |name: &str| {
        let entry = entries.iter().find(|entry| entry.name == name);
        entry.map(|entry| entry.scope.as_str())
    };
    assert_eq!(scope("y"), Some("global"));
    assert_eq!(scope("device_copy of y"), Some("global.texture"));
    assert_eq!(scope("odd"), Some(""));
}
