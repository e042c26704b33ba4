//! Data of the active tile for shaders: a uniform buffer with a record for each tile, in a descriptor set of the layer.

use std::collections::HashMap;
use std::ptr::{null, null_mut};
use std::sync::{Mutex, PoisonError};

use ash::vk;
use ash::vk::Handle;
use tileheap_layer::call_down;
use tileheap_layer::sharded::Sharded;

use super::driver::{Driver, create_object};
use crate::model::tile_shaders::{self, RECORD_BYTES};

/// The alignment of records: the largest that a driver may require (`minUniformBufferOffsetAlignment`).
const STRIDE: u64 = 256;
/// Maximum number of distinct tiles on a device; tiles are distinct if their positions or sizes differ.
const RECORDS: u32 = 4096;

/// The state of a device that can run dispatches once per tile.
pub(crate) struct TileShading {
    pub(crate) records: TileRecords,
    /// The shader modules that use the extension, each with the shading rate that it declares, if any.
    modules: Sharded<Option<[u32; 3]>>,
    pub(crate) pipelines: Sharded<TilePipeline>,
}

/// A compute pipeline whose shader can read its tile.
#[derive(Clone, Copy)]
pub(crate) struct TilePipeline {
    pub(crate) layout: vk::PipelineLayout,
    pub(crate) rate: Option<[u32; 3]>,
}

impl TileShading {
    pub(crate) fn new(records: TileRecords) -> TileShading {
        TileShading {
            records,
            modules: Sharded::default(),
            pipelines: Sharded::default(),
        }
    }

    /// Returns the words of a shader for the driver, and its shading rate; `None` for shaders without the extension.
    pub(crate) fn rewritten(&self, words: &[u32]) -> Option<tile_shaders::TileShader> {
        tile_shaders::rewrite(words, self.records.index)
    }

    /// Registers a new shader module.
    pub(crate) fn remember_module(
        &self,
        module: vk::ShaderModule,
        shader: Option<&tile_shaders::TileShader>,
    ) {
        match shader {
            Some(shader) => self.modules.insert(module.as_raw(), shader.rate),
            None => drop(self.modules.remove(module.as_raw())),
        }
    }

    /// Registers a new pipeline.
    pub(crate) fn remember_pipeline(
        &self,
        pipeline: vk::Pipeline,
        stages: &[vk::PipelineShaderStageCreateInfo<'_>],
        layout: vk::PipelineLayout,
    ) {
        let rate = stages
            .iter()
            .find_map(|stage| self.modules.get(stage.module.as_raw()));
        match rate {
            Some(rate) => self
                .pipelines
                .insert(pipeline.as_raw(), TilePipeline { layout, rate }),
            None => drop(self.pipelines.remove(pipeline.as_raw())),
        }
    }
}

/// The records of a device's tiles.
#[derive(Default)]
pub(crate) struct TileRecords {
    /// The index of the descriptor set, after all of the application's.
    pub(crate) index: u32,
    /// An empty layout in place of the sets that a pipeline layout does not have.
    empty: vk::DescriptorSetLayout,
    layout: vk::DescriptorSetLayout,
    pool: vk::DescriptorPool,
    pub(crate) set: vk::DescriptorSet,
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    /// The address of the mapped records.
    mapped: usize,
    /// Indices of records by first texel and size.
    known: Mutex<HashMap<[u32; 4], u32>>,
}

impl TileRecords {
    /// Creates the records, in the descriptor set at `index` of every pipeline layout.
    ///
    /// # Errors
    /// Returns the driver's error; nothing is left allocated.
    pub(crate) fn new(
        driver: &Driver,
        types: &vk::PhysicalDeviceMemoryProperties,
        index: u32,
    ) -> Result<TileRecords, vk::Result> {
        let mut records = TileRecords {
            index,
            ..TileRecords::default()
        };
        match records.make(driver, types) {
            Ok(()) => Ok(records),
            Err(error) => {
                records.destroy(driver);
                Err(error)
            }
        }
    }

    fn make(
        &mut self,
        driver: &Driver,
        types: &vk::PhysicalDeviceMemoryProperties,
    ) -> Result<(), vk::Result> {
        let (next, device) = (&driver.commands, driver.handle);
        let kind = vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC;
        let bindings = [vk::DescriptorSetLayoutBinding::default()
            .descriptor_type(kind)
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::COMPUTE)];
        let layout = |bindings: &[vk::DescriptorSetLayoutBinding<'_>]| {
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(bindings);
            create_object(|out| call_down!(next, vkCreateDescriptorSetLayout(device, &info, null(), out)))
        };
        self.empty = layout(&[])?;
        self.layout = layout(&bindings)?;
        let sizes = [vk::DescriptorPoolSize {
            ty: kind,
            descriptor_count: 1,
        }];
        let info = vk::DescriptorPoolCreateInfo::default()
            .max_sets(1)
            .pool_sizes(&sizes);
        self.pool =
            create_object(|out| call_down!(next, vkCreateDescriptorPool(device, &info, null(), out)))?;
        let layouts = [self.layout];
        let info = vk::DescriptorSetAllocateInfo::default()
            .descriptor_pool(self.pool)
            .set_layouts(&layouts);
        self.set = create_object(|out| call_down!(next, vkAllocateDescriptorSets(device, &info, out)))?;
        let bytes = STRIDE * u64::from(RECORDS);
        let info = vk::BufferCreateInfo::default()
            .size(bytes)
            .usage(vk::BufferUsageFlags::UNIFORM_BUFFER);
        self.buffer = create_object(|out| call_down!(next, vkCreateBuffer(device, &info, null(), out)))?;
        let mut needs = vk::MemoryRequirements::default();
        call_down!(
            next,
            vkGetBufferMemoryRequirements(device, self.buffer, &mut needs)
        );
        let visible = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        let usable = |(index, kind): &(u32, &vk::MemoryType)| {
            needs.memory_type_bits >> index & 1 == 1 && kind.property_flags.contains(visible)
        };
        let found = (0u32..).zip(types.memory_types_as_slice()).find(usable);
        let (memory_type, _) = found.ok_or(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY)?;
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(memory_type);
        self.memory = create_object(|out| call_down!(next, vkAllocateMemory(device, &info, null(), out)))?;
        call_down!(next, vkBindBufferMemory(device, self.buffer, self.memory, 0)).result()?;
        let mut mapped = null_mut();
        let none = vk::MemoryMapFlags::empty();
        call_down!(
            next,
            vkMapMemory(device, self.memory, 0, vk::WHOLE_SIZE, none, &mut mapped)
        )
        .result()?;
        self.mapped = mapped as usize;
        let buffers = [vk::DescriptorBufferInfo {
            buffer: self.buffer,
            offset: 0,
            range: RECORD_BYTES,
        }];
        let write = vk::WriteDescriptorSet::default()
            .dst_set(self.set)
            .descriptor_type(kind)
            .buffer_info(&buffers);
        call_down!(next, vkUpdateDescriptorSets(device, 1, &write, 0, null()));
        Ok(())
    }

    /// Destroys the created objects; the device must be idle.
    pub(crate) fn destroy(&self, driver: &Driver) {
        let (next, device) = (&driver.commands, driver.handle);
        call_down!(next, vkDestroyDescriptorPool(device, self.pool, null()));
        call_down!(next, vkDestroyDescriptorSetLayout(device, self.layout, null()));
        call_down!(next, vkDestroyDescriptorSetLayout(device, self.empty, null()));
        call_down!(next, vkDestroyBuffer(device, self.buffer, null()));
        call_down!(next, vkFreeMemory(device, self.memory, null()));
    }

    /// The dynamic offset of a tile's record; `None` if the device has used too many distinct tiles.
    pub(crate) fn offset(&self, first: (u32, u32), size: vk::Extent2D) -> Option<u32> {
        let key = [first.0, first.1, size.width, size.height];
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let count = known.len() as u32;
        let slot = match known.get(&key) {
            Some(slot) => *slot,
            None if count == RECORDS => return None,
            None => {
                let record: [u32; 12] = [key[0], key[1], 0, 0, key[2], key[3], 1, 0, 0, 0, 0, 0];
                let at = (self.mapped + count as usize * STRIDE as usize) as *mut [u32; 12];
                // SAFETY: In the mapped buffer, aligned to 256 bytes, and not yet read by the device: no command has this offset.
                unsafe { at.write(record) };
                known.insert(key, count);
                count
            }
        };
        Some(slot * STRIDE as u32)
    }

    /// The set layouts of a pipeline layout, followed by the set of the records; `None` if the layout already uses the
    /// index of that set.
    pub(crate) fn extended(
        &self,
        layouts: &[vk::DescriptorSetLayout],
    ) -> Option<Vec<vk::DescriptorSetLayout>> {
        let index = self.index as usize;
        let mut all = layouts.to_vec();
        all.resize(index.max(layouts.len()), self.empty);
        all.push(self.layout);
        (layouts.len() <= index).then_some(all)
    }
}
