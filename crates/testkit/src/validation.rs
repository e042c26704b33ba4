//! Validated runs: checks that the layer is new enough, that it reports mistakes, and that it reports only those made on purpose.
//!
//! A run is validated if `TILEHEAP_VALIDATE=1`, as set by `scripts/run-in-testbed.sh`.

use ash::vk;
use tileheap::profile::TILE_HEAP_FLAG;
use tileheap::runtime::context::ValidationMessage;
use tileheap::runtime::{Capabilities, Context, ContextDesc};

use crate::objects::{Objects, command_buffers, record};
use crate::tile_mistake;

/// The oldest released layer that knows all rules of tile memory (the VUs 12327 to 12330 came with header 1.4.338).
pub const OLDEST_LAYER: u32 = vk::make_api_version(0, 1, 4, 341);

/// The messages that [`make_mistakes`] causes: one of core validation, one of synchronization validation.
pub const DELIBERATE: [&str; 2] = ["VUID-vkCmdFillBuffer-size-00028", "SYNC-HAZARD-WRITE-AFTER-WRITE"];

/// Creates a context, validated if the run is. Then makes mistakes on purpose, and checks that their messages arrive: these are the context's first
/// messages. A context without `VK_EXT_debug_utils` receives no messages; only the layer's own log has them.
///
/// # Panics
/// If the context cannot be created, or receives messages other than those of [`DELIBERATE`] mistakes.
pub fn context(desc: &ContextDesc<'_>) -> Context {
    let desc = ContextDesc {
        validate: is_requested(),
        ..desc.clone()
    };
    let mut context = Context::new(&desc).unwrap_or_else(|error| panic!("{error}"));
    if desc.validate && !desc.without.contains(Capabilities::DEBUG_UTILS) {
        assert_new_enough(context.entry());
        let family = context.queues()[0].family;
        // SAFETY: all of one context, with a queue of that family.
        unsafe {
            make_mistakes(
                context.instance(),
                context.physical_device(),
                context.device(),
                family,
            )
        };
        if has_tile_memory(&context) {
            context = tile_mistake::record_mistake(context);
        }
        assert_eq!(
            ids(&context.messages()),
            deliberate(&context),
            "the messages after deliberate mistakes"
        );
    }
    context
}

/// Destroys a context created by [`context`].
///
/// # Panics
/// If there were messages other than those of the deliberate mistakes and those in `false_positives.txt`.
pub fn finish(context: Context) {
    let said = destroy(context);
    assert!(said.is_empty(), "Vulkan said: {said:#?}");
}

/// Destroys a context without panicking; returns the unexpected messages.
pub(crate) fn destroy(context: Context) -> Vec<ValidationMessage> {
    let deliberate = deliberate(&context);
    without(&deliberate, context.destroy())
}

/// The messages of a context, without those of deliberate mistakes and those in `false_positives.txt`.
pub(crate) fn unexpected(context: &Context, messages: Vec<ValidationMessage>) -> Vec<ValidationMessage> {
    without(&deliberate(context), messages)
}

fn without(deliberate: &[&str], mut messages: Vec<ValidationMessage>) -> Vec<ValidationMessage> {
    let first = messages.get(..deliberate.len());
    if first.is_some_and(|first| ids(first) == deliberate) {
        messages.drain(..deliberate.len());
    }
    messages.retain(|message| !is_excused(message));
    messages
}

/// The messages about deliberate mistakes that a context should receive: with tile memory, also those about the tile memory mistake.
fn deliberate(context: &Context) -> Vec<&'static str> {
    let tile = if has_tile_memory(context) {
        &tile_mistake::DELIBERATE[..]
    } else {
        &[]
    };
    [&DELIBERATE[..], tile].concat()
}

fn has_tile_memory(context: &Context) -> bool {
    context.runtime().profile().tile.is_some()
}

fn ids(messages: &[ValidationMessage]) -> Vec<&str> {
    messages.iter().map(|message| message.id.as_str()).collect()
}

/// Returns true if `false_positives.txt` lists the message.
fn is_excused(message: &ValidationMessage) -> bool {
    let lines = include_str!("false_positives.txt")
        .lines()
        .filter(|line| !line.starts_with('#'));
    lines.map(|line| line.splitn(3, " | ")).any(|mut fields| {
        fields.next() == Some(&message.id) && fields.next().is_some_and(|place| message.text.contains(place))
    })
}

/// Returns true if `TILEHEAP_VALIDATE=1` requests a validated run.
pub fn is_requested() -> bool {
    std::env::var_os("TILEHEAP_VALIDATE").is_some_and(|value| value == "1")
}

/// The validation layer's version, if it is installed.
pub fn layer_version(entry: &ash::Entry) -> Option<u32> {
    // SAFETY: enumerating has no precondition.
    let layers = unsafe { entry.enumerate_instance_layer_properties() }.expect("the loader lists its layers");
    let validation = layers
        .iter()
        .find(|layer| layer.layer_name_as_c_str() == Ok(c"VK_LAYER_KHRONOS_validation"));
    validation.map(|layer| layer.spec_version)
}

/// Asserts that the validation layer exists and knows the rules of tile memory.
pub fn assert_new_enough(entry: &ash::Entry) {
    let version = layer_version(entry).expect("a validated run needs VK_LAYER_KHRONOS_validation");
    let (minor, patch) = (vk::api_version_minor(version), vk::api_version_patch(version));
    assert!(
        version >= OLDEST_LAYER,
        "validation layer 1.{minor}.{patch} does not know the rules of tile memory: 1.4.341 or newer is needed"
    );
}

/// Makes the two mistakes whose messages [`DELIBERATE`] lists: a fill whose size is not a multiple of 4, and a second
/// fill of the same bytes without a barrier between them. Nothing is submitted.
///
/// # Safety
/// `instance`, `physical_device` and `device` belong together and are alive, the instance with `VK_EXT_debug_utils`; `device` has
/// a queue of `family`.
pub unsafe fn make_mistakes(
    instance: &ash::Instance,
    physical_device: vk::PhysicalDevice,
    device: &ash::Device,
    family: u32,
) {
    let objects = Objects::default();
    // SAFETY: `physical_device` is `instance`'s.
    let types = unsafe { instance.get_physical_device_memory_properties(physical_device) };
    let is_ordinary = |kind: &vk::MemoryType| {
        let heap = types.memory_heaps[kind.heap_index as usize];
        !heap.flags.contains(TILE_HEAP_FLAG)
    };
    let each = (0u32..).zip(types.memory_types_as_slice());
    let ordinary = each.fold(0, |bits, (index, kind)| {
        bits | u32::from(is_ordinary(kind)) << index
    });
    let info = vk::BufferCreateInfo::default()
        .size(256)
        .usage(vk::BufferUsageFlags::TRANSFER_DST);
    let (buffer, _) = objects.buffer(device, &info, ordinary);
    let utils = ash::ext::debug_utils::Device::new(instance, device);
    let name = vk::DebugUtilsObjectNameInfoEXT::default()
        .object_handle(buffer)
        .object_name(tile_mistake::DELIBERATE_NAME);
    // SAFETY: `buffer` is `device`'s.
    unsafe { utils.set_debug_utils_object_name(&name) }.expect("a name for a buffer");
    let pool = vk::CommandPoolCreateInfo::default().queue_family_index(family);
    let pool = objects.create(device, &pool);
    let commands = command_buffers(device, pool, vk::CommandBufferLevel::PRIMARY, 1)[0];
    record(device, commands, &Default::default(), || {
        for size in [254, 256] {
            // SAFETY: recording, and inside a transfer destination of 256 bytes. The rest is wrong on purpose and is never submitted.
            unsafe { device.cmd_fill_buffer(commands, buffer, 0, size, 0) };
        }
    });
    objects.destroy(device);
}
