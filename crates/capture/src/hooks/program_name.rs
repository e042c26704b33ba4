//! The name of the captured program.

use std::ffi::OsString;
use std::path::Path;

/// Returns the name of a program: the file name of its executable, or `program` if that is unknown. If the dynamic loader runs the program, the first
/// argument is the program's path.
pub(crate) fn program_name(
    executable: Option<&Path>,
    mut arguments: impl Iterator<Item = OsString>,
) -> String {
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let own = executable.and_then(name);
    let is_loader = |own: &String| own.starts_with("ld-") || own.starts_with("ld.so");
    let mut passed = || arguments.next().and_then(|path| name(Path::new(&path)));
    let program = if own.as_ref().is_some_and(is_loader) {
        passed().or(own)
    } else {
        own
    };
    program.unwrap_or_else(|| "program".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_the_dynamic_loader_runs_has_its_own_name() {
        let named = |executable: &str, arguments: &[&str]| {
            let arguments = arguments.iter().map(OsString::from);
            program_name(Some(Path::new(executable)), arguments)
        };
        assert_eq!(named("/bin/game", &["other name", "level"]), "game");
        let loader = "/lib/ld-linux-x86-64.so.2";
        assert_eq!(named(loader, &["/bin/game", "level"]), "game");
        assert_eq!(named(loader, &[]), "ld-linux-x86-64.so.2");
        assert_eq!(program_name(None, std::iter::empty()), "program");
    }
}
