// TorchDispatchMode: programs see every ATen op below autograd, and may answer in its place.
#pragma once

#include "engine/ops/core/op_registry.h"
#include "engine/python/reference.h"

namespace kerf::inline torch_api {

/// Modes that are on, the innermost last.
std::vector<Ref>& dispatchModes();
/// Whether the innermost one wants ops that are programs over others as they are.
bool dispatchModeKeepsComposites();
/// Whether the innermost one wants this op as what core_aten_decompositions() makes of it: it has `decomposition_table`
/// "core", and not the op's name ("aten.silu.default") among `kept_operators`.
bool dispatchModeDecomposes(const OpInfo& op);
/// What the innermost mode's __torch_dispatch__ gives for a call. That mode is off while it runs.
Result<Value> callDispatchMode(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs);

/// What Python gets of a call: the overload (torch.ops.aten.add.Tensor), and its arguments.
struct DispatchCall {
  Ref overload, args, kwargs;
};
Result<DispatchCall> dispatchCall(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs);

/// While one lives, nothing is taped: what answers an operator runs below autograd.
class BelowAutograd {
 public:
  BelowAutograd();
  ~BelowAutograd();
  BelowAutograd(const BelowAutograd&) = delete;
  BelowAutograd& operator=(const BelowAutograd&) = delete;
};
bool isBelowAutograd();

/// _push_dispatch_mode, _pop_dispatch_mode of torch._C.
bool addDispatchModes(PyObject* module);

}  // namespace kerf::inline torch_api
