#!/usr/bin/env bash
# Runs fuzz targets side by side, one per core, and ends with a line for each; what a target found comes last: the
# broken promise and the input, as text that can be turned back into the file.
#   run_fuzzers.sh BIN_DIR SECONDS TARGET:SEEDS…    (SEEDS: a folder of tests/fuzz/seeds, with SEEDS.dict beside it)
set -uo pipefail

readonly bin=$1 seconds=$2
shift 2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here
readonly shown=12000  # characters of an input that are printed; larger ones stay in the file

fuzz() {
  local name=$1 seeds=$2
  mkdir -p "${name}_corpus"
  rm -f "$name".found-*
  "$bin/$name" -seed=1 -max_total_time="$seconds" -max_len=65536 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$name.found-" -dict="$here/$seeds.dict" "${name}_corpus" "$here/seeds/$seeds" >"$name.log" 2>&1
  echo $? >"$name.status"
}

runs() { sed -n 's/^stat::number_of_executed_units: *//p' "$1.log"; }

explain() {
  local name=$1 input text
  printf '\n== %s ==\n' "$name"
  grep -vE '^#[0-9]+\s' "$name.log" | tail -n 60 | cut -c1-1000
  for input in "$name".found-*; do
    [[ -f $input ]] || continue
    printf '%s, %d bytes; base64 -d | gunzip gives it back:\n' "$PWD/$input" "$(stat -c %s "$input")"
    text=$(gzip -9c "$input" | base64 -w 0)
    echo "${text:0:shown}"
    ((${#text} <= shown)) || echo "(cut)"
  done
  grep -m 1 -vE '^(#|INFO|Dictionary|Seed|Loading|Loaded|WARNING|MS:|stat::|[[:space:]])' "$name.log" | cut -c1-400
}

# One after the other takes minutes on one core; as many as there are cores at a time.
for target in "$@"; do
  while (($(jobs -rp | wc -l) >= $(nproc))); do wait -n; done
  rm -f "${target%%:*}.status"
  fuzz "${target%%:*}" "${target#*:}" &
done
wait

failed=()
for target in "$@"; do
  name=${target%%:*}
  status=$(cat "$name.status" 2>/dev/null || echo "no result")
  [[ $status == 0 ]] || failed+=("$name")
  printf '%-20s %10s runs  %s\n' "$name" "$(runs "$name")" "$([[ $status == 0 ]] && echo 'nothing found' || echo "FAILED ($status)")"
done
for name in ${failed[@]+"${failed[@]}"}; do explain "$name"; done
[[ ${#failed[@]} -eq 0 ]]
