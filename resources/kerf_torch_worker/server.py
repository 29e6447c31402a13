# Server: takes queries from a socket, starts them, looks after them.
import contextlib
import json
import os
import select
import signal
import socket
import time

from .processes import Resident, Task, private_bytes, signal_name, tail_of
from .protocol import receive, send_line
from .shared import STATE, STORAGES, end_group

MOST_COMPILERS = 4  # at the same time for one query: what they do behind a kernel that is refused is for nothing
GREETING_SECONDS, FIRST_QUERY_SECONDS = 1.0, 5.0  # that are waited for each before warming


class Server:
    def __init__(self, path, jobs, memory):
        self.folder = os.path.dirname(path)
        self.jobs, self.memory = jobs, memory
        self.listener = socket.socket(socket.AF_UNIX)
        self.bind(path)
        self.listener.listen(64)
        self.waiting, self.working, self.residents = [], [], []
        self.count = 0
        self.is_greeted = False
        self.next_look = 0.0

    def bind(self, path):
        """The address of a socket has room for 107 characters: one in a deep folder is made by the folder's descriptor."""
        if len(os.fsencode(path)) < 108:
            return self.listener.bind(path)
        folder = os.open(self.folder, os.O_PATH | os.O_DIRECTORY)
        try:
            self.listener.bind("/proc/self/fd/%d/%s" % (folder, os.path.basename(path)))
        finally:
            os.close(folder)

    def files(self):
        """What a fork must not keep open: the other queries' connections would not end with them."""
        found = [self.listener.fileno()]
        for task in self.waiting + self.working:
            found.append(task.connection.fileno())
            if task.answers is not None:
                found.append(task.answers)
        found += [resident.near.fileno() for resident in self.residents]
        return found

    def start_first(self):
        """The first query is about the whole graph and takes longest: it begins in a fork of a process that is not warm
        yet. What warming writes to disk serves it, too."""
        if STATE["device"] != "cpu":
            return
        began = time.monotonic()
        while not self.working:
            wait = FIRST_QUERY_SECONDS if self.is_greeted else GREETING_SECONDS
            if time.monotonic() - began > wait:
                break
            self.wait()
            self.start_tasks()

    def serve(self):
        while True:
            self.start_tasks()
            self.wait()
            self.look_after()

    def wait(self):
        reading = [self.listener] + [t.answers for t in self.working if t.answers is not None]
        reading += [r.near for r in self.residents if r.task is not None]
        reading += [t.connection for t in self.waiting + self.working]
        ready, _, _ = select.select(reading, [], [], 0.05)
        for file in ready:
            if file is self.listener:
                self.accept()
        for task in list(self.working):
            if task.answers in ready and task.read():
                self.collect(task)
        for resident in list(self.residents):
            if resident.task is not None and resident.near in ready:
                self.collect_resident(resident)
        for task in list(self.waiting + self.working):
            if task.connection in ready:
                self.drop(task)

    def accept(self):
        connection, _ = self.listener.accept()
        try:
            query = receive(connection, STORAGES)
        except (OSError, ValueError, KeyError) as problem:
            send_line(connection, {"verdict": "untestable", "message": "the worker: %s" % problem})
            query = None
        if query is None:
            connection.close()
        elif query["op"] == "hello":
            send_line(connection, STATE)
            connection.close()
            self.is_greeted = True
        else:
            self.count += 1
            self.waiting.append(Task(connection, query, self.folder, self.count))

    def start_tasks(self):
        while self.waiting and len(self.working) < self.jobs:
            task = self.waiting.pop(0)
            if STATE["device"] == "cuda":
                self.start_resident(task)
            else:
                cores = STATE.get("threads", 1) // (len(self.working) + 1)
                task.query["compilers"] = max(1, min(MOST_COMPILERS, cores))
                task.query["yields"] = any(task.is_small_beside(other) for other in self.working)
                task.fork(self.files() + [task.connection.fileno()])
            self.working.append(task)

    def start_resident(self, task):
        free = [resident for resident in self.residents if resident.task is None]
        resident = free[0] if free else Resident(self.files() + [task.connection.fileno()])
        if not free:
            self.residents.append(resident)
        resident.take(task)

    def collect(self, task):
        _, status = os.waitpid(task.pid, 0)
        end_group(task.pid)  # what it left behind
        self.working.remove(task)
        try:
            found = json.loads(task.text)
        except ValueError:
            found = self.death(task, status)
        task.finish(found)

    def death(self, task, status):
        code = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        how = signal_name(code) if code else "exit %d" % os.WEXITSTATUS(status)
        return {"verdict": "fails", "phase": "crash", "exception": how, "message": tail_of(task.log)}

    def collect_resident(self, resident):
        task, found = resident.task, resident.answer()
        resident.task = None
        self.working.remove(task)
        if found is None:
            _, status = os.waitpid(resident.pid, 0)
            found = self.death(task, status)
            resident.near.close()
            self.residents.remove(resident)
        elif resident.is_spent():
            resident.end()
            self.residents.remove(resident)
        task.finish(found)

    def stop(self, task):
        """Ends the process of a task; a resident with it."""
        self.working.remove(task)
        end_group(task.pid)
        with contextlib.suppress(OSError):
            os.waitpid(task.pid, 0)
        for resident in list(self.residents):
            if resident.task is task:
                resident.near.close()
                self.residents.remove(resident)

    def drop(self, task):
        """Nobody waits for the answer any more: a query's connection only becomes readable by being closed."""
        if task in self.working:
            self.stop(task)
        elif task in self.waiting:
            self.waiting.remove(task)
        else:
            return
        task.close()

    def look_after(self):
        now = time.monotonic()
        for task in list(self.working):
            if now > task.deadline:
                self.ask_where(task)
                self.stop(task)
                task.finish({"verdict": "fails", "phase": "hang", "message": tail_of(task.log)})
        if self.memory > 0 and now > self.next_look and self.working:
            self.look_at_memory()
            self.next_look = time.monotonic() + 4 * (time.monotonic() - now) + 0.05

    @staticmethod
    def ask_where(task):
        """Has a query that hangs write its Python frames behind what it printed."""
        if STATE["device"] == "cpu":
            with contextlib.suppress(OSError):
                os.kill(task.pid, signal.SIGUSR1)
                time.sleep(0.1)

    def look_at_memory(self):
        used = {task.pid: private_bytes(task.pid) for task in self.working}
        if sum(used.values()) < self.memory:
            return
        largest = max(self.working, key=lambda task: used[task.pid])
        self.stop(largest)
        largest.finish({"verdict": "fails", "phase": "memory limit", "message": "%d bytes" % used[largest.pid]})
