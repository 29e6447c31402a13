"""The version of PyTorch whose behaviour this is."""

__version__ = "2.11.0"
debug = False
cuda = None
hip = None
git_version = ""
