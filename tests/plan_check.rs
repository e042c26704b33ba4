//! The plan checker on plans made by hand: it accepts the sound ones, and names what is wrong with the others.
//!
//! A test damages a sound plan in one way and looks for the fault that belongs to it, among others where the damage breaks
//! several rules.

mod hand;

use ash::vk::{
    AccessFlags2 as A, AttachmentLoadOp, AttachmentStoreOp, ImageLayout as L, PipelineStageFlags2 as S,
};
use hand::{BLOCK, DEVICE_LOCAL, Eraser, LAZY, TILE, deferred, late, two_queues};
use std::sync::Arc;
use tileheap::plan::{
    BarrierFault, BytesFault, Cause, CheckFault, ContentsFault, HazardFault, Home, Lack, LayoutFault, Loss,
    ObjectId, OperationFault, PlacementId, Plan, Reason, ResidenceFault, Strategy, StructureFault, TileRule,
    TotalFault, Totals, Touch,
};
use tileheap::profile::{Dedicated, DeviceProfile, Features, Requirements, ResourceRequirements};
use tileheap::units::{Alignment, Bytes, Run, Span};

/// The faults of a sound plan after `damage`.
fn faults(mut plan: Plan, damage: impl FnOnce(&mut Plan)) -> Vec<CheckFault> {
    assert_eq!(plan.faults(), [], "the plan is sound before the damage");
    damage(&mut plan);
    plan.faults()
}

/// Asserts that one of the faults matches a pattern.
macro_rules! assert_fault {
    ($faults:expr, $pattern:pat $(if $guard:expr)?) => {{
        let faults = $faults;
        assert!(
            faults.iter().any(|fault| matches!(fault, $pattern $(if $guard)?)),
            "none of these is {}: {faults:#?}",
            stringify!($pattern)
        );
    }};
}

fn change_profile(plan: &mut Plan, change: impl FnOnce(&mut DeviceProfile)) {
    change(Arc::make_mut(&mut plan.profile));
}

fn change_requirement(plan: &mut Plan, resource: &str, change: impl FnOnce(&mut ResourceRequirements)) {
    let index = plan.frame.resource_named(resource).unwrap().index();
    let requirements: &mut Requirements = Arc::make_mut(&mut plan.requirements);
    change(&mut requirements.resources[index]);
}

/// The plan that reads tile memory in the second batch, on a device that allows it.
fn late_in_submit() -> Plan {
    let mut plan = late();
    change_profile(&mut plan, |profile| {
        profile.tile.as_mut().unwrap().queue_submit_boundary = true
    });
    plan
}

#[test]
fn a_sound_plan_is_accepted() {
    assert_eq!(deferred().faults(), []);
    assert_eq!(deferred().check(), Ok(()));
}

#[test]
fn a_sound_plan_on_two_queues_is_accepted() {
    assert_eq!(two_queues(S::ALL_COMMANDS).faults(), []);
}

mod structure {
    use super::*;

    #[test]
    fn tables_run_parallel_to_the_frames() {
        let found = faults(deferred(), |plan| {
            plan.accesses.pop();
        });
        assert_fault!(
            found,
            CheckFault::Structure(StructureFault::Length {
                table: "accesses",
                ..
            })
        );
    }

    #[test]
    fn indices_are_inside_their_tables() {
        let found = faults(deferred(), |plan| {
            plan.planned("bloom").bound = Some(ObjectId::new(7))
        });
        assert_fault!(
            found,
            CheckFault::Structure(StructureFault::Index {
                table: "objects",
                index: 7,
                ..
            })
        );
        let found = faults(deferred(), |plan| {
            plan.access("merge", "hdr").placement = PlacementId::new(99)
        });
        assert_fault!(
            found,
            CheckFault::Structure(StructureFault::Index {
                table: "placements",
                ..
            })
        );
        let found = faults(deferred(), |plan| plan.objects[0].memory_type = 3);
        assert_fault!(
            found,
            CheckFault::Structure(StructureFault::Index {
                table: "memory_types",
                ..
            })
        );
    }

    #[test]
    fn runs_cover_every_barrier_once() {
        let found = faults(deferred(), |plan| plan.planned("cull").before.end += 1);
        assert_fault!(
            found,
            CheckFault::Structure(StructureFault::Covered {
                table: "barriers",
                times: 2,
                ..
            })
        );
        let found = faults(deferred(), |plan| plan.planned("cull").before.end -= 1);
        assert_fault!(
            found,
            CheckFault::Structure(StructureFault::Covered {
                table: "barriers",
                times: 0,
                ..
            })
        );
        let found = faults(deferred(), |plan| {
            plan.planned("cull").before = Run { first: 9, end: 1000 }
        });
        assert_fault!(
            found,
            CheckFault::Structure(StructureFault::RunOutside { end: 1000, .. })
        );
        let found = faults(deferred(), |plan| {
            plan.planned("cull").before = Run { first: 5, end: 4 }
        });
        assert_fault!(found, CheckFault::Structure(StructureFault::RunOutside { .. }));
    }

    #[test]
    fn everything_refers_to_its_own_resource() {
        let found = faults(deferred(), |plan| {
            let other = plan.access("merge", "hdr").placement;
            plan.access("merge", "bloom").placement = other;
        });
        assert_fault!(
            found,
            CheckFault::Structure(StructureFault::Foreign { resource, owner, .. }) if resource == "bloom" && owner == "hdr"
        );
    }

    #[test]
    fn a_history_that_is_read_has_two_placements() {
        let found = faults(deferred(), |plan| {
            let previous = plan.access("merge", "history").placement;
            let resource = plan.frame.resource_named("history").unwrap();
            let run = &mut plan.resources[resource.index()].placements;
            run.end -= 1;
            assert_eq!(run.end as usize, previous.index());
        });
        assert_fault!(
            found,
            CheckFault::Structure(StructureFault::Covered {
                table: "placements",
                ..
            })
        );
    }

    #[test]
    fn current_and_previous_versions_are_told_apart() {
        let found = faults(deferred(), |plan| {
            let previous = plan.access("merge", "history").placement;
            plan.access("tonemap", "history").placement = previous;
        });
        assert_fault!(
            found,
            CheckFault::Structure(StructureFault::WrongVersion { pass, version: "current", .. }) if pass == "tonemap"
        );
    }

    #[test]
    fn spans_hold_the_uses() {
        let found = faults(deferred(), |plan| {
            plan.placement("albedo", 0).span = Span::new(0, 2)
        });
        assert_fault!(found, CheckFault::Structure(StructureFault::SpanMissesUse { pass, .. }) if pass == "lighting");
        let found = faults(deferred(), |plan| {
            plan.placement("bloom", 0).span = Span::new(3, 7)
        });
        assert_fault!(
            found,
            CheckFault::Structure(StructureFault::SpanOutside { steps: 6, .. })
        );
    }

    #[test]
    fn reasons_name_the_home() {
        let found = faults(deferred(), |plan| {
            let bloom = plan.frame.resource_named("bloom").unwrap();
            plan.resources[bloom.index()].reason = Reason::External;
        });
        assert_fault!(
            found,
            CheckFault::Structure(StructureFault::Reason { home: Home::Tile, .. })
        );
    }
}

mod bytes {
    use super::*;

    #[test]
    fn tile_offsets_are_multiples_of_any_alignment() {
        let found = faults(deferred(), |plan| {
            plan.placement("depth", 0).offset = Bytes(5 * 8192)
        });
        assert_fault!(
            found,
            CheckFault::Bytes(BytesFault::Misaligned { home: Home::Tile, .. })
        );
        let found = faults(deferred(), |plan| plan.placement("hdr", 0).offset = Bytes(128));
        assert_fault!(
            found,
            CheckFault::Bytes(BytesFault::Misaligned {
                home: Home::Arena,
                ..
            })
        );
    }

    #[test]
    fn placements_are_large_enough_and_inside() {
        let found = faults(deferred(), |plan| {
            plan.placement("bloom", 0).size = Bytes(BLOCK - 1)
        });
        assert_fault!(
            found,
            CheckFault::Bytes(BytesFault::TooSmall {
                needs: Bytes(BLOCK),
                ..
            })
        );
        let found = faults(deferred(), |plan| plan.objects[1].size = Bytes(BLOCK - 1));
        assert_fault!(found, CheckFault::Bytes(BytesFault::PastObject { resource, .. }) if resource == "bloom");
        let found = faults(deferred(), |plan| plan.placement("hdr", 0).size = Bytes(u64::MAX));
        assert_fault!(found, CheckFault::Bytes(BytesFault::PastObject { resource, .. }) if resource == "hdr");
    }

    #[test]
    fn lives_that_overlap_do_not_share_bytes() {
        let found = faults(deferred(), |plan| {
            plan.placement("depth", 0).offset = Bytes(2 * BLOCK)
        });
        assert_fault!(
            found,
            CheckFault::Bytes(BytesFault::Overlap { first, second, offset: Bytes(o), bytes: Bytes(b), .. })
                if first == "albedo" && second == "depth" && *o == 2 * BLOCK && *b == BLOCK
        );
        let found = faults(deferred(), |plan| {
            plan.placement("albedo", 0).span = Span::new(0, 4)
        });
        assert_fault!(found, CheckFault::Bytes(BytesFault::Overlap { second, .. }) if second == "bloom");
    }

    #[test]
    fn buffers_and_images_keep_to_their_pages() {
        let found = faults(deferred(), |plan| {
            change_requirement(plan, "hdr", |hdr| hdr.size = Bytes(1000));
            plan.placement("hdr", 0).size = Bytes(1000);
            change_requirement(plan, "lights", |lights| lights.size = Bytes(1024));
            let lights = plan.placement("lights", 0);
            (lights.offset, lights.size) = (Bytes(1024), Bytes(1024));
            // Until here they do not touch; one page holds both when it is twice as large.
            change_profile(plan, |profile| {
                profile.limits.buffer_image_granularity = Alignment::new(2048).unwrap();
            });
        });
        assert_fault!(
            found,
            CheckFault::Bytes(BytesFault::Granularity { first, second, .. }) if first == "hdr" && second == "lights"
        );
    }

    #[test]
    fn objects_are_of_the_right_type_and_size() {
        let found = faults(deferred(), |plan| plan.objects[2].memory_type = TILE);
        assert_fault!(
            found,
            CheckFault::Bytes(BytesFault::ObjectType {
                home: Home::Arena,
                ..
            })
        );
        let found = faults(deferred(), |plan| plan.objects[0].memory_type = DEVICE_LOCAL);
        assert_fault!(
            found,
            CheckFault::Bytes(BytesFault::ObjectType { home: Home::Tile, .. })
        );
        let found = faults(deferred(), |plan| plan.objects[2].memory_type = LAZY);
        assert_fault!(
            found,
            CheckFault::Bytes(BytesFault::ObjectType {
                home: Home::Arena,
                ..
            })
        );
        let found = faults(deferred(), |plan| plan.objects[0].size = Bytes(10 * BLOCK + 1));
        assert_fault!(
            found,
            CheckFault::Bytes(BytesFault::ObjectTooLarge { object: 0, .. })
        );
        let found = faults(deferred(), |plan| plan.objects[2].size = Bytes::mib(33));
        assert_fault!(
            found,
            CheckFault::Bytes(BytesFault::ObjectTooLarge { object: 2, .. })
        );
        let found = faults(deferred(), |plan| {
            change_requirement(plan, "hdr", |hdr| hdr.memory_type_bits = 0b10)
        });
        assert_fault!(found, CheckFault::Bytes(BytesFault::TypeNotAllowed { resource, .. }) if resource == "hdr");
        let found = faults(deferred(), |plan| {
            plan.placement("hdr", 0).object = Some(ObjectId::new(0))
        });
        assert_fault!(found, CheckFault::Bytes(BytesFault::WrongObject { resource, .. }) if resource == "hdr");
    }

    #[test]
    fn dedicated_means_alone() {
        let require = |plan: &mut Plan| {
            change_requirement(plan, "hdr", |hdr| hdr.dedicated = Dedicated::Required);
        };
        let found = faults(deferred(), require);
        assert_fault!(&found, CheckFault::Bytes(BytesFault::NotDedicated { resource, .. }) if resource == "hdr");
        assert_fault!(&found, CheckFault::Bytes(BytesFault::Shared { resource, .. }) if resource == "hdr");
        let prefer = |plan: &mut Plan| {
            change_requirement(plan, "hdr", |hdr| hdr.dedicated = Dedicated::Preferred);
        };
        assert_eq!(faults(deferred(), prefer), []);
    }

    #[test]
    fn bytes_are_shared_only_if_that_was_asked_for() {
        let found = faults(deferred(), |plan| plan.options.aliasing = false);
        assert_fault!(found, CheckFault::Bytes(BytesFault::AliasedAgainstOptions { first, .. }) if first == "albedo");
    }

    #[test]
    fn shared_bytes_need_an_order_between_queues() {
        // `blurred` is written while `scene` is read, on the other queue and in no order without the semaphore.
        let found = faults(two_queues(S::ALL_COMMANDS), |plan| {
            plan.placement("blurred", 0).offset = Bytes(0);
        });
        assert_fault!(found, CheckFault::Bytes(BytesFault::Overlap { .. }));
    }
}

mod residence {
    use super::*;

    fn to_tile(plan: &mut Plan, resource: &str) {
        let stay = plan.placement(resource, 0);
        (stay.home, stay.object) = (Home::Tile, Some(ObjectId::new(0)));
    }

    fn rule(found: &[CheckFault], of: &str) -> TileRule {
        let mut rules = found.iter().filter_map(|fault| match fault {
            CheckFault::Residence(ResidenceFault::Tile { resource, rule }) if resource == of => {
                Some(rule.clone())
            }
            _ => None,
        });
        rules
            .next_back()
            .unwrap_or_else(|| panic!("no rule keeps `{of}` out: {found:#?}"))
    }

    #[test]
    fn only_what_the_rules_admit_is_in_tile_memory() {
        let of = |resource| rule(&faults(deferred(), |plan| to_tile(plan, resource)), resource);
        assert_eq!(of("history"), TileRule::NotTransient);
        assert_eq!(of("screen"), TileRule::NotTransient);
        assert_eq!(of("hdr"), TileRule::Refused);
        let found = faults(deferred(), |plan| {
            change_profile(plan, |profile| profile.tile = None)
        });
        assert_eq!(rule(&found, "bloom"), TileRule::NoTileHeap);
    }

    #[test]
    fn tile_memory_is_of_one_queue() {
        let found = faults(two_queues(S::ALL_COMMANDS), |plan| {
            change_requirement(plan, "scene", |scene| scene.tile = hand::requirement(0, 3).tile);
            to_tile(plan, "scene");
        });
        let (first, second) = ("draw".to_owned(), "blur".to_owned());
        assert_eq!(rule(&found, "scene"), TileRule::TwoQueues { first, second });
    }

    #[test]
    fn a_tile_resource_is_used_with_its_own_object_bound() {
        // Object 1 has the same size, and even holds the same bytes.
        let found = faults(deferred(), |plan| {
            plan.objects[1].size = plan.objects[0].size;
            plan.planned("lighting").bound = Some(ObjectId::new(1));
        });
        assert_fault!(
            found,
            CheckFault::Residence(ResidenceFault::WrongObjectBound { pass, resource, object: 0, .. })
                if pass == "lighting" && resource == "albedo"
        );
        let found = faults(deferred(), |plan| plan.planned("lighting").bound = None);
        assert_fault!(
            found,
            CheckFault::Residence(ResidenceFault::WrongObjectBound { bound, .. }) if bound == "nothing"
        );
    }

    #[test]
    fn only_tile_objects_are_bound() {
        let found = faults(deferred(), |plan| {
            plan.planned("tonemap").bound = Some(ObjectId::new(2))
        });
        assert_fault!(
            found,
            CheckFault::Residence(ResidenceFault::BoundNotTile { object: 2, .. })
        );
    }

    #[test]
    fn lazy_memory_is_for_attachments_of_one_pass() {
        let found = faults(deferred(), |plan| {
            let object = plan.objects.len() as u32;
            plan.objects.push(tileheap::plan::Object {
                home: Home::Lazy,
                memory_type: LAZY,
                size: Bytes(1 << 16),
            });
            let stay = plan.placement("hdr", 0);
            (stay.home, stay.object) = (Home::Lazy, Some(ObjectId::new(object)));
        });
        assert_fault!(found, CheckFault::Residence(ResidenceFault::Lazy { resource, .. }) if resource == "hdr");
    }

    #[test]
    fn a_history_keeps_its_bytes() {
        let found = faults(deferred(), |plan| {
            plan.placement("history", 1).span = Span::new(4, 5)
        });
        assert_fault!(found, CheckFault::Residence(ResidenceFault::History { .. }));
    }

    #[test]
    fn external_memory_is_the_callers() {
        let found = faults(deferred(), |plan| {
            plan.placement("screen", 0).object = Some(ObjectId::new(2))
        });
        assert_fault!(found, CheckFault::Residence(ResidenceFault::External { .. }));
        let found = faults(deferred(), |plan| plan.placement("hdr", 0).object = None);
        assert_fault!(found, CheckFault::Residence(ResidenceFault::External { .. }));
    }

    #[test]
    fn options_are_followed() {
        let found = faults(deferred(), |plan| plan.options.strategy = Strategy::Off);
        assert_fault!(
            found,
            CheckFault::Residence(ResidenceFault::AgainstOptions { home: Home::Tile, .. })
        );
    }
}

mod contents {
    use super::*;

    fn loss(found: &[CheckFault], of: &str) -> Loss {
        let mut losses = found.iter().filter_map(|fault| match fault {
            CheckFault::Contents(ContentsFault::Lost { resource, loss, .. }) if resource == of => {
                Some(loss.clone())
            }
            CheckFault::Contents(ContentsFault::Exit { resource, loss }) if resource == of => {
                Some(loss.clone())
            }
            _ => None,
        });
        losses
            .next_back()
            .unwrap_or_else(|| panic!("`{of}` loses nothing: {found:#?}"))
    }

    fn in_pass(pass: &str) -> String {
        pass.to_owned()
    }

    /// A plan in which `cull` uses no tile memory, but runs while `albedo` lives.
    fn bystander() -> Plan {
        let mut plan = deferred();
        plan.planned("cull").bound = None;
        plan
    }

    #[test]
    fn a_pass_with_nothing_bound_discards_everything() {
        let found = bystander().faults();
        assert_eq!(
            loss(&found, "albedo"),
            Loss::Unbound {
                pass: in_pass("cull")
            }
        );
    }

    #[test]
    fn a_pass_with_less_bound_discards_what_is_above() {
        let found = faults(deferred(), |plan| {
            plan.planned("cull").bound = Some(ObjectId::new(1))
        });
        let (bound, end) = (Bytes(BLOCK), Bytes(3 * BLOCK));
        let pass = in_pass("cull");
        assert_eq!(loss(&found, "albedo"), Loss::BoundTooSmall { pass, bound, end });
    }

    #[test]
    fn tile_memory_forgets_at_the_end_of_the_batch_or_of_the_submit() {
        let found = late().faults();
        let last = in_pass("merge");
        assert_eq!(loss(&found, "bloom"), Loss::WindowEnded { last });
        let (first, second) = (in_pass("bloom"), in_pass("late"));
        let rule = TileRule::TwoWindows { first, second };
        assert!(
            found.contains(
                &ResidenceFault::Tile {
                    resource: "bloom".to_owned(),
                    rule
                }
                .into()
            ),
            "{found:#?}"
        );
        let mut plan = late();
        change_profile(&mut plan, |profile| {
            profile.tile.as_mut().unwrap().queue_submit_boundary = true
        });
        assert_eq!(plan.faults(), []);
    }

    #[test]
    fn what_is_not_stored_is_lost() {
        let found = faults(deferred(), |plan| {
            plan.access("gbuffer", "albedo").store_op = AttachmentStoreOp::DONT_CARE;
        });
        assert_eq!(
            loss(&found, "albedo"),
            Loss::NotStored {
                pass: in_pass("gbuffer")
            }
        );
        let found = faults(deferred(), |plan| {
            plan.access("tonemap", "screen").store_op = AttachmentStoreOp::DONT_CARE;
        });
        assert_eq!(
            loss(&found, "screen"),
            Loss::NotStored {
                pass: in_pass("tonemap")
            }
        );
    }

    #[test]
    fn a_history_is_stored_for_the_next_frame() {
        let found = faults(deferred(), |plan| {
            plan.access("merge", "history").store_op = AttachmentStoreOp::STORE;
            let run = plan.resources[plan.frame.resource_named("history").unwrap().index()].placements;
            // The write of `merge` goes to the version that nobody wrote before, and is dropped.
            let index = plan
                .frame
                .accesses()
                .iter()
                .zip(&plan.accesses)
                .position(|(access, planned)| {
                    access.writes && planned.placement.index() == run.first as usize
                });
            plan.accesses[index.unwrap()].store_op = AttachmentStoreOp::DONT_CARE;
        });
        assert_fault!(
            found,
            CheckFault::Contents(ContentsFault::Lost { pass, loss: Loss::NotStored { .. }, .. }) if pass == "tonemap"
        );
    }

    #[test]
    fn a_barrier_from_undefined_discards() {
        let found = faults(deferred(), |plan| {
            plan.barrier_before("lighting", "albedo").old_layout = L::UNDEFINED;
        });
        assert_eq!(
            loss(&found, "albedo"),
            Loss::Discarded {
                pass: in_pass("lighting")
            }
        );
    }

    #[test]
    fn another_resource_in_the_same_bytes_destroys_contents() {
        let found = faults(deferred(), |plan| {
            plan.placement("hdr", 0).offset = Bytes(64 << 10);
        });
        assert_eq!(
            loss(&found, "lights"),
            Loss::Overwritten {
                by: "hdr".to_owned(),
                pass: in_pass("lighting")
            }
        );
    }
}

mod barriers {
    use super::*;

    #[test]
    fn layouts_are_tracked() {
        let found = faults(deferred(), |plan| {
            plan.barrier_before("lighting", "albedo").old_layout = L::GENERAL;
        });
        assert_fault!(
            found,
            CheckFault::Layout(LayoutFault::Old {
                named: L::GENERAL,
                tracked: L::COLOR_ATTACHMENT_OPTIMAL,
                ..
            })
        );
        let found = faults(deferred(), |plan| {
            plan.barrier_before("lighting", "albedo").new_layout = L::GENERAL;
        });
        assert_fault!(
            found,
            CheckFault::Layout(LayoutFault::Use {
                tracked: L::GENERAL,
                ..
            })
        );
        let found = faults(deferred(), |plan| {
            plan.barrier_before("lighting", "albedo").new_layout = L::UNDEFINED;
        });
        assert_fault!(found, CheckFault::Barrier(BarrierFault::NewLayout { .. }));
        let found = faults(deferred(), |plan| {
            plan.access("lighting", "albedo").layout = L::TRANSFER_SRC_OPTIMAL
        });
        assert_fault!(found, CheckFault::Layout(LayoutFault::Unfit { .. }));
        let found = faults(deferred(), |plan| {
            plan.barrier_before("cull", "lights").new_layout = L::GENERAL
        });
        assert_fault!(found, CheckFault::Barrier(BarrierFault::BufferLayout { .. }));
    }

    #[test]
    fn the_first_layout_of_a_transient_is_undefined() {
        // What the image was left in by the frame before: true from the second frame on, and wrong in the first.
        let found = faults(deferred(), |plan| {
            plan.barrier_before("lighting", "hdr").old_layout = L::SHADER_READ_ONLY_OPTIMAL;
        });
        assert_fault!(
            found,
            CheckFault::Layout(LayoutFault::Old {
                tracked: L::UNDEFINED,
                ..
            })
        );
    }

    #[test]
    fn an_external_image_leaves_as_agreed() {
        let found = faults(deferred(), |plan| plan.erase_after("tonemap", "screen"));
        assert_fault!(
            found,
            CheckFault::Layout(LayoutFault::Exit {
                needs: L::PRESENT_SRC_KHR,
                ..
            })
        );
    }

    #[test]
    fn an_external_image_is_waited_for() {
        let found = faults(deferred(), |plan| {
            plan.barrier_before("tonemap", "screen").src_stages = S::NONE;
        });
        assert_fault!(
            found,
            CheckFault::Hazard(HazardFault {
                first: Touch::Entry { .. },
                lack: Lack::Execution,
                ..
            })
        );
    }

    #[test]
    fn every_hazard_needs_its_barrier() {
        // Read after write, of a buffer.
        let found = faults(deferred(), |plan| plan.erase_before("lighting", "lights"));
        assert_fault!(
            found,
            CheckFault::Hazard(HazardFault { first: first @ Touch::Write { .. }, second: Touch::Read { .. }, lack: Lack::Execution, .. })
                if first.resource() == "lights"
        );
        // Write after write, around into the next frame, between two resources. The barrier of `depth` orders the two
        // passes, and makes nothing of `scratch` visible.
        let found = faults(deferred(), |plan| plan.erase_before("cull", "lights"));
        assert_fault!(
            found,
            CheckFault::Hazard(HazardFault { first: first @ Touch::Write { .. }, second: second @ Touch::Write { .. }, around: true, lack: Lack::Memory, .. })
                if first.resource() == "scratch" && second.pass() == Some("cull")
        );
        // Write after read, in one frame and between two resources.
        let found = faults(deferred(), |plan| {
            for resource in ["bloom", "scratch"] {
                plan.barrier_before("bloom", resource).src_stages = S::ALL_TRANSFER;
            }
        });
        assert_fault!(
            found,
            CheckFault::Hazard(HazardFault { first: first @ Touch::Read { .. }, second: second @ Touch::Transition { .. }, around: false, .. })
                if first.resource() == "albedo" && second.resource() == "bloom"
        );
    }

    #[test]
    fn stages_of_both_sides_count() {
        let found = faults(deferred(), |plan| {
            plan.barrier_before("lighting", "lights").src_stages = S::ALL_TRANSFER;
        });
        assert_fault!(
            found,
            CheckFault::Hazard(HazardFault {
                lack: Lack::Execution,
                ..
            })
        );
        // Two passes read `depth` after one barrier: its second scope must hold both.
        let found = faults(deferred(), |plan| {
            plan.barrier_before("cull", "depth").dst_stages = S::COMPUTE_SHADER;
        });
        assert_fault!(
            found,
            CheckFault::Hazard(HazardFault { second: second @ Touch::Read { .. }, .. })
                if second.pass() == Some("lighting") && second.resource() == "depth"
        );
        // Of two readers in the frame before, the one that nothing else waits for is forgotten.
        let found = faults(late_in_submit(), |plan| {
            plan.barrier_before("gbuffer", "albedo").src_stages = S::FRAGMENT_SHADER;
        });
        assert_fault!(
            found,
            CheckFault::Hazard(HazardFault { first: first @ Touch::Read { .. }, second: Touch::Transition { .. }, around: true, .. })
                if first.pass() == Some("late")
        );
    }

    #[test]
    fn accesses_of_both_sides_count() {
        let found = faults(deferred(), |plan| {
            plan.barrier_before("lighting", "lights").src_access = A::NONE;
        });
        assert_fault!(
            found,
            CheckFault::Hazard(HazardFault {
                lack: Lack::Memory,
                ..
            })
        );
        let found = faults(deferred(), |plan| {
            plan.barrier_before("lighting", "lights").dst_access = A::SHADER_SAMPLED_READ;
        });
        assert_fault!(
            found,
            CheckFault::Hazard(HazardFault {
                lack: Lack::Memory,
                ..
            })
        );
        let found = faults(deferred(), |plan| {
            plan.barrier_before("lighting", "lights").dst_access = A::COLOR_ATTACHMENT_READ;
        });
        assert_fault!(found, CheckFault::Barrier(BarrierFault::Access { .. }));
    }

    #[test]
    fn composite_flags_stand_for_the_others() {
        let found = faults(deferred(), |plan| {
            let barrier = plan.barrier_before("lighting", "lights");
            (barrier.src_stages, barrier.src_access) = (S::ALL_COMMANDS, A::MEMORY_WRITE);
            (barrier.dst_stages, barrier.dst_access) = (S::ALL_GRAPHICS, A::SHADER_READ);
        });
        assert_eq!(found, []);
    }

    #[test]
    fn a_hand_over_is_a_memory_barrier_too() {
        // The hand-over of `bloom`, at the same place, serves `scratch` as well.
        assert_eq!(
            faults(deferred(), |plan| plan.erase_before("bloom", "scratch")),
            []
        );
        // Barriers of images and buffers serve nobody else: the passes are in order, and that is all.
        let found = faults(deferred(), |plan| {
            for resource in ["bloom", "scratch"] {
                plan.barrier_before("bloom", resource).cause = Cause::Hazard;
            }
        });
        assert_fault!(
            found,
            CheckFault::Hazard(HazardFault { first: first @ Touch::Write { .. }, second: Touch::Write { .. }, lack: Lack::Memory, .. })
                if first.resource() == "lights"
        );
    }

    #[test]
    fn two_transitions_at_once_are_in_no_order() {
        let found = faults(deferred(), |plan| {
            let run = plan.planned("tonemap").before;
            let history = *plan.barrier_before("tonemap", "history");
            plan.barriers[run.end as usize - 1] = history;
        });
        assert_fault!(found, CheckFault::Barrier(BarrierFault::TwoTransitions { .. }));
    }
}

mod queues {
    use super::*;

    #[test]
    fn halves_of_a_transfer_belong_together() {
        let found = faults(two_queues(S::ALL_COMMANDS), |plan| {
            plan.erase_after("draw", "scene")
        });
        assert_fault!(found, CheckFault::Layout(LayoutFault::NotReleased { resource, .. }) if resource == "scene");
        let found = faults(two_queues(S::ALL_COMMANDS), |plan| {
            plan.erase_before("blur", "scene")
        });
        assert_fault!(found, CheckFault::Layout(LayoutFault::NotAcquired { resource, .. }) if resource == "scene");
        let found = faults(two_queues(S::ALL_COMMANDS), |plan| {
            plan.barrier_before("blur", "scene").new_layout = L::GENERAL;
            plan.access("blur", "scene").layout = L::GENERAL;
        });
        assert_fault!(found, CheckFault::Layout(LayoutFault::NotReleased { resource, .. }) if resource == "scene");
    }

    #[test]
    fn halves_are_on_their_queues() {
        let found = faults(two_queues(S::ALL_COMMANDS), |plan| {
            let transfer = plan.barrier_after("draw", "scene").transfer.as_mut().unwrap();
            std::mem::swap(&mut transfer.from, &mut transfer.to);
        });
        assert_fault!(found, CheckFault::Barrier(BarrierFault::TransferQueue { .. }));
    }

    #[test]
    fn contents_do_not_change_queues_by_themselves() {
        let found = faults(two_queues(S::ALL_COMMANDS), |plan| {
            plan.barrier_after("draw", "scene").transfer = None;
            plan.barrier_before("blur", "scene").transfer = None;
            plan.barrier_before("blur", "scene").old_layout = L::SHADER_READ_ONLY_OPTIMAL;
        });
        assert_fault!(found, CheckFault::Layout(LayoutFault::Owner { queue, owner, .. }) if queue == "compute" && owner == "graphics");
    }

    #[test]
    fn a_queue_has_only_its_own_stages() {
        let found = faults(two_queues(S::ALL_COMMANDS), |plan| {
            plan.barrier_before("blur", "blurred").src_stages = S::FRAGMENT_SHADER;
        });
        assert_fault!(found, CheckFault::Barrier(BarrierFault::Stage { queue, .. }) if queue == "compute");
    }

    #[test]
    fn a_semaphore_holds_only_the_stages_that_wait_for_it() {
        // `blur` reads at the compute stage; the wait holds copies alone, and the acquire does not pass it on.
        let plan = two_queues(S::COPY);
        assert_fault!(
            plan.faults(),
            CheckFault::Hazard(HazardFault {
                lack: Lack::Execution,
                ..
            })
        );
    }

    #[test]
    fn the_next_frame_waits_for_the_queues_of_this_one() {
        let found = faults(two_queues(S::ALL_COMMANDS), |plan| {
            plan.barrier_before("draw", "scene").src_stages = S::NONE;
        });
        assert_fault!(
            found,
            CheckFault::Hazard(HazardFault { first: first @ Touch::Read { .. }, second: Touch::Transition { .. }, around: true, .. })
                if first.pass() == Some("blur")
        );
    }
}

mod operations {
    use super::*;

    #[test]
    fn loads_do_what_is_declared() {
        let found = faults(deferred(), |plan| {
            plan.access("gbuffer", "albedo").load_op = AttachmentLoadOp::DONT_CARE;
        });
        assert_fault!(
            found,
            CheckFault::Operation(OperationFault::Load { needs: "CLEAR", .. })
        );
        let found = faults(deferred(), |plan| {
            plan.access("lighting", "hdr").load_op = AttachmentLoadOp::LOAD;
        });
        assert_fault!(found, CheckFault::Operation(OperationFault::Load { .. }));
    }

    #[test]
    fn a_device_may_lack_store_op_none() {
        let none = |plan: &mut Plan| plan.access("tonemap", "screen").store_op = AttachmentStoreOp::NONE;
        let found = faults(deferred(), none);
        assert_fault!(found, CheckFault::Operation(OperationFault::Store { .. }));
        let found = faults(deferred(), |plan| {
            none(plan);
            change_profile(plan, |profile| profile.features |= Features::STORE_OP_NONE);
        });
        // What a pass writes and does not store is lost all the same.
        assert_fault!(found, CheckFault::Contents(ContentsFault::Exit { .. }));
    }
}

mod totals {
    use super::*;

    #[test]
    fn every_sum_is_recomputed() {
        type Field = fn(&mut Totals) -> &mut Bytes;
        let totals: [(&str, Field); 8] = [
            ("eligible_bytes", |totals| &mut totals.eligible_bytes),
            ("on_chip_bytes", |totals| &mut totals.on_chip_bytes),
            ("stored_bytes", |totals| &mut totals.stored_bytes),
            ("arena_bytes", |totals| &mut totals.arena_bytes),
            ("arena_bytes_without_aliasing", |totals| {
                &mut totals.arena_bytes_without_aliasing
            }),
            ("arena_peak_live", |totals| &mut totals.arena_peak_live),
            ("tile_peak_live", |totals| &mut totals.tile_peak_live),
            ("tile_bytes", |totals| &mut totals.tile_bytes),
        ];
        for (name, field) in totals {
            let found = faults(deferred(), |plan| *field(&mut plan.totals) += Bytes(1));
            assert_eq!(found.len(), 1, "{found:#?}");
            assert_fault!(found, CheckFault::Total(TotalFault::Frame { total, .. }) if *total == name);
        }
        let found = faults(deferred(), |plan| plan.planned("tonemap").live_tile = Bytes(1));
        assert_fault!(found, CheckFault::Total(TotalFault::Live { pass, .. }) if pass == "tonemap");
    }
}

#[test]
fn faults_name_the_thing_the_demand_and_the_limit() {
    let found = faults(deferred(), |plan| {
        plan.placement("depth", 0).offset = Bytes(5 * 8192)
    });
    assert_eq!(
        found[0].to_string(),
        "resource `depth` is at offset 40,960 B in Tile, no multiple of its alignment 12,288 B \
         (VUID-VkBindImageMemoryInfo-pNext-12329, -VkBindBufferMemoryInfo-memory-10740)"
    );
}
