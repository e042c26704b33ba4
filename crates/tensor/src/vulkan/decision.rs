//! The decisions of loops and branches: conditions are on the device, and commands are recorded before they are known.

use crate::error::{Error, Result};
use crate::graph::control_flow::{Branch, Loop, LoopExit};
use crate::graph::{BlockId, Graph, NodeId};

/// The caller's decision on how a loop or branch executes in one run: commands are recorded before the device has
/// computed the conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlFlowDecision {
    /// A loop that is left in round `rounds` (0: the first) by one of its exits.
    Rounds {
        /// Complete rounds before it is left.
        rounds: u64,
        /// The index of the exit in [`Loop::exits`](crate::graph::control_flow::Loop::exits).
        exit: usize,
    },
    /// A branch that takes one of its arms.
    Arm(usize),
}

/// The number of complete rounds of a loop, the index of the exit by which it is left, and the exit.
pub(super) fn rounds<'a>(
    graph: &Graph,
    node: NodeId,
    repeated: &'a Loop,
    decisions: &[(NodeId, ControlFlowDecision)],
) -> Result<(u64, usize, &'a LoopExit)> {
    let decided = match of(node, decisions) {
        Some(ControlFlowDecision::Rounds { rounds, exit }) => {
            repeated.exits.get(exit).map(|taken| (rounds, exit, taken))
        }
        None => repeated
            .rounds
            .and_then(|rounds| Some((rounds, 0, repeated.exits.first()?))),
        Some(ControlFlowDecision::Arm(_)) => None,
    };
    let known = repeated
        .rounds
        .filter(|rounds| decided.is_some_and(|decided| decided.0 != *rounds));
    if let (Some(rounds), Some((other, ..))) = (known, decided) {
        let problem = format!("its number of iterations is {rounds}, but {other} were requested");
        return Err(Error::control(&graph.node(node).name, problem));
    }
    decided.ok_or_else(|| {
        undecided(
            graph,
            node,
            "the number of complete iterations, and the index of the exit",
        )
    })
}

/// The arm that a branch takes.
pub(super) fn arm(
    graph: &Graph,
    node: NodeId,
    branch: &Branch,
    decisions: &[(NodeId, ControlFlowDecision)],
) -> Result<BlockId> {
    let decided = match of(node, decisions) {
        Some(ControlFlowDecision::Arm(arm)) => branch.arms.get(arm).copied(),
        _ => None,
    };
    decided.ok_or_else(|| undecided(graph, node, "the index of the arm"))
}

fn of(node: NodeId, decisions: &[(NodeId, ControlFlowDecision)]) -> Option<ControlFlowDecision> {
    let found = decisions.iter().find(|(of, _)| *of == node);
    found.map(|(_, decision)| *decision)
}

fn undecided(graph: &Graph, node: NodeId, what: &str) -> Error {
    Error::control(
        &graph.node(node).name,
        format!("it needs a valid decision: {what}"),
    )
}
