#!/usr/bin/env python3
"""Writes packaging/cmake/unity_groups.txt: which sources are compiled as one (KERF_UNITY).

  packaging/unity_groups.py BUILD          puts sources that the list lacks into groups, and drops those that are gone
  packaging/unity_groups.py BUILD --anew   makes all groups anew

`SOURCE alone` in the list keeps a source out of the groups: it uses names of two libraries without saying whose.

BUILD is a configured build folder: it knows the sources of every target. Targets that it does not have keep their lines.

Files of one group share their unnamed namespaces. This guesses from the text which files declare a name alike and keeps
them apart. A guess may be wrong, so build everything with the new list before you commit it: the compiler names what two
files of one group both declare. The build itself reads the list and no source.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = ROOT / "packaging/cmake/unity_groups.txt"
MOST_BYTES = 60_000  # of text in one group: half a gigabyte of memory, and enough groups for many cores
ALONE = "alone"
OVERLOADS = {"perform"}  # of types that differ, in many files of one folder

HEAD = """\
# Sources that are compiled as one: SOURCE GROUP. What is not here, or says `alone`, is compiled alone.
# packaging/unity_groups.py writes this file. Where the compiler says that two files of a group declare a name alike, give
# one of the two another name, or take its line away.
"""


def names_of(path):
    """What a file declares at the top level, and its tests; and the namespaces that it opens for all that follows."""
    text = re.sub(r"[\];\[]", "(", path.read_text())
    dialect = frozenset(re.findall(r"\nusing namespace [A-Za-z0-9_:]+|\n#include .tests/", text))
    names = {".".join(test) for test in re.findall(r"\nTEST[_A-Z]*\(([A-Za-z0-9_]+), *([A-Za-z0-9_]+)", text)}
    patterns = (
        r"\n(?:template [^\n]*)?(?:class|struct|enum class|enum|union) [A-Za-z0-9_]+",
        r"\n[A-Za-z][^\n(={]*[(={]",
        r"\n[A-Za-z][^\n(={,<]* [A-Za-z0-9_]+,",  # of several in one line
    )
    no_name = r"\n(using )?namespace|\n(class|struct|enum|union) .*[(={]$|\nTEST|::[A-Za-z0-9_~]+ *[(={]$"
    for declaration in (found for pattern in patterns for found in re.findall(pattern, text)):
        name = re.search(r"([A-Za-z0-9_]+)[^A-Za-z0-9_]*$", declaration)
        if name and name[1] not in OVERLOADS and not re.search(no_name, declaration):
            names.add(name[1])
    return names, dialect


class Group:
    def __init__(self):
        self.bytes, self.names, self.dialect = 0, set(), None

    def takes(self, size, names, dialect):
        fits = self.bytes == 0 or self.bytes + size <= MOST_BYTES
        return fits and not names & self.names and self.dialect in (None, dialect)

    def add(self, size, names, dialect):
        self.bytes += size
        self.names |= names
        self.dialect = dialect


def groups_of(target, sources, before):
    """The group of each source: the one before, else the first where it fits."""
    groups, found = {}, {}
    known = [source for source in sources if before.get(source, "").rpartition("_")[0] == target]
    for source in known + [source for source in sources if source not in before]:
        path = ROOT / source
        what = (path.stat().st_size, *names_of(path))
        number = int(before[source].rpartition("_")[2]) if source in known else 0
        while source not in known and number in groups and not groups[number].takes(*what):
            number += 1
        groups.setdefault(number, Group()).add(*what)
        found[source] = f"{target}_{number}"
    return found


def main(build, *options):
    before = dict(line.split() for line in LIST.read_text().splitlines() if not line.startswith("#")) if LIST.exists() else {}
    after = {source: group for source, group in before.items() if (ROOT / source).exists()}
    for listing in sorted(pathlib.Path(build, "unity").glob("*.txt")):
        sources = listing.read_text().split()
        target_before = {s: g for s, g in before.items() if g == ALONE} if "--anew" in options else before
        after.update(groups_of(listing.stem, sources, target_before))
    LIST.write_text(HEAD + "".join(f"{source} {after[source]}\n" for source in sorted(after)))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
