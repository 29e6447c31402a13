// The hook of PEP 523: which frames are compiled, traced into, or left to CPython.
#pragma once

#include <unordered_map>

#include "engine/dynamo/convert_frame.h"

namespace kerf::inline dynamo {

/// Calls a function whose frames are compiled (torch.compile). Null with a Python exception set.
PyObject* callCompiled(PyObject* function, PyObject* args, PyObject* kwargs, const FrameOptions& options);
/// Calls a function with nothing compiled (torch.compiler.disable).
PyObject* callDisabled(PyObject* function, PyObject* args, PyObject* kwargs);
/// Frames of a code object run as they were written from now on (torch.compiler.disable(recursive=False)).
void skipCode(PyObject* code);
/// The generators that an attempt to trace leaves suspended: they end with it. What is left of them never runs, where
/// CPython would run their `finally` on the program's own objects.
class SuspendedGenerators {
 public:
  SuspendedGenerators();
  ~SuspendedGenerators();
  SuspendedGenerators(const SuspendedGenerators&) = delete;
  SuspendedGenerators& operator=(const SuspendedGenerators&) = delete;
  /// Notes one for the innermost of these.
  static void note(PyObject* generator);

 private:
  SuspendedGenerators* m_around;
  std::unordered_map<PyObject*, Ref> m_weak;  ///< by weak reference
};
/// Forgets all compiled code (torch.compiler.reset).
void resetCache();

}  // namespace kerf::inline dynamo
