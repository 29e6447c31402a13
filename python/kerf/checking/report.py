"""What was found, as lines for a terminal, as the text of an issue, and as a page."""
import html
import json
import os
import platform
import subprocess
import sys

from .audited import audit_lines
from .session import described
from .trial import BACKENDS


def line_of(backend, verdict):
    """One backend's verdict in one line."""
    if verdict is None or verdict["status"] == "not reached":
        return "%-28s not run" % backend
    if verdict["status"] == "ok":
        notes = [n for n in verdict.get("notes", []) if "rounding" in n]
        tf32 = " (TF32)" if any(n.get("tf32") for n in notes) else ""
        return "%-28s same%s" % (backend, ", within rounding%s: %s" % (tf32, ", ".join(n["what"] for n in notes)) if notes else "")
    if verdict["status"] == "untestable":
        return "%-28s cannot be tested: %s" % (backend, verdict.get("error", {}).get("message", ""))
    return "%-28s %s" % (backend, described(verdict))


def compared(report):
    """What was compared, for those who see no difference."""
    parts = ["%d calls" % report.get("calls", 0), "%d results" % report.get("outputs", 0), "%d gradients" % report.get("grads", 0),
             "changed arguments, parameters and buffers", "shapes, dtypes, shared memory, requires_grad"]
    judge = "with float64 as judge" if report.get("fp64") else "without a float64 run"
    return "compared: %s; %s" % (", ".join(parts), judge)


def culprit_lines(report):
    culprit = report.get("culprit")
    if not culprit:
        return []
    lines = ["level      %s" % culprit["level"],
             "subsystem  %s%s" % (culprit["subsystem"], ": " + culprit["part"] if culprit["part"] else "")]
    if culprit.get("op"):
        lines.append("op         %s" % culprit["op"])
    if culprit["where"]:
        lines.append("raised in  %s" % culprit["where"])
    if culprit["evidence"]:
        lines.append("gone without  " + "; ".join(e[:90] for e in culprit["evidence"][:4]))
    return lines


def summary(report, folder):
    lines = [line_of(b, report["backends"].get(b)) for b in BACKENDS]
    if report["status"] == "found":
        lines += [""] + culprit_lines(report)
        minimal = report.get("minimal", {})
        lines += [] if not minimal else ["repro      %s, %d calls, %s in a process of its own" % (
            minimal.get("repro", ""), minimal.get("calls", 0), "fails" if minimal.get("fails_alone") else "does NOT fail")]
    elif report["status"] == "no difference":
        lines += ["", "no difference found", compared(report)]
        if report.get("stable") is False:
            lines.append("some results change from one eager run to the next and were not compared")
    else:
        lines += ["", "cannot be tested here"]
    lines += audit_lines(report)
    lines += report["notes"] + ["report     %s, %s, %d trials" % (os.path.join(folder, "report.html"), "%.0f s" % report["seconds"], report["tests"])]
    return "\n".join(lines)


def title(report):
    culprit = report.get("culprit", {})
    kind = {"different": "gives another result than eager mode", "error": "raises", "crash": "ends the process", "hang": "does not end"}
    what = kind[report["verdict"]["status"]]
    if report["verdict"]["status"] == "error":
        what += " " + report["verdict"]["error"]["root"]
    return "[%s] %s %s" % (report["level"], culprit.get("op") or culprit.get("subsystem", "torch.compile"), what)


def environment():
    """What PyTorch's form asks for. By its own script, where that answers."""
    try:
        done = subprocess.run([sys.executable, "-m", "torch.utils.collect_env"], capture_output=True, text=True, timeout=60)
        if done.returncode == 0 and done.stdout.strip():
            return done.stdout.strip()
    except (OSError, subprocess.SubprocessError):
        pass
    return platform.platform()


def issue(report):
    """In the order of PyTorch's form for bugs: what, logs, minimal script, versions."""
    minimal = report.get("minimal", {})
    fence = "```"
    lines = ["# " + title(report), "", "### Describe the bug", "", described(report["verdict"]) + ".", "",
             "| backend | result |", "|---|---|"]
    for backend in BACKENDS:
        text = line_of(backend, report["backends"].get(backend))
        lines.append("| `%s` | %s |" % (backend, text[28:].strip().replace("|", "\\|")))
    lines += ["", "Eager mode and each backend were run on fresh copies of the same inputs; results beyond the tolerances of "
              "`assert_close` are judged against a float64 run%s." % ("" if report.get("fp64") else " (which this program has not)"), ""]
    lines += ["- " + " ".join(line.split()) for line in culprit_lines(report)]
    if report.get("audit", {}).get("refuted"):
        lines += ["", "The generated code, read without running it:", "", fence] + audit_lines(report) + [fence]
    lines += ["", "### Minimal script (imports torch alone; %s in a clean process)" % ("fails" if minimal.get("fails_alone") else "was NOT seen to fail"),
              "", fence + "python", minimal.get("script", "").rstrip(), fence, "", "### Error logs", "", fence, minimal.get("output", "")[-3000:].strip(), fence,
              "", "### Versions", "", fence, environment(), fence, ""]
    return "\n".join(lines)


STYLE = ("body{font:15px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#222}"
         "pre{background:#f4f4f4;padding:1em;overflow:auto}td,th{padding:.2em .8em;text-align:left;border-bottom:1px solid #ddd}"
         ".bad{color:#a00}.good{color:#060}")
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page(report):
    """All text escaped, no scripts, nothing from elsewhere."""
    e = html.escape
    rows = "".join("<tr><td>%s</td><td class=%s>%s</td></tr>" % (
        e(b), "good" if report["backends"].get(b, {}).get("status") == "ok" else "bad", e(line_of(b, report["backends"].get(b))[28:].strip()))
        for b in BACKENDS)
    head = title(report) if report["status"] == "found" else "No difference found" if report["status"] == "no difference" else "Not tested"
    body = ["<h1>%s</h1>" % e(head), "<p>%s</p>" % e(report["program"]), "<table>%s</table>" % rows, "<p>%s</p>" % e(compared(report))]
    if report["status"] == "found":
        body.append("<h2>Culprit</h2><pre>%s</pre>" % e("\n".join(culprit_lines(report))))
        minimal = report.get("minimal", {})
        body.append("<h2>Minimal script</h2><pre>%s</pre>" % e(minimal.get("script", "")))
        body.append("<h2>Its output</h2><pre>%s</pre>" % e(minimal.get("output", "")))
    if audit_lines(report):
        body.append("<h2>Inductor's output code, audited</h2><pre>%s</pre>" % e("\n".join(audit_lines(report))))
    body.append("<h2>Versions</h2><pre>%s</pre>" % e(json.dumps(report.get("versions", {}), indent=1)))
    return ('<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="%s">'
            "<title>kerf check</title><style>%s</style></head><body>%s</body></html>\n" % (POLICY, STYLE, "".join(body)))


def written(report, folder):
    """report.json, report.html and, where something was found, issue.md."""
    files = {"report.json": json.dumps(report, indent=1, default=str), "report.html": page(report)}
    if report["status"] == "found":
        files["issue.md"] = issue(report)
    for name, text in files.items():
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
