#!/usr/bin/env bash
# install.sh [PREFIX] [--built | --uninstall]: builds the command `tileheap` and the three Vulkan layers (emulator, capture, aliasing), and
# installs them in PREFIX (~/.local):
#
#   PREFIX/bin/tileheap
#   PREFIX/lib/tileheap                      the layers' libraries, and the list of what was installed
#   PREFIX/share/vulkan/explicit_layer.d     the layers' manifests
#
# `tileheap capture -- ./game` and `tileheap run -- ./game` then work in any folder (if PREFIX/bin is on PATH).
#
# --built installs cargo's last debug build, and builds nothing. --uninstall removes the installed files, and the folders that the
# installation created, unless something else is in them. A second installation replaces the first. For Linux.
#
# Examples:
#   bash scripts/install.sh                                # into ~/.local
#   bash scripts/install.sh /opt/tileheap --built
#   bash scripts/install.sh /opt/tileheap --uninstall
set -euo pipefail
# shellcheck source=scripts/options.sh
source "$(dirname "${BASH_SOURCE[0]}")/options.sh"
check_arguments "$@"

build=true uninstall=false prefix=""
for argument in "$@"; do
    case $argument in
        --built) build=false ;;
        --uninstall) uninstall=true ;;
        *)
            [ -z "$prefix" ] || usage_error "two prefixes, \`$prefix\` and \`$argument\`"
            prefix=$argument
            ;;
    esac
done
if [ -z "$prefix" ]; then
    [ -n "${HOME:-}" ] || { echo "error: HOME is not set: give a prefix" >&2 && exit 2; }
    prefix=$HOME/.local
fi
prefix=$(realpath -m -- "$prefix")
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

layers=(emulator capture aliasing)
manifests=share/vulkan/explicit_layer.d
# The list of installed files and created folders, one per line:
# `file PATH` and `folder PATH`, relative to the prefix. Folders above the prefix are `..` and so on.
list=lib/tileheap/installed.txt

# Prints the paths of one kind, `file` or `folder`, in the list.
listed() {
    [ ! -e "$prefix/$list" ] || sed -n "s/^$1 //p" "$prefix/$list"
}

# Prints the folders that contain `file` paths read from standard input and that do not exist yet or are in the list.
folders_to_create() {
    local file folder above
    {
        listed folder
        while read -r file; do
            folder=$(dirname "$file")
            while [ ! -d "$prefix/$folder" ]; do
                echo "$folder"
                [ "$folder" != . ] || break
                folder=$(dirname "$folder")
            done
        done
        above=.. folder=$(dirname "$prefix")
        while [ ! -d "$folder" ]; do
            echo "$above"
            above=../$above folder=$(dirname "$folder")
        done
    } | sort -u
}

# Removes `file` paths read from standard input.
remove_files() {
    local file
    while read -r file; do
        rm -f -- "${prefix:?}/$file"
    done
}

# Removes everything in the list, and the list.
remove_installation() {
    local folders=() folder
    [ -e "$prefix/$list" ] || die "$prefix/$list does not exist: install.sh installed nothing in $prefix"
    # Absolute, since `..` does not work once the prefix is gone. Longest first: nested folders before their parents.
    mapfile -t folders < <(listed folder | while read -r folder; do realpath -m -- "$prefix/$folder"; done |
        awk '{print length, $0}' | sort -rn | cut -d ' ' -f 2-)
    listed file | remove_files
    for folder in "${folders[@]}"; do
        [ ! -d "$folder" ] || rmdir --ignore-fail-on-non-empty -- "$folder"
    done
}

# Copies a file to a path below the prefix. Renamed into place: a running program keeps what it loaded.
place() {
    local mode=$1 from=$2 to=$prefix/$3
    install -m "$mode" -- "$from" "$to.$$"
    mv -f -- "$to.$$" "$to"
}

if $uninstall; then
    remove_installation
    say "Removed tileheap from $prefix"
    exit
fi

if $build; then
    need_rust
    command -v cc >/dev/null || need_packages gcc libc6-dev # To link.
    profile=release built=release
    # All at once: built separately, packages may enable other features of their dependencies.
    cargo build --profile "$profile" --package tileheap-cli "${layers[@]/#/--package=tileheap-}" </dev/null
else
    profile=dev built=debug
fi
command=${CARGO_TARGET_DIR:-$root/target}/$built/tileheap
[ -e "$command" ] || die "$command does not exist: build it, or leave out --built"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for layer in "${layers[@]}"; do
    PROFILE=$profile bash "scripts/stage-$layer.sh" --built "$work"
    # The loader takes the path as relative to the manifest.
    sed -i "s|\"\./libVkLayer_tileheap_$layer\.so\"|\"../../../lib/tileheap/libVkLayer_tileheap_$layer.so\"|" "$work/VkLayer_tileheap_$layer.json"
    grep -q "\"../../../lib/tileheap/libVkLayer_tileheap_$layer.so\"" "$work/VkLayer_tileheap_$layer.json" ||
        die "the manifest of the layer $layer does not name ./libVkLayer_tileheap_$layer.so"
done
cp "$command" "$work/tileheap"
! $build || ! command -v strip >/dev/null || strip --strip-unneeded "$work/tileheap" "$work"/*.so

files=(bin/tileheap "$list")
for layer in "${layers[@]}"; do
    files+=("lib/tileheap/libVkLayer_tileheap_$layer.so" "$manifests/VkLayer_tileheap_$layer.json")
done
for file in "${files[@]}"; do
    [ ! -e "$prefix/$file" ] || listed file | grep -xF -e "$file" >/dev/null ||
        die "$prefix/$file exists, and install.sh did not install it: remove it, or choose another prefix"
done
# The list is written first, with the files of an earlier installation, so that an interrupted installation can be removed.
{
    printf '%s\n' "${files[@]}" | folders_to_create | sed 's/^/folder /'
    { printf '%s\n' "${files[@]}" && listed file; } | sort -u | sed 's/^/file /'
} >"$work/installed.txt"
mkdir -p -- "$prefix/bin" "$prefix/lib/tileheap" "$prefix/$manifests"
place 644 "$work/installed.txt" "$list"
place 755 "$work/tileheap" bin/tileheap
for layer in "${layers[@]}"; do
    place 644 "$work/libVkLayer_tileheap_$layer.so" "lib/tileheap/libVkLayer_tileheap_$layer.so"
    place 644 "$work/VkLayer_tileheap_$layer.json" "$manifests/VkLayer_tileheap_$layer.json"
done
# Remove files of an earlier version that this one does not have.
listed file | grep -vxF -f <(printf '%s\n' "${files[@]}") | remove_files || true
{ listed folder | sed 's/^/folder /' && printf 'file %s\n' "${files[@]}"; } >"$work/final.txt"
place 644 "$work/final.txt" "$list"
say "Installed $("$prefix/bin/tileheap" --version) in $prefix; to remove it: bash scripts/install.sh ${prefix@Q} --uninstall"

case :$PATH: in
    *":$prefix/bin:"*) ;;
    *) say "The shell does not find the command yet: export PATH=${prefix@Q}/bin:\$PATH" ;;
esac
# The loader's search path, without configuration folders.
case :${XDG_DATA_HOME:-${HOME:-}/.local/share}:${XDG_DATA_DIRS:-/usr/local/share:/usr/share}: in
    *":$prefix/share:"* | *":$prefix/share/:"*) ;;
    *)
        say "The Vulkan loader does not search $prefix/share. \`tileheap run\` and \`tileheap capture\` work; to enable a layer without them:
    export VK_ADD_LAYER_PATH=${prefix@Q}/$manifests"
        ;;
esac
