// Bound builtins: what a Python object calls, and calling it with values, with data or for shapes only.
#pragma once

#include "engine/ir/op_caller.h"
#include "engine/python/reference.h"

namespace kerf::inline torch_api {

/// The qualified name of a bound builtin, as Dynamo's graphs print it: "torch.add", "torch.Tensor.add",
/// "torch._C._nn.gelu", "torch.ops.aten.add.Tensor". Of a bound method (`x.add`) that of the method. Empty for objects
/// that are no builtins of torch (Python functions of resources/torch too: those have a module and a name of their own).
std::string callableOf(PyObject* object);
/// Whether a builtin of torch has a name: "torch.add".
bool isBuiltinName(std::string_view name);

enum class OpMode {
  Real,  ///< kernels run, gradients are taped
  Fake,  ///< shape rules only: results have no storage; `requiresGrad` as it would be
};

/// Calls what has the qualified name ("torch.add", "torch.Tensor.add", "method.add", "operator.add",
/// "torch.nn.functional.relu", "torch.ops.aten.add.Tensor"). Several results come as a list. UnsupportedOp, naming it,
/// where there is none.
Result<Value> callTorch(std::string_view name, const ValueList& args, const KeywordValues& kwargs, OpMode mode);

}  // namespace kerf::inline torch_api
