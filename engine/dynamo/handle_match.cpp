// Opcodes of match statements.
#include <span>

#include "engine/dynamo/handlers.h"

namespace kerf::inline dynamo {
namespace {

using T = InstructionTranslator;
using I = Instruction;

void getLen(T& t, const I&) {
  t.tracer().realize(t.peek());
  const Py_ssize_t size = PyObject_Length(t.peek().get());
  t.tracer().checkStatus(size < 0 ? -1 : 0);
  t.push(Ref::steal(PyLong_FromSsize_t(size)));
}

template <unsigned long Flag>
void matchFlag(T& t, const I&) {
  t.tracer().realize(t.peek());
  const bool matches = (Py_TYPE(t.peek().get())->tp_flags & Flag) != 0;
  t.push(Ref::borrow(matches ? Py_True : Py_False));
}

void matchKeys(T& t, const I&) {
  const VariableTracker keys = t.peek(1);
  const VariableTracker subject = t.peek(2);
  t.tracer().realizeDeep(subject.get());
  const Ref values = Ref::steal(PyTuple_New(PyTuple_GET_SIZE(keys.get())));
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(keys.get()); ++k) {
    PyObject* item = PyObject_GetItem(subject.get(), PyTuple_GET_ITEM(keys.get(), k));
    if (item == nullptr) {
      PyErr_Clear();
      t.push(Ref::borrow(Py_None));
      return;
    }
    PyTuple_SET_ITEM(values.get(), k, item);
  }
  t.push(values);
}

/// Positional names of a class pattern; builtin classes match themselves.
bool takesItself(PyObject* type) {
  return (reinterpret_cast<PyTypeObject*>(type)->tp_flags & _Py_TPFLAGS_MATCH_SELF) != 0;
}

/// Positional patterns ask the subject's class for the names.
void guardPattern(T& t, const VariableTracker& subject) {
  const StandIn* standIn = t.tracer().effects.find(subject.get());
  if (standIn == nullptr || standIn->kind != StandIn::Kind::Object || !standIn->source) return;
  VariableTracker type{Ref::borrow(reinterpret_cast<PyObject*>(Py_TYPE(subject.get()))), Source::type(standIn->source),
                       true};
  t.tracer().addGuard(hasAttributeGuard(type.source, "__match_args__", true));
  t.tracer().realize(type);
}

void matchClass(T& t, const I& i) {
  const VariableTracker names = t.pop();
  const VariableTracker type = t.pop();
  const VariableTracker subject = t.pop();
  const int matches = PyObject_IsInstance(subject.get(), type.get());
  t.tracer().checkStatus(matches);
  if (matches == 0) {
    t.push(Ref::borrow(Py_None));
    return;
  }
  const Ref list = Ref::steal(PyList_New(0));
  const Ref positions = attributeOf(type.get(), "__match_args__");
  if (i.arg > 0) guardPattern(t, subject);
  for (int k = 0; k < i.arg; ++k) {
    if (!positions && takesItself(type.get()) && k == 0) {
      PyList_Append(list.get(), subject.get());
      continue;
    }
    if (!positions || k >= PyTuple_GET_SIZE(positions.get())) {
      PyErr_SetString(PyExc_TypeError, "class pattern has too many positional sub-patterns");
      throw PythonRaised{};
    }
    VariableTracker value = t.loadAttribute(subject, textOf(PyTuple_GET_ITEM(positions.get(), k)));
    t.tracer().realize(value);
    PyList_Append(list.get(), value.get());
  }
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(names.get()); ++k) {
    try {
      VariableTracker value = t.loadAttribute(subject, textOf(PyTuple_GET_ITEM(names.get(), k)));
      t.tracer().realize(value);
      PyList_Append(list.get(), value.get());
    } catch (const PythonRaised&) {
      if (PyErr_ExceptionMatches(PyExc_AttributeError) == 0) throw;
      PyErr_Clear();
      t.push(Ref::borrow(Py_None));
      return;
    }
  }
  t.checkedPush(PyList_AsTuple(list.get()));
}

constexpr OpHandlerRow kRows[] = {
    {Op::GET_LEN, getLen},
    {Op::MATCH_SEQUENCE, matchFlag<Py_TPFLAGS_SEQUENCE>},
    {Op::MATCH_MAPPING, matchFlag<Py_TPFLAGS_MAPPING>},
    {Op::MATCH_KEYS, matchKeys},
    {Op::MATCH_CLASS, matchClass},
};

}  // namespace

std::span<const OpHandlerRow> matchHandlers() { return kRows; }

}  // namespace kerf::inline dynamo
