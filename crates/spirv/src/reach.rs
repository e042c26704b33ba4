//! The functions, calls and returned values that an entry point can reach.

use std::cmp::Reverse;

use rspirv::spirv::Op;

use crate::code::Node;
use crate::module::Module;

/// The part of a module that an entry point can execute.
pub(crate) struct ReachableCode {
    pub(crate) instructions: Vec<usize>,
    /// For each call of a defined function: the callee, the number of arguments, and the number of the instruction. Sorted; of
    /// one callee, the calls with the most arguments first.
    calls: Vec<(usize, (Reverse<usize>, usize))>,
    /// Per returned value, the function and the value. Sorted.
    pub(crate) returns: Vec<(usize, Node)>,
    /// For each parameter: the number of its instruction, its function, and its position among the function's parameters.
    /// Sorted.
    parameters: Vec<(usize, usize, usize)>,
}

impl ReachableCode {
    /// Follows calls from the function at position `entry`. O(instructions x log functions).
    pub(crate) fn new(module: &Module, entry: usize) -> ReachableCode {
        let code = &module.code;
        let mut reach = ReachableCode {
            instructions: Vec::new(),
            calls: Vec::new(),
            returns: Vec::new(),
            parameters: Vec::new(),
        };
        let mut seen = vec![false; module.functions.len()];
        let mut open = vec![entry];
        seen[entry] = true;
        while let Some(function) = open.pop() {
            let mut parameter = 0;
            for number in module.functions[function].body.clone() {
                let instruction = &code.instructions[number];
                reach.instructions.push(number);
                match instruction.op {
                    Op::FunctionParameter => {
                        reach.parameters.push((number, function, parameter));
                        parameter += 1;
                    }
                    Op::ReturnValue => {
                        let value = code.node(code.operand(instruction, 0));
                        reach.returns.extend(value.map(|value| (function, value)));
                    }
                    Op::FunctionCall => {
                        let callee = module.function(code.operand(instruction, 0));
                        if let Some(callee) = callee.filter(|callee| module.functions[*callee].defined) {
                            let arguments = code.operands(instruction).len().saturating_sub(1);
                            reach.calls.push((callee, (Reverse(arguments), number)));
                            if !std::mem::replace(&mut seen[callee], true) {
                                open.push(callee);
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
        reach.calls.sort_unstable();
        reach.returns.sort_unstable();
        reach.parameters.sort_unstable();
        reach
    }

    /// Iterates over the ids passed for a parameter, given by the number of its instruction.
    pub(crate) fn arguments<'a>(
        &'a self,
        module: &'a Module,
        parameter: usize,
    ) -> impl Iterator<Item = u32> + 'a {
        let found = self
            .parameters
            .binary_search_by_key(&parameter, |&(number, ..)| number);
        let found = found.ok().map(|index| self.parameters[index]);
        found.into_iter().flat_map(move |(_, function, position)| {
            // Skips calls without this argument: malformed calls may pass fewer arguments than the function declares.
            let calls = run(&self.calls, function).iter();
            let calls = calls.take_while(move |(_, (arguments, _))| arguments.0 > position);
            calls.map(move |&(_, (_, call))| {
                let call = &module.code.instructions[call];
                module.code.operand(call, 1 + position)
            })
        })
    }

    /// Returns the number of reachable calls of a function.
    pub(crate) fn call_count(&self, function: usize) -> usize {
        run(&self.calls, function).len()
    }

    pub(crate) fn returned(&self, function: usize) -> impl Iterator<Item = Node> + '_ {
        run(&self.returns, function).iter().map(|&(_, value)| value)
    }
}

/// Returns the elements of a sorted table that belong to `key`.
fn run<K: Ord + Copy, V>(table: &[(K, V)], key: K) -> &[(K, V)] {
    let first = table.partition_point(|(other, _)| *other < key);
    let end = table.partition_point(|(other, _)| *other <= key);
    &table[first..end]
}
