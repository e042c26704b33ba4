//! Data of constants in separate files next to the model: read only for constants small enough to be shapes.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Component, Path};

use super::known::{Known, MAX_KNOWN};
use super::proto::TensorProto;
use crate::graph::ElementType;

/// The location of a constant's data in another file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ExternalData<'a> {
    /// The path, relative to the folder of the model.
    location: &'a Path,
    first: u64,
    size: u64,
}

/// The location of a constant's data, if the data is in a file within the model's folder and small enough to be a shape.
pub(super) fn external_data(tensor: &TensorProto, element: ElementType) -> Option<ExternalData<'_>> {
    let entry = |key: &str| {
        let entry = tensor.external_data.iter().find(|entry| entry.key == key);
        entry.map(|entry| entry.value.as_str())
    };
    let dims = tensor.dims.iter();
    let count = dims
        .clone()
        .try_fold(1u64, |all, &dim| all.checked_mul(u64::try_from(dim).ok()?))?;
    let location = Path::new(entry("location")?);
    // Nothing outside the model's folder is read.
    let is_inside = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if !location.components().all(is_inside) || !tensor.raw_data.is_empty() {
        return None;
    }
    Some(ExternalData {
        location,
        first: entry("offset").map_or(Some(0), |offset| offset.parse().ok())?,
        size: element.bytes_of(count).filter(|_| count <= MAX_KNOWN as u64)?,
    })
}

/// Returns true if the data of a constant is in another file, and may be a shape: from 1 to `MAX_KNOWN` integers of 32 or 64 bits.
pub(super) fn has_external_shape(tensor: &TensorProto, element: ElementType) -> bool {
    let count = tensor
        .dims
        .iter()
        .try_fold(1i64, |all, &dim| all.checked_mul(dim));
    let is_small = count.is_some_and(|count| (1..=MAX_KNOWN as i64).contains(&count));
    let is_whole = matches!(element, ElementType::Int64 | ElementType::Int32);
    is_small && is_whole && tensor.raw_data.is_empty() && !tensor.external_data.is_empty()
}

/// The numbers of a constant whose data is in another file; `None` if they cannot be read.
pub(super) fn external_numbers(
    tensor: &TensorProto,
    element: ElementType,
    data: ExternalData<'_>,
    folder: &Path,
) -> Option<Known> {
    let mut file = File::open(folder.join(data.location)).ok()?;
    file.seek(SeekFrom::Start(data.first)).ok()?;
    let mut bytes = vec![0; usize::try_from(data.size).ok()?];
    file.read_exact(&mut bytes).ok()?;
    let raw_data = bytes;
    TensorProto {
        raw_data,
        ..tensor.clone()
    }
    .known(element)
}

#[cfg(test)]
mod tests {
    use super::super::proto::{GraphProto, StringEntry};
    use super::super::tests::{model_of, node, numbers, value};
    use super::super::{OnnxOptions, read_onnx};
    use prost::Message;

    /// A model that reshapes `x` to a shape in a file next to it.
    fn model(location: &str, offset: &str) -> Vec<u8> {
        let mut shape = numbers("shape", &[0, 0]);
        shape.raw_data.clear();
        let entries = [("location", location), ("offset", offset), ("length", "16")];
        shape.external_data = entries
            .map(|(key, value)| StringEntry {
                key: key.to_owned(),
                value: value.to_owned(),
            })
            .to_vec();
        let graph = GraphProto {
            input: vec![value("x", &[Ok(8), Ok(6)])],
            initializer: vec![shape],
            node: vec![
                node("Reshape", &["x", "shape"], &["y"], &[]),
                node("Relu", &["y"], &["z"], &[]),
            ],
            value_info: vec![value("y", &[Err("n"), Err("m")])],
            output: vec![value("z", &[Err("n"), Err("m")])],
            ..GraphProto::default()
        };
        model_of(graph).encode_to_vec()
    }

    #[test]
    fn shapes_in_files_beside_the_model_are_known() {
        let folder = std::env::temp_dir().join(format!("tileheap-external-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("model")).unwrap();
        let data: Vec<u8> = [7i64, 4, 12]
            .iter()
            .flat_map(|number| number.to_le_bytes())
            .collect();
        for path in ["model/weights.bin", "outside.bin"] {
            std::fs::write(folder.join(path), &data).unwrap();
        }
        let shape = |location: &str, offset: &str, is_there: bool| {
            let folder = is_there.then(|| folder.join("model"));
            let ranges = [("n".to_owned(), (1, 8)), ("m".to_owned(), (1, 99))].into();
            let options = OnnxOptions { ranges, folder };
            let graph = read_onnx(&model(location, offset), &options).unwrap();
            let z = graph.find("z").unwrap();
            (graph.tensor(z).shape.fixed(), graph.notes().join("; "))
        };
        assert_eq!(
            shape("weights.bin", "8", true),
            (Some(vec![4, 12]), String::new())
        );
        for (location, offset, is_there) in [
            ("weights.bin", "16", true),
            ("weights.bin", "-8", true),
            ("missing.bin", "8", true),
            ("../outside.bin", "8", true),
            ("weights.bin", "8", false),
        ] {
            let (shape, notes) = shape(location, offset, is_there);
            assert!(
                shape.is_none() && notes.contains("`shape`"),
                "{location} at {offset}: {notes}"
            );
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
}
