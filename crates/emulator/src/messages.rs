//! What the layer says: its own message ids, through debug utils and to stderr, and how often it said each.

use std::ffi::CString;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ash::vk;

use crate::settings::Report;

/// What a message is about. The number is `messageIdNumber`, the name `pMessageIdName`; both are stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum MessageId {
    /// A setting could not be read.
    Setting = 0x7169_0001,
    /// The driver has the extension itself.
    StepsAside = 0x7169_0002,
    /// Validation sits below the layer, where it sees what the layer does instead of what the application does.
    AboveValidation = 0x7169_0003,
    /// Something cannot be emulated on this driver.
    CannotEmulate = 0x7169_0004,
    /// A resource whose tile requirements are 0 was bound to tile memory.
    UnsupportedResource = 0x7169_0010,
    /// A resource was bound to tile memory at an offset or with a size that its tile requirements forbid.
    BadPlace = 0x7169_0011,
    /// Tile memory was mapped.
    Mapped = 0x7169_0012,
    /// A tile memory object larger than the heap was asked for.
    TooLarge = 0x7169_0013,
    /// A command accesses a tile resource of another memory object than the one bound.
    WrongObject = 0x7169_0020,
    /// A transfer touches a tile resource with nothing, or another object, bound.
    TransferUnbound = 0x7169_0021,
    /// A secondary command buffer inside a render pass discards what the primary has bound.
    InheritanceMissing = 0x7169_0022,
    /// Contents are read that a discard destroyed.
    ReadsDiscarded = 0x7169_0023,
    /// A resolve attachment is in tile memory.
    ResolveAttachment = 0x7169_0024,
    /// Memory that is no tile memory was bound to a command buffer.
    NotTileMemory = 0x7169_0025,
    /// Tile memory is bound inside a render pass.
    BoundInside = 0x7169_0026,
    /// A tile shading command or shader that cannot run here.
    TileShading = 0x7169_0030,
}

/// Every id, in the order of their counters.
pub const MESSAGE_IDS: [MessageId; 16] = [
    MessageId::Setting,
    MessageId::StepsAside,
    MessageId::AboveValidation,
    MessageId::CannotEmulate,
    MessageId::UnsupportedResource,
    MessageId::BadPlace,
    MessageId::Mapped,
    MessageId::TooLarge,
    MessageId::WrongObject,
    MessageId::TransferUnbound,
    MessageId::InheritanceMissing,
    MessageId::ReadsDiscarded,
    MessageId::ResolveAttachment,
    MessageId::NotTileMemory,
    MessageId::BoundInside,
    MessageId::TileShading,
];

impl MessageId {
    /// `pMessageIdName`.
    pub const fn name(self) -> &'static str {
        match self {
            MessageId::Setting => "TILEHEAP-setting",
            MessageId::StepsAside => "TILEHEAP-steps-aside",
            MessageId::AboveValidation => "TILEHEAP-above-validation",
            MessageId::CannotEmulate => "TILEHEAP-cannot-emulate",
            MessageId::UnsupportedResource => "TILEHEAP-unsupported-resource",
            MessageId::BadPlace => "TILEHEAP-bad-place",
            MessageId::Mapped => "TILEHEAP-mapped",
            MessageId::TooLarge => "TILEHEAP-too-large",
            MessageId::WrongObject => "TILEHEAP-wrong-object",
            MessageId::TransferUnbound => "TILEHEAP-transfer-unbound",
            MessageId::InheritanceMissing => "TILEHEAP-inheritance-missing",
            MessageId::ReadsDiscarded => "TILEHEAP-reads-discarded",
            MessageId::ResolveAttachment => "TILEHEAP-resolve-attachment",
            MessageId::NotTileMemory => "TILEHEAP-not-tile-memory",
            MessageId::BoundInside => "TILEHEAP-bound-inside",
            MessageId::TileShading => "TILEHEAP-tile-shading",
        }
    }

    fn severity(self) -> vk::DebugUtilsMessageSeverityFlagsEXT {
        use vk::DebugUtilsMessageSeverityFlagsEXT as S;
        match self {
            MessageId::StepsAside => S::INFO,
            MessageId::Setting
            | MessageId::AboveValidation
            | MessageId::CannotEmulate
            | MessageId::TooLarge
            | MessageId::ReadsDiscarded => S::WARNING,
            _ => S::ERROR,
        }
    }

    /// Whether the validation layers check the same.
    fn is_validated(self) -> bool {
        matches!(
            self,
            MessageId::BadPlace
                | MessageId::Mapped
                | MessageId::TooLarge
                | MessageId::WrongObject
                | MessageId::ResolveAttachment
                | MessageId::NotTileMemory
        )
    }

    /// Whether it is about the layer itself rather than about what the application does.
    fn is_news(self) -> bool {
        matches!(
            self,
            MessageId::Setting
                | MessageId::StepsAside
                | MessageId::AboveValidation
                | MessageId::CannotEmulate
        )
    }

    fn counter(self) -> usize {
        MESSAGE_IDS.iter().position(|id| *id == self).unwrap_or_default()
    }
}

/// An object that a message is about.
pub(crate) type Object = (vk::ObjectType, u64);

/// A message that waits until no lock is held: a callback may call Vulkan.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) id: MessageId,
    pub(crate) object: Object,
    pub(crate) text: String,
}

/// A messenger of the application.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listener {
    /// Null for one of an instance's creation.
    pub(crate) handle: vk::DebugUtilsMessengerEXT,
    severities: vk::DebugUtilsMessageSeverityFlagsEXT,
    kinds: vk::DebugUtilsMessageTypeFlagsEXT,
    callback: vk::PFN_vkDebugUtilsMessengerCallbackEXT,
    user_data: usize,
}

impl Listener {
    /// A messenger by its create info.
    pub(crate) fn new(
        handle: vk::DebugUtilsMessengerEXT,
        info: &vk::DebugUtilsMessengerCreateInfoEXT<'_>,
    ) -> Listener {
        Listener {
            handle,
            severities: info.message_severity,
            kinds: info.message_type,
            callback: info.pfn_user_callback,
            user_data: info.p_user_data as usize,
        }
    }
}

/// The messengers of an instance. The layer calls them itself: vkSubmitDebugUtilsMessageEXT takes a lock in the loader that it
/// holds while it creates devices and enumerates them, and there the layer has something to say too (1.3.239: a deadlock).
pub(crate) type Listeners = Arc<Mutex<Vec<Listener>>>;

/// Where messages go.
#[derive(Debug)]
pub(crate) struct Reporter {
    pub(crate) listeners: Listeners,
    log: bool,
    rules: Report,
    counts: [AtomicU64; MESSAGE_IDS.len()],
}

impl Reporter {
    /// A reporter whose messages go to the instance's messengers, and to stderr if asked.
    pub(crate) fn new(listeners: Listeners, log: bool, rules: Report) -> Reporter {
        Reporter {
            listeners,
            log,
            rules,
            counts: Default::default(),
        }
    }

    /// The same places, with counters of its own.
    pub(crate) fn fresh(&self) -> Reporter {
        Reporter::new(self.listeners.clone(), self.log, self.rules)
    }

    /// The same with other rules.
    pub(crate) fn with_rules(self, rules: Report) -> Reporter {
        Reporter { rules, ..self }
    }

    /// Says it, and counts it.
    pub(crate) fn report(&self, id: MessageId, object: Object, text: &str) {
        self.counts[id.counter()].fetch_add(1, Ordering::Relaxed);
        let is_said = match self.rules {
            Report::Auto | Report::All => true,
            Report::BeyondValidation => !id.is_validated(),
            Report::None => id.is_news(),
        };
        if !is_said {
            return;
        }
        let severity = id.severity();
        if self.log {
            eprintln!("VK_LAYER_TILEHEAP_emulator: {}: {text}", id.name());
        }
        // Copied, so that no lock is held while the application runs.
        let listeners = self
            .listeners
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let (Ok(name), Ok(message)) = (CString::new(id.name()), CString::new(text)) else {
            return;
        };
        let named = vk::DebugUtilsObjectNameInfoEXT {
            object_type: object.0,
            object_handle: object.1,
            ..Default::default()
        };
        let objects = [named];
        let data = vk::DebugUtilsMessengerCallbackDataEXT::default()
            .message_id_name(&name)
            .message_id_number(id as i32)
            .message(&message)
            .objects(&objects);
        let kinds = vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION;
        for listener in listeners {
            let (Some(callback), true) = (listener.callback, listener.severities.contains(severity)) else {
                continue;
            };
            if listener.kinds.intersects(kinds) {
                // SAFETY: The application's callback, which lives as long as its messenger; the data outlive the call.
                unsafe {
                    callback(
                        severity,
                        kinds,
                        &data,
                        listener.user_data as *mut std::ffi::c_void,
                    )
                };
            }
        }
    }

    /// Says what was found while locks were held.
    pub(crate) fn report_all(&self, findings: Vec<Finding>) {
        for finding in findings {
            self.report(finding.id, finding.object, &finding.text);
        }
    }

    /// How often each message was said: those that were.
    pub(crate) fn counts(&self) -> Vec<(&'static str, u64)> {
        let counts = MESSAGE_IDS.iter().zip(&self.counts);
        counts
            .map(|(id, count)| (id.name(), count.load(Ordering::Relaxed)))
            .filter(|(_, count)| *count > 0)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_has_a_name_and_a_number_of_its_own() {
        for (index, id) in MESSAGE_IDS.iter().enumerate() {
            assert_eq!(id.counter(), index);
            for other in &MESSAGE_IDS[..index] {
                assert_ne!(id.name(), other.name());
                assert_ne!(*id as i32, *other as i32);
            }
        }
    }

    #[test]
    fn messages_are_counted_where_nobody_listens() {
        let reporter = Reporter::new(Listeners::default(), false, Report::All);
        reporter.report(MessageId::WrongObject, (vk::ObjectType::UNKNOWN, 0), "text");
        assert_eq!(reporter.counts(), [("TILEHEAP-wrong-object", 1)]);
        assert!(reporter.fresh().counts().is_empty());
    }
}
