//! Reports messages: to the application's messengers and to stderr, and counts each id.

use std::ffi::CString;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ash::vk;

use super::finding::{Finding, Object};
use crate::tables::messages::{Kind, MESSAGE_IDS, MessageId};
use crate::tables::settings::Report;

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
    /// A reporter whose messages go to the instance's messengers, and to stderr if `log`.
    pub(crate) fn new(listeners: Listeners, log: bool, rules: Report) -> Reporter {
        Reporter {
            listeners,
            log,
            rules,
            counts: Default::default(),
        }
    }

    /// The same places, with counters of its own.
    pub(crate) fn with_own_counters(&self) -> Reporter {
        Reporter::new(self.listeners.clone(), self.log, self.rules)
    }

    /// The same with other rules.
    pub(crate) fn with_rules(self, rules: Report) -> Reporter {
        Reporter { rules, ..self }
    }

    /// Counts a message, and reports it if the rules say so.
    pub(crate) fn report(&self, id: MessageId, object: Object, text: &str) {
        self.counts[id.index()].fetch_add(1, Ordering::Relaxed);
        let is_reported = match self.rules {
            Report::Auto | Report::All => true,
            Report::BeyondValidation => id.kind() != Kind::Validated,
            Report::None => id.kind() == Kind::Layer,
        };
        if !is_reported {
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

    /// Reports what was found while locks were held.
    pub(crate) fn report_all(&self, findings: impl IntoIterator<Item = Finding>) {
        for finding in findings {
            self.report(finding.id, finding.object, &finding.text);
        }
    }

    /// How often each message occurred: those that did.
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
    fn messages_are_counted_without_a_messenger() {
        let reporter = Reporter::new(Listeners::default(), false, Report::All);
        reporter.report(MessageId::WrongObject, (vk::ObjectType::UNKNOWN, 0), "text");
        assert_eq!(reporter.counts(), [("TILEHEAP-wrong-object", 1)]);
        assert!(reporter.with_own_counters().counts().is_empty());
    }
}
