// Builtin: the Python object of one bound function of torch: its names, what it calls, and how it is called.
#pragma once

#include <string>

#include "engine/python/reference.h"

namespace kerf::inline torch_api {

/// A function of torch that is written here, with arguments as Python gives them. A method gets its tensor first.
using Handler = PyObject* (*)(PyObject* args, PyObject* kwargs);

struct Builtin {
  PyObject_HEAD std::string name;  ///< "add"
  std::string qualified;           ///< "torch.Tensor.add"
  std::string target;              ///< what callTorch() calls: "method.add"
  Handler handler;                 ///< null: callTorch()
  bool isMethod;                   ///< binds its object
  bool isOperator;                 ///< gives NotImplemented for operands that it does not take
};

/// A new builtin; null with an exception set.
Ref makeBuiltin(std::string name, std::string qualified, std::string target, Handler handler, bool isMethod,
                bool isOperator = false);
/// The builtin behind a function or bound method; null for anything else.
const Builtin* builtinOf(PyObject* object);

/// Converts, calls and converts back: the path of every builtin without a handler. `reported` stands in messages.
PyObject* callByValues(const std::string& target, PyObject* args, PyObject* kwargs);

}  // namespace kerf::inline torch_api
