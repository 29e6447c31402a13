#include "engine/capture/plausible/input_filler.h"

#include <algorithm>

#include "engine/capture/common/random_data.h"
#include "engine/capture/plausible/fill_need.h"
#include "engine/capture/plausible/infer_needs.h"
#include "engine/ops/core/op_registry.h"

namespace kerf::inline capture {
namespace {

using View = InputFiller::View;

/// Elements [first, last) of the storage that a tensor may touch, in bytes.
struct Extent {
  std::int64_t first = 0, last = 0;
  bool meets(const Extent& other) const { return first < other.last && other.first < last; }
};

Extent extentOf(const Tensor& tensor) {
  const std::int64_t item = itemSize(tensor.dtype());
  std::int64_t reach = 1;
  for (std::size_t d = 0; d < tensor.sizes().size(); ++d) {
    if (tensor.sizes()[d] == 0) return {};
    reach += (tensor.sizes()[d] - 1) * tensor.strides()[d];
  }
  return {tensor.offset() * item, (tensor.offset() + reach) * item};
}

/// Views that share elements must agree on what those are.
struct Group {
  Extent extent;
  std::vector<const View*> views;
};

std::vector<Group> groupsOf(const std::vector<View>& views) {
  std::vector<Group> groups;
  for (const View& view : views) {
    Group mine{extentOf(view.tensor), {&view}};
    for (auto group = groups.begin(); group != groups.end();) {
      if (!group->extent.meets(mine.extent)) {
        ++group;
        continue;
      }
      mine.extent = {std::min(mine.extent.first, group->extent.first), std::max(mine.extent.last, group->extent.last)};
      mine.views.insert(mine.views.begin(), group->views.begin(), group->views.end());
      group = groups.erase(group);
    }
    groups.push_back(std::move(mine));
  }
  return groups;
}

void fillOnes(Tensor tensor) {
  ValueNeed one;
  one.hard = one.likely = {1, 1};
  one.whole = true;
  if (tensor.dtype() == DType::Bool) one.pattern = ValueNeed::Pattern::Binary, one.ones = 2;
  fillAsNeeded(tensor, one, FillPart::View, 0);
}

std::string_view usualOf(DType dtype) {
  if (dtype == DType::Bool) return "no use asks for more: a mask, mostly true";
  return isIntegral(dtype) ? "no use asks for more: whole numbers from 0 to 7"
                           : "no use asks for more: normal, scale 1";
}

}  // namespace

InputFiller::InputFiller(const GraphModule& module, InputFill fill, std::uint64_t seed)
    : m_module(module), m_placeholders(module.graph.placeholders()), m_fill(fill), m_seed(seed) {}

const std::string& InputFiller::nameOf(std::size_t placeholder) const {
  static const std::string nobody;
  return placeholder < m_placeholders.size() ? m_module.graph.node(m_placeholders[placeholder]).target() : nobody;
}

const ValueNeed& InputFiller::needOf(std::size_t placeholder) {
  if (!m_shaped) (void)propagateShapes(m_module);  // where an op is unknown, annotations stay, or nothing is known
  m_shaped = true;
  const auto [found, isNew] = m_needs.try_emplace(placeholder);
  if (isNew && placeholder < m_placeholders.size())
    found->second = needOfNode(m_module, m_placeholders[placeholder], m_lists);
  return found->second;
}

std::string InputFiller::why(std::size_t placeholder, DType dtype) {
  if (m_fill == InputFill::Random)
    return isFloating(dtype) || isComplex(dtype) ? "PyTorch's rule: normal" : "PyTorch's rule: zero";
  if (m_fill != InputFill::Plausible) return std::string(inputFillName(m_fill));
  const ValueNeed& need = needOf(placeholder);
  return need.reasons.empty() ? std::string(usualOf(dtype)) : need.text();
}

void InputFiller::fill(const StoragePtr& storage, const std::vector<View>& views, DType hint, std::uint64_t index) {
  switch (m_fill) {
    case InputFill::Random:
      return fillLikeRandStrided(*storage, hint, m_seed + index);
    case InputFill::Plausible:
      return fillPlausible(views);
    case InputFill::Ones:
      for (const View& view : views) fillOnes(view.tensor);
      return;
    case InputFill::Zeros:
      return;
  }
}

void InputFiller::fillPlausible(const std::vector<View>& views) {
  const std::vector<Group> groups = groupsOf(views);
  for (const Group& group : groups) {
    ValueNeed need;
    for (const View* view : group.views) need.meet(needOf(view->placeholder));
    const std::uint64_t seed = seedOfInput(m_seed, nameOf(group.views.front()->placeholder));
    const bool alone = groups.size() == 1 && group.views.size() == 1;
    for (const View* view : group.views) {
      Tensor tensor = view->tensor;
      fillAsNeeded(tensor, need, alone ? FillPart::Storage : FillPart::View, seed);
    }
  }
}

}  // namespace kerf::inline capture
