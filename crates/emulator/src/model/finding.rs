//! What a check found.

use ash::vk;

use crate::tables::messages::MessageId;

/// An object that a message is about.
pub(crate) type Object = (vk::ObjectType, u64);

/// A message that is reported once no lock is held: a callback may call Vulkan.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) id: MessageId,
    pub(crate) object: Object,
    pub(crate) text: String,
}
