//! The relations of the appendix "Memory Model", for operations that only system-synchronize: between queues, commands and the host.

use std::collections::HashMap;

use ash::vk;
use tileheap_sync::MissingDependency;
use tileheap_sync::program::DependencyMemory;
use vk::{AccessFlags2 as A, PipelineStageFlags2 as S};

use super::Rules;
use super::bits::Bits;
use super::cells::Space;
use super::operations::{AccessScope, Action, Dependency, Flat, Place, Scope, Subpass};

/// An access scope that includes an access, at all cells or some.
#[derive(Clone, Copy, Debug)]
struct Included {
    dependency: usize,
    cells: Option<Bits>,
}

impl Included {
    fn at(&self, cell: usize) -> bool {
        self.cells.is_none_or(|cells| cells.contains(cell))
    }
}

/// The relations between the operations of a program.
pub(crate) struct Relations<'f> {
    flat: &'f Flat,
    rules: &'f Rules,
    graph: Graph,
    /// For each transition, release and acquire, by action: its number in the graph.
    stageless: HashMap<usize, usize>,
    /// For each action: what happens after it.
    after: Vec<Bits>,
    /// For each action: the dependencies whose second scope it is in, or its own number.
    second: Vec<Bits>,
    /// For each action: the availability operations that include it.
    available: Vec<Vec<Included>>,
    /// For each action: the visibility operations that include it.
    visible: Vec<Vec<Included>>,
}

/// "Execution and Memory Dependencies": true if an operation is in a synchronization scope.
fn in_scope(scope: &Scope, action: &Action) -> bool {
    match (*scope, action.place) {
        (
            Scope::Commands {
                queue,
                after,
                before,
                subpass,
                stages,
            },
            Place::Queue(on, within),
        ) => {
            let limited = subpass.is_none() || subpass == within;
            queue == on
                && after < action.at
                && action.at < before
                && limited
                && stages.intersects(action.stage)
        }
        (Scope::Host { after, before }, Place::Host(step)) => after < step && step < before,
        _ => false,
    }
}

fn in_any(scopes: &[Scope], action: &Action) -> bool {
    scopes.iter().any(|scope| in_scope(scope, action))
}

/// Returns true if a second scope and a later first scope have a place in common at which operations may execute.
fn same_place(
    flat: &Flat,
    after: usize,
    in_second: Option<Subpass>,
    before: usize,
    in_first: Option<Subpass>,
) -> bool {
    let goes_on_after = |subpass: Subpass| flat.ends.get(&subpass).is_none_or(|end| after < *end);
    after < before
        && match (in_second, in_first) {
            (Some(one), Some(other)) => one == other,
            (None, Some(subpass)) => goes_on_after(subpass),
            (_, None) => true,
        }
}

/// `synchronization-dependencies-chains`, with the exception "chains by stages".
fn scopes_chain(flat: &Flat, second: &Scope, first: &Scope, rules: &Rules) -> bool {
    match (*second, *first) {
        (
            Scope::Commands {
                queue,
                after,
                subpass,
                stages,
                ..
            },
            Scope::Commands {
                queue: on,
                before,
                subpass: within,
                stages: others,
                ..
            },
        ) => {
            let common = stages.intersects(others) || !rules.chains_need_a_common_stage;
            queue == on && common && same_place(flat, after, subpass, before, within)
        }
        (Scope::Host { after, .. }, Scope::Host { before, .. }) => after < before,
        (Scope::Signal(signal), Scope::Signal(waited)) => signal == waited,
        (Scope::Signal(signal), Scope::Signals { queue, before }) => {
            let signal = flat.signals[signal];
            !signal.is_fence && signal.queue.is_some_and(|(on, at)| on == queue && at < before)
        }
        _ => false,
    }
}

fn dependencies_chain(flat: &Flat, a: &Dependency, b: &Dependency, rules: &Rules) -> bool {
    a.second.iter().any(|second| {
        b.first
            .iter()
            .any(|first| scopes_chain(flat, second, first, rules))
    })
}

/// Happens-before: sets of dependencies (their second scopes) by index, followed by transitions, releases and acquires.
struct Graph {
    /// After the first scope of each dependency.
    after_first: Vec<Bits>,
    /// After each transition, release and acquire.
    after_transition: Vec<Bits>,
}

/// The execution dependency chains from every dependency. "Inter-Thread-Happens-Before" is transitive: everything before a transition happens before
/// everything after it.
fn execution_dependency_chains(flat: &Flat, rules: &Rules) -> Graph {
    let all = &flat.dependencies;
    let followed = flat.actions.iter().filter(|action| action.is_stageless());
    let stageless: Vec<&Action> = followed.chain(&flat.unfollowed).collect();
    // Second scopes, transitions, and first scopes.
    let (transition, first) = (
        |one: usize| all.len() + one,
        |one: usize| all.len() + stageless.len() + one,
    );
    let mut next = vec![Bits::default(); first(all.len())];
    for (a, dependency) in all.iter().enumerate() {
        next[first(a)].insert(a);
        if rules.execution_dependency_chains {
            let follows = |b: &usize| dependencies_chain(flat, dependency, &all[*b], rules);
            (0..all.len())
                .filter(follows)
                .for_each(|b| next[a].insert(first(b)));
        }
    }
    let mut after_stageless = vec![Bits::default(); stageless.len()];
    for (index, action) in stageless.iter().enumerate() {
        action
            .after
            .iter()
            .for_each(|own| next[first(*own)].insert(transition(index)));
        action
            .before
            .iter()
            .for_each(|own| after_stageless[index].insert(*own));
        for (d, dependency) in all.iter().enumerate() {
            if in_any(&dependency.second, action) {
                next[d].insert(transition(index));
            }
            if in_any(&dependency.first, action) {
                after_stageless[index].insert(first(d));
            }
        }
        if rules.transitions_join_chains {
            next[transition(index)] = after_stageless[index];
        }
    }
    for middle in 0..next.len() {
        let onward = next[middle];
        for one in next.iter_mut().filter(|one| one.contains(middle)) {
            one.extend(&onward);
        }
    }
    let with_onward = |steps: &Bits| {
        let mut reached = *steps;
        steps.iter().for_each(|step| reached.extend(&next[step]));
        reached
    };
    Graph {
        after_first: (0..all.len()).map(|one| next[first(one)]).collect(),
        after_transition: after_stageless.iter().map(with_onward).collect(),
    }
}

/// The cells at which an access scope includes an action of its synchronization scope, if it does.
fn included(
    scope: &AccessScope,
    dependency: usize,
    action: &Action,
    space: &Space,
    rules: &Rules,
) -> Option<Included> {
    let everywhere = Included {
        dependency,
        cells: None,
    };
    match (scope, action.access) {
        (AccessScope::Nothing, _) | (AccessScope::Types { .. }, None) => None,
        (AccessScope::Everything, _) => Some(everywhere),
        (
            AccessScope::Types {
                stages,
                accesses,
                extent,
            },
            Some(access),
        ) => {
            let is_known = !access.access.is_empty();
            let named = stages.contains(access.stage) && accesses.contains(access.access) && is_known;
            match *extent {
                DependencyMemory::Part(resource, part) if rules.extent_limits_access_scopes => {
                    let through = space.class(resource) == space.class(access.resource);
                    (named && through).then(|| Included {
                        dependency,
                        cells: Some(space.part(resource, part)),
                    })
                }
                DependencyMemory::Part(..) | DependencyMemory::All => named.then_some(everywhere),
                DependencyMemory::Execution => None,
            }
        }
    }
}

impl<'f> Relations<'f> {
    pub(crate) fn new(flat: &'f Flat, space: &Space, rules: &'f Rules) -> Relations<'f> {
        let graph = execution_dependency_chains(flat, rules);
        let mut stageless = HashMap::new();
        let (mut all_after, mut all_second) = (Vec::new(), Vec::new());
        let (mut all_available, mut all_visible) = (Vec::new(), Vec::new());
        for (number, action) in flat.actions.iter().enumerate() {
            let (mut after, mut second) = (Bits::default(), Bits::default());
            let (mut available, mut visible) = (Vec::new(), Vec::new());
            if action.is_stageless() {
                let own = stageless.len();
                stageless.insert(number, own);
                after.extend(&graph.after_transition[own]);
                second.insert(flat.dependencies.len() + own);
            }
            for (index, dependency) in flat.dependencies.iter().enumerate() {
                if in_any(&dependency.first, action) {
                    after.extend(&graph.after_first[index]);
                    available.extend(included(&dependency.available, index, action, space, rules));
                }
                if in_any(&dependency.second, action) {
                    if !action.is_stageless() {
                        second.insert(index);
                    }
                    visible.extend(included(&dependency.visible, index, action, space, rules));
                }
            }
            // A barrier to the host: the host's operations are in its scope, no matter how late the host waits.
            if let (Place::Host(_), Some(access)) = (action.place, action.access) {
                for (index, dependency) in flat.dependencies.iter().enumerate() {
                    if is_for_host(dependency, access.access, action.writes) {
                        visible.extend(covered(&dependency.visible, index));
                    }
                }
            }
            all_after.push(after);
            all_second.push(second);
            all_available.push(available);
            all_visible.push(visible);
        }
        Relations {
            flat,
            rules,
            graph,
            stageless,
            after: all_after,
            second: all_second,
            available: all_available,
            visible: all_visible,
        }
    }

    /// Returns true if there is an execution dependency between two operations, or a chain.
    fn system_synchronizes_with(&self, x: usize, y: usize) -> bool {
        self.after[x].intersects(&self.second[y])
    }

    /// "Happens-Before", which is program-order for operations of the host.
    pub(crate) fn happens_before(&self, x: usize, y: usize) -> bool {
        let both_on_host = [x, y]
            .iter()
            .all(|index| matches!(self.flat.actions[*index].place, Place::Host(_)));
        both_on_host || self.system_synchronizes_with(x, y)
    }

    /// The ends of all chains from an availability operation that includes the write at the cell.
    fn chains_after_availability(&self, x: usize, cell: usize) -> Bits {
        let mut ends = Bits::default();
        for operation in self.available[x].iter().filter(|operation| operation.at(cell)) {
            if self.rules.availability_persists {
                ends.extend(&self.graph.after_first[operation.dependency]);
            } else {
                ends.insert(operation.dependency);
            }
        }
        for (action, number) in &self.stageless {
            if self.accompanies(x, cell, *action) {
                ends.insert(self.flat.dependencies.len() + number);
                ends.extend(&self.graph.after_transition[*number]);
            }
        }
        // "Image Layout Transitions": their writes are made available automatically.
        let is_automatic = self.flat.actions[x].is_stageless() && self.rules.transition_writes_are_available;
        let is_unknown = self.flat.actions[x].is_unknown() && self.rules.unknown_accesses;
        if is_automatic || is_unknown {
            ends.extend(&self.after[x]);
        }
        ends
    }

    /// The exception "accompanied": a dependency for all memory makes the write available, and belongs to the same command as the transition.
    fn accompanies(&self, x: usize, cell: usize, action: usize) -> bool {
        let transition = &self.flat.actions[action];
        let is_before = self.after[x].intersects(&self.second[action]);
        let mut made = self.available[x].iter().filter(|operation| operation.at(cell));
        is_before && made.any(|operation| transition.companions.contains(&operation.dependency))
    }

    /// "Availability and Visibility": true if an availability operation that includes the write happens before the later access.
    fn is_available(&self, x: usize, cell: usize, y: usize) -> bool {
        let by_chain = self
            .chains_after_availability(x, cell)
            .intersects(&self.second[y]);
        by_chain || self.accompanies(x, cell, y)
    }

    /// Returns true if a visibility operation that includes the access happens after the write is available.
    fn is_visible(&self, x: usize, x_cell: usize, y: usize, y_cell: usize) -> bool {
        let available = self.chains_after_availability(x, x_cell);
        let own = &self.flat.actions[x].before;
        // The exception "visible to the host": a host wait that covers the write comes after the barrier.
        let is_on_host = matches!(self.flat.actions[y].place, Place::Host(_));
        let last_wait = self.after[x].and(&self.second[y]).iter().last();
        self.visible[y].iter().any(|operation| {
            let allowed = self.rules.transition_writes_are_visible || !own.contains(&operation.dependency);
            let in_time = !is_on_host || last_wait.is_some_and(|wait| operation.dependency < wait);
            available.contains(operation.dependency) && operation.at(y_cell) && allowed && in_time
        })
    }

    /// "Location-Ordered": the dependency that is missing between two accesses at a location.
    pub(crate) fn location_ordered(
        &self,
        space: &Space,
        x: (usize, usize),
        y: (usize, usize),
    ) -> Result<(), MissingDependency> {
        let (earlier, later) = (&self.flat.actions[x.0], &self.flat.actions[y.0]);
        if !self.happens_before(x.0, y.0) {
            return Err(MissingDependency::Execution);
        }
        let both_on_host = matches!((earlier.place, later.place), (Place::Host(_), Place::Host(_)));
        let is_read = !earlier.writes && self.rules.execution_is_enough_after_reads;
        let other_class = space.touched[x.0].class != space.touched[y.0].class;
        let is_unknown = later.is_unknown() || earlier.is_unknown() && other_class;
        if is_read || is_unknown || both_on_host || !self.rules.execution_is_not_enough_after_writes {
            return Ok(());
        }
        if !self.is_available(x.0, x.1, y.0) {
            return Err(MissingDependency::Availability);
        }
        // "Availability, Visibility, and Domain Operations": the memory domain operation from device to host.
        if matches!(later.place, Place::Host(_)) && self.rules.host_domain {
            let missing = if later.writes {
                MissingDependency::Availability
            } else {
                MissingDependency::Visibility
            };
            return if self.is_visible(x.0, x.1, y.0, y.1) {
                Ok(())
            } else {
                Err(missing)
            };
        }
        let needs_visibility = !later.writes || !self.rules.writes_need_no_visibility;
        if needs_visibility
            && !later.is_stageless()
            && later_on_device(later)
            && !self.is_visible(x.0, x.1, y.0, y.1)
        {
            return Err(MissingDependency::Visibility);
        }
        Ok(())
    }
}

fn later_on_device(action: &Action) -> bool {
    matches!(action.place, Place::Queue(..))
}

/// Returns true if a dependency has the stage `HOST` and a host access for reads, or for writes.
fn is_for_host(dependency: &Dependency, access: A, writes: bool) -> bool {
    match dependency.visible {
        AccessScope::Types { stages, accesses, .. } => {
            let domain = accesses.intersects(A::HOST_READ | A::HOST_WRITE);
            stages.contains(S::HOST) && if writes { domain } else { accesses.contains(access) }
        }
        _ => false,
    }
}

/// Host accesses are not performed through a resource: the extent of a dependency does not limit them.
fn covered(scope: &AccessScope, dependency: usize) -> Option<Included> {
    match *scope {
        AccessScope::Types {
            extent: DependencyMemory::Execution,
            ..
        } => None,
        AccessScope::Types { .. } => Some(Included {
            dependency,
            cells: None,
        }),
        _ => None,
    }
}
