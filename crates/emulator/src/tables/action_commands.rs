//! The action commands of the registry, apart from those that begin and end render passes or run other command buffers.
//!
//! Source: `tasks="action"` in `vk.xml` of header 1.4.363; what is not in ash 0.38 passes its pointers as they are. The
//! word before each command is the [`ReachableDescriptors`]: `Draw` lies inside render passes, where the bound tile
//! memory cannot change; with every other word the command can be the one that discards.

use std::ffi::c_void;

use ash::vk;

/// Which resources an action command can access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReachableDescriptors {
    /// Graphics descriptors.
    Draw,
    /// Compute descriptors.
    Dispatch,
    /// Ray tracing descriptors.
    TraceRays,
    /// Buffers named in the command.
    Transfer,
    /// None that the layer tracks.
    Other,
}

/// Passes every command to the macro `$for_each`, as `reachable command(arguments) -> result => [buffers];`. `field!(info.name)`
/// reads a field of a structure that the application passes.
macro_rules! action_commands {
    ($for_each:ident) => {
        $for_each! {
    Draw vkCmdDraw(vertex_count: u32, instance_count: u32, first_vertex: u32, first_instance: u32);
    Draw vkCmdDrawIndexed(
        index_count: u32, instance_count: u32, first_index: u32, vertex_offset: i32, first_instance: u32,
    );
    Draw vkCmdDrawMultiEXT(
        draw_count: u32, p_vertex_info: *const c_void, instance_count: u32, first_instance: u32, stride: u32,
    );
    Draw vkCmdDrawMultiIndexedEXT(
        draw_count: u32, p_index_info: *const c_void, instance_count: u32, first_instance: u32, stride: u32,
        p_vertex_offset: *const c_void,
    );
    Draw vkCmdDrawIndirect(buffer: vk::Buffer, offset: vk::DeviceSize, draw_count: u32, stride: u32);
    Draw vkCmdDrawIndexedIndirect(buffer: vk::Buffer, offset: vk::DeviceSize, draw_count: u32, stride: u32);
    Dispatch vkCmdDispatch(group_count_x: u32, group_count_y: u32, group_count_z: u32);
    Dispatch vkCmdDispatchIndirect(buffer: vk::Buffer, offset: vk::DeviceSize);
    Draw vkCmdSubpassShadingHUAWEI();
    Draw vkCmdDrawClusterHUAWEI(group_count_x: u32, group_count_y: u32, group_count_z: u32);
    Draw vkCmdDrawClusterIndirectHUAWEI(buffer: vk::Buffer, offset: vk::DeviceSize);
    Other vkCmdUpdatePipelineIndirectBufferNV(pipeline_bind_point: vk::PipelineBindPoint, pipeline: vk::Pipeline);
    Transfer vkCmdCopyBuffer(
        src_buffer: vk::Buffer, dst_buffer: vk::Buffer, region_count: u32, p_regions: *const c_void,
    ) => [src_buffer, dst_buffer];
    Other vkCmdCopyImage(
        src_image: vk::Image, src_image_layout: vk::ImageLayout, dst_image: vk::Image,
        dst_image_layout: vk::ImageLayout, region_count: u32, p_regions: *const c_void,
    );
    Other vkCmdBlitImage(
        src_image: vk::Image, src_image_layout: vk::ImageLayout, dst_image: vk::Image,
        dst_image_layout: vk::ImageLayout, region_count: u32, p_regions: *const c_void, filter: vk::Filter,
    );
    Transfer vkCmdCopyBufferToImage(
        src_buffer: vk::Buffer, dst_image: vk::Image, dst_image_layout: vk::ImageLayout, region_count: u32,
        p_regions: *const c_void,
    ) => [src_buffer];
    Transfer vkCmdCopyImageToBuffer(
        src_image: vk::Image, src_image_layout: vk::ImageLayout, dst_buffer: vk::Buffer, region_count: u32,
        p_regions: *const c_void,
    ) => [dst_buffer];
    Other vkCmdCopyMemoryIndirectNV(copy_buffer_address: vk::DeviceAddress, copy_count: u32, stride: u32);
    Other vkCmdCopyMemoryIndirectKHR(p_copy_memory_indirect_info: *const c_void);
    Other vkCmdCopyMemoryToImageIndirectNV(
        copy_buffer_address: vk::DeviceAddress, copy_count: u32, stride: u32, dst_image: vk::Image,
        dst_image_layout: vk::ImageLayout, p_image_subresources: *const c_void,
    );
    Other vkCmdCopyMemoryToImageIndirectKHR(p_copy_memory_to_image_indirect_info: *const c_void);
    Transfer vkCmdUpdateBuffer(
        dst_buffer: vk::Buffer, dst_offset: vk::DeviceSize, data_size: vk::DeviceSize, p_data: *const c_void,
    ) => [dst_buffer];
    Transfer vkCmdFillBuffer(
        dst_buffer: vk::Buffer, dst_offset: vk::DeviceSize, size: vk::DeviceSize, data: u32,
    ) => [dst_buffer];
    Other vkCmdClearColorImage(
        image: vk::Image, image_layout: vk::ImageLayout, p_color: *const c_void, range_count: u32,
        p_ranges: *const c_void,
    );
    Other vkCmdClearDepthStencilImage(
        image: vk::Image, image_layout: vk::ImageLayout, p_depth_stencil: *const c_void, range_count: u32,
        p_ranges: *const c_void,
    );
    Other vkCmdClearAttachments(
        attachment_count: u32, p_attachments: *const c_void, rect_count: u32, p_rects: *const c_void,
    );
    Other vkCmdResolveImage(
        src_image: vk::Image, src_image_layout: vk::ImageLayout, dst_image: vk::Image,
        dst_image_layout: vk::ImageLayout, region_count: u32, p_regions: *const c_void,
    );
    Other vkCmdBeginQuery(query_pool: vk::QueryPool, query: u32, flags: vk::QueryControlFlags);
    Other vkCmdEndQuery(query_pool: vk::QueryPool, query: u32);
    Other vkCmdBeginConditionalRenderingEXT(p_conditional_rendering_begin: *const c_void);
    Other vkCmdEndConditionalRenderingEXT();
    Draw vkCmdBeginCustomResolveEXT(p_begin_custom_resolve_info: *const c_void);
    Other vkCmdResetQueryPool(query_pool: vk::QueryPool, first_query: u32, query_count: u32);
    Other vkCmdWriteTimestamp(pipeline_stage: vk::PipelineStageFlags, query_pool: vk::QueryPool, query: u32);
    Transfer vkCmdCopyQueryPoolResults(
        query_pool: vk::QueryPool, first_query: u32, query_count: u32, dst_buffer: vk::Buffer,
        dst_offset: vk::DeviceSize, stride: vk::DeviceSize, flags: vk::QueryResultFlags,
    ) => [dst_buffer];
    Draw vkCmdExecuteGeneratedCommandsNV(is_preprocessed: vk::Bool32, p_generated_commands_info: *const c_void);
    Other vkCmdPreprocessGeneratedCommandsNV(p_generated_commands_info: *const c_void);
    Other vkCmdExecuteGeneratedCommandsEXT(is_preprocessed: vk::Bool32, p_generated_commands_info: *const c_void);
    Other vkCmdPreprocessGeneratedCommandsEXT(p_generated_commands_info: *const c_void, state_command_buffer: vk::CommandBuffer);
    Dispatch vkCmdDispatchBase(
        base_group_x: u32, base_group_y: u32, base_group_z: u32, group_count_x: u32, group_count_y: u32,
        group_count_z: u32,
    );
    Dispatch vkCmdDispatchBaseKHR(
        base_group_x: u32, base_group_y: u32, base_group_z: u32, group_count_x: u32, group_count_y: u32,
        group_count_z: u32,
    );
    Other vkCmdWriteBufferMarkerAMD(
        pipeline_stage: vk::PipelineStageFlags, dst_buffer: vk::Buffer, dst_offset: vk::DeviceSize, marker: u32,
    );
    Draw vkCmdDrawIndirectCount(
        buffer: vk::Buffer, offset: vk::DeviceSize, count_buffer: vk::Buffer, count_buffer_offset: vk::DeviceSize,
        max_draw_count: u32, stride: u32,
    );
    Draw vkCmdDrawIndirectCountKHR(
        buffer: vk::Buffer, offset: vk::DeviceSize, count_buffer: vk::Buffer, count_buffer_offset: vk::DeviceSize,
        max_draw_count: u32, stride: u32,
    );
    Draw vkCmdDrawIndirectCountAMD(
        buffer: vk::Buffer, offset: vk::DeviceSize, count_buffer: vk::Buffer, count_buffer_offset: vk::DeviceSize,
        max_draw_count: u32, stride: u32,
    );
    Draw vkCmdDrawIndexedIndirectCount(
        buffer: vk::Buffer, offset: vk::DeviceSize, count_buffer: vk::Buffer, count_buffer_offset: vk::DeviceSize,
        max_draw_count: u32, stride: u32,
    );
    Draw vkCmdDrawIndexedIndirectCountKHR(
        buffer: vk::Buffer, offset: vk::DeviceSize, count_buffer: vk::Buffer, count_buffer_offset: vk::DeviceSize,
        max_draw_count: u32, stride: u32,
    );
    Draw vkCmdDrawIndexedIndirectCountAMD(
        buffer: vk::Buffer, offset: vk::DeviceSize, count_buffer: vk::Buffer, count_buffer_offset: vk::DeviceSize,
        max_draw_count: u32, stride: u32,
    );
    Other vkCmdSetCheckpointNV(p_checkpoint_marker: *const c_void);
    Other vkCmdBeginQueryIndexedEXT(
        query_pool: vk::QueryPool, query: u32, flags: vk::QueryControlFlags, index: u32,
    );
    Other vkCmdEndQueryIndexedEXT(query_pool: vk::QueryPool, query: u32, index: u32);
    Draw vkCmdDrawIndirectByteCountEXT(
        instance_count: u32, first_instance: u32, counter_buffer: vk::Buffer,
        counter_buffer_offset: vk::DeviceSize, counter_offset: u32, vertex_stride: u32,
    );
    Draw vkCmdDrawMeshTasksNV(task_count: u32, first_task: u32);
    Draw vkCmdDrawMeshTasksIndirectNV(buffer: vk::Buffer, offset: vk::DeviceSize, draw_count: u32, stride: u32);
    Draw vkCmdDrawMeshTasksIndirectCountNV(
        buffer: vk::Buffer, offset: vk::DeviceSize, count_buffer: vk::Buffer, count_buffer_offset: vk::DeviceSize,
        max_draw_count: u32, stride: u32,
    );
    Draw vkCmdDrawMeshTasksEXT(group_count_x: u32, group_count_y: u32, group_count_z: u32);
    Draw vkCmdDrawMeshTasksIndirectEXT(buffer: vk::Buffer, offset: vk::DeviceSize, draw_count: u32, stride: u32);
    Draw vkCmdDrawMeshTasksIndirectCountEXT(
        buffer: vk::Buffer, offset: vk::DeviceSize, count_buffer: vk::Buffer, count_buffer_offset: vk::DeviceSize,
        max_draw_count: u32, stride: u32,
    );
    Other vkCmdCopyAccelerationStructureNV(
        dst: vk::AccelerationStructureNV, src: vk::AccelerationStructureNV,
        mode: vk::CopyAccelerationStructureModeKHR,
    );
    Other vkCmdCopyAccelerationStructureKHR(p_info: *const c_void);
    Other vkCmdCopyAccelerationStructureToMemoryKHR(p_info: *const c_void);
    Other vkCmdCopyMemoryToAccelerationStructureKHR(p_info: *const c_void);
    Other vkCmdWriteAccelerationStructuresPropertiesKHR(
        acceleration_structure_count: u32, p_acceleration_structures: *const c_void, query_type: vk::QueryType,
        query_pool: vk::QueryPool, first_query: u32,
    );
    Other vkCmdWriteAccelerationStructuresPropertiesNV(
        acceleration_structure_count: u32, p_acceleration_structures: *const c_void, query_type: vk::QueryType,
        query_pool: vk::QueryPool, first_query: u32,
    );
    Other vkCmdBuildAccelerationStructureNV(
        p_info: *const c_void, instance_data: vk::Buffer, instance_offset: vk::DeviceSize, update: vk::Bool32,
        dst: vk::AccelerationStructureNV, src: vk::AccelerationStructureNV, scratch: vk::Buffer,
        scratch_offset: vk::DeviceSize,
    );
    TraceRays vkCmdTraceRaysKHR(
        p_raygen_shader_binding_table: *const c_void, p_miss_shader_binding_table: *const c_void,
        p_hit_shader_binding_table: *const c_void, p_callable_shader_binding_table: *const c_void, width: u32,
        height: u32, depth: u32,
    );
    TraceRays vkCmdTraceRaysNV(
        raygen_shader_binding_table_buffer: vk::Buffer, raygen_shader_binding_offset: vk::DeviceSize,
        miss_shader_binding_table_buffer: vk::Buffer, miss_shader_binding_offset: vk::DeviceSize,
        miss_shader_binding_stride: vk::DeviceSize, hit_shader_binding_table_buffer: vk::Buffer,
        hit_shader_binding_offset: vk::DeviceSize, hit_shader_binding_stride: vk::DeviceSize,
        callable_shader_binding_table_buffer: vk::Buffer, callable_shader_binding_offset: vk::DeviceSize,
        callable_shader_binding_stride: vk::DeviceSize, width: u32, height: u32, depth: u32,
    );
    TraceRays vkCmdTraceRaysIndirectKHR(
        p_raygen_shader_binding_table: *const c_void, p_miss_shader_binding_table: *const c_void,
        p_hit_shader_binding_table: *const c_void, p_callable_shader_binding_table: *const c_void,
        indirect_device_address: vk::DeviceAddress,
    );
    TraceRays vkCmdTraceRaysIndirect2KHR(indirect_device_address: vk::DeviceAddress);
    Other vkCmdBuildClusterAccelerationStructureIndirectNV(p_command_infos: *const c_void);
    Other vkCmdSetPerformanceMarkerINTEL(p_marker_info: *const c_void) -> vk::Result;
    Other vkCmdSetPerformanceStreamMarkerINTEL(p_marker_info: *const c_void) -> vk::Result;
    Other vkCmdBuildAccelerationStructuresKHR(
        info_count: u32, p_infos: *const c_void, pp_build_range_infos: *const c_void,
    );
    Other vkCmdBuildAccelerationStructuresIndirectKHR(
        info_count: u32, p_infos: *const c_void, p_indirect_device_addresses: *const c_void,
        p_indirect_strides: *const c_void, pp_max_primitive_counts: *const c_void,
    );
    Transfer vkCmdCopyBuffer2(
        info: *const vk::CopyBufferInfo2<'_>,
    ) => [field!(info.src_buffer), field!(info.dst_buffer)];
    Transfer vkCmdCopyBuffer2KHR(
        info: *const vk::CopyBufferInfo2<'_>,
    ) => [field!(info.src_buffer), field!(info.dst_buffer)];
    Other vkCmdCopyImage2(p_copy_image_info: *const c_void);
    Other vkCmdCopyImage2KHR(p_copy_image_info: *const c_void);
    Other vkCmdBlitImage2(p_blit_image_info: *const c_void);
    Other vkCmdBlitImage2KHR(p_blit_image_info: *const c_void);
    Transfer vkCmdCopyBufferToImage2(info: *const vk::CopyBufferToImageInfo2<'_>) => [field!(info.src_buffer)];
    Transfer vkCmdCopyBufferToImage2KHR(info: *const vk::CopyBufferToImageInfo2<'_>) => [field!(info.src_buffer)];
    Transfer vkCmdCopyImageToBuffer2(info: *const vk::CopyImageToBufferInfo2<'_>) => [field!(info.dst_buffer)];
    Transfer vkCmdCopyImageToBuffer2KHR(info: *const vk::CopyImageToBufferInfo2<'_>) => [field!(info.dst_buffer)];
    Other vkCmdResolveImage2(p_resolve_image_info: *const c_void);
    Other vkCmdResolveImage2KHR(p_resolve_image_info: *const c_void);
    Other vkCmdWriteTimestamp2(stage: vk::PipelineStageFlags2, query_pool: vk::QueryPool, query: u32);
    Other vkCmdWriteTimestamp2KHR(stage: vk::PipelineStageFlags2, query_pool: vk::QueryPool, query: u32);
    Other vkCmdWriteBufferMarker2AMD(
        stage: vk::PipelineStageFlags2, dst_buffer: vk::Buffer, dst_offset: vk::DeviceSize, marker: u32,
    );
    Other vkCmdDecodeVideoKHR(p_decode_info: *const c_void);
    Other vkCmdBeginVideoCodingKHR(p_begin_info: *const c_void);
    Other vkCmdControlVideoCodingKHR(p_coding_control_info: *const c_void);
    Other vkCmdEndVideoCodingKHR(p_end_coding_info: *const c_void);
    Other vkCmdEncodeVideoKHR(p_encode_info: *const c_void);
    Other vkCmdDecompressMemoryNV(decompress_region_count: u32, p_decompress_memory_regions: *const c_void);
    Other vkCmdDecompressMemoryIndirectCountNV(
        indirect_commands_address: vk::DeviceAddress, indirect_commands_count_address: vk::DeviceAddress,
        stride: u32,
    );
    Other vkCmdBuildPartitionedAccelerationStructuresNV(p_build_info: *const c_void);
    Other vkCmdDecompressMemoryEXT(p_decompress_memory_info_e_x_t: *const c_void);
    Other vkCmdDecompressMemoryIndirectCountEXT(
        decompression_method: u64, indirect_commands_address: vk::DeviceAddress,
        indirect_commands_count_address: vk::DeviceAddress, max_decompression_count: u32, stride: u32,
    );
    Other vkCmdCuLaunchKernelNVX(p_launch_info: *const c_void);
    Other vkCmdCudaLaunchKernelNV(p_launch_info: *const c_void);
    Other vkCmdBuildMicromapsEXT(info_count: u32, p_infos: *const c_void);
    Other vkCmdCopyMicromapEXT(p_info: *const c_void);
    Other vkCmdCopyMicromapToMemoryEXT(p_info: *const c_void);
    Other vkCmdCopyMemoryToMicromapEXT(p_info: *const c_void);
    Other vkCmdWriteMicromapsPropertiesEXT(
        micromap_count: u32, p_micromaps: *const c_void, query_type: vk::QueryType, query_pool: vk::QueryPool,
        first_query: u32,
    );
    Other vkCmdOpticalFlowExecuteNV(session: vk::OpticalFlowSessionNV, p_execute_info: *const c_void);
    Other vkCmdBeginGpaSessionAMD(gpa_session: u64) -> vk::Result;
    Other vkCmdEndGpaSessionAMD(gpa_session: u64) -> vk::Result;
    Other vkCmdBeginGpaSampleAMD(
        gpa_session: u64, p_gpa_sample_begin_info: *const c_void, p_sample_i_d: *const c_void,
    ) -> vk::Result;
    Other vkCmdEndGpaSampleAMD(gpa_session: u64, sample_i_d: u32);
    Other vkCmdCopyGpaSessionResultsAMD(gpa_session: u64);
    Other vkCmdConvertCooperativeVectorMatrixNV(info_count: u32, p_infos: *const c_void);
    Other vkCmdBeginShaderInstrumentationARM(instrumentation: u64);
    Other vkCmdEndShaderInstrumentationARM();
    Other vkCmdCopyTensorARM(p_copy_tensor_info: *const c_void);
    Dispatch vkCmdDispatchDataGraphARM(session: u64, p_info: *const c_void);
    Other vkCmdCopyMemoryKHR(p_copy_memory_info: *const c_void);
    Other vkCmdCopyMemoryToImageKHR(p_copy_memory_info: *const c_void);
    Other vkCmdCopyImageToMemoryKHR(p_copy_memory_info: *const c_void);
    Other vkCmdUpdateMemoryKHR(
        p_dst_range: *const c_void, dst_flags: u32, data_size: vk::DeviceSize, p_data: *const c_void,
    );
    Other vkCmdFillMemoryKHR(p_dst_range: *const c_void, dst_flags: u32, data: u32);
    Other vkCmdCopyQueryPoolResultsToMemoryKHR(
        query_pool: vk::QueryPool, first_query: u32, query_count: u32, p_dst_range: *const c_void, dst_flags: u32,
        query_result_flags: vk::QueryResultFlags,
    );
    Other vkCmdBeginConditionalRendering2EXT(p_conditional_rendering_begin: *const c_void);
    Draw vkCmdDrawIndirectByteCount2EXT(
        instance_count: u32, first_instance: u32, p_counter_info: *const c_void, counter_offset: u32,
        vertex_stride: u32,
    );
    Other vkCmdWriteMarkerToMemoryAMD(p_info: *const c_void);
    Draw vkCmdDrawIndirect2KHR(p_info: *const c_void);
    Draw vkCmdDrawIndexedIndirect2KHR(p_info: *const c_void);
    Draw vkCmdDrawIndirectCount2KHR(p_info: *const c_void);
    Draw vkCmdDrawIndexedIndirectCount2KHR(p_info: *const c_void);
    Draw vkCmdDrawMeshTasksIndirect2EXT(p_info: *const c_void);
    Draw vkCmdDrawMeshTasksIndirectCount2EXT(p_info: *const c_void);
    Dispatch vkCmdDispatchIndirect2KHR(p_info: *const c_void);
        }
    };
}
pub(crate) use action_commands;

macro_rules! table {
    ($(
        $reachable:ident $command:ident($($arg:ident: $type:ty),* $(,)?) $(-> $answer:ty)? $(=> [$($buffer:expr),*])?;
    )+) => {
        tileheap_layer::command_table! {
            /// The next layer's action commands.
            ActionTable {
                $($command: unsafe extern "system" fn(vk::CommandBuffer, $($type),*) $(-> $answer)?;)+
            }
        }
    };
}
action_commands!(table);
