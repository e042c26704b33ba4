//! `tileheap tensors model.onnx`.
#![cfg(feature = "onnx")]

use crate::run::{scratch, tileheap};

/// A field of bytes of a protocol buffer: its number and wire type, the length, the bytes.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut field = vec![number << 3 | 2, u8::try_from(bytes.len()).expect("a short field")];
    field.extend(bytes);
    field
}

/// A field of a number below 128.
fn number(field: u8, value: u8) -> Vec<u8> {
    assert!(value < 128);
    vec![field << 3, value]
}

/// A value of 32-bit floats, its dimensions numbers or names (`ValueInfoProto`).
fn value(name: &str, dims: &[Result<u8, &str>]) -> Vec<u8> {
    let dims = dims.iter().flat_map(|dim| {
        let dim = dim.map_or_else(|name| field(2, name.as_bytes()), |value| number(1, value));
        field(1, &dim)
    });
    let shape: Vec<u8> = dims.collect();
    let tensor = [number(1, 1), field(2, &shape)].concat();
    [field(1, name.as_bytes()), field(2, &field(1, &tensor))].concat()
}

/// A constant of 32-bit floats, without its values (`TensorProto`).
fn constant(name: &str, dims: &[u8]) -> Vec<u8> {
    let dims = dims.iter().flat_map(|&dim| number(1, dim));
    [dims.collect(), number(2, 1), field(8, name.as_bytes())].concat()
}

fn node(operator: &str, inputs: &[&str], output: &str) -> Vec<u8> {
    let inputs = inputs.iter().flat_map(|input| field(1, input.as_bytes()));
    let named = [field(2, output.as_bytes()), field(4, operator.as_bytes())];
    [inputs.collect(), named.concat()].concat()
}

/// `z = relu(y)`, `y = x * w` with `x` of `[batch, 16]` and `w` of `[16, 32]` (`ModelProto`).
fn model() -> Vec<u8> {
    let graph = [
        field(1, &node("MatMul", &["x", "w"], "y")),
        field(1, &node("Relu", &["y"], "z")),
        field(2, b"small"),
        field(5, &constant("w", &[16, 32])),
        field(11, &value("x", &[Err("batch"), Ok(16)])),
        field(12, &value("z", &[Err("batch"), Ok(32)])),
    ]
    .concat();
    let length = graph.len();
    let length = [
        (length & 0x7F) as u8 | 0x80,
        u8::try_from(length >> 7).expect("short"),
    ];
    [&[7 << 3 | 2][..], &length, &graph].concat()
}

#[test]
fn a_model_file_is_planned_for_the_range_of_its_open_dimension() {
    let file = scratch("small.onnx");
    std::fs::write(&file, model()).expect("a scratch file");
    let path = file.to_str().expect("UTF-8");
    let of = |range: &str| tileheap(&["tensors", path, "--policy", "buffers", "--range", range]).good();
    // x of 64 B and y of 128 B for each of the batch; z is written over y.
    for (range, bytes) in [("batch=1..4", "768 B"), ("batch=1", "192 B")] {
        let text = of(range);
        let all = text.lines().find(|line| line.contains("total"));
        assert!(
            all.is_some_and(|line| line.contains(bytes) && line.contains("ratio 1.000")),
            "{range}: {text}"
        );
    }
    tileheap(&["tensors", path]).names(2, &["`x`", "`batch` needs a range"]);
    tileheap(&["tensors", path, "--range", "batch"]).names(2, &["NAME=MIN..MAX"]);
    std::fs::write(&file, b"no model").expect("a scratch file");
    tileheap(&["tensors", path]).names(2, &["ONNX model"]);
}
