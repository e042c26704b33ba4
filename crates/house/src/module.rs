//! A crate as a tree of modules: what each defines, imports and mentions.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use syn::{Item, UseTree};

use crate::paths::mentioned_paths;

/// A module, inline or in a file of its own.
#[derive(Debug)]
pub(crate) struct Module {
    pub(crate) file: PathBuf,
    pub(crate) parent: Option<usize>,
    pub(crate) children: BTreeMap<String, usize>,
    /// Names of the items that it defines, `macro_rules!` included.
    pub(crate) items: BTreeSet<String>,
    /// Names that `use` binds, with their paths.
    pub(crate) imports: Vec<(String, Vec<String>)>,
    /// Paths whose names are all imported.
    pub(crate) globs: Vec<Vec<String>>,
    /// Every path that the module's code mentions.
    pub(crate) mentions: BTreeSet<Vec<String>>,
}

/// A crate's modules; the first is its root.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) modules: Vec<Module>,
}

/// Reads a file's text.
pub(crate) type Read<'a> = &'a dyn Fn(&Path) -> Option<String>;

impl Tree {
    /// The modules of the crate whose root file is `root`.
    ///
    /// # Errors
    /// A file that is missing or does not parse.
    pub(crate) fn read(root: &Path, read: Read<'_>) -> Result<Tree, String> {
        let mut tree = Tree { modules: Vec::new() };
        let folder = root.parent().unwrap_or(Path::new("")).to_owned();
        tree.add_file(root.to_owned(), folder, None, read)?;
        Ok(tree)
    }

    fn add_file(
        &mut self,
        file: PathBuf,
        folder: PathBuf,
        parent: Option<usize>,
        read: Read<'_>,
    ) -> Result<usize, String> {
        let text = read(&file).ok_or_else(|| format!("{}: not found", file.display()))?;
        let parsed = syn::parse_file(&text).map_err(|error| format!("{}: {error}", file.display()))?;
        self.add_module(file, &folder, parent, &parsed.items, false, read)
    }

    fn add_module(
        &mut self,
        file: PathBuf,
        folder: &Path,
        parent: Option<usize>,
        items: &[Item],
        is_inline: bool,
        read: Read<'_>,
    ) -> Result<usize, String> {
        let index = self.modules.len();
        self.modules.push(Module {
            file: file.clone(),
            parent,
            children: BTreeMap::new(),
            items: BTreeSet::new(),
            imports: Vec::new(),
            globs: Vec::new(),
            mentions: BTreeSet::new(),
        });
        for item in items {
            if is_for_tests(attributes(item)) {
                continue;
            }
            let Item::Mod(module) = item else {
                self.add_item(index, item);
                continue;
            };
            let name = module.ident.to_string();
            let inside = folder.join(&name);
            let child = match &module.content {
                Some((_, items)) => self.add_module(file.clone(), &inside, Some(index), items, true, read)?,
                None => {
                    let (path, inside) = module_file(module, folder, &file, is_inline, read)
                        .ok_or_else(|| format!("{}: no file for `mod {name}`", file.display()))?;
                    self.add_file(path, inside, Some(index), read)?
                }
            };
            self.modules[index].children.insert(name, child);
        }
        Ok(index)
    }

    fn add_item(&mut self, index: usize, item: &Item) {
        let module = &mut self.modules[index];
        if let Some(name) = defined_name(item) {
            module.items.insert(name);
        }
        let found = mentioned_paths(item);
        for tree in found.uses {
            flatten(&tree, &mut Vec::new(), module);
        }
        module.mentions.extend(found.paths);
    }
}

fn module_file(
    module: &syn::ItemMod,
    folder: &Path,
    from: &Path,
    is_inline: bool,
    read: Read<'_>,
) -> Option<(PathBuf, PathBuf)> {
    if let Some(text) = module.attrs.iter().find_map(path_attribute) {
        // Relative to the file's folder; inside an inline module, to a folder of that module's name.
        let base = if is_inline { folder } else { from.parent()? };
        let path = base.join(text);
        let inside = path.parent()?.to_owned();
        return Some((path, inside));
    }
    let name = module.ident.to_string();
    let inside = folder.join(&name);
    [folder.join(format!("{name}.rs")), inside.join("mod.rs")]
        .into_iter()
        .find(|path| read(path).is_some())
        .map(|path| (path, inside))
}

/// The file that `#[path = "..."]` names.
fn path_attribute(attribute: &syn::Attribute) -> Option<String> {
    let syn::Meta::NameValue(pair) = &attribute.meta else {
        return None;
    };
    match &pair.value {
        syn::Expr::Lit(syn::ExprLit {
            lit: syn::Lit::Str(text),
            ..
        }) if pair.path.is_ident("path") => Some(text.value()),
        _ => None,
    }
}

fn attributes(item: &Item) -> &[syn::Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Whether an item is there for tests alone, or for the documentation's.
fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::List(list) if list.path.is_ident("cfg") => {
            let condition = list.tokens.to_string();
            !condition.starts_with("not") && condition.contains("test")
        }
        _ => false,
    })
}

fn defined_name(item: &Item) -> Option<String> {
    Some(match item {
        Item::Const(item) => item.ident.to_string(),
        Item::Enum(item) => item.ident.to_string(),
        Item::Fn(item) => item.sig.ident.to_string(),
        Item::Macro(item) => item.ident.as_ref()?.to_string(),
        Item::Static(item) => item.ident.to_string(),
        Item::Struct(item) => item.ident.to_string(),
        Item::Trait(item) => item.ident.to_string(),
        Item::TraitAlias(item) => item.ident.to_string(),
        Item::Type(item) => item.ident.to_string(),
        Item::Union(item) => item.ident.to_string(),
        _ => return None,
    })
}

fn flatten(tree: &UseTree, prefix: &mut Vec<String>, module: &mut Module) {
    match tree {
        UseTree::Path(path) => {
            prefix.push(path.ident.to_string());
            flatten(&path.tree, prefix, module);
            prefix.pop();
        }
        UseTree::Name(name) if name.ident == "self" => {
            let bound = prefix.last().cloned().unwrap_or_default();
            module.imports.push((bound, prefix.clone()));
        }
        UseTree::Name(name) => import(module, prefix, &name.ident, name.ident.to_string()),
        UseTree::Rename(rename) if rename.ident == "self" => {
            module.imports.push((rename.rename.to_string(), prefix.clone()));
        }
        UseTree::Rename(rename) => import(module, prefix, &rename.ident, rename.rename.to_string()),
        UseTree::Glob(_) => {
            module.globs.push(prefix.clone());
        }
        UseTree::Group(group) => {
            for tree in &group.items {
                flatten(tree, prefix, module);
            }
        }
    }
}

fn import(module: &mut Module, prefix: &[String], last: &syn::Ident, bound: String) {
    let path = [prefix, &[last.to_string()]].concat();
    module.imports.push((bound, path));
}
