//! The flags of Vulkan 1.1 for those of synchronization2.

use ash::vk;

/// The older access flags. Those that synchronization2 split are joined again.
///
/// Source: VK_KHR_synchronization2, "Interactions": the low 32 bits are the same flags.
pub(super) fn access(flags: vk::AccessFlags2) -> vk::AccessFlags {
    use vk::AccessFlags2 as A;
    let mut old = vk::AccessFlags::from_raw(flags.as_raw() as u32);
    if flags.intersects(A::SHADER_SAMPLED_READ | A::SHADER_STORAGE_READ) {
        old |= vk::AccessFlags::SHADER_READ;
    }
    if flags.intersects(A::SHADER_STORAGE_WRITE) {
        old |= vk::AccessFlags::SHADER_WRITE;
    }
    old
}

/// The older stages that are waited for; the top of the pipe where there are none.
pub(super) fn source_stages(flags: vk::PipelineStageFlags2) -> vk::PipelineStageFlags {
    stages(flags, vk::PipelineStageFlags::TOP_OF_PIPE)
}

/// The older stages that wait; the bottom of the pipe where there are none.
pub(super) fn destination_stages(flags: vk::PipelineStageFlags2) -> vk::PipelineStageFlags {
    stages(flags, vk::PipelineStageFlags::BOTTOM_OF_PIPE)
}

fn stages(flags: vk::PipelineStageFlags2, none: vk::PipelineStageFlags) -> vk::PipelineStageFlags {
    use vk::PipelineStageFlags2 as S;
    let mut old = vk::PipelineStageFlags::from_raw(flags.as_raw() as u32);
    if flags.intersects(S::COPY | S::RESOLVE | S::BLIT | S::CLEAR) {
        old |= vk::PipelineStageFlags::TRANSFER;
    }
    if flags.intersects(S::INDEX_INPUT | S::VERTEX_ATTRIBUTE_INPUT) {
        old |= vk::PipelineStageFlags::VERTEX_INPUT;
    }
    if flags.contains(S::PRE_RASTERIZATION_SHADERS) {
        // Naming tessellation or geometry shaders needs their features.
        old |= vk::PipelineStageFlags::ALL_GRAPHICS;
    }
    if old.is_empty() { none } else { old }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_flags_are_joined_again() {
        use vk::{AccessFlags2 as A, PipelineStageFlags2 as S};
        assert_eq!(access(A::SHADER_SAMPLED_READ | A::UNIFORM_READ), {
            vk::AccessFlags::SHADER_READ | vk::AccessFlags::UNIFORM_READ
        });
        assert_eq!(access(A::SHADER_STORAGE_WRITE), vk::AccessFlags::SHADER_WRITE);
        assert_eq!(source_stages(S::ALL_TRANSFER), vk::PipelineStageFlags::TRANSFER);
        assert_eq!(source_stages(S::COPY), vk::PipelineStageFlags::TRANSFER);
        assert_eq!(
            source_stages(S::INDEX_INPUT),
            vk::PipelineStageFlags::VERTEX_INPUT
        );
        assert_eq!(source_stages(S::NONE), vk::PipelineStageFlags::TOP_OF_PIPE);
        assert_eq!(
            destination_stages(S::NONE),
            vk::PipelineStageFlags::BOTTOM_OF_PIPE
        );
        assert_eq!(
            destination_stages(S::ALL_COMMANDS),
            vk::PipelineStageFlags::ALL_COMMANDS
        );
    }
}
