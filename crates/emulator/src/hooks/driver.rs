//! The next layer's device.

use ash::vk;
use tileheap_layer::loader::SetDeviceLoaderData;

use crate::tables::action_commands::ActionTable;
use crate::tables::device_commands::DeviceTable;

/// A device of the next layer, and its commands.
pub(crate) struct Driver {
    pub(crate) handle: vk::Device,
    pub(crate) commands: DeviceTable,
    pub(crate) actions: ActionTable,
    /// The loader's callback that registers dispatchable handles created by the layer.
    pub(crate) set_loader_data: Option<SetDeviceLoaderData>,
    /// True if buffers can have addresses, so that memory must be allocated with the device address flag.
    pub(crate) buffer_device_address: bool,
}

/// Calls a command of the driver that creates an object, and returns the handle that it writes.
///
/// # Errors
/// The driver's result.
pub(crate) fn create_object<T: Default>(create: impl FnOnce(&mut T) -> vk::Result) -> Result<T, vk::Result> {
    let mut handle = T::default();
    create(&mut handle).result_with_success(handle)
}
