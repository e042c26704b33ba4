//! Reports messages to the application's messengers, to the log and to standard error or logcat, and counts them by id.

use std::ffi::CString;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ash::vk;
use serde_json::{Value, json};
use tileheap_layer::android::print;

use super::finding::Finding;
use super::lines::Lines;
use super::objects::{Names, Object};
use super::order::mistakes::Repeated;
use crate::tables::layer::Layer;
use crate::tables::messages::{Kind, MESSAGE_IDS, MessageId};
use crate::tables::settings::{Report, Settings};

/// A messenger of the application.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listener {
    /// Null for a messenger that is part of the instance's create info.
    pub(crate) handle: vk::DebugUtilsMessengerEXT,
    severities: vk::DebugUtilsMessageSeverityFlagsEXT,
    kinds: vk::DebugUtilsMessageTypeFlagsEXT,
    callback: vk::PFN_vkDebugUtilsMessengerCallbackEXT,
    user_data: usize,
}

impl Listener {
    /// Creates a messenger from its create info.
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

/// The messengers of an instance. The layer calls them itself, since it also reports messages while the loader creates and enumerates devices: the
/// loader then holds a lock that `vkSubmitDebugUtilsMessageEXT` takes (a deadlock in loader 1.3.239).
pub(crate) type Listeners = Arc<Mutex<Vec<Listener>>>;

/// A message to pass to the application's messengers.
pub(crate) struct Message {
    id: MessageId,
    text: CString,
    objects: Vec<Object>,
}

/// The destinations of messages.
#[derive(Debug)]
pub(crate) struct Reporter {
    pub(crate) listeners: Listeners,
    /// The names of the device's objects.
    pub(crate) names: Arc<Names>,
    /// True if messages also go to standard error, or to logcat.
    log: bool,
    /// The log of messages, one JSON document per line.
    lines: Option<Arc<Lines>>,
    /// The device's number in the log, from 1; 0 for an instance.
    device: u64,
    rules: Report,
    counts: [AtomicU64; MESSAGE_IDS.len()],
}

impl Reporter {
    /// Creates a reporter for the instance's messengers and the destinations in the settings.
    pub(crate) fn new(listeners: Listeners, settings: &Settings, rules: Report) -> Reporter {
        let lines = settings
            .message_log
            .as_deref()
            .map(|path| Arc::new(Lines::append(path)));
        let reporter = Reporter {
            listeners,
            names: Arc::default(),
            log: settings.log,
            lines,
            device: 0,
            rules,
            counts: Default::default(),
        };
        reporter.write(json!({"event": "instance", "format": "tileheap-emulator-log", "version": 1}));
        reporter
    }

    /// Creates the reporter of a device: the same destinations, with separate counters and names.
    pub(crate) fn of_device(&self) -> Reporter {
        static DEVICES: AtomicU64 = AtomicU64::new(1);
        Reporter {
            device: DEVICES.fetch_add(1, Ordering::Relaxed),
            listeners: self.listeners.clone(),
            names: Arc::default(),
            lines: self.lines.clone(),
            counts: Default::default(),
            ..*self
        }
    }

    /// Sets the rules whose violations are reported.
    pub(crate) fn with_rules(self, rules: Report) -> Reporter {
        Reporter { rules, ..self }
    }

    /// Writes a line of the log immediately, if there is a log: the program may be killed at any time.
    pub(crate) fn write(&self, mut line: Value) {
        if let Some(lines) = &self.lines {
            line["process"] = std::process::id().into();
            if self.device > 0 {
                line["device"] = self.device.into();
            }
            lines.write(&line);
            lines.flush();
        }
    }

    /// Reports a message without a command.
    pub(crate) fn report(&self, id: MessageId, object: Object, text: &str) {
        self.report_all([Finding::new(id, object, text)]);
    }

    /// Reports findings made while locks were held.
    pub(crate) fn report_all(&self, findings: impl IntoIterator<Item = Finding>) {
        let messages = self.log_all(findings);
        self.call_back(&messages);
    }

    /// Counts findings, and logs those that are to be reported. Returns the messages to pass to the application's messengers once no lock is held.
    pub(crate) fn log_all(&self, findings: impl IntoIterator<Item = Finding>) -> Vec<Message> {
        let findings = findings.into_iter();
        findings.filter_map(|finding| self.log_one(&finding)).collect()
    }

    fn reports(&self, id: MessageId) -> bool {
        match self.rules {
            Report::Auto | Report::All => true,
            Report::BeyondValidation => id.kind() != Kind::Validated,
            Report::None => id.kind() == Kind::Layer,
        }
    }

    fn log_one(&self, finding: &Finding) -> Option<Message> {
        let id = finding.id;
        self.counts[id.index()].fetch_add(1, Ordering::Relaxed);
        if !self.reports(id) {
            return None;
        }
        let names = &self.names;
        let mut objects = vec![finding.object];
        let mut resolve = |text: &str| names.resolve(text, &mut objects);
        let mut message = resolve(&finding.text);
        let at = finding.at.map(|at| resolve(&at.to_string()));
        let submit = finding.submit.map(|submit| resolve(&submit.to_string()));
        let cause = finding.cause.as_deref().map(resolve);
        let remedy =
            Some(finding.remedy.as_deref().unwrap_or(id.remedy())).filter(|remedy| !remedy.is_empty());
        for (label, part) in [
            ("at", at.as_deref()),
            ("in", submit.as_deref()),
            ("cause", cause.as_deref()),
            ("remedy", remedy),
        ] {
            message += &part
                .map(|part| format!("\n    {label}: {part}"))
                .unwrap_or_default();
        }
        if self.log {
            let layer = Layer::loaded().name().to_string_lossy();
            print(id.log_severity(), &format!("{layer}: {}: {message}", id.name()));
        }
        if self.lines.is_some() {
            let objects: Vec<_> = objects.iter().map(|object| names.json(*object)).collect();
            self.write(json!({
                "event": "message", "id": id.name(), "severity": id.severity_name(), "text": message,
                "at": finding.at.map(|at| at.json(names)), "submit": finding.submit.map(|submit| submit.json(names)),
                "cause": cause, "remedy": remedy, "objects": objects
            }));
        }
        Some(Message {
            id,
            text: CString::new(message).ok()?,
            objects,
        })
    }

    /// Calls the application's messengers.
    pub(crate) fn call_back(&self, messages: &[Message]) {
        if messages.is_empty() {
            return;
        }
        // Copied, so that no lock is held while the application runs.
        let listeners = self
            .listeners
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        for message in messages {
            let id = message.id;
            let Ok(id_name) = CString::new(id.name()) else {
                continue;
            };
            let name = |object: &Object| CString::new(self.names.get(*object)?).ok();
            let names: Vec<_> = message.objects.iter().map(name).collect();
            let object = |(object, name): (&Object, &Option<CString>)| vk::DebugUtilsObjectNameInfoEXT {
                object_type: object.0,
                object_handle: object.1,
                p_object_name: name.as_ref().map_or(std::ptr::null(), |name| name.as_ptr()),
                ..Default::default()
            };
            let objects: Vec<_> = message.objects.iter().zip(&names).map(object).collect();
            let data = vk::DebugUtilsMessengerCallbackDataEXT::default()
                .message_id_name(&id_name)
                .message_id_number(id as i32)
                .message(&message.text)
                .objects(&objects);
            let (severity, kinds) = (id.severity(), vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION);
            for listener in &listeners {
                let (Some(callback), true) = (listener.callback, listener.severities.contains(severity))
                else {
                    continue;
                };
                if listener.kinds.intersects(kinds) {
                    // SAFETY: The application's callback, which is valid as long as its messenger; the data outlive the call.
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
    }

    /// Logs how often mistakes that were reported once have been found again. The application's messengers are not called.
    pub(crate) fn report_repeated(&self, all: &[Repeated]) {
        for Repeated { id, text, times } in all {
            if !self.reports(*id) {
                continue;
            }
            if self.log {
                let layer = Layer::loaded().name().to_string_lossy();
                let s = if *times == 1 { "" } else { "s" };
                let text = format!("{layer}: {}: found {times} more time{s}: {text}", id.name());
                print(id.log_severity(), &text);
            }
            self.write(json!({
                "event": "repeated", "id": id.name(), "severity": id.severity_name(), "text": text, "times": times
            }));
        }
    }

    /// The count of each message that occurred.
    pub(crate) fn counts(&self) -> Value {
        let counts = MESSAGE_IDS.iter().zip(&self.counts);
        let counts = counts.map(|(id, count)| (id.name().to_owned(), count.load(Ordering::Relaxed)));
        let counts = counts.filter(|(_, count)| *count > 0);
        Value::Object(counts.map(|(id, count)| (id, count.into())).collect())
    }
}
