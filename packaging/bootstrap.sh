#!/usr/bin/env bash
# Builds Kerf on a fresh Debian 12 and shows it at work or tests it:
#   packaging/bootstrap.sh demo|test|build [-- ARGUMENTS for kerf demo or ctest]
# Installs missing packages (needs root or sudo only then). With CI=true warnings are errors.
# `packaging/bootstrap.sh fuzz` builds the fuzz targets with clang and runs each for a minute.
set -euo pipefail

readonly packages=(
  # tools
  git cmake ninja-build g++ ccache mold graphviz
  # libraries (resources/docs/architecture.md, Dependencies)
  libfmt-dev libspdlog-dev nlohmann-json3-dev libcli11-dev libssl-dev libxxhash-dev zlib1g-dev
  libsqlite3-dev libsqlitecpp-dev libopenblas-dev liblapacke-dev libdnnl-dev libboost-graph-dev llvm-19-dev
  # the window
  qt6-base-dev libqt6opengl6-dev qt6-svg-dev qt6-charts-dev libgl1 libgl-dev fonts-dejavu-core xvfb xauth
  # tests
  libgtest-dev libgmock-dev libbenchmark-dev
)
readonly fuzz_packages=(clang-19 libclang-rt-19-dev)

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly root
times=()

usage() {
  sed -n '2,5s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
}

# stage NAME COMMAND…: runs the command, says how long it took.
stage() {
  local name=$1 began=$SECONDS
  shift
  printf '\n== %s ==\n' "$name"
  "$@"
  times+=("$(printf '%-10s %4d s' "$name" "$((SECONDS - began))")")
}

is_installed() {
  [[ $(dpkg-query -W -f='${Status}' "$1" 2>/dev/null) == 'install ok installed' ]]
}

as_root() {
  if [[ $(id -u) -eq 0 ]]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    echo "bootstrap: packages are missing; run as root, or install sudo: $*" >&2
    exit 3
  fi
}

install_packages() {
  local missing=() package
  for package in "$@"; do
    is_installed "$package" || missing+=("$package")
  done
  if [[ ${#missing[@]} -eq 0 ]]; then
    echo "all packages are installed"
    return
  fi
  echo "installing: ${missing[*]}"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get update -q
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
}

# One compiler per core, but no more than one per GB of memory.
jobs() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/MemAvailable/ { print int($2 / 1048576) }' /proc/meminfo)
  echo $((memory < 1 ? 1 : memory < cores ? memory : cores))
}

build() {
  local preset=release
  if [[ ${CI:-} == true ]]; then preset=ci; fi
  stage configure cmake -G Ninja --preset "$preset" -DKERF_REQUIRE_STUDIO=ON
  stage build cmake --build build --parallel "$(jobs)"
}

run_demo() {
  build/bin/kerf demo "$@"
}

run_tests() {
  if [[ -z ${DISPLAY:-} && -z ${WAYLAND_DISPLAY:-} ]]; then
    export QT_QPA_PLATFORM=${QT_QPA_PLATFORM:-offscreen}
  fi
  local status=0
  ctest --test-dir build --output-on-failure -j2 "$@" || status=$?
  packaging/skipped_tests.sh build
  return $status
}

run_fuzzers() {
  cmake --preset fuzz
  cmake --build build-fuzz --parallel "$(jobs)" --target run_all_fuzzers
}

print_times() {
  printf '%s\n' "" "times:" "${times[@]}"
}

main() {
  local action=${1:-}
  shift || true
  if [[ ${1:-} == -- ]]; then shift; fi
  cd "$root"
  case $action in
    build | demo | test)
      stage packages install_packages "${packages[@]}"
      build
      ;;
    fuzz) stage packages install_packages "${packages[@]}" "${fuzz_packages[@]}" ;;
    *) usage ;;
  esac
  case $action in
    build) print_times ;;
    demo)
      stage demo run_demo "$@"
      print_times
      ;;
    test) # ctest says its own time, and its summary is the end of the output
      print_times
      printf '\n== test ==\n'
      run_tests "$@"
      ;;
    fuzz)
      stage fuzz run_fuzzers
      print_times
      ;;
  esac
}

main "$@"
