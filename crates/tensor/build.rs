//! Compiles every kernel of `shaders/` for each combination of operand storages, with 32-bit and 16-bit elements.

#[cfg(feature = "vulkan")]
mod kernels {
    use std::fmt::Write as _;
    use std::path::Path;

    use tileheap_shaders::{Binding, Compiler, Error, Interface, Result, Source, Stage, fail, write_output};

    /// A kernel's use of an operand.
    #[derive(Clone, Copy, PartialEq)]
    enum Role {
        /// Read, in any storage.
        Input,
        /// Written, in any storage.
        Output,
        /// Read, and only from a buffer because it is small: a bias.
        Small,
    }

    use Role::{Input, Output, Small};

    /// The kernels, their operands by binding, and the storages allowed for them.
    const KERNELS: [(&str, &[Role], &[Storage]); 15] = [
        ("activate", &[Input, Output], USUAL),
        ("add_one", &[Input, Output], STORAGES.split_at(4).0),
        ("binary", &[Input, Input, Output], USUAL),
        ("concat", &[Input, Input, Output], USUAL),
        ("conv2d", &[Input, Input, Small, Output], USUAL),
        ("conv2d_transpose", &[Input, Input, Small, Output], USUAL),
        ("copy", &[Input, Output], &STORAGES),
        ("dense", &[Input, Input, Small, Output], USUAL),
        ("depthwise", &[Input, Input, Small, Output], USUAL),
        ("gather", &[Input, Output], USUAL),
        ("layer_norm", &[Input, Small, Small, Output], USUAL),
        ("matmul", &[Input, Input, Output], USUAL),
        ("pool", &[Input, Output], USUAL),
        ("reshape", &[Input, Output], USUAL),
        ("softmax", &[Input, Output], USUAL),
    ];

    /// A storage's letter in the table, and its part in the names of `tensor.glsl`'s macros.
    type Storage = (char, &'static str);

    const STORAGES: [Storage; 5] = [
        ('b', "BUFFER"),
        ('i', "IMAGE"),
        ('a', "ARRAY"),
        ('t', "TEXELS"),
        ('p', "PLAIN"),
    ];
    const USUAL: &[Storage] = STORAGES.split_at(3).0;

    /// The words of all kernels, concatenated, and the Rust table of their offsets and operands.
    pub(crate) struct Kernels {
        pub(crate) table: String,
        pub(crate) words: Vec<u8>,
        /// The push constant size, the same for every kernel.
        push_constant_bytes: Option<u32>,
    }

    pub(crate) fn compile_all() {
        println!("cargo::rerun-if-changed=shaders");
        println!("cargo::rerun-if-env-changed=GLSLANG");
        if std::env::var_os("DOCS_RS").is_some() {
            // docs.rs may have no compiler, and nothing is run there.
            write_output(
                "kernels.rs",
                b"static BUILT_IN: &[BuiltIn] = &[];\npub(super) const ARGUMENT_BYTES: u32 = 128;\n",
            );
            write_output("kernels.spv", &[]);
            return;
        }
        let compiler = Compiler::find().unwrap_or_else(|error| fail(&[error]));
        let mut errors = Vec::new();
        let mut kernels = Kernels {
            table: "static BUILT_IN: &[BuiltIn] = &[\n".to_owned(),
            words: Vec::new(),
            push_constant_bytes: None,
        };
        let variants: Vec<Variant> = KERNELS
            .iter()
            .flat_map(|&(name, roles, allowed)| {
                [false, true].into_iter().flat_map(move |half| {
                    combinations(roles, allowed)
                        .into_iter()
                        .map(move |storages| (name, roles, storages, half))
                })
            })
            .collect();
        for ((name, roles, storages, half), compiled) in
            variants.iter().zip(compile_variants(&compiler, &variants))
        {
            let added = compiled
                .and_then(|(words, interface)| kernels.add(name, roles, storages, *half, &words, &interface));
            errors.extend(added.err());
        }
        if !errors.is_empty() {
            fail(&errors);
        }
        let bytes = kernels.push_constant_bytes.unwrap_or_default();
        write!(
            kernels.table,
            "];\n\n/// Bytes of push constants: four shapes and four numbers of four.\npub(super) const ARGUMENT_BYTES: u32 = {bytes};\n"
        )
        .expect("writing to a string does not fail");
        write_output("kernels.rs", kernels.table.as_bytes());
        write_output("kernels.spv", &kernels.words);
    }

    /// A kernel, its operands, their storages, and whether elements have 16 bits.
    type Variant = (&'static str, &'static [Role], Vec<Storage>, bool);

    /// Compiles on every core, one compiler process per variant; results are in the order of `variants`.
    fn compile_variants(compiler: &Compiler, variants: &[Variant]) -> Vec<Result<(Vec<u32>, Interface)>> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            let compile = |part: &'_ [Variant]| {
                let compile = |(name, roles, storages, half): &Variant| {
                    compile_one(compiler, name, roles, storages, *half)
                };
                part.iter().map(compile).collect::<Vec<_>>()
            };
            let parts = variants.chunks(variants.len().div_ceil(threads));
            let workers: Vec<_> = parts.map(|part| scope.spawn(move || compile(part))).collect();
            let results = workers
                .into_iter()
                .map(|worker| worker.join().expect("the compiler's thread ends"));
            results.flatten().collect()
        })
    }

    /// Every assignment of one storage to each operand.
    fn combinations(roles: &[Role], allowed: &[Storage]) -> Vec<Vec<Storage>> {
        roles.iter().fold(vec![Vec::new()], |so_far, &role| {
            let choices = if role == Small { &STORAGES[..1] } else { allowed };
            let extended = so_far.iter().flat_map(|first| {
                choices
                    .iter()
                    .map(move |choice| [first.as_slice(), &[*choice]].concat())
            });
            extended.collect()
        })
    }

    fn compile_one(
        compiler: &Compiler,
        name: &str,
        roles: &[Role],
        storages: &[Storage],
        half: bool,
    ) -> Result<(Vec<u32>, Interface)> {
        let mut defines = vec![("HALF".to_owned(), u8::from(half).to_string())];
        for (index, (&role, (_, storage))) in roles.iter().zip(storages).enumerate() {
            let direction = if role == Output { "OUTPUT" } else { "INPUT" };
            let value = format!("{direction}_{storage}");
            defines.push((format!("OPERAND_{index}"), value));
        }
        let defines: Vec<(&str, &str)> = defines
            .iter()
            .map(|(macro_name, value)| (macro_name.as_str(), value.as_str()))
            .collect();
        let path = format!("shaders/{name}.comp");
        compiler.compile_with_interface(Source::File(Path::new(&path)), Stage::Compute, &defines, 3)
    }

    impl Kernels {
        fn add(
            &mut self,
            name: &str,
            roles: &[Role],
            storages: &[Storage],
            half: bool,
            words: &[u32],
            interface: &Interface,
        ) -> Result<()> {
            let letters: String = storages.iter().map(|(letter, _)| letter).collect();
            let operands = operands(roles, &interface.bindings);
            let bytes = interface.push_constant_bytes;
            let same = *self.push_constant_bytes.get_or_insert(bytes) == bytes;
            let (Some(operands), true) = (operands, same) else {
                return Err(Error::Reflect(format!(
                    "kernel `{name}` with the storages {letters} must have one descriptor per operand, and as many bytes of push constants as the other kernels, not {bytes}"
                )));
            };
            let first = self.words.len();
            self.words
                .extend(words.iter().flat_map(|word| word.to_le_bytes()));
            let end = self.words.len();
            writeln!(
                self.table,
                "    BuiltIn {{ name: {name:?}, letters: {letters:?}, half: {half}, bytes: {first}..{end}, operands: &[{operands}] }},"
            )
            .expect("writing to a string does not fail");
            Ok(())
        }
    }

    /// The operands as Rust code; `None` unless they are bindings 0, 1, … of set 0 with one descriptor each.
    fn operands(roles: &[Role], bindings: &[Binding]) -> Option<String> {
        let mut text = String::new();
        let one_each = roles.len() == bindings.len();
        for (index, (&role, binding)) in (0..).zip(roles.iter().zip(bindings)) {
            if (binding.set, binding.binding, binding.count) != (0, index, 1) {
                return None;
            }
            // By `VkDescriptorType`.
            let kind = match binding.descriptor_type {
                2 => "SampledImage",
                3 => "StorageImage",
                4 => "UniformTexelBuffer",
                5 => "StorageTexelBuffer",
                7 => "StorageBuffer",
                _ => return None,
            };
            let writes = role == Output;
            write!(
                text,
                "OperandAccess {{ kind: AccessKind::{kind}, reads: {}, writes: {writes} }}, ",
                !writes
            )
            .expect("writing to a string does not fail");
        }
        one_each.then_some(text)
    }
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "vulkan")]
    kernels::compile_all();
}
