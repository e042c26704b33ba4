//! Every setting of the layers: keys, types, defaults and descriptions. Parsers, manifests and documentation must match these tables.

use tileheap_layer::layer_desc::{SettingDesc, SettingKind as Kind, SettingValue};

const fn setting(
    key: &'static str,
    label: &'static str,
    description: &'static str,
    kind: Kind,
) -> SettingDesc {
    SettingDesc {
        key,
        label,
        description,
        kind,
    }
}

const fn value(key: &'static str, label: &'static str, description: &'static str) -> SettingValue {
    SettingValue {
        key,
        label,
        description,
    }
}

/// The emulator's settings.
pub(crate) static EMULATOR_SETTINGS: &[SettingDesc] = &[
    setting(
        "profile",
        "Profile",
        "The emulated device",
        Kind::Enum(
            "adreno-830",
            &[
                value(
                    "adreno-830",
                    "Adreno 830",
                    "As reported by a real device: 8,355,840 bytes, alignment 12,288",
                ),
                value("adreno-840", "Adreno 840", "Estimated: 12,533,760 bytes"),
                value("x2-85", "X2-85", "Estimated: 14,622,720 bytes"),
                value(
                    "validation-icd",
                    "Validation layers' null driver",
                    "1,000,000,000 bytes; resources take at least 4,096, aligned to 32",
                ),
                value(
                    "hostile",
                    "Hostile",
                    "Conforming but unusual values, which break programs that assume more than the specification guarantees",
                ),
                value(
                    "generous",
                    "Generous",
                    "Everything that an implementation may support",
                ),
                value(
                    "two-tile-types",
                    "Two tile types",
                    "The tile heap has two memory types",
                ),
            ],
        ),
    ),
    setting(
        "heap_size",
        "Heap size",
        "Size of the tile heap in bytes; 0 for the profile's size",
        Kind::Int(0),
    ),
    setting(
        "alignment",
        "Alignment",
        "Alignment of tile resources in bytes, not necessarily a power of two; 0 for the profile's alignment",
        Kind::Int(0),
    ),
    setting(
        "queue_submit_boundary",
        "Submit boundary",
        "Contents survive across the batches of a queue submission instead of within one batch; the profile's value if unset",
        Kind::Bool(false),
    ),
    setting(
        "tile_buffer_transfers",
        "Buffer transfers",
        "Tile buffers can be the source or destination of transfers; the profile's value if unset",
        Kind::Bool(false),
    ),
    setting(
        "poison",
        "Poison",
        "Overwrites undefined contents with 0xFFFF00FF",
        Kind::Bool(true),
    ),
    setting(
        "order",
        "Order",
        "Tracks barriers, events and semaphores, and reports unordered accesses to the same bytes",
        Kind::Bool(true),
    ),
    setting(
        "ordinary",
        "Ordinary memory",
        "Also checks ordinary memory that several resources share",
        Kind::Bool(false),
    ),
    setting(
        "possible",
        "Possible findings",
        "Also reports findings that depend on something unknown, such as which elements a shader accesses",
        Kind::Bool(false),
    ),
    setting(
        "pedantic",
        "Pedantic",
        "Also reports missing dependencies that the specification requires but no known implementation needs",
        Kind::Bool(false),
    ),
    setting(
        "repeats",
        "Repeated findings",
        "Reports every occurrence of a missing dependency or of lost contents; by default, repetitions by commands of the same kind with the same resources are only counted",
        Kind::Bool(false),
    ),
    setting(
        "force",
        "Force",
        "Emulates tile memory even if the driver supports VK_QCOM_tile_memory_heap",
        Kind::Bool(false),
    ),
    setting(
        "lazy_type",
        "Lazily allocated type",
        "Adds a lazily allocated memory type",
        Kind::Bool(false),
    ),
    setting(
        "tile_type_position",
        "Position of the tile type",
        "Position of the tile memory type among the others, as far as the order of memory types allows; the profile's value if unset",
        Kind::Enum(
            "first",
            &[
                value("first", "First", "As early as possible"),
                value("middle", "Middle", "Halfway between"),
                value("last", "Last", "As late as possible"),
            ],
        ),
    ),
    setting(
        "tile_type_lazy",
        "Lazy tile type",
        "The only tile memory type is LAZILY_ALLOCATED; the profile's value if unset",
        Kind::Bool(false),
    ),
    setting(
        "report",
        "Report",
        "The rules whose violations are reported",
        Kind::Enum(
            "auto",
            &[
                value(
                    "auto",
                    "Auto",
                    "Beyond validation if validation is enabled above the emulator, else all",
                ),
                value("all", "All", "Every rule"),
                value(
                    "beyond-validation",
                    "Beyond validation",
                    "Rules that the validation layers do not check",
                ),
                value(
                    "none",
                    "None",
                    "No rules, only messages about the layer itself; violations are still counted",
                ),
            ],
        ),
    ),
    setting(
        "trace",
        "Trace",
        "Writes every bind, discard and submit to a file, one JSON document per line",
        Kind::File,
    ),
    setting(
        "log",
        "Log",
        "Writes messages to standard error, or to logcat on Android; enabled by default only on Android",
        Kind::Bool(false),
    ),
    setting(
        "message_log",
        "Message log",
        "Appends messages to a file, one JSON document per line",
        Kind::File,
    ),
];

/// The settings of the aliasing check.
pub(crate) static ALIASING_SETTINGS: &[SettingDesc] = &[
    setting(
        "possible",
        "Possible findings",
        "Also reports findings that depend on something unknown, such as which elements a shader accesses",
        Kind::Bool(false),
    ),
    setting(
        "pedantic",
        "Pedantic",
        "Also reports missing dependencies that the specification requires but no known implementation needs",
        Kind::Bool(false),
    ),
    setting(
        "repeats",
        "Repeated findings",
        "Reports every occurrence of a missing dependency or of lost contents; by default, repetitions by commands of the same kind with the same resources are only counted",
        Kind::Bool(false),
    ),
    setting(
        "report",
        "Report",
        "The rules whose violations are reported",
        Kind::Enum(
            "auto",
            &[
                value(
                    "auto",
                    "Auto",
                    "The same as all: validation checks none of this layer's rules",
                ),
                value("all", "All", "Every rule"),
                value(
                    "beyond-validation",
                    "Beyond validation",
                    "Rules that the validation layers do not check",
                ),
                value(
                    "none",
                    "None",
                    "No rules, only messages about the layer itself; violations are still counted",
                ),
            ],
        ),
    ),
    setting(
        "log",
        "Log",
        "Writes messages to standard error, or to logcat on Android; enabled by default only on Android",
        Kind::Bool(false),
    ),
    setting(
        "message_log",
        "Message log",
        "Appends messages to a file, one JSON document per line",
        Kind::File,
    ),
];
