#!/usr/bin/env bash
# Installs the files of a release into fresh systems, and tries them there: packaging/test_packages.sh [FOLDER] [SUITE…]
#   FOLDER  what `packaging/bootstrap.sh package` wrote (out)
#   SUITE   Debian suites for the .deb files (bookworm)
# Needs root, debootstrap and a mirror (KERF_MIRROR, or where apt gets this machine's packages); takes minutes, so it is no part of
# ctest. Ends with 0 where all was right.
set -euo pipefail

readonly files=$(realpath "${1:-out}")
shift || true
readonly suites=("${@:-bookworm}")
mirror=${KERF_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Component: main' | head -1)}
readonly mirror
work=$(mktemp -d)
readonly work
failed=0

cleanup() {
  for place in "$work"/*/proc; do mountpoint -q "$place" && umount "$place"; done
  rm -rf --one-file-system "$work"
}
trap cleanup EXIT

# one_of PATTERN: the one file that fits.
one_of() {
  local found
  mapfile -t found < <(compgen -G "$files/$1" || true)
  [[ ${#found[@]} -eq 1 ]] || { echo "$0: ${#found[@]} files fit $files/$1" >&2; exit 2; }
  printf '%s\n' "${found[0]}"
}

# expect WHAT TEXT COMMAND…: whether the command succeeds in the system, and prints the text.
expect() {
  local what=$1 text=$2 output status=0
  shift 2
  output=$(chroot "$root" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/root LC_ALL=C.UTF-8 QT_QPA_PLATFORM=offscreen "$@" 2>&1) || status=$?
  if [[ $status -eq 0 && $output == *"$text"* ]]; then
    echo "  good: $what"
  else
    echo "  BAD:  $what (status $status): ${output:0:600}"
    failed=1
  fi
}

bare_system() {
  root=$work/$2-$1
  echo "== $2 into a fresh $1 =="
  debootstrap --variant=minbase "$1" "$root" "$mirror" > "$work/debootstrap.log" 2>&1 || { tail -5 "$work/debootstrap.log"; exit 3; }
  mount -t proc proc "$root/proc"
  cp /etc/resolv.conf "$root/etc/resolv.conf"
}

install_in() {
  chroot "$root" /usr/bin/env DEBIAN_FRONTEND=noninteractive apt-get install -y -q "$@" > "$work/apt.log" 2>&1 ||
    { tail -8 "$work/apt.log"; failed=1; return 1; }
}

# What every kerf must do, by the path of the program.
expect_kerf() {
  local sample=$2
  expect "says its version" "store schema" "$1" --version
  expect "says what works" '"good": true' "$1" doctor --json
  expect "shows a graph" "placeholder" "$1" show "$sample"
  expect "runs a graph as machine code" "" "$1" run "$sample" --backend llvm
  printf 'import torch\ntorch.compile(lambda x: torch.relu(x))(torch.ones(2))\n' > "$root/opt/program.py"
  expect "captures a program" "relu" "$1" capture /opt/program.py
  expect "finds a planted fault" "relu" bash -c "$1 compare $sample --plant relu=accuracy --nodes; [ \$? = 1 ]"
}

test_debs() {
  bare_system "$1" deb
  cp "$(one_of 'kerf_*.deb')" "$root/kerf.deb"
  cp "$(one_of 'kerf-studio_*.deb')" "$root/kerf-studio.deb"
  # Its documents and pages, which a small system leaves out, are looked at here.
  rm -f "$root/etc/dpkg/dpkg.cfg.d/"*docker*
  install_in --no-install-recommends /kerf.deb man-db bash-completion zsh fish || return 0
  local sample=/usr/share/kerf/samples/mlp8/minifier_launcher.py
  expect_kerf kerf $sample
  expect "has a manual page" "minif" bash -c 'man -P cat kerf-minify | head -40'
  expect "a shell without a window has no Qt" "none" bash -c 'ldd /usr/bin/kerf | grep -i qt || echo none'
  expect "bash completes" "minify" bash -c '. /usr/share/bash-completion/completions/kerf; COMP_WORDS=(kerf mini); COMP_CWORD=1; _kerf; echo "${COMPREPLY[@]}"'
  expect "zsh reads its completions" "" zsh -n /usr/share/zsh/vendor-completions/_kerf
  expect "fish completes" "minify" fish -c 'complete -C "kerf mini"'
  install_in --no-install-recommends /kerf-studio.deb desktop-file-utils shared-mime-info appstream || return 0
  expect "the window draws a picture" "" kerf-studio $sample --picture /tmp/graph.png
  expect "the picture is there" "PNG" head -c 4 /tmp/graph.png
  expect "the desktop entry is valid" "" desktop-file-validate /usr/share/applications/kerf-studio.desktop
  expect "AppStream takes the description" "" appstreamcli validate --no-net /usr/share/metainfo/org.kerf.Studio.metainfo.xml
  expect "file types are known" "pytorch.pt2" bash -c 'update-mime-database /usr/share/mime && grep -h pt2 /usr/share/mime/globs2'
  expect "an icon is there" "svg" head -c 200 /usr/share/icons/hicolor/scalable/apps/kerf.svg
  install_removed
}

install_removed() {
  chroot "$root" apt-get purge -y -q kerf kerf-studio > "$work/apt.log" 2>&1 || { tail -5 "$work/apt.log"; failed=1; }
  expect "nothing is left behind" "none" bash -c 'find / -xdev -name "*kerf*" -path "/usr/*" | grep . || echo none'
}

test_tarball() {
  bare_system "$1" tarball
  tar -C "$root/opt" -xf "$(one_of 'kerf-*-linux-*.tar.xz')"
  cp -r "$(dirname "$0")/../resources/samples/mlp8" "$root/opt/"
  expect_kerf "/opt/$(basename "$root"/opt/kerf-*)/kerf" /opt/mlp8/minifier_launcher.py
}

[[ $(id -u) -eq 0 ]] || { echo "$0: needs root" >&2; exit 2; }
for suite in "${suites[@]}"; do
  test_debs "$suite"
  if compgen -G "$files/kerf-*-linux-*.tar.xz" > /dev/null; then test_tarball "$suite"; else echo "no tarball to test"; fi
done
exit $failed
