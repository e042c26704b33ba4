//! Random recordings: the check does not panic, rejects damaged recordings, and accepts full barriers.

use super::*;
use tileheap::units::SplitMix64;

/// A generator of indices, some of them out of range.
struct Numbers {
    random: SplitMix64,
    /// On average, one in this many indices is out of range; 0 for none.
    damaged: u64,
}

impl Numbers {
    fn index(&mut self, count: usize) -> u32 {
        if self.damaged > 0 && self.random.one_in(self.damaged) {
            return count as u32 + self.random.below(3) as u32;
        }
        self.random.below(count as u64) as u32
    }

    fn below(&mut self, end: u64) -> u64 {
        self.random.below(end)
    }

    fn run(&mut self, end: u32) -> Run {
        let first = self.below(u64::from(end)) as u32;
        Run::new(first, first + 1 + self.below(u64::from(end - first)) as u32)
    }

    fn range(&mut self) -> SubresourceRange {
        SubresourceRange {
            aspects: self
                .random
                .pick(&[Aspects::COLOR, Aspects::DEPTH, Aspects::empty()]),
            levels: self.run(3),
            layers: self.run(2),
        }
    }

    fn layout(&mut self) -> L {
        self.random
            .pick(&[L::UNDEFINED, L::GENERAL, L::SHADER_READ_ONLY_OPTIMAL])
    }

    fn scope(&mut self) -> (S, A) {
        self.random
            .pick(&[EVERYTHING, WRITTEN, READ, TOP, BOTTOM, OUTPUT, SAMPLED])
    }

    fn family(&mut self) -> u32 {
        self.random
            .pick(&[0, 1, vk::QUEUE_FAMILY_EXTERNAL, vk::QUEUE_FAMILY_IGNORED])
    }

    fn access(&mut self, resources: usize) -> RecordedAccess {
        let (stage, access) = self.random.pick(&[
            WRITTEN,
            READ,
            SAMPLED,
            (S::COPY, A::TRANSFER_WRITE),
            (S::COPY, STORAGE_READ),
            (S::FRAGMENT_SHADER, A::INPUT_ATTACHMENT_READ),
        ]);
        let resource = self.index(resources);
        // Buffers have odd indices.
        let part = if (resource % 2 == 1) != (self.damaged > 0 && self.random.one_in(self.damaged)) {
            ResourcePart::Bytes(self.below(SIZE), self.below(2 * SIZE))
        } else {
            let mut area = || [self.below(64) as u32, self.below(80) as u32];
            let area = [area(), area()];
            let area = self.random.one_in(2).then_some(area);
            let range = self.range();
            ResourcePart::Texels { range, area }
        };
        RecordedAccess {
            resource,
            part,
            stage,
            access,
            whole: self.random.one_in(2),
            conditional: self.random.one_in(4),
            layout: self.random.one_in(3).then_some(Layout(L::GENERAL)),
        }
    }

    fn dependency(&mut self, resources: usize) -> Dependency {
        let resource = self.index(resources);
        let memory = match (self.below(3), resource % 2) {
            (0, _) => AffectedMemory::None,
            (1, _) => AffectedMemory::All,
            (_, 1) => AffectedMemory::Buffer {
                resource,
                first: self.below(SIZE),
                end: self.below(2 * SIZE),
            },
            _ => AffectedMemory::Image {
                resource,
                range: self.range(),
                old: self.layout(),
                new: self.layout(),
            },
        };
        Dependency {
            scopes: scopes(self.scope(), self.scope()),
            memory,
            families: self.random.one_in(5).then(|| [self.family(), self.family()]),
        }
    }

    fn instance(&mut self, resources: usize) -> RenderPassInstance {
        let loads = [Load::LOAD, Load::CLEAR, Load::DONT_CARE, Load::NONE_EXT];
        let stores = [Store::STORE, Store::DONT_CARE, Store::NONE];
        let attachments = 1 + self.below(2) as usize;
        let mut attachment = || Attachment {
            resource: self.index(resources) & !1,
            range: self.range(),
            load: self.random.pick(&loads),
            store: self.random.pick(&stores),
            stencil_load: self.random.pick(&loads),
            stencil_store: self.random.pick(&stores),
            initial: self.layout(),
            last: self.layout(),
        };
        let attachments: Vec<Attachment> = (0..attachments).map(|_| attachment()).collect();
        let roles = [
            Role::Color,
            Role::DepthStencil,
            Role::Input,
            Role::ResolveSource,
            Role::ResolveTarget,
        ];
        let subpasses = (0..1 + self.below(2)).map(|_| {
            let uses = (0..self.below(3)).map(|_| {
                let index = self.index(attachments.len());
                used(index, self.random.pick(&roles), self.layout())
            });
            Subpass {
                uses: uses.collect(),
                view_mask: self.random.pick(&[0, 0b01, 0b10, 0b11, u32::MAX]),
            }
        });
        let subpasses: Vec<Subpass> = subpasses.collect();
        let mut end = || Some(self.index(subpasses.len())).filter(|_| !self.random.one_in(3));
        let (from, to) = (end(), end());
        RenderPassInstance {
            subpasses,
            attachments,
            area: self.random.one_in(3).then_some([[0, 32], [16, 64]]),
            dependencies: vec![dependency(from, to, self.scope(), self.scope())],
            resumes: self.random.one_in(5),
            suspends: self.random.one_in(5),
        }
    }

    fn commands(&mut self, resources: usize) -> Vec<Command> {
        let mut commands = Vec::new();
        // Subpasses left after the current one.
        let mut left: Option<usize> = None;
        for _ in 0..self.below(9) {
            let is_damaged = self.damaged > 0 && self.random.one_in(4 * self.damaged);
            let action = match (self.below(8), left) {
                (0, None) => {
                    let instance = self.instance(resources);
                    left = Some(instance.subpasses.len() - 1);
                    CommandEffect::Begin(Box::new(instance))
                }
                (0, Some(0)) => {
                    left = None;
                    CommandEffect::End
                }
                (0, Some(more)) => {
                    left = Some(more - 1);
                    CommandEffect::NextSubpass
                }
                (1, _) if is_damaged && self.random.one_in(2) => CommandEffect::End,
                (1, _) if is_damaged => CommandEffect::NextSubpass,
                (1, _) => CommandEffect::SetEvent {
                    event: 1,
                    stages: self.scope().0,
                },
                (2, _) => CommandEffect::WaitEvents {
                    events: vec![1],
                    dependencies: vec![self.dependency(resources)],
                },
                (3 | 4, _) => CommandEffect::Barrier((0..2).map(|_| self.dependency(resources)).collect()),
                _ => CommandEffect::Access((0..self.below(3)).map(|_| self.access(resources)).collect()),
            };
            commands.push(call("vkCmd", action));
        }
        while let Some(more) = left.take() {
            let last = more == 0;
            commands.push(if last { end() } else { next() });
            left = (!last).then(|| more - 1);
        }
        commands
    }

    fn step(&mut self, buffers: usize, resources: usize) -> RecordedStep {
        let semaphore = |numbers: &mut Numbers| SemaphoreUse {
            semaphore: numbers.below(3) as u32,
            value: numbers.below(3),
            stages: numbers.scope().0,
        };
        match self.below(8) {
            0 => RecordedStep::WaitFence(0),
            1 => RecordedStep::ResetFence(0),
            2 => RecordedStep::WaitSemaphore {
                semaphore: 2,
                value: self.below(3),
            },
            3 => RecordedStep::SignalSemaphore {
                semaphore: 2,
                value: self.below(3),
            },
            4 => RecordedStep::Acquire {
                resource: self.index(resources) & !1,
                semaphore: self.random.one_in(2).then_some(0),
                fence: self.random.one_in(2).then_some(0),
            },
            5 => RecordedStep::Present {
                resources: vec![self.index(resources) & !1],
                waits: vec![0],
            },
            _ => RecordedStep::Submit(Batch {
                queue: self.below(2) as u32,
                family: self.below(2) as u32,
                waits: (0..self.below(2)).map(|_| semaphore(self)).collect(),
                command_buffers: (0..self.below(3)).map(|_| self.index(buffers)).collect(),
                signals: (0..self.below(2)).map(|_| semaphore(self)).collect(),
                fence: self.random.one_in(3).then_some(0),
            }),
        }
    }

    fn recording(&mut self) -> Recording {
        let mut rig = Rig::new();
        rig.0.granularity = self.random.pick(&[0, 1, 1024]);
        rig.0.timelines = vec![(2, 1)];
        for index in 0..6u32 {
            let offset = self
                .random
                .one_in(4)
                .then(|| self.below(4) * 1000)
                .or(Some(u64::from(index) * SIZE));
            let format = self
                .random
                .pick(&[vk::Format::R8G8B8A8_UNORM, vk::Format::D24_UNORM_S8_UINT]);
            let kind = match index % 2 {
                0 => image(format, 1 + self.below(3) as u32, 1 + self.below(2) as u32),
                _ => ResourceKind::Buffer {
                    size: self.below(SIZE),
                },
            };
            rig.add("r", kind, offset);
            let resource = &mut rig.0.resources[index as usize];
            resource.created = self.random.one_in(2);
            resource.unchecked = self.random.one_in(8).then(|| "sparse memory".to_owned());
            if let ResourceKind::Image {
                linear,
                alias_group,
                is_3d,
                extent,
                ..
            } = &mut resource.kind
            {
                *linear = self.random.one_in(5);
                *alias_group = self.random.one_in(3).then_some(0);
                *is_3d = self.random.one_in(5);
                extent[2] = if *is_3d { 2 } else { 1 };
            }
            if self.damaged > 0 && self.random.one_in(20 * self.damaged) {
                resource.placement = Some(MemoryBinding {
                    object: 9,
                    offset: u64::MAX,
                    size: u64::MAX,
                });
            }
        }
        let count = rig.0.resources.len();
        for _ in 0..3 {
            let commands = self.commands(count);
            rig.commands(commands);
        }
        for _ in 0..self.below(8) {
            let step = self.step(3, count);
            rig.step(step);
        }
        rig.0
    }
}

#[test]
fn random_recordings_are_checked_or_refused_without_a_panic() {
    let mut refused = 0;
    let mut findings = 0;
    for seed in 0..4000 {
        let damaged = if seed % 2 == 0 { 0 } else { 30 };
        let mut numbers = Numbers {
            random: SplitMix64::new(seed),
            damaged,
        };
        let recording = numbers.recording();
        match check(&recording) {
            Ok(report) => findings += report.findings.len(),
            Err(error) => {
                assert!(damaged > 0, "seed {seed}: {error}");
                refused += 1;
            }
        }
    }
    assert!(refused > 500, "{refused}");
    assert!(findings > 1000, "{findings}");
}

#[test]
fn indices_out_of_range_are_refused() {
    let mut rig = Rig::new();
    let a = rig.buffer("a", 0);
    let x = rig.image("x", SIZE);
    let refused = |commands: Vec<Command>| {
        let mut rig = rig.clone();
        let buffer = rig.commands(commands);
        rig.submit(&[buffer]);
        check(&rig.0).expect_err("the recording is damaged").to_string()
    };
    assert_eq!(
        refused(vec![write(7)]),
        "the recording is damaged: resource index 7 is out of range [0, 2); capture it again"
    );
    refused(vec![write(x)]);
    refused(vec![dispatch(vec![bytes(a, (0, 4), CS, A::NONE)])]);
    refused(vec![image_write(a)]);
    refused(vec![end()]);
    refused(vec![begin(color_pass(attachment(x, NEW)))]);
    refused(vec![begin(color_pass(attachment(x, NEW))), next()]);
    refused(vec![begin(color_pass(attachment(9, NEW))), end()]);
    let mut pass = color_pass(attachment(x, NEW));
    pass.subpasses[0].uses[0].attachment = 1;
    refused(vec![begin(pass), end()]);
    for (from, to) in [(Some(7), None), (None, Some(1)), (Some(0), Some(u32::MAX))] {
        let mut pass = color_pass(attachment(x, NEW));
        pass.dependencies = vec![dependency(from, to, OUTPUT, OUTPUT)];
        let index = from.unwrap_or_default().max(to.unwrap_or_default());
        assert_eq!(
            refused(vec![begin(pass), end()]),
            format!(
                "the recording is damaged: subpass index {index} is out of range [0, 1); capture it again"
            )
        );
    }
    rig.submit(&[3]);
    check(&rig.0).expect_err("the batch submits a command buffer that does not exist");
}

/// With barriers for everything between them, all commands are ordered.
#[test]
fn full_barriers_leave_no_hazards() {
    let full = || mb(EVERYTHING, EVERYTHING);
    let hazard = |problem| matches!(problem, Unordered | NotAvailable | NotVisible);
    for seed in 0..1000 {
        let mut numbers = Numbers {
            random: SplitMix64::new(seed),
            damaged: 0,
        };
        let mut rig = Rig(numbers.recording());
        rig.0.steps.clear();
        let accesses = (0..8).flat_map(|_| {
            let access = numbers.access(rig.0.resources.len());
            [dispatch(vec![access]), full()]
        });
        let accesses: Vec<Command> = accesses.collect();
        let buffer = rig.commands(accesses);
        rig.submit(&[buffer, buffer]);
        let found = rig.found();
        assert!(found.iter().all(|one| !hazard(one.1)), "seed {seed}: {found:?}");
    }
}
