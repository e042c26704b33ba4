//! The paths that an item mentions: in types, expressions, patterns, macros and imports inside functions.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};

/// What an item mentions.
#[derive(Default)]
pub(crate) struct Mentions {
    pub(crate) paths: BTreeSet<Vec<String>>,
    pub(crate) uses: Vec<syn::UseTree>,
}

/// Every path of an item, qualified or not.
pub(crate) fn mentioned_paths(item: &syn::Item) -> Mentions {
    let mut found = Mentions::default();
    found.visit_item(item);
    found
}

impl<'a> Visit<'a> for Mentions {
    fn visit_path(&mut self, path: &'a syn::Path) {
        if path.leading_colon.is_none() {
            let names = path.segments.iter().map(|segment| segment.ident.to_string());
            self.paths.insert(names.collect());
        }
        visit::visit_path(self, path);
    }

    fn visit_item_use(&mut self, item: &'a syn::ItemUse) {
        self.uses.push(item.tree.clone());
    }

    fn visit_attribute(&mut self, _: &'a syn::Attribute) {
        // Documentation and derives are no dependencies between files.
    }

    fn visit_vis_restricted(&mut self, _: &'a syn::VisRestricted) {
        // `pub(in path)` and `pub(super)` name a module and take nothing from it.
    }

    fn visit_macro(&mut self, call: &'a syn::Macro) {
        self.visit_path(&call.path);
        self.scan(call.tokens.clone());
    }
}

impl Mentions {
    /// Paths in the tokens of a macro: names joined by `::`, not after a dot.
    fn scan(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        let mut after_dot = false;
        for token in tokens {
            match token {
                TokenTree::Ident(name) => {
                    if colons != 2 {
                        self.take(&mut path);
                    }
                    if !(after_dot && path.is_empty()) {
                        path.push(name.to_string());
                    }
                    colons = 0;
                    after_dot = false;
                }
                TokenTree::Punct(mark) if mark.as_char() == ':' => colons += 1,
                TokenTree::Group(group) => {
                    self.take(&mut path);
                    self.scan(group.stream());
                    colons = 0;
                    after_dot = false;
                }
                TokenTree::Punct(mark) => {
                    self.take(&mut path);
                    colons = 0;
                    after_dot = mark.as_char() == '.';
                }
                TokenTree::Literal(_) => {
                    self.take(&mut path);
                    colons = 0;
                    after_dot = false;
                }
            }
        }
        self.take(&mut path);
    }

    fn take(&mut self, path: &mut Vec<String>) {
        if !path.is_empty() {
            self.paths.insert(std::mem::take(path));
        }
    }
}
