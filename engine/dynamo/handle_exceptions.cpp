// Opcodes of exceptions and with-blocks.
#include <span>

#include "engine/dynamo/handlers.h"
#include "engine/dynamo/values.h"

namespace kerf::inline dynamo {
namespace {

using T = InstructionTranslator;
using I = Instruction;

[[noreturn]] void raiseObject(PyObject* exception, PyObject* cause) {
  Ref instance = Ref::borrow(exception);
  if (PyType_Check(exception) && PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(exception),
                                                  reinterpret_cast<PyTypeObject*>(PyExc_BaseException)) != 0)
    instance = Ref::steal(PyObject_CallNoArgs(exception));
  if (!instance) throw PythonRaised{};
  if (!PyExceptionInstance_Check(instance.get())) {
    PyErr_SetString(PyExc_TypeError, "exceptions must derive from BaseException");
    throw PythonRaised{};
  }
  if (cause != nullptr) PyException_SetCause(instance.get(), cause == Py_None ? nullptr : Py_NewRef(cause));
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(instance.get())), instance.get());
  throw PythonRaised{};
}

void raiseVarargs(T& t, const I& i) {
  if (i.arg == 0) {
    if (t.handled.empty() || t.handled.back().get() == Py_None) {
      PyErr_SetString(PyExc_RuntimeError, "No active exception to reraise");
      throw PythonRaised{};
    }
    raiseObject(t.handled.back().get(), nullptr);
  }
  VariableTracker cause;
  if (i.arg == 2) cause = t.pop();
  const VariableTracker exception = t.pop();
  Ref made = exception.value;
  if (PyType_Check(made.get())) {
    // The class's own constructor is traced.
    made = t.call(exception, {}, nullptr).value;
  }
  Ref reason = cause.value;
  if (reason && PyType_Check(reason.get())) reason = t.call(cause, {}, nullptr).value;
  if (PyExceptionInstance_Check(made.get()) && !t.handled.empty() && t.handled.back().get() != made.get() &&
      PyExceptionInstance_Check(t.handled.back().get()))
    PyException_SetContext(made.get(), Py_NewRef(t.handled.back().get()));
  raiseObject(made.get(), reason.get());
}

/// [exception] gives [what was handled before, exception].
void pushExcInfo(T& t, const I&) {
  VariableTracker exception = t.popLazy();
  t.push(t.handled.empty() ? VariableTracker{Ref::borrow(Py_None), nullptr, false} : t.handled.back());
  t.push(exception);
  t.handled.push_back(exception);
}

void popExcept(T& t, const I&) {
  t.popLazy();
  if (!t.handled.empty()) t.handled.pop_back();
}

void checkExcMatch(T& t, const I&) {
  const VariableTracker type = t.pop();
  const VariableTracker& exception = t.peek();
  const int matches = PyErr_GivenExceptionMatches(exception.get(), type.get());
  t.push(Ref::borrow(matches != 0 ? Py_True : Py_False));
}

void reraise(T& t, const I&) {
  const VariableTracker exception = t.popLazy();
  raiseObject(exception.get(), nullptr);
}

void beforeWith(T& t, const I&) {
  const VariableTracker manager = t.pop();
  if (std::string_view(Py_TYPE(manager.get())->tp_name) == "torch.device")
    unsupported("Unsupported context manager", "Dynamo does not know how to enter a `device` context manager.",
                "Attempted SETUP_WITH/BEFORE_WITH on device");
  VariableTracker exit = t.loadAttribute(manager, "__exit__");
  t.push(exit);
  t.push(t.call(t.loadAttribute(manager, "__enter__"), {}, nullptr));
}

/// [exit, lasti, previous, exception] gets what exit(type, value, traceback) says on top.
void withExceptStart(T& t, const I&) {
  const VariableTracker exception = t.peek(1);
  const VariableTracker exit = t.peek(4);
  const VariableTracker type{Ref::borrow(reinterpret_cast<PyObject*>(Py_TYPE(exception.get()))), nullptr, false};
  const VariableTracker none{Ref::borrow(Py_None), nullptr, false};
  t.push(t.call(exit, {type, exception, none}, nullptr));
}

constexpr OpHandlerRow kRows[] = {
    {Op::RAISE_VARARGS, raiseVarargs},        {Op::PUSH_EXC_INFO, pushExcInfo}, {Op::POP_EXCEPT, popExcept},
    {Op::CHECK_EXC_MATCH, checkExcMatch},     {Op::RERAISE, reraise},           {Op::BEFORE_WITH, beforeWith},
    {Op::WITH_EXCEPT_START, withExceptStart},
};

}  // namespace

std::span<const OpHandlerRow> exceptionHandlers() { return kRows; }

}  // namespace kerf::inline dynamo
