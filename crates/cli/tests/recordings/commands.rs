//! Records commands other than barriers.

use ash::vk::{self, ImageLayout as L};

use crate::execute::Executor;
use crate::pipelines::{GraphicsKey, Pipeline};
use crate::recording::*;
use crate::resources::range;

impl Executor<'_> {
    /// Writes parameters of a dispatch of one workgroup, and of a draw of one triangle.
    pub(crate) fn update(&self, commands: vk::CommandBuffer, cells: Cells) {
        let (buffer, offset, size) = self.resources.bytes(self.recording, cells);
        let mut words = vec![0u8; size as usize];
        for (index, word) in [1u32, 1, 1, 0, 3, 1, 0, 0].into_iter().enumerate() {
            words[index * 4..][..4].copy_from_slice(&word.to_le_bytes());
        }
        // SAFETY: recording; bytes of the buffer, at most 64 KiB.
        unsafe {
            self.gpu
                .device
                .cmd_update_buffer(commands, buffer, offset, &words)
        };
    }

    pub(crate) fn command(&mut self, commands: vk::CommandBuffer, step: &Step) {
        let device = &self.gpu.device;
        let bytes = |cells| self.resources.bytes(self.recording, cells);
        let image = |layer: Layer| self.resources.images[layer.image];
        // SAFETY: recording; objects of this recording, in the layouts that it tracks.
        unsafe {
            match &step.command {
                Command::Fill(cells) => {
                    let (buffer, offset, size) = bytes(*cells);
                    device.cmd_fill_buffer(commands, buffer, offset, size, step.id);
                }
                Command::Update(cells) => self.update(commands, *cells),
                Command::CopyBuffer { from, to } => {
                    let ((source, src_offset, size), (target, dst_offset, _)) = (bytes(*from), bytes(*to));
                    let region = vk::BufferCopy {
                        src_offset,
                        dst_offset,
                        size,
                    };
                    device.cmd_copy_buffer(commands, source, target, &[region]);
                }
                Command::CopyToImage { from, to, rows } => {
                    let (buffer, offset, _) = bytes(*from);
                    let region = texels_in_buffer(offset, *to, *rows);
                    device.cmd_copy_buffer_to_image(commands, buffer, image(*to), to.layout, &[region]);
                }
                Command::CopyFromImage { from, to, rows } => {
                    let (buffer, offset, _) = bytes(*to);
                    let region = texels_in_buffer(offset, *from, *rows);
                    device.cmd_copy_image_to_buffer(commands, image(*from), from.layout, buffer, &[region]);
                }
                Command::CopyImage { from, to, rows } => {
                    let origin = vk::Offset3D {
                        x: 0,
                        y: rows.first as i32,
                        z: 0,
                    };
                    let region = vk::ImageCopy::default()
                        .src_subresource(layers(*from))
                        .src_offset(origin)
                        .dst_subresource(layers(*to))
                        .dst_offset(origin)
                        .extent(vk::Extent3D {
                            width: SIDE,
                            height: rows.count,
                            depth: 1,
                        });
                    device.cmd_copy_image(
                        commands,
                        image(*from),
                        from.layout,
                        image(*to),
                        to.layout,
                        &[region],
                    );
                }
                Command::Blit { from, to } => {
                    let end = vk::Offset3D {
                        x: SIDE as i32,
                        y: SIDE as i32,
                        z: 1,
                    };
                    let region = vk::ImageBlit::default()
                        .src_subresource(layers(*from))
                        .src_offsets([vk::Offset3D::default(), end])
                        .dst_subresource(layers(*to))
                        .dst_offsets([vk::Offset3D::default(), end]);
                    let nearest = vk::Filter::NEAREST;
                    device.cmd_blit_image(
                        commands,
                        image(*from),
                        from.layout,
                        image(*to),
                        to.layout,
                        &[region],
                        nearest,
                    );
                }
                Command::ClearImage(layer) => {
                    let kind = self.recording.image_kind(layer.image);
                    let all = range(kind, layer.layer, 1);
                    clear_image(device, commands, kind, image(*layer), layer.layout, all);
                }
                Command::ResolveImage { from, to } => {
                    let region = vk::ImageResolve::default()
                        .src_subresource(layers(*from))
                        .dst_subresource(layers(*to))
                        .extent(vk::Extent3D {
                            width: SIDE,
                            height: SIDE,
                            depth: 1,
                        });
                    device.cmd_resolve_image(
                        commands,
                        image(*from),
                        from.layout,
                        image(*to),
                        to.layout,
                        &[region],
                    );
                }
                Command::Dispatch { bindings, parameters } => {
                    let uses: Vec<Use> = bindings.iter().map(|one| one.used).collect();
                    let pipeline = self.pipelines.compute(self.gpu, &uses);
                    self.bind(commands, vk::PipelineBindPoint::COMPUTE, pipeline, bindings, None);
                    match parameters {
                        None => device.cmd_dispatch(commands, 1, 1, 1),
                        Some(buffer) => {
                            let (buffer, offset, _) = bytes(Cells {
                                buffer: *buffer,
                                first: 0,
                                count: 1,
                            });
                            device.cmd_dispatch_indirect(commands, buffer, offset);
                        }
                    }
                }
                Command::BeginPass(_) => {
                    self.pass = Some((step.id, 0));
                    self.passes[&step.id].begin(device, commands);
                }
                Command::Draw(draw) => self.draw(commands, draw),
                Command::ClearAttachment => {
                    let attachment = vk::ClearAttachment::default().aspect_mask(vk::ImageAspectFlags::COLOR);
                    let rect = vk::ClearRect {
                        rect: tileheap_testkit::objects::area(SIDE, SIDE),
                        base_array_layer: 0,
                        layer_count: 1,
                    };
                    device.cmd_clear_attachments(commands, &[attachment], &[rect]);
                }
                Command::NextSubpass { secondaries } => {
                    let (begin, subpass) = self.pass.expect("a pass");
                    self.pass = Some((begin, subpass + 1));
                    let contents = match secondaries {
                        true => vk::SubpassContents::SECONDARY_COMMAND_BUFFERS,
                        false => vk::SubpassContents::INLINE,
                    };
                    device.cmd_next_subpass(commands, contents);
                }
                Command::EndPass => {
                    let (begin, _) = self.pass.take().expect("a pass");
                    self.passes[&begin].end(device, commands);
                }
                Command::Execute(secondary) => {
                    device.cmd_execute_commands(commands, &[self.command_buffers[*secondary]]);
                }
                Command::Barrier(barrier) => self.barrier(commands, barrier, None),
                Command::WaitEvent { event, barrier } => {
                    self.barrier(commands, barrier, Some(self.events[*event]))
                }
                Command::SetEvent { event, barrier } => {
                    self.set_event(commands, self.events[*event], barrier)
                }
            }
        }
    }

    fn draw(&mut self, commands: vk::CommandBuffer, draw: &Draw) {
        let (begin, subpass) = self.pass.expect("a draw is in a pass");
        let pass = &self.passes[&begin];
        let key = GraphicsKey {
            uses: draw.bindings.iter().map(|one| one.used).collect(),
            has_vertices: draw.vertices.is_some(),
            is_multisampled: pass.pass.attachments[0].kind == ImageKind::Multisampled,
            has_depth: pass.pass.subpasses[subpass as usize].depth.is_some(),
            render_pass: (!pass.pass.is_dynamic).then_some((pass.render_pass, subpass)),
        };
        let input = pass.pass.subpasses[subpass as usize]
            .inputs
            .first()
            .map(|(_, layout)| *layout);
        let pipeline = self.pipelines.graphics(self.gpu, &key, &self.objects);
        self.bind(
            commands,
            vk::PipelineBindPoint::GRAPHICS,
            pipeline,
            &draw.bindings,
            input,
        );
        let device = &self.gpu.device;
        let bytes = |cells| self.resources.bytes(self.recording, cells);
        // SAFETY: recording in a pass that the pipeline was created for; bytes of the buffers.
        unsafe {
            if let Some(cells) = draw.vertices {
                let (buffer, offset, _) = bytes(cells);
                device.cmd_bind_vertex_buffers(commands, 0, &[buffer], &[offset]);
            }
            if let Some(cells) = draw.indices {
                let (buffer, offset, _) = bytes(cells);
                device.cmd_bind_index_buffer(commands, buffer, offset, vk::IndexType::UINT32);
                device.cmd_draw_indexed(commands, 3, 1, 0, 0, 0);
            } else if let Some(parameters) = draw.parameters {
                let (buffer, offset, _) = bytes(Cells {
                    buffer: parameters,
                    first: 0,
                    count: 1,
                });
                device.cmd_draw_indirect(commands, buffer, offset + 16, 1, 16);
            } else {
                device.cmd_draw(commands, 3, 1, 0, 0);
            }
        }
    }

    /// Binds a pipeline and a new set.
    fn bind(
        &self,
        commands: vk::CommandBuffer,
        point: vk::PipelineBindPoint,
        pipeline: Pipeline,
        bindings: &[Binding],
        input: Option<L>,
    ) {
        let device = &self.gpu.device;
        let layouts = [pipeline.set_layout];
        let info = vk::DescriptorSetAllocateInfo::default()
            .descriptor_pool(self.descriptors)
            .set_layouts(&layouts);
        // SAFETY: the pool has room for all draws and dispatches of a recording.
        let set = unsafe { device.allocate_descriptor_sets(&info) }.expect("a descriptor set")[0];
        for (index, binding) in (0..).zip(bindings) {
            let buffers;
            let images;
            let write = vk::WriteDescriptorSet::default()
                .dst_set(set)
                .dst_binding(index)
                .descriptor_type(binding.used.descriptor());
            let write = match binding.target {
                Target::Cells(cells) => {
                    let (buffer, offset, range) = self.resources.bytes(self.recording, cells);
                    buffers = [vk::DescriptorBufferInfo {
                        buffer,
                        offset,
                        range,
                    }];
                    write.buffer_info(&buffers)
                }
                Target::Layer(layer) => {
                    let kind = self.recording.image_kind(layer.image);
                    let info = view_info(self.resources.images[layer.image], kind, layer.layer);
                    let view = self.objects.create(device, &info);
                    self.gpu.name(view, &format!("image {}", layer.image));
                    let layout = if binding.used == Use::Input {
                        input.unwrap_or(layer.layout)
                    } else {
                        layer.layout
                    };
                    images = [vk::DescriptorImageInfo::default()
                        .image_view(view)
                        .image_layout(layout)];
                    write.image_info(&images)
                }
            };
            // SAFETY: the set is new and not bound.
            unsafe { device.update_descriptor_sets(&[write], &[]) };
        }
        // SAFETY: recording; the set has the pipeline's layout.
        unsafe {
            device.cmd_bind_pipeline(commands, point, pipeline.handle);
            if !bindings.is_empty() {
                device.cmd_bind_descriptor_sets(commands, point, pipeline.layout, 0, &[set], &[]);
            }
        }
    }
}

pub(crate) fn view_info(image: vk::Image, kind: ImageKind, layer: u32) -> vk::ImageViewCreateInfo<'static> {
    vk::ImageViewCreateInfo::default()
        .image(image)
        .view_type(vk::ImageViewType::TYPE_2D)
        .format(kind.format())
        .subresource_range(range(kind, layer, 1))
}

fn layers(layer: Layer) -> vk::ImageSubresourceLayers {
    vk::ImageSubresourceLayers {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        mip_level: 0,
        base_array_layer: layer.layer,
        layer_count: 1,
    }
}

fn texels_in_buffer(offset: u64, layer: Layer, rows: Rows) -> vk::BufferImageCopy {
    vk::BufferImageCopy::default()
        .buffer_offset(offset)
        .image_subresource(layers(layer))
        .image_offset(vk::Offset3D {
            x: 0,
            y: rows.first as i32,
            z: 0,
        })
        .image_extent(vk::Extent3D {
            width: SIDE,
            height: rows.count,
            depth: 1,
        })
}

pub(crate) fn clear_image(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    kind: ImageKind,
    image: vk::Image,
    layout: L,
    range: vk::ImageSubresourceRange,
) {
    // SAFETY: recording; layers of the image, in this layout.
    unsafe {
        match kind {
            ImageKind::Depth => {
                let value = vk::ClearDepthStencilValue {
                    depth: 1.0,
                    stencil: 0,
                };
                device.cmd_clear_depth_stencil_image(commands, image, layout, &value, &[range]);
            }
            _ => {
                let value = vk::ClearColorValue { float32: [0.5; 4] };
                device.cmd_clear_color_image(commands, image, layout, &value, &[range]);
            }
        }
    }
}
