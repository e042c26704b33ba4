//! Lets Ctrl-C end all searches of the command with the best answer so far; a second Ctrl-C, or one outside a search, ends the command.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// The flags that Ctrl-C reads and sets.
struct Flags {
    /// If set, Ctrl-C ends the command.
    ends_command: Arc<AtomicBool>,
    /// Set by Ctrl-C.
    is_interrupted: Arc<AtomicBool>,
}

fn flags() -> &'static Flags {
    static FLAGS: OnceLock<Flags> = OnceLock::new();
    FLAGS.get_or_init(|| {
        let flags = Flags {
            ends_command: Arc::new(AtomicBool::new(false)),
            is_interrupted: Arc::new(AtomicBool::new(false)),
        };
        #[cfg(unix)]
        {
            use signal_hook::consts::SIGINT;
            use signal_hook::flag::{register, register_conditional_default};
            // If Ctrl-C cannot be caught, it ends the command.
            let caught = register_conditional_default(SIGINT, flags.ends_command.clone());
            let caught = caught.and_then(|_| register(SIGINT, flags.is_interrupted.clone()));
            let _ = caught.and_then(|_| register(SIGINT, flags.ends_command.clone()));
        }
        flags
    })
}

/// The flag that makes Ctrl-C end the command; Ctrl-C sets it.
#[cfg(unix)]
pub(crate) fn ends_command() -> &'static AtomicBool {
    &flags().ends_command
}

/// Runs a search, which Ctrl-C ends: it has to return soon after [`is_interrupted`] does. Once interrupted, later searches are to return at once, and the next
/// Ctrl-C ends the command.
pub(crate) fn interruptible<T>(search: impl FnOnce() -> T) -> T {
    let flags = flags();
    flags.ends_command.store(is_interrupted(), Ordering::Relaxed);
    let found = search();
    flags.ends_command.store(true, Ordering::Relaxed);
    found
}

/// Returns true if Ctrl-C ended a search of this command.
pub(crate) fn is_interrupted() -> bool {
    flags().is_interrupted.load(Ordering::Relaxed)
}

/// Forgets Ctrl-C that was meant for a program that the command ran.
#[cfg(unix)]
pub(crate) fn forget() {
    flags().is_interrupted.store(false, Ordering::Relaxed);
}
