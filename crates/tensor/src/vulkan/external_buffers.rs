//! Checks the caller's buffers: each must be bound to an input or output, and two may share bytes only if their lifetimes
//! allow it.

use crate::error::{Error, Result};
use crate::graph::{Graph, TensorId};
use crate::plan::{Backing, TensorPlan};
use tileheap::runtime::BoundBuffer;

/// Checks the buffers bound for a run, before anything is recorded.
pub(super) fn check(graph: &Graph, plan: &TensorPlan, bound: &[(TensorId, BoundBuffer)]) -> Result<()> {
    let name = |tensor: &TensorId| &graph.tensor(*tensor).name;
    for (tensor, _) in bound {
        if !graph.inputs().contains(tensor) && !graph.outputs().contains(tensor) {
            let problem = "a buffer is bound to it, but it is neither an input nor an output of the graph";
            return Err(Error::tensor(name(tensor), problem));
        }
    }
    plan.check_external(graph, |tensor| bound.iter().any(|(given, _)| *given == tensor))?;
    for (index, (first, a)) in bound.iter().enumerate() {
        for (second, b) in &bound[index + 1..] {
            let (input, output) = match graph.inputs().contains(first) {
                true => (first, second),
                false => (second, first),
            };
            if share(a, b) && first != second && !may_follow(graph, plan, *input, *output) {
                let (input, output) = (name(input), name(output));
                let problem =
                    format!("it shares bytes with `{output}`, but both are needed at the same time");
                return Err(Error::tensor(input, problem));
            }
        }
    }
    Ok(())
}

fn share(a: &BoundBuffer, b: &BoundBuffer) -> bool {
    a.handle == b.handle && a.offset < b.offset + b.size && b.offset < a.offset + a.size
}

/// Returns true if the buffers of `input` and `output` may share bytes: `output` is written only after the last read of `input`, and neither tensor
/// is both an input and an output.
fn may_follow(graph: &Graph, plan: &TensorPlan, input: TensorId, output: TensorId) -> bool {
    let is_output = |tensor: TensorId| graph.outputs().contains(&tensor);
    let is_pair = graph.inputs().contains(&input) && is_output(output) && !graph.inputs().contains(&output);
    // Planned inputs are copied to the plan's memory before anything is written, and planned outputs out of it after
    // everything was read.
    let copied = |tensor: TensorId| plan.tensor(tensor).backing == Backing::Planned;
    is_pair && !is_output(input) && (copied(input) || copied(output) || plan.may_share(input, output))
}
