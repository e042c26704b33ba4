//! Validated runs are validated: the context's layer has synchronization validation on, and its messages arrive.

use tileheap::runtime::{Capabilities, Context, ContextDesc};

use tileheap_testkit::validation::{DELIBERATE, make_mistakes, wanted};

#[test]
fn mistakes_are_collected() {
    if !wanted() {
        return tileheap_testkit::skip("the run is not validated: TILEHEAP_VALIDATE=1 is not set");
    }
    for without in [Capabilities::empty(), Capabilities::SYNCHRONIZATION_2] {
        let desc = ContextDesc {
            without,
            ..ContextDesc::from_env("tileheap tests")
        };
        let context = Context::new(&desc).expect("a context");
        assert!(
            context
                .validation_version()
                .is_some_and(|version| version >= tileheap_testkit::validation::OLDEST_LAYER)
        );
        let family = context.queues()[0].family;
        // SAFETY: they belong together; the messenger needs VK_EXT_debug_utils.
        unsafe {
            make_mistakes(
                context.instance(),
                context.physical_device(),
                context.device(),
                family,
            )
        };
        let messages = context.destroy();
        let ids: Vec<&str> = messages.iter().map(|message| message.id.as_str()).collect();
        assert_eq!(ids, DELIBERATE, "{messages:?}");
    }
}
