#include "engine/dynamo/counters.h"

#include "engine/dynamo/tracer.h"
#include "engine/python/reference.h"

namespace kerf::inline dynamo {

void countEvent(const char* group, const std::string& what, long times) {
  const NativeScope native;
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  const Ref module = Ref::steal(PyImport_ImportModule("torch._dynamo.utils"));
  const Ref counters = module ? attributeOf(module.get(), "counters") : Ref();
  const Ref counter = counters ? Ref::steal(PyObject_GetItem(counters.get(), makeText(group).get())) : Ref();
  const Ref key = makeText(what);
  const Ref before = counter ? Ref::steal(PyObject_GetItem(counter.get(), key.get())) : Ref();
  if (before && PyLong_Check(before.get())) {
    const Ref now = Ref::steal(PyLong_FromLong(PyLong_AsLong(before.get()) + times));
    PyObject_SetItem(counter.get(), key.get(), now.get());
  }
  PyErr_Clear();
  PyErr_Restore(type, value, trace);
}

}  // namespace kerf::inline dynamo
