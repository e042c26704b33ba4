//! The entry points, and the state of the handles that they receive.
//!
//! An entry point converts Vulkan's arguments, queries the model, and calls the driver; panics are caught inside it.
//!
//! ```text
//! driver, instance, device, recorder    the state of a handle, and its look-up
//! creates, hook                         how entry points are declared and chosen
//! heap_memory, submit, tile_objects     the layer's own memory and submissions
//! the others                            entry points by area
//! look_up                               the entry points by name
//! ```

pub(crate) mod actions;
pub(crate) mod bindings;
pub(crate) mod command_buffers;
pub(crate) mod creates;
pub(crate) mod descriptor_sets;
pub(crate) mod destroy;
pub(crate) mod device;
pub(crate) mod devices;
pub(crate) mod driver;
pub(crate) mod heap_memory;
pub(crate) mod hook;
pub(crate) mod host_waits;
pub(crate) mod instance;
pub(crate) mod instances;
pub(crate) mod look_up;
pub(crate) mod memory;
pub(crate) mod object_names;
pub(crate) mod order_commands;
pub(crate) mod ordinary;
pub(crate) mod physical_devices;
pub(crate) mod physical_query;
pub(crate) mod plain_barriers;
pub(crate) mod presentation;
pub(crate) mod queues;
pub(crate) mod recorder;
pub(crate) mod resources;
pub(crate) mod strip;
pub(crate) mod submit;
pub(crate) mod tile_objects;
pub(crate) mod tile_properties;
pub(crate) mod tile_records;
pub(crate) mod tile_shading;
