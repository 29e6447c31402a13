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
/// _push_dispatch_mode, _pop_dispatch_mode of torch._C.
bool addDispatchModes(PyObject* module);

}  // namespace kerf::inline torch_api
