"""Work in forked processes: several at once, each with a time limit, all ended together."""
import contextlib
import json
import os
import signal
import time

STAGE = {"path": ""}  # of this process, where it says how far it is


def say_stage(text):
    """Notes what begins now, so that who finds this process dead knows where it was."""
    if STAGE["path"]:
        with open(STAGE["path"], "w") as file:
            file.write(text)


def die_with_parent():
    """Linux only; elsewhere what is left behind ends by its own limit."""
    with contextlib.suppress(Exception):
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class Task:
    """One piece of work: `work()` returns what json can write."""

    def __init__(self, name, work, limit):
        self.name, self.work, self.limit = name, work, limit
        self.pid = 0
        self.started = 0.0
        self.base = ""

    def text_of(self, ending, most=3000):
        with contextlib.suppress(OSError), open(self.base + ending, errors="replace") as file:
            return file.read()[-most:]
        return ""


class Pool:
    """At most `jobs` processes at a time. It forks from the thread that calls run(): memory is shared, nothing is sent."""

    def __init__(self, jobs, folder):
        self.jobs, self.folder = max(1, jobs), folder
        self.count = 0
        self.working = []
        os.makedirs(folder, exist_ok=True)

    def run(self, tasks, done=None):
        """The results of all tasks, in their order; None for those that were not reached. `done(index, result)` may return
        True, which ends the others. Results of processes that die are {"status": "crash" or "hang", ...}."""
        waiting = list(enumerate(tasks))
        results = [None] * len(waiting)
        try:
            while waiting or self.working:
                while waiting and len(self.working) < self.jobs:
                    index, task = waiting.pop(0)
                    self.start(task)
                    self.working.append((index, task))
                for index, result in self.finished():
                    results[index] = result
                    if done is not None and done(index, result):
                        return results
                time.sleep(0.005)
        finally:
            self.end_all()
        return results

    def start(self, task):
        self.count += 1
        task.base = os.path.join(self.folder, "task_%d" % self.count)
        task.started = time.monotonic()
        task.pid = os.fork()
        if task.pid == 0:
            self.be_child(task)
        with contextlib.suppress(OSError):
            os.setpgid(task.pid, task.pid)

    @staticmethod
    def be_child(task):
        code = 70
        try:
            os.setpgid(0, 0)
            die_with_parent()
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # who forked it ends it
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            out = os.open(task.base + ".log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            null = os.open(os.devnull, os.O_RDONLY)
            os.dup2(null, 0)
            os.dup2(out, 1)
            os.dup2(out, 2)
            STAGE["path"] = task.base + ".stage"
            result = task.work()
            with open(task.base + ".part", "w") as file:
                json.dump(result, file, default=str)
            os.replace(task.base + ".part", task.base + ".json")
            code = 0
        except BaseException:
            import traceback

            with contextlib.suppress(Exception):
                os.write(2, traceback.format_exc().encode())
        finally:
            os._exit(code)

    def finished(self):
        """(index, result) of the tasks that have ended, or whose time is over."""
        for index, task in list(self.working):
            pid, status = os.waitpid(task.pid, os.WNOHANG)
            late = time.monotonic() - task.started > task.limit
            if pid == 0 and not late:
                continue
            if pid == 0:
                self.end(task)
            self.working.remove((index, task))
            self.kill_group(task)
            yield index, self.result_of(task, status, pid == 0)
            self.clean(task)

    @staticmethod
    def result_of(task, status, late):
        seconds = round(time.monotonic() - task.started, 2)
        if late:
            return {"status": "hang", "limit": task.limit, "stage": task.text_of(".stage"), "seconds": seconds,
                    "tail": task.text_of(".log")}
        with contextlib.suppress(OSError, ValueError), open(task.base + ".json") as file:
            return dict(json.load(file), seconds=seconds)
        number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        name = signal.Signals(number).name if number in set(signal.Signals) else "exit %d" % os.waitstatus_to_exitcode(status)
        return {"status": "crash", "signal": name, "stage": task.text_of(".stage"), "tail": task.text_of(".log"),
                "seconds": seconds}

    def end(self, task):
        self.kill_group(task)
        with contextlib.suppress(OSError):
            os.waitpid(task.pid, 0)

    @staticmethod
    def kill_group(task):
        with contextlib.suppress(OSError):
            os.killpg(task.pid, signal.SIGKILL)

    def end_all(self):
        for _, task in self.working:
            self.end(task)
            self.clean(task)
        self.working = []

    @staticmethod
    def clean(task):
        for ending in (".json", ".log", ".stage", ".part"):
            with contextlib.suppress(OSError):
                os.unlink(task.base + ending)
