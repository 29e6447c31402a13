#include "engine/torch_api/call_values.h"

#include <algorithm>
#include <array>

#include "engine/torch_api/batched_tensors.h"
#include "engine/torch_api/builtin_type.h"
#include "engine/torch_api/callables.h"
#include "engine/torch_api/conversions.h"
#include "engine/torch_api/eager_ops.h"
#include "engine/torch_api/error_words.h"
#include "engine/torch_api/generator_type.h"
#include "engine/torch_api/return_types.h"
#include "engine/torch_api/small_types.h"
#include "engine/torch_api/tensor_type.h"
#include "engine/torch_api/variable.h"

namespace kerf::inline torch_api {
namespace {

/// Functions that make tensors out of nothing: of the default dtype where they make floats, on the default device.
struct Factory {
  std::string_view name;
  bool hasFloats;  ///< takes the default dtype where none is given
};
constexpr Factory factories[] = {
    {"torch.empty", true},         {"torch.zeros", true},           {"torch.ones", true},
    {"torch.rand", true},          {"torch.randn", true},           {"torch.eye", true},
    {"torch.linspace", true},      {"torch.logspace", true},        {"torch.full", false},
    {"torch.arange", false},       {"torch.randint", false},        {"torch.randperm", false},
    {"torch.normal", false},       {"torch.tril_indices", false},   {"torch.triu_indices", false},
    {"torch.hann_window", true},   {"torch.hamming_window", true},  {"torch.scalar_tensor", true},
    {"torch.empty_strided", true}, {"torch.bartlett_window", true}, {"torch.blackman_window", true},
    {"torch.kaiser_window", true},
};

const Factory* factoryOf(const std::string& target) {
  const auto* found = std::ranges::find(factories, target, &Factory::name);
  return found == std::end(factories) ? nullptr : found;
}

/// What a call has besides the arguments of the op.
struct Extras {
  bool requiresGrad = false;
  PyObject* generator = nullptr;
};

/// Keywords that ops do not know, or that say nothing.
bool isDropped(std::string_view name, PyObject* value) {
  constexpr std::array<std::string_view, 4> silent = {"pin_memory", "names", "layout", "non_blocking"};
  return std::ranges::find(silent, name) != silent.end() || (name == "out" && value == Py_None) ||
         (name == "device" && value == Py_None) || (name == "dtype" && value == Py_None);
}

Result<void> readKeywords(PyObject* kwargs, KeywordValues& keywords, Extras& extras) {
  PyObject *key = nullptr, *object = nullptr;
  Py_ssize_t at = 0;
  while (kwargs != nullptr && PyDict_Next(kwargs, &at, &key, &object)) {
    std::string name = textOf(key);
    if (name == "requires_grad") {
      extras.requiresGrad = PyObject_IsTrue(object) == 1;
      continue;
    }
    if (name == "generator") {
      extras.generator = object;
      continue;
    }
    if (isDropped(name, object)) continue;
    if (name == "device" && (PyUnicode_Check(object) || PyLong_Check(object))) {
      KERF_TRY(Device device, PyLong_Check(object) ? Result<Device>(Device{"cuda", int(PyLong_AsLong(object))})
                                                   : parseDevice(textOf(object)));
      keywords.emplace_back(std::move(name), Value(std::move(device)));
      continue;
    }
    auto value = name == "dtype" && dtypeOf(object) ? Result<Value>(Value(*dtypeOf(object))) : valueOf(object);
    if (!value) return fail(std::move(value).error());
    keywords.emplace_back(std::move(name), std::move(*value));
  }
  return {};
}

bool hasKeyword(const KeywordValues& keywords, std::string_view name) {
  return std::ranges::any_of(keywords, [&](const auto& entry) { return entry.first == name; });
}

/// torch.full(size, 1.0) and arange(0.5) make floats of the default dtype.
bool makesFloats(const Factory& factory, const ValueList& args) {
  if (factory.hasFloats) return true;
  return (factory.name == "torch.full" || factory.name == "torch.arange") &&
         std::ranges::any_of(args, [](const Value& value) { return value.as<double>() != nullptr; });
}

void addDefaults(const std::string& target, const ValueList& args, KeywordValues& keywords) {
  const Factory* factory = factoryOf(target);
  if (factory == nullptr) return;
  if (!hasKeyword(keywords, "dtype") && defaultDtype() != DType::Float32 && makesFloats(*factory, args))
    keywords.emplace_back("dtype", Value(defaultDtype()));
  if (defaultDevice() && !hasKeyword(keywords, "device")) keywords.emplace_back("device", Value(*defaultDevice()));
}

Result<Ref> call(const std::string& target, PyObject* args, PyObject* kwargs) {
  ValueList values;
  Extras extras;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); ++i) {
    KERF_TRY(Value value, valueOf(PyTuple_GET_ITEM(args, i)));
    if (isGenerator(PyTuple_GET_ITEM(args, i))) extras.generator = PyTuple_GET_ITEM(args, i);
    values.push_back(std::move(value));
  }
  KeywordValues keywords;
  KERF_CHECK(refuseKeywords(kwargs));
  KERF_CHECK(readKeywords(kwargs, keywords, extras));
  addDefaults(target, values, keywords);
  const GeneratorScope generator(extras.generator);
  auto called = callTorch(target, values, keywords, OpMode::Real);
  if (!called) return fail(inTorchsWords(std::move(called).error(), target, values));
  const Value result = std::move(*called);
  Ref object = resultObject(result);
  if (!object) return fail(pendingError());
  noteBatched(args, kwargs, object.get());
  if (extras.requiresGrad && isTensor(object.get()))
    if (const VariablePtr variable = variableOf(tensorOf(object.get()))) variable->requiresGrad = true;
  return object;
}

}  // namespace

bool takesOperand(PyObject* object) { return isTensor(object) || PyNumber_Check(object) || PyComplex_Check(object); }

Result<void> refuseKeywords(PyObject* kwargs) {
  if (kwargs == nullptr) return {};
  PyObject* names = PyDict_GetItemString(kwargs, "names");
  if (names != nullptr && names != Py_None)
    return fail(ErrorCode::UnsupportedOp, "Kerf's torch has no named tensors: `names` must be None");
  PyObject* layout = PyDict_GetItemString(kwargs, "layout");
  if (layout == nullptr || layout == Py_None || layoutOf(layout) == Layout::Strided) return {};
  return fail(ErrorCode::UnsupportedOp, "Kerf's torch has strided tensors only: `layout` must be torch.strided");
}

DType& defaultDtype() {
  static DType dtype = DType::Float32;
  return dtype;
}

PyObject* callByValues(const std::string& target, PyObject* args, PyObject* kwargs) {
  const CallScope scope;
  return give(call(target, args, kwargs));
}

}  // namespace kerf::inline torch_api
