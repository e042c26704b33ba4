//! The state of tile memory on a device. Knows no device and no command table: hooks pass the driver's
//! results, and carry out what the model returns.
//!
//! ```text
//! resources, parts, descriptors   the application's objects and descriptor writes
//! transfers, shaders              the parts of resources that commands access
//! recording ◄ passes, checks      one command buffer: what is bound, what its commands discard, read and write
//! submissions                     command buffers in order: what survives from one to the next
//! order                           which accesses a dependency orders, and which none does
//! position, history               where something happened, and what happened to each byte; finding, reporter: the messages
//! ```

pub(crate) mod bound_sets;
pub(crate) mod checks;
pub(crate) mod contents;
pub(crate) mod descriptors;
pub(crate) mod finding;
pub(crate) mod heap;
pub(crate) mod history;
pub(crate) mod lines;
pub(crate) mod objects;
pub(crate) mod order;
pub(crate) mod parts;
pub(crate) mod passes;
pub(crate) mod placement;
pub(crate) mod position;
pub(crate) mod recording;
pub(crate) mod render_passes;
pub(crate) mod reporter;
pub(crate) mod requirements;
pub(crate) mod resources;
pub(crate) mod shaders;
mod spirv;
pub(crate) mod submissions;
pub(crate) mod tile_passes;
pub(crate) mod tile_shaders;
pub(crate) mod trace;
pub(crate) mod transfers;
pub(crate) mod transitions;
