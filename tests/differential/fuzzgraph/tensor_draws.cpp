// Tensor arguments: of the graph or new, alike to the first tensor of the call more often than not.
#include <algorithm>

#include "tests/differential/fuzzgraph/call_draft.h"

namespace kerf::fuzzgraph {
namespace {

using TensorDraw = Operand (*)(CallDraft&);

Sizes firstSizes(CallDraft& draft) { return draft.first() ? draft.first()->sizes() : draft.build.randomSizes(); }

Operand likeFirst(CallDraft& draft) {
  const DType dtype = draft.first() ? draft.first()->dtype() : draft.build.randomDType();
  return draft.build.fresh(dtype, firstSizes(draft), draft.build.randomRange());
}

std::int64_t extentOfDim(CallDraft& draft) {
  const Tensor* first = draft.first();
  if (!first || first->dim() == 0) return 1;
  const Operand* dim = draft.find("dim");
  const std::int64_t* given = dim ? dim->value.as<std::int64_t>() : nullptr;
  if (!given) return *std::ranges::min_element(first->sizes());
  return first->size(std::clamp<std::int64_t>(*given < 0 ? *given + first->dim() : *given, 0, first->dim() - 1));
}

Operand drawIndices(CallDraft& draft) {
  const DType dtype = draft.dice.chance(90) ? DType::Int64 : DType::Int32;
  if (draft.dice.chance(50) || firstSizes(draft).empty())
    return draft.indices({draft.dice.between(1, 4)}, extentOfDim(draft), dtype);
  return draft.indices(firstSizes(draft), extentOfDim(draft), dtype);
}

Operand drawMask(CallDraft& draft) {
  if (draft.dice.chance(50)) {
    auto known = draft.existing(
        [&](const Tensor& tensor) { return tensor.dtype() == DType::Bool && tensor.sizes() == firstSizes(draft); });
    if (known) return *known;
  }
  return draft.bools(firstSizes(draft));
}

/// One number for each channel, which is dimension 1, or the last one.
Operand drawVector(CallDraft& draft) {
  const Sizes sizes = firstSizes(draft);
  if (sizes.empty()) return likeFirst(draft);
  const std::int64_t length = sizes.size() > 1 && draft.dice.chance(60) ? sizes[1] : sizes.back();
  return draft.build.fresh(draft.first() ? draft.first()->dtype() : draft.floatDType(), {length}, {0.1, 2});
}

struct NamedTensorDraw {
  std::string_view name;
  TensorDraw draw;
};
constexpr NamedTensorDraw tensorDraws[] = {
    {"index", drawIndices}, {"indices", drawIndices},     {"mask", drawMask},          {"condition", drawMask},
    {"weight", drawVector}, {"running_mean", drawVector}, {"running_var", drawVector}, {"bias", drawVector},
};

Operand broadcastable(CallDraft& draft) {
  Sizes sizes = firstSizes(draft);
  for (std::int64_t& size : sizes)
    if (draft.dice.chance(40)) size = 1;
  while (!sizes.empty() && draft.dice.chance(30)) sizes.erase(sizes.begin());
  return draft.build.fresh(draft.first()->dtype(), sizes, draft.build.randomRange());
}

std::optional<Operand> knownAlike(CallDraft& draft) {
  const Sizes sizes = firstSizes(draft);
  const DType dtype = draft.first()->dtype();
  const bool anyDType = draft.dice.chance(25);
  return draft.existing(
      [&](const Tensor& tensor) { return tensor.sizes() == sizes && (anyDType || tensor.dtype() == dtype); });
}

Operand startingTensor(CallDraft& draft) {
  if (draft.dice.chance(80))
    if (auto known = draft.existing([](const Tensor&) { return true; })) return *known;
  return draft.build.fresh(draft.build.randomDType(), draft.build.randomSizes(), draft.build.randomRange());
}

}  // namespace

std::optional<Operand> drawTensorArgument(CallDraft& draft, const SchemaArgument& argument) {
  if (argument.name == "repeats") return draft.indices({draft.first() ? extentOfDim(draft) : 4}, 3);
  if (!draft.first()) return startingTensor(draft);
  const auto named = std::ranges::find(tensorDraws, argument.name, &NamedTensorDraw::name);
  if (named != std::end(tensorDraws) && draft.dice.chance(85)) return named->draw(draft);
  const std::size_t way = draft.dice.below(100);
  if (way < 45)
    if (auto known = knownAlike(draft)) return known;
  if (way < 62) return broadcastable(draft);
  if (way < 70) return startingTensor(draft);
  if (way < 73) return draft.build.fresh(draft.first()->dtype(), {}, draft.build.randomRange());
  return likeFirst(draft);
}

}  // namespace kerf::fuzzgraph
