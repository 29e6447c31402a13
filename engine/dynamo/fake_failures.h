// An operator that fails on the shapes of its inputs while tracing: the error that torch.compile raises for it.
#pragma once

#include <string>
#include <vector>

#include "engine/support/result.h"

namespace kerf::inline dynamo {

class FrameTracer;
struct TracedCall;

/// Raises an operator's own error. With `failsOnData` (it is no shortcoming of shape rules, nor of the arguments' types) the
/// compilation ends there, whatever handlers the program has: torch.compile raises TorchRuntimeError, in PyTorch's words:
/// which call failed on which tensors. Else the program may catch it.
[[noreturn]] void raiseFailure(const FrameTracer& tracer, const TracedCall& call, const Error& error, bool failsOnData);

/// Raises what autograd says of a call that writes into a leaf that needs a gradient; returns for other calls.
void refuseLeafWrite(const FrameTracer& tracer, const TracedCall& call, const std::string& name);

/// Whether the pending exception is one of raiseFailure that ends the compilation.
bool isFailurePending();

/// Puts TorchRuntimeError in the place of a pending exception of raiseFailure. False for other exceptions.
bool raiseForFailure();

/// "\n\nfrom user code:\n   File …": the lines of a stack ("file.py:3 in f", outermost first) as PyTorch adds them.
std::string userCode(const std::vector<std::string>& stack);

/// A link to PyTorch's page on graph breaks of this type; empty for one that has no page.
std::string breakPage(const std::string& type);

}  // namespace kerf::inline dynamo
