#!/usr/bin/env bash
# Formats the C++ sources, by .clang-format:
#   packaging/format.sh [FILE…]          formats these files, or all
#   packaging/format.sh --check [FILE…]  changes nothing; names the files that differ and exits with 1 if there are any
# Needs clang-format-19: other versions format differently. `packaging/bootstrap.sh format` installs it.
set -euo pipefail

readonly formatter=clang-format-19

cd "$(dirname "${BASH_SOURCE[0]}")/.."
check=false
if [[ ${1:-} == --check ]]; then
  check=true
  shift
fi
if ! command -v "$formatter" >/dev/null; then
  echo "format: $formatter is not installed; packaging/bootstrap.sh format installs it" >&2
  exit 3
fi
files=("$@")
if [[ $# -eq 0 ]]; then
  mapfile -t files < <(git ls-files -- '*.cpp' '*.h')
fi

# in_parallel OPTIONS…: the formatter on all files, some at a time.
in_parallel() {
  printf '%s\0' "${files[@]}" | xargs -0 -n 40 -P "$(nproc)" "$formatter" "$@"
}

if [[ $check == false ]]; then
  in_parallel -i
  exit
fi
# One warning a difference, as "engine/ir/graph.h:12:3: warning: …".
warnings=$(in_parallel --dry-run 2>&1) || true
differing=$(sed -n 's/^\([^ :]*\):[0-9]*:[0-9]*: warning: code should be clang-formatted.*/\1/p' <<<"$warnings" | sort -u)
if [[ -n $differing ]]; then
  echo "$differing"
  echo "format: $(wc -l <<<"$differing") of ${#files[@]} files differ; packaging/format.sh formats them" >&2
  exit 1
fi
if [[ -n $warnings ]]; then  # the formatter itself failed
  echo "$warnings" >&2
  exit 3
fi
echo "format: ${#files[@]} files, none differs"
