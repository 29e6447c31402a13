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
mkdir -p "$stage/kerf/bin" "$stage/kerf/lib" "$stage/licences" "$target"
cp "$build/bin/kerf_portable" "$stage/kerf/bin/kerf"
strip "$stage/kerf/bin/kerf"
cp "$build/bin/libkerf_call.so" "$stage/kerf/lib/"
strip --strip-unneeded "$stage/kerf/lib/libkerf_call.so"
ldd "$build/bin/kerf_portable" | awk '$2 == "=>" && $3 ~ /^\// { print $1, $3 }' > "$stage/libraries"
while read -r name path; do
  case $name in
    libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | librt.so.* | libresolv.so.* | ld-linux*) continue ;;
  esac
  cp -L "$path" "$stage/kerf/lib/$name"
  chmod u+w "$stage/kerf/lib/$name"
  strip --strip-unneeded "$stage/kerf/lib/$name"
  file=$(readlink -f "$path")
  package=$({ dpkg -S "$file" || dpkg -S "${file#/usr}"; } 2>/dev/null | head -1 | cut -d: -f1)
  [ -f "/usr/share/doc/$package/copyright" ] || { echo "$0: $path has no copyright file" >&2; exit 1; }
  cp "/usr/share/doc/$package/copyright" "$stage/licences/$package.txt"
done < "$stage/libraries"
rm "$stage/libraries"
cp LICENSE NOTICE resources/docs/third-parties.md "$stage/licences/"
python3 packaging/python/make_wheel.py "$stage" "$target"
