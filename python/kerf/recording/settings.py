"""What is recorded, and how much of it. It travels in environment variables, so that the ranks of a launcher have it too."""
import fnmatch
import os

KINDS = ("none", "hash", "stats", "full")
CALLS = 2  # of each graph whose values are recorded


class Settings:
    """`values`: none, hash, stats or full, and :PATTERN for names of nodes. `calls`: of each graph that are recorded."""

    def __init__(self, folder, values="none", calls=CALLS):
        kind, _, pattern = str(values).partition(":")
        if kind not in KINDS:
            raise ValueError("values are %s, with :PATTERN for names of nodes; not %r" % (", ".join(KINDS), values))
        if int(calls) < 1:
            raise ValueError("at least 1 call is recorded, not %s" % calls)
        self.folder, self.kind, self.pattern, self.calls = os.path.abspath(folder), kind, pattern or "*", int(calls)

    def wants(self, node):
        return fnmatch.fnmatchcase(node, self.pattern)

    def variables(self):
        """The same in the environment of another process."""
        return {"KERF_RECORD": self.folder, "KERF_RECORD_VALUES": "%s:%s" % (self.kind, self.pattern),
                "KERF_RECORD_CALLS": str(self.calls)}


def from_environment(environment=os.environ):
    """Settings, or None where nothing is to be recorded."""
    folder = environment.get("KERF_RECORD", "")
    if not folder:
        return None
    return Settings(folder, environment.get("KERF_RECORD_VALUES", "none"), environment.get("KERF_RECORD_CALLS", CALLS))
