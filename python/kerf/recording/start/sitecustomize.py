"""Python imports this at its start where `kerf record` put its folder first. The user's own sitecustomize is imported, too."""
import importlib.machinery
import importlib.util
import os
import sys


def own():
    here = os.path.dirname(os.path.abspath(__file__))
    path = [p for p in sys.path if os.path.abspath(p or ".") != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", path)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


def begin():
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    added = root not in sys.path
    if added:
        sys.path.append(root)
    from kerf.recording.hook import begin as record

    record()


try:
    own()
finally:
    begin()
