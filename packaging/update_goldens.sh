#!/usr/bin/env bash
# Writes golden files anew from what the built programs print or show. Read the diff before you commit it.
#   packaging/update_goldens.sh [BUILD_DIR]              what commands print: tests/golden
#   packaging/update_goldens.sh --pictures [BUILD_DIR]   what the window shows: tests/data/pictures
# BUILD_DIR is `build` if it is not named; the programs are built first.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
what=text
if [[ ${1:-} == --pictures ]]; then
  what=pictures
  shift
fi
readonly folder=${1:-build}

# Half of the machine's cores each: the two shards start programs that have threads of their own.
update_text() {
  local shard processes=()
  cmake --build "$folder" --target test_golden
  for shard in 0 1; do
    KERF_UPDATE_GOLDEN=1 GTEST_TOTAL_SHARDS=2 GTEST_SHARD_INDEX=$shard \
      "$folder/bin/test_golden" --gtest_brief=1 --gtest_filter='Files/*' &
    processes+=($!)
  done
  for shard in 0 1; do wait "${processes[shard]}"; done
  git --no-pager diff --stat -- tests/golden
}

update_pictures() {
  cmake --build "$folder" --target test_ui
  KERF_UPDATE_PICTURES=1 QT_QPA_PLATFORM=offscreen "$folder/bin/test_ui" --gtest_brief=1 --gtest_filter='*GoldenPicture*'
  git --no-pager diff --stat -- tests/data/pictures
}

"update_$what"
