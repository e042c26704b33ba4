//! Names for types that the header takes from Vulkan's headers, or declares as plain numbers.

use ash::vk;

/// Declares types that the header generator does not see: it writes the names that `cbindgen.toml` has for them.
macro_rules! hidden {
    ($($(#[$doc:meta])* $name:ident = $type:ty;)*) => {$($(#[$doc])* pub type $name = $type;)*};
}

hidden! {
    /// `PFN_vkGetInstanceProcAddr`, which may be null.
    OptionalGetInstanceProcAddr = Option<vk::PFN_vkGetInstanceProcAddr>;
    /// `VkResult`.
    VulkanResult = vk::Result;
    /// `VkSemaphore`.
    VulkanSemaphore = vk::Semaphore;
    /// `VkClearValue`.
    ClearUnion = vk::ClearValue;
    /// A number that should be one of [`Strategy`](crate::enums::Strategy).
    StrategyValue = u32;
    /// A number that should be one of [`Ladder`](crate::enums::Ladder).
    LadderValue = u32;
    /// A number that should be one of [`PlanMode`](crate::enums::PlanMode).
    PlanModeValue = u32;
    /// A number that should be one of [`ResourceType`](crate::enums::ResourceType).
    ResourceTypeValue = u32;
    /// A number that should be one of [`Persistence`](crate::enums::Persistence).
    PersistenceValue = u32;
    /// A number that should be one of [`TileConstraint`](crate::enums::TileConstraint).
    TileConstraintValue = u32;
    /// A number that should be one of [`ExternalFamily`](crate::enums::ExternalFamily).
    ExternalFamilyValue = u32;
    /// A number that should be one of [`PassType`](crate::enums::PassType).
    PassTypeValue = u32;
    /// A number that should be one of [`SkippedOutputs`](crate::enums::SkippedOutputs).
    SkippedOutputsValue = u32;
    /// A number that should be one of [`AccessKind`](crate::enums::AccessKind).
    AccessKindValue = u32;
    /// A number that should be one of `tileheap::plan::MemoryKind`.
    MemoryKindValue = u32;
    /// A number that should be one of `tileheap::lower::tables::commands::StoreShader`.
    StoreShaderValue = u32;
    /// A number that should be one of [`Dedicated`](crate::enums::Dedicated).
    DedicatedValue = u32;
    /// A number that should be one of [`NameKind`](crate::enums::NameKind).
    NameKindValue = u32;
    /// A number that should be one of [`ReportFormat`](crate::enums::ReportFormat).
    ReportFormatValue = u32;
    /// Bits of [`FeatureFlag`](crate::enums::FeatureFlag).
    FeatureFlags = u32;
    /// Bits of [`ResourceFlag`](crate::enums::ResourceFlag).
    ResourceFlags = u32;
    /// Bits of [`PassFlag`](crate::enums::PassFlag).
    PassFlags = u32;
    /// Bits of [`AccessFlag`](crate::enums::AccessFlag).
    AccessFlags = u32;
    /// Bits of [`PlanFlag`](crate::enums::PlanFlag).
    PlanFlags = u32;
    /// Bits of [`SearchFlag`](crate::enums::SearchFlag).
    SearchFlags = u32;
}
