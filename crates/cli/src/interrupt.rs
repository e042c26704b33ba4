//! Lets Ctrl-C end a search with the best answer so far; a second Ctrl-C, or one outside a search, ends the command.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

/// The flag that Ctrl-C sets; if it is already set, Ctrl-C ends the command.
pub(crate) fn interrupt() -> &'static Arc<AtomicBool> {
    static STOP: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    STOP.get_or_init(|| {
        let stop = Arc::new(AtomicBool::new(false));
        #[cfg(unix)]
        {
            use signal_hook::consts::SIGINT;
            use signal_hook::flag::{register, register_conditional_default};
            // If Ctrl-C cannot be caught, it ends the command.
            let caught = register_conditional_default(SIGINT, stop.clone());
            let _ = caught.and_then(|_| register(SIGINT, stop.clone()));
        }
        stop
    })
}
