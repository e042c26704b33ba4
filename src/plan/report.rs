//! A plan as text for a terminal: the placement of every resource, its passes, and the reason.

mod map;
mod row;
mod table;

use std::fmt;

use tileheap_units::CompactSort;

use self::row::{MAX_PASS_LENGTH, Row};
use self::table::{Column, Table, WIDTH, counted, write_wrapped};
use super::words::{pass_kind_name, printable, quoted};
use super::{Ladder, MemoryKind, PlacementReason, Plan, WindowRule};
use crate::execute::ResourceOrigin;
use crate::frame::{PassId, ResourceId};
use crate::units::{Bytes, Span};

/// Maximum length of a resource's name.
const MAX_NAME_LENGTH: usize = 28;
/// Number of columns reserved for the device's name, however long the frame's name is.
const MIN_DEVICE_WIDTH: usize = 30;

/// The report: header, placements with reasons, passes, a map of the tile heap, totals. No line is longer than 110 columns.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_header(f)?;
        self.write_memory(f, MemoryKind::Tile, "Tile memory")?;
        self.write_memory(f, MemoryKind::Lazy, "Lazily allocated memory")?;
        self.write_memory(f, MemoryKind::Arena, "Arenas in ordinary memory")?;
        self.write_memory(f, MemoryKind::Dedicated, "Dedicated allocations")?;
        let is =
            |id: ResourceId, reason| (self.resources.get(id.index())).is_some_and(|of| of.reason == reason);
        // Strips use parts of a resource, which are listed on their own, but not the resource.
        let parts: Vec<ResourceOrigin> = (self.frame.resource_ids())
            .map(|id| self.origins.resource(id))
            .filter(|origin| origin.area.is_some())
            .collect();
        let is_in_strips = |id| {
            let whole = self.origins.resource(id).resource;
            parts.iter().any(|part| part.resource == whole)
        };
        let is_unused = |id| is(id, PlacementReason::Unused);
        self.write_names(f, "External resources", |id| is(id, PlacementReason::External))?;
        self.write_names(f, "In strips only", |id| is_unused(id) && is_in_strips(id))?;
        self.write_names(f, "Unused resources", |id| is_unused(id) && !is_in_strips(id))?;
        self.write_passes(f)?;
        map::write(self, f)?;
        self.write_totals(f)
    }
}

impl Plan {
    fn write_header(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let extent = self.frame.base_extent();
        let (name, device) = (quoted(self.frame.name()), printable(&self.profile.name));
        let between = format!(", {} x {}, on ", extent.width, extent.height);
        // The device's name is shortened first, then the frame's.
        let room = WIDTH - "Frame ".len() - between.len();
        let device = table::cut(
            &device,
            room.saturating_sub(name.chars().count()).max(MIN_DEVICE_WIDTH),
        );
        let name = table::cut(&name, room - device.chars().count());
        writeln!(f, "Frame {name}{between}{device}")?;
        if !self.profile.source.is_empty() {
            let source = printable(&self.profile.source);
            write_wrapped(f, "  device    ", "            ", &source)?;
        }
        if let Some(tile) = self.profile.tile {
            let lasts = ["batch", "submit"][usize::from(tile.queue_submit_boundary)];
            let gmem = match self.profile.gmem {
                Bytes::ZERO => String::new(),
                gmem => format!(" of {gmem:#} on chip"),
            };
            writeln!(
                f,
                "  tile heap {}{gmem}, blocks of {}; contents last for a {lasts}",
                tile.size, tile.block.bytes
            )?;
        }
        let windows = match self.options.windows {
            WindowRule::Device => "",
            WindowRule::WholeFrame => ", the whole frame as one window (not for execution)",
        };
        let noted = |is_so: bool, note: &'static str| if is_so { note } else { "" };
        let aliasing = noted(!self.options.aliasing, ", no aliasing");
        let ladder = match self.options.ladder {
            Ladder::Off => ", no ladders",
            Ladder::Auto => "",
            Ladder::Always => ", ladders everywhere",
        };
        let split = noted(self.options.split, ", split lifetimes");
        let lazy = noted(!self.options.lazy, ", no lazily allocated memory");
        let limit = match self.options.tile_limit {
            Some(limit) if self.profile.tile.is_some() => format!(", limited to {limit} of the tile heap"),
            _ => String::new(),
        };
        writeln!(
            f,
            "  strategy  {}{windows}{aliasing}{ladder}{split}{lazy}{limit}",
            self.options.strategy.name()
        )
    }

    fn write_memory(&self, f: &mut fmt::Formatter<'_>, memory: MemoryKind, title: &str) -> fmt::Result {
        let rows = self.rows(memory);
        if rows.is_empty() {
            return Ok(());
        }
        let mut objects: Vec<usize> = rows.iter().flat_map(|row| row.objects.iter().copied()).collect();
        objects.compact_sort();
        objects.dedup();
        let bytes: Bytes = objects.iter().map(|&object| self.objects[object].size).sum();
        match memory {
            MemoryKind::Tile => writeln!(f, "\n{title}: largest binding {}", self.totals.tile_bytes)?,
            _ => writeln!(f, "\n{title}: {bytes} in {}", counted(objects.len(), "object"))?,
        }
        let mut table = Table::new(vec![
            Column::left("resource", MAX_NAME_LENGTH),
            Column::right("size"),
            Column::right("offset"),
            Column::left("object", 16),
            Column::left("passes", 2 * MAX_PASS_LENGTH + 4),
        ]);
        for row in rows {
            let [name, size, offset, passes, reason] = row.in_words(self);
            table.row(
                vec![name, size, offset, objects_in_words(&row.objects), passes],
                reason,
            );
        }
        table.write(f)
    }

    /// The rows of the placements in one kind of memory, in order of object and offset. Omits external resources, which have no object: they are listed by
    /// name.
    fn rows(&self, memory: MemoryKind) -> Vec<Row<'_>> {
        let mut rows: Vec<Row<'_>> = Vec::new();
        for placement in self
            .placements
            .iter()
            .filter(|placement| placement.memory == memory)
        {
            let Some(object) = placement.object else { continue };
            match rows.last_mut() {
                Some(row) if memory == MemoryKind::Tile && row.placement.resource == placement.resource => {
                    row.objects.push(object.index());
                }
                _ => rows.push(Row::new(placement, object.index())),
            }
        }
        for row in &mut rows {
            row.objects.compact_sort();
        }
        rows.compact_sort_by_key(|row| {
            let placement = row.placement;
            (
                row.objects[0],
                placement.offset,
                placement.span.first,
                placement.resource,
            )
        });
        row::merge(self, rows)
    }

    fn write_names(
        &self,
        f: &mut fmt::Formatter<'_>,
        title: &str,
        wanted: impl Fn(ResourceId) -> bool,
    ) -> fmt::Result {
        let named = self.frame.resource_ids().filter(|id| wanted(*id));
        let names: Vec<String> = named.map(|id| quoted(&self.frame.resource(id).name)).collect();
        if names.is_empty() {
            return Ok(());
        }
        writeln!(f)?;
        write_wrapped(f, &format!("{title}: "), "  ", &names.join(", "))
    }

    fn write_passes(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\nPasses")?;
        let tile = self.profile.tile.is_some();
        let mut columns = vec![
            Column::right("#"),
            Column::left("pass", MAX_NAME_LENGTH),
            Column::left("kind", 8),
            Column::left("queue, batch, command buffer", 40),
        ];
        if tile {
            columns.extend([Column::right("bound"), Column::right("live")]);
        }
        let mut table = Table::new(columns);
        for (id, planned) in self.frame.pass_ids().zip(&self.passes) {
            let mut cells = vec![
                id.index().to_string(),
                printable(&self.frame.pass(id).name),
                pass_kind_name(self.frame.pass(id).kind).to_owned(),
                self.place_in_words(id),
            ];
            if tile {
                let bound = planned
                    .bound_object
                    .map(|object| self.objects[object.index()].size.to_string());
                cells.extend([
                    bound.unwrap_or_else(|| "nothing".to_owned()),
                    planned.live_tile.to_string(),
                ]);
            }
            table.row(cells, self.default_area_in_words(id).unwrap_or_default());
        }
        table.write(f)
    }

    fn write_totals(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let totals = &self.totals;
        let mut table = Table::new(vec![Column::left("", 40), Column::right(""), Column::right("")]);
        // Bytes, and their share of other bytes.
        let mut row_of = |what: &str, bytes: Bytes, share: String, note: &str| {
            table.row(vec![what.to_owned(), bytes.to_string(), share], note.to_owned());
        };
        let mut row = |what: &str, bytes, of, note: &str| row_of(what, bytes, percent(bytes, of), note);
        let (eligible, kept) = (totals.eligible_bytes, totals.on_chip_bytes);
        if let Some(tile) = self.profile.tile {
            let (stored, bound, live) = (totals.stored_bytes, totals.tile_bytes, totals.tile_peak_live);
            let all = totals.traffic_bytes;
            row(
                "traffic of all resources",
                all,
                Bytes::ZERO,
                "bytes touched, summed over accesses",
            );
            row(
                "traffic eligible for tile memory",
                eligible,
                all,
                "of all traffic",
            );
            row("traffic kept on chip", kept, all, "of all traffic");
            if stored > Bytes::ZERO {
                row("stored by splits", stored, all, "traffic to memory");
            }
            row("largest bound tile memory", bound, tile.size, "of the heap");
            row(
                "peak live bytes in tile memory",
                live,
                bound,
                "of the bound tile memory",
            );
            let (reserved, runs) = (totals.reserved_bytes, totals.reserved_bytes_by_runs);
            let (summed, live) = ("bound tile memory, summed over passes", totals.live_bytes);
            row(summed, reserved, live, "of live bytes");
            row("… without ladders", runs, live, "of live bytes");
        }
        let (arena, peak) = (totals.arena_bytes, totals.arena_peak_live);
        let apart = totals.arena_bytes_without_aliasing;
        let cost = self.binning_cost();
        if cost > Bytes::ZERO {
            let (what, note) = ("binning cost of bound tile memory", "of traffic kept on chip");
            row_of(what, cost, percent_up(cost, kept), note);
        }
        let mut row = |what: &str, bytes, of, note: &str| row_of(what, bytes, percent(bytes, of), note);
        row("arenas", arena, peak, "of the lower bound, the peak live bytes");
        row("arenas without aliasing", apart, arena, "of the arenas");
        writeln!(f, "\nTotals, {}", counted(self.passes.len(), "pass"))?;
        table.write_rows(f)?;
        self.write_optimality(f)
    }

    fn write_optimality(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(found) = self.optimality else {
            return Ok(());
        };
        let steps = counted(found.steps as usize, "step");
        if found.is_proved() {
            let least = match found.least_reserved {
                true => ", and no equally good plan binds less",
                false => "",
            };
            return writeln!(f, "  Proved optimal in {steps}{least}.");
        }
        let (value, bound) = (found.value.unsigned_abs(), found.upper_bound.unsigned_abs());
        let more = percent_up(Bytes(bound.saturating_sub(value)), Bytes(value));
        writeln!(
            f,
            "  Not proved optimal in {steps}: at most {more} more could stay on chip."
        )
    }

    /// The passes of a span in words: `gbuffer … lighting`, or one name.
    fn span_in_words(&self, span: Span) -> String {
        if span.is_empty() {
            return "none".to_owned();
        }
        let name = |step: u32| {
            let pass = self.frame.passes().get(step as usize);
            pass.map_or_else(
                || format!("#{step}"),
                |pass| table::cut(&printable(&pass.name), MAX_PASS_LENGTH),
            )
        };
        let (first, last) = (span.first.0, span.end.0 - 1);
        if first == last {
            name(first)
        } else {
            format!("{} … {}", name(first), name(last))
        }
    }

    fn place_in_words(&self, pass: PassId) -> String {
        let frame = &self.frame;
        let queue = &frame.queues()[frame.queue_of(pass).index()].name;
        let batch = frame.batch_of(pass).index();
        let commands = &frame.command_buffers()[frame.pass(pass).command_buffer.index()].name;
        format!("{}, {batch}, {}", printable(queue), printable(commands))
    }
}

/// Object numbers in words: `#0`, `#0 #2…#4`.
fn objects_in_words(objects: &[usize]) -> String {
    let runs = objects.chunk_by(|a, b| a + 1 == *b).flat_map(|run| match *run {
        [first, _, .., last] => vec![format!("#{first}…#{last}")],
        ref few => few.iter().map(|object| format!("#{object}")).collect(),
    });
    runs.collect::<Vec<_>>().join(" ")
}

/// A share in percent with one decimal, rounded down, so that a share just below a threshold does not appear to meet it. Empty if `whole` is 0.
fn percent(part: Bytes, whole: Bytes) -> String {
    if whole == Bytes::ZERO {
        return String::new();
    }
    in_tenths(u128::from(part.0) * 1000 / u128::from(whole.0))
}

/// Like [`percent`], but rounded up, for losses and possible gaps.
fn percent_up(part: Bytes, whole: Bytes) -> String {
    if whole == Bytes::ZERO {
        return String::new();
    }
    in_tenths((u128::from(part.0) * 1000).div_ceil(u128::from(whole.0)))
}

fn in_tenths(tenths: u128) -> String {
    format!("{}.{} %", tenths / 10, tenths % 10)
}
