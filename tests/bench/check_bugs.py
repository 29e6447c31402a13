#!/usr/bin/env python3
"""Runs `kerf check` over a folder of programs with known faults, and says what it found beside what is expected.

    python check_bugs.py FOLDER [--package DIR] [--at-once 4] [--jobs 3] [--time 90s] [--only 004,018] [--out DIR]

FOLDER has NNN_name.py and expected.json: for each program its kind and the first backend that fails.
"""
import argparse
import concurrent.futures
import glob
import json
import os
import statistics
import subprocess
import sys
import time


def one(path, options):
    """The report of one check, as a dict."""
    name = os.path.basename(path)[:-3]
    folder = os.path.join(options.out, name)
    command = [sys.executable, "-W", "ignore", "-m", "kerf", "check", path, "-o", folder, "--json", "--quiet", "--fresh",
               "--time", options.time, "--jobs", str(options.jobs)]
    env = dict(os.environ, PYTHONPATH=os.path.abspath(options.package), PYTHONDONTWRITEBYTECODE="1")
    began = time.monotonic()
    done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    try:
        report = json.loads(done.stdout.strip().splitlines()[-1])
    except (IndexError, ValueError):
        report = {"status": "broken", "tail": done.stderr[-800:]}
    return dict(report, wall=round(time.monotonic() - began, 1), code=done.returncode)


def line(name, report, expected):
    culprit, minimal = report.get("culprit", {}), report.get("minimal", {})
    wanted = expected["first_failing_backend"]
    mark = "ok" if report.get("level") == wanted else "LEVEL %s" % wanted
    return "%-40s %-13s %-8s %5.0fs %-26s %-16s | %s | %s | %s calls%s | %s" % (
        name, expected["kind"], report["status"][:8], report["wall"], report.get("level"), mark, culprit.get("subsystem", ""),
        (culprit.get("part", "")[:50] + " op " + str(culprit.get("op", ""))), minimal.get("calls"),
        "" if minimal.get("fails_alone", True) else " NOT ALONE", (report.get("tail") or "")[-300:])


def table(reports, expected):
    """The figures of all together."""
    faults = [n for n in reports if expected[n]["first_failing_backend"] and expected[n]["kind"] != "control"]
    controls = [n for n in reports if expected[n]["kind"] == "control"]
    found = [n for n in faults if reports[n]["status"] == "found"]
    right = [n for n in found if reports[n].get("level") == expected[n]["first_failing_backend"]]
    small = [n for n in found if reports[n].get("minimal", {}).get("fails_alone") and reports[n]["minimal"]["calls"] <= 5]
    alarms = [n for n in controls if reports[n]["status"] == "found"]
    return ("%d faults: %d detected, %d with the right level, %d with a script of at most 5 calls that fails alone; "
            "%d controls: %d false alarms; median %.0f s" % (
                len(faults), len(found), len(right), len(small), len(controls), len(alarms),
                statistics.median(r["wall"] for r in reports.values())))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--package", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=14)
    parser.add_argument("--time", default="90s")
    parser.add_argument("--only", default="")
    parser.add_argument("--out", default="check-bugs")
    options = parser.parse_args()
    with open(os.path.join(options.folder, "expected.json")) as file:
        expected = json.load(file)
    paths = sorted(glob.glob(os.path.join(options.folder, "[0-9][0-9][0-9]_*.py")))
    if options.only:
        paths = [p for p in paths if os.path.basename(p).startswith(tuple(options.only.split(",")))]
    reports = {}
    with concurrent.futures.ThreadPoolExecutor(options.at_once) as pool:
        running = {pool.submit(one, path, options): os.path.basename(path)[:-3] for path in paths}
        for future in concurrent.futures.as_completed(running):
            name = running[future]
            reports[name] = future.result()
            print(line(name, reports[name], expected[name]), flush=True)
            with open(os.path.join(options.out, "reports.json"), "w") as file:
                json.dump(reports, file, indent=1)
    print(table(reports, expected))


if __name__ == "__main__":
    main()
