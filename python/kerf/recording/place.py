"""The folder of one process: the recording's own, or one of a rank or of a further process in it."""
import json
import os


def rank():
    """Of this process among those of a launcher, or None."""
    import torch

    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return torch.distributed.get_rank()
    found = os.environ.get("RANK", "")
    return int(found) if found.isdigit() else None


def taken(path):
    """Makes the file that says whose folder it is. False where it is another's."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
        return True
    except FileExistsError:
        return False


def choose(base):
    """A folder that no other process writes to. An earlier run's recording in the same place is left as it is."""
    number = rank()
    wanted = base if number is None else os.path.join(base, "rank_%d" % number)
    os.makedirs(wanted, exist_ok=True)
    if taken(os.path.join(wanted, "about.json")):
        return wanted
    folder = os.path.join(wanted if number is None else base, "%sprocess_%d" % ("" if number is None else "rank_%d_" % number, os.getpid()))
    os.makedirs(folder, exist_ok=True)
    return folder


def write_json(path, value):
    """Whole or not at all."""
    with open(path + ".new", "w") as file:
        json.dump(value, file, indent=1, default=str)
    os.replace(path + ".new", path)
