#include "engine/python/program_line.h"

#include "engine/python/reference.h"

namespace kerf::inline python {
namespace {

std::string& programName() {
  static std::string name;
  return name;
}

}  // namespace

void setProgramName(const std::string& name) { programName() = name; }

std::string programLine() {
  Ref frame = Ref::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  while (frame) {
    auto* object = reinterpret_cast<PyFrameObject*>(frame.get());
    const Ref code = Ref::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(object)));
    const std::string file = textOf(reinterpret_cast<PyCodeObject*>(code.get())->co_filename);
    if (file == programName()) return fmt::format(" ({}, line {})", file, PyFrame_GetLineNumber(object));
    frame = Ref::steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(object)));
  }
  return {};
}

}  // namespace kerf::inline python
