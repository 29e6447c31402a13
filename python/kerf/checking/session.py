"""The whole check: detect, find the graph, reduce, find the culprit, write it down."""
import os
import time

from .audited import audit_of
from .capture import run_capture
from .culprit import calls_in, culprit_of, questions
from .detect import DEAD, MEMORY, first_failing, is_same, signature_of, verdict_of
from .inputs import has_stored, plainer
from .journal import Journal, key_of
from .locals import run_locals
from .pool import Pool, Task
from .reduce import Reduction, prepared, weight_of
from .repro import Alone, script_of
from .trial import BACKENDS, run_trial

LIMIT = 120.0  # seconds for one trial, before it counts as a hang
REDUCING = 0.7  # of the time, until which it is reduced


class Session:
    """One check of one program."""

    def __init__(self, path, folder, progress, torch, jobs, limit=LIMIT):
        self.path, self.folder, self.progress, self.torch, self.jobs = path, folder, progress, torch, jobs
        self.limit = min(limit, max(60.0, progress.budget / 3))
        os.makedirs(folder, exist_ok=True)
        self.pool = Pool(jobs, os.path.join(torch.folder, "pool"))
        self.journal = Journal(os.path.join(folder, "journal.jsonl"))
        self.tests = 0
        self.warm = None
        self.draws = False
        self.caches = False  # whether it fails with the caches of compiled graphs only
        self.report = {"program": path, "backends": {}, "status": "no difference", "notes": []}
        with open(path) as file:
            self.source = file.read()

    # ---- trials

    def trials(self, jobs, done=None, work=run_trial):
        """Results of trials, from the journal where they are known. `done(index, result)` may end the others."""
        results, tasks, places = [None] * len(jobs), [], []
        keys = [key_of(job, self.torch.version) for job in jobs]
        for index, job in enumerate(jobs):
            results[index] = self.journal.get(keys[index])
            if results[index] is None:
                tasks.append(Task("trial", lambda job=job: work(job), self.limit_now()))
                places.append(index)
            elif done is not None and done(index, results[index]):
                return results

        def ended(at, result):
            self.tests += 1
            self.journal.put(keys[places[at]], result)
            results[places[at]] = result
            return done is not None and done(places[at], result)

        if tasks:
            self.pool.run(tasks, ended)
        return results

    def once(self, work):
        """The result of one piece of work in a process of its own."""
        return self.pool.run([Task("once", work, self.limit_now())])[0]

    def limit_now(self):
        return max(5.0, min(self.limit, self.progress.left() + 5.0))

    def job(self, backends, **more):
        extra = {"must_run": True} if not self.report.get("eager_raises") and "source" in more else {}
        if self.caches and "inductor" in backends:
            extra["caches"] = True
        return dict({"path": self.path, "backends": backends, "threads": 2}, **extra, **more)

    # ---- steps

    def detect(self):
        """Verdicts of all backends; Inductor's only where no earlier level fails."""
        self.progress.say("comparing eager mode with the backends %s" % ", ".join(BACKENDS[:-1]))
        results = self.trials([self.job([b], again=b == "eager") for b in BACKENDS[:-1]])
        verdicts = {b: verdict_of(r, b) for b, r in zip(BACKENDS, results)}
        self.again_alone(verdicts)
        self.about(results[0])
        if any(v["status"] == "untestable" for v in verdicts.values()):
            return verdicts
        if first_failing(verdicts)[0] is None:
            self.be_warm()
            self.progress.say("comparing eager mode with inductor")
            results = self.trials([self.job(["inductor"]), self.job(["inductor"], caches=True)])
            verdicts["inductor"], cached = [verdict_of(r, "inductor") for r in results]
            if verdicts["inductor"]["status"] == "ok" and cached["status"] in ("different", "error") + DEAD:
                verdicts["inductor"], self.caches = cached, True
                self.report["notes"].append("only with the caches of compiled graphs, which are on where nobody turns them off")
        return verdicts

    def again_alone(self, verdicts):
        """Those that ran out of memory beside the others."""
        for backend, verdict in verdicts.items():
            if verdict["status"] == "untestable" and verdict.get("error", {}).get("root") in MEMORY:
                verdicts[backend] = verdict_of(self.trials([self.job([backend], alone=True)])[0], backend)

    def about(self, result):
        if result and result["status"] == "tested":
            self.draws = result["draws"]
            for key in ("calls", "outputs", "grads", "fp64", "stable", "draws", "missing", "eager_raises"):
                self.report[key] = result[key]

    def be_warm(self):
        if self.warm is None:
            self.progress.say("warming up Inductor")
            self.warm = self.torch.warm() or ""

    def graphs(self):
        """Programs of the captured graphs."""
        result = self.captures()
        if not result or result["status"] != "tested":
            return []
        self.report["graphs"] = [g["nodes"] for g in result["graphs"]]
        for graph in result["graphs"]:
            if "problem" in graph:
                self.report["notes"].append("graph %d stays as it is: %s" % (graph["number"], graph["problem"]))
        return [g for g in result["graphs"] if "path" in g and os.path.exists(g["path"])]

    def captures(self):
        job = {"path": self.path, "folder": self.folder, "threads": 2, "backends": ["capture"]}
        return self.trials([job], work=run_capture)[0]

    def backends_of(self, level):
        """The failing level after the one before it, which must do."""
        at = BACKENDS.index(level)
        return BACKENDS[max(0, at - 1):at + 1]

    def still_fails(self, result, level, signature):
        if result is None:
            return False
        for backend in self.backends_of(level):
            verdict = verdict_of(result, backend)
            if backend != level:
                if result["status"] == "tested" and verdict["status"] != "ok":
                    return False
            elif result["status"] in DEAD and result.get("stage") != level:
                return False
            else:
                return is_same(signature, verdict)
        return False

    def failing_graph(self, level, signature):
        """The first graph that fails by itself as the program does, as (source, values), or None."""
        graphs = self.graphs()
        if not graphs:
            return None
        self.progress.say("asking which of %d graphs fails by itself" % len(graphs))
        jobs = [self.job(self.backends_of(level), path=g["path"], values=g["values"], source=prepared(open(g["path"]).read()),
                         stop=True) for g in graphs]
        results = self.trials(jobs)
        for graph, job, result in zip(graphs, jobs, results):
            if self.still_fails(result, level, signature):
                self.report["failing_graph"] = graph["number"]
                return job["source"], graph["values"]
        return None

    def ask(self, level, signature, values):
        def ask(sources):
            jobs = [self.job(self.backends_of(level), source=s, values=values, stop=True) for s in sources]
            found = []

            def done(index, result):
                if self.still_fails(result, level, signature):
                    found.append(index)
                    return True

            self.trials(jobs, done)
            return min(found) if found else None

        return ask

    def reduce(self, source, values, level, signature, until):
        def told(text, tests):
            self.progress.say("reducing: %d calls, %d trials" % (weight_of(text)[0], tests), always=False)

        def is_over():
            """Small is enough: what is shorter by a number is not worth a minute."""
            enough = small_enough if len(calls_in(reduction.source)) <= 3 else until * self.progress.budget
            return self.progress.spent() > min(enough, until * self.progress.budget)

        small_enough = max(60.0, self.progress.spent() + 25.0)
        reduction = Reduction(source, self.ask(level, signature, values), self.jobs, is_over, told)
        if has_stored(source):
            reduction.step([plainer])
        reduction.cut(lambda text: self.locals_of(text, values))
        found = reduction.run()
        while not self.progress.is_over() and reduction.step([plainer]):
            found = reduction.source
        return found

    def locals_of(self, source, values):
        result = self.trials([{"path": self.path, "source": source, "values": values, "backends": ["locals"], "threads": 2}],
                             work=run_locals)[0]
        return (result or {}).get("about", {})

    def minimal(self, level, signature):
        """(source, values) of the smallest program that fails in the same way."""
        start = None
        if level != "eager":
            start = self.failing_graph(level, signature)
        if start is None:
            start = self.whole(level, signature)
        if start is None:
            return None
        self.progress.say("reducing a program of %d calls" % weight_of(start[0])[0])
        source = self.reduce(start[0], start[1], level, signature, REDUCING)
        return source, start[1] if has_stored(source) else ""

    def whole(self, level, signature):
        """The program itself without what only a main program does, if that still fails, or None."""
        source = prepared(self.source)
        result = self.trials([self.job(self.backends_of(level), source=source, stop=True)])[0]
        return (source, "") if self.still_fails(result, level, signature) else None

    def culprit(self, source, values, level, verdict):
        first = self.trials([self.job([level], source=source, values=values, listing=True)])[0]
        items = (first or {}).get("items", [])
        asked = questions(source, level, items, self.caches)
        self.progress.say("turning off %d parts of the compiler, one at a time" % len(asked))
        jobs = [self.job([level], source=source, values=values, **changes) for _, _, changes in asked]
        results = self.trials(jobs, lambda i, r: self.progress.is_over()) if jobs else []
        fixes = self.fixing(asked, results, level)
        if not [f for f in fixes if f[1] != "*"]:
            fixes = self.together(source, values, level, items, fixes) + fixes
        return culprit_of(level, verdict, fixes, source)

    def together(self, source, values, level, items, fixes):
        """Where only several steps at once explain it: the first at which all before it and it are enough."""
        found = []
        for kind, _, changes in fixes:
            group = (changes.get("off") or ["|"])[0].split("|")[0]
            own = [i for i in items if i.split("|")[0] == group][:60]
            if not own or self.progress.is_over():
                continue
            asked = [(kind, item.split("|", 1)[1], {"off": own[:at + 1]}) for at, item in enumerate(own)]
            results = self.trials([self.job([level], source=source, values=values, **c) for _, _, c in asked])
            found += self.fixing(asked, results, level)[:1]
        return found

    @staticmethod
    def fixing(asked, results, level):
        """The questions with whose change the failure is gone."""
        return [q for q, r in zip(asked, results) if r and r["status"] == "tested" and verdict_of(r, level)["status"] == "ok"]

    def run(self):
        """The report, as a dict that json can write."""
        began = time.monotonic()
        verdicts = self.detect()
        self.report["backends"] = verdicts
        level, verdict = first_failing(verdicts)
        if level is None:
            broken = [v for v in verdicts.values() if v["status"] in ("untestable", "not reached")]
            self.report["status"] = "not testable" if broken else "no difference"
        else:
            self.found(level, verdict)
        self.audit(level, verdicts)
        self.report.update(seconds=round(time.monotonic() - began, 1), tests=self.tests, reused=self.journal.reused)
        return self.report

    def found(self, level, verdict):
        signature = signature_of(verdict)
        self.report.update(status="found", level=level, verdict=verdict, signature=signature)
        self.progress.say("%s under %s" % (verdict["status"], level))
        if level == "inductor" and self.warm:
            self.report["status"] = "not testable"
            self.report["notes"].append("Inductor compiles nothing on this machine: " + self.warm[:500])
            return
        smallest = self.minimal(level, signature)
        if smallest is None:
            self.report["culprit"] = culprit_of(level, verdict, [], self.source)
            self.report["notes"].append("no smaller program fails in the same way: see the script itself")
            return
        source, values = smallest
        self.report["minimal"] = {"source": source, "calls": len(calls_in(source)), "lines": source.count("\n")}
        alone = self.begin_alone(source, values, level, verdict)
        self.report["culprit"] = self.culprit(source, values, level, verdict)
        self.progress.say("waiting for repro.py in a process of its own")
        fails, output = alone.wait(max(90.0, self.progress.left() + 20.0))
        self.report["minimal"].update(fails_alone=fails, output=output)

    def audit(self, level, verdicts):
        """Inductor's code of the smallest program that fails under it, or of the whole one where none does."""
        if level not in (None, "inductor") or verdicts.get("inductor", {}).get("status") not in ("ok", "different"):
            return
        self.progress.say("auditing what Inductor generated")
        self.report["audit"] = audit_of(self, self.audit_job(self.report.get("minimal")))

    def audit_job(self, minimal):
        if minimal is None:
            return {"path": self.path, "threads": 2}
        values = os.path.join(self.folder, minimal["values"]) if "values" in minimal else ""
        return {"path": self.path, "threads": 2, "source": minimal["source"], "values": values}

    def begin_alone(self, source, values, level, verdict):
        """Writes repro.py and starts it in a fresh process."""
        path = os.path.join(self.folder, "repro.py")
        told = ["%s under torch.compile(backend=%r); found by kerf check" % (described(verdict), level)]
        text = script_of(source, level, verdict, told, self.draws, values)
        with open(path, "w") as file:
            file.write(text)
        if values and has_stored(source):
            self.report["minimal"]["values"] = os.path.basename(values)
        self.report["minimal"].update(repro=path, script=text)
        return Alone(path, verdict, self.torch, self.caches)


def described(verdict):
    """A failure in a few words."""
    if verdict["status"] == "error":
        return "%s: %s" % (verdict["error"]["root"], verdict["error"]["root_message"][:160])
    if verdict["status"] == "different":
        first = verdict["differences"][0]
        gap = first.get("max_abs_diff")
        detail = first["detail"] or ("largest difference %.4g, %s elements" % (float(gap), first.get("elements")) if gap is not None else "")
        return "%s differs (%s)" % (first["what"], detail)
    if verdict["status"] == "crash":
        return "the process dies (%s)" % verdict.get("signal", "")
    return "no end within %d s" % verdict.get("limit", 0)

