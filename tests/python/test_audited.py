"""What `kerf audit` says of a program's output code, in the report of a check."""
import json
import os
import stat
import tempfile
import unittest
from unittest import mock

from . import package  # noqa: F401
from kerf.checking.audited import audit_lines, audit_of, told
from kerf.checking.report import issue, page, summary

CLAIM = {"kind": "inside", "verdict": "refuted", "line": 7, "statement": "tl.load(in_ptr0 + (1 + x0))", "other_line": 21,
         "other_statement": "triton_poi_0.run(buf<0>)", "subject": "in_ptr0", "reason": "it reaches element 8", "example": "element 8"}
UNKNOWN = dict(CLAIM, verdict="not known")
ANSWER = {"proved": 12, "refuted": 1, "not_known": 1, "programs": [{"claims": [CLAIM, UNKNOWN]}]}
OK = {"status": "ok", "differences": [], "notes": []}


class Progress:
    @staticmethod
    def left():
        return 30.0


class Torch:
    def __init__(self, folder):
        self.folder = folder


class Session:
    """Runs the work here."""

    progress = Progress()

    def __init__(self, folder):
        self.torch = Torch(folder)

    @staticmethod
    def once(work):
        return work()


class AuditTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def kerf(self, body):
        """A program in the place of kerf."""
        path = os.path.join(self.folder.name, "kerf")
        with open(path, "w") as file:
            file.write("#!/bin/sh\n" + body)
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
        patch = mock.patch.dict(os.environ, {"KERF_PROGRAM": path})
        patch.start()
        self.addCleanup(patch.stop)

    def test_counts_and_refuted_claims_are_kept(self):
        self.kerf("test \"$1\" = audit && test \"$3\" = --json && cat <<'X'\n%s\nX\nexit 1\n" % json.dumps(ANSWER))
        audit = told(self.folder.name, 20)
        self.assertEqual((audit["proved"], audit["refuted"], audit["not_known"]), (12, 1, 1))
        self.assertEqual(audit["claims"], [CLAIM])

    def test_the_log_of_one_compilation_is_audited(self):
        self.kerf("ls \"$2\" | grep -q log && echo '%s'\n" % json.dumps(ANSWER))
        jobs = []

        def work(job):
            jobs.append(job)
            open(os.path.join(job["folder"], "dedicated_log_torch_trace_x.log"), "w").close()
            return {"status": "tested"}

        audit = audit_of(Session(self.folder.name), {"path": "p.py"}, work)
        self.assertEqual(audit["proved"], 12)
        self.assertEqual(jobs[0]["path"], "p.py")
        self.assertFalse(os.path.exists(jobs[0]["folder"]))

    def test_problems_are_said_and_end_nothing(self):
        session = Session(self.folder.name)
        self.assertEqual(audit_of(session, {}, lambda job: {"status": "tested"}), {"problem": "nothing was compiled"})
        self.assertEqual(audit_of(session, {}, lambda job: {"error": {"message": "no log"}}), {"problem": "no log"})
        self.kerf("echo no json; exit 2\n")
        self.assertIn("problem", told(self.folder.name, 20))
        self.kerf("echo '{\"error\": {\"message\": \"it holds no output code\"}}'; exit 2\n")
        self.assertEqual(told(self.folder.name, 20), {"problem": "it holds no output code"})
        self.kerf("sleep 30\n")
        self.assertIn("problem", told(self.folder.name, 0.2))

    def test_report_shows_the_claim_and_both_statements(self):
        audit = {"proved": 12, "refuted": 1, "not_known": 1, "claims": [CLAIM]}
        self.assertEqual(audit_lines({}), [])
        self.assertEqual(audit_lines({"audit": {"problem": "no\nlog"}}), ["output code  not audited: no log"])
        lines = audit_lines({"audit": audit})
        self.assertEqual(lines[0], "output code  12 claims proved, 1 refuted, 1 not known")
        self.assertIn("    line 21: triton_poi_0.run(buf<0>)", lines)
        report = {"program": "p.py", "status": "no difference", "backends": {"inductor": OK}, "notes": [], "seconds": 1.0, "tests": 3,
                  "audit": audit}
        self.assertIn("12 claims proved, 1 refuted", summary(report, "p-check"))
        self.assertIn("triton_poi_0.run(buf&lt;0&gt;)", page(report))
        report.update(status="found", level="inductor", verdict=dict(OK, status="different", differences=[
            {"what": "out0", "group": "value", "detail": "x", "fp64": True}]))
        with mock.patch("kerf.checking.report.environment", lambda: ""):
            self.assertIn("it reaches element 8", issue(report))
            report["audit"] = dict(audit, refuted=0, claims=[])
            self.assertNotIn("read without running it", issue(report))


if __name__ == "__main__":
    unittest.main()
