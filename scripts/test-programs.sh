#!/usr/bin/env bash
# test-programs.sh [--built] [--quick | --page] [NAME...]: runs third-party programs, from package registries, under tileheap's layers.
#
# Each runs without layers, under `tileheap capture`, with the aliasing layer, and with the emulator's profile `hostile`, on the newest loader and
# lavapipe, at 1920x1080 where it can: exit status and output must be the same. Its captured frame is reported for three devices. Its first 60
# submits are checked (`check-frame`). Findings and messages of the aliasing layer are published only if docs/programs/findings.md explains
# them (scripts/verified-findings.py).
# --quick: only programs that together take less than five minutes, on the test bed. --page: runs the named programs, or all of
# them, then writes docs/programs.md from the last result of every program in target/programs (scripts/programs-page.py). --built: uses
# cargo's last debug build.
# Programs of Debian's next release (godot, qt, gtk, sdl, glmark2, vkd3d and newer versions of ffmpeg, mpv and vkcube) are
# unpacked into target/testbed/programs, a download of about 400 MB.
#
# Examples:
#   bash scripts/test-programs.sh vkcube                   # one program
#   bash scripts/test-programs.sh --quick
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

quick=(vulkaninfo vkcube dawn ffmpeg)
all=("${quick[@]}" placebo mpv wgpu wgpu_deferred pygfx rerun slangpy taichi godot godot_mobile qt gtk sdl_clear sdl_cube sdl_effects vkd3d
    glmark2 chromium)
page=false names=() built=()
[ "${1:-}" != --built ] || { built=(--built) && shift; }
case ${1:-} in
    --quick) names=("${quick[@]}") ;;
    --page) page=true names=("${@:2}") && [ $# -gt 1 ] || names=("${all[@]}") ;;
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
            qml6-module-qtquick3d qml6-module-qtquick3d-helpers qml6-module-qtquick-window vkd3d-demos
    }
fi
for layer in emulator capture aliasing; do
    bash "scripts/stage-$layer.sh" "${built[@]}"
done
[ ${#built[@]} -gt 0 ] || cargo build --quiet --workspace --bin tileheap
tileheap=${CARGO_TARGET_DIR:-$root/target}/debug/tileheap
results=$root/target/programs
mkdir -p "$results"
unset "${!VK_@}" TILEHEAP_EMULATOR WAYLAND_DISPLAY
export LC_ALL=C XDG_RUNTIME_DIR=$results XDG_DATA_HOME=$results/home XDG_CACHE_HOME=$results/home XDG_CONFIG_HOME=$results/home
libraries=$tree/usr/lib/x86_64-linux-gnu
search=$libraries:$libraries/pulseaudio:$libraries/systemd:$libraries/libproxy:/usr/lib/x86_64-linux-gnu
export VK_DRIVER_FILES=$tree/usr/share/vulkan/icd.d/lvp_icd.json VK_IMPLICIT_LAYER_PATH=$tree
failed=0

# One screen for all programs, started before any of them; it does not reset when a program exits, since it would refuse the next one meanwhile.
: >"$results/display"
Xvfb -noreset -displayfd 3 -screen 0 1920x1080x24 -nolisten tcp 3>"$results/display" >"$results/xvfb.log" 2>&1 &
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
    timeout "${limits[@]}" "$libraries/ld-linux-x86-64.so.2" --library-path "$search" "$program" "${@:2}"
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
        "$results/python/bin/pip" install --quiet "${@/rerun/rerun-sdk}"
}
python() { bed "$results/python/bin/python3" "$@"; }

# Programs: need_NAME installs it and prints its version; run_NAME runs it, deterministic on standard output; frames_NAME are the layer's settings.
need_vulkaninfo() { version_of vulkan-tools; }
run_vulkaninfo() { bed vulkaninfo | grep -v "usage  *= "; } # Memory usage, which varies.
need_vkcube() { version_of vulkan-tools; }
run_vkcube() { bed vkcube --c 60 --width 1920 --height 1080; }
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
    "${ffmpeg[@]}" -v error -init_hw_device vulkan=gpu:0 -filter_hw_device gpu -f lavfi -i testsrc=size=1920x1080:rate=5 -frames:v 4 \
        -vf "$1" -f framemd5 -
}
need_ffmpeg() { [ -x "$tree/usr/bin/ffmpeg" ] || need_packages ffmpeg; version_of ffmpeg; }
run_ffmpeg() { filtered format=rgba,hwupload,gblur_vulkan=sigma=3,hflip_vulkan,hwdownload,format=rgba; }
need_placebo() { version_of 'libplacebo[0-9]*'; }
run_placebo() { filtered libplacebo=w=960:h=540:downscaler=ewa_lanczos:format=rgba; }
need_mpv() { version_of mpv; }
run_mpv() {
    bed mpv --no-config --msg-level=all=error --gpu-sw --vo=gpu --gpu-api=vulkan --gpu-context=x11vk --ao=null --frames=20 \
        av://lavfi:testsrc=size=1920x1080:rate=25
}
need_wgpu() { need_python wgpu && "$results/python/bin/python" -c 'import wgpu; print(wgpu.__version__)'; }
run_wgpu() { python tests/programs/wgpu_triangle.py; }
need_wgpu_deferred() { need_python wgpu numpy && need_wgpu; }
run_wgpu_deferred() { python tests/programs/wgpu_deferred.py; }
need_pygfx() { need_python pygfx rendercanvas && "$results/python/bin/python" -c 'import importlib.metadata as m; print(m.version("pygfx"))'; }
run_pygfx() { python tests/programs/pygfx_scene.py; }
need_rerun() {
    need_python rerun numpy
    "$results/python/bin/rerun" analytics disable >/dev/null 2>&1
    [ -s "$results/rerun.rrd" ] || "$results/python/bin/python" tests/programs/rerun_scene.py "$results/rerun.rrd"
    "$results/python/bin/python" -c 'import rerun; print(rerun.__version__)'
}
run_rerun() {
    bed "$("$results/python/bin/python" -c 'import rerun_cli; print(rerun_cli.__path__[0])')/rerun" "$results/rerun.rrd" \
        --renderer vulkan --window-size 960x540 --screenshot-to "$results/rerun.png" --hide-welcome-screen # Screenshots are twice as large.
}
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
# sdl TEST ARGUMENT...: runs until it is interrupted.
sdl() {
    local folder=$tree/usr/libexec/installed-tests/SDL3
    (cd "$folder" && limit="--preserve-status -s INT 10" SDL_AUDIODRIVER=dummy SDL_RENDER_DRIVER=gpu bed "$folder/$1" "${@:2}")
}
need_sdl_clear() { version_of libsdl3-tests; }
run_sdl_clear() { sdl testgpu_simple_clear --geometry 1920x1080; }
need_sdl_cube() { version_of libsdl3-tests; }
run_sdl_cube() { sdl testgpu_spinning_cube --geometry 1920x1080; }
need_sdl_effects() { version_of libsdl3-tests; }
run_sdl_effects() { sdl testgpurender_effects; }
need_vkd3d() { version_of vkd3d-demos; }
run_vkd3d() {
    # Runs until it is interrupted, which it reports.
    limit="--preserve-status -s INT 10" bed vkd3d-gears || [ $? = 130 ]
}
need_glmark2() { version_of glmark2-x11; }
run_glmark2() {
    # zink uses lavapipe only if software rendering is requested; by default it uses descriptor buffers, which are counted and not followed.
    LIBGL_ALWAYS_SOFTWARE=1 GALLIUM_DRIVER=zink MESA_LOADER_DRIVER_OVERRIDE=zink LIBGL_DRIVERS_PATH=$libraries/dri ZINK_DESCRIPTORS=lazy \
        bed glmark2 --data-path "$tree/usr/share/glmark2" --validate -b shading -b build:use-vbo=true -b texture
}
need_chromium() {
    local folder=$results/chromium.program file
    need_packages chromium patchelf
    # It restarts itself by /proc/self/exe, which is the dynamic loader for programs in bed: a copy that names the tree's loader itself.
    if [ ! -x "$folder/chromium" ] || [ /usr/lib/chromium/chromium -nt "$folder/chromium" ]; then
        rm -rf "$folder"
        mkdir "$folder"
        for file in /usr/lib/chromium/*; do ln -s "$file" "$folder/"; done
        rm "$folder/chromium"
        cp /usr/lib/chromium/chromium "$folder/chromium.new"
        patchelf --force-rpath --set-rpath "$search" --set-interpreter "$libraries/ld-linux-x86-64.so.2" "$folder/chromium.new"
        mv "$folder/chromium.new" "$folder/chromium"
    fi
    dpkg-query -Wf '${Version}' chromium
}
run_chromium() {
    # Its compositor on Vulkan needs samplerYcbcrConversion, which the tree's lavapipe has. Some of the tree's libraries have search paths of their
    # own, in which theirs are not.
    timeout 900 env LD_LIBRARY_PATH="$search" "$results/chromium.program/chromium" --headless=new --no-sandbox --disable-gpu-sandbox --no-first-run \
        --window-size=1920,1080 \
        --user-data-dir="$results/chromium" --ignore-gpu-blocklist --enable-features=Vulkan --use-gl=angle --use-angle=vulkan \
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
        vkcube | mpv | rerun | godot* | qt | gtk | sdl* | vkd3d) echo present ;;
        ffmpeg | placebo) echo submits:8 ;;
        pygfx) echo submits:3 ;;
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

# Reports the captured frames for three devices, one for each device of the program, and writes the facts of their rows in the table.
judge() {
    local name=$1 version=$2 folder=$results/$1.frames frame row profile way compared=""
    local frames=("$folder"/frame-*.json)
    if [ ! -e "${frames[0]}" ]; then
        echo "$name: no frame was captured: $(tail -n 1 "$folder/capture.log" 2>/dev/null)"
        return
    fi
    for way in capture aliasing hostile; do
        if [ -z "$(same "$name" "$way")" ]; then compared+=", equal"; else compared+=", **differs**"; fi
    done
    for frame in "${frames[@]}"; do
        row=$name$(sed -n 's/.*\(-device-[0-9]*\)\.json$/\1/p' <<<"$frame")
        for profile in adreno-830 adreno-840 x2-85; do
            "$tileheap" capture --from "$frame" --profile "$profile" --no-open -o "$results/$row.$profile" \
                >"$results/$row.$profile.text" || echo "$row: not reported for $profile"
        done
        {
            echo "date: $(date -u +%F)"
            echo "version: $version"
            echo "driver: $(version_of mesa-vulkan-drivers)"
            echo "frame: $frame"
            echo "compared: $(if [ -s "$results/$name.plain" ]; then echo output; else echo exit status; fi)$compared"
            echo "checks: $(verified "$name")"
        } >"$results/$row.facts"
    done
}

# `tileheap capture` runs a program as a command of its own.
mapfile -t functions < <(declare -F | awk '$3 ~ /^(run_.*|run|bed|filtered|python|sdl)$/ {print $3}')
export -f "${functions[@]}"
export results tree libraries search root

for name in "${names[@]}"; do
    version=$("need_$name" | tail -n 1) || die "$name cannot be installed"
    say "$name $version"
    rm -rf "$results/$name.frames" "$results/$name.recorded" "$results/$name.aliasing.jsonl" "$results/$name"{,-device-*}.facts
    run "$name" plain
    mkdir -p "$results/$name.frames" "$results/$name.recorded"
    broken=""
    "$tileheap" capture --layers "$root/target/capture" --border "$(border_of "$name")" --no-open -o "$results/$name.frames" \
        -- bash -euo pipefail -c 'run "$@"' run "$name" capture >"$results/$name.capture.log" 2>&1 ||
        broken="$name: $(tail -n 1 "$results/$name.capture.log")"
    VK_ADD_LAYER_PATH=$root/target/capture VK_INSTANCE_LAYERS=VK_LAYER_TILEHEAP_capture VK_TILEHEAP_CAPTURE_FOLDER=$results/$name.recorded \
        VK_TILEHEAP_CAPTURE_BORDER=submits:60 VK_TILEHEAP_CAPTURE_FRAMES=0 run "$name" submits
    VK_ADD_LAYER_PATH=$root/target/aliasing VK_INSTANCE_LAYERS=VK_LAYER_TILEHEAP_aliasing VK_TILEHEAP_ALIASING_POSSIBLE=true \
        VK_TILEHEAP_ALIASING_MESSAGE_LOG=$results/$name.aliasing.jsonl run "$name" aliasing
    VK_ADD_LAYER_PATH=$root/target/emulator VK_INSTANCE_LAYERS=VK_LAYER_TILEHEAP_emulator VK_TILEHEAP_EMULATOR_PROFILE=hostile \
        run "$name" hostile
    wrong=$(for way in capture submits aliasing hostile; do same "$name" "$way"; done)
    [ "$(cat "$results/$name.plain.status")" = 0 ] || wrong+="$name: fails without a layer: $(tail -n 3 "$results/$name.plain.errors")"
    if [ "$name" = vulkaninfo ]; then
        wrong+=$(lost_of_vulkaninfo) # It submits nothing, so that it has no frame.
    else
        wrong+=$broken
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

if $page; then
    # The page stays as it is if a report is missing.
    if python3 scripts/programs-page.py docs/programs/findings.md "$results" "${all[@]}" >"$results/programs.md"; then
        mv "$results/programs.md" docs/programs.md
    else
        failed=1
    fi
fi
exit "$failed"
