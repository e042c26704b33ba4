#!/usr/bin/env bash
# test-programs.sh [--quick | --page | NAME...]: runs third-party programs, from package registries, under our layers.
#
# Each runs plain, with the capture layer, below the aliasing layer, and with the emulator's profile `hostile`, on the newest loader and
# lavapipe: exit status and output must be the same. Its captured frame is planned for three devices and reported. Its first 60 submits are
# checked (`check-frame`). Findings and messages of the aliasing layer are published only if docs/programs/findings.md explains them
# (scripts/verified-findings.py).
# --quick: only programs that together take less than five minutes, on the test bed; --page: all of them, and writes docs/programs.md.
# Programs of Debian's next release (godot, qt, gtk, sdl, glmark2 and newer versions of ffmpeg, mpv and vkcube) are
# unpacked into target/testbed/programs, a download of about 400 MB.
#
# Examples:
#   bash scripts/test-programs.sh vkcube                   # one program
#   bash scripts/test-programs.sh --quick
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

quick=(vulkaninfo vkcube dawn ffmpeg)
all=("${quick[@]}" placebo mpv wgpu pygfx slangpy taichi godot godot_mobile qt gtk sdl_clear sdl_cube sdl_effects glmark2 chromium)
page=false names=()
case ${1:-} in
    --quick) names=("${quick[@]}") ;;
    --page) page=true names=("${all[@]}") ;;
    "") names=("${all[@]}") ;;
    *) names=("$@") ;;
esac

need_vulkan
need_testbed
need_packages vulkan-tools xvfb python3
tree=$TILEHEAP_TESTBED
if [[ " ${quick[*]} " != *" ${names[*]} "* ]]; then
    tree=$root/target/testbed/programs
    [ -e "$tree/complete" ] || {
        say "Unpacking programs of Debian's next release (about 400 MB to fetch) into $tree"
        bash scripts/unpack-forky.sh "$tree" libvulkan1 mesa-vulkan-drivers libx11-6 libxcursor1 libxi6 libxinerama1 libxrandr2 \
            libxkbcommon-x11-0 fonts-dejavu-core vulkan-tools ffmpeg mpv godot gtk-4-examples libsdl3-tests glmark2-x11 qml-qt6 \
            qml6-module-qtquick3d qml6-module-qtquick3d-helpers qml6-module-qtquick-window
    }
fi
bash scripts/stage-emulator.sh
bash scripts/stage-capture.sh
bash scripts/stage-aliasing.sh
cargo build --quiet --workspace --bin tileheap
tileheap=${CARGO_TARGET_DIR:-$root/target}/debug/tileheap
results=$root/target/programs
mkdir -p "$results"
unset "${!VK_@}" TILEHEAP_EMULATOR WAYLAND_DISPLAY
export LC_ALL=C XDG_RUNTIME_DIR=$results XDG_DATA_HOME=$results/home XDG_CACHE_HOME=$results/home XDG_CONFIG_HOME=$results/home
libraries=$tree/usr/lib/x86_64-linux-gnu
export VK_DRIVER_FILES=$tree/usr/share/vulkan/icd.d/lvp_icd.json VK_IMPLICIT_LAYER_PATH=$tree
failed=0 rows=()

# One screen for all programs, started before any of them; it does not reset when a program exits, since it would refuse the next one meanwhile.
: >"$results/display"
Xvfb -noreset -displayfd 3 -screen 0 800x600x24 -nolisten tcp 3>"$results/display" >"$results/xvfb.log" 2>&1 &
trap "kill $!" EXIT
until [ -s "$results/display" ]; do
    kill -0 $! || die "no screen: $(cat "$results/xvfb.log")"
    sleep 0.1
done
DISPLAY=:$(cat "$results/display")
export DISPLAY

# bed PROGRAM ARGUMENT...: runs on the tree's C library, loader and driver, with the tree's own program if it has one. $limit are timeout's arguments.
bed() {
    local program=$1 limits
    read -ra limits <<<"${limit:-900}" # A stop for programs that hang.
    [[ $program == /* ]] || program=$tree/usr/bin/$1
    [ -x "$program" ] || program=$(command -v "$1")
    timeout "${limits[@]}" "$libraries/ld-linux-x86-64.so.2" \
        --library-path "$libraries:$libraries/pulseaudio:$libraries/systemd:$libraries/libproxy:/usr/lib/x86_64-linux-gnu" "$program" "${@:2}"
}
# version_of PACKAGE: in the tree, or on the machine.
version_of() {
    local found
    found=$(sed -n "s/^$1_\([^_]*\)_.*/\1/p" "$tree/versions" 2>/dev/null | sed 's/%3a/:/') || true
    if [ -n "$found" ]; then echo "$found"; else dpkg-query -Wf '${Version}' "$1"; fi
}

need_python() {
    need_packages python3-venv
    [ -x "$results/python/bin/python" ] || python3 -m venv "$results/python"
    "$results/python/bin/python" -c "import importlib.util as u, sys; sys.exit(any(u.find_spec(n) is None for n in sys.argv[1:]))" "$@" ||
        "$results/python/bin/pip" install --quiet "$@"
}
python() { bed "$results/python/bin/python3" "$@"; }

# Programs: need_NAME installs it and prints its version; run_NAME runs it, deterministic on standard output; frames_NAME are the layer's settings.
need_vulkaninfo() { version_of vulkan-tools; }
run_vulkaninfo() { bed vulkaninfo | grep -v "usage  *= "; } # Memory usage, which varies.
need_vkcube() { version_of vulkan-tools; }
run_vkcube() { bed vkcube --c 60; }
need_dawn() {
    command -v npm >/dev/null || need_packages npm
    mkdir -p "$results/node"
    cp tests/programs/*.mjs "$results/node/"
    [ -d "$results/node/node_modules/webgpu" ] || (cd "$results/node" && npm install --silent webgpu >/dev/null)
    sed -n 's/.*"version": "\(.*\)".*/\1/p' "$results/node/node_modules/webgpu/package.json"
}
run_dawn() { (cd "$results/node" && bed "$(command -v node)" dawn_compute.mjs); }
# filtered FILTERS: runs four pictures through ffmpeg's filters, and prints checksums.
filtered() {
    local ffmpeg=(bed ffmpeg)
    if [ ! -x "$tree/usr/bin/ffmpeg" ]; then
        # The machine's ffmpeg fails on the driver of the test bed, with and without layers.
        ffmpeg=(env VK_DRIVER_FILES="$(echo /usr/share/vulkan/icd.d/lvp_icd*.json)" ffmpeg)
    fi
    "${ffmpeg[@]}" -v error -init_hw_device vulkan=gpu:0 -filter_hw_device gpu -f lavfi -i testsrc=size=320x240:rate=5 -frames:v 4 \
        -vf "$1" -f framemd5 -
}
need_ffmpeg() { [ -x "$tree/usr/bin/ffmpeg" ] || need_packages ffmpeg; version_of ffmpeg; }
run_ffmpeg() { filtered format=rgba,hwupload,gblur_vulkan=sigma=3,hflip_vulkan,hwdownload,format=rgba; }
need_placebo() { version_of 'libplacebo[0-9]*'; }
run_placebo() { filtered libplacebo=w=640:h=480:upscaler=ewa_lanczos:format=rgba; }
need_mpv() { version_of mpv; }
run_mpv() {
    bed mpv --no-config --msg-level=all=error --gpu-sw --vo=gpu --gpu-api=vulkan --gpu-context=x11vk --ao=null --frames=20 \
        av://lavfi:testsrc=size=320x240:rate=25
}
need_wgpu() { need_python wgpu && "$results/python/bin/python" -c 'import wgpu; print(wgpu.__version__)'; }
run_wgpu() { python tests/programs/wgpu_triangle.py; }
need_pygfx() { need_python pygfx rendercanvas && "$results/python/bin/python" -c 'import importlib.metadata as m; print(m.version("pygfx"))'; }
run_pygfx() { python tests/programs/pygfx_scene.py; }
need_taichi() { need_python taichi numpy && "$results/python/bin/python" -c 'import importlib.metadata as m; print(m.version("taichi"))'; }
run_taichi() { python tests/programs/taichi_sum.py; }
need_slangpy() { need_python slangpy numpy && "$results/python/bin/python" -c 'import importlib.metadata as m; print(m.version("slangpy"))'; }
run_slangpy() { python tests/programs/slangpy_double.py; }
need_godot() {
    rm -rf "$results/godot"
    cp -r tests/programs/godot "$results/"
    version_of godot
}
run_godot() { bed godot --path "$results/godot" --audio-driver Dummy --rendering-driver vulkan --rendering-method "${1:-forward_plus}"; }
need_godot_mobile() { need_godot; }
run_godot_mobile() { run_godot mobile; }
need_qt() { version_of qml6-module-qtquick3d; }
run_qt() {
    QT_PLUGIN_PATH=$libraries/qt6/plugins QML_IMPORT_PATH=$libraries/qt6/qml QT_QPA_PLATFORM=xcb QSG_RHI_BACKEND=vulkan \
        bed "$tree/usr/lib/qt6/bin/qml" tests/programs/qt_quick_3d.qml -- "$results/qt.png"
    sha256sum "$results/qt.png"
}
need_gtk() { version_of gtk-4-examples; }
run_gtk() {
    GSK_RENDERER=vulkan GDK_BACKEND=x11 GSETTINGS_BACKEND=memory XDG_DATA_DIRS=$tree/usr/share bed gtk4-demo --run=transparent --autoquit
}
# sdl TEST: runs until it is interrupted.
sdl() {
    local folder=$tree/usr/libexec/installed-tests/SDL3
    (cd "$folder" && limit="--preserve-status -s INT 5" SDL_AUDIODRIVER=dummy SDL_RENDER_DRIVER=gpu bed "$folder/$1")
}
need_sdl_clear() { version_of libsdl3-tests; }
run_sdl_clear() { sdl testgpu_simple_clear; }
need_sdl_cube() { version_of libsdl3-tests; }
run_sdl_cube() { sdl testgpu_spinning_cube; }
need_sdl_effects() { version_of libsdl3-tests; }
run_sdl_effects() { sdl testgpurender_effects; }
need_glmark2() { version_of glmark2-x11; }
run_glmark2() {
    # zink uses lavapipe only if software rendering is requested; by default it uses descriptor buffers, which are counted and not followed.
    LIBGL_ALWAYS_SOFTWARE=1 GALLIUM_DRIVER=zink MESA_LOADER_DRIVER_OVERRIDE=zink LIBGL_DRIVERS_PATH=$libraries/dri ZINK_DESCRIPTORS=lazy \
        bed glmark2 --data-path "$tree/usr/share/glmark2" --validate -b shading -b build:use-vbo=true -b texture
}
need_chromium() { need_packages chromium; dpkg-query -Wf '${Version}' chromium; }
run_chromium() {
    # The machine's browser, on the machine's loader and driver: it restarts itself by /proc/self/exe, which is the dynamic loader for programs in
    # bed.
    VK_DRIVER_FILES=$(echo /usr/share/vulkan/icd.d/lvp_icd*.json) timeout 900 chromium --headless=new --no-sandbox --disable-gpu-sandbox \
        --no-first-run --user-data-dir="$results/chromium" --ignore-gpu-blocklist --use-gl=angle --use-angle=vulkan \
        --virtual-time-budget=3000 --dump-dom "file://$root/tests/programs/webgl.html" | sed -n 's/^<\/script>//p'
}
# The test bed's validation reports the same for vkcube, which makes a known mistake, with the emulator and without. Only names are compared,
# since handles and the screen's timing differ from run to run. So does the part of the messages that a run reaches: up to ten runs are
# combined.
validated() {
    TILEHEAP_EMULATOR=$1 bash scripts/run-in-testbed.sh "$(command -v vkcube)" --c 60 >"$results/validated.log" 2>&1 || return
    { grep -oE '(VUID|UNASSIGNED|SYNC)-[A-Za-z0-9-]+' "$results/validated.log" || true; } | sort -u - "$2" -o "$2"
}
validated_the_same() {
    local plain=$results/validated.plain emulated=$results/validated.emulated
    : >"$plain"
    : >"$emulated"
    for _ in {1..10}; do
        validated "" "$plain" || true
        validated "$root/target/emulator" "$emulated" || true
        cmp -s "$plain" "$emulated" && return
    done
    return 1
}
# Programs that present nothing: a frame is a submit.
border_of() {
    case $1 in
        vkcube | mpv | godot* | qt | gtk | sdl*) echo present ;;
        ffmpeg | placebo) echo submits:8 ;;
        *) echo submits:1 ;;
    esac
}

# run NAME WAY: its exit status goes to a file next to its output.
run() {
    local status=0
    ("run_$1" >"$results/$1.$2" 2>"$results/$1.$2.errors") || status=$?
    echo "$status" >"$results/$1.$2.status"
}

# same NAME WAY: compares exit status and output with the plain run.
same() {
    if ! cmp -s "$results/$1.plain.status" "$results/$1.$2.status"; then
        echo "$1: exit status $(cat "$results/$1.plain.status") plain, $(cat "$results/$1.$2.status") with $2: $(tail -n 3 "$results/$1.$2.errors")"
    elif [ "$1" != vulkaninfo ] && ! diff -q "$results/$1.plain" "$results/$1.$2" >/dev/null; then
        echo "$1: output differs with $2: $(diff "$results/$1.plain" "$results/$1.$2" | head -n 3)"
    fi
}

# Differences between the plain device and the emulator: counts may grow, and there is one more heap.
heaps() { awk '/^memoryHeaps: count/ {print $NF; exit}' "$results/vulkaninfo.$1"; }
lost_of_vulkaninfo() {
    diff <(sed -n '/^Device Properties/,$p' "$results/vulkaninfo.plain") <(sed -n '/^Device Properties/,$p' "$results/vulkaninfo.hostile") |
        sed -n '/count = /d; /^</p' | head -n 20 || true
    [ "$(heaps hostile)" = $(($(heaps plain) + 1)) ] || echo "vulkaninfo: $(heaps hostile) heaps, and $(heaps plain) without the emulator"
}

# The cells of the table about findings; unexplained findings go to the output.
verified() { python3 scripts/verified-findings.py docs/programs/findings.md "$results" "$@"; }

# Checks the first submits of a program: including those before the captured frame, and across frames.
check_submits() {
    local name=$1 found=0
    local documents=("$results/$name.recorded"/frame-*.json)
    rm -f "$results/$name.check.json"
    if [ ! -e "${documents[0]}" ]; then
        echo "$name: no submits were captured: $(tail -n 1 "$results/$name.recorded/capture.log" 2>/dev/null)"
        return
    fi
    "$tileheap" check-frame "${documents[0]}" --pedantic >"$results/$name.check" || found=$?
    "$tileheap" check-frame "${documents[0]}" --json -o "$results/$name.check.json" 2>/dev/null || true
    [ "$found" = 0 ] || [ "$found" = 3 ] || echo "$name: check-frame ended with $found"
}

# Plans the captured frame for three devices and reports it; prints a row of the table.
judge() {
    local name=$1 version=$2 folder=$results/$1.frames frame profile cells="" followed way what="exit status"
    local frames=("$folder"/frame-*.json)
    frame=${frames[0]}
    if [ ! -e "$frame" ]; then
        echo "$name: no frame was captured: $(tail -n 1 "$folder/capture.log" 2>/dev/null)"
        return
    fi
    "$tileheap" report "$frame" -o "$results/$name.html" || echo "$name: report failed"
    for profile in adreno-830 adreno-840 x2-85; do
        "$tileheap" plan "$frame" --profile "$profile" --best --json >"$results/$name.$profile.json" || echo "$name: not planned for $profile"
        cells+=" | $(python3 -c '
import json, sys
plan = json.load(open(sys.argv[1]))
way = plan["arrangement"]
eligible = plan["totals"]["eligible_bytes"] or way["share"] > 0
print("%.1f MB, %.0f %%, %.0f %%" % (way["traffic_bytes"] / 1e6, 100 * way["described_share"], 100 * way["share"]) if eligible else "nothing eligible")' \
            "$results/$name.$profile.json")"
    done
    # Traffic, and the share of it that was tracked.
    # shellcheck disable=SC2016
    followed=$(python3 -c '
import json, sys
capture = json.load(open(sys.argv[1]))["capture"]
missing = capture["unresolved"]
names = ", ".join("%s (%s)" % (one["kind"].replace("_", " "), one["first"]) for one in missing)
print("%.1f MB | " % (capture["followed_bytes"] / 1e6), end="")
if any(one.get("bytes") is None for one in missing):
    print("not known, but for " + names)
else:
    followed = capture["followed_bytes"]
    share = 100 * followed / (followed + sum(one["bytes"] for one in missing) or 1) if missing else 100
    print("%.0f %%" % share + (", but for " + names if share < 95 else ""))' "$frame")
    [ ! -s "$results/$name.plain" ] || what=output
    for way in capture aliasing hostile; do
        if [ -z "$(same "$name" "$way")" ]; then what+=", equal"; else what+=", **differs**"; fi
    done
    rows+=("| $name | $version | $what | $(grep -c '"kind": "\(render\|compute\|transfer\)"' "$frame") | $followed | $(verified "$name")$cells |")
}

for name in "${names[@]}"; do
    version=$("need_$name" | tail -n 1) || die "$name cannot be installed"
    say "$name $version"
    rm -rf "$results/$name.frames" "$results/$name.recorded" "$results/$name.aliasing.jsonl"
    run "$name" plain
    mkdir -p "$results/$name.frames" "$results/$name.recorded"
    VK_ADD_LAYER_PATH=$root/target/capture VK_INSTANCE_LAYERS=VK_LAYER_TILEHEAP_capture VK_TILEHEAP_CAPTURE_FOLDER=$results/$name.frames \
        VK_TILEHEAP_CAPTURE_BORDER=$(border_of "$name") run "$name" capture
    VK_ADD_LAYER_PATH=$root/target/capture VK_INSTANCE_LAYERS=VK_LAYER_TILEHEAP_capture VK_TILEHEAP_CAPTURE_FOLDER=$results/$name.recorded \
        VK_TILEHEAP_CAPTURE_BORDER=submits:60 VK_TILEHEAP_CAPTURE_FRAMES=0 run "$name" submits
    VK_ADD_LAYER_PATH=$root/target/aliasing VK_INSTANCE_LAYERS=VK_LAYER_TILEHEAP_aliasing VK_TILEHEAP_ALIASING_POSSIBLE=true \
        VK_TILEHEAP_ALIASING_MESSAGE_LOG=$results/$name.aliasing.jsonl run "$name" aliasing
    VK_ADD_LAYER_PATH=$root/target/emulator VK_INSTANCE_LAYERS=VK_LAYER_TILEHEAP_emulator VK_TILEHEAP_EMULATOR_PROFILE=hostile \
        run "$name" hostile
    wrong=$(for way in capture submits aliasing hostile; do same "$name" "$way"; done)
    [ "$(cat "$results/$name.plain.status")" = 0 ] || wrong+="$name: fails without a layer: $(tail -n 3 "$results/$name.plain.errors")"
    if [ "$name" = vulkaninfo ]; then
        wrong+=$(lost_of_vulkaninfo)
    else
        check_submits "$name" >"$results/$name.judged"
        judge "$name" "$version" >>"$results/$name.judged" || echo "$name: not judged" >>"$results/$name.judged"
        wrong+=$(cat "$results/$name.judged")
    fi
    if [ "$name" = vkcube ] && ! validated_the_same; then
        wrong+="vkcube: validation says something else with the emulator"
    fi
    if [ -n "$wrong" ]; then
        printf '%s\n' "$wrong"
        failed=1
    else
        echo "$name: ok"
    fi
done

table() {
    echo "| program | version | compared, capture, aliasing, hostile | passes | traffic followed | share | check-frame | aliasing layer | Adreno 830 | Adreno 840 | X2-85 |"
    echo "|---|---|---|---|---|---|---|---|---|---|---|"
    printf '%s\n' "${rows[@]}"
}
[ ${#rows[@]} = 0 ] || table
if $page && [ ${#rows[@]} -gt 0 ]; then
    {
        echo "# Other people's programs"
        echo
        echo "Written by \`scripts/test-programs.sh --page\` on $(date -u +%F), on lavapipe $(version_of mesa-vulkan-drivers): one captured frame of each"
        echo "(of programs that present nothing, one submit; of ffmpeg and libplacebo, eight)."
        echo
        echo "- *Compared*: what is compared with a run without layers, standard output (checksums of pictures or numbers) or, where there is none, the"
        echo "  exit status; then whether it is the same under the capture layer, below the aliasing layer, and on the emulator's profile \`hostile\`."
        echo "- *Traffic followed*: what the accesses move that were followed, and their share of the bytes of all; below 95 %, what is missing."
        echo "- *check-frame*: what \`tileheap check-frame --pedantic\` finds in the first 60 submits, by cause: certain, possible, and by the letter of"
        echo "  the specification, each explained below; then the number of checked accesses, without those to external memory, as most of ffmpeg's are."
        echo "- *aliasing layer*: what \`tileheap run --layer aliasing\` reports, if any resources share bytes of memory."
        echo "- Under each device: traffic per frame, the share of it that stays on chip as the frame is, and with the best arrangement."
        echo
        table
        echo
        echo "Nothing is eligible where every image that a frame makes and drops stays in one pass, whose own tiles hold it, or is created with usages that"
        echo "tile memory does not allow: Qt and GTK declare TRANSFER_SRC or TRANSFER_DST for all that they render to. \`tileheap plan\` names them."
        echo
        echo "The runs:"
        echo
        echo "- glmark2 runs on zink with ZINK_DESCRIPTORS=lazy: by default zink uses descriptor buffers, which are counted and not followed."
        echo "- godot and godot_mobile render a scene of ours, Forward+ and Mobile; qt is a scene of Qt Quick 3D, gtk is gtk4-demo's \`transparent\`;"
        echo "  sdl_clear, sdl_cube and sdl_effects are SDL 3's testgpu_simple_clear, testgpu_spinning_cube and testgpurender_effects; placebo is"
        echo "  ffmpeg's filter \`libplacebo\`; dawn is npm's \`webgpu\`."
        echo "- chromium is Debian's, with its GPU process's ANGLE on Vulkan, rendering a page of WebGL 1 without a screen on the machine's loader and lavapipe"
        echo "  ($(dpkg-query -Wf '${Version}' mesa-vulkan-drivers)). That lavapipe lacks WebGL 2 (Chromium refuses OpenGL ES 3 on it), and Chromium's own compositor on"
        echo "  Vulkan (\`--enable-features=Vulkan\`: samplerYcbcrConversion), which with \`--in-process-gpu\` is not supported at all."
        echo "  ANGLE's release libraries are compared picture by picture on the emulator by \`scripts/test-angle.sh\`."
        echo
        echo "The findings apply to the versions in the table. Each was verified against the specification and compared with synchronization validation of the same"
        echo "program (layers 1.4.363, across submits, with its heuristic for shader accesses) before publication. None of them is visible in a picture here."
        echo
        verified --text "${all[@]}"
    } >docs/programs.md
fi
exit "$failed"
