#!/usr/bin/env bash
# unpack-forky.sh FOLDER PACKAGE...: unpacks packages of Debian forky into FOLDER, with all their dependencies, C library included.
# PACKAGE:ARCHITECTURE unpacks a package of another architecture.
#
# Uses apt with a separate state: it knows the machine's mirror and proxies, checks signatures and resolves
# dependencies, without root and without changing the machine's own state. (debootstrap would need root, a chroot and
# twice the time for a base system that is not used.)
set -euo pipefail
# shellcheck source=scripts/options.sh
source "$(dirname "${BASH_SOURCE[0]}")/options.sh"
check_arguments "$@"

tree=$1
shift
apt=$tree.apt
if ! command -v apt-get >/dev/null; then
    echo "error: no apt here; unpack Debian forky's $* with all that they depend on into $tree by hand, and put" \
        "an empty file \`complete\` there" >&2
    exit 1
fi
mirror=$(bash "$(dirname "${BASH_SOURCE[0]}")/debian-mirror.sh")
architectures=$({ dpkg --print-architecture && printf '%s\n' "$@" | sed -n 's/.*://p'; } | awk '!seen[$0]++ {printf "\"%s\"; ", $0}')

rm -rf "$tree"
mkdir -p "$tree" "$apt/lists/partial" "$apt/archives/partial"
: >"$apt/status"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror forky main" >"$apt/sources.list"
cat >"$apt/apt.conf" <<CONF
Dir::State "$apt";
Dir::State::status "$apt/status"; // Nothing is installed there.
Dir::Cache "$apt";
Dir::Etc::SourceList "$apt/sources.list";
Dir::Etc::SourceParts "/dev/null";
Acquire::Check-Valid-Until "false"; // A mirror may be a snapshot.
Acquire::Languages "none";
Acquire::Retries "3";
APT::Architectures {$architectures};
APT::Sandbox::User ""; // Root's apt would hand downloads to a user who may not be allowed in here.
CONF
export APT_CONFIG=$apt/apt.conf
apt-get update -qq
apt-get install -qq -y --no-install-recommends --download-only "$@"
for package in "$apt"/archives/*.deb; do
    dpkg-deb --extract "$package" "$tree"
done
basename -a "$apt"/archives/*.deb >"$tree/versions"
rm -rf "$apt"
touch "$tree/complete"
