#include "engine/dynamo/example_values.h"

#include "engine/dynamo/stand_ins.h"
#include "engine/dynamo/tracer.h"
#include "engine/torch_api/conversions.h"
#include "engine/torch_api/eager_ops.h"
#include "engine/torch_api/tensor_type.h"

namespace kerf::inline dynamo {
namespace {

/// Proxies that a call mentions, with tensors of zeros in their place.
class Examples {
 public:
  Result<void> add(PyObject* object) {
    if (const ProxyState* proxy = proxyOf(object)) return addTensor(*proxy);
    if (const SymState* number = symOf(object)) {
      values[number->node.index] = specialise(*FrameTracer::active(), *number);
      return {};
    }
    if (PyTuple_Check(object) || PyList_Check(object)) {
      for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(object); ++k)
        KERF_CHECK(add(PySequence_Fast_GET_ITEM(object, k)));
    }
    if (PyDict_Check(object)) {
      PyObject *key = nullptr, *value = nullptr;
      for (Py_ssize_t at = 0; PyDict_Next(object, &at, &key, &value) != 0;) KERF_CHECK(add(value));
    }
    return {};
  }
  NodeValues values;
  bool needsGradient = false;

 private:
  Result<void> addTensor(const ProxyState& proxy) {
    if (!proxy.node.valid() || values.contains(proxy.node.index)) return {};
    KERF_TRY(Tensor zeros, Tensor::zerosStrided(proxy.fake.dtype(), proxy.fake.sizes(), proxy.fake.strides()));
    zeros.setDevice(proxy.fake.device());
    needsGradient = needsGradient || proxy.fake.requiresGrad;
    values[proxy.node.index] = wrapTensor(zeros);
    return {};
  }
};

/// Random numbers that the call draws are drawn again when the graph runs.
class RandomStateScope {
 public:
  RandomStateScope() {
    m_torch = Ref::steal(PyImport_ImportModule("torch"));
    if (m_torch) m_state = Ref::steal(PyObject_CallMethod(m_torch.get(), "get_rng_state", nullptr));
    PyErr_Clear();
  }
  ~RandomStateScope() {
    PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &value, &trace);
    if (m_state) {
      const Ref done = Ref::steal(PyObject_CallMethod(m_torch.get(), "set_rng_state", "O", m_state.get()));
      if (!done) PyErr_Clear();
    }
    PyErr_Restore(type, value, trace);
  }
  RandomStateScope(const RandomStateScope&) = delete;
  RandomStateScope& operator=(const RandomStateScope&) = delete;

 private:
  Ref m_torch;
  Ref m_state;
};

Result<Value> fakesOf(PyObject* result, bool needsGradient) {
  if (isTensor(result)) {
    Tensor fake = fakeOf(result);
    fake.requiresGrad = needsGradient && (isFloating(fake.dtype()) || isComplex(fake.dtype()));
    fake.isLeaf = !fake.requiresGrad;
    return Value(fake);
  }
  if (PyTuple_Check(result) || PyList_Check(result)) {
    ValueList list;
    for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(result); ++k) {
      KERF_TRY(Value item, fakesOf(PySequence_Fast_GET_ITEM(result, k), needsGradient));
      list.push_back(std::move(item));
    }
    return Value(std::move(list));
  }
  return valueOf(result);
}

}  // namespace

Result<Value> deriveByExample(const TracedCall& call) {
  const NativeScope native;
  Examples examples;
  KERF_CHECK(examples.add(call.args.get()));
  if (call.kwargs) KERF_CHECK(examples.add(call.kwargs.get()));
  const bool needsGradient = examples.needsGradient && gradModes().grad;
  const RandomStateScope random;
  const GradModeScope mode(false);
  const Ref result = replayCall(call, examples.values);
  if (!result) {
    Error error = takePythonError();
    error.code = ErrorCode::UnsupportedOp;
    return std::unexpected(std::move(error));
  }
  return fakesOf(result.get(), needsGradient);
}

}  // namespace kerf::inline dynamo
