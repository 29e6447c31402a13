"""What is recorded and where to, without torch; values with it."""
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

from . import package
from kerf.recording import about, main, place, recorder
from kerf.recording.settings import Settings, from_environment

try:
    import torch

    torch.tensor  # a folder of that name is no torch
except (ImportError, AttributeError):
    torch = None

START = os.path.join(package.ROOT, "python", "kerf", "recording", "start")


class SettingsTest(unittest.TestCase):
    def test_they_travel_in_the_environment(self):
        settings = Settings("run", "stats:mm*", 3)
        again = from_environment(settings.variables())
        self.assertEqual((again.folder, again.kind, again.pattern, again.calls), (os.path.abspath("run"), "stats", "mm*", 3))
        self.assertTrue(again.wants("mm_1") and not again.wants("add"))
        self.assertIsNone(from_environment({}))

    def test_wrong_ones_are_refused(self):
        for values, calls in (("some", 2), ("", 2), ("hash", 0)):
            with self.assertRaises(ValueError):
                Settings("run", values, calls)

    def test_secrets_stay_in_the_environment(self):
        given = {"TORCH_LOGS": "+dynamo", "TORCH_API_TOKEN": "x", "HOME": "/home/u", "AWS_SECRET_ACCESS_KEY": "x", "RANK": "3"}
        self.assertEqual(about.allowed(given), {"TORCH_LOGS": "+dynamo", "RANK": "3"})


class FolderTest(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.base = os.path.join(made.name, "run")

    def choose(self, rank):
        with mock.patch.object(place, "rank", lambda: rank):
            return os.path.relpath(place.choose(self.base), self.base)

    def test_ranks_and_further_processes_have_their_own(self):
        self.assertEqual(self.choose(None), ".")
        self.assertEqual(self.choose(None), "process_%d" % os.getpid())
        self.assertEqual(self.choose(2), "rank_2")
        self.assertEqual(self.choose(2), "rank_2_process_%d" % os.getpid())

    def test_what_is_said_names_the_first_node(self):
        folder = os.path.join(self.base, self.choose(1))
        first = {"graph": "0_0-forward", "call": 0, "node": "mm_3", "detail": " (2 elements, largest difference 0.5)"}
        place.write_json(os.path.join(folder, "about.json"), {})
        place.write_json(os.path.join(folder, "summary.json"),
                         {"graphs": 1, "calls": 1, "nodes": 9, "values": "stats", "differing": [first], "notes": ["told"]})
        out = io.StringIO()
        self.assertEqual(recorder.said(self.base, out), 1)
        for words in ("rank_1", "9 nodes", "0_0-forward, call 0: mm_3 is the first", "note: told"):
            self.assertIn(words, out.getvalue())


class CommandTest(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = made.name

    def record(self, *arguments, **files):
        for name, text in files.items():
            with open(os.path.join(self.folder, name + ".py"), "w") as file:
                file.write(text)
        command = [sys.executable, "-B", os.path.join(package.ROOT, "python", "kerf", "__main__.py"), "record", *arguments]
        env = dict(os.environ, PYTHONPATH=self.folder)
        return subprocess.run(command, cwd=self.folder, env=env, capture_output=True, text=True, timeout=60)

    def test_the_commands_code_and_its_own_start_are_kept(self):
        done = self.record("--", sys.executable, "-c", "import sys, own; print(own.seen); sys.exit(7)",
                           sitecustomize="import own\nown.seen = 'started'\n", own="seen = ''\n")
        self.assertEqual((done.returncode, done.stdout), (7, "started\n"))
        self.assertIn("nothing was compiled", done.stderr)

    def test_a_torch_that_cannot_be_recorded_is_imported_all_the_same(self):
        done = self.record("--", sys.executable, "-c", "import torch; print(torch.here)", torch="here = 'mine'\n")
        self.assertEqual((done.returncode, done.stdout), (0, "mine\n"))
        self.assertIn("kerf record: ", done.stderr)

    def test_wrong_calls(self):
        self.assertEqual(self.record("--values", "all", "--", "true").returncode, 2)
        self.assertEqual(self.record("--", "/there/is/no/such").returncode, 2)
        self.assertEqual(self.record().returncode, 2)

    def test_the_users_path_is_kept(self):
        with mock.patch.dict(os.environ, PYTHONPATH="/own"):
            self.assertEqual(main.environment(Settings("run"))["PYTHONPATH"], START + os.pathsep + "/own")


@unittest.skipIf(torch is None, "there is no torch")
class ValuesTest(unittest.TestCase):
    def test_checksums_tell_order_size_and_type(self):
        from kerf.recording.digest import checksum

        seen = {int(checksum(t)) for t in (torch.tensor([1.0, 2.0]), torch.tensor([2.0, 1.0]), torch.tensor([1.0, 2.0, 0.5]),
                                           torch.tensor([1, 2]), torch.tensor([-0.0, 1.0]), torch.tensor([0.0, 1.0]))}
        self.assertEqual(len(seen), 6)
        whole = torch.arange(12.0).reshape(3, 4)
        self.assertEqual(int(checksum(whole.t())), int(checksum(whole.t().contiguous())))

    def test_differences_count_what_is_beyond(self):
        from kerf.recording.digest import difference

        nan, inf = float("nan"), float("inf")
        gaps = difference(torch.tensor([1.0, nan, inf, 2.0]), torch.tensor([1.0 + 1e-7, nan, inf, 3.0])).tolist()
        self.assertEqual((gaps[0], gaps[2]), (1.0, 1.0))
        self.assertEqual(difference(torch.tensor([nan]), torch.tensor([1.0])).tolist()[2], 1.0)

    def test_tensors_are_read_back(self):
        from kerf.recording import tensors_file

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t.safetensors")
            left = tensors_file.write(path, {"a": torch.arange(3).t(), "b": torch.zeros(0), "c": torch.zeros(2, dtype=torch.complex128)})
            with open(path, "rb") as file:
                data = file.read()
        size = int.from_bytes(data[:8], "little")
        header = json.loads(data[8:8 + size])
        self.assertEqual(left, ["c"])
        self.assertEqual(header["a"], {"dtype": "I64", "shape": [3], "data_offsets": [0, 24]})
        self.assertEqual(data[8 + size:], b"".join(i.to_bytes(8, "little") for i in range(3)))

    def test_a_run_is_recorded_and_settings_come_back(self):
        import kerf

        before = torch._inductor.config.generate_intermediate_hooks
        with tempfile.TemporaryDirectory() as folder, kerf.record(os.path.join(folder, "run"), values="stats", calls=1) as recording:
            call = torch.compile(lambda x: (x.sin() + 1).sum(0), backend="inductor")
            call(torch.ones(4, 3)), call(torch.ones(4, 3))
            recording.end()
            with open(os.path.join(recording.place, "values.jsonl")) as file:
                rows = [json.loads(line) for line in file]
        self.assertEqual(torch._inductor.config.generate_intermediate_hooks, before)
        named = [r for r in rows if "node" in r]
        self.assertTrue(named and all(r["same"] and r["call"] == 0 for r in named), rows)


if __name__ == "__main__":
    unittest.main()
