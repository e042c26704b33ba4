//! Describes the machine on which the results were measured.

/// Rows that describe the machine, in order.
pub(crate) fn describe(quick: bool) -> Vec<(&'static str, String)> {
    let given = |name: &str| std::env::var(name).unwrap_or_else(|_| "not given".to_owned());
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let field = |text: &str, name: &str, by: char| {
        let line = text
            .lines()
            .find(|line| line.starts_with(name))
            .unwrap_or_default();
        let value = line.split_once(by).map_or("unknown", |(_, value)| value);
        value.trim().trim_matches('"').to_owned()
    };
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let load = read("/proc/loadavg");
    let load = load.split(' ').next().unwrap_or_default();
    let build = match (quick, cfg!(debug_assertions)) {
        (_, true) => "with debug assertions: times are not those of a release",
        (true, false) => "optimized, quick mode: fewer cases, fewer runs",
        (false, false) => "optimized",
    };
    vec![
        ("date", given("TILEHEAP_COMPARE_DATE")),
        ("commit", given("TILEHEAP_COMPARE_COMMIT")),
        ("processor", field(&read("/proc/cpuinfo"), "model name", ':')),
        ("cores", cores.to_string()),
        (
            "load at the start",
            if load.is_empty() {
                "unknown".to_owned()
            } else {
                load.to_owned()
            },
        ),
        ("system", field(&read("/etc/os-release"), "PRETTY_NAME", '=')),
        ("kernel", read("/proc/sys/kernel/osrelease").trim().to_owned()),
        ("Vulkan", drivers()),
        ("build", build.to_owned()),
    ]
}

fn drivers() -> String {
    match tileheap::runtime::detect::enumerate_devices() {
        Err(error) => format!("none: {error}"),
        Ok(devices) => {
            let names = devices.iter().map(|device| match &device.support {
                Ok(support) => format!("{} ({})", support.profile().name, support.profile().source),
                Err(_) => device.name.clone(),
            });
            names.collect::<Vec<_>>().join("; ")
        }
    }
}
