//! The action commands of the registry, except those that begin and end render passes or execute secondary command buffers.
//!
//! Source: `tasks="action"` in `vk.xml` of header 1.4.363; structures that ash 0.38 lacks are passed as plain pointers. The first word before each
//! command is the [`ReachableDescriptors`]: `Draw` commands are inside render passes, where the bound tile memory cannot change; before any other
//! command it can, and that command may then discard contents. The second word is [`Writes`].

use std::ffi::c_void;

use ash::vk;

use super::unseen_writes::UnseenWrites;

/// The kind of resources that an action command can access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReachableDescriptors {
    /// Graphics descriptors.
    Draw,
    /// Compute descriptors.
    Dispatch,
    /// Ray tracing descriptors.
    TraceRays,
    /// Buffers and images in the command's arguments.
    Transfer,
    /// No resources that the layer tracks.
    Other,
}

/// The kind of writes that a command performs and that the layer does not see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writes {
    /// No unseen writes: the command writes only through descriptors, to attachments and to resources in its arguments, or to untracked
    /// memory.
    Known,
    /// To memory by address.
    Address,
    /// To an image in the command's arguments; the regions to write are read from memory.
    ToImage,
    /// To a buffer in the command's arguments.
    Marker,
    /// Through shaders that are unknown to the layer.
    Shader,
    /// To acceleration structures, and by address to scratch memory and to buffers for their sizes.
    Acceleration,
    /// To micromaps, and by address to scratch memory.
    Micromap,
    /// To pictures and bitstreams.
    Video,
    /// To objects of any kind.
    Anything,
}

impl Writes {
    /// The kinds of unseen writes that the command may perform.
    pub(crate) const fn unseen(self) -> UnseenWrites {
        use UnseenWrites as U;
        match self {
            Writes::Known => U::NONE,
            Writes::Address => U::ADDRESSES,
            Writes::ToImage => U::IMAGE_COPIES,
            Writes::Marker => U::MARKERS,
            Writes::Shader => U::DESCRIPTORS.or(U::ADDRESSES),
            Writes::Acceleration => U::ACCELERATION_STRUCTURES.or(U::ADDRESSES),
            Writes::Micromap => U::MICROMAPS.or(U::ADDRESSES),
            Writes::Video => U::VIDEO,
            Writes::Anything => U::ANYTHING,
        }
    }
}

/// Returns `false` for commands that may do nothing, depending on the GPU or on parameters that the layer does not read.
pub(crate) const fn certainly_acts(command: &str) -> bool {
    !contains(command, "Indirect")
        && !contains(command, "GeneratedCommands")
        && !contains(command, "DrawMulti")
}

/// The state of conditional rendering after a command; `None` if the command does not change it.
pub(crate) const fn changes_conditional(command: &str) -> Option<bool> {
    if contains(command, "BeginConditionalRendering") {
        Some(true)
    } else if contains(command, "EndConditionalRendering") {
        Some(false)
    } else {
        None
    }
}

const fn contains(text: &str, part: &str) -> bool {
    let (text, part) = (text.as_bytes(), part.as_bytes());
    let mut first = 0;
    while first + part.len() <= text.len() {
        let mut length = 0;
        while length < part.len() && text[first + length] == part[length] {
            length += 1;
        }
        if length == part.len() {
            return true;
        }
        first += 1;
    }
    false
}

/// The rule that a draw, dispatch or trace rays command breaks if it accesses a tile memory object other than the bound one; `None` for commands that
/// have no such rule.
///
/// Source: the identifiers in the validation layers 1.4.363. Commands with several names use the core name.
pub(crate) fn wrong_object_rule(reachable: ReachableDescriptors, command: &str) -> Option<String> {
    use ReachableDescriptors as R;
    let has_rule = matches!(reachable, R::Draw | R::Dispatch | R::TraceRays);
    let has_none = matches!(
        command,
        "vkCmdBeginCustomResolveEXT" | "vkCmdDispatchDataGraphARM"
    );
    let name = match command {
        "vkCmdDispatchBaseKHR" => "vkCmdDispatchBase",
        "vkCmdDrawIndirectCountKHR" | "vkCmdDrawIndirectCountAMD" => "vkCmdDrawIndirectCount",
        "vkCmdDrawIndexedIndirectCountKHR" | "vkCmdDrawIndexedIndirectCountAMD" => {
            "vkCmdDrawIndexedIndirectCount"
        }
        name => name,
    };
    (has_rule && !has_none).then(|| format!("VUID-{name}-commandBuffer-10746"))
}

/// Passes every action command to the macro `$for_each`, as `reachable writes commands: (arguments => operation; result);`. Each line has the
/// commands with one signature, and the `Transfer` or `Fetch` that describes them. `array!` and `given!` read what the application passes.
macro_rules! action_commands {
    ($for_each:ident) => {
        $for_each! {
    Draw Known vkCmdDraw: (vertex_count: u32, instance_count: u32, first_vertex: u32, first_instance: u32
        => Fetch::vertices(vertex_count, instance_count, first_vertex, first_instance));
    Draw Known vkCmdDrawIndexed: (index_count: u32, instance_count: u32, first_index: u32, vertex_offset: i32,
        first_instance: u32 => Fetch::indices(index_count, instance_count, first_index, first_instance));
    Draw Known vkCmdDrawMultiEXT: (draw_count: u32, p_vertex_info: *const c_void, instance_count: u32,
        first_instance: u32, stride: u32 => Fetch::UNKNOWN);
    Draw Known vkCmdDrawMultiIndexedEXT: (draw_count: u32, p_index_info: *const c_void, instance_count: u32,
        first_instance: u32, stride: u32, p_vertex_offset: *const c_void => Fetch::UNKNOWN_INDEXED);
    Draw Known vkCmdDrawIndirect: (buffer: vk::Buffer, offset: vk::DeviceSize, draw_count: u32, stride: u32
        => Fetch::indirect_draws::<vk::DrawIndirectCommand>(false, (buffer, offset), draw_count, stride));
    Draw Known vkCmdDrawIndexedIndirect: (buffer: vk::Buffer, offset: vk::DeviceSize, draw_count: u32,
        stride: u32
        => Fetch::indirect_draws::<vk::DrawIndexedIndirectCommand>(true, (buffer, offset), draw_count, stride));
    Draw Known vkCmdDrawMeshTasksIndirectNV: (buffer: vk::Buffer, offset: vk::DeviceSize, draw_count: u32,
        stride: u32
        => Fetch::indirect_groups::<vk::DrawMeshTasksIndirectCommandNV>(buffer, offset, draw_count, stride));
    Draw Known vkCmdDrawMeshTasksIndirectEXT: (buffer: vk::Buffer, offset: vk::DeviceSize, draw_count: u32,
        stride: u32
        => Fetch::indirect_groups::<vk::DrawMeshTasksIndirectCommandEXT>(buffer, offset, draw_count, stride));
    Dispatch Known vkCmdDispatch: (group_count_x: u32, group_count_y: u32, group_count_z: u32
        => Fetch::groups(group_count_x, group_count_y, group_count_z));
    Dispatch Known vkCmdDispatchIndirect: (buffer: vk::Buffer, offset: vk::DeviceSize
        => Fetch::indirect_groups::<vk::DispatchIndirectCommand>(buffer, offset, 1, 0));
    Draw Shader vkCmdSubpassShadingHUAWEI: ();
    Draw Known vkCmdDrawClusterHUAWEI vkCmdDrawMeshTasksEXT: (group_count_x: u32, group_count_y: u32,
        group_count_z: u32 => Fetch::groups(group_count_x, group_count_y, group_count_z));
    Draw Known vkCmdDrawClusterIndirectHUAWEI: (buffer: vk::Buffer, offset: vk::DeviceSize
        => Fetch::indirect_groups::<vk::DispatchIndirectCommand>(buffer, offset, 1, 0));
    Other Address vkCmdUpdatePipelineIndirectBufferNV: (pipeline_bind_point: vk::PipelineBindPoint,
        pipeline: vk::Pipeline);
    Transfer Known vkCmdCopyBuffer: (src_buffer: vk::Buffer, dst_buffer: vk::Buffer, region_count: u32,
        p_regions: *const vk::BufferCopy
        => Transfer::Copy(src_buffer, dst_buffer, Regions::V1(array!(p_regions, region_count))));
    Transfer Known vkCmdCopyImage: (src_image: vk::Image, src_image_layout: vk::ImageLayout,
        dst_image: vk::Image, dst_image_layout: vk::ImageLayout, region_count: u32,
        p_regions: *const vk::ImageCopy
        => Transfer::Images(src_image, dst_image, ImageRegions::Copies(Regions::V1(array!(p_regions,
            region_count)))));
    Transfer Known vkCmdResolveImage: (src_image: vk::Image, src_image_layout: vk::ImageLayout,
        dst_image: vk::Image, dst_image_layout: vk::ImageLayout, region_count: u32,
        p_regions: *const vk::ImageResolve
        => Transfer::Images(src_image, dst_image, ImageRegions::Resolves(Regions::V1(array!(p_regions,
            region_count)))));
    Transfer Known vkCmdBlitImage: (src_image: vk::Image, src_image_layout: vk::ImageLayout,
        dst_image: vk::Image, dst_image_layout: vk::ImageLayout, region_count: u32,
        p_regions: *const vk::ImageBlit, filter: vk::Filter
        => Transfer::Images(src_image, dst_image, ImageRegions::Blits(filter, Regions::V1(array!(p_regions,
            region_count)))));
    Transfer Known vkCmdCopyBufferToImage: (src_buffer: vk::Buffer, dst_image: vk::Image,
        dst_image_layout: vk::ImageLayout, region_count: u32, p_regions: *const vk::BufferImageCopy
        => Transfer::Upload(src_buffer, dst_image, Regions::V1(array!(p_regions, region_count))));
    Transfer Known vkCmdCopyImageToBuffer: (src_image: vk::Image, src_image_layout: vk::ImageLayout,
        dst_buffer: vk::Buffer, region_count: u32, p_regions: *const vk::BufferImageCopy
        => Transfer::Download(src_image, dst_buffer, Regions::V1(array!(p_regions, region_count))));
    Other Address vkCmdCopyMemoryIndirectNV: (copy_buffer_address: vk::DeviceAddress, copy_count: u32,
        stride: u32);
    Transfer Known vkCmdCopyImage2 vkCmdCopyImage2KHR: (info: *const vk::CopyImageInfo2<'_>
        => Transfer::copy_image(given!(info)));
    Transfer Known vkCmdBlitImage2 vkCmdBlitImage2KHR: (info: *const vk::BlitImageInfo2<'_>
        => Transfer::blit(given!(info)));
    Transfer Known vkCmdResolveImage2 vkCmdResolveImage2KHR: (info: *const vk::ResolveImageInfo2<'_>
        => Transfer::resolve(given!(info)));
    Other Known vkCmdSetCheckpointNV vkCmdBeginVideoCodingKHR vkCmdControlVideoCodingKHR vkCmdEndVideoCodingKHR
        vkCmdBeginConditionalRendering2EXT: (info: *const c_void);
    Transfer Known vkCmdBeginConditionalRenderingEXT: (info: *const vk::ConditionalRenderingBeginInfoEXT<'_>
        => Transfer::predicate(given!(info)));
    Other Address vkCmdCopyMemoryIndirectKHR vkCmdCopyAccelerationStructureToMemoryKHR vkCmdDecompressMemoryEXT
        vkCmdCopyMicromapToMemoryEXT vkCmdCopyMemoryKHR vkCmdCopyImageToMemoryKHR vkCmdWriteMarkerToMemoryAMD:
        (info: *const c_void);
    Other ToImage vkCmdCopyMemoryToImageIndirectKHR vkCmdCopyMemoryToImageKHR: (info: *const c_void);
    Other Acceleration vkCmdCopyAccelerationStructureKHR vkCmdCopyMemoryToAccelerationStructureKHR
        vkCmdBuildClusterAccelerationStructureIndirectNV vkCmdBuildPartitionedAccelerationStructuresNV:
        (info: *const c_void);
    Other Micromap vkCmdCopyMicromapEXT vkCmdCopyMemoryToMicromapEXT: (info: *const c_void);
    Other Video vkCmdDecodeVideoKHR vkCmdEncodeVideoKHR: (info: *const c_void);
    Other Anything vkCmdPreprocessGeneratedCommandsNV vkCmdCuLaunchKernelNVX vkCmdCudaLaunchKernelNV
        vkCmdCopyTensorARM: (info: *const c_void);
    Other ToImage vkCmdCopyMemoryToImageIndirectNV: (copy_buffer_address: vk::DeviceAddress, copy_count: u32,
        stride: u32, dst_image: vk::Image, dst_image_layout: vk::ImageLayout,
        p_image_subresources: *const c_void);
    Transfer Known vkCmdUpdateBuffer: (dst_buffer: vk::Buffer, dst_offset: vk::DeviceSize,
        data_size: vk::DeviceSize, p_data: *const c_void => Transfer::Fill(dst_buffer, dst_offset, data_size));
    Transfer Known vkCmdFillBuffer: (dst_buffer: vk::Buffer, dst_offset: vk::DeviceSize, size: vk::DeviceSize,
        data: u32 => Transfer::Fill(dst_buffer, dst_offset, size));
    Transfer Known vkCmdClearColorImage vkCmdClearDepthStencilImage: (image: vk::Image,
        image_layout: vk::ImageLayout, info: *const c_void, range_count: u32,
        p_ranges: *const vk::ImageSubresourceRange => Transfer::Clear(image, array!(p_ranges, range_count)));
    Other Known vkCmdClearAttachments: (attachment_count: u32, p_attachments: *const c_void, rect_count: u32,
        p_rects: *const c_void);
    Other Known vkCmdBeginQuery: (query_pool: vk::QueryPool, query: u32, flags: vk::QueryControlFlags);
    Other Known vkCmdEndQuery: (query_pool: vk::QueryPool, query: u32);
    Other Known vkCmdEndConditionalRenderingEXT vkCmdEndShaderInstrumentationARM: ();
    Draw Known vkCmdBeginCustomResolveEXT vkCmdDrawMeshTasksIndirect2EXT vkCmdDrawMeshTasksIndirectCount2EXT:
        (info: *const c_void);
    Draw Known vkCmdDrawIndirect2KHR vkCmdDrawIndirectCount2KHR: (info: *const c_void => Fetch::UNKNOWN);
    Draw Known vkCmdDrawIndexedIndirect2KHR vkCmdDrawIndexedIndirectCount2KHR: (info: *const c_void
        => Fetch::UNKNOWN_INDEXED);
    Other Known vkCmdResetQueryPool vkCmdEndQueryIndexedEXT: (query_pool: vk::QueryPool, query: u32,
        number: u32);
    Other Known vkCmdWriteTimestamp: (pipeline_stage: vk::PipelineStageFlags, query_pool: vk::QueryPool,
        query: u32);
    Transfer Known vkCmdCopyQueryPoolResults: (query_pool: vk::QueryPool, first_query: u32, query_count: u32,
        dst_buffer: vk::Buffer, dst_offset: vk::DeviceSize, stride: vk::DeviceSize, flags: vk::QueryResultFlags
        => Transfer::Queries(dst_buffer, QueryResults { offset: dst_offset, stride, count: query_count, flags
            }));
    Draw Anything vkCmdExecuteGeneratedCommandsNV: (is_preprocessed: vk::Bool32,
        p_generated_commands_info: *const c_void => Fetch::UNKNOWN_INDEXED);
    Other Anything vkCmdExecuteGeneratedCommandsEXT: (is_preprocessed: vk::Bool32,
        p_generated_commands_info: *const c_void);
    Other Anything vkCmdPreprocessGeneratedCommandsEXT: (p_generated_commands_info: *const c_void,
        state_command_buffer: vk::CommandBuffer);
    Dispatch Known vkCmdDispatchBase vkCmdDispatchBaseKHR: (base_group_x: u32, base_group_y: u32,
        base_group_z: u32, group_count_x: u32, group_count_y: u32, group_count_z: u32
        => Fetch::groups(group_count_x, group_count_y, group_count_z));
    Other Marker vkCmdWriteBufferMarkerAMD: (pipeline_stage: vk::PipelineStageFlags, dst_buffer: vk::Buffer,
        dst_offset: vk::DeviceSize, marker: u32);
    Draw Known vkCmdDrawIndirectCount vkCmdDrawIndirectCountKHR vkCmdDrawIndirectCountAMD: (buffer: vk::Buffer,
        offset: vk::DeviceSize, count_buffer: vk::Buffer, count_buffer_offset: vk::DeviceSize,
        max_draw_count: u32, stride: u32
        => Fetch::counted_draws::<vk::DrawIndirectCommand>(false, (buffer, offset), (count_buffer,
            count_buffer_offset), max_draw_count, stride));
    Draw Known vkCmdDrawIndexedIndirectCount vkCmdDrawIndexedIndirectCountKHR vkCmdDrawIndexedIndirectCountAMD:
        (buffer: vk::Buffer, offset: vk::DeviceSize, count_buffer: vk::Buffer,
        count_buffer_offset: vk::DeviceSize, max_draw_count: u32, stride: u32
        => Fetch::counted_draws::<vk::DrawIndexedIndirectCommand>(true, (buffer, offset), (count_buffer,
            count_buffer_offset), max_draw_count, stride));
    Draw Known vkCmdDrawMeshTasksIndirectCountNV: (buffer: vk::Buffer, offset: vk::DeviceSize,
        count_buffer: vk::Buffer, count_buffer_offset: vk::DeviceSize, max_draw_count: u32, stride: u32
        => Fetch::counted_groups::<vk::DrawMeshTasksIndirectCommandNV>((buffer, offset), (count_buffer,
            count_buffer_offset), max_draw_count, stride));
    Draw Known vkCmdDrawMeshTasksIndirectCountEXT: (buffer: vk::Buffer, offset: vk::DeviceSize,
        count_buffer: vk::Buffer, count_buffer_offset: vk::DeviceSize, max_draw_count: u32, stride: u32
        => Fetch::counted_groups::<vk::DrawMeshTasksIndirectCommandEXT>((buffer, offset), (count_buffer,
            count_buffer_offset), max_draw_count, stride));
    Other Known vkCmdBeginQueryIndexedEXT: (query_pool: vk::QueryPool, query: u32, flags: vk::QueryControlFlags,
        index: u32);
    Draw Known vkCmdDrawIndirectByteCountEXT: (instance_count: u32, first_instance: u32,
        counter_buffer: vk::Buffer, counter_buffer_offset: vk::DeviceSize, counter_offset: u32,
        vertex_stride: u32 => Fetch::UNKNOWN);
    Draw Known vkCmdDrawMeshTasksNV: (task_count: u32, first_task: u32 => Fetch::groups(task_count, 1, 1));
    Other Acceleration vkCmdCopyAccelerationStructureNV: (dst: vk::AccelerationStructureNV,
        src: vk::AccelerationStructureNV, mode: vk::CopyAccelerationStructureModeKHR);
    Other Known vkCmdWriteAccelerationStructuresPropertiesKHR vkCmdWriteAccelerationStructuresPropertiesNV
        vkCmdWriteMicromapsPropertiesEXT: (count: u32, info: *const c_void, query_type: vk::QueryType,
        query_pool: vk::QueryPool, first_query: u32);
    Other Acceleration vkCmdBuildAccelerationStructureNV: (p_info: *const c_void, instance_data: vk::Buffer,
        instance_offset: vk::DeviceSize, update: vk::Bool32, dst: vk::AccelerationStructureNV,
        src: vk::AccelerationStructureNV, scratch: vk::Buffer, scratch_offset: vk::DeviceSize);
    TraceRays Known vkCmdTraceRaysKHR: (p_raygen_shader_binding_table: *const c_void,
        p_miss_shader_binding_table: *const c_void, p_hit_shader_binding_table: *const c_void,
        p_callable_shader_binding_table: *const c_void, width: u32, height: u32, depth: u32);
    TraceRays Known vkCmdTraceRaysNV: (raygen_shader_binding_table_buffer: vk::Buffer,
        raygen_shader_binding_offset: vk::DeviceSize, miss_shader_binding_table_buffer: vk::Buffer,
        miss_shader_binding_offset: vk::DeviceSize, miss_shader_binding_stride: vk::DeviceSize,
        hit_shader_binding_table_buffer: vk::Buffer, hit_shader_binding_offset: vk::DeviceSize,
        hit_shader_binding_stride: vk::DeviceSize, callable_shader_binding_table_buffer: vk::Buffer,
        callable_shader_binding_offset: vk::DeviceSize, callable_shader_binding_stride: vk::DeviceSize,
        width: u32, height: u32, depth: u32);
    TraceRays Known vkCmdTraceRaysIndirectKHR: (p_raygen_shader_binding_table: *const c_void,
        p_miss_shader_binding_table: *const c_void, p_hit_shader_binding_table: *const c_void,
        p_callable_shader_binding_table: *const c_void, indirect_device_address: vk::DeviceAddress);
    TraceRays Known vkCmdTraceRaysIndirect2KHR: (indirect_device_address: vk::DeviceAddress);
    Other Known vkCmdSetPerformanceMarkerINTEL vkCmdSetPerformanceStreamMarkerINTEL:
        (p_marker_info: *const c_void; vk::Result);
    Other Acceleration vkCmdBuildAccelerationStructuresKHR: (info_count: u32, p_infos: *const c_void,
        pp_build_range_infos: *const c_void);
    Other Acceleration vkCmdBuildAccelerationStructuresIndirectKHR: (info_count: u32, p_infos: *const c_void,
        p_indirect_device_addresses: *const c_void, p_indirect_strides: *const c_void,
        pp_max_primitive_counts: *const c_void);
    Transfer Known vkCmdCopyBuffer2 vkCmdCopyBuffer2KHR: (info: *const vk::CopyBufferInfo2<'_>
        => Transfer::copy(given!(info)));
    Transfer Known vkCmdCopyBufferToImage2 vkCmdCopyBufferToImage2KHR:
        (info: *const vk::CopyBufferToImageInfo2<'_> => Transfer::upload(given!(info)));
    Transfer Known vkCmdCopyImageToBuffer2 vkCmdCopyImageToBuffer2KHR:
        (info: *const vk::CopyImageToBufferInfo2<'_> => Transfer::download(given!(info)));
    Other Known vkCmdWriteTimestamp2 vkCmdWriteTimestamp2KHR: (stage: vk::PipelineStageFlags2,
        query_pool: vk::QueryPool, query: u32);
    Other Marker vkCmdWriteBufferMarker2AMD: (stage: vk::PipelineStageFlags2, dst_buffer: vk::Buffer,
        dst_offset: vk::DeviceSize, marker: u32);
    Other Address vkCmdDecompressMemoryNV vkCmdConvertCooperativeVectorMatrixNV: (count: u32, info: *const c_void);
    Other Micromap vkCmdBuildMicromapsEXT: (count: u32, info: *const c_void);
    Other Address vkCmdDecompressMemoryIndirectCountNV: (indirect_commands_address: vk::DeviceAddress,
        indirect_commands_count_address: vk::DeviceAddress, stride: u32);
    Other Address vkCmdDecompressMemoryIndirectCountEXT: (decompression_method: u64,
        indirect_commands_address: vk::DeviceAddress, indirect_commands_count_address: vk::DeviceAddress,
        max_decompression_count: u32, stride: u32);
    Other Anything vkCmdOpticalFlowExecuteNV: (session: vk::OpticalFlowSessionNV, p_execute_info: *const c_void);
    Other Known vkCmdBeginGpaSessionAMD vkCmdEndGpaSessionAMD: (gpa_session: u64; vk::Result);
    Other Known vkCmdBeginGpaSampleAMD: (gpa_session: u64, p_gpa_sample_begin_info: *const c_void,
        p_sample_i_d: *const c_void; vk::Result);
    Other Known vkCmdEndGpaSampleAMD: (gpa_session: u64, sample_i_d: u32);
    Other Known vkCmdCopyGpaSessionResultsAMD vkCmdBeginShaderInstrumentationARM: (object: u64);
    Dispatch Anything vkCmdDispatchDataGraphARM: (session: u64, p_info: *const c_void);
    Other Address vkCmdUpdateMemoryKHR: (p_dst_range: *const c_void, dst_flags: u32, data_size: vk::DeviceSize,
        p_data: *const c_void);
    Other Address vkCmdFillMemoryKHR: (p_dst_range: *const c_void, dst_flags: u32, data: u32);
    Other Address vkCmdCopyQueryPoolResultsToMemoryKHR: (query_pool: vk::QueryPool, first_query: u32,
        query_count: u32, p_dst_range: *const c_void, dst_flags: u32, query_result_flags: vk::QueryResultFlags);
    Draw Known vkCmdDrawIndirectByteCount2EXT: (instance_count: u32, first_instance: u32,
        p_counter_info: *const c_void, counter_offset: u32, vertex_stride: u32 => Fetch::UNKNOWN);
    Dispatch Known vkCmdDispatchIndirect2KHR: (p_info: *const c_void);
        }
    };
}
pub(crate) use action_commands;

/// The type of the commands with a signature.
macro_rules! action_pointer {
    (($($arg:ident: $type:ty),* $(,)? $(=> $transfer:expr)? $(; $answer:ty)?)) => {
        unsafe extern "system" fn(vk::CommandBuffer, $($type),*) $(-> $answer)?
    };
}

macro_rules! table {
    ($($reachable:ident $writes:ident $($command:ident)+: $signature:tt;)+) => {
        tileheap_layer::command_table! {
            /// The next layer's action commands.
            ActionTable { $($($command: action_pointer!($signature);)+)+ }
        }
    };
}
action_commands!(table);

#[cfg(test)]
mod tests {
    use super::*;

    /// Commands for which the validation layers 1.4.363 check rule 10746, except commands of extensions that the layer does not hook.
    const VALIDATED: &str = include_str!("rule_10746.txt");

    macro_rules! names {
        ($($reachable:ident $writes:ident $($command:ident)+: $signature:tt;)+) => {
            [$($((ReachableDescriptors::$reachable, stringify!($command)),)+)+]
        };
    }

    #[test]
    fn every_rule_that_is_named_exists_and_every_one_that_exists_is_named() {
        let named = action_commands!(names).map(|(reachable, name)| wrong_object_rule(reachable, name));
        let mut named: Vec<_> = named.into_iter().flatten().collect();
        named.sort_unstable();
        named.dedup();
        let validated = VALIDATED
            .split_whitespace()
            .map(|command| format!("VUID-{command}-commandBuffer-10746"));
        assert_eq!(named, validated.collect::<Vec<_>>());
    }

    macro_rules! writes {
        ($($reachable:ident $writes:ident $($command:ident)+: $signature:tt;)+) => {
            [$($((Writes::$writes, stringify!($command)),)+)+]
        };
    }

    #[test]
    fn writes_by_address_and_through_other_objects_are_unseen() {
        let by_address = |command: &str| {
            let parts = [
                "Memory",
                "Marker",
                "GeneratedCommands",
                "AccelerationStructure",
                "Micromap",
                "Tensor",
                "DecodeVideo",
                "EncodeVideo",
                "Launch",
            ];
            // They write queries, or nothing.
            let others = [
                "vkCmdWriteAccelerationStructuresProperties",
                "vkCmdWriteMicromapsProperties",
                "vkCmdSetPerformanceMarker",
                "vkCmdSetPerformanceStreamMarker",
            ];
            parts.iter().any(|part| command.contains(part))
                && !others.iter().any(|other| command.starts_with(other))
        };
        let (mut known, mut unknown) = (0, 0);
        for (writes, command) in action_commands!(writes) {
            if by_address(command) {
                assert_ne!(writes, Writes::Known, "{command}");
            }
            match writes {
                Writes::Known => known += 1,
                _ => unknown += 1,
            }
        }
        assert!(
            known > unknown && unknown > 30,
            "{known} known, {unknown} unknown"
        );
    }

    #[test]
    fn conditional_rendering_begins_and_ends() {
        for (command, expected) in [
            ("vkCmdBeginConditionalRenderingEXT", Some(true)),
            ("vkCmdBeginConditionalRendering2EXT", Some(true)),
            ("vkCmdEndConditionalRenderingEXT", Some(false)),
            ("vkCmdDraw", None),
        ] {
            assert_eq!(changes_conditional(command), expected, "{command}");
        }
    }

    #[test]
    fn indirect_commands_may_do_nothing() {
        for command in ["vkCmdDraw", "vkCmdDispatchBase", "vkCmdDrawMeshTasksEXT"] {
            assert!(certainly_acts(command), "{command}");
        }
        for command in [
            "vkCmdDrawIndirectCountKHR",
            "vkCmdDrawMultiIndexedEXT",
            "vkCmdDispatchIndirect",
            "vkCmdExecuteGeneratedCommandsNV",
        ] {
            assert!(!certainly_acts(command), "{command}");
        }
    }
}
