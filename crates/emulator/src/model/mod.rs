//! The model of tile memory on a device. It does not access devices or command tables: hooks pass the driver's results to the model, and carry
//! out the actions that it returns.
//!
//! ```text
//! resources, parts, descriptors   the application's objects and descriptor writes
//! operations, transfers, transferred_texels, fetches, vertex_input, shaders
//!                                 the parts of resources that commands access
//! recording ◄ passes, checks      one command buffer: bound memory; discards, reads and writes of its commands
//! contents, submissions           the bytes that can be live: poison in command buffers, and between them
//! order                           all submissions, checked by tileheap-sync: missing order, and reads of undefined contents
//! position, discards              locations of commands, and reasons for discards; finding, reporter: the messages
//! ```

pub(crate) mod bound_sets;
pub(crate) mod checks;
pub(crate) mod contents;
pub(crate) mod descriptors;
pub(crate) mod discards;
pub(crate) mod fetches;
pub(crate) mod finding;
pub(crate) mod heap;
pub(crate) mod lines;
pub(crate) mod objects;
pub(crate) mod operations;
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
pub(crate) mod transferred_texels;
pub(crate) mod transfers;
pub(crate) mod transitions;
pub(crate) mod vertex_input;
