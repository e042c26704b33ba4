//! The JSON schema of graphs: `"format": "tileheap-graph"`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::graph::{Attribute, Symbol};

pub(super) const FORMAT: &str = "tileheap-graph";
pub(super) const VERSION: u64 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    pub(super) format: String,
    pub(super) version: u64,
    pub(super) name: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) symbols: Vec<Symbol>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) tensors: Vec<DocumentTensor>,
    pub(super) inputs: Vec<String>,
    pub(super) outputs: Vec<String>,
    pub(super) nodes: Vec<DocumentNode>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) notes: Vec<String>,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DocumentTensor {
    pub(super) name: String,
    pub(super) element: String,
    pub(super) shape: Vec<DocumentDim>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) constant: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) kept: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) view: Option<DocumentView>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) memory: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) storage_id: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) scope: Option<String>,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DocumentView {
    pub(super) of: String,
    pub(super) offset: u64,
}

/// A number, a symbol's name, or an operator with two operands.
#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum DocumentDim {
    Fixed(i64),
    Symbol(String),
    Of(BTreeMap<String, [Box<DocumentDim>; 2]>),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DocumentNode {
    pub(super) name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) operator: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) attributes: BTreeMap<String, Attribute>,
    pub(super) inputs: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) outputs: Vec<String>,
    /// Outputs that may be written over inputs: pairs of output and input, by index.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) in_place: Vec<[u32; 2]>,
    #[serde(default, rename = "loop", skip_serializing_if = "Option::is_none")]
    pub(super) repeat: Option<DocumentLoop>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) branch: Option<Vec<DocumentArm>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DocumentLoop {
    pub(super) parameters: Vec<String>,
    pub(super) nodes: Vec<DocumentNode>,
    /// Pairs of a value and the parameter that it becomes in the next round.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) carried: Vec<[String; 2]>,
    pub(super) exits: Vec<DocumentExit>,
    /// The number of complete rounds, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) rounds: Option<u64>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DocumentExit {
    /// The number of the body's nodes that run before the exit.
    pub(super) after: usize,
    pub(super) condition: String,
    pub(super) results: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DocumentArm {
    pub(super) parameters: Vec<String>,
    pub(super) nodes: Vec<DocumentNode>,
    pub(super) outputs: Vec<String>,
}
