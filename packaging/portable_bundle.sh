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
[ $# -eq 2 ] || usage
build=$1
target=$2
[ -x "$build/bin/kerf" ] || { echo "$0: $build/bin/kerf is not there; build it first" >&2; exit 2; }

mkdir -p "$target/lib"
cp "$build/bin/kerf" "$target/lib/kerf"
strip "$target/lib/kerf"

# "name => /path (address)" lines; what belongs to the C library is left out.
ldd "$build/bin/kerf" | awk '$2 == "=>" && $3 ~ /^\// { print $1, $3 }' | while read -r name path; do
  case $name in
    libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | librt.so.* | libresolv.so.* | ld-linux*) continue ;;
  esac
  cp -L "$path" "$target/lib/$name"
  chmod u+w "$target/lib/$name"
done

cat > "$target/kerf" <<'LAUNCHER'
#!/bin/sh
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} exec "$here/lib/kerf" "$@"
LAUNCHER
chmod +x "$target/kerf"
du -sh "$target" | cut -f1
