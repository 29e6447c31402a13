"""What is going on, and for how long it may go on."""
import sys
import time


def seconds_of(text):
    """90, 90s, 10m or 1h in seconds."""
    units = {"s": 1, "m": 60, "h": 3600}
    text = str(text).strip()
    number, unit = (text[:-1], units[text[-1]]) if text[-1:] in units else (text, 1)
    try:
        value = float(number) * unit
    except ValueError:
        value = 0.0
    if not 0 < value < 1e9:
        raise ValueError("a time is a positive number with s, m or h, not %s" % text)
    return value


def said(seconds):
    return "%d s" % seconds if seconds < 120 else "%d min" % round(seconds / 60)


class Progress:
    """Lines on standard error. `budget`: seconds until the check stops and says what it has."""

    def __init__(self, budget, quiet=False, out=None):
        self.budget, self.quiet, self.out = budget, quiet, out or sys.stderr
        self.began = time.monotonic()
        self.last = 0.0

    def spent(self):
        return time.monotonic() - self.began

    def left(self):
        return self.budget - self.spent()

    def is_over(self):
        return self.left() <= 0

    def say(self, text, always=True):
        """`always`: else at most one line a second."""
        now = time.monotonic()
        if self.quiet or not always and now - self.last < 1.0:
            return
        self.last = now
        print("[%s, at most %s to go] %s" % (said(self.spent()), said(max(0, self.left())), text), file=self.out, flush=True)
