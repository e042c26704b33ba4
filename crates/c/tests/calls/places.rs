//! Messages name the function, the structure, the element of each array and the field, as C spells them.

use std::ptr::{null, null_mut};

use ash::vk;
use tileheap::lower::FamilyQueue;
use tileheap_c::aliasing::*;
use tileheap_c::arrangement::*;
use tileheap_c::frame::*;
use tileheap_c::frame_desc::*;
use tileheap_c::lowerer::*;
use tileheap_c::opaque::*;
use tileheap_c::plan::*;
use tileheap_c::profile::*;
use tileheap_c::requirements::destroy_requirements;
use tileheap_c::status::Status;
use tileheap_c::stores::*;

use super::c::{self, call, fill, get, sized, view};
use super::small::{Small, small};

/// Two submits; the second one has a batch that waits and signals.
struct Submitted {
    small: Small,
    buffers: [CommandBufferDesc; 2],
    waits: [SemaphoreUse; 1],
    signals: [SemaphoreUse; 2],
    batches: [BatchDesc; 2],
    submits: [SubmitDesc; 2],
    queues: [QueueDesc; 1],
    semaphores: [SemaphoreDesc; 1],
}

fn submitted() -> Submitted {
    Submitted {
        small: small(),
        buffers: ["one", "two"].map(|name| CommandBufferDesc {
            name: view(name),
            pass_count: 1,
            ..sized()
        }),
        waits: [sized()],
        signals: [sized(), sized()],
        batches: [sized(), sized()],
        submits: [sized(), sized()],
        queues: [QueueDesc {
            name: view("graphics"),
            capabilities: vk::QueueFlags::GRAPHICS,
            ..sized()
        }],
        semaphores: [SemaphoreDesc {
            name: view("drawn"),
            ..sized()
        }],
    }
}

impl Submitted {
    fn refused(&mut self) -> (Status, String) {
        let Submitted {
            small,
            buffers,
            waits,
            signals,
            batches,
            submits,
            queues,
            semaphores,
        } = self;
        small.connect();
        for (buffer, pass) in buffers.iter_mut().zip(&small.passes) {
            buffer.passes = pass;
        }
        for (batch, buffer) in batches.iter_mut().zip(&*buffers) {
            (batch.command_buffers, batch.command_buffer_count) = (buffer, 1);
        }
        (batches[1].waits, batches[1].wait_count) = (waits.as_ptr(), 1);
        (batches[1].signals, batches[1].signal_count) = (signals.as_ptr(), 2);
        for (submit, batch) in submits.iter_mut().zip(&*batches) {
            (submit.batches, submit.batch_count) = (batch, 1);
        }
        let desc = FrameDesc {
            pass_count: 0,
            submit_count: 2,
            submits: submits.as_ptr(),
            queue_count: 1,
            queues: queues.as_ptr(),
            semaphore_count: 1,
            semaphores: semaphores.as_ptr(),
            ..small.frame
        };
        // SAFETY: everything is alive.
        unsafe { c::frame(&desc) }.unwrap_err()
    }
}

#[test]
fn every_level_of_a_description_is_named() {
    type Change = fn(&mut Submitted);
    let wrong: [(Change, &str); 11] = [
        (
            |s| s.submits[1].struct_size = 1,
            "thCreateFrame: ThFrameDesc.submits[1]: structSize of ThSubmitDesc is 1, but sizeof(ThSubmitDesc) is 24",
        ),
        (
            |s| s.submits[1].queue = 4,
            "thCreateFrame: ThFrameDesc.submits[1].queue: queue 4 is out of range: the frame has 1 queue",
        ),
        (
            |s| s.batches[1].struct_size = 2,
            "thCreateFrame: ThFrameDesc.submits[1].batches[0]: structSize of ThBatchDesc is 2, but sizeof(ThBatchDesc) is 40",
        ),
        (
            |s| s.waits[0].semaphore = 1,
            "thCreateFrame: ThFrameDesc.submits[1].batches[0].waits[0].semaphore: semaphore 1 is out of range: the frame has 1 semaphore",
        ),
        (
            |s| s.signals[1].semaphore = 9,
            "thCreateFrame: ThFrameDesc.submits[1].batches[0].signals[1].semaphore: semaphore 9 is out of range: the frame has 1 semaphore",
        ),
        (
            |s| s.signals[1].struct_size = 0,
            "thCreateFrame: ThFrameDesc.submits[1].batches[0].signals[1]: structSize of ThSemaphoreUse is 0, \
             but sizeof(ThSemaphoreUse) is 16",
        ),
        (
            |s| s.buffers[1].name.data = null(),
            "thCreateFrame: ThFrameDesc.submits[1].batches[0].commandBuffers[0].name is null, but its length is 3",
        ),
        (
            |s| s.small.passes[1].pass_type = 3,
            "thCreateFrame: pass `lighting`: ThFrameDesc.submits[1].batches[0].commandBuffers[0].passes[0].passType is 3: \
             ThPassType has the values 0 to 2",
        ),
        (
            |s| s.small.second[1].kind = 18,
            "thCreateFrame: pass `lighting`: ThFrameDesc.submits[1].batches[0].commandBuffers[0].passes[0].accesses[1].kind is 18: \
             ThAccessKind has the values 0 to 17",
        ),
        (
            |s| s.queues[0].name.data = null(),
            "thCreateFrame: ThFrameDesc.queues[0].name is null, but its length is 8",
        ),
        (
            |s| s.semaphores[0].name.data = null(),
            "thCreateFrame: ThFrameDesc.semaphores[0].name is null, but its length is 5",
        ),
    ];
    for (change, expected) in wrong {
        let mut frame = submitted();
        change(&mut frame);
        assert_eq!(frame.refused().1, expected);
    }
}

#[test]
fn fields_are_named() {
    type Change = fn(&mut Small);
    let wrong: [(Change, &str); 16] = [
        (
            |s| s.resources[1].reserved = 7,
            "resource `lit`: ThFrameDesc.resources[1].reserved is 7: it must be 0",
        ),
        (
            |s| s.resources[1].flags = 0x88,
            "resource `lit`: ThFrameDesc.resources[1].flags is 0x88: ThResourceFlag has no bits 0x88",
        ),
        (
            |s| s.resources[0].persistence = 5,
            "resource `albedo`: ThFrameDesc.resources[0].persistence is 5: ThPersistence has the values 0 to 4",
        ),
        (
            |s| (s.resources[0].persistence, s.resources[0].entry.family) = (2, 3),
            "resource `albedo`: ThFrameDesc.resources[0].entry.family is 3: ThExternalFamily has the values 0 to 2",
        ),
        (
            |s| s.resources[0].tile_constraint = u32::MAX,
            "resource `albedo`: ThFrameDesc.resources[0].tileConstraint is 4294967295: ThTileConstraint has the values 0 to 2",
        ),
        (
            |s| s.passes[0].flags = 1 << 31,
            "pass `gbuffer`: ThFrameDesc.passes[0].flags is 0x80000000: ThPassFlag has no bits 0x80000000",
        ),
        (
            |s| s.passes[0].repeat_bytes = 1,
            "pass `gbuffer`: ThFrameDesc.passes[0].repeatBytes is set, but only used with TH_PASS_FLAG_STRIPS in flags",
        ),
        (
            |s| s.passes[0].render_area.extent.width = 1,
            "pass `gbuffer`: ThFrameDesc.passes[0].renderArea is set, but only used with TH_PASS_FLAG_RENDER_AREA in flags",
        ),
        (
            |s| s.second[0].resource = 2,
            "pass `lighting`: ThFrameDesc.passes[1].accesses[0].resource: resource 2 is out of range: the frame has 2 resources",
        ),
        (
            |s| (s.second[1].kind, s.second[1].resolve_source) = (2, 8),
            "pass `lighting`: ThFrameDesc.passes[1].accesses[1].resolveSource: resource 8 is out of range: the frame has 2 resources",
        ),
        (
            |s| s.second[0].reach_texels = 2,
            "pass `lighting`: ThFrameDesc.passes[1].accesses[0].reachTexels is set, but only used with TH_ACCESS_FLAG_REACH in flags",
        ),
        (
            |s| s.second[0].measured_savings = 2,
            "pass `lighting`: ThFrameDesc.passes[1].accesses[0].measuredSavings is set, but only used with TH_ACCESS_FLAG_MEASURED in \
             flags",
        ),
        (
            |s| s.second[0].view_type = vk::ImageViewType::TYPE_2D,
            "pass `lighting`: ThFrameDesc.passes[1].accesses[0].viewType is set, but only used with TH_ACCESS_FLAG_VIEW_TYPE in flags",
        ),
        (
            |s| s.second[0].range.base_mip_level = 5,
            "pass `lighting`: ThFrameDesc.passes[1].accesses[0].range: level 5 is out of range: the resource has 1 level",
        ),
        (
            |s| s.second[1].subpass = 3,
            "pass `lighting`: ThFrameDesc.passes[1].accesses[1].subpass is 3 after an access of subpass 0: every subpass between \
             them needs an access",
        ),
        (
            |s| s.frame.submit_count = 1,
            "ThFrameDesc: submitCount is 1 and passCount is 2: set only one of them",
        ),
    ];
    for (change, expected) in wrong {
        let mut frame = small();
        change(&mut frame);
        let (status, message) = frame.create().unwrap_err();
        assert_eq!(status, Status::ErrorInvalidArgument);
        assert_eq!(message, format!("thCreateFrame: {expected}"));
    }
}

/// The message of a call that fails.
fn told<T>(result: c::Result<T>) -> String {
    match result {
        Err((_, message)) => message,
        Ok(_) => panic!("it is accepted"),
    }
}

#[test]
fn arguments_and_options_are_named() {
    let profile = c::profile("adreno-830");
    let frame = small().create().unwrap();
    let requirements = c::estimated(frame, profile).unwrap();
    let plan_of = |desc: PlanDesc| {
        // SAFETY: everything is alive.
        told::<PlanHandle>(get(|to, error| unsafe { create_plan(&desc, to, error) }))
    };
    let desc = PlanDesc {
        frame,
        requirements,
        profile,
        ..sized()
    };
    let with = |options: &PlanOptionsDesc| plan_of(PlanDesc { options, ..desc });
    let plan = c::plan(frame, profile, &sized()).unwrap();
    // SAFETY: it can be written.
    let lowerer = get(|to, error| unsafe { create_lowerer(to, error) }).unwrap();
    let lowered = |desc: LowerDesc| {
        // SAFETY: everything is alive.
        told(fill::<Lowered>(|to, error| unsafe {
            lower(lowerer, &desc, to, error)
        }))
    };
    let ignored = [FamilyQueue {
        family: vk::QUEUE_FAMILY_IGNORED,
        index: 0,
    }];
    let (queues, queue_count) = (ignored.as_ptr(), 1);
    let options = PlanOptionsDesc {
        flags: 8,
        bin_cost: 12,
        ..sized()
    };
    let search = |desc: SearchDesc| {
        // SAFETY: everything is alive.
        told::<ArrangementHandle>(get(|to, error| unsafe {
            create_arrangement(plan, &desc, to, error)
        }))
    };
    let queried = |desc: PhysicalDeviceDesc| {
        // SAFETY: it has no handles.
        told::<ProfileHandle>(get(|to, error| unsafe {
            create_profile_from_physical_device(&desc, to, error)
        }))
    };
    let told_by = [
        (
            plan_of(PlanDesc {
                frame: null_mut(),
                ..desc
            }),
            "thCreatePlan: ThPlanDesc.frame is null: expected a ThFrame",
        ),
        (
            plan_of(PlanDesc {
                requirements: plan.cast(),
                ..desc
            }),
            "thCreatePlan: ThPlanDesc.requirements is a ThPlan: expected a ThRequirements",
        ),
        (
            plan_of(PlanDesc { mode: 3, ..desc }),
            "thCreatePlan: ThPlanDesc.mode is 3: ThPlanMode has the values 0 to 2",
        ),
        (
            with(&options),
            "thCreatePlan: ThPlanOptionsDesc.binCost is 12, but flags has TH_PLAN_FLAG_NO_BIN_COST: set only one of them",
        ),
        (
            with(&PlanOptionsDesc {
                strategy: 5,
                ..sized()
            }),
            "thCreatePlan: ThPlanOptionsDesc.strategy is 5: ThStrategy has the values 0 to 4",
        ),
        (
            with(&PlanOptionsDesc {
                flags: 0x30,
                ..sized()
            }),
            "thCreatePlan: ThPlanOptionsDesc.flags is 0x30: ThPlanFlag has no bits 0x30",
        ),
        (
            lowered(LowerDesc {
                plan,
                queues,
                queue_count,
                ..sized()
            }),
            "thLower: ThLowerDesc.queues[0].family is 4294967295, which is not the index of a queue family",
        ),
        (
            lowered(LowerDesc {
                plan,
                queue_count: 3,
                ..sized()
            }),
            "thLower: ThLowerDesc.queues is null, but queueCount is 3",
        ),
        (
            lowered(LowerDesc {
                plan,
                previous: plan.cast(),
                ..sized()
            }),
            "thLower: ThLowerDesc.previous is a ThPlan: expected a ThLowerer",
        ),
        (
            // SAFETY: everything is alive.
            told::<AliasingHandle>(get(|to, error| unsafe {
                create_aliasing(
                    &AliasingDesc {
                        plan,
                        queues,
                        queue_count,
                        ..sized()
                    },
                    to,
                    error,
                )
            })),
            "thCreateAliasing: ThAliasingDesc.queues[0].family is 4294967295, which is not the index of a queue family",
        ),
        (
            search(SearchDesc {
                shaded: 0.5,
                ..sized()
            }),
            "thCreateArrangement: ThSearchDesc.shaded is 0.5: it must be 0 or at least 1",
        ),
        (
            search(SearchDesc {
                allow: 0x80,
                ..sized()
            }),
            "thCreateArrangement: ThSearchDesc.allow is 0x80: ThSearchFlag has no bits 0x80",
        ),
        (
            queried(PhysicalDeviceDesc {
                reserved: 1,
                ..sized()
            }),
            "thCreateProfileFromPhysicalDevice: ThPhysicalDeviceDesc.reserved is 1: it must be 0",
        ),
        (
            queried(PhysicalDeviceDesc {
                enabled: 1 << 20,
                ..sized()
            }),
            "thCreateProfileFromPhysicalDevice: ThPhysicalDeviceDesc.enabled is 0x100000: ThFeatureFlag has no bits 0x100000",
        ),
        (
            queried(sized()),
            "thCreateProfileFromPhysicalDevice: ThPhysicalDeviceDesc.getInstanceProcAddr is null",
        ),
        (
            told(fill::<StoreShaders>(|to, error| {
                // SAFETY: it can be written.
                unsafe { get_store_shaders(5, to, error) }
            })),
            "thGetStoreShaders: shader is 5: ThStoreShader has the values 0 to 4",
        ),
        (
            told(call(|error| check_plan(null_mut(), error))),
            "thCheckPlan: plan is null: expected a ThPlan",
        ),
        (
            // SAFETY: it can be written.
            told::<TextHandle>(get(|to, error| unsafe { create_plan_text(plan, 2, to, error) })),
            "thCreatePlanText: format is 2: ThReportFormat has the values 0 to 1",
        ),
    ];
    for (message, expected) in told_by {
        assert_eq!(message, expected);
    }
    call(|_| destroy_lowerer(lowerer)).unwrap();
    call(|_| destroy_plan(plan)).unwrap();
    call(|_| destroy_requirements(requirements)).unwrap();
    call(|_| destroy_frame(frame)).unwrap();
    call(|_| destroy_profile(profile)).unwrap();
}
