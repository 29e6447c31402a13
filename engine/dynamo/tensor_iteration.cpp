// Attributes that a program puts on a tensor, and walks over its first dimension.
#include "engine/dynamo/tensor_calls.h"

#include "engine/dynamo/tracer.h"
#include "engine/dynamo/unsupported.h"

namespace kerf::inline dynamo {

Ref tensorSetAttribute(FrameTracer& tracer, PyObject* self, const std::string& name, PyObject* value) {
  ProxyState& proxy = *proxyOf(self);
  if (value == nullptr || name == "data" || name == "requires_grad" || name == "names")
    unsupported("Unsupported Tensor attribute", "Dynamo cannot trace setting an attribute of a tensor.", name);
  if (!proxy.attributes) proxy.attributes = Ref::steal(PyDict_New());
  tracer.checkStatus(PyDict_SetItemString(proxy.attributes.get(), name.c_str(), value));
  return Ref::borrow(Py_None);
}

Ref tensorIterator(FrameTracer& tracer, PyObject* self) {
  tracer.noteTensor(self);
  const Tensor& fake = proxyOf(self)->fake;
  if (fake.dim() == 0) {
    PyErr_SetString(PyExc_TypeError, "iteration over a 0-d tensor");
    throw PythonRaised{};
  }
  const std::int64_t count = fake.size(0);
  const Ref list = Ref::steal(PyList_New(0));
  for (std::int64_t k = 0; k < count; ++k) {
    const Ref args = Ref::steal(PyTuple_Pack(2, self, Ref::steal(PyLong_FromLongLong(k)).get()));
    const Ref item = tensorOperator(tracer, "getitem", args.get());
    PyList_Append(list.get(), item.get());
  }
  return Ref::steal(PyObject_GetIter(list.get()));
}

}  // namespace kerf::inline dynamo
