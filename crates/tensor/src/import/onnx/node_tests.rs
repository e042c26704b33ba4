//! Checks inferred shapes against ONNX's own tests of each operator, whose models have one node, or the nodes of the operator's function.
//!
//! `tests/data/tensor/onnx/nodes.bin` is a stream of models, each after its length: ONNX 1.23's node tests (Apache-2.0), with the values of
//! small integer inputs as initializers and the shapes of the expected outputs.

use super::proto::{GraphProto, Model};
use super::*;
use std::collections::BTreeSet;

/// The models in the file of node tests.
fn models() -> Vec<Model> {
    let path = std::env::var_os("TILEHEAP_ONNX_CASES");
    let path = path.map_or_else(|| tileheap_testkit::data("tensor/onnx/nodes.bin"), Into::into);
    let bytes = std::fs::read(path).unwrap();
    let (mut rest, mut models) = (&bytes[..], Vec::new());
    while !rest.is_empty() {
        models.push(Model::decode_length_delimited(&mut rest).unwrap());
    }
    models
}

fn operators(graph: &GraphProto) -> BTreeSet<&str> {
    graph.node.iter().map(|node| node.op_type.as_str()).collect()
}

/// Reads a model without the shapes of its outputs; returns a message if an inferred shape or element type differs from the model's.
fn difference(mut model: Model) -> Option<String> {
    let graph = model.graph.as_mut()?;
    let outputs = graph.output.clone();
    for output in &mut graph.output {
        output.kind = None;
    }
    let read = match read_onnx(&model.encode_to_vec(), &OnnxOptions::default()) {
        Ok(read) => read,
        Err(error) => return Some(error.to_string()),
    };
    for (output, id) in outputs.iter().zip(read.outputs()) {
        let tensor = output.kind.as_ref().and_then(|kind| kind.tensor.as_ref())?;
        let dims = &tensor.shape.as_ref()?.dim;
        let said: Vec<u64> = dims
            .iter()
            .map(|dim| match dim.value {
                Some(DimensionValue::Value(value)) => value as u64,
                _ => 0,
            })
            .collect();
        let shape = read.shape_bound(*id, crate::graph::ShapeBound::Ranges).unwrap();
        let is_bounded = read.tensor(*id).shape.fixed().is_none()
            && shape.len() == said.len()
            && shape.iter().zip(&said).all(|(most, said)| most >= said);
        if shape != said && !is_bounded {
            return Some(format!("`{}` is {shape:?}, expected {said:?}", output.name));
        }
        let expected = element(tensor.elem_type);
        if expected.is_some_and(|expected| expected != read.tensor(*id).element) {
            return Some(format!(
                "`{}` is {}, expected {expected:?}",
                output.name,
                read.tensor(*id).element
            ));
        }
    }
    None
}

#[test]
fn shapes_of_every_operator_are_those_of_onnx() {
    let (mut tested, mut wrong) = (BTreeSet::new(), Vec::new());
    for model in models() {
        let graph = model.graph.clone().unwrap();
        tested.extend(operators(&graph).into_iter().map(str::to_owned));
        if let Some(difference) = difference(model) {
            wrong.push(format!("{}: {difference}", graph.name));
        }
    }
    assert!(wrong.is_empty(), "{} models:\n{}", wrong.len(), wrong.join("\n"));
    for (support, names) in ONNX_OPERATORS {
        if matches!(
            support,
            OnnxSupport::Shapes | OnnxSupport::Values | OnnxSupport::Bounded
        ) {
            let missing: Vec<&str> = names.split(' ').filter(|name| !tested.contains(*name)).collect();
            assert!(missing.is_empty(), "no model has {missing:?}");
        }
    }
}

/// The page of the guide lists the operators of the table, group by group.
#[test]
fn the_page_lists_the_table() {
    let page = tileheap_testkit::workspace().join("docs/guide/onnx.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mut sections = page.split("\n## ").skip(1);
    for (support, names) in ONNX_OPERATORS {
        let section = sections.next().unwrap();
        let list = section.rsplit("\n\n").find(|part| part.contains("`, `")).unwrap();
        let listed: Vec<&str> = list.split('`').skip(1).step_by(2).collect();
        assert_eq!(listed, names.split(' ').collect::<Vec<_>>(), "{support:?}");
        assert!(listed.iter().all(|name| onnx_support(name) == Some(support)));
    }
}
