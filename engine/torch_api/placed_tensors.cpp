#include "engine/torch_api/placed_tensors.h"

#include <algorithm>

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
