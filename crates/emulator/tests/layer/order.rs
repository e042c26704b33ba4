//! Recordings whose order or contents are valid or invalid by the text of the specification: one test per recording, with the verdict.
//!
//! The names are those of the table of verdicts and their reasons. `a` and `b` are buffers on the same bytes, `x` and `y` images with optimal tiling
//! on the same bytes. Writes and reads are dispatches unless a name says otherwise.

mod feedback;
mod scene;

use ash::vk;
use ash::vk::{AccessFlags2 as A, PipelineStageFlags2 as S};
use ash::vk::{AttachmentLoadOp as Load, AttachmentStoreOp as Store, ImageLayout as Layout};

use crate::rig::{Message, Rig, SIDE};
use feedback::Secondaries::{Each, One};
use feedback::{FROM, feedback, feedback_by_secondaries};
use scene::{
    CLEAR_WRITE, COLOR_WRITE, COPY_READ, COPY_WRITE, CS_NONE, CS_READ, CS_WRITE, DEPTH_WRITE, EVERYTHING,
    HALVES, IMAGES, NOTHING, SPAN, Scene, USAGE, memory_barrier, read_after_pass, read_aspect,
    read_resolved_depth, render_pass, run_unbound_secondary, transition, two_subpasses,
};

/// The verdict of the specification.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Verdict {
    /// Every access is ordered, and all contents that are read are defined.
    Valid,
    /// Two accesses lack a dependency.
    Unordered,
    /// Undefined contents are read.
    Undefined,
    /// The text requires a dependency that no implementation needs.
    Pedantic,
    /// It depends on the program's intention.
    Possible,
    /// Two accesses lack a dependency if both happen, or in the same place.
    PossiblyUnordered,
}

use Verdict::{Pedantic, Possible, PossiblyUnordered, Undefined, Unordered, Valid};

impl Verdict {
    /// The id of its messages; `None` for a valid program.
    fn id(self) -> Option<&'static str> {
        match self {
            Valid => None,
            Unordered => Some("TILEHEAP-missing-order"),
            Undefined => Some("TILEHEAP-reads-discarded"),
            Pedantic => Some("TILEHEAP-pedantic-order"),
            Possible => Some("TILEHEAP-possible-contents"),
            PossiblyUnordered => Some("TILEHEAP-possible-order"),
        }
    }

    /// Returns true if it is reported without a setting.
    fn is_certain(self) -> bool {
        matches!(self, Unordered | Undefined)
    }
}

/// Records, submits, and compares the messages with the verdict: first the certain ones, then all.
fn check(name: &str, verdict: Verdict, record: fn(&Scene<'_>)) {
    let certain = messages(name, verdict, record, "false");
    let expected: Vec<_> = verdict
        .id()
        .into_iter()
        .filter(|_| verdict.is_certain())
        .collect();
    assert_eq!(certain, expected, "{name} is {verdict:?}");
    let all = messages(name, verdict, record, "true");
    assert_eq!(
        all.first().map(String::as_str),
        verdict.id(),
        "{name} is {verdict:?}: {all:?}"
    );
    assert!(
        verdict.is_certain() || all.len() <= 1,
        "{name} is {verdict:?}: {all:?}"
    );
}

/// The ids of the layer's messages, certain ones first, each once; including possible ones if `all` is `true`.
fn messages(name: &str, verdict: Verdict, record: fn(&Scene<'_>), all: &str) -> Vec<String> {
    let (own, others) = run(record, all);
    // Validation 1.4.363 does not see the tile memory that a secondary command buffer inherits.
    let inherits = name.starts_with("self_dependency_of_");
    let is_expected = |id: &str| {
        verdict != Valid && id.starts_with("SYNC-HAZARD-")
            || inherits && id == "VUID-vkCmdDraw-commandBuffer-10746"
    };
    assert!(
        others.iter().all(|(id, _)| is_expected(id)),
        "{name}: {others:#?}"
    );
    let mut ids: Vec<_> = own.into_iter().map(|(id, _)| id).collect();
    ids.sort_unstable_by_key(|id| (id.contains("possible") || id.contains("pedantic"), id.clone()));
    ids.dedup();
    ids
}

/// Returns the messages of the layer, and those of others.
fn run(record: fn(&Scene<'_>), all: &str) -> (Vec<Message>, Vec<Message>) {
    let rig = Rig::new(&[
        ("tile_buffer_transfers", "true"),
        ("ordinary", "true"),
        ("possible", all),
        ("pedantic", all),
    ]);
    let object = rig.object(rig.heap_size());
    let buffer = || {
        use vk::BufferUsageFlags as U;
        let buffer = rig.tile_buffer(SPAN, U::STORAGE_BUFFER | U::TRANSFER_SRC | U::TRANSFER_DST);
        rig.bind_buffer(buffer, object, 0);
        buffer
    };
    let image = || rig.tile_image(vk::Format::R32_UINT, SIDE, USAGE, object, IMAGES);
    let (a, b, x, y) = (buffer(), buffer(), image(), image());
    let other = rig.host_buffer(SPAN as usize / 4).buffer;
    let commands = rig.record(|commands| {
        rig.bind(commands, Some(object));
        record(&Scene {
            rig: &rig,
            object,
            commands,
            a,
            b,
            other,
            x,
            y,
        });
    });
    rig.submit2(&[&[commands]]);
    let messages = rig.take_messages().into_iter();
    messages.partition(|(id, _)| id.starts_with("TILEHEAP-"))
}

#[test]
fn messages_name_the_aspect_and_how_it_is_read() {
    let (messages, _) = run(|scene| read_aspect(scene, vk::ImageAspectFlags::STENCIL), "false");
    let [(_, text)] = &messages[..] else {
        panic!("{messages:#?}")
    };
    for part in [
        " (D24_UNORM_S8_UINT, 64x64; aspect STENCIL) is read at [98304, ",
        ") of the tile heap, SHADER_SAMPLED_READ in COMPUTE_SHADER, where nothing of that part is defined\n",
        " (aspect STENCIL) by vkCmdBeginRendering, action command 1 ",
        "contents lost by a store operation DONT_CARE of image 0x",
        " (aspect STENCIL): vkCmdEndRendering, action command 2 ",
        "remedy: store the attachment with STORE",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

macro_rules! rows {
    ($($(#[$doc:meta])* $name:ident: $verdict:ident, $record:expr;)+) => {
        $(
            $(#[$doc])*
            #[test]
            fn $name() {
                check(stringify!($name), $verdict, $record);
            }
        )+

    };
}

rows! {
    /// "Location-Ordered": an available write stays available before the next write, which only needs to execute after the read.
    war_exec_only: Valid, |scene| {
        scene.write(scene.a);
        scene.memory(CS_WRITE, CS_READ);
        scene.read(scene.a);
        scene.memory(CS_NONE, CS_NONE);
        scene.write(scene.b);
    };
    war_exec_only_images: Valid, |scene| {
        scene.transition(scene.x, NOTHING, CS_WRITE);
        scene.write_image(scene.x);
        scene.memory(CS_WRITE, CS_READ);
        scene.read_image(scene.x);
        scene.transition(scene.y, CS_NONE, CS_WRITE);
        scene.write_image(scene.y);
    };
    war_bottom_top: Valid, |scene| {
        scene.write(scene.a);
        scene.memory(CS_WRITE, CS_READ);
        scene.read(scene.a);
        let (from, to) = (vk::PipelineStageFlags::BOTTOM_OF_PIPE, vk::PipelineStageFlags::TOP_OF_PIPE);
        let none = vk::DependencyFlags::empty();
        // SAFETY: Recording, outside render passes.
        unsafe { scene.rig.device.cmd_pipeline_barrier(scene.commands, from, to, none, &[], &[], &[]) };
        scene.write(scene.b);
    };
    /// The barrier between the read and the write makes `war_exec_only` valid.
    war_without_barrier: Unordered, |scene| {
        scene.write(scene.a);
        scene.memory(CS_WRITE, CS_READ);
        scene.read(scene.a);
        scene.write(scene.b);
    };
    /// Like `war_exec_only` with transfers, which certainly access all of their buffers.
    war_exec_only_transfers: Valid, |scene| {
        scene.fill(scene.a);
        scene.memory(CLEAR_WRITE, COPY_READ);
        scene.copy(scene.a, scene.other, (0, SPAN));
        scene.memory((S::COPY, A::NONE), (S::CLEAR, A::NONE));
        scene.fill(scene.b);
    };
    /// "Execution and Memory Dependencies": the first write must be available before the second one.
    waw_exec_only_fills: Unordered, |scene| {
        scene.fill(scene.a);
        scene.memory((S::CLEAR, A::NONE), (S::CLEAR, A::NONE));
        scene.fill(scene.b);
    };
    pingpong_copy: Valid, |scene| {
        scene.write(scene.a);
        scene.memory(CS_WRITE, COPY_READ);
        scene.copy(scene.a, scene.other, (0, SPAN));
        scene.memory((S::COPY, A::NONE), CS_NONE);
        scene.write(scene.b);
    };
    subpass_input: Valid, |scene| two_subpasses(scene, Store::STORE);
    subpass_dont_care: Valid, |scene| two_subpasses(scene, Store::DONT_CARE);
    /// "Image Layout Transitions": transitions on one queue execute in submission order.
    transition_twice: Valid, |scene| {
        let first = [transition(scene.x, Layout::SHADER_READ_ONLY_OPTIMAL, NOTHING, NOTHING)];
        scene.depend(&vk::DependencyInfo::default().image_memory_barriers(&first));
        scene.transition(scene.x, NOTHING, CS_WRITE);
        scene.write_image(scene.x);
    };
    /// "Memory Aliasing" requires a dependency between uses by two aliases.
    transitions_of_aliases: Pedantic, |scene| {
        scene.transition(scene.x, NOTHING, NOTHING);
        scene.transition(scene.y, NOTHING, CS_WRITE);
        scene.write_image(scene.y);
    };
    /// The transition of an alias makes an image undefined.
    transition_lost: Undefined, |scene| {
        scene.transition(scene.x, NOTHING, CS_WRITE);
        scene.write_image(scene.x);
        scene.rig.barrier(scene.commands);
        scene.transition(scene.y, EVERYTHING, EVERYTHING);
        scene.read_image(scene.x);
    };
    /// "Pipeline Stages": fills are clear commands.
    fill_copy_stage: Unordered, |scene| {
        scene.fill(scene.a);
        scene.memory(COPY_WRITE, CS_READ);
        scene.read(scene.a);
    };
    /// "Pipeline Stages": updates are clear commands.
    update_copy_stage: Unordered, |scene| {
        scene.update(scene.a);
        scene.memory(COPY_WRITE, CS_READ);
        scene.read(scene.a);
    };
    fill_all_transfer: Valid, |scene| {
        scene.fill(scene.a);
        scene.memory((S::ALL_TRANSFER, A::TRANSFER_WRITE), CS_READ);
        scene.read(scene.a);
    };
    fill_clear_stage: Valid, |scene| {
        scene.fill(scene.a);
        scene.memory(CLEAR_WRITE, CS_READ);
        scene.read(scene.a);
    };
    copy_copy_stage: Valid, |scene| {
        scene.copy(scene.other, scene.a, (0, SPAN));
        scene.memory(COPY_WRITE, CS_READ);
        scene.read(scene.a);
    };
    copy_clear_stage: Unordered, |scene| {
        scene.copy(scene.other, scene.a, (0, SPAN));
        scene.memory(CLEAR_WRITE, CS_READ);
        scene.read(scene.a);
    };
    /// "Render Pass", implicit subpass dependencies: the dependency of a final transition ends at BOTTOM_OF_PIPE without access.
    implicit_external: Unordered, |scene| read_after_pass(scene, Layout::COLOR_ATTACHMENT_OPTIMAL, COLOR_WRITE);
    /// Without a final transition there is no implicit dependency.
    implicit_same_layout: Valid, |scene| read_after_pass(scene, Layout::GENERAL, COLOR_WRITE);
    all_commands_after_final: Valid, |scene| {
        read_after_pass(scene, Layout::COLOR_ATTACHMENT_OPTIMAL, (S::ALL_COMMANDS, A::MEMORY_WRITE));
    };
    no_barrier: Unordered, |scene| {
        scene.write(scene.a);
        scene.read(scene.a);
    };
    /// Every invocation writes a word, so all of the buffer is written.
    no_barrier_between_writes: Unordered, |scene| {
        scene.write(scene.a);
        scene.write(scene.b);
    };
    no_barrier_between_fills: Unordered, |scene| {
        scene.fill(scene.a);
        scene.fill(scene.a);
    };
    no_barrier_between_secondaries: Unordered, |scene| {
        scene.fill_by_secondary(scene.a);
        scene.fill_by_secondary(scene.b);
    };
    disjoint_copies: Valid, |scene| {
        scene.copy(scene.other, scene.a, (0, SPAN / 2));
        scene.copy(scene.other, scene.a, (SPAN / 2, SPAN));
    };
    overlapping_copies: Unordered, |scene| {
        scene.copy(scene.other, scene.a, (0, SPAN / 2 + 4));
        scene.copy(scene.other, scene.a, (SPAN / 2, SPAN));
    };
    /// "Render Pass Load Operations", "Render Pass Store Operations": they may access all of the subresource.
    disjoint_areas: Pedantic, |scene| {
        scene.transition(scene.x, NOTHING, COLOR_WRITE);
        scene.clear_columns((0, SIDE / 2));
        scene.clear_columns((SIDE / 2, SIDE));
    };
    overlapping_areas: Unordered, |scene| {
        scene.transition(scene.x, NOTHING, COLOR_WRITE);
        scene.clear_columns((0, SIDE / 2 + 1));
        scene.clear_columns((SIDE / 2, SIDE));
    };
    /// `VkImageMemoryBarrier2`: the first access scope is limited to accesses through the barrier's own image.
    alias_barrier: Unordered, |scene| {
        scene.transition(scene.x, NOTHING, CS_WRITE);
        scene.write_image(scene.x);
        scene.transition(scene.y, CS_WRITE, CS_WRITE);
        scene.write_image(scene.y);
    };
    alias_barrier_with_memory: Valid, |scene| {
        scene.transition(scene.x, NOTHING, CS_WRITE);
        scene.write_image(scene.x);
        let memory = [memory_barrier(CS_WRITE, NOTHING)];
        let images = [transition(scene.y, Layout::GENERAL, CS_WRITE, CS_WRITE)];
        let both = vk::DependencyInfo::default().memory_barriers(&memory);
        scene.depend(&both.image_memory_barriers(&images));
        scene.write_image(scene.y);
    };
    /// A pass that loads nothing has no contents that a secondary command buffer could discard.
    load_dont_care: Valid, |scene| {
        scene.transition(scene.x, NOTHING, EVERYTHING);
        scene.write_image(scene.x);
        scene.rig.barrier(scene.commands);
        let pass = render_pass(scene, (Load::DONT_CARE, Store::STORE), [Layout::GENERAL; 3]);
        scene.pass(pass, vk::SubpassContents::SECONDARY_COMMAND_BUFFERS, |framebuffer| {
            run_unbound_secondary(scene, pass, framebuffer);
        });
    };
    /// "Render Pass Load Operations": contents are undefined after DONT_CARE, and a store operation writes these.
    loaded_dont_care_and_stored: Undefined, |scene| {
        scene.transition(scene.x, NOTHING, EVERYTHING);
        scene.write_image(scene.x);
        scene.rig.barrier(scene.commands);
        let pass = render_pass(scene, (Load::DONT_CARE, Store::STORE), [Layout::GENERAL; 3]);
        scene.pass(pass, vk::SubpassContents::INLINE, |_| ());
        scene.rig.barrier(scene.commands);
        scene.read_image(scene.x);
    };
    /// "Subpass Self-Dependency": after a barrier, a draw may read pixels of an earlier draw of its subpass. Pipelines may order both.
    self_dependency: Valid, |scene| feedback(scene, true);
    self_dependency_missing: PossiblyUnordered, |scene| feedback(scene, false);
    /// Barriers are in the secondary command buffers: nothing else may be recorded between these.
    self_dependency_of_secondaries: Valid, |scene| feedback_by_secondaries(scene, Each(1), Some(FROM.1));
    self_dependency_of_secondaries_missing: PossiblyUnordered, |scene| feedback_by_secondaries(scene, Each(1), None);
    self_dependency_of_secondaries_unavailable: PossiblyUnordered, |scene| {
        feedback_by_secondaries(scene, Each(1), Some(vk::AccessFlags::empty()));
    };
    self_dependency_of_one_secondary: Valid, |scene| feedback_by_secondaries(scene, One, Some(FROM.1));
    self_dependency_of_one_secondary_missing: PossiblyUnordered, |scene| feedback_by_secondaries(scene, One, None);
    self_dependency_of_one_secondary_unavailable: PossiblyUnordered, |scene| {
        feedback_by_secondaries(scene, One, Some(vk::AccessFlags::empty()));
    };
    /// The only draw reads what was loaded.
    self_dependency_of_one_draw: Valid, |scene| feedback_by_secondaries(scene, Each(0), None);
    /// "Render Pass Multisample Resolve Operations": resolves of depth are also color attachment writes.
    depth_resolve: Valid, |scene| read_resolved_depth(scene, COLOR_WRITE);
    depth_resolve_late_tests: Unordered, |scene| read_resolved_depth(scene, DEPTH_WRITE);
    /// "Memory Aliasing": a write through an alias that interprets the bytes in a different way makes them undefined.
    overwritten_inconsistent: Undefined, |scene| {
        scene.transition(scene.x, NOTHING, EVERYTHING);
        scene.write_image(scene.x);
        scene.rig.barrier(scene.commands);
        scene.transition(scene.y, EVERYTHING, EVERYTHING);
        scene.write_image(scene.y);
        scene.rig.barrier(scene.commands);
        scene.read_image(scene.x);
    };
    /// "Render Pass Store Operations": stencil that is not stored is undefined, but depth of the same image is defined.
    stencil_dont_care: Undefined, |scene| read_aspect(scene, vk::ImageAspectFlags::STENCIL);
    depth_with_stencil_dont_care: Valid, |scene| read_aspect(scene, vk::ImageAspectFlags::DEPTH);
    /// "Descriptor Set Binding": a dynamic offset moves the bytes of a descriptor.
    dynamic_halves: Valid, |scene| {
        scene.write_halves(scene.a, &HALVES);
        scene.memory(CS_WRITE, CS_READ);
        scene.read_halves(scene.a, &HALVES[..1]);
        scene.read_halves(scene.a, &HALVES[1..]);
    };
    dynamic_halves_in_any_order: Valid, |scene| {
        scene.write_halves(scene.a, &HALVES[1..]);
        scene.memory(CS_WRITE, CS_READ);
        scene.write_halves(scene.a, &HALVES[..1]);
        scene.read_halves(scene.a, &HALVES[1..]);
    };
    no_barrier_before_a_dynamic_half: Unordered, |scene| {
        scene.write_halves(scene.a, &HALVES[..1]);
        scene.memory(CS_WRITE, CS_READ);
        scene.write_halves(scene.a, &HALVES[1..]);
        scene.read_halves(scene.a, &HALVES);
    };
    never_written_dynamic_half: Undefined, |scene| {
        scene.write_halves(scene.a, &HALVES[..1]);
        scene.memory(CS_WRITE, CS_READ);
        scene.read_halves(scene.a, &HALVES[1..]);
    };
    /// "Dispatching Commands": nothing is read without workgroups.
    never_written_no_groups: Valid, |scene| scene.read_nothing(scene.a);
    never_written: Undefined, |scene| scene.read(scene.a);
    /// The read depends on a condition of the shader.
    never_written_conditional: Possible, |scene| scene.read_unless(scene.a);
    /// Some invocations pass the bounds check.
    never_written_guarded: Undefined, |scene| scene.read_some(scene.a);
    never_written_computed_guard: Possible, |scene| scene.read_computed_count(scene.a);
    /// "Dispatching Commands": the size may be zero.
    never_written_indirect: Possible, |scene| scene.read_indirectly(scene.a);
    never_written_indirect_first: Undefined, |scene| {
        scene.read_indirectly(scene.a);
        scene.read(scene.a);
    };
    /// "Memory Aliasing": buffers interpret bytes in the same way; whether the program means to read the other buffer's data is unknown.
    overwritten_consistent: Possible, |scene| {
        scene.write(scene.a);
        scene.rig.barrier(scene.commands);
        scene.write(scene.b);
        scene.rig.barrier(scene.commands);
        scene.read(scene.a);
    };
}
