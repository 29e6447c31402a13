#!/bin/sh
# Copies the command line program and the libraries that a bare Linux machine lacks into a folder that runs anywhere with
# an equally new C library: packaging/portable_bundle.sh BUILD_FOLDER TARGET_FOLDER
# Build it by `cmake --preset portable`, whose static LLVM needs libzstd-dev beside what bootstrap.sh installs.
set -eu

usage() {
  echo "usage: $0 BUILD_FOLDER TARGET_FOLDER" >&2
  exit 2
}
[ $# -eq 2 ] || usage
build=$(realpath "$1")
target=$(realpath -m "$2")
[ -x "$build/bin/kerf" ] || { echo "$0: $build/bin/kerf is not there; build it first" >&2; exit 2; }

cd "$(dirname "$0")/.."
mkdir -p "$target/lib"
cp "$build/bin/kerf" "$target/lib/kerf"
strip "$target/lib/kerf"

packaging/copy_libraries.sh "$build/bin/kerf" "$target/lib" "$target/licences"
cp LICENSE NOTICE resources/docs/third-parties.md "$target/licences/"

cat > "$target/kerf" <<'LAUNCHER'
#!/bin/sh
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} exec "$here/lib/kerf" "$@"
LAUNCHER
chmod +x "$target/kerf"
du -sh "$target" | cut -f1
