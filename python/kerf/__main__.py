"""python -m kerf COMMAND ..."""
import os
import sys

if not __package__:  # started as a file: what it imports lies around it
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

COMMANDS = {"check": "kerf.checking.main", "record": "kerf.recording.main"}


def main():
    command = sys.argv[1] if len(sys.argv) > 1 else ""
    if command in COMMANDS:
        import importlib

        return importlib.import_module(COMMANDS[command]).main(sys.argv[2:])
    print("usage: python -m kerf {%s} ..." % "|".join(COMMANDS), file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
