"""Captures and graphs as objects: kerf.open(path). The program kerf reads them; no torch is needed."""
import html
import json
import os
import subprocess


class KerfError(RuntimeError):
    """What kerf says when it cannot do what was asked."""


def call(*arguments, accept=(0,)):
    """Runs kerf and returns its standard output. KerfError, with kerf's own words, for other exit codes."""
    from .backend.worker import program

    done = subprocess.run([program(), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
    if done.returncode not in accept:
        raise KerfError(done.stderr.strip() or "kerf ended with code %d" % done.returncode)
    return done.stdout


def ask(*arguments, accept=(0,)):
    """The same, for commands with --json."""
    return json.loads(call(*arguments, "--json", accept=accept))


class Graph:
    """A graph of a capture. Its text is repr(graph); notebooks show it as a drawing, or as a table without Graphviz."""

    def __init__(self, address, about=None):
        self.address, self.about = str(address), dict(about or {})
        self._document = None

    @property
    def document(self):
        """Everything that `kerf show --json` says."""
        if self._document is None:
            self._document = ask("show", self.address)
        return self._document

    @property
    def name(self):
        return self.about.get("name") or self.document["name"]

    @property
    def nodes(self):
        """Dicts with name, op, target, args, kwargs, users and value (kind, dtype, shape, stride, device), in order."""
        return self.document["nodes"]

    def node(self, name):
        """The node of this name. KeyError without one."""
        for node in self.nodes:
            if node["name"] == name:
                return node
        raise KeyError(name)

    def __len__(self):
        return len(self.nodes)

    def __iter__(self):
        return iter(self.nodes)

    def text(self, format="readable"):
        """As `kerf show --format` writes it: readable, code, table, text, dot, svg, loop, llvm, output-code …"""
        return call("show", self.address, "--format", format)

    def __repr__(self):
        try:
            return self.text().rstrip("\n")
        except KerfError as problem:
            return "<kerf.Graph %s: %s>" % (self.address, problem)

    def _repr_svg_(self):
        try:
            drawing = self.text("svg")
        except KerfError:
            return None
        return drawing[drawing.index("<svg"):] if "<svg" in drawing else None

    def _repr_html_(self):
        drawing = self._repr_svg_()
        if drawing is not None:
            return '<div style="overflow:auto;max-height:40em">%s</div>' % drawing
        rows = "".join("<tr><td>%s</td><td>%s</td><td>%s</td></tr>" % tuple(
            html.escape(str(cell)) for cell in (n["name"], n["target"], (n.get("value") or {}).get("shape", ""))) for n in self.nodes)
        return "<table><tr><th>name</th><th>target</th><th>shape</th></tr>%s</table>" % rows

    def run(self, backend="interp", **options):
        """Runs it and returns what `kerf run --json` says."""
        return ask("run", self.address, "--backend", backend, *_flags(options))

    def compare(self, **options):
        """Kerf's compiled code beside its interpreter, judged by float64: what `kerf compare --json` says. Options are those
        of the command: compare(nodes=True, plant="relu=accuracy")."""
        return ask("compare", self.address, *_flags(options), accept=(0, 1))

    def minify(self, output, **options):
        """The smallest graph that fails in the same way, written to the folder `output`. KerfError where it does not fail."""
        done = ask("minify", self.address, "-o", str(output), *_flags(options))
        return Graph(done["repro"], {"reduction": done})

    def share(self, path, redact=()):
        """One HTML page with the graph in it, which opens in Kerf again."""
        return ask("share", self.address, "-o", str(path), *(["--redact", ",".join(redact)] if redact else []))


class Capture:
    """What a file or folder holds: `graphs`, by number or name."""

    def __init__(self, path):
        self.path = os.fspath(path)
        self.about = ask("ls", "graphs", self.path)
        self.graphs = [Graph(row["id"], row) for row in self.about["graphs"]]

    def __getitem__(self, which):
        if isinstance(which, str):
            found = [g for g in self.graphs if which in (g.about.get("name"), g.about.get("id"), g.about.get("stage"))]
            if len(found) != 1:
                raise KeyError("%d graphs are called %s" % (len(found), which))
            return found[0]
        return self.graphs[which]

    def __len__(self):
        return len(self.graphs)

    def __iter__(self):
        return iter(self.graphs)

    def table(self, kind):
        """What `kerf show --format` tells of a whole trace: compiles, breaks, recompiles, failures, dynamo-guards …"""
        return ask("show", self.path, "--format", kind)

    def __repr__(self):
        lines = ["%s: %d graphs" % (self.path, len(self))]
        return "\n".join(lines + ["  %-40s %6s nodes  %s" % (g.about["name"], g.about["nodes"] if g.about["nodes"] is not None else "?",
                                                              g.about.get("compile_id") or "") for g in self.graphs])

    def _repr_html_(self):
        rows = "".join("<tr><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>" % tuple(
            html.escape(str(g.about.get(k) if g.about.get(k) is not None else "")) for k in ("name", "stage", "compile_id", "nodes")) for g in self.graphs)
        return "<table><tr><th>graph</th><th>stage</th><th>compile</th><th>nodes</th></tr>%s</table>" % rows


def _flags(options):
    """{"nodes": True, "plant": ["a", "b"]} as ["--nodes", "--plant=a", "--plant=b"]."""
    flags = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            flags.append(flag)
        elif value is not False and value is not None:
            flags += ["%s=%s" % (flag, one) for one in (value if isinstance(value, (list, tuple)) else [value])]
    return flags


def open(path):
    """A capture as an object: repro.py, model.pt2, a TORCH_TRACE log or folder, a recording, a shared page, or an id of the store
    such as "c3"."""
    return Capture(path)


def studio(what=None):
    """Opens the window, on a capture, graph or path, and returns at once with its process."""
    from .backend.worker import program

    path = getattr(what, "address", None) or getattr(what, "path", None) or what
    arguments = [] if path is None else [os.fspath(path).partition("#")[0]]
    if "#" in str(path or "") and not os.path.exists(str(path)):
        arguments += ["--graph", str(path).partition("#")[2]]
    return subprocess.Popen([program(), "studio", *arguments], stdin=subprocess.DEVNULL, start_new_session=True)
