//! The order of accesses to tile bytes: read after write, write after read and write after write without a dependency between.
//!
//! ```text
//! recording   Log: accesses of commands, barriers, events                     per command buffer, cheap
//! submit      Orders: batches with their waits and signals, in order          per device
//!             ├ per byte: the last write, and the reads since by stage
//!             └ per access and queue: the stages that are ordered behind it, and the accesses that it is visible to
//! ```
//! A barrier's first scope holds an access by its stage, or by a chain: a stage that an earlier dependency ordered behind the
//! access. Its second scope is then added to what is ordered behind it. Events and semaphores take the first scope where they are
//! set or signaled and add the second where they are waited for; what the host has waited for is forgotten.
//!
//! All tile memory objects share bytes by offset; each queue has tile memory of its own. Source: Vulkan 1.4, sections 7.1
//! (dependencies, stages, access types, queue family transfers), 7.4 (semaphores), 12.8 (memory aliasing).

#[cfg(test)]
mod definition;
pub(crate) mod log;
pub(crate) mod passes;
#[cfg(test)]
mod programs;
pub(crate) mod record;
#[cfg(test)]
mod recorded;
pub(crate) mod report;
pub(crate) mod scopes;
pub(crate) mod state;
pub(crate) mod submits;
