#!/usr/bin/env bash
# Checks the subjects of commits: at most 72 characters, no full stop at the end, an empty line behind:
#   packaging/check_subjects.sh BASE..HEAD     the commits of a range
#   packaging/check_subjects.sh --file FILE    a message that is being written (packaging/hooks/commit-msg)
set -euo pipefail

readonly longest=72
failures=0

# check SUBJECT SECOND_LINE WHERE
check() {
  local subject=$1 second=$2 where=$3
  complain() {
    echo "$where: $1: $subject" >&2
    failures=$((failures + 1))
  }
  case $subject in 'fixup! '* | 'squash! '* | 'Merge '* | 'Revert '*) return ;; esac
  [[ -n $subject ]] || complain 'the subject is empty'
  [[ ${#subject} -le $longest ]] || complain "the subject has ${#subject} characters, more than $longest"
  [[ $subject != *. ]] || complain 'the subject ends with a full stop'
  [[ -z $second ]] || complain 'an empty line must follow the subject'
}

# A range: subject and second line of each commit as git stores them.
check_range() {
  local commit message subject second
  for commit in $(git rev-list --no-merges "$1"); do
    message=$(git log -1 --format=%B "$commit")
    { IFS= read -r subject; IFS= read -r second || true; } <<<"$message"
    check "$subject" "$second" "${commit:0:12}"
  done
}

check_file() {
  local subject='' second=''
  { IFS= read -r subject || true; IFS= read -r second || true; } < <(grep -v '^#' "$1")
  check "$subject" "$second" 'commit message'
}

case ${1:-} in
  --file) check_file "${2:?a file}" ;;
  '' | -*)
    sed -n '2,4s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
  *)
    git rev-list --max-count=1 "$1" >/dev/null
    check_range "$1"
    ;;
esac
[[ $failures -eq 0 ]]
