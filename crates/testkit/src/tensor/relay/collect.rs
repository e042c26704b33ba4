//! Scopes: which functions take and give textures, and what that makes of each value.

use std::collections::{BTreeMap, BTreeSet};

use super::fuse::Function;
use super::module::{Entry, Expr, ExprKind, Module, Pattern};
use tileheap_tensor::layout::{Convention, Generation};
use tileheap_tensor::storage::{ScopeLimits, adreno_scope};

const GLOBAL: &str = "global";

/// Every value with its scope, inputs first, then depth first from the outputs.
pub(super) fn collect(module: &Module, functions: &[Function], limits: ScopeLimits) -> Vec<Entry> {
    let roots = functions.iter().map(|function| function.root);
    let by_root = roots.zip(0..).collect();
    let mut info = Info {
        module,
        functions,
        by_root,
        limits,
        visited: BTreeSet::new(),
        scopes: BTreeMap::new(),
        readers: BTreeMap::new(),
        in_buffers: BTreeSet::new(),
        accepts: BTreeMap::new(),
    };
    for &output in &module.outputs {
        info.visit(output);
    }
    info.legalize();
    info.emit()
}

struct Info<'a> {
    module: &'a Module,
    functions: &'a [Function],
    /// The function of each value that one gives.
    by_root: BTreeMap<usize, usize>,
    limits: ScopeLimits,
    visited: BTreeSet<usize>,
    /// What each value is in.
    scopes: BTreeMap<usize, &'static str>,
    /// For each value, of each reader whether it is one of textures.
    readers: BTreeMap<usize, Vec<bool>>,
    /// Weights that are read from buffers whatever their shape.
    in_buffers: BTreeSet<usize>,
    /// The texture that a function takes an argument in, by function and argument.
    accepts: BTreeMap<(usize, usize), &'static str>,
}

impl Info<'_> {
    fn expr(&self, index: usize) -> &Expr {
        &self.module.exprs[index]
    }

    fn scope_of(&self, index: usize) -> &'static str {
        let scope = adreno_scope(&self.expr(index).shape, Generation::Flat, self.limits);
        scope.map_or(GLOBAL, Convention::scope)
    }

    /// A value and what it is made of, from the readers to what they read.
    fn visit(&mut self, value: usize) {
        if !self.visited.insert(value) {
            return;
        }
        let Some(&index) = self.by_root.get(&value) else {
            return self.apply_readers(value);
        };
        let functions = self.functions;
        let function = &functions[index];
        let entry = self.entry_of_textures(function);
        if let Some(entry) = entry {
            self.scopes.insert(value, self.scope_of(value));
            for (place, &arg) in function.args.iter().enumerate() {
                let mut scope = self.scope_of(arg);
                if place == 1 && self.is_convolution(entry) && self.can_be_buffer(arg) {
                    self.in_buffers.insert(arg);
                    scope = GLOBAL;
                }
                if scope != GLOBAL {
                    self.accepts.insert((value, arg), scope);
                }
            }
        }
        for &arg in &function.args {
            let textures = self.scopes.contains_key(&value);
            self.readers.entry(arg).or_default().push(textures);
        }
        for &arg in &function.args {
            if !self.in_buffers.contains(&arg) {
                self.visit(arg);
            }
        }
        // Made as a texture only where every reader takes it so.
        for arg in &function.args {
            if !self.readers[arg].iter().all(|&textures| textures) {
                self.scopes.remove(arg);
            }
        }
    }

    /// The operator by which a function is one of textures: one that reads nothing but the function's parameters.
    fn entry_of_textures(&self, function: &Function) -> Option<usize> {
        function.body.iter().rev().copied().find(|&expr| {
            let outside = |arg: &usize| function.args.contains(arg);
            let ExprKind::Call {
                operator, pattern, ..
            } = &self.expr(expr).kind
            else {
                return false;
            };
            let packed = self.expr(expr).shape.len() == 5;
            self.expr(expr).args().iter().all(outside)
                && packed
                && match operator.as_str() {
                    "conv2d" | "conv2d_transpose" | "max_pool2d" | "avg_pool2d" | "global_avg_pool2d" => true,
                    _ => *pattern <= Pattern::Reduce,
                }
        })
    }

    fn is_convolution(&self, expr: usize) -> bool {
        matches!(&self.expr(expr).kind, ExprKind::Call { operator, .. } if operator == "conv2d")
    }

    /// Constant weights of more than 16 bits with a window in both directions.
    fn can_be_buffer(&self, arg: usize) -> bool {
        let expr = self.expr(arg);
        let window = matches!(expr.shape[..], [_, _, height, width, _] if height != 1 && width != 1);
        matches!(expr.kind, ExprKind::Constant) && window && expr.element != 2
    }

    fn apply_readers(&mut self, value: usize) {
        let all = self.readers[&value].iter().all(|&textures| textures);
        match self.scope_of(value) {
            _ if !all => drop(self.scopes.insert(value, GLOBAL)),
            GLOBAL => {}
            scope => drop(self.scopes.insert(value, scope)),
        }
    }

    /// Values whose readers do not all take textures are in buffers; so are those that only some reader could take so.
    fn legalize(&mut self) {
        for (value, readers) in &self.readers {
            if let Some(scope) = self.scopes.get_mut(value) {
                if !readers.iter().all(|&textures| textures) {
                    *scope = GLOBAL;
                }
            }
            if readers.contains(&true) {
                self.scopes.entry(*value).or_insert(GLOBAL);
            }
        }
    }

    fn emit(&self) -> Vec<Entry> {
        let mut entries = Vec::new();
        let mut seen = BTreeSet::new();
        for &end in self.module.inputs.iter().chain(&self.module.outputs) {
            self.emit_value(end, &mut seen, &mut entries);
        }
        entries
    }

    fn emit_value(&self, value: usize, seen: &mut BTreeSet<usize>, entries: &mut Vec<Entry>) {
        if !seen.insert(value) {
            return;
        }
        let expr = self.expr(value);
        if let Some(&index) = self.by_root.get(&value) {
            for &arg in &self.functions[index].args {
                self.emit_value(arg, seen, entries);
                // A value in a buffer for a function that takes a texture is copied for it.
                if self.scopes.get(&arg) == Some(&GLOBAL) && !self.in_buffers.contains(&arg) {
                    if let Some(scope) = self.accepts.get(&(value, arg)) {
                        entries.push(Entry {
                            name: format!("device_copy of {}", self.expr(arg).name),
                            scope: (*scope).to_owned(),
                        });
                    }
                }
            }
        }
        // An input's scope is said only where it is a texture.
        let scope = self.scopes.get(&value).copied();
        let said = scope.filter(|&scope| !matches!(expr.kind, ExprKind::Var) || scope != GLOBAL);
        entries.push(Entry {
            name: expr.name.clone(),
            scope: said.unwrap_or_default().to_owned(),
        });
    }
}
