"""Work in processes: results, deaths, time limits, early ends, and nothing left behind."""
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from . import package
from kerf.checking.pool import Pool, Task, say_stage


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open("/proc/%d/stat" % pid) as file:
        return file.read().rsplit(")", 1)[1].split()[0] != "Z"


class PoolTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.pool = Pool(3, self.folder.name)

    def run_one(self, work, limit=20):
        return self.pool.run([Task("t", work, limit)])[0]

    def test_results_are_in_the_order_of_the_tasks(self):
        results = self.pool.run([Task("t", lambda n=n: {"status": "tested", "n": n}, 20) for n in range(7)])
        self.assertEqual([r["n"] for r in results], list(range(7)))

    def test_a_signal_is_a_crash_with_its_stage(self):
        def work():
            say_stage("inductor")
            print("last words", flush=True)
            os.kill(os.getpid(), signal.SIGSEGV)

        found = self.run_one(work)
        self.assertEqual((found["status"], found["signal"], found["stage"]), ("crash", "SIGSEGV", "inductor"))
        self.assertIn("last words", found["tail"])

    def test_an_exception_is_a_crash_with_its_text(self):
        found = self.run_one(lambda: {}["absent"])
        self.assertEqual(found["status"], "crash")
        self.assertIn("KeyError", found["tail"])

    def test_what_takes_too_long_hangs_and_ends_with_its_children(self):
        note = os.path.join(self.folder.name, "child")

        def work():
            child = subprocess.Popen(["sleep", "60"])
            with open(note, "w") as file:
                file.write(str(child.pid))
            time.sleep(60)

        began = time.monotonic()
        found = self.run_one(work, limit=1)
        self.assertEqual((found["status"], found["limit"]), ("hang", 1))
        self.assertLess(time.monotonic() - began, 15)
        with open(note) as file:
            child = int(file.read())
        time.sleep(0.2)
        self.assertFalse(os.path.exists("/proc/%d" % child) and alive(child))

    def test_done_ends_the_others(self):
        tasks = [Task("t", lambda: {"status": "tested"}, 30), Task("t", lambda: time.sleep(60), 60)]
        began = time.monotonic()
        results = self.pool.run(tasks, lambda index, result: index == 0)
        self.assertEqual(results[0]["status"], "tested")
        self.assertIsNone(results[1])
        self.assertLess(time.monotonic() - began, 15)

    def test_no_files_stay(self):
        self.run_one(lambda: {"status": "tested"})
        self.assertEqual(os.listdir(self.folder.name), [])

    def test_ctrl_c_ends_everything(self):
        code = ("import sys, time; sys.path.insert(0, %r)\n"
                "from kerf.checking.pool import Pool, Task\n"
                "print('ready', flush=True)\n"
                "Pool(2, %r).run([Task('t', lambda: time.sleep(61), 99)])\n" % (os.path.join(package.ROOT, "python"), self.folder.name))
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        process.stdout.readline()
        time.sleep(0.5)
        with open("/proc/%d/task/%d/children" % (process.pid, process.pid)) as file:
            children = [int(pid) for pid in file.read().split()]
        self.assertTrue(children)
        process.send_signal(signal.SIGINT)
        process.wait(15)
        process.stdout.close()
        for pid in children:
            self.assertFalse(os.path.exists("/proc/%d" % pid) and alive(pid))


if __name__ == "__main__":
    unittest.main()
