//! The module that relay works on.

use tileheap_tensor::graph::operators::{OperatorClass, definition};

/// A value of the graph that relay builds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The tensor or operator that it comes from.
    pub name: String,
    /// Its storage scope; empty where none is recorded.
    pub scope: String,
}

/// Expressions in an order in which operands come first.
pub(super) struct Module {
    pub(super) exprs: Vec<Expr>,
    /// Inputs of the graph, in its order.
    pub(super) inputs: Vec<usize>,
    pub(super) outputs: Vec<usize>,
}

#[derive(Clone, Debug)]
pub(super) struct Expr {
    pub(super) name: String,
    pub(super) shape: Vec<u64>,
    /// Bytes of an element.
    pub(super) element: u64,
    pub(super) kind: ExprKind,
}

#[derive(Clone, Debug)]
pub(super) enum ExprKind {
    Var,
    Constant,
    Call {
        operator: String,
        pattern: Pattern,
        args: Vec<usize>,
    },
}

impl Expr {
    pub(super) fn args(&self) -> &[usize] {
        match &self.kind {
            ExprKind::Call { args, .. } => args,
            _ => &[],
        }
    }

    pub(super) fn is_call(&self) -> bool {
        matches!(self.kind, ExprKind::Call { .. })
    }
}

/// How an operator can be fused with others, as relay numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Pattern {
    Elementwise,
    Broadcast,
    Injective,
    Reduce,
    OutElementwise,
    Opaque,
}

impl Pattern {
    pub(super) fn of(operator: &str) -> Pattern {
        if operator == "layout_transform" {
            return Pattern::Injective;
        }
        match definition(operator).map_or(OperatorClass::Opaque, |definition| definition.class) {
            OperatorClass::Elementwise => Pattern::Elementwise,
            OperatorClass::Broadcast => Pattern::Broadcast,
            OperatorClass::Injective => Pattern::Injective,
            OperatorClass::Reduction => Pattern::Reduce,
            OperatorClass::Contraction => Pattern::OutElementwise,
            OperatorClass::Opaque => Pattern::Opaque,
        }
    }
}
