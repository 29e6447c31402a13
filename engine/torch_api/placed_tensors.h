// PlacedTensors: tensors of several ranks in eager mode. A handle has the whole sizes; who implements this keeps the part
// of this rank, and answers every operator that gets such a handle.
#pragma once

#include <functional>

#include "engine/ops/core/composite.h"
#include "engine/ops/core/op_registry.h"
#include "engine/python/reference.h"

namespace kerf::inline torch_api {

/// What makes a view of its base, done to another tensor with the base's sizes.
using ViewReplay = std::function<Result<Tensor>(const Tensor& of, const OpRunner& run)>;

class PlacedTensors {
 public:
  virtual ~PlacedTensors() = default;
  virtual bool holds(const Tensor& tensor) const = 0;
  /// The operator on the parts. What it writes into stays the same handle.
  virtual Result<Value> call(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs) = 0;
  /// Whether one is a view of the other, or both are views of a third: writing into either reaches both.
  virtual bool share(const Tensor& one, const Tensor& other) const = 0;
  /// The steps from `base` to its view. Null where `view` is none of it.
  virtual ViewReplay replay(const Tensor& view, const Tensor& base) const = 0;
  /// What new objects of such tensors are: torch.distributed.tensor.DTensor. Borrowed; null before it is told.
  virtual PyTypeObject* type() const = 0;
};

/// Null until a program has made a tensor of several ranks.
PlacedTensors* placedTensors();
/// Stays for the rest of the process.
void setPlacedTensors(PlacedTensors* tensors);

bool isPlaced(const Tensor& tensor);
/// By the steps of a tensor of several ranks; else by strides and offset.
ViewReplay viewReplay(const Tensor& view, const Tensor& base);
/// Whether writing into either reaches both.
bool sharesValues(const Tensor& one, const Tensor& other);
bool anyPlaced(const ValueList& args, const KeywordValues& kwargs);
/// UnsupportedOp, naming what was asked for, where only a part of the tensor is here.
Result<void> refusePlaced(const Tensor& tensor, std::string_view what);

}  // namespace kerf::inline torch_api
