//! Syntax that is newer than the workspace's `rust-version`, and that clippy's `incompatible_msrv` does not report.

use std::path::Path;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// The let chains (`if let … && …`, stable since Rust 1.88) in a file, each with its line.
///
/// # Errors
/// A text that is no Rust.
pub fn let_chains(path: &Path, text: &str) -> Result<Vec<String>, String> {
    let file = syn::parse_file(text).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut chains = LetChains(Vec::new());
    chains.visit_file(&file);
    let line = |line: &usize| format!("{}:{line}: a let chain", path.display());
    Ok(chains.0.iter().map(line).collect())
}

struct LetChains(Vec<usize>);

impl<'a> Visit<'a> for LetChains {
    fn visit_expr_binary(&mut self, binary: &'a syn::ExprBinary) {
        let of_let = |side: &syn::Expr| matches!(side, syn::Expr::Let(_));
        if matches!(binary.op, syn::BinOp::And(_)) && (of_let(&binary.left) || of_let(&binary.right)) {
            self.0.push(binary.op.span().start().line);
        }
        visit::visit_expr_binary(self, binary);
    }
}
