//! The ONNX messages that shapes and memory depend on; other fields are skipped.
//!
//! Source: `onnx/onnx.proto` of the ONNX project, IR version 13.

use prost::Message;

use super::known::{Known, MAX_FRACTIONS, MAX_KNOWN, Number};
use crate::graph::ElementType;

#[derive(Clone, PartialEq, Message)]
pub(super) struct Model {
    #[prost(message, optional, tag = "7")]
    pub(super) graph: Option<GraphProto>,
    #[prost(message, repeated, tag = "8")]
    pub(super) opset_import: Vec<OperatorSet>,
    #[prost(message, repeated, tag = "25")]
    pub(super) functions: Vec<FunctionProto>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct OperatorSet {
    #[prost(string, tag = "1")]
    pub(super) domain: String,
    #[prost(int64, tag = "2")]
    pub(super) version: i64,
}

/// Returns true for the domain of ONNX's own operators.
pub(super) fn is_onnx_domain(domain: &str) -> bool {
    matches!(domain, "" | "ai.onnx")
}

/// The version of ONNX's operators that a model or function states, if any.
pub(super) fn onnx_version(sets: &[OperatorSet]) -> Option<i64> {
    let set = sets.iter().find(|set| is_onnx_domain(&set.domain));
    set.map(|set| set.version)
}

/// A function of the model: each node that calls it is replaced by its nodes.
#[derive(Clone, PartialEq, Message)]
pub(super) struct FunctionProto {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(string, repeated, tag = "4")]
    pub(super) input: Vec<String>,
    #[prost(string, repeated, tag = "5")]
    pub(super) output: Vec<String>,
    #[prost(message, repeated, tag = "7")]
    pub(super) node: Vec<NodeProto>,
    #[prost(message, repeated, tag = "9")]
    pub(super) opset_import: Vec<OperatorSet>,
    #[prost(string, tag = "10")]
    pub(super) domain: String,
    #[prost(message, repeated, tag = "11")]
    pub(super) attribute_proto: Vec<AttributeProto>,
    #[prost(message, repeated, tag = "12")]
    pub(super) value_info: Vec<ValueInfo>,
    #[prost(string, tag = "13")]
    pub(super) overload: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct GraphProto {
    #[prost(message, repeated, tag = "1")]
    pub(super) node: Vec<NodeProto>,
    #[prost(string, tag = "2")]
    pub(super) name: String,
    #[prost(message, repeated, tag = "5")]
    pub(super) initializer: Vec<TensorProto>,
    #[prost(message, repeated, tag = "11")]
    pub(super) input: Vec<ValueInfo>,
    #[prost(message, repeated, tag = "12")]
    pub(super) output: Vec<ValueInfo>,
    #[prost(message, repeated, tag = "13")]
    pub(super) value_info: Vec<ValueInfo>,
    #[prost(message, repeated, tag = "15")]
    pub(super) sparse_initializer: Vec<SparseTensorProto>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct SparseTensorProto {
    /// The values, with the name and element type of the tensor.
    #[prost(message, optional, tag = "1")]
    pub(super) values: Option<TensorProto>,
    #[prost(int64, repeated, packed = "false", tag = "3")]
    pub(super) dims: Vec<i64>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct NodeProto {
    #[prost(string, repeated, tag = "1")]
    pub(super) input: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    pub(super) output: Vec<String>,
    #[prost(string, tag = "3")]
    pub(super) name: String,
    #[prost(string, tag = "4")]
    pub(super) op_type: String,
    #[prost(message, repeated, tag = "5")]
    pub(super) attribute: Vec<AttributeProto>,
    #[prost(string, tag = "7")]
    pub(super) domain: String,
    #[prost(string, tag = "8")]
    pub(super) overload: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct AttributeProto {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(float, tag = "2")]
    pub(super) f: f32,
    #[prost(int64, tag = "3")]
    pub(super) i: i64,
    #[prost(bytes = "vec", tag = "4")]
    pub(super) s: Vec<u8>,
    #[prost(message, optional, tag = "5")]
    pub(super) t: Option<TensorProto>,
    #[prost(message, optional, tag = "6")]
    pub(super) g: Option<GraphProto>,
    #[prost(float, repeated, packed = "false", tag = "7")]
    pub(super) floats: Vec<f32>,
    #[prost(int64, repeated, packed = "false", tag = "8")]
    pub(super) ints: Vec<i64>,
    #[prost(bytes = "vec", repeated, tag = "9")]
    pub(super) strings: Vec<Vec<u8>>,
    /// In a function: the attribute of the call that gives the value.
    #[prost(string, tag = "21")]
    pub(super) ref_attr_name: String,
    #[prost(message, optional, tag = "22")]
    pub(super) sparse_tensor: Option<SparseTensorProto>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TensorProto {
    #[prost(int64, repeated, packed = "false", tag = "1")]
    pub(super) dims: Vec<i64>,
    #[prost(int32, tag = "2")]
    pub(super) data_type: i32,
    #[prost(float, repeated, tag = "4")]
    pub(super) float_data: Vec<f32>,
    #[prost(int32, repeated, tag = "5")]
    pub(super) int32_data: Vec<i32>,
    #[prost(bytes = "vec", repeated, tag = "6")]
    pub(super) string_data: Vec<Vec<u8>>,
    #[prost(int64, repeated, tag = "7")]
    pub(super) int64_data: Vec<i64>,
    #[prost(string, tag = "8")]
    pub(super) name: String,
    #[prost(bytes = "vec", tag = "9")]
    pub(super) raw_data: Vec<u8>,
    #[prost(double, repeated, tag = "10")]
    pub(super) double_data: Vec<f64>,
    #[prost(uint64, repeated, tag = "11")]
    pub(super) uint64_data: Vec<u64>,
    #[prost(message, repeated, tag = "13")]
    pub(super) external_data: Vec<StringEntry>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct StringEntry {
    #[prost(string, tag = "1")]
    pub(super) key: String,
    #[prost(string, tag = "2")]
    pub(super) value: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ValueInfo {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(message, optional, tag = "2")]
    pub(super) kind: Option<TypeProto>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TypeProto {
    #[prost(message, optional, tag = "1")]
    pub(super) tensor: Option<TensorType>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TensorType {
    #[prost(int32, tag = "1")]
    pub(super) elem_type: i32,
    #[prost(message, optional, tag = "2")]
    pub(super) shape: Option<ShapeProto>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ShapeProto {
    #[prost(message, repeated, tag = "1")]
    pub(super) dim: Vec<Dimension>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Dimension {
    #[prost(oneof = "DimensionValue", tags = "1, 2")]
    pub(super) value: Option<DimensionValue>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub(super) enum DimensionValue {
    #[prost(int64, tag = "1")]
    Value(i64),
    #[prost(string, tag = "2")]
    Param(String),
}

impl NodeProto {
    pub(super) fn attribute(&self, name: &str) -> Option<&AttributeProto> {
        self.attribute.iter().find(|attribute| attribute.name == name)
    }

    pub(super) fn int(&self, name: &str, default: i64) -> i64 {
        self.attribute(name).map_or(default, |attribute| attribute.i)
    }

    pub(super) fn ints(&self, name: &str) -> Option<&[i64]> {
        self.attribute(name).map(|attribute| &attribute.ints[..])
    }
}

impl TensorProto {
    /// The size of the data of the tensor in bytes, if known.
    pub(super) fn data_bytes(&self) -> Option<u64> {
        let external = self.external_data.iter().find(|entry| entry.key == "length");
        let strings = || self.string_data.iter().map(|text| text.len() as u64).sum();
        match (self.raw_data.len(), external) {
            (0, Some(length)) => length.value.parse().ok(),
            (0, None) => (!self.string_data.is_empty()).then(strings),
            (length, _) => Some(length as u64),
        }
    }

    /// The numbers of the tensor, if it is small enough to be a shape or a scale.
    pub(super) fn known(&self, element: ElementType) -> Option<Known> {
        use ElementType::{Bool, Float32, Float64, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64};
        let dims: Option<Vec<usize>> = self.dims.iter().map(|&dim| usize::try_from(dim).ok()).collect();
        let dims = dims?;
        let count = dims.iter().try_fold(1usize, |all, &dim| all.checked_mul(dim))?;
        let (most, bytes) = match element {
            Float32 => (MAX_FRACTIONS, 4),
            Float64 => (MAX_FRACTIONS, 8),
            Int64 | UInt64 => (MAX_KNOWN, 8),
            Int32 | UInt32 => (MAX_KNOWN, 4),
            Int16 | UInt16 => (MAX_KNOWN, 2),
            Int8 | UInt8 | Bool => (MAX_KNOWN, 1),
            _ => return None,
        };
        if count > most {
            return None;
        }
        let whole = |value: i64| Number::Integer(value.into());
        let raw = |bytes: &[u8]| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            let unsigned = u64::from_le_bytes(word);
            let unused = 64 - 8 * bytes.len() as u32;
            let signed = ((unsigned << unused) as i64) >> unused;
            match element {
                Float32 => Number::Fraction(f64::from(f32::from_bits(unsigned as u32))),
                Float64 => Number::Fraction(f64::from_bits(unsigned)),
                UInt64 | UInt32 | UInt16 | UInt8 | Bool => whole(i64::try_from(unsigned).unwrap_or(i64::MAX)),
                _ => whole(signed),
            }
        };
        let numbers: Vec<Number> = match element {
            _ if !self.raw_data.is_empty() => self.raw_data.chunks_exact(bytes).map(raw).collect(),
            Float32 => {
                let values = self.float_data.iter();
                values.map(|&value| Number::Fraction(f64::from(value))).collect()
            }
            Float64 => self
                .double_data
                .iter()
                .map(|&value| Number::Fraction(value))
                .collect(),
            Int64 => self.int64_data.iter().map(|&value| whole(value)).collect(),
            UInt64 | UInt32 => {
                let values = self.uint64_data.iter();
                values
                    .map(|&value| whole(i64::try_from(value).unwrap_or(i64::MAX)))
                    .collect()
            }
            _ => self.int32_data.iter().map(|&value| whole(value.into())).collect(),
        };
        (numbers.len() == count).then_some(Known {
            numbers,
            dims,
            element,
        })
    }
}
