// Batched tensors: what torch.vmap hands to its function, and what is computed from it. Each is one example of several, so
// that the function may not ask for its numbers.
#pragma once

#include "engine/python/reference.h"

namespace kerf::inline torch_api {

/// Marks the tensors in a call's result as batched if an argument is one. Nothing outside of vmap.
void noteBatched(PyObject* args, PyObject* kwargs, PyObject* result);

/// Tensor.item(), float(x): false with PyTorch's RuntimeError where a program's function under vmap asks a batched tensor.
bool mayAskItem(PyObject* tensor);
/// `if x:`
bool mayBranchOn(PyObject* tensor);

/// _vmap_enter(tensors) marks them, _vmap_leave() ends the innermost level.
bool addBatchedTensors(PyObject* module);

}  // namespace kerf::inline torch_api
