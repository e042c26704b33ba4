#!/usr/bin/env bash
# debian-mirror.sh: prints the Debian mirror that apt's sources name.
set -euo pipefail
# shellcheck source=scripts/options.sh
source "$(dirname "${BASH_SOURCE[0]}")/options.sh"
check_arguments "$@"
# shellcheck disable=SC2016 # apt's own placeholders
mirror=$(apt-get indextargets --format '$(COMPONENT) $(RELEASE) $(REPO_URI)' 'Created-By: Packages' |
    awk -v release="$(. /etc/os-release && echo "${VERSION_CODENAME:-}")" '$1 == "main" && $2 == release {print $3; exit}')
if [ -z "$mirror" ]; then
    echo "error: apt's sources name no Debian mirror" >&2
    exit 1
fi
echo "$mirror"
