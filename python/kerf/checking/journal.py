"""Answers of earlier trials, so that a check that was stopped goes on where it was."""
import contextlib
import hashlib
import json
import os


def key_of(job, version):
    """The same for the same question to the same PyTorch."""
    about = {k: v for k, v in job.items() if k not in ("name", "path", "values", "folder")}
    about["source"] = job.get("source") or text_at(job["path"])
    about["stored"] = hash_of(job.get("values"))
    return hashlib.sha256(json.dumps([about, version], sort_keys=True, default=str).encode()).hexdigest()


def text_at(path):
    with open(path) as file:
        return file.read()


def hash_of(path):
    if not path:
        return ""
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


class Journal:
    """A file of JSON lines. Half a line at its end, of a process that was ended, is left out."""

    def __init__(self, path):
        self.path, self.known = path, {}
        with contextlib.suppress(OSError), open(path) as file:
            for line in file:
                with contextlib.suppress(ValueError):
                    entry = json.loads(line)
                    self.known[entry["key"]] = entry["result"]
        self.reused = 0

    def get(self, key):
        found = self.known.get(key)
        self.reused += found is not None
        return found

    def put(self, key, result):
        self.known[key] = result
        with open(self.path, "a") as file:
            file.write(json.dumps({"key": key, "result": result}, default=str) + "\n")
