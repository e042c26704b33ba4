//! The folder of an Android application that a layer may write to, and the `adb` commands that fetch files from it.
//!
//! ```text
//! /sdcard/Android/data/PACKAGE/files    external: `adb pull` reads it
//! /data/user/USER/PACKAGE/files         internal: `adb exec-out run-as PACKAGE` reads it, if the application is debuggable
//! ```
//! The working directory of an Android application is `/`, which is not writable: relative paths are resolved against this folder.

use std::path::{Path, PathBuf};

/// Size of the range of user IDs of each user of an Android device.
#[cfg(any(target_os = "android", test))]
const IDS_PER_USER: u32 = 100_000;

/// An application's own folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppFolder {
    package: String,
    path: PathBuf,
    is_external: bool,
}

impl AppFolder {
    /// The folder of the application that this process belongs to; `None` on systems other than Android, and if the
    /// process belongs to no application or none of its folders can be used.
    pub fn of_process() -> Option<AppFolder> {
        #[cfg(target_os = "android")]
        {
            unsafe extern "C" {
                safe fn getuid() -> u32;
            }
            static FOUND: std::sync::OnceLock<Option<AppFolder>> = std::sync::OnceLock::new();
            let find = || {
                let command_line = std::fs::read("/proc/self/cmdline").ok()?;
                let can_create = |path: &Path| std::fs::create_dir_all(path).is_ok();
                AppFolder::choose(&command_line, getuid(), can_create)
            };
            FOUND.get_or_init(find).clone()
        }
        #[cfg(not(target_os = "android"))]
        None
    }

    /// Chooses the first usable folder. The command line of an application's process is its package, or
    /// `PACKAGE:PROCESS`.
    #[cfg(any(target_os = "android", test))]
    fn choose(command_line: &[u8], user_id: u32, can_use: impl Fn(&Path) -> bool) -> Option<AppFolder> {
        let name = command_line.split(|byte| matches!(byte, 0 | b':')).next()?;
        let package = std::str::from_utf8(name).ok()?;
        let is_package = package.contains('.')
            && package
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"._".contains(&byte));
        if !is_package {
            return None;
        }
        let user = user_id / IDS_PER_USER;
        let folders = [
            (format!("/sdcard/Android/data/{package}/files"), true),
            (format!("/data/user/{user}/{package}/files"), false),
        ];
        let mut folders = folders
            .into_iter()
            .map(|(path, is_external)| (PathBuf::from(path), is_external));
        let (path, is_external) = folders.find(|(path, _)| can_use(path))?;
        Some(AppFolder {
            package: package.to_owned(),
            path,
            is_external,
        })
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The command that copies a file or a folder of the device into the current directory of a development machine.
    pub fn fetch_command(&self, path: &Path) -> String {
        let inner = path.strip_prefix(&self.path).ok().filter(|_| !self.is_external);
        match inner {
            Some(inner) => format!(
                "adb exec-out run-as {} tar -C files -cf - {} | tar -xf -",
                self.package,
                inner.display()
            ),
            None => format!("adb pull {}", path.display()),
        }
    }
}

/// Resolves a path in a setting: relative paths are relative to the application's own folder on Android, and to the working directory
/// elsewhere.
pub fn resolve(path: &Path) -> PathBuf {
    match AppFolder::of_process() {
        Some(folder) => folder.path().join(path),
        None => path.to_owned(),
    }
}

/// The end of a message that names a written file: the command that fetches it from the device, if this is an Android application.
pub fn fetch_hint(path: &Path) -> String {
    let command = AppFolder::of_process().map(|folder| folder.fetch_command(path));
    command.map_or_else(String::new, |command| format!("; to fetch it: {command}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn external_folders_are_pulled() {
        let folder = AppFolder::choose(b"com.example.game\0", 10_123, |_| true).expect("a folder");
        let frames = Path::new("/sdcard/Android/data/com.example.game/files/frames");
        assert_eq!(Some(folder.path()), frames.parent());
        assert_eq!(
            folder.fetch_command(frames),
            "adb pull /sdcard/Android/data/com.example.game/files/frames"
        );
    }

    #[test]
    fn internal_folders_are_read_as_the_application() {
        let can_use = |path: &Path| path.starts_with("/data");
        let folder =
            AppFolder::choose(b"com.example.game:render\0\0\0", 1_010_123, can_use).expect("a folder");
        assert_eq!(folder.path(), Path::new("/data/user/10/com.example.game/files"));
        assert_eq!(
            folder.fetch_command(&folder.path().join("frames/frame-7.json")),
            "adb exec-out run-as com.example.game tar -C files -cf - frames/frame-7.json | tar -xf -"
        );
        assert_eq!(
            folder.fetch_command(Path::new("/data/local/tmp/frames")),
            "adb pull /data/local/tmp/frames"
        );
    }

    #[test]
    fn processes_that_are_no_applications_have_none() {
        for line in [&b"app_process64\0"[..], b"/system/bin/vkjson\0", b"", b"\xff.\0"] {
            assert_eq!(AppFolder::choose(line, 2_000, |_| true), None);
        }
        assert_eq!(AppFolder::choose(b"com.example.game\0", 10_123, |_| false), None);
    }

    #[test]
    fn elsewhere_paths_are_relative_to_the_working_folder() {
        assert_eq!(resolve(Path::new("frames")), Path::new("frames"));
        assert_eq!(fetch_hint(Path::new("frames")), "");
    }
}
