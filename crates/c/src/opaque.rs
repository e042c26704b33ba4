//! Handles, as declared in the header.

/// Receives the messages of functions that fail.
pub struct ErrorT(());
/// A text that the library wrote: a report or a document.
pub struct TextT(());
/// A device in numbers: memory heaps and types, tile memory, limits and features.
pub struct ProfileT(());
/// A validated description of a frame.
pub struct FrameT(());
/// The memory requirements of a frame's resources on a device.
pub struct RequirementsT(());
/// Remembers plans, so that a frame that was planned before is not planned again.
pub struct PlannerT(());
/// The placement of every resource of a frame.
pub struct PlanT(());
/// Another way to run a frame.
pub struct ArrangementT(());
/// Lowers plans into tables, which it owns.
pub struct LowererT(());
/// The previous users of each placement's bytes.
pub struct AliasingT(());
/// Extensions and features that tileheap adds to a `VkDeviceCreateInfo`.
pub struct DeviceAdditionsT(());
/// A device of the program on which frames run.
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

/// An error object: `thCreateError`.
pub type ErrorHandle = *mut ErrorT;
/// A text: reports and documents.
pub type TextHandle = *mut TextT;
/// A device profile: `thCreateProfile`.
pub type ProfileHandle = *mut ProfileT;
/// A frame: `thCreateFrame`.
pub type FrameHandle = *mut FrameT;
/// Memory requirements: `thCreateRequirements`.
pub type RequirementsHandle = *mut RequirementsT;
/// A planner: `thCreatePlanner`.
pub type PlannerHandle = *mut PlannerT;
/// A plan: `thCreatePlan`.
pub type PlanHandle = *mut PlanT;
/// An arrangement: `thCreateArrangement`.
pub type ArrangementHandle = *mut ArrangementT;
/// A lowerer: `thCreateLowerer`.
pub type LowererHandle = *mut LowererT;
/// Previous users of bytes: `thCreateAliasing`.
pub type AliasingHandle = *mut AliasingT;
/// Additions to a device: `thCreateDeviceAdditions`.
pub type DeviceAdditionsHandle = *mut DeviceAdditionsT;
/// A device: `thCreateDevice`.
pub type DeviceHandle = *mut DeviceT;
/// A dynamic frame: `thCreateDynamicFrame`.
pub type DynamicFrameHandle = *mut DynamicFrameT;
/// A recording: `thBeginCommands`.
pub type CommandsHandle = *mut CommandsT;
