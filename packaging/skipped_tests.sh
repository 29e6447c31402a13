#!/usr/bin/env bash
# Says how many tests the last ctest run of a build folder skipped, and why:
#   packaging/skipped_tests.sh BUILD_DIR
# GoogleTest prints "file:line: Skipped" and the reason on the next line; ctest keeps the output of every test.
set -euo pipefail

readonly log=${1:?a build folder}/Testing/Temporary/LastTest.log
reasons=$(awk '/: Skipped$/ { getline; print }' "$log")
total=$(grep -c '^[0-9]*/[0-9]* Test: ' "$log")
if [[ -z $reasons ]]; then
  echo "0 of $total tests skipped"
  exit
fi
echo "$(wc -l <<<"$reasons") of $total tests skipped:"
sort <<<"$reasons" | uniq -c | sort -rn
