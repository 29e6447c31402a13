#!/usr/bin/env bash
# Runs the fuzz targets of a build side by side, one per core, and ends with a line for each; what a target found comes
# last: the broken promise and the input, as text that can be turned back into the file.
#   run_fuzzers.sh BUILD                     seeds, earlier finds and a fixed number of inputs: the same ones every time
#   run_fuzzers.sh BUILD --fresh MINUTES     other inputs each time, for so long; BUILD/fuzz keeps what widened coverage
set -uo pipefail

[[ -f ${1:-}/fuzz/targets ]] || { sed -n '4,5s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2; }
readonly bin=$(realpath "$1")/bin out=$(realpath "$1")/fuzz minutes=${3:-}
[[ $# -eq 1 || (${2:-} == --fresh && $minutes =~ ^[0-9]+$) ]] || { echo "run_fuzzers: --fresh needs minutes" >&2; exit 2; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here
readonly shown=12000  # characters of an input that are printed; larger ones stay in the file
cd "$out" || exit 3

cores=$(nproc)  # which OMP_NUM_THREADS would change
readonly cores
# What is found must depend on the input alone: one thread, and no two runs with other addresses.
export KERF_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
same_addresses=()
if setarch -R true 2>/dev/null; then same_addresses=(setarch -R); fi

# Inputs of a fixed seed start from the seeds alone; fresh ones also from what earlier fresh runs kept.
fuzz() {
  local name=$1 seeds runs=$3 how
  IFS=, read -ra seeds <<<"$2"
  rm -rf "$name".found-* "${name}_fixed"
  if [[ -n $minutes ]]; then
    mkdir -p "${name}_corpus"
    how=("-seed=$RANDOM$RANDOM" "-max_total_time=$((minutes * 60))" -timeout=20 "${name}_corpus")
  else
    mkdir -p "${name}_fixed"
    how=(-seed=1 "-runs=$runs" -timeout=300 "${name}_fixed")
  fi
  "${same_addresses[@]}" "$bin/$name" -max_len=65536 -rss_limit_mb=4096 -print_final_stats=1 \
    -artifact_prefix="$name.found-" -dict="$here/${seeds[0]}.dict" "${how[@]}" "${seeds[@]/#/$here/seeds/}" >"$name.log" 2>&1
  echo $? >"$name.status"
}

stat() { sed -n "s/^stat::$2: *//p" "$1.log"; }

# Characters that act on a terminal are left out: inputs are hostile.
explain() {
  local name=$1 input text
  printf '\n== %s ==\n' "$name"
  grep -avE '^#[0-9]+\s' "$name.log" | tail -n 60 | cut -c1-1000 | tr -d '\000-\010\013-\037\177'
  for input in "$name".found-*; do
    [[ -f $input ]] || continue
    printf '%s, %d bytes; base64 -d | gunzip gives it back:\n' "$PWD/$input" "$(wc -c <"$input")"
    text=$(gzip -9nc "$input" | base64 -w 0)
    echo "${text:0:shown}"
    ((${#text} <= shown)) || echo "(cut)"
  done
}

while read -r name seeds runs; do
  while (($(jobs -rp | wc -l) >= cores)); do wait -n; done
  rm -f "$name.status"
  fuzz "$name" "$seeds" "$runs" &
done <targets
wait

failed=()
while read -r name _; do
  status=$(cat "$name.status" 2>/dev/null || echo "no result")
  [[ $status == 0 ]] || failed+=("$name")
  printf '%-18s %8s inputs %6s a second  %s\n' "$name" "$(stat "$name" number_of_executed_units)" \
    "$(stat "$name" average_exec_per_sec)" "$([[ $status == 0 ]] && echo 'nothing found' || echo "FAILED ($status)")"
done <targets
for name in ${failed[@]+"${failed[@]}"}; do explain "$name"; done
[[ ${#failed[@]} -eq 0 ]]
