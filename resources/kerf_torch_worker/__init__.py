# The parts of torch_worker.py.
