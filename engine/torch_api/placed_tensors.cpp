#include "engine/torch_api/placed_tensors.h"

#include <algorithm>

#include "engine/ops/core/op_call.h"

namespace kerf::inline torch_api {
namespace {

PlacedTensors* placedOfProcess = nullptr;

bool holdsPlaced(const Value& value) {
  if (value.isTensor()) return placedOfProcess->holds(value.tensor());
  return value.isList() && std::ranges::any_of(value.list(), holdsPlaced);
}

}  // namespace

PlacedTensors* placedTensors() { return placedOfProcess; }
void setPlacedTensors(PlacedTensors* tensors) { placedOfProcess = tensors; }

bool isPlaced(const Tensor& tensor) { return placedOfProcess != nullptr && placedOfProcess->holds(tensor); }

ViewReplay viewReplay(const Tensor& view, const Tensor& base) {
  if (isPlaced(view) && isPlaced(base))
    if (ViewReplay steps = placedOfProcess->replay(view, base)) return steps;
  const Tensor like = metaTensor(view.dtype(), view.symSizes(), view.symStrides(), view.symOffset() - base.symOffset());
  return [like](const Tensor& of, const OpRunner& run) -> Result<Tensor> {
    return run("aten.as_strided.default"_op,
               {of, intList(like.symSizes()), intList(like.symStrides()), Value(like.symOffset())});
  };
}

bool sharesValues(const Tensor& one, const Tensor& other) {
  if (one.storage() == other.storage()) return one.defined();
  return isPlaced(one) && isPlaced(other) && placedOfProcess->share(one, other);
}

bool anyPlaced(const ValueList& args, const KeywordValues& kwargs) {
  if (placedOfProcess == nullptr) return false;
  return std::ranges::any_of(args, holdsPlaced) ||
         std::ranges::any_of(kwargs, [](const auto& named) { return holdsPlaced(named.second); });
}

Result<void> refusePlaced(const Tensor& tensor, std::string_view what) {
  if (!isPlaced(tensor)) return {};
  return fail(ErrorCode::UnsupportedOp,
              "{} of a DTensor: this rank has a part of it only; call full_tensor() or to_local() first", what);
}

}  // namespace kerf::inline torch_api
