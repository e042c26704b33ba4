//! The shaders of stores: passes of the tables that copy a resource out of tile memory, or a part of an image into a strip and out of it.

use ash::vk;
use tileheap::lower::tables::commands::StoreShader;

use crate::boundary::run;
use crate::enums::FromNumber;
use crate::opaque::ErrorHandle;
use crate::status::Status;
use crate::structs::{sized, write};
use crate::vulkan::StoreShaderValue;

sized! { Output: StoreShaders to words; }

/// The SPIR-V 1.3 shaders of a store, for the pipeline that `ThStoreRow` describes. The entry point of each shader is "main". The words are constants of the
/// library.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct StoreShaders {
    /// `sizeof(ThStoreShaders)`.
    pub struct_size: u32,
    /// The stage of `words`: `VK_SHADER_STAGE_FRAGMENT_BIT`, or `VK_SHADER_STAGE_COMPUTE_BIT` for `TH_STORE_SHADER_BUFFER`.
    pub stage: vk::ShaderStageFlags,
    /// The number of elements of `vertex_words`; 0 for `TH_STORE_SHADER_BUFFER`.
    pub vertex_word_count: u32,
    /// The number of elements of `words`.
    pub word_count: u32,
    /// The vertex shader; null for `TH_STORE_SHADER_BUFFER`.
    pub vertex_words: *const u32,
    /// The fragment or compute shader.
    pub words: *const u32,
}

/// Returns the shaders of a kind of store.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thGetStoreShaders")]
pub unsafe extern "C" fn get_store_shaders(
    shader: StoreShaderValue,
    shaders: *mut StoreShaders,
    error: ErrorHandle,
) -> Status {
    run("thGetStoreShaders", error, || {
        let stages = StoreShader::from_number(shader, "shader")?.spirv();
        let is_vertex = |stage: &&(vk::ShaderStageFlags, _)| stage.0 == vk::ShaderStageFlags::VERTEX;
        let vertex = stages.iter().find(is_vertex).map(|stage| stage.1);
        let (stage, words) = *stages.last().expect("a store has a fragment or compute shader");
        let value = StoreShaders {
            struct_size: 0,
            stage,
            vertex_word_count: vertex.map_or(0, |words| words.len() as u32),
            word_count: words.len() as u32,
            vertex_words: vertex.map_or(std::ptr::null(), |words| words.as_ptr()),
            words: words.as_ptr(),
        };
        // SAFETY: null, or the caller's structure.
        unsafe { write(shaders, value) }
    })
}
