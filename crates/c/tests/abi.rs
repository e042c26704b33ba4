//! The binary interface: `abi.txt` has the size and offset of every field and the value of every constant, as a C compiler sees them in the header.
//! Rust has the same ones. Programs compiled with an older header rely on them.
//!
//! `TILEHEAP_WRITE=1 cargo test --package tileheap-c --test abi` writes the file. Fields may be added at the end of structures that begin with their
//! size; any other change needs a new SONAME.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use regex::Regex;
use tileheap_testkit::own_file;

const HEADER: &str = include_str!("../include/tileheap.h");

/// A C program that prints the layouts of the header.
fn program() -> String {
    let mut lines = String::new();
    let structures = Regex::new(r"(?s)typedef struct (\w+) \{\n(.*?)\n\} \w+;").unwrap();
    let field = Regex::new(r"(?m)^    [^/* \n][^;(]*?(\w+)(?:\[\d+\])?;$").unwrap();
    for structure in structures.captures_iter(HEADER) {
        let name = &structure[1];
        writeln!(lines, r#"printf("struct {name}: %zu\n", sizeof({name}));"#).unwrap();
        for field in field.captures_iter(&structure[2]) {
            let field = &field[1];
            writeln!(
                lines,
                r#"printf("  {field}: %zu, %zu\n", offsetof({name}, {field}), sizeof((({name} *)0)->{field}));"#
            )
            .unwrap();
        }
    }
    let enumerations = Regex::new(r"(?s)TH_ENUM\((\w+), (\w+)\) \{\n(.*?)\n\};").unwrap();
    let constant = Regex::new(r"(?m)^    (TH_\w+)").unwrap();
    for enumeration in enumerations.captures_iter(HEADER) {
        let (name, number) = (&enumeration[1], &enumeration[2]);
        writeln!(
            lines,
            r#"printf("enum {name}: {number}, %zu\n", sizeof({name}));"#
        )
        .unwrap();
        for constant in constant.captures_iter(&enumeration[3]) {
            let constant = &constant[1];
            writeln!(lines, r#"printf("  {constant}: %lld\n", (long long){constant});"#).unwrap();
        }
    }
    format!("#include <stdio.h>\n#include <tileheap.h>\nint main(void) {{\n{lines}return 0;\n}}\n")
}

/// The output of the program.
fn layouts_of_c() -> String {
    let (source, binary) = (own_file("abi.c"), own_file("abi"));
    std::fs::write(&source, program()).unwrap();
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let built = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Werror", "-I"])
        .arg(include)
        .arg(&source)
        .arg("-o")
        .arg(&binary)
        .output();
    let built = built.expect("a C compiler is installed");
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    let printed = Command::new(&binary).output().unwrap();
    String::from_utf8(printed.stdout).unwrap()
}

#[test]
fn sizes_offsets_and_constants_are_those_that_programs_were_compiled_with() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("abi.txt");
    let now = layouts_of_c();
    if std::env::var_os("TILEHEAP_WRITE").is_some() {
        std::fs::write(&path, &now).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    let changed: Vec<_> = committed
        .lines()
        .zip(now.lines())
        .filter(|(old, new)| old != new)
        .take(5)
        .collect();
    assert!(
        committed == now,
        "the binary interface is not that of abi.txt, first in {changed:?}"
    );
}

type Layouts = BTreeMap<String, (usize, Vec<(String, usize, usize)>)>;

fn layouts_in_file() -> Layouts {
    let mut layouts = Layouts::new();
    let mut current = String::new();
    for line in include_str!("../abi.txt").lines() {
        let (name, numbers) = line.split_once(": ").unwrap();
        if let Some(structure) = name.strip_prefix("struct ") {
            current = structure.to_owned();
            layouts.insert(current.clone(), (numbers.parse().unwrap(), Vec::new()));
        } else if name.starts_with("enum ") {
            break;
        } else {
            let (offset, size) = numbers.split_once(", ").unwrap();
            let field = (
                name.trim().to_owned(),
                offset.parse().unwrap(),
                size.parse().unwrap(),
            );
            layouts.get_mut(&current).unwrap().1.push(field);
        }
    }
    layouts
}

fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    first
        + &words
            .map(|word| word[..1].to_uppercase() + &word[1..])
            .collect::<String>()
}

const fn size_behind<T, F>(_field: fn(&T) -> &F) -> usize {
    size_of::<F>()
}

macro_rules! layouts_of_rust {
    ($($c:ident = $name:ident { $($field:ident)* })*) => {{
        let mut layouts = Layouts::new();
        $(
            let fields = vec![$((
                camel(stringify!($field)),
                std::mem::offset_of!($name, $field),
                size_behind(|value: &$name| &value.$field),
            )),*];
            layouts.insert(stringify!($c).to_owned(), (size_of::<$name>(), fields));
        )*
        layouts
    }};
}

#[test]
fn rust_has_the_layouts_that_c_has() {
    use tileheap::lower::tables::ObjectRef;
    use tileheap::lower::tables::clears::*;
    use tileheap::lower::tables::commands::*;
    use tileheap::lower::tables::instances::*;
    use tileheap::lower::tables::objects::*;
    use tileheap::lower::tables::submission::*;
    use tileheap::lower::{
        AddressSpace, AliasingRow, ByteUse, ContentState, FamilyQueue, LastUse, PreviousUser,
    };
    use tileheap::units::Run;
    use tileheap_c::additions::*;
    use tileheap_c::aliasing::*;
    use tileheap_c::arrangement::*;
    use tileheap_c::blocks::*;
    use tileheap_c::bound::*;
    use tileheap_c::commands::*;
    use tileheap_c::device::*;
    use tileheap_c::dynamic_frame::*;
    use tileheap_c::frame::*;
    use tileheap_c::frame_desc::*;
    use tileheap_c::imports::*;
    use tileheap_c::lowerer::*;
    use tileheap_c::origins::*;
    use tileheap_c::plan::*;
    use tileheap_c::profile::*;
    use tileheap_c::recording::*;
    use tileheap_c::requirements::*;
    use tileheap_c::stores::*;
    use tileheap_c::strings::*;

    let rust = layouts_of_rust! {
        ThStringView = StringView { data length }
        ThPhysicalDeviceDesc = PhysicalDeviceDesc { struct_size api_version get_instance_proc_addr
            instance physical_device enabled reserved }
        ThProfileInfo = ProfileInfo { struct_size features name source tile_size gmem tile_heap
            tile_memory_type queue_submit_boundary tile_buffer_transfers }
        ThExternalState = ExternalState { layout family stages access }
        ThResourceDesc = ResourceDesc { struct_size resource_type name persistence tile_constraint
            entry exit flags format extent scale mip_levels array_layers samples image_flags
            image_usage buffer_usage hook reserved size }
        ThAccessDesc = AccessDesc { struct_size kind resource subpass flags load_op clear stages
            range view_type view_format resolve_source reach_texels measured_savings }
        ThPassDesc = PassDesc { struct_size pass_type name flags skipped_outputs render_area
            view_mask samples repeat_bytes hook access_count accesses }
        ThSemaphoreUse = SemaphoreUse { struct_size semaphore stages }
        ThCommandBufferDesc = CommandBufferDesc { struct_size pass_count name passes }
        ThBatchDesc = BatchDesc { struct_size wait_count waits signal_count command_buffer_count
            signals command_buffers }
        ThSubmitDesc = SubmitDesc { struct_size queue batch_count batches }
        ThQueueDesc = QueueDesc { struct_size capabilities name }
        ThSemaphoreDesc = SemaphoreDesc { struct_size external name }
        ThFrameDesc = FrameDesc { struct_size resource_count name base_extent resources pass_count
            submit_count passes submits queue_count semaphore_count queues semaphores }
        ThFrameInfo = FrameInfo { struct_size resource_count name base_extent pass_count
            access_count command_buffer_count batch_count submit_count queue_count semaphore_count
            reserved }
        ThResourceInfo = ResourceInfo { struct_size resource_type name persistence first_pass
            end_pass format image_type extent mip_levels array_layers samples image_usage
            buffer_usage reserved size level_of level }
        ThPassInfo = PassInfo { struct_size pass_type name command_buffer queue first_access
            end_access area layers view_mask subpass_count reserved }
        ThRequirementQuery = RequirementQuery { struct_size resource memory resource_type image
            buffer hook reserved }
        ThRequirementAnswer = RequirementAnswer { struct_size resource memory supported dedicated
            reserved requirements tile_size tile_alignment }
        ThResourceRequirements = ResourceRequirements { struct_size memory_type_bits size alignment
            tile_size tile_alignment lazy_type_bits dedicated }
        ThPlanOptionsDesc = PlanOptionsDesc { struct_size strategy ladder flags budget bin_cost
            tile_limit }
        ThPlanDesc = PlanDesc { struct_size mode frame requirements profile planner options }
        ThRun = Run { first end }
        ThPlannedResource = PlannedResource { placements }
        ThPlannedPlacement = PlannedPlacement { resource memory object first_pass end_pass reserved
            offset size }
        ThPlannedObject = PlannedObject { memory memory_type size }
        ThPlannedPass = PlannedPass { tile_memory described_pass live_tile }
        ThPlanArrays = PlanArrays { struct_size resource_count resources placement_count
            object_count placements objects pass_count reserved passes }
        ThPlanTotals = PlanTotals { struct_size proved traffic_bytes eligible_bytes on_chip_bytes dram_bytes
            arena_bytes arena_bytes_without_aliasing tile_bytes tile_peak_live charged_bytes }
        ThTraffic = Traffic { described moved repeats halos merges shaded share }
        ThSearchDesc = SearchDesc { struct_size allow shaded repeat_bytes steps progress user_data }
        ThArrangementInfo = ArrangementInfo { struct_size reserved described arranged cap steps }
        ThArrangedPass = ArrangedPass { described strip strip_count area origin halo }
        ThDescribedPass = DescribedPass { pass subpass }
        ThPassOrigin = PassOrigin { described }
        ThResourceOrigin = ResourceOrigin { described value value_count until_pass area }
        ThFrameOrigins = FrameOrigins { struct_size pass_count passes described_count
            resource_count described resources }
        ThArrangedResource = ArrangedResource { described origin }
        ThArrangementArrays = ArrangementArrays { struct_size pass_count passes described_count
            resource_count described resources }
        ThFamilyQueue = FamilyQueue { family index }
        ThLowerDesc = LowerDesc { struct_size queue_count queues plan previous }
        ThMemoryRow = MemoryRow { kind memory_type size alignment flags dedicated_image
            dedicated_buffer }
        ThSharing = Sharing { families reason }
        ThMemoryBinding = MemoryBinding { memory offset size }
        ThImageRow = ImageRow { resource flags image_type format extent mip_levels array_layers
            samples tiling usage hook view_formats sharing binding }
        ThBufferRow = BufferRow { resource hook size usage sharing binding }
        ThSubresourceRange = SubresourceRange { aspects levels layers }
        ThViewRow = ViewRow { image view_type format usage range }
        ThObjectRef = ObjectRef { kind row }
        ThAccessRow = AccessRow { pass subpass resource version kind object range view layout
            stencil_layout }
        ThOperations = Operations { load store }
        ThClearBits = ClearBits { kind words }
        ThAttachmentRow = AttachmentRow { view format samples layout stencil_layout combined_layout
            operations stencil clear resolve resolve_mode }
        ThReferenceRow = ReferenceRow { attachment layout }
        ThScopes = Scopes { src_stages src_access dst_stages dst_access }
        ThSubpassDependencyRow = SubpassDependencyRow { src_subpass dst_subpass flags scopes }
        ThSubpassRow = SubpassRow { dependencies barriers colors resolves inputs depth depth_resolve
            preserved locations input_indices color_formats depth_format stencil_format
            depth_aspects samples }
        ThInstanceRow = InstanceRow { pass dynamic local_read secondary tile_shading area
            framebuffer layers view_mask attachments colors depth stencil subpasses hook tile_memory
            }
        ThClearRow = ClearRow { object range layout value }
        ThStoreShaders = StoreShaders { struct_size stage vertex_word_count word_count vertex_words words
            }
        ThStoreRow = StoreRow { shader source target groups x y }
        ThDependencyRow = DependencyRow { images buffers memory }
        ThPassRow = PassRow { pass contents row tile_memory instance before after }
        ThFamilies = Families { src dst }
        ThImageBarrierRow = ImageBarrierRow { image range scopes old_layout new_layout families
            cause }
        ThBufferBarrierRow = BufferBarrierRow { buffer offset size scopes families cause }
        ThMemoryBarrierRow = MemoryBarrierRow { scopes cause }
        ThCommandBufferRow = CommandBufferRow { commands queue passes }
        ThSemaphoreValue = SemaphoreValue { kind index value }
        ThSemaphoreRow = SemaphoreRow { semaphore stages }
        ThBatchRow = BatchRow { batch is_first waits command_buffers signals }
        ThSubmitRow = SubmitRow { submit queue batches }
        ThAddressSpace = AddressSpace { kind index }
        ThLastUse = LastUse { queue value stages writes }
        ThByteUse = ByteUse { space first end last }
        ThContentState = ContentState { object range defined layout family }
        ThLowered = Lowered { struct_size parity device_queue_count device_queues queue_count queues
            memory_count memory image_count images buffer_count buffers view_count views
            family_count families format_count formats access_count accesses attachment_count
            attachments reference_count references index_count indices subpass_dependency_count
            subpass_dependencies subpass_count subpasses instance_count instances clear_count clears
            store_count stores pass_count passes image_barrier_count image_barriers
            buffer_barrier_count buffer_barriers memory_barrier_count memory_barriers
            command_buffer_count command_buffers wait_count waits signal_count signals batch_count
            batches submit_count submits byte_use_count byte_uses content_count contents }
        ThAliasingDesc = AliasingDesc { struct_size queue_count queues plan }
        ThAliasingRow = AliasingRow { resource placement memory object first_pass offset size
            previous discards }
        ThPreviousUser = PreviousUser { resource last_pass queue earlier_frame stages writes }
        ThAliasingArrays = AliasingArrays { struct_size placement_count placements previous_count
            device_queue_count previous device_queues tile_memory_count reserved tile_memory }
        ThDeviceAdditionsDesc = DeviceAdditionsDesc { struct_size api_version get_instance_proc_addr
            instance physical_device create_info without_tile_memory debug_names }
        ThBlockRequest = BlockRequest { struct_size device_address name requirements dedicated_image
            dedicated_buffer }
        ThBlock = Block { memory offset mapped token }
        ThDeviceQueue = DeviceQueue { queue family capabilities }
        ThDeviceDesc = DeviceDesc { struct_size api_version get_instance_proc_addr instance
            physical_device device additions queue_count without_tile_memory queues allocate_block
            free_block user_data memory_limit }
        ThDynamicFrameDesc = DynamicFrameDesc { struct_size mode device options }
        ThSelectedFrame = SelectedFrame { struct_size parity bound pass_count command_buffer_count
            queue_count resource_count }
        ThPassTarget = PassTarget { struct_size dynamic render_pass subpass samples view_mask layers
            extent depth_aspects depth_format stencil_format color_format_count color_formats
            color_locations color_inputs }
        ThBoundAccess = BoundAccess { struct_size kind resource version subpass layout stencil_layout
            range image view buffer offset size address }
        ThImportedImage = ImportedImage { resource reserved image view }
        ThImportedView = ImportedView { resource range view }
        ThImportedBuffer = ImportedBuffer { resource reserved buffer offset size address }
        ThImportedSemaphore = ImportedSemaphore { semaphore reserved handle value }
        ThImports = Imports { struct_size image_count images view_count buffer_count views buffers
            semaphore_count reserved semaphores }
        ThSubmitCall = SubmitCall { struct_size submit_count queue submits older_submits fence
            family reserved }
        ThPassCommands = PassCommands { struct_size reserved command_buffer area viewport }
    };
    let c = layouts_in_file();
    for (name, layout) in &c {
        assert_eq!(rust.get(name), Some(layout), "{name}");
    }
    assert_eq!(rust.len(), c.len());
}
