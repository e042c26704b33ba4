/// A shader and its declarations.
#[derive(Debug)]
pub struct Shader {
    /// The words of the SPIR-V 1.3 module.
    pub words: &'static [u32],
    /// The shader stage.
    pub stage: vk::ShaderStageFlags,
    /// The shader's descriptors, by set and binding.
    pub bindings: &'static [Binding],
    /// Bytes of push constants from offset 0; 0 if there are none.
    pub push_constant_bytes: u32,
    /// The workgroup size of a compute shader; 0 for other stages.
    pub local_size: [u32; 3],
    /// The vertex attributes, tightly packed in vertex buffer binding 0.
    pub vertex_inputs: &'static [vk::VertexInputAttributeDescription],
    /// The total size of the vertex attributes in bytes.
    pub vertex_bytes: u32,
}

/// A descriptor that a shader declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The number of the descriptor set.
    pub set: u32,
    /// The number of the binding in the set.
    pub binding: u32,
    /// The descriptor type.
    pub descriptor_type: vk::DescriptorType,
    /// The number of descriptors.
    pub count: u32,
}

/// Returns the bindings of a descriptor set shared by these shaders, each with the stages that declare it.
///
/// # Panics
/// If two shaders declare a binding differently.
pub fn set_layout_bindings(
    shaders: &[&'static Shader],
    set: u32,
) -> Vec<vk::DescriptorSetLayoutBinding<'static>> {
    let mut found: std::collections::BTreeMap<u32, (Binding, vk::ShaderStageFlags)> = Default::default();
    for shader in shaders {
        for binding in shader.bindings.iter().filter(|binding| binding.set == set) {
            let (first, stages) = found.entry(binding.binding).or_insert((*binding, shader.stage));
            assert_eq!(first, binding, "shaders disagree about a descriptor");
            *stages |= shader.stage;
        }
    }
    let bindings = found.into_values().map(|(binding, stages)| {
        vk::DescriptorSetLayoutBinding::default()
            .binding(binding.binding)
            .descriptor_type(binding.descriptor_type)
            .descriptor_count(binding.count)
            .stage_flags(stages)
    });
    bindings.collect()
}

/// Returns the descriptors that a pool needs for `sets` sets of this layout.
pub fn pool_sizes(
    bindings: &[vk::DescriptorSetLayoutBinding<'_>],
    sets: u32,
) -> Vec<vk::DescriptorPoolSize> {
    let size = |binding: &vk::DescriptorSetLayoutBinding<'_>| vk::DescriptorPoolSize {
        ty: binding.descriptor_type,
        descriptor_count: binding.descriptor_count * sets,
    };
    bindings.iter().map(size).collect()
}

/// Returns the range of push constants that these shaders declare together; `None` if there are none.
pub fn push_constant_range(shaders: &[&Shader]) -> Option<vk::PushConstantRange> {
    let with = || shaders.iter().filter(|shader| shader.push_constant_bytes > 0);
    Some(vk::PushConstantRange {
        stage_flags: with().fold(vk::ShaderStageFlags::empty(), |stages, shader| stages | shader.stage),
        offset: 0,
        size: with().map(|shader| shader.push_constant_bytes).max()?,
    })
}
