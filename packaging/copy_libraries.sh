#!/bin/sh
# Copies what a bare Linux machine lacks of a program's libraries, and of Python's standard library for captures:
#   packaging/copy_libraries.sh PROGRAM LIBRARY_FOLDER LICENCE_FOLDER
# The C library itself, its loader and its maths library stay those of the machine that runs the program.
set -eu
[ $# -eq 3 ] || { echo "usage: $0 PROGRAM LIBRARY_FOLDER LICENCE_FOLDER" >&2; exit 2; }
program=$(realpath "$1")
libraries=$(realpath -m "$2")
licences=$(realpath -m "$3")
mkdir -p "$libraries" "$licences"

# copy_licence FILE: what its Debian package says of its authors and its licence
copy_licence() {
  file=$(readlink -f "$1")
  package=$({ dpkg -S "$file" || dpkg -S "${file#/usr}"; } 2>/dev/null | head -1 | cut -d: -f1)
  [ -f "/usr/share/doc/$package/copyright" ] || { echo "$0: $1 has no copyright file" >&2; return 1; }
  cp "/usr/share/doc/$package/copyright" "$licences/$package.txt"
}

list=$(mktemp)
trap 'rm -f "$list"' EXIT
# "name => /path (address)" lines
ldd "$program" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' > "$list"
if grep -q '/libpython3\.11\.' "$list"; then
  # `kerf capture` runs programs on CPython; a machine with another Python has no standard library for it.
  python=/usr/bin/python3.11
  "$python" packaging/python/standard_library.py "$libraries" >> "$list"
  copy_licence "$("$python" -c 'import os; print(os.__file__)')"
fi
sort -u "$list" | while read -r path; do
  case $(basename "$path") in
    libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | librt.so.* | libresolv.so.* | ld-linux*) continue ;;
  esac
  copy=$libraries/$(basename "$path")
  cp -L "$path" "$copy"
  chmod u+w "$copy"
  strip --strip-unneeded "$copy"
  copy_licence "$path"
done
