// Methods of torch.Tensor that are no op: sizes, numbers out of tensors, conversions, autograd's switches.
#pragma once

#include <span>

#include "engine/torch_api/builtin_type.h"

namespace kerf::inline torch_api {

struct NamedHandler {
  const char* name;
  Handler handler;
};

std::span<const NamedHandler> valueMethods();       ///< tensor_values.cpp
std::span<const NamedHandler> conversionMethods();  ///< tensor_conversions.cpp
std::span<const NamedHandler> autogradMethods();    ///< tensor_autograd.cpp
std::span<const NamedHandler> indexingMethods();    ///< tensor_indexing.cpp
std::span<const NamedHandler> dataFunctions();      ///< functions of torch: tensor_functions.cpp

/// The tensor that a method was called on; null with TypeError for anything else.
PyObject* selfOf(PyObject* args);
/// Positional or keyword argument; null where it is left out.
PyObject* argumentOf(PyObject* args, PyObject* kwargs, Py_ssize_t position, const char* name);

}  // namespace kerf::inline torch_api
