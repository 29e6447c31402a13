#!/usr/bin/env bash
# Builds Kerf on a fresh Debian 12 and shows it at work or tests it:
#   packaging/bootstrap.sh demo [-- ARGUMENTS for kerf demo]   build what the demo runs, and run it
#   packaging/bootstrap.sh test [-- ARGUMENTS for ctest]       build everything, run the tests
#   packaging/bootstrap.sh build                               build everything
#   packaging/bootstrap.sh sanitize [-- ARGUMENTS for ctest]   the tests under AddressSanitizer and UBSan (clang)
#   packaging/bootstrap.sh threads [-- ARGUMENTS for ctest]    the concurrent tests under ThreadSanitizer; types compared
#   packaging/bootstrap.sh fuzz [--fresh [MINUTES]]            fuzz targets: a fixed seed, or new ones for MINUTES (10)
#   packaging/bootstrap.sh all [-- ARGUMENTS for ctest]        threads, sanitize, fuzz and test, one after another
#   packaging/bootstrap.sh format [FILE…]                      say which sources clang-format would change (no build)
#   packaging/bootstrap.sh tidy [BASE]                         clang-tidy on what changed since BASE (origin/main)
#   packaging/bootstrap.sh package                             the files of a release, in ./out
# Installs missing packages (needs root or sudo only then). With CI=true warnings are errors.
# resources/docs/measurements/build.md says how long each takes.
set -euo pipefail

# resources/docs/architecture.md, Dependencies, says what each is for.
readonly engine_packages=(
  cmake ninja-build g++ ccache lld graphviz
  libfmt-dev libspdlog-dev nlohmann-json3-dev libcli11-dev libssl-dev libxxhash-dev zlib1g-dev
  libsqlite3-dev libsqlitecpp-dev libopenblas-dev liblapacke-dev libdnnl-dev llvm-19-dev
  libzstd-dev libboost-dev libutf8proc-dev python3.11-dev libseccomp-dev
)
readonly studio_packages=(qt6-base-dev qt6-svg-dev libgl1 libgl-dev fonts-dejavu-core)
readonly test_packages=(git libgtest-dev libgmock-dev libbenchmark-dev xvfb xauth)
readonly clang_packages=(clang-19 libclang-rt-19-dev)
readonly format_packages=(git clang-format-19)
readonly tidy_packages=(clang-19 clang-tidy-19)
readonly package_packages=(git dpkg-dev file gzip xz-utils)

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly root
times=()

usage() {
  sed -n '2,14s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
}

# stage NAME COMMAND…: runs the command, says how long it took.
stage() {
  local name=$1 began=$SECONDS
  shift
  printf '\n== %s ==\n' "$name"
  "$@"
  times+=("$(printf '%-20s %5d s' "$name" "$((SECONDS - began))")")
}

print_times() {
  printf '%s\n' "" "times:" "${times[@]}"
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

# build PRESET FOLDER [TARGET…] [-D…]: configures and builds.
build() {
  local preset=$1 folder=$2 options=() targets=() argument
  shift 2
  for argument in "$@"; do
    if [[ $argument == -D* ]]; then options+=("$argument"); else targets+=("$argument"); fi
  done
  stage "$preset configure" cmake -G Ninja --preset "$preset" "${options[@]}"
  stage "$preset build" cmake --build "$folder" --parallel "$(jobs)" ${targets[0]+--target "${targets[@]}"}
}

release_preset() {
  if [[ ${CI:-} == true ]]; then echo ci; else echo release; fi
}

has_display() {
  [[ -n ${DISPLAY:-} || -n ${WAYLAND_DISPLAY:-} ]]
}

# Only what the demo runs: the command line, and the window where it can be shown.
build_demo() {
  if has_display; then
    build "$(release_preset)" build kerf kerf-studio -DKERF_STUDIO=ON -DKERF_REQUIRE_STUDIO=ON -DKERF_TESTS=OFF
  else
    build "$(release_preset)" build kerf -DKERF_STUDIO=OFF -DKERF_REQUIRE_STUDIO=OFF -DKERF_TESTS=OFF
  fi
}

build_release() {
  build "$(release_preset)" build -DKERF_STUDIO=ON -DKERF_REQUIRE_STUDIO=ON -DKERF_TESTS=ON
}

# Leaks are looked for by the fuzz targets: the tests' libraries (Qt, LLVM) keep memory on purpose.
build_sanitized() {
  export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0}
  build asan-ubsan build-asan-ubsan -DKERF_REQUIRE_STUDIO=ON
}

# run_tests FOLDER [ARGUMENTS for ctest]: ends with ctest's summary and what was skipped. One test more than there are cores:
# many wait for a process, a clock or a disk.
run_tests() {
  local folder=$1 status=0
  shift
  has_display || export QT_QPA_PLATFORM=${QT_QPA_PLATFORM:-offscreen}
  export OPENBLAS_THREAD_TIMEOUT=${OPENBLAS_THREAD_TIMEOUT:-4}  # else its threads spin 0.1 s in each of some ten thousand processes
  ctest --test-dir "$folder" --output-on-failure -j$(($(jobs) + 1)) "$@" || status=$?
  packaging/skipped_tests.sh "$folder"
  return $status
}

test_release() {
  build_release
  print_times  # ctest says its own time, and its summary is the end of the output
  printf '\n== test ==\n'
  run_tests build "$@"
}

test_sanitized() {
  build_sanitized
  stage 'asan-ubsan test' run_tests build-asan-ubsan "$@"
}

test_threads() {
  export TSAN_OPTIONS=${TSAN_OPTIONS:-die_after_fork=0}
  build tsan build-tsan test_concurrent
  stage 'tsan test' run_tests build-tsan "$@"
}

# fuzz [--fresh [MINUTES]]
fuzz() {
  unset ASAN_OPTIONS
  build asan-ubsan build-asan-ubsan fuzzers -DKERF_REQUIRE_STUDIO=ON
  case ${1:-} in
    '') stage fuzz cmake --build build-asan-ubsan --target run_fuzzers ;;
    --fresh) stage fuzz tests/fuzz/run_fuzzers.sh build-asan-ubsan --fresh "${2:-10}" ;;
    *) usage ;;
  esac
}

# The Debian packages, kerf alone for other Linux machines, the sources, and the checksums of all of them.
package() {
  local version name
  version=$(sed -n 's/^project(kerf VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)
  name=kerf-$version
  rm -rf out
  mkdir -p out
  build release build -DKERF_STUDIO=ON -DKERF_REQUIRE_STUDIO=ON -DKERF_TESTS=OFF -DKERF_BENCH=OFF
  stage package cpack --config build/CPackConfig.cmake -B out
  rm -rf out/_CPack_Packages
  build portable build-portable
  stage bundle packaging/portable_bundle.sh build-portable "out/$name-linux-$(uname -m)"
  tar -C out -cJf "out/$name-linux-$(uname -m).tar.xz" "$name-linux-$(uname -m)"
  rm -rf "out/$name-linux-$(uname -m)"
  git archive --prefix="$name/" HEAD | xz > "out/$name.tar.xz"
  (cd out && sha256sum -- * > SHA256SUMS && cat SHA256SUMS)
}

main() {
  local action=${1:-}
  shift || true
  if [[ ${1:-} == -- ]]; then shift; fi
  cd "$root"
  local wanted=("${engine_packages[@]}")
  case $action in
    format) wanted=("${format_packages[@]}") ;;
    tidy) wanted+=("${studio_packages[@]}" "${test_packages[@]}" "${tidy_packages[@]}") ;;
    package) wanted+=("${studio_packages[@]}" "${package_packages[@]}") ;;
    demo) if has_display; then wanted+=("${studio_packages[@]}"); fi ;;
    threads) wanted+=("${test_packages[@]}") ;;
    build | test) wanted+=("${studio_packages[@]}" "${test_packages[@]}" "${format_packages[@]}") ;;
    sanitize | fuzz) wanted+=("${studio_packages[@]}" "${test_packages[@]}" "${clang_packages[@]}") ;;
    all) wanted+=("${studio_packages[@]}" "${test_packages[@]}" "${format_packages[@]}" "${clang_packages[@]}") ;;
    *) usage ;;
  esac
  stage packages install_packages "${wanted[@]}"
  case $action in
    build) build_release ;;
    demo)
      build_demo
      stage demo build/bin/kerf demo "$@"
      ;;
    test) test_release "$@" ;;
    sanitize) test_sanitized "$@" ;;
    threads) test_threads "$@" ;;
    fuzz) fuzz "$@" ;;
    format) packaging/format.sh --check "$@" ;;
    tidy) stage tidy packaging/tidy.sh "$@" ;;
    package) package ;;
    all)
      test_threads "$@"
      test_sanitized "$@"
      fuzz
      test_release "$@"
      ;;
  esac
  case $action in test | all | format) ;; *) print_times ;; esac
}

main "$@"
