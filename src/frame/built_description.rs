//! A copy of the description from which a frame was built, for comparison with later descriptions.

use super::tables::{Pass, Resource, Tables};
use super::{Frame, FrameBuilder};

/// A description from which a frame was built. The names of its passes and resources are stored only in the frame.
pub(crate) struct BuiltDescription {
    /// The declared tables; the names of passes and resources are empty.
    tables: Tables,
    frame: Frame,
}

impl BuiltDescription {
    /// Copies a description from which `frame`, or an equal frame, was built.
    pub(crate) fn new(description: &FrameBuilder, frame: &Frame) -> BuiltDescription {
        let Tables {
            name,
            base_extent,
            queues,
            semaphores,
            submits,
            batches,
            command_buffers,
            passes,
            accesses,
            resources,
            ..
        } = &description.tables;
        debug_assert!(
            passes
                .iter()
                .zip(frame.pass_names())
                .all(|(pass, name)| pass.name == name)
        );
        debug_assert!((resources.iter().zip(frame.resource_names())).all(|(one, name)| one.name == name));
        BuiltDescription {
            tables: Tables {
                name: name.clone(),
                base_extent: *base_extent,
                queues: queues.clone(),
                semaphores: semaphores.clone(),
                submits: submits.clone(),
                batches: batches.clone(),
                command_buffers: command_buffers.clone(),
                passes: passes.iter().map(Pass::without_name).collect(),
                accesses: accesses.clone(),
                resources: resources.iter().map(Resource::without_name).collect(),
                ..Tables::default()
            },
            frame: frame.clone(),
        }
    }

    /// Returns true if `description` describes the same frame.
    pub(crate) fn is_like(&self, description: &FrameBuilder) -> bool {
        let (known, named) = (&self.tables, &self.frame);
        let Tables {
            name,
            base_extent,
            queues,
            semaphores,
            submits,
            batches,
            command_buffers,
            passes,
            accesses,
            resources,
            // Derived by validation.
            uses: _,
            uses_of: _,
            lifetimes: _,
            parts: _,
            parts_of: _,
            before: _,
        } = &description.tables;
        // Level images follow the declared resources of a frame.
        let same_counts = (passes.len(), resources.len()) == (known.passes.len(), known.resources.len());
        let mut named_passes = passes.iter().zip(named.pass_names()).zip(&known.passes);
        let mut named_resources = resources.iter().zip(named.resource_names()).zip(&known.resources);
        description.fault.is_none()
            && same_counts
            && (name, base_extent) == (&known.name, &known.base_extent)
            && (queues, semaphores) == (&known.queues, &known.semaphores)
            && (submits, batches) == (&known.submits, &known.batches)
            && *command_buffers == known.command_buffers
            && named_passes.all(|((own, name), known)| own.name == name && own.is_like(known))
            && *accesses == known.accesses
            && named_resources.all(|((own, name), known)| own.name == name && own.is_like(known))
    }
}

/// Implements `without_name` and `is_like` for types of table rows, each with its fields other than `name`.
macro_rules! rows_with_names {
    ($($row:ident { $($field:ident),* $(,)? })*) => {
        $(impl $row {
            fn without_name(&self) -> $row {
                let $row { name: _, $($field),* } = *self;
                $row { name: String::new(), $($field),* }
            }

            /// Returns true if all fields except the names are equal.
            fn is_like(&self, other: &$row) -> bool {
                let $row { name: _, $($field),* } = self;
                $(*$field == other.$field)&&*
            }
        })*
    };
}

rows_with_names! {
    Pass {
        command_buffer,
        kind,
        contents,
        tile_shading,
        accesses,
        render_area,
        subpasses,
        area,
        layers,
        view_mask,
        repeat_bytes,
        optional,
        hook,
        samples,
    }
    Resource {
        kind,
        persistence,
        tile_constraint,
        level_of,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::TileConstraint;
    use crate::frame::synthetic::{SyntheticDesc, synthetic};

    #[test]
    fn only_the_same_description_is_like_a_built_one() {
        let frame = synthetic(7, SyntheticDesc::default());
        let description = frame.to_builder();
        let built = BuiltDescription::new(&description, &description.to_frame().unwrap());
        assert!(built.is_like(&description.clone()));
        let changes: [fn(&mut Tables); 9] = [
            |tables| tables.name.push('2'),
            |tables| tables.base_extent.width += 1,
            |tables| tables.passes[3].name.push('2'),
            |tables| tables.passes[3].hook += 1,
            |tables| tables.accesses[5].resource.0 += 1,
            |tables| tables.resources[4].name.push('2'),
            |tables| tables.resources[4].tile_constraint = TileConstraint::Excluded,
            |tables| drop(tables.resources.pop()),
            |tables| tables.accesses[5].pass.0 += 1,
        ];
        for (index, change) in changes.iter().enumerate() {
            let mut other = description.clone();
            change(&mut other.tables);
            assert!(!built.is_like(&other), "change {index}");
        }
    }
}
