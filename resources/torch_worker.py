# Judges candidate graphs with the user's own PyTorch (2.1 or newer) for `kerf --oracle torch`.
#
#     python torch_worker.py SOCKET JOBS MEMORY_BYTES cpu|cuda [FOLDER of tools kept from one job to the next
#         [FOLDERS of modules [MODULE or library of ops]…]]
#
# Imports torch once, begins with the first query, and compiles one small graph, so that what every query needs is there:
# Inductor's modules, its list of vector instructions, its precompiled headers. Each query is a fork of this process:
# nothing of one is seen by another, and a crash, a hang or a leak ends with it. CUDA does not survive a fork, so graphs on
# a GPU are judged by processes that are forked before they touch it and stay for many queries.
#
# A query is one connection to the socket: a line of JSON, then the bytes that it announces. The answer is one line of
# JSON. Whoever closes the connection before that takes the query back. The text that is run was written by Kerf, which
# puts nothing into it but calls that it knows; the expression of a check is the user's own.
import gc
import os
import signal
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # which PYTHONSAFEPATH leaves out

from kerf_torch_worker.kept_tools import KeptTools
from kerf_torch_worker.server import Server
from kerf_torch_worker.shared import timed
from kerf_torch_worker.start import import_given, import_torch, keep_apart
from kerf_torch_worker.warm import warm_up


def main():
    path, jobs, memory = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    sys.path[:] = [entry for entry in sys.path if entry not in ("", os.path.dirname(path))]
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    folder = os.path.dirname(path)
    tempfile.tempdir = folder
    keep_apart(folder, sys.argv[4])
    tools = KeptTools(sys.argv[5] if len(sys.argv) > 5 and sys.argv[4] == "cpu" else "", folder)
    timed("kept tools", tools.fetch)
    import_torch(jobs)
    import_given(sys.argv[6].split(":") if len(sys.argv) > 6 else [], sys.argv[7:])
    server = Server(path, jobs, memory)
    gc.freeze()
    server.start_first()
    warm_up()
    timed("keeping tools", tools.store)
    gc.collect()
    gc.freeze()  # so that a collection in a fork does not touch, and copy, what all have in common
    server.serve()


if __name__ == "__main__":
    main()
