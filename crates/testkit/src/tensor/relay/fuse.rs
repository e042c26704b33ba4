//! Operators as primitive functions: relay's fusion, by dominators from behind.

use super::module::{Expr, ExprKind, Module, Pattern};

/// A fused function: the expressions in it, and what it is called with.
#[derive(Clone, Debug, Default)]
pub(super) struct Function {
    /// The expression whose value it gives.
    pub(super) root: usize,
    /// In an order in which operands come first.
    pub(super) body: Vec<usize>,
    /// Expressions outside, in the order in which the body first reads them.
    pub(super) args: Vec<usize>,
}

/// The functions; those that are called come before those that call.
pub(super) fn fuse(module: &Module) -> Vec<Function> {
    let order = later_operands_first(module);
    let mut partition = Partition::new(module, &order);
    for phase in [Phase::Convolutions, Phase::Injective] {
        for &expr in &order {
            partition.try_fuse(expr, phase);
        }
    }
    functions(module, &mut partition)
}

/// Calls in an order in which operands come first, of each operator the last of them before the others.
fn later_operands_first(module: &Module) -> Vec<usize> {
    let mut order = Vec::new();
    let mut seen = vec![false; module.exprs.len()];
    let mut open: Vec<(usize, bool)> = module.outputs.iter().map(|&output| (output, false)).collect();
    while let Some((expr, is_expanded)) = open.pop() {
        if is_expanded {
            order.push(expr);
        } else if !std::mem::replace(&mut seen[expr], true) && module.exprs[expr].is_call() {
            open.push((expr, true));
            open.extend(module.exprs[expr].args().iter().map(|&arg| (arg, false)));
        }
    }
    order
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Convolutions,
    Injective,
}

struct Partition {
    /// Who reads each expression, and how.
    readers: Vec<Vec<(usize, Pattern)>>,
    /// What every way from an expression to the outputs goes through first, how the ways there read, and how far it is from the end.
    behind: Vec<Option<(usize, Pattern)>>,
    depth: Vec<u32>,
    /// Groups: an expression nearer to the outputs, or itself.
    parent: Vec<usize>,
    pattern: Vec<Pattern>,
}

impl Partition {
    fn new(module: &Module, order: &[usize]) -> Partition {
        let count = module.exprs.len();
        let own = |expr: &Expr| match &expr.kind {
            ExprKind::Call { pattern, .. } => *pattern,
            _ => Pattern::Opaque,
        };
        let mut partition = Partition {
            readers: vec![Vec::new(); count],
            behind: vec![None; count],
            depth: vec![0; count],
            parent: (0..count).collect(),
            pattern: module.exprs.iter().map(own).collect(),
        };
        for &reader in order {
            let expr = &module.exprs[reader];
            for &arg in expr.args() {
                let same = module.exprs[arg].shape == expr.shape;
                let pattern = match own(expr) {
                    Pattern::Broadcast if same => Pattern::Elementwise,
                    pattern => pattern,
                };
                partition.readers[arg].push((reader, pattern));
            }
        }
        for &expr in order.iter().rev() {
            partition.behind[expr] = partition.dominator(module, expr);
            let depth = partition.behind[expr].map_or(0, |(behind, _)| partition.depth[behind]);
            partition.depth[expr] = depth + 1;
        }
        partition
    }

    fn dominator(&self, module: &Module, expr: usize) -> Option<(usize, Pattern)> {
        if module.outputs.contains(&expr) {
            return None;
        }
        let mut readers = self.readers[expr].iter().copied();
        let (mut common, mut pattern) = readers.next()?;
        for (reader, read) in readers {
            pattern = pattern.max(read);
            let mut other = reader;
            while common != other {
                let deeper = if self.depth[common] < self.depth[other] {
                    &mut other
                } else {
                    &mut common
                };
                let (behind, read) = self.behind[*deeper]?;
                *deeper = behind;
                pattern = pattern.max(read);
            }
        }
        Some((common, pattern))
    }

    fn group(&self, mut expr: usize) -> usize {
        while self.parent[expr] != expr {
            expr = self.parent[expr];
        }
        expr
    }

    /// Fuses an expression with what dominates it, where its pattern and those on all ways there allow it.
    fn try_fuse(&mut self, expr: usize, phase: Phase) {
        use Pattern as P;
        let Some((sink, reads)) = self.behind[expr] else {
            return;
        };
        if self.group(expr) == self.group(sink) {
            return;
        }
        let (fits, inner, last) = match self.pattern[expr] {
            P::OutElementwise => {
                let fits = phase == Phase::Convolutions && reads == P::Elementwise;
                (fits, P::Broadcast, P::Broadcast)
            }
            P::Elementwise | P::Broadcast => (reads <= P::Reduce, P::Injective, P::OutElementwise),
            P::Injective => (phase == Phase::Injective, P::Injective, P::Injective),
            P::Reduce | P::Opaque => return,
        };
        let between = self.between(expr, sink);
        let passes = |&other: &usize| self.pattern[self.group(other)] <= inner;
        if fits && between.iter().all(passes) && self.pattern[self.group(sink)] <= last {
            for other in std::iter::once(expr).chain(between) {
                self.merge(other, sink);
            }
        }
    }

    /// Everything on a way from an expression to what dominates it, both left out.
    fn between(&self, expr: usize, sink: usize) -> Vec<usize> {
        let mut found = Vec::new();
        let mut open = vec![expr];
        while let Some(from) = open.pop() {
            for &(reader, _) in &self.readers[from] {
                if reader != sink && !found.contains(&reader) {
                    found.push(reader);
                    open.push(reader);
                }
            }
        }
        found
    }

    fn merge(&mut self, expr: usize, into: usize) {
        let (from, into) = (self.group(expr), self.group(into));
        if from == into {
            return;
        }
        self.parent[from] = into;
        // A group is made around one convolution at most.
        if self.pattern[from] == Pattern::OutElementwise {
            self.pattern[into] = self.pattern[into].max(self.pattern[from]);
        }
    }
}

fn functions(module: &Module, partition: &mut Partition) -> Vec<Function> {
    let mut functions: Vec<Function> = Vec::new();
    let mut of_group = vec![usize::MAX; module.exprs.len()];
    // The first operand first: the order in which functions are rewritten and their parameters numbered.
    let mut seen = vec![false; module.exprs.len()];
    let outputs = module.outputs.iter().rev();
    let mut open: Vec<(usize, bool)> = outputs.map(|&output| (output, false)).collect();
    while let Some((expr, is_expanded)) = open.pop() {
        if !is_expanded {
            if module.exprs[expr].is_call() && !std::mem::replace(&mut seen[expr], true) {
                open.push((expr, true));
                open.extend(module.exprs[expr].args().iter().rev().map(|&arg| (arg, false)));
            }
            continue;
        }
        let group = partition.group(expr);
        if of_group[group] == usize::MAX {
            of_group[group] = functions.len();
            functions.push(Function {
                root: group,
                ..Function::default()
            });
        }
        let function = &mut functions[of_group[group]];
        function.body.push(expr);
        for &arg in module.exprs[expr].args() {
            let outside = !module.exprs[arg].is_call() || partition.group(arg) != group;
            // Numbers are written into the function, but for halves.
            let of = &module.exprs[arg];
            let number = matches!(of.kind, ExprKind::Constant) && of.shape.is_empty() && of.element >= 4;
            if outside && !number && !function.args.contains(&arg) {
                function.args.push(arg);
            }
        }
    }
    functions
}
