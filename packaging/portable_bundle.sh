#!/bin/sh
# Copies the command line program and the libraries that a bare Linux machine lacks into a folder that runs anywhere with
# an equally new C library: packaging/portable_bundle.sh BUILD_FOLDER TARGET_FOLDER
# Build it by `cmake --preset portable`, whose static LLVM needs libzstd-dev beside what bootstrap.sh installs.
# The C library itself, its loader and its maths library stay those of the machine that runs it.
set -eu

usage() {
  echo "usage: $0 BUILD_FOLDER TARGET_FOLDER" >&2
  exit 2
}
# copy_licence LIBRARY: what its Debian package says of its authors and its licence
copy_licence() {
  file=$(readlink -f "$1")
  package=$({ dpkg -S "$file" || dpkg -S "${file#/usr}"; } 2>/dev/null | head -1 | cut -d: -f1)
  [ -f "/usr/share/doc/$package/copyright" ] || { echo "$0: $1 has no copyright file" >&2; return 1; }
  cp "/usr/share/doc/$package/copyright" "$target/licences/$package.txt"
}
[ $# -eq 2 ] || usage
build=$(realpath "$1")
target=$(realpath -m "$2")
[ -x "$build/bin/kerf" ] || { echo "$0: $build/bin/kerf is not there; build it first" >&2; exit 2; }

cd "$(dirname "$0")/.."
mkdir -p "$target/lib" "$target/licences"
cp "$build/bin/kerf" "$target/lib/kerf"
strip "$target/lib/kerf"

# "name => /path (address)" lines; what belongs to the C library is left out.
ldd "$build/bin/kerf" | awk '$2 == "=>" && $3 ~ /^\// { print $1, $3 }' | while read -r name path; do
  case $name in
    libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | librt.so.* | libresolv.so.* | ld-linux*) continue ;;
  esac
  cp -L "$path" "$target/lib/$name"
  chmod u+w "$target/lib/$name"
  copy_licence "$path"
done
cp LICENSE NOTICE resources/docs/third-parties.md "$target/licences/"

cat > "$target/kerf" <<'LAUNCHER'
#!/bin/sh
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} exec "$here/lib/kerf" "$@"
LAUNCHER
chmod +x "$target/kerf"
du -sh "$target" | cut -f1
