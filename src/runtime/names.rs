//! Names for debuggers, through `VK_EXT_debug_utils` where it is enabled.

use std::ffi::CString;

use ash::vk;

use super::device::Inner;

/// Text as a C string; what cannot be in one is left out.
pub(super) fn c_name(name: &str) -> CString {
    let bytes: Vec<u8> = name.bytes().filter(|&byte| byte != 0).collect();
    CString::new(bytes).expect("zeros are filtered out")
}

impl Inner {
    /// Names an object of the runtime. A failure is nobody's loss.
    pub(super) fn name(&self, handle: impl vk::Handle, name: &str) {
        let Some(debug) = &self.functions.debug_utils else {
            return;
        };
        let name = c_name(name);
        let info = vk::DebugUtilsObjectNameInfoEXT::default()
            .object_handle(handle)
            .object_name(&name);
        // SAFETY: the handle was just created by this device, and no other thread has it yet.
        let _ = unsafe { debug.set_debug_utils_object_name(&info) };
    }
}
