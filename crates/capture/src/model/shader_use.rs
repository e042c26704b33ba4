//! Accesses of the shaders of a draw or dispatch through the bound descriptor sets.

use tileheap::format;
use tileheap::frame::AccessKind;
use tileheap::units::Run;
use tileheap_spirv::{AccessRange, Binding, Dispatch, Guard, GuardValue};

use super::access::{Coverage, FollowedAccess};
use super::objects::{Descriptor, Resource};
use super::recording::{DispatchInputs, ShaderState};
use crate::document::UnresolvedKind;

/// An access that was not followed, with the resources that it may refer to.
#[derive(Clone, Debug)]
pub(crate) struct UnresolvedAccess {
    pub(crate) kind: UnresolvedKind,
    pub(crate) what: String,
    pub(crate) resources: Vec<Resource>,
}

/// The accesses of shaders.
#[derive(Debug, Default)]
pub(crate) struct ShaderUse {
    pub(crate) accesses: Vec<ShaderAccess>,
    pub(crate) unresolved: Vec<UnresolvedAccess>,
    /// Image sizes and array lengths that guards of the shaders compare.
    values: Vec<(GuardValue, u32)>,
}

/// An access through a descriptor.
#[derive(Debug)]
pub(crate) struct ShaderAccess {
    /// The access to everything that the descriptor refers to.
    pub(crate) access: FollowedAccess,
    binding: Binding,
    /// True if the descriptor is the only one of its binding.
    is_single: bool,
}

impl ShaderUse {
    /// Collects the accesses of shaders through the bound descriptor sets, and the accesses that cannot be followed.
    pub(crate) fn of(using: &ShaderState, call: &str) -> ShaderUse {
        let mut found = ShaderUse::default();
        if using.uses_descriptor_buffers {
            found.miss(UnresolvedKind::DescriptorBuffer, call.to_owned(), Vec::new());
        }
        let unseen = || Err("the layer has not seen the bound pipeline".to_owned());
        let pipeline = using.pipeline.as_ref();
        let entries = match pipeline.map_or_else(unseen, |pipeline| pipeline.entries()) {
            Ok(entries) => entries,
            Err(why) => {
                // Any bound resource may be accessed.
                let all = using.sets.iter().flat_map(|(_, bound)| bound.set.all());
                let all = all.map(|one| one.resource()).collect();
                found.miss(UnresolvedKind::Shader, why, all);
                return found;
            }
        };
        for entry in entries {
            for binding in entry.bindings.iter().filter(|one| one.reads || one.writes) {
                let set = using.sets.get(binding.set);
                let at = |bound: &super::bound_sets::BoundSet| bound.set.at(binding.binding, &bound.offsets);
                found.bound(binding, &entry.name, set.map_or_else(Vec::new, at));
                let guards = binding.certain.iter().flat_map(|one| &one.guards);
                for value in guards.flat_map(Guard::values) {
                    let known = guard_value(using, value).map(|known| (value, known));
                    found
                        .values
                        .extend(known.filter(|known| !found.values.contains(known)));
                }
            }
            if entry.addresses.iter().any(|one| one.reads || one.writes) {
                let shader = format!("shader `{}`", entry.name);
                found.miss(UnresolvedKind::DeviceAddress, shader, Vec::new());
            }
        }
        found
    }

    /// Returns the reads and writes of a dispatch with these inputs, or of a draw, which has no inputs.
    pub(crate) fn performed(&self, inputs: &DispatchInputs) -> Vec<FollowedAccess> {
        let values = |value: GuardValue| match value {
            GuardValue::PushConstant { offset } => inputs.push_constants.word(offset),
            value => {
                let known = self.values.iter().find(|(one, _)| *one == value);
                known.map(|(_, known)| *known)
            }
        };
        let dispatch = |groups| Dispatch {
            groups,
            values: &values,
        };
        let accesses = self.accesses.iter();
        accesses
            .flat_map(|one| one.performed(inputs.groups.map(dispatch)))
            .collect()
    }

    fn miss(&mut self, kind: UnresolvedKind, what: String, resources: Vec<Resource>) {
        self.unresolved.push(UnresolvedAccess {
            kind,
            what,
            resources,
        });
    }

    /// Adds the accesses of a shader through the descriptors of a binding, or an unresolved access if there are no descriptors or too many.
    fn bound(&mut self, binding: &Binding, shader: &str, found: Vec<Descriptor>) {
        /// The largest array whose descriptors are recorded separately. Larger ones count as unresolved, because it is unknown which descriptors a shader
        /// uses.
        const MAX_DESCRIPTORS: usize = 16;
        let place = || {
            format!(
                "set {} binding {} of shader `{shader}`",
                binding.set, binding.binding
            )
        };
        if found.len() > MAX_DESCRIPTORS {
            let resources = found.iter().map(Descriptor::resource).collect();
            return self.miss(UnresolvedKind::BindlessArray, place(), resources);
        }
        if found.is_empty() {
            return self.miss(UnresolvedKind::UnknownObject, place(), Vec::new());
        }
        let is_single = found.len() == 1;
        for descriptor in &found {
            let mut access = match descriptor {
                Descriptor::Image(view, layout) if binding.kind.fits_images() => {
                    FollowedAccess::of_view(view, binding.kind, *layout)
                }
                Descriptor::Buffer(range) if binding.kind.fits_buffers() => {
                    FollowedAccess::of_buffer(range, binding.kind)
                }
                // The shader cannot access a descriptor of another kind.
                _ => continue,
            };
            (access.reads, access.writes) = (binding.reads, binding.writes);
            access.coverage = if is_single {
                Coverage::Unknown
            } else {
                Coverage::Part
            };
            access.stages = Some(binding.stages);
            access.reach = Some(binding.reach);
            self.accesses.push(ShaderAccess {
                access,
                binding: binding.clone(),
                is_single,
            });
        }
    }
}

impl ShaderAccess {
    /// Returns the reads and writes of a draw or dispatch: the part that is certainly accessed, then everything that may be accessed.
    fn performed(&self, dispatch: Option<Dispatch<'_>>) -> Vec<FollowedAccess> {
        let (binding, mut all) = (&self.binding, Vec::new());
        let is_draw = self.binding.stages != ash::vk::PipelineStageFlags2::COMPUTE_SHADER;
        let dispatch = dispatch.or(is_draw.then(|| [1; 3].into()));
        let dispatch = dispatch.filter(|_| self.is_single);
        let range = self.access.bytes[1] - self.access.bytes[0];
        let read = dispatch.and_then(|dispatch| binding.read_extent(dispatch, range));
        let written = dispatch.and_then(|dispatch| binding.written_extent(dispatch, range));
        let one = |reads, writes| FollowedAccess {
            reads,
            writes,
            ..self.access.clone()
        };
        if binding.reads {
            let is_certain = dispatch.is_some_and(|dispatch| binding.certainly_reads(dispatch));
            all.extend(self.certain_and_rest(one(true, false), read, is_certain || binding.always_reads));
        }
        if binding.writes {
            let is_certain = dispatch.is_some_and(|dispatch| binding.certainly_writes(dispatch));
            all.extend(self.certain_and_rest(one(false, true), written, is_certain || binding.always_writes));
        }
        all
    }

    /// Returns an access to the part that is known to be accessed completely, if any, and another access to everything in the descriptor, if that is more.
    fn certain_and_rest(
        &self,
        access: FollowedAccess,
        extent: Option<AccessRange>,
        always: bool,
    ) -> Vec<FollowedAccess> {
        let certain = extent.and_then(|extent| within(&access, extent));
        let is_all = certain.as_ref().is_some_and(|certain| {
            (certain.bytes, certain.area) == (access.bytes, access.area) && certain.range == access.range
        });
        let rest = FollowedAccess {
            is_conditional: !(always && self.is_single) || certain.is_some(),
            ..access
        };
        certain.into_iter().chain((!is_all).then_some(rest)).collect()
    }
}

/// Returns an image size or array length that a guard compares, if the binding has only one descriptor, which cannot change after the set is bound.
fn guard_value(using: &ShaderState, value: GuardValue) -> Option<u32> {
    use ash::vk::DescriptorBindingFlags as F;
    let (GuardValue::ImageSize { set, binding, .. } | GuardValue::ArrayLength { set, binding, .. }) = value
    else {
        return None;
    };
    let bound = using.sets.get(set)?;
    let layout = bound.set.layout.as_ref()?.binding(binding)?;
    let uncertain = F::UPDATE_AFTER_BIND | F::UPDATE_UNUSED_WHILE_PENDING | F::PARTIALLY_BOUND;
    let found = bound.set.at(binding, &bound.offsets);
    let [descriptor] = &found[..] else {
        return None;
    };
    if layout.flags.intersects(uncertain) {
        return None;
    }
    match (value, descriptor) {
        (GuardValue::ArrayLength { .. }, Descriptor::Buffer(range)) => {
            // A dynamic descriptor without its offset covers the whole buffer.
            let dynamic = bound.set.layout.iter().flat_map(|layout| layout.dynamic());
            let is_dynamic = layout.kind == ash::vk::DescriptorType::STORAGE_BUFFER_DYNAMIC;
            let is_known = !is_dynamic || bound.offsets.len() == dynamic.count();
            is_known.then(|| value.length_in(range.end.saturating_sub(range.first)))?
        }
        (GuardValue::ImageSize { axis, .. }, Descriptor::Image(view, _)) => {
            // A view of blocks as texels has a different size.
            let is_texel = |format| {
                let block = format::texel_block(format);
                block.is_some_and(|block| (block.width, block.height) == (1, 1))
            };
            let (image, level) = (&view.image, view.range.levels.first);
            let side = |side: u32| (side >> level.min(31)).max(1);
            let is_known = is_texel(view.format) && is_texel(image.desc.format);
            match axis {
                0 => Some(side(image.extent.width)),
                1 => Some(side(image.extent.height)),
                // A view may contain only some slices.
                2 if level == 0 => {
                    let slices = view.range.layers;
                    Some(slices.end.saturating_sub(slices.first))
                }
                _ => None,
            }
            .filter(|_| is_known)
        }
        _ => None,
    }
}

/// Returns the part of an access inside an extent, all of which is accessed; `None` if the part is empty or its location is unknown.
fn within(access: &FollowedAccess, extent: AccessRange) -> Option<FollowedAccess> {
    let size = |block: format::TexelBlock| (block.width, block.height);
    let mut certain = access.clone().whole();
    match (extent, &access.resource) {
        (AccessRange::Bytes(bytes), Resource::Buffer(_)) => {
            let at = |offset: u64| access.bytes[0].saturating_add(offset).min(access.bytes[1]);
            certain.bytes = [at(bytes.start), at(bytes.end)];
            (certain.bytes[0] < certain.bytes[1]).then_some(certain)
        }
        (AccessRange::Texels { start, end }, Resource::Image(image)) => {
            let level = access.range.levels.first;
            certain.range.levels = Run::new(level, level + 1);
            if image.is_3d() {
                let slices = access.range.layers;
                let at = |depth: u32| slices.first.saturating_add(depth).min(slices.end);
                certain.range.layers = Run::new(at(start[2]), at(end[2]));
            }
            let side = |axis: usize| end[axis].saturating_sub(start[axis]);
            let at = [0, 1].map(|axis| i32::try_from(start[axis]).unwrap_or(i32::MAX));
            certain.area = image.area(level, at, [side(0), side(1)]);
            let layers = certain.range.layers;
            let is_empty = |runs: [[u32; 2]; 2]| runs.iter().any(|run| run[0] >= run[1]);
            let is_some = layers.first < layers.end && !certain.area.is_some_and(is_empty);
            // Texels of a view with another format may be blocks of the image.
            let blocks =
                [access.format.unwrap_or(image.desc.format), image.desc.format].map(format::texel_block);
            // Which of several layers is accessed is not known; input attachments have their own coordinates.
            let is_known = image.is_3d() || layers.end - layers.first == 1;
            let is_texel = access.kind != AccessKind::InputAttachment;
            (is_some && is_known && is_texel && blocks[0].map(size) == blocks[1].map(size)).then_some(certain)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
