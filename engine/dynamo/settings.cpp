#include "engine/dynamo/settings.h"

#include <climits>

#include "engine/dynamo/tracer.h"

namespace kerf::inline dynamo {

long dynamoSetting(const char* name, long fallback) {
  const NativeScope native;
  PyObject* module = PyDict_GetItemString(PyImport_GetModuleDict(), "torch._dynamo.config");
  if (module == nullptr) return fallback;
  const Ref value = Ref::steal(PyObject_GetAttrString(module, name));
  int isPast = 0;
  const bool isNumber = value && PyLong_Check(value.get());
  const long number = isNumber ? PyLong_AsLongAndOverflow(value.get(), &isPast) : fallback;
  PyErr_Clear();
  if (isPast != 0) return isPast > 0 ? LONG_MAX : LONG_MIN;
  return number;
}

}  // namespace kerf::inline dynamo
