// What a program must not do is refused where Python is asked for it, in words; the filter below refuses the rest.
#include <algorithm>
#include <array>

#include "engine/python/program_line.h"
#include "engine/python/reference.h"
#include "engine/python/sandbox.h"

namespace kerf::inline python {
namespace {

struct Refused {
  std::string_view event;  ///< begins with
  std::string_view what;
};
/// Events of CPython's audit hooks.
constexpr Refused refused[] = {
    {"open", "opening a file"},
    {"os.system", "running a program"},
    {"os.exec", "running a program"},
    {"os.posix_spawn", "running a program"},
    {"os.spawn", "running a program"},
    {"os.startfile", "running a program"},
    {"subprocess.", "running a program"},
    {"pty.", "running a program"},
    {"os.fork", "starting a process"},
    {"os.kill", "a signal to another process"},
    {"signal.pthread_kill", "a signal to another thread"},
    {"socket.", "the network"},
    {"urllib.", "the network"},
    {"http.", "the network"},
    {"ftplib.", "the network"},
    {"smtplib.", "the network"},
    {"ctypes.", "ctypes"},
    {"mmap.", "mapping a file"},
    {"fcntl.", "a file's settings"},
    {"resource.", "the limits of a process"},
    {"shutil.", "files"},
    {"tempfile.", "files"},
    {"glob.", "files"},
    {"os.", "files and processes"},
    {"sqlite3.", "files"},
    {"syslog.", "the system's log"},
    {"webbrowser.", "running a program"},
    {"cpython.run_", "reading a program"},
};

/// Events that "os." would refuse though they touch only the process's own memory.
constexpr std::array<std::string_view, 2> harmless = {"os.putenv", "os.unsetenv"};

const Refused* refusalOf(std::string_view event) {
  if (std::ranges::find(harmless, event) != harmless.end()) return nullptr;
  const auto* found =
      std::ranges::find_if(refused, [&](const Refused& entry) { return event.starts_with(entry.event); });
  return found == std::end(refused) ? nullptr : found;
}

/// The first argument of an event, shortened: which file, which program.
std::string subjectOf(PyObject* args) {
  if (args == nullptr || !PyTuple_Check(args) || PyTuple_GET_SIZE(args) == 0) return {};
  const Ref text = Ref::steal(PyObject_Repr(PyTuple_GET_ITEM(args, 0)));
  if (!text) PyErr_Clear();
  std::string subject = textOf(text.get());
  return subject.size() > 120 ? subject.substr(0, 117) + "..." : subject;
}

int audit(const char* event, PyObject* args, void*) {
  const Refused* refusal = refusalOf(event);
  if (refusal == nullptr) return 0;
  const std::string subject = subjectOf(args);
  const std::string at = programLine();
  const std::string_view name = event;
  PyErr_SetObject(PyExc_PermissionError,
                  makeText(fmt::format("the sandbox refuses {}: {}({}){}", refusal->what, name, subject, at)).get());
  return -1;
}

}  // namespace

bool refuseInPython() { return PySys_AddAuditHook(audit, nullptr) == 0; }

}  // namespace kerf::inline python
