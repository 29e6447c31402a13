#!/usr/bin/env bash
# Packs the slice of the recordings that the repository carries, one archive per folder, the same bytes each time:
#   packaging/pack_corpus.sh RECORDINGS     writes tests/data/corpus/*.tar.xz
# CMake unpacks them into the build folder (packaging/cmake/KerfCorpus.cmake). What is left out is large and needed by one
# test each, which says so when it skips.
set -euo pipefail

readonly folders=(anchors capture corners dtensor golden opinfo refusals same traces variety)
readonly left_out=(
  golden/timm_test_efficientnet/train_forward_io.safetensors
  golden/timm_test_efficientnet/train_ref.safetensors
  golden/timm_test_efficientnet/train_ref64.safetensors
)

[[ $# -eq 1 && -d $1/golden ]] || { sed -n '2,3s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2; }
into=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/tests/data/corpus
cd "$1"
for folder in "${folders[@]}"; do
  tar --create --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX \
    "${left_out[@]/#/--exclude=}" "$folder" | xz -9e --threads=1 >"$into/$folder.tar.xz"
done
du -cb "$into"/*.tar.xz
