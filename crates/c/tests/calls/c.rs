//! The functions, with Rust's strings and results.

use std::mem::MaybeUninit;
use std::ptr::null_mut;

use tileheap_c::frame::*;
use tileheap_c::frame_desc::FrameDesc;
use tileheap_c::opaque::*;
use tileheap_c::plan::*;
use tileheap_c::profile::*;
use tileheap_c::requirements::*;
use tileheap_c::status::Status;
use tileheap_c::strings::StringView;
use tileheap_c::text::*;

/// A status and its message.
pub(crate) type Result<T> = std::result::Result<T, (Status, String)>;

pub(crate) fn view(text: &str) -> StringView {
    StringView {
        data: text.as_ptr().cast(),
        length: text.len(),
    }
}

/// The characters of a string of the library.
pub(crate) fn string(view: StringView) -> String {
    // SAFETY: the library's strings are valid, and these are copied at once.
    let bytes = unsafe { std::slice::from_raw_parts(view.data.cast::<u8>(), view.length) };
    std::str::from_utf8(bytes).unwrap().to_owned()
}

/// The message of an error object.
pub(crate) fn message_of(error: ErrorHandle) -> String {
    let mut message = view("");
    // SAFETY: it can be written.
    assert_eq!(unsafe { get_error_message(error, &mut message) }, Status::Success);
    string(message)
}

/// Calls a function with an error object; returns its message if it fails.
pub(crate) fn call(function: impl FnOnce(ErrorHandle) -> Status) -> Result<()> {
    let mut error = null_mut();
    // SAFETY: it can be written.
    assert_eq!(unsafe { create_error(&mut error) }, Status::Success);
    let status = function(error);
    let message = message_of(error);
    assert_eq!(destroy_error(error), Status::Success);
    match status {
        Status::Success | Status::Incomplete => Ok(()),
        status => Err((status, message)),
    }
}

/// Calls a function that returns a value.
pub(crate) fn get<T>(function: impl FnOnce(*mut T, ErrorHandle) -> Status) -> Result<T> {
    let mut value = MaybeUninit::zeroed();
    call(|error| function(value.as_mut_ptr(), error))?;
    // SAFETY: the function has succeeded, and written it.
    Ok(unsafe { value.assume_init() })
}

/// Calls a function that fills a structure that begins with its size.
pub(crate) fn fill<T: Copy>(function: impl FnOnce(*mut T, ErrorHandle) -> Status) -> Result<T> {
    let mut value = MaybeUninit::<T>::zeroed();
    // SAFETY: structures begin with their size.
    unsafe { value.as_mut_ptr().cast::<u32>().write(size_of::<T>() as u32) };
    call(|error| function(value.as_mut_ptr(), error))?;
    // SAFETY: it was all zeros, and the function has succeeded.
    Ok(unsafe { value.assume_init() })
}

/// A structure with its size, otherwise zeros.
pub(crate) fn sized<T: Copy>() -> T {
    let mut value = MaybeUninit::<T>::zeroed();
    // SAFETY: structures begin with their size.
    unsafe { value.as_mut_ptr().cast::<u32>().write(size_of::<T>() as u32) };
    // SAFETY: they consist of numbers and pointers.
    unsafe { value.assume_init() }
}

pub(crate) fn slice<'a, T>(rows: *const T, count: u32) -> &'a [T] {
    if count == 0 {
        assert!(rows.is_null());
        return &[];
    }
    // SAFETY: the library's arrays are valid, and tests use them before they are not.
    unsafe { std::slice::from_raw_parts(rows, count as usize) }
}

/// A text that a function writes.
pub(crate) fn text(function: impl FnOnce(*mut TextHandle, ErrorHandle) -> Status) -> Result<String> {
    let text = get(function)?;
    // SAFETY: it can be written.
    let written = string(get(|to, error| unsafe { get_text(text, to, error) })?);
    assert_eq!(destroy_text(text), Status::Success);
    Ok(written)
}

pub(crate) fn profile(name: &str) -> ProfileHandle {
    // SAFETY: the text is alive.
    get(|to, error| unsafe { create_profile(view(name), to, error) }).unwrap()
}

/// # Safety
/// The description's pointers are valid.
pub(crate) unsafe fn frame(desc: *const FrameDesc) -> Result<FrameHandle> {
    // SAFETY: the caller's promise.
    get(|to, error| unsafe { create_frame(desc, to, error) })
}

pub(crate) fn frame_from_json(json: &str) -> Result<FrameHandle> {
    // SAFETY: the text is alive.
    get(|to, error| unsafe { create_frame_from_json(view(json), std::ptr::null(), to, error) })
}

pub(crate) fn estimated(frame: FrameHandle, profile: ProfileHandle) -> Result<RequirementsHandle> {
    // SAFETY: it can be written.
    get(|to, error| unsafe { create_estimated_requirements(frame, profile, to, error) })
}

/// A plan from estimated requirements.
pub(crate) fn plan(
    frame: FrameHandle,
    profile: ProfileHandle,
    options: &PlanOptionsDesc,
) -> Result<PlanHandle> {
    let requirements = estimated(frame, profile)?;
    let desc = PlanDesc {
        frame,
        requirements,
        profile,
        options,
        ..sized()
    };
    // SAFETY: everything is alive.
    let plan = get(|to, error| unsafe { create_plan(&desc, to, error) });
    call(|_| destroy_requirements(requirements))?;
    plan
}
