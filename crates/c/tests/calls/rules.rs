//! Errors include the rule of Vulkan that a description breaks.

use std::ptr::null_mut;

use tileheap_c::frame::*;
use tileheap_c::frame_desc::*;
use tileheap_c::opaque::*;
use tileheap_c::profile::*;
use tileheap_c::requirements::*;
use tileheap_c::status::Status;
use tileheap_c::text::*;

use super::c::{self, call, view};
use super::small::small;

/// The rule in an error object after a function was called with it.
fn rule_of(function: impl FnOnce(ErrorHandle) -> Status) -> (Status, String) {
    let mut error = null_mut();
    // SAFETY: it can be written.
    assert_eq!(unsafe { create_error(&mut error) }, Status::Success);
    let status = function(error);
    let mut rule = view("unset");
    // SAFETY: it can be written.
    assert_eq!(unsafe { get_error_rule(error, &mut rule) }, Status::Success);
    let rule = c::string(rule);
    assert_eq!(destroy_error(error), Status::Success);
    (status, rule)
}

#[test]
fn errors_have_the_rule_of_vulkan_that_a_description_breaks() {
    let create = |desc: &FrameDesc| {
        let mut frame = null_mut();
        // SAFETY: everything is alive.
        rule_of(|error| unsafe { create_frame(desc, &mut frame, error) })
    };
    let mut many = small();
    many.resources[0].mip_levels = 30;
    many.create().unwrap_err();
    let expected = "VUID-VkImageCreateInfo-mipLevels-00958".to_owned();
    assert_eq!(create(&many.frame), (Status::ErrorInvalidFrame, expected));

    let mut unnamed = small();
    unnamed.passes[1].name = view("gbuffer");
    unnamed.create().unwrap_err();
    assert_eq!(create(&unnamed.frame), (Status::ErrorInvalidFrame, String::new()));

    let mut large = small();
    large.frame.base_extent.width = 1 << 20;
    let frame = large.create().unwrap();
    let profile = c::profile("adreno-830");
    let mut count = 0;
    // SAFETY: the count can be written.
    let refused =
        rule_of(|error| unsafe { get_requirement_queries(frame, profile, &mut count, null_mut(), error) });
    let expected = "VUID-VkImageCreateInfo-extent-02252".to_owned();
    assert_eq!(refused, (Status::ErrorCannotPlan, expected));
    call(|_| destroy_frame(frame)).unwrap();

    // Estimates need only the largest allocation; the other limits are those of planning.
    let mut wide = small();
    wide.frame.base_extent.width = 200_000;
    wide.frame.base_extent.height = 4;
    let frame = wide.create().unwrap();
    call(|_| destroy_requirements(c::estimated(frame, profile).unwrap())).unwrap();
    let refused = c::plan(frame, profile, &c::sized()).unwrap_err();
    assert_eq!(refused.0, Status::ErrorCannotPlan, "{refused:?}");
    assert!(refused.1.contains("maxImageDimension2D"), "{refused:?}");
    call(|_| destroy_frame(frame)).unwrap();
    call(|_| destroy_profile(profile)).unwrap();
}
