// Functions of torch that are no op: tensors out of data, questions about dtypes.
#include "engine/ops/core/type_promotion.h"
#include "engine/torch_api/call_values.h"
#include "engine/torch_api/callables.h"
#include "engine/torch_api/conversions.h"
#include "engine/torch_api/data_tensors.h"
#include "engine/torch_api/small_types.h"
#include "engine/torch_api/tensor_handlers.h"
#include "engine/torch_api/tensor_object.h"

namespace kerf::inline torch_api {
namespace {

/// dtype=, device=, requires_grad= of torch.tensor().
struct Options {
  std::optional<DType> dtype;
  std::optional<Device> device;
  bool requiresGrad = false;
};

bool readOptions(PyObject* kwargs, Options& options) {
  options.device = defaultDevice();
  if (kwargs == nullptr) return true;
  if (const auto known = refuseKeywords(kwargs); !known) return raise(known.error()), false;
  options.dtype = dtypeOf(PyDict_GetItemString(kwargs, "dtype"));
  PyObject* device = PyDict_GetItemString(kwargs, "device");
  if (device != nullptr && PyUnicode_Check(device)) {
    auto parsed = parseDevice(textOf(device));
    if (!parsed) return raise(parsed.error()), false;
    options.device = std::move(*parsed);
  } else if (const auto given = deviceOf(device)) {
    options.device = given;
  }
  PyObject* grad = PyDict_GetItemString(kwargs, "requires_grad");
  options.requiresGrad = grad != nullptr && PyObject_IsTrue(grad) == 1;
  return true;
}

PyObject* finished(Result<Tensor> tensor, const Options& options) {
  if (!tensor) return raise(tensor.error());
  if (options.device) {
    Device device = *options.device;
    if (device.type == "cuda" && device.index < 0) device.index = 0;
    tensor->setDevice(device);
  }
  tensor->traced = -1;
  Ref object = wrapTensor(*tensor);
  if (object && options.requiresGrad && PyObject_SetAttrString(object.get(), "requires_grad", Py_True) < 0)
    return nullptr;
  return object.release();
}

PyObject* tensor(PyObject* args, PyObject* kwargs) {
  PyObject* data = argumentOf(args, kwargs, 0, "data");
  Options options;
  if (data == nullptr)
    return PyErr_SetString(PyExc_TypeError, "tensor() missing 1 required positional arguments: \"data\""), nullptr;
  if (!readOptions(kwargs, options)) return nullptr;
  if (isTensor(data) && !options.device) options.device = variableIn(data)->tensor.device();
  return finished(tensorOfData(data, options.dtype), options);
}

PyObject* asTensor(PyObject* args, PyObject* kwargs) {
  PyObject* data = argumentOf(args, kwargs, 0, "data");
  Options options;
  if (data == nullptr || !readOptions(kwargs, options)) return nullptr;
  if (PyTuple_GET_SIZE(args) > 1) options.dtype = dtypeOf(PyTuple_GET_ITEM(args, 1));
  if (!isTensor(data)) return finished(tensorOfData(data, options.dtype), options);
  if (!options.dtype || *options.dtype == variableIn(data)->tensor.dtype()) return Py_NewRef(data);
  return PyObject_CallMethod(data, "to", "O", objectOf(*options.dtype).get());
}

PyObject* fromNumpy(PyObject*, PyObject*) {
  PyErr_SetString(PyExc_NotImplementedError,
                  "torch.from_numpy: NumPy is not there in a program that runs in the sandbox");
  return nullptr;
}

PyObject* promotedTypes(PyObject* args, PyObject*) {
  const auto a = PyTuple_GET_SIZE(args) == 2 ? dtypeOf(PyTuple_GET_ITEM(args, 0)) : std::nullopt;
  const auto b = a ? dtypeOf(PyTuple_GET_ITEM(args, 1)) : std::nullopt;
  if (!b) return PyErr_SetString(PyExc_TypeError, "promote_types() takes two dtypes"), nullptr;
  return objectOf(promoteTypes(*a, *b)).release();
}

int categoryOf(DType d) { return d == DType::Bool ? 0 : isIntegral(d) ? 1 : isFloating(d) ? 2 : 3; }
PyObject* castable(PyObject* args, PyObject* kwargs) {
  const auto from = dtypeOf(argumentOf(args, kwargs, 0, "from_"));
  const auto to = dtypeOf(argumentOf(args, kwargs, 1, "to"));
  if (!from || !to) return PyErr_SetString(PyExc_TypeError, "can_cast() takes two dtypes"), nullptr;
  return PyBool_FromLong(categoryOf(*from) <= categoryOf(*to));
}

PyObject* typeOfResult(PyObject* args, PyObject*) {
  if (PyTuple_GET_SIZE(args) != 2) return PyErr_SetString(PyExc_TypeError, "result_type() takes two operands"), nullptr;
  auto a = valueOf(PyTuple_GET_ITEM(args, 0)), b = valueOf(PyTuple_GET_ITEM(args, 1));
  if (!a || !b) return raise((a ? b : a).error());
  return objectOf(resultType(ValueList{*a, *b})).release();
}

/// As the method of the first argument.
template <const char* name>
PyObject* method(PyObject* args, PyObject* kwargs) {
  PyObject* self = selfOf(args);
  if (self == nullptr) return nullptr;
  const Ref rest = Ref::steal(PyTuple_GetSlice(args, 1, PyTuple_GET_SIZE(args)));
  const Ref bound = Ref::steal(PyObject_GetAttrString(self, name));
  return rest && bound ? PyObject_Call(bound.get(), rest.get(), kwargs) : nullptr;
}
constexpr char numelName[] = "numel", floatName[] = "is_floating_point", complexName[] = "is_complex",
               signedName[] = "is_signed", detachName[] = "detach", nonzeroName[] = "__bool__", conjName[] = "is_conj";

constexpr NamedHandler functions[] = {
    {"tensor", tensor},
    {"as_tensor", asTensor},
    {"asarray", asTensor},
    {"from_numpy", fromNumpy},
    {"promote_types", promotedTypes},
    {"can_cast", castable},
    {"result_type", typeOfResult},
    {"numel", method<numelName>},
    {"is_floating_point", method<floatName>},
    {"is_complex", method<complexName>},
    {"is_signed", method<signedName>},
    {"is_conj", method<conjName>},
    {"is_nonzero", method<nonzeroName>},
    {"detach", method<detachName>},
};

}  // namespace

std::span<const NamedHandler> dataFunctions() { return functions; }

}  // namespace kerf::inline torch_api
