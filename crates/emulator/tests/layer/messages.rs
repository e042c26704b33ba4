//! Contents of messages: names and kinds of objects, the command, the submit, the changes to the bytes, and the remedy; and the same in the log, even
//! if the program is killed.

use std::path::PathBuf;

use ash::vk;
use serde_json::{Value, json};

use crate::rig::{self, Rig};
use tempfile::TempDir;
use tileheap_testkit::runnable;

const WORDS: u32 = 256;

fn name<T: vk::Handle>(rig: &Rig, object: T, name: &std::ffi::CStr) {
    let utils = ash::ext::debug_utils::Device::new(&rig.instance, &rig.device);
    let info = vk::DebugUtilsObjectNameInfoEXT::default()
        .object_handle(object)
        .object_name(name);
    // SAFETY: A live object of this device.
    unsafe { utils.set_debug_utils_object_name(&info) }.expect("a name");
}

/// A folder for logs, and a log file in it.
fn log_file() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("log");
    (folder, path)
}

fn lines(path: &PathBuf) -> Vec<Value> {
    let text = std::fs::read_to_string(path).expect("a log");
    let line = |line: &str| serde_json::from_str(line).expect("a line is a document");
    text.lines().map(line).collect()
}

fn assert_has(object: &Value, expected: Value) {
    for (key, value) in expected.as_object().expect("an object") {
        assert_eq!(object[key], *value, "{key} of {object:#}");
    }
}

/// Records a writer and a reader of a tile buffer in separate batches: contents do not survive between them.
fn write_and_read_apart(rig: &Rig) -> vk::CommandBuffer {
    let object = rig.object(12_288);
    let buffer = rig.tile_words(WORDS.into(), object, 0);
    let out = rig.host_buffer(WORDS as usize);
    let writer = rig.record(|commands| {
        rig.bind(commands, Some(object));
        rig.fill(commands, buffer, WORDS, 1);
        rig.fill(commands, buffer, WORDS, 2);
    });
    let reader = rig.record(|commands| {
        rig.fill(commands, out.buffer, WORDS, 3);
        rig.bind(commands, Some(object));
        rig.copy(commands, buffer, out.buffer, WORDS);
    });
    name(rig, object, c"arena");
    name(rig, buffer, c"scratch");
    name(rig, writer, c"producer");
    name(rig, reader, c"consumer");
    name(rig, rig.queue, c"main");
    rig.submit(&[&[writer], &[reader]]);
    reader
}

/// Removes handles from the text, because they differ from run to run.
fn without_handles(text: &str) -> String {
    let mut parts = text.split(" (0x");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        text + part.split_once(')').map_or(part, |(_, rest)| rest)
    })
}

/// A program makes the same mistake in every frame.
#[test]
fn a_mistake_that_repeats_is_counted_in_the_log() {
    let (_folder, path) = log_file();
    let log = ("message_log", path.to_str().expect("a path of text"));
    let rig = Rig::new(&[log, ("queue_submit_boundary", "false")]);
    let reader = write_and_read_apart(&rig);
    assert_eq!(rig.take_messages().len(), 1);
    for _ in 0..3 {
        rig.submit2(&[&[reader]]);
        assert_eq!(rig.take_messages(), []);
    }
    drop(rig);
    let lines = lines(&path);
    let [_, _, message, repeated, end] = &lines[..] else {
        panic!("{lines:#?}")
    };
    assert_has(
        message,
        json!({"event": "message", "id": "TILEHEAP-reads-discarded"}),
    );
    assert_has(
        repeated,
        json!({"event": "repeated", "id": "TILEHEAP-reads-discarded", "severity": "error", "times": 3}),
    );
    let text = repeated["text"].as_str().expect("a text");
    assert!(text.starts_with("buffer `scratch`"), "{text}");
    assert_has(
        end,
        json!({"event": "end", "messages": {"TILEHEAP-reads-discarded": 1}}),
    );
}

#[test]
fn a_message_tells_of_the_write_the_loss_and_the_remedy() {
    let (_folder, path) = log_file();
    let log = ("message_log", path.to_str().expect("a path of text"));
    let rig = Rig::new(&[log, ("queue_submit_boundary", "false"), ("repeats", "true")]);
    let reader = write_and_read_apart(&rig);
    let (id, text) = rig.take_messages().pop().expect("a message");
    assert_eq!(id, "TILEHEAP-reads-discarded");
    assert_eq!(
        without_handles(&text),
        "buffer `scratch` of 1024 B is read at [0, 1024) of the tile heap, SHADER_STORAGE_READ in COMPUTE_SHADER, where nothing is \
         defined\n    \
         at: vkCmdDispatch, action command 2 of command buffer `consumer`, with memory object `arena` of 12288 B bound before \
         action command 2\n    \
         in: batch 1 of submit 1 to queue `main`\n    \
         cause: last write of buffer `scratch` by vkCmdDispatch, action command 2 of command buffer `producer`, with memory \
         object `arena` of 12288 B bound before action command 1, in batch 0 of submit 1 to queue `main`; contents lost by the \
         end of the batch, in batch 0 of submit 1 to queue `main`\n    \
         remedy: write and read the contents in the same batch, or use ordinary memory: queueSubmitBoundary is false on this device"
    );
    // A later submit knows the result of an earlier one.
    rig.submit2(&[&[reader]]);
    let (_, later) = rig.take_messages().pop().expect("a message");
    for part in [
        "in: batch 0 of submit 2 to queue `main`",
        "cause: last write of buffer `scratch` by vkCmdDispatch, action command 2 of command buffer `producer`",
        "in batch 0 of submit 1 to queue `main`; contents lost by the end of the batch, in batch 0 of submit 1",
    ] {
        assert!(without_handles(&later).contains(part), "{part}: {later}");
    }
    drop(rig);

    let lines = lines(&path);
    let [instance, device, message, _, end] = &lines[..] else {
        panic!("{lines:#?}")
    };
    assert_has(
        instance,
        json!({"event": "instance", "format": "tileheap-emulator-log", "version": 1}),
    );
    assert_has(device, json!({"event": "device", "usesTileMemory": true}));
    let named = |object: &Value, kind: &str, name: &str| {
        assert_has(object, json!({"kind": kind, "name": name}));
        assert!(
            object["handle"]
                .as_str()
                .is_some_and(|handle| handle.starts_with("0x"))
        );
    };
    assert_has(
        message,
        json!({"event": "message", "id": id, "severity": "error"}),
    );
    let at = &message["at"];
    named(&at["commandBuffer"], "command buffer", "consumer");
    named(&at["bound"], "memory object", "arena");
    assert_has(at, json!({"command": "vkCmdDispatch", "action": 2}));
    named(&message["submit"]["queue"], "queue", "main");
    assert_has(&message["submit"], json!({"number": 1, "batch": 1}));
    let objects = message["objects"].as_array().expect("objects");
    named(&objects[0], "buffer", "scratch");
    assert_eq!(objects.len(), 5, "each once: {objects:#?}");
    for field in ["text", "cause", "remedy"] {
        let part = message[field].as_str().expect("text");
        assert!(text.contains(part), "{field}: {message:#}");
    }
    assert_eq!(
        *end,
        json!({"event": "end", "messages": {id: 2}, "process": std::process::id(), "device": device["device"]})
    );
}

/// The message about a read of a buffer after `lose`, which is recorded between the write and the read and receives an image that shares the buffer's
/// bytes.
fn loss(lose: impl FnOnce(&Rig, vk::CommandBuffer, (vk::Image, vk::ImageView), vk::Buffer)) -> String {
    let rig = Rig::new(&[]);
    let object = rig.object(2 * 12_288);
    let buffer = rig.tile_words(WORDS.into(), object, 0);
    let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT;
    let image = rig.tile_image(vk::Format::R32_UINT, rig::SIDE, usage, object, 0);
    let out = rig.host_buffer(WORDS as usize);
    let commands = rig.record(|commands| {
        rig.bind(commands, Some(object));
        rig.fill(commands, buffer, WORDS, 1);
        lose(&rig, commands, image, out.buffer);
        rig.bind(commands, Some(object));
        rig.copy(commands, buffer, out.buffer, WORDS);
    });
    rig.submit(&[&[commands]]);
    rig.take_messages().into_iter().map(|(_, text)| text).collect()
}

#[test]
fn each_loss_has_its_remedy() {
    assert_eq!(loss(|_, _, _, _| ()), "");
    let overwritten = loss(|rig, commands, (_, view), _| rig.render(commands, view, rig::CLEAR, rig::SIDE));
    assert!(
        overwritten.contains("place resources that are alive at the same time in separate bytes"),
        "{overwritten}"
    );
    let unbound = loss(|rig, commands, _, out| {
        rig.bind(commands, None);
        rig.fill(commands, out, WORDS, 2);
    });
    let transition = loss(|rig, commands, (image, _), _| {
        rig.to_general(commands, image);
    });
    let dropped = loss(|rig, commands, (_, view), _| {
        let store = vk::AttachmentStoreOp::DONT_CARE;
        rig.render(commands, view, rig::Operations { store, ..rig::CLEAR }, rig::SIDE);
        let load = vk::AttachmentLoadOp::LOAD;
        rig.render(commands, view, rig::Operations { load, ..rig::CLEAR }, rig::SIDE);
    });
    for (text, parts) in [
        (
            unbound,
            [
                "last write of buffer 0x",
                "contents lost by an action command with less tile memory bound: vkCmdDispatch, action command 2 of command buffer 0x",
                "with nothing bound before action command 2",
                "remedy: bind an object that covers the contents for every action command from the write to the read",
            ],
        ),
        (
            transition,
            [
                "last write of buffer 0x",
                "contents lost by a layout transition of another resource in the same bytes, image 0x",
                " (R32_UINT, 64x64): vkCmdPipelineBarrier after action command 1 of command buffer 0x",
                "remedy: place resources that are alive at the same time in separate bytes",
            ],
        ),
        (
            dropped,
            [
                "last write of image 0x",
                "by vkCmdBeginRendering, action command 2 of command buffer 0x",
                "contents lost by a store operation DONT_CARE of image 0x",
                "remedy: store the attachment with STORE",
            ],
        ),
    ] {
        for part in parts {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}

/// Two devices write to one log, and each line identifies its device.
#[test]
fn devices_share_a_log_and_are_told_apart() {
    let (_folder, path) = log_file();
    let log = [("message_log", path.to_str().expect("a path of text"))];
    let rigs = [Rig::new(&log), Rig::new(&log)];
    for rig in &rigs {
        write_and_read_apart(rig);
        assert_eq!(rig.take_ids(), ["TILEHEAP-reads-discarded"]);
    }
    drop(rigs);
    let lines = lines(&path);
    let of = |event: &str| -> Vec<&Value> {
        let of = lines.iter().filter(|line| line["event"] == event);
        of.map(|line| &line["device"]).collect()
    };
    let devices = of("device");
    assert!(devices[0].is_u64() && devices[0] != devices[1], "{lines:#?}");
    assert_eq!((of("message"), of("end")), (devices.clone(), devices));
    assert_eq!(of("instance"), [&Value::Null; 2]);
}

/// The name of an object is removed with it, since its handle may be reused.
#[test]
fn a_destroyed_object_leaves_no_name() {
    let rig = Rig::new(&[]);
    let object = rig.object(12_288);
    let usage = vk::BufferUsageFlags::STORAGE_BUFFER;
    let info = vk::BufferCreateInfo::default().size(256).usage(usage);
    // SAFETY: Not empty.
    let buffer = unsafe { rig.device.create_buffer(&info, None) }.expect("a buffer");
    name(&rig, buffer, c"gone");
    let message = || {
        // Wrong on purpose: an ordinary buffer in tile memory, which the layer refuses without calling the driver.
        assert!(rig.try_bind_buffer(buffer, object, 0).is_err());
        let mut said = rig.take_messages().into_iter();
        said.find(|(id, _)| id.starts_with("TILEHEAP-"))
            .expect("a message")
            .1
    };
    assert!(message().starts_with("buffer `gone` (0x"), "{}", message());
    // SAFETY: Not in use.
    unsafe { rig.device.destroy_buffer(buffer, None) };
    assert!(message().starts_with("buffer 0x"), "{}", message());
}

const KILLED: &str = "TILEHEAP_KILLED";

/// The log contains everything up to the kill: the messages of the last submit, and the submit itself in the trace.
#[test]
fn the_log_of_a_killed_program_ends_with_what_was_known() {
    if let Some(path) = std::env::var_os(KILLED) {
        let path = PathBuf::from(path);
        let trace = path.with_extension("trace");
        let of = |path: &PathBuf| path.to_str().expect("a path of text").to_owned();
        let rig = Rig::new(&[("message_log", &of(&path)), ("trace", &of(&trace))]);
        write_and_read_apart(&rig);
        std::process::abort();
    }
    let (_folder, path) = log_file();
    let program = std::env::args_os().next().expect("the path of this program");
    let mut command = runnable(program);
    let test = "messages::the_log_of_a_killed_program_ends_with_what_was_known";
    let output = command.args(["--exact", test]).env(KILLED, &path).output();
    assert!(!output.expect("this program runs again").status.success());
    let (log, trace) = (lines(&path), lines(&path.with_extension("trace")));
    let last = log.last().expect("lines");
    assert_has(last, json!({"event": "message"}));
    assert_has(&last["submit"], json!({"batch": 1}));
    assert_has(
        trace.last().expect("lines"),
        json!({"event": "submit", "batch": 1}),
    );
}
