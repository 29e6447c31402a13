#include "engine/dynamo/recompile_errors.h"

#include "engine/dynamo/capture_log.h"
#include "engine/dynamo/tracer.h"

namespace kerf::inline dynamo {

PyObject* raiseRecompile() {
  const Ref module = Ref::steal(PyImport_ImportModule("torch._dynamo.exc"));
  const Ref type = module ? attributeOf(module.get(), "RecompileError") : Ref();
  const LoggedRecompile& last = captureLog().recompiles.back();
  return PyErr_Format(type ? type.get() : PyExc_RuntimeError, "Recompiling function %s in %s\n    %s",
                      last.function.c_str(), last.at.c_str(), last.failedGuard.c_str());
}

std::string currentStance() {
  const NativeScope native;
  PyObject* module = PyDict_GetItemString(PyImport_GetModuleDict(), "torch._dynamo.decorators");
  const Ref stance = module ? attributeOf(module, "stance") : Ref();
  PyObject* name = stance && PyDict_Check(stance.get()) ? PyDict_GetItemString(stance.get(), "name") : nullptr;
  PyErr_Clear();
  return name != nullptr && PyUnicode_Check(name) ? textOf(name) : "default";
}

PyObject* raiseByStance(const FrameView& frame, const std::string& newest) {
  std::string failed;
  if (!newest.empty() && !captureLog().recompiles.empty())
    failed = "\n    triggered by the following guard failure(s):\n    - " + newest + ": " +
             captureLog().recompiles.back().failedGuard;
  return PyErr_Format(PyExc_RuntimeError,
                      "Detected recompile when torch.compile stance is 'fail_on_recompile'. filename: '%s', function "
                      "name: '%s', line number: %d%s",
                      textOf(frame.code->co_filename).c_str(), textOf(frame.code->co_name).c_str(),
                      frame.code->co_firstlineno, failed.c_str());
}

PyObject* raiseAtLimit(const char* setting) {
  const Ref module = Ref::steal(PyImport_ImportModule("torch._dynamo.exc"));
  const Ref type = module ? attributeOf(module.get(), "FailOnRecompileLimitHit") : Ref();
  return PyErr_Format(type ? type.get() : PyExc_RuntimeError, "Hard failure due to %s", setting);
}

}  // namespace kerf::inline dynamo
