#include "engine/dynamo/settings.h"

#include "engine/dynamo/tracer.h"

namespace kerf::inline dynamo {

long dynamoSetting(const char* name, long fallback) {
  const NativeScope native;
  PyObject* module = PyDict_GetItemString(PyImport_GetModuleDict(), "torch._dynamo.config");
  if (module == nullptr) return fallback;
  const Ref value = Ref::steal(PyObject_GetAttrString(module, name));
  const long number = value && PyLong_Check(value.get()) ? PyLong_AsLong(value.get()) : fallback;
  PyErr_Clear();
  return number;
}

}  // namespace kerf::inline dynamo
