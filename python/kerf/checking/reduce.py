"""The delta loop: tries smaller programs until none of them fails in the same way."""
import ast

from .cuts import earlier_results, later_starts, unused, unused_arguments
from .moves import FINISH, MOVES, is_plausible, size_of


def text_of(tree):
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def prepared(source):
    """Without what only a main program does, and without docstrings and annotations."""
    tree = ast.parse(source)
    tree.body = [s for s in tree.body if not (isinstance(s, ast.If) and "__name__" in ast.dump(s.test))]
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and len(body) > 1 and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            del body[0]
    return text_of(tree)


def weight_of(source):
    """What gets smaller: calls first, then the tree, then digits."""
    tree = ast.parse(source)
    return (sum(isinstance(n, ast.Call) for n in ast.walk(tree)), size_of(tree), len(source))


class Reduction:
    """`ask(sources)` returns the index of the first source that still fails, or None; it may test many at once."""

    def __init__(self, source, ask, batch=14, is_over=lambda: False, told=lambda source, tests: None):
        self.source, self.ask, self.batch, self.is_over, self.told = source, ask, batch, is_over, told
        self.seen = {source}
        self.tests = 0

    def candidates(self, moves):
        """Texts of smaller programs that were not tried before."""
        tree = ast.parse(self.source)
        for move in moves:
            for made in move(tree):
                try:
                    text = text_of(made)
                    if not is_plausible(ast.parse(text)):
                        continue
                except (SyntaxError, ValueError, TypeError, AttributeError, IndexError):
                    continue
                if text not in self.seen and len(text) <= len(self.source) + 200:
                    yield text

    def step(self, moves):
        """Adopts the first candidate that fails. Whether there was one."""
        batch = []
        for text in self.candidates(moves):
            self.seen.add(text)
            batch.append(text)
            if len(batch) == self.batch:
                if self.try_batch(batch):
                    return True
                batch = []
                if self.is_over():
                    return False
        return bool(batch) and self.try_batch(batch)

    def try_batch(self, batch):
        self.tests += len(batch)
        at = self.ask(batch)
        if at is None:
            return False
        self.source = batch[at]
        self.told(self.source, self.tests)
        return True

    def cut(self, about):
        """Halves of a long function first. `about(source)`: texts that make values of its variables."""
        self.step([unused])
        while not self.is_over() and self.step([earlier_results]):
            self.step([unused])
        known = about(self.source)
        while not self.is_over() and self.step([lambda tree: later_starts(tree, known)]):
            self.step([unused])
        self.step([unused_arguments])

    def run(self):
        """The smallest program found. One move after the other, from the start as long as anything helps."""
        for moves in (MOVES, MOVES + FINISH):
            again = True
            while again and not self.is_over():
                again = False
                for move in [unused_arguments] + moves:
                    while not self.is_over() and self.step([move]):
                        again = True
        return self.source
