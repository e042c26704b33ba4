#!/usr/bin/env bash
# package-android.sh [FOLDER]: builds the three layers for Android, and lays them out as a Gradle module for an APK that contains only layers,
# in FOLDER (target/android):
#
#   FOLDER/settings.gradle, app/build.gradle, app/src/main/AndroidManifest.xml
#   FOLDER/app/src/main/jniLibs/ABI/libVkLayer_tileheap_NAME.so     for the ABIs arm64-v8a, armeabi-v7a and x86_64
#
# Needs the NDK (r26 or newer) in ANDROID_NDK_HOME, cargo-ndk (cargo install cargo-ndk), and rustup or a Rust with these targets. ABIS
# chooses ABIs, LAYERS layers; VERSION_OF_ANDROID is the oldest API level (26). `gradle assembleDebug` in FOLDER then builds the APK;
# docs/guide/phone.md says how to enable the layers of such an APK for any debuggable program.
#
# Example:
#   ANDROID_NDK_HOME=~/android-ndk-r27c ABIS=arm64-v8a bash scripts/package-android.sh
set -euo pipefail
# shellcheck source=scripts/options.sh
source "$(dirname "${BASH_SOURCE[0]}")/options.sh"
check_arguments "$@"
folder=$(realpath -m -- "${1:-$(dirname "${BASH_SOURCE[0]}")/../target/android}")
read -ra abis <<<"${ABIS:-arm64-v8a armeabi-v7a x86_64}"
read -ra layers <<<"${LAYERS:-emulator capture aliasing}"
level=${VERSION_OF_ANDROID:-26}

# Reports missing tools before anything is installed or built.
ndk=${ANDROID_NDK_HOME:-${ANDROID_NDK_ROOT:-}}
if [ -z "$ndk" ]; then
    echo "error: ANDROID_NDK_HOME is not set: install the Android NDK (sdkmanager 'ndk;28.2.13676358'), and set it to its folder" >&2
    exit 1
fi
if [ ! -e "$ndk/source.properties" ]; then
    echo "error: $ndk is not an Android NDK: it has no source.properties" >&2
    exit 1
fi
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
need_rust
cargo ndk --version >/dev/null 2>&1 || die "cargo-ndk is missing: cargo install cargo-ndk"
triples=()
for abi in "${abis[@]}"; do
    case $abi in
        arm64-v8a) triples+=(aarch64-linux-android) ;;
        armeabi-v7a) triples+=(armv7-linux-androideabi) ;;
        x86_64) triples+=(x86_64-linux-android) ;;
        *) die "unknown ABI \`$abi\`: arm64-v8a, armeabi-v7a or x86_64" ;;
    esac
done
for layer in "${layers[@]}"; do
    [ -e "crates/$layer/VkLayer_tileheap_$layer.json" ] || die "unknown layer \`$layer\`: emulator, capture or aliasing"
done
! command -v rustup >/dev/null || rustup target add "${triples[@]}"

export ANDROID_NDK_HOME=$ndk
cargo ndk "${abis[@]/#/--target=}" --platform "$level" build --profile layer "${layers[@]/#/--package=tileheap-}" </dev/null
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
app=$folder/app/src/main
mkdir -p "$app"
for index in "${!abis[@]}"; do
    mkdir -p "$app/jniLibs/${abis[$index]}"
    for layer in "${layers[@]}"; do
        cp "${CARGO_TARGET_DIR:-$root/target}/${triples[$index]}/layer/libtileheap_$layer.so" \
            "$app/jniLibs/${abis[$index]}/libVkLayer_tileheap_$layer.so"
    done
done
cat >"$folder/settings.gradle" <<'GRADLE'
pluginManagement { repositories { google(); mavenCentral(); gradlePluginPortal() } }
dependencyResolutionManagement { repositories { google(); mavenCentral() } }
include ':app'
GRADLE
cat >"$folder/app/build.gradle" <<GRADLE
plugins { id 'com.android.application' version '8.7.0' }

android {
    namespace 'org.tileheap.layers'
    compileSdk 35
    defaultConfig {
        applicationId 'org.tileheap.layers'
        minSdk $level
        targetSdk 35
        versionName '$version'
    }
    // Android's loader opens libraries inside of the APK, not compressed.
    packagingOptions { jniLibs { useLegacyPackaging false } }
}
GRADLE
cat >"$app/AndroidManifest.xml" <<'XML'
<manifest xmlns:android="http://schemas.android.com/apk/res/android">
    <application android:hasCode="false" android:label="tileheap layers" android:debuggable="true" />
</manifest>
XML
say "The layers ${layers[*]} for ${abis[*]} are in $folder; to build and install the APK:
    cd ${folder@Q} && gradle assembleDebug && adb install app/build/outputs/apk/debug/app-debug.apk"
