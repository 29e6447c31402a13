// PlacedTensors: tensors of several ranks in eager mode. A handle has the whole sizes; who implements this keeps the part
// of this rank, and answers every operator that gets such a handle.
#pragma once

#include "engine/ops/core/op_registry.h"
#include "engine/python/reference.h"

namespace kerf::inline torch_api {

class PlacedTensors {
 public:
  virtual ~PlacedTensors() = default;
  virtual bool holds(const Tensor& tensor) const = 0;
  /// The operator on the parts. What it writes into stays the same handle.
  virtual Result<Value> call(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs) = 0;
  /// What new objects of such tensors are: torch.distributed.tensor.DTensor. Borrowed; null before it is told.
  virtual PyTypeObject* type() const = 0;
};

/// Null until a program has made a tensor of several ranks.
PlacedTensors* placedTensors();
/// Stays for the rest of the process.
void setPlacedTensors(PlacedTensors* tensors);

bool isPlaced(const Tensor& tensor);
bool anyPlaced(const ValueList& args, const KeywordValues& kwargs);
/// UnsupportedOp, naming what was asked for, where only a part of the tensor is here.
Result<void> refusePlaced(const Tensor& tensor, std::string_view what);

}  // namespace kerf::inline torch_api
