"""torch.utils.benchmark: how long statements take."""

import time


class Measurement:
    """Times of runs."""

    def __init__(self, times, number, label=""):
        self.times, self.number_per_run, self.title = times, number, label

    @property
    def mean(self):
        """Seconds of one execution."""
        return sum(self.times) / len(self.times)

    @property
    def median(self):
        """The middle of the runs' seconds."""
        ordered = sorted(self.times)
        return ordered[len(ordered) // 2]

    def __repr__(self):
        return f"<torch.utils.benchmark.utils.common.Measurement object>\n{self.title}\n  {self.median * 1e6:.2f} us"


class Timer:
    """Runs a statement and measures it."""

    def __init__(self, stmt="pass", setup="pass", global_setup="", timer=time.perf_counter, globals=None, label=None,
                 sub_label=None, description=None, env=None, num_threads=1, language="python"):
        self._globals = dict(globals or {})
        self._stmt, self._setup, self._timer, self._label = stmt, setup, timer, label or stmt

    def _once(self, number):
        names = dict(self._globals)
        exec(self._setup, names)
        code = compile(self._stmt, "<benchmark>", "exec")
        start = self._timer()
        for _ in range(number):
            exec(code, names)
        return (self._timer() - start) / number

    def timeit(self, number=1000000):
        """One run of so many executions."""
        return Measurement([self._once(number)], number, self._label)

    def blocked_autorange(self, callback=None, min_run_time=0.2):
        """Runs for a while."""
        return Measurement([self._once(10) for _ in range(3)], 10, self._label)

    adaptive_autorange = blocked_autorange


class Compare:
    """A table of measurements."""

    def __init__(self, results):
        self._results = list(results)

    def print(self):
        """Prints them."""
        for result in self._results:
            print(result)
