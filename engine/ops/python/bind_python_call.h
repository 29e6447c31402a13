// The binder: what a call that Dynamo or a program wrote means, by PyTorch's own signatures and its parser's rules.
#pragma once

#include <functional>

#include "engine/ops/python/argument_parser.h"

namespace kerf::inline ops {

/// A call in its one written form. `target` is the ATen overload ("torch.ops.aten.std.correction") where PyTorch's
/// parser is all that lies between them, else the function's name in the table ("torch.nn.functional.elu", "Tensor.to")
/// with every argument that is not at its default, by position as far as they go.
struct BoundPythonCall {
  std::string target;
  ArgumentList args;
  KeywordArguments kwargs;
};

/// Binds a call to its signature. `target` as graphs name it: "method.std" (self is the first positional argument),
/// "torch.std", "torch.nn.functional.elu", "torch._C._nn.gelu". Tensors are opaque nodes, of which `nodes` says what is
/// known. BadInput, with the allowed forms, when no form takes the arguments or when they leave several; UnsupportedOp
/// for a name that is no function of PyTorch.
Result<BoundPythonCall> bindPythonCall(std::string_view target, const ArgumentList& args,
                                       const KeywordArguments& kwargs, const std::function<CallOperand(NodeId)>& nodes);

/// The same for values: the form that the call means.
Result<BoundForm> bindPythonCall(std::string_view target, const ValueList& args, const KeywordValues& kwargs);

}  // namespace kerf::inline ops
