#!/usr/bin/env bash
# Runs clang-tidy, by .clang-tidy, on the sources that changed since a revision (default: origin/main):
#   packaging/tidy.sh [BASE [BUILD_DIR]]
# BUILD_DIR (default: build-tidy, configured if it is not there) must have a compile_commands.json. A header is checked with
# a source of the same name. Exits with 1 if clang-tidy finds anything on a changed line. Needs clang-tidy-19
# (`packaging/bootstrap.sh tidy` installs it).
set -euo pipefail

readonly tidy=clang-tidy-19
readonly base=${1:-origin/main} folder=${2:-build-tidy}

cd "$(dirname "${BASH_SOURCE[0]}")/.."
if ! command -v "$tidy" >/dev/null; then
  echo "tidy: $tidy is not installed; packaging/bootstrap.sh tidy installs it" >&2
  exit 3
fi
if ! start=$(git merge-base "$base" HEAD 2>/dev/null); then
  echo "tidy: there is no revision $base" >&2
  exit 2
fi
if [[ ! -f $folder/compile_commands.json ]]; then
  # File by file and without precompiled headers, which belong to the compiler that made them.
  cmake -G Ninja -S . -B "$folder" -DKERF_UNITY=OFF -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON \
    -DCMAKE_C_COMPILER=clang-19 -DCMAKE_CXX_COMPILER=clang++-19
fi

# sources_of CHANGED…: what is compiled of it.
sources_of() {
  local file
  for file in "$@"; do
    [[ $file == *.h && -f ${file%.h}.cpp ]] && file=${file%.h}.cpp
    [[ $file == *.cpp && -f $file ]] && grep -qF "/$file\"" "$folder/compile_commands.json" && echo "$file"
  done | sort -u
}

# changed_lines FILE: [first,last] of each hunk, as clang-tidy's --line-filter takes them; an empty hunk only removed lines.
changed_lines() {
  git diff -U0 "$start" -- "$1" | awk '
    match($0, /^@@ [^+]*\+[0-9]+(,[0-9]+)? @@/) {
      split(substr($0, RSTART, RLENGTH), parts, "+")
      split(parts[2], range, /[, ]/)
      count = range[2] ~ /^[0-9]+$/ ? range[2] : 1
      if (count > 0) printf "%s[%d,%d]", sep++ ? "," : "", range[1], range[1] + count - 1
    }'
}

line_filter() {
  local file lines entries=()
  for file in "$@"; do
    lines=$(changed_lines "$file")
    [[ -n $lines ]] && entries+=("{\"name\":\"$file\",\"lines\":[$lines]}")
  done
  local IFS=,
  echo "[${entries[*]}]"
}

mapfile -t changed < <(git diff --name-only --diff-filter=d "$start" -- '*.cpp' '*.h')
mapfile -t sources < <(sources_of "${changed[@]}")
if [[ ${#sources[@]} -eq 0 ]]; then
  echo "tidy: no source changed since $base"
  exit
fi
filter=$(line_filter "${changed[@]}")
echo "tidy: ${#sources[@]} sources for ${#changed[@]} changed files"
printf '%s\0' "${sources[@]}" |
  xargs -0 -n 1 -P "$(nproc)" "$tidy" -p "$folder" --quiet --warnings-as-errors='*' --line-filter="$filter" || exit 1
echo "tidy: nothing found"
