//! Handles, as declared in the header.

/// Receives the messages of functions that fail.
pub struct ErrorT(());
/// Text that the library wrote: a report or a document.
pub struct TextT(());
/// The properties of a device: memory heaps and types, tile memory, limits and features.
pub struct ProfileT(());
/// A validated description of a frame.
pub struct FrameT(());
/// The memory requirements of a frame's resources on a device.
pub struct RequirementsT(());
/// Remembers plans, so that a frame that was planned before is not planned again.
pub struct PlannerT(());
/// The placement of every resource of a frame.
pub struct PlanT(());
/// A frame rearranged to keep more traffic on chip: passes in another order, merged or run in strips, and fused batches.
pub struct ArrangementT(());
/// Lowers plans into tables, which it owns.
pub struct LowererT(());
/// The previous users of each placement's bytes.
pub struct AliasingT(());
/// Extensions and features that tileheap adds to a `VkDeviceCreateInfo`.
pub struct DeviceAdditionsT(());
/// A device that the program created, on which frames run.
pub struct DeviceT(());
/// A frame whose description may change from frame to frame.
///
/// ```text
///        thSelectFrame        thBeginFrame           thSubmitFrame
/// idle ---------------> selected ---------> recording -----------> idle
///   ^                                           | thDiscardFrame
///   +-------------------------------------------+
/// ```
/// Every frame is selected, even if its description has not changed. Frames of a dynamic frame execute one after another on the device and share all
/// images and buffers. Only command buffers, pools, imported objects and data written by the host need a copy per frame in flight.
pub struct DynamicFrameT(());
/// The recording of one command buffer.
pub struct CommandsT(());

/// An error object; see `thCreateError`.
pub type ErrorHandle = *mut ErrorT;
/// A report or a document as text.
pub type TextHandle = *mut TextT;
/// A device profile; see `thCreateProfile`.
pub type ProfileHandle = *mut ProfileT;
/// A frame; see `thCreateFrame`.
pub type FrameHandle = *mut FrameT;
/// Memory requirements; see `thCreateRequirements`.
pub type RequirementsHandle = *mut RequirementsT;
/// A planner; see `thCreatePlanner`.
pub type PlannerHandle = *mut PlannerT;
/// A plan; see `thCreatePlan`.
pub type PlanHandle = *mut PlanT;
/// An arrangement; see `thCreateArrangement`.
pub type ArrangementHandle = *mut ArrangementT;
/// A lowerer; see `thCreateLowerer`.
pub type LowererHandle = *mut LowererT;
/// Previous users of bytes; see `thCreateAliasing`.
pub type AliasingHandle = *mut AliasingT;
/// Additions to a device; see `thCreateDeviceAdditions`.
pub type DeviceAdditionsHandle = *mut DeviceAdditionsT;
/// A device; see `thCreateDevice`.
pub type DeviceHandle = *mut DeviceT;
/// A dynamic frame; see `thCreateDynamicFrame`.
pub type DynamicFrameHandle = *mut DynamicFrameT;
/// A recording; see `thBeginCommands`.
pub type CommandsHandle = *mut CommandsT;
