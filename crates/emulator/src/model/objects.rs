//! Objects in messages: their kinds, and the names that the application has given them.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ash::vk;
use serde_json::{Value, json};
use tileheap_units::IdMap;

/// The subject of a message. It is marked in the text, and [`Names::resolve`] inserts its name later: texts are composed while locks are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Object(pub(crate) vk::ObjectType, pub(crate) u64);

/// The delimiter that marks an object in the text of a message.
const MARK: char = '\u{1f}';

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{MARK}{} {}{MARK}", self.0.as_raw(), self.1)
    }
}

impl Object {
    /// Returns the object with this handle.
    pub(crate) fn of<T: vk::Handle>(handle: T) -> Object {
        Object(T::TYPE, handle.as_raw())
    }

    /// The kind of the object, as messages state it; `None` if no message is about objects of this type.
    fn kind(self) -> Option<&'static str> {
        Some(match self.0 {
            vk::ObjectType::IMAGE => "image",
            vk::ObjectType::BUFFER => "buffer",
            vk::ObjectType::DEVICE_MEMORY => "memory object",
            vk::ObjectType::COMMAND_BUFFER => "command buffer",
            vk::ObjectType::QUEUE => "queue",
            vk::ObjectType::DEVICE => "device",
            vk::ObjectType::PHYSICAL_DEVICE => "physical device",
            vk::ObjectType::INSTANCE => "instance",
            _ => return None,
        })
    }

    fn parse(marked: &str) -> Option<Object> {
        let (kind, handle) = marked.split_once(' ')?;
        Some(Object(
            vk::ObjectType::from_raw(kind.parse().ok()?),
            handle.parse().ok()?,
        ))
    }
}

/// The names that an application gave to objects of a device.
#[derive(Debug, Default)]
pub(crate) struct Names(Mutex<IdMap<Object, String>>);

impl Names {
    fn lock(&self) -> MutexGuard<'_, IdMap<Object, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Names an object, if messages can be about it; an empty name removes its current name.
    pub(crate) fn set(&self, object: Object, name: &str) {
        if object.kind().is_none() {
            return;
        }
        if name.is_empty() {
            self.lock().remove(&object);
        } else {
            self.lock().insert(object, name.replace(MARK, " "));
        }
    }

    /// An object's name.
    pub(crate) fn get(&self, object: Object) -> Option<String> {
        self.lock().get(&object).cloned()
    }

    /// Inserts kind, name and handle of each object in the text of a message, and appends to `objects` those objects that it does not
    /// contain yet.
    pub(crate) fn resolve(&self, text: &str, objects: &mut Vec<Object>) -> String {
        let parts = text.split(MARK).enumerate();
        let resolved = parts.map(
            |(index, part)| match Object::parse(part).filter(|_| index % 2 == 1) {
                Some(object) => {
                    if !objects.contains(&object) {
                        objects.push(object);
                    }
                    let (kind, handle) = (object.kind().unwrap_or("object"), object.1);
                    match self.get(object) {
                        Some(name) => format!("{kind} `{name}` (0x{handle:x})"),
                        None => format!("{kind} 0x{handle:x}"),
                    }
                }
                None => part.to_owned(),
            },
        );
        resolved.collect()
    }

    /// Converts an object to JSON.
    pub(crate) fn json(&self, object: Object) -> Value {
        json!({
            "kind": object.kind().unwrap_or("object"), "handle": format!("0x{:x}", object.1), "name": self.get(object)
        })
    }
}
