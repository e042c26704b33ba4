//! The table of live objects: handles are looked up in it and never dereferenced, so that a destroyed or foreign one is recognized.
//!
//! ```text
//! handle, 64 bits   │ kind 8 │ generation 32 │ slot 24 │       32 bits: 4, 12 and 16
//! slots             generation, object, …                    a reused slot has a new generation
//! ```
//! The table is the only data that calls share. Its contents do not let one caller affect another.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, TryLockError};

use crate::status::{Fault, Status};

/// The type of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Error = 1,
    Text,
    Profile,
    Frame,
    Requirements,
    Planner,
    Plan,
    Arrangement,
    Lowerer,
    Aliasing,
    DeviceAdditions,
    Device,
    DynamicFrame,
    Commands,
}

impl Kind {
    const ALL: [Kind; 14] = [
        Kind::Error,
        Kind::Text,
        Kind::Profile,
        Kind::Frame,
        Kind::Requirements,
        Kind::Planner,
        Kind::Plan,
        Kind::Arrangement,
        Kind::Lowerer,
        Kind::Aliasing,
        Kind::DeviceAdditions,
        Kind::Device,
        Kind::DynamicFrame,
        Kind::Commands,
    ];

    /// The name of the type in the header.
    fn name(self) -> String {
        format!("Th{self:?}")
    }
}

/// An object that handles refer to.
pub(crate) trait Object: Any + Send + Sync {
    const KIND: Kind;
}

/// An object of any type.
type AnyObject = Arc<dyn Any + Send + Sync>;

struct Slot {
    generation: usize,
    object: Option<(Kind, AnyObject)>,
}

#[derive(Default)]
struct Slots {
    slots: Vec<Slot>,
    free: Vec<usize>,
}

static SLOTS: RwLock<Slots> = RwLock::new(Slots {
    slots: Vec::new(),
    free: Vec::new(),
});

const SLOT_BITS: u32 = if usize::BITS == 64 { 24 } else { 16 };
const GENERATION_BITS: u32 = if usize::BITS == 64 { 32 } else { 12 };

/// The parts of a handle: the type of object, and the generation and index of a slot in the table.
#[derive(Clone, Copy)]
struct Parts {
    kind: usize,
    generation: usize,
    slot: usize,
}

impl Parts {
    fn of(handle: usize) -> Parts {
        Parts {
            kind: handle >> (SLOT_BITS + GENERATION_BITS),
            generation: handle >> SLOT_BITS & ((1 << GENERATION_BITS) - 1),
            slot: handle & ((1 << SLOT_BITS) - 1),
        }
    }

    fn handle(self) -> usize {
        self.kind << (SLOT_BITS + GENERATION_BITS) | self.generation << SLOT_BITS | self.slot
    }
}

/// Adds an object to the table and returns its handle.
pub(crate) fn insert<T: Object>(object: Arc<T>) -> Result<usize, Fault> {
    insert_any(object, T::KIND)
}

// The rest is compiled once for all types.

fn insert_any(object: AnyObject, kind: Kind) -> Result<usize, Fault> {
    let mut table = SLOTS.write().unwrap_or_else(PoisonError::into_inner);
    let Slots { slots, free } = &mut *table;
    let slot = free.pop().unwrap_or(slots.len());
    if slot >> SLOT_BITS != 0 {
        return Err(Fault::argument(format!(
            "{slot} objects exist: no more can be created"
        )));
    }
    if slot == slots.len() {
        slots.push(Slot {
            generation: 0,
            object: None,
        });
    }
    slots[slot].object = Some((kind, object));
    Ok(Parts {
        kind: kind as usize,
        generation: slots[slot].generation,
        slot,
    }
    .handle())
}

/// Returns the object of a handle; `place` is the argument or field that has the handle.
pub(crate) fn get<T: Object>(handle: usize, place: &str) -> Result<Arc<T>, Fault> {
    let object = get_any(handle, T::KIND).map_err(|fault| fault.within(place))?;
    object.downcast().map_err(|_| gone(handle, T::KIND))
}

fn get_any(handle: usize, kind: Kind) -> Result<AnyObject, Fault> {
    let table = SLOTS.read().unwrap_or_else(PoisonError::into_inner);
    let Parts { generation, slot, .. } = check(handle, kind)?;
    let found = table.slots.get(slot).filter(|slot| slot.generation == generation);
    let object = found.and_then(|slot| slot.object.as_ref());
    let typed = object.filter(|(found, _)| *found == kind);
    typed
        .map(|(_, object)| object.clone())
        .ok_or_else(|| gone(handle, kind))
}

/// Removes an object from the table. A call that uses it on another thread keeps it alive until that call returns.
pub(crate) fn remove<T: Object>(handle: usize) -> Result<(), Fault> {
    remove_any(handle, T::KIND)
}

fn remove_any(handle: usize, kind: Kind) -> Result<(), Fault> {
    let mut table = SLOTS.write().unwrap_or_else(PoisonError::into_inner);
    let Parts { generation, slot, .. } = check(handle, kind)?;
    let Slots { slots, free } = &mut *table;
    let found = slots.get_mut(slot).filter(|slot| slot.generation == generation);
    let found = found.filter(|slot| slot.object.as_ref().is_some_and(|(found, _)| *found == kind));
    let Some(found) = found else {
        return Err(gone(handle, kind));
    };
    let object = found.object.take();
    found.generation += 1;
    // A slot whose generations are used up is not reused.
    if found.generation >> GENERATION_BITS == 0 {
        free.push(slot);
    }
    drop(table);
    drop(object);
    Ok(())
}

/// The number of objects in the table.
pub(crate) fn count() -> u32 {
    let table = SLOTS.read().unwrap_or_else(PoisonError::into_inner);
    table.slots.iter().filter(|slot| slot.object.is_some()).count() as u32
}

/// Splits a handle into its parts; fails if it is not a handle of this type.
fn check(handle: usize, kind: Kind) -> Result<Parts, Fault> {
    let parts = Parts::of(handle);
    if parts.kind == kind as usize {
        return Ok(parts);
    }
    let what = match Kind::ALL.into_iter().find(|kind| *kind as usize == parts.kind) {
        _ if handle == 0 => "is null".to_owned(),
        Some(other) => format!("is a {}", other.name()),
        None => format!("is {handle:#x}, which was not created by this library"),
    };
    Err(bad(kind, &what))
}

fn gone(handle: usize, kind: Kind) -> Fault {
    let what = format!("is {handle:#x}, which was destroyed, or not created by this library");
    bad(kind, &what)
}

fn bad(kind: Kind, what: &str) -> Fault {
    let message = format!("{what}: expected a {}", kind.name());
    Fault::new(Status::ErrorInvalidHandle, message)
}

/// An object that one thread at a time may use.
#[derive(Debug, Default)]
pub(crate) struct Exclusive<T>(Mutex<T>);

impl<T> Exclusive<T> {
    /// Locks the value of an argument or a field; fails if another call uses it.
    pub(crate) fn lock(&self, place: &'static str) -> Result<MutexGuard<'_, T>, Fault> {
        self.0.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => {
                Fault::in_use("is in use by another call: it allows one call at a time").within(place)
            }
            TryLockError::Poisoned(_) => Fault::unusable().within(place),
        })
    }

    /// Locks the value in order to destroy it: waits for calls that use it, and ignores poisoning by a call that panicked.
    pub(crate) fn wait(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A handle of objects of one type: a number that is not the address of anything.
pub(crate) trait Handle: Copy {
    type Object: Object;
    fn number(self) -> usize;
    fn of_number(number: usize) -> Self;

    /// Returns the object; `place` is the argument or field that has the handle.
    fn get(self, place: &'static str) -> Result<Arc<Self::Object>, Fault> {
        get(self.number(), place)
    }

    /// The object; `None` for a null handle.
    fn get_if_any(self, place: &'static str) -> Result<Option<Arc<Self::Object>>, Fault> {
        match self.number() {
            0 => Ok(None),
            _ => self.get(place).map(Some),
        }
    }

    /// Destroys the object; does nothing for a null handle.
    fn destroy(self) -> Result<(), Fault> {
        match self.number() {
            0 => Ok(()),
            number => remove::<Self::Object>(number),
        }
    }

    /// Adds an object to the table and returns its handle.
    fn create(object: Self::Object) -> Result<Self, Fault> {
        insert(Arc::new(object)).map(Self::of_number)
    }
}

/// Declares the handles of objects.
macro_rules! object {
    ($opaque:ident, $object:ident: $kind:ident) => {
        impl $crate::handles::Handle for *mut $opaque {
            type Object = $object;

            fn number(self) -> usize {
                self.addr()
            }

            fn of_number(number: usize) -> Self {
                std::ptr::without_provenance_mut(number)
            }
        }

        impl $crate::handles::Object for $object {
            const KIND: $crate::handles::Kind = $crate::handles::Kind::$kind;
        }
    };
}
pub(crate) use object;

#[cfg(test)]
mod tests {
    use super::*;

    impl Object for u32 {
        const KIND: Kind = Kind::Text;
    }

    impl Object for u64 {
        const KIND: Kind = Kind::Plan;
    }

    #[test]
    fn a_destroyed_handle_stays_invalid_when_its_slot_is_used_again() {
        let handles: Vec<usize> = (0..100).map(|n| insert(Arc::new(n as u32)).unwrap()).collect();
        assert_eq!(*get::<u32>(handles[7], "").unwrap(), 7);
        remove::<u32>(handles[7]).unwrap();
        let again: Vec<usize> = (0..100).map(|n| insert(Arc::new(n as u32)).unwrap()).collect();
        assert!(
            get::<u32>(handles[7], "")
                .unwrap_err()
                .message
                .contains("destroyed")
        );
        assert!(remove::<u32>(handles[7]).is_err());
        assert!(!again.contains(&handles[7]));
        for handle in handles.into_iter().chain(again) {
            let _ = remove::<u32>(handle);
        }
    }

    #[test]
    fn foreign_handles_are_told_apart() {
        let text = insert(Arc::new(1_u32)).unwrap();
        let fault = get::<u64>(text, "").unwrap_err();
        assert_eq!(fault.status, Status::ErrorInvalidHandle);
        assert!(
            fault.message.ends_with("is a ThText: expected a ThPlan"),
            "{}",
            fault.message
        );
        assert!(get::<u32>(0, "").unwrap_err().message.contains("is null"));
        // Addresses of other objects.
        let stack = &raw const text as usize;
        let heap = Box::new(3);
        for foreign in [stack, &raw const *heap as usize, usize::MAX, 1] {
            let fault = get::<u32>(foreign, "").unwrap_err();
            assert_eq!(fault.status, Status::ErrorInvalidHandle, "{foreign:#x}");
        }
        remove::<u32>(text).unwrap();
    }

    #[test]
    fn a_call_keeps_the_object_that_another_thread_destroys() {
        let handle = insert(Arc::new(5_u32)).unwrap();
        let held = get::<u32>(handle, "").unwrap();
        std::thread::spawn(move || remove::<u32>(handle).unwrap())
            .join()
            .unwrap();
        assert_eq!(*held, 5);
    }
}
