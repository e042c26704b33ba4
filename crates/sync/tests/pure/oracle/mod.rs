//! An oracle: slowly computes the hazards of a program by the exact text of the Vulkan specification.
//!
//! It shares only the types of programs and findings with the crate. Read it next to "Synchronization and Cache Control" and the appendix "Memory
//! Model" of the specification; functions are named after its terms. [`EXCEPTIONS`] lists the deviations.
//!
//! - `stages`: meaning of masks of stages and accesses.
//! - `operations`: operations, and dependencies with their scopes.
//! - `flatten`, `commands` and `passes`: the operations and dependencies of a program, in processing order.
//! - `cells`: memory locations.
//! - `relations`: happens-before, availability and visibility.
//! - `races`: the pairs that are not location-ordered.

mod bits;
mod cells;
mod commands;
mod flatten;
mod operations;
mod passes;
mod races;
mod relations;
mod stages;

#[cfg(test)]
mod cases;
#[cfg(test)]
mod cases_across;
#[cfg(test)]
mod cases_images;
#[cfg(test)]
mod cases_passes;
#[cfg(test)]
mod make;
#[cfg(test)]
mod tests;

use tileheap_sync::Hazard;
use tileheap_sync::program::Program;

/// Deviations of the oracle from the specification: name, section, reason.
pub(crate) const EXCEPTIONS: &[(&str, &str, &str)] = &[
    (
        "chains by stages",
        "Execution and Memory Dependencies",
        "two dependencies chain if their scopes have a stage and a place in common, though no operation may be there: as validation does",
    ),
    (
        "accompanied",
        "Image Layout Transitions",
        "a global memory barrier of the same command makes writes available to the transitions of its other barriers",
    ),
    (
        "transitions in order",
        "Image Layout Transitions",
        "transitions of one image on one queue happen in submission order; of different ones in the same memory they may not: a pedantic hazard",
    ),
    (
        "aliases in a render pass",
        "Render Pass Creation",
        "if an alias is used earlier in the instance, the transition from the initial layout comes after all dependencies into the subpasses that \
         then use the attachment, and if one is used later, the transition into the final layout comes before all dependencies from those that used \
         it: the flag MAY_ALIAS forbids to reorder them against uses of aliases, but the text only lists dependencies with outside",
    ),
    (
        "loads before reads",
        "Render Pass Creation",
        "the implicit dependency between two subpasses that only read an attachment also covers its load operation, which happens before the reads",
    ),
    (
        "rasterization order",
        "Rasterization Order",
        "attachment accesses of one subpass are ordered, as are draws before the resolve operations of their subpass",
    ),
    (
        "load and store operations",
        "Render Pass Load Operations",
        "load operations come before and store operations after everything else that an instance does to an attachment or its aliases",
    ),
    (
        "whole subresources",
        "Render Pass Load Operations",
        "load, store and resolve operations that write may write back what lies outside of their area: a pedantic hazard",
    ),
    (
        "adjacent accesses",
        "Data Race",
        "a hazard is reported for the nearest accesses only, not again for what a write in between replaced or a like read repeats",
    ),
    (
        "last signal of an event",
        "Events",
        "a set of an event that is set already replaces the earlier one, by the specification it has no effect",
    ),
    (
        "lowest value",
        "Semaphore Waiting",
        "a wait for a timeline is for the signal with the lowest value that reaches it, the specification allows any",
    ),
    (
        "visible to the host",
        "Host Write Ordering Guarantees",
        "a dependency towards the host counts for each later wait of the host that covers the write, whatever that signal's stages include",
    ),
    (
        "unknown accesses",
        "Execution and Memory Dependencies",
        "accesses of which only the stage is known need an execution dependency only; their writes count as available",
    ),
    (
        "coherent memory",
        "Availability, Visibility, and Domain Operations",
        "writes of the host are available to the host domain at once, and its reads need no invalidation",
    ),
    (
        "host signal",
        "Host Write Ordering Guarantees",
        "vkSignalSemaphore makes available to the device what the host wrote before, as vkQueueSubmit does",
    ),
];

macro_rules! rules {
    ($($(#[$doc:meta])* $name:ident,)+) => {
        /// The rules of the specification. Disabling one gives a wrong oracle, which some program must distinguish from the correct one.
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct Rules {
            $($(#[$doc])* pub(crate) $name: bool,)+
        }

        impl Rules {
            /// All rules.
            pub(crate) const ALL: Rules = Rules { $($name: true),+ };

            /// Every rule's name, with all rules but that one.
            #[cfg(test)]
            pub(crate) fn mutations() -> Vec<(&'static str, Rules)> {
                vec![$((stringify!($name), Rules { $name: false, ..Rules::ALL })),+]
            }
        }
    };
}

rules! {
    /// First synchronization scopes include logically earlier stages.
    logically_earlier_stages,
    /// Second ones include logically later stages.
    logically_later_stages,
    /// First access scopes only include the named stages.
    first_access_scope_is_named,
    /// Second ones also only include the named stages.
    second_access_scope_is_named,
    /// Access scopes are limited to access types.
    access_types,
    /// `TOP_OF_PIPE` and `BOTTOM_OF_PIPE` mean all commands in one of the scopes.
    top_and_bottom,
    /// `HOST` is not in any other mask.
    host_is_in_no_composite,
    /// `ALL_COMMANDS` as a source includes transitions, releases and acquires.
    all_commands_includes_earlier_transitions,
    /// `ALL_COMMANDS` as a destination includes transitions and releases.
    all_commands_includes_later_transitions,
    /// `ALL_COMMANDS` as a destination includes acquires.
    all_commands_includes_later_acquires,
    /// Execution dependencies form chains.
    execution_dependency_chains,
    /// Transitions, releases and acquires join chains that end before them with chains that begin after them.
    transitions_join_chains,
    /// Chains need a common stage.
    chains_need_a_common_stage,
    /// An available value remains available.
    availability_persists,
    /// Accesses of which only the stage is known are available to everything that waits for them.
    unknown_accesses,
    /// Only reads need visibility.
    writes_need_no_visibility,
    /// After reads, an execution dependency is enough.
    execution_is_enough_after_reads,
    /// Accesses after a write need it to be available.
    execution_is_not_enough_after_writes,
    /// Writes of transitions, releases and acquires are available.
    transition_writes_are_available,
    /// Writes of transitions are visible to their own dependency.
    transition_writes_are_visible,
    /// Barriers for a part only limit access scopes.
    extent_limits_access_scopes,
    /// A global barrier in the same command as a transition makes writes available to it.
    accompanied,
    /// Barriers in a render pass instance are limited to the subpass.
    barriers_stay_in_their_subpass,
    /// The source of a subpass dependency is only that subpass.
    source_subpass,
    /// `VK_SUBPASS_EXTERNAL` as a source only includes commands before the instance.
    external_is_before_the_instance,
    /// The destination of a subpass dependency is only that subpass.
    destination_subpass,
    /// Attachments without an explicit dependency have implicit ones from and to outside.
    implicit_dependencies,
    /// Subpasses that read an attachment in different layouts have an implicit one.
    implicit_dependencies_between_reads,
    /// Transitions happen after dependencies with the subpass that they leave as the source, whatever their destination is.
    whatever_their_destination,
    /// Transitions happen before dependencies with the subpass that they lead to as the destination, whatever their source is.
    whatever_their_source,
    /// Transitions from initial layouts happen after dependencies from outside to every subpass that uses the attachment.
    every_use_from_outside,
    /// Transitions into final layouts happen before dependencies to outside from every subpass that uses the attachment.
    every_use_to_outside,
    /// Transitions are ordered with the uses of aliases.
    aliases_in_passes,
    /// A resumed instance is the suspended one.
    resumed_instances_continue,
    /// Transitions of one image on one queue are ordered.
    transitions_in_order,
    /// Draws of a subpass are ordered.
    rasterization_order,
    /// Load operations come first and store operations last.
    load_and_store_order,
    /// Load, store and resolve operations may write back whole subresources.
    whole_subresources,
    /// An event covers operations before its signal operation, not before its wait.
    events_end_at_their_signal,
    /// The scope of an event is limited to the stages with which it is set.
    events_have_stages,
    /// Events do not cross queues.
    events_stay_in_their_queue,
    /// A semaphore signal covers earlier batches.
    signals_cover_earlier_batches,
    /// A semaphore signal covers earlier signals.
    signals_cover_earlier_signals,
    /// A wait consumes the signal of a binary semaphore.
    waits_unsignal,
    /// Semaphore waits are limited to stages.
    waits_have_stages,
    /// Timeline waits are for the lowest value that reaches them.
    lowest_value,
    /// Releases ignore their second scope.
    releases_ignore_their_destination,
    /// Acquires ignore their first scope.
    acquires_ignore_their_source,
    /// Work that the host waited for comes before its later accesses and submissions.
    host_waits,
    /// Such waits do not affect work that was submitted before them.
    host_waits_are_for_later_submissions,
    /// A submission covers earlier accesses of the host.
    submissions_cover_the_host,
    /// Signals of the host cover its earlier accesses.
    host_signal,
    /// The host sees writes of the device through a dependency with `HOST`.
    host_domain,
    /// Aliases are padded to the granularity if one of them is linear.
    padding,
    /// Images in one class share their subresources.
    classes,
    /// An optimally tiled image aliases as a whole.
    optimal_images_alias_entirely,
    /// Writes hide earlier accesses.
    writes_hide,
    /// Equal reads hide earlier ones.
    reads_hide,
    /// Discards of memory are not accesses.
    discards_are_no_accesses,
    /// The bytes of a hazard are those with its verdict and missing dependency.
    bytes_are_of_the_reported_cells,
    /// Adjacent bytes are reported as one range.
    touching_bytes_are_one,
    /// Unknown elements make a hazard a possible one.
    some_is_possible,
}

/// The hazards of a program.
pub(crate) fn hazards(program: &Program) -> Vec<Hazard> {
    hazards_with(program, Rules::ALL)
}

/// The hazards by only some of the rules.
pub(crate) fn hazards_with(program: &Program, rules: Rules) -> Vec<Hazard> {
    let flat = flatten::flatten(program, &rules);
    let space = cells::Space::new(program, &flat, &rules);
    let relations = relations::Relations::new(&flat, &space, &rules);
    races::races(&flat, &space, &relations, &rules)
}
