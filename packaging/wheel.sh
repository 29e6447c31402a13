#!/bin/sh
# Makes the Python wheel: the package kerf with the program in it: packaging/wheel.sh [BUILD_FOLDER] [TARGET_FOLDER]
# Needs no network. The program is linked with LLVM in it (libzstd-dev beside what bootstrap.sh installs).
set -eu
cd "$(dirname "$0")/.."
build=$(realpath "${1:-build}")
target=$(realpath -m "${2:-out}")
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT

cmake --build "$build" --target kerf_portable kerf_call
mkdir -p "$stage/kerf/bin" "$stage/kerf/lib" "$target"
cp "$build/bin/kerf_portable" "$stage/kerf/bin/kerf"
strip "$stage/kerf/bin/kerf"
cp "$build/bin/libkerf_call.so" "$stage/kerf/lib/"
strip --strip-unneeded "$stage/kerf/lib/libkerf_call.so"
packaging/copy_libraries.sh "$build/bin/kerf_portable" "$stage/kerf/lib" "$stage/licences"
cp LICENSE NOTICE resources/docs/third-parties.md "$stage/licences/"
python3 packaging/python/make_wheel.py "$stage" "$target"
