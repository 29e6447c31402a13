#include "engine/audit/meaning/redrawn_inputs.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "engine/audit/kernels/kernel_model.h"
#include "engine/audit/meaning/lanes.h"

namespace kerf::inline audit {
namespace {

constexpr std::size_t mostSizes = 12;
constexpr int mostFits = 200;

bool isRedrawn(const Value& input) { return input.isTensor() && !isComplex(input.tensor().dtype()); }

bool isFlag(const Value& input) { return isRedrawn(input) && input.tensor().dtype() == DType::Bool; }

bool isWhole(const Value& input) {
  return isRedrawn(input) && !isFloating(input.tensor().dtype()) && input.tensor().dtype() != DType::Bool;
}

/// One number that is not whole: the first of what is 0 or 1, then what is above 0 or below.
bool isSingle(const Value& input, bool ofFlags) {
  return isRedrawn(input) && !isWhole(input) && input.tensor().numel() == 1 && isFlag(input) == ofFlags;
}

}  // namespace

RedrawnInputs::RedrawnInputs(const GraphModule& graph, const std::vector<std::string_view>& kernels, ValueList inputs,
                             bool isPositive)
    : m_inputs(std::move(inputs)), m_ranges(m_inputs.size()) {
  std::set<double, std::greater<>> sizes;
  for (const NodeId id : graph.graph.order()) {
    const Node& node = graph.graph.node(id);
    m_kinds.mention(node);
    for (const std::string_view special : {"isnan", "isinf", "isfinite", "nan_to_num"})
      if (node.target().find(special) != std::string::npos) m_kinds.askForSpecials();
  }
  for (const std::string_view each : kernels) m_kinds.mentionOfKernel(each);
  m_kinds.setPositive(isPositive);
  m_asksForMost = m_kinds.asksForSpecials();
  for (const Value& input : m_inputs) {
    if (!isRedrawn(input)) continue;
    for (const std::int64_t each : input.tensor().sizes())
      if (each > 1) sizes.insert(double(each));
    m_asksForMost = m_asksForMost || !isFloating(input.tensor().dtype()) ||
                    std::size_t(input.tensor().numel()) < DrawnKinds::fewElements;
  }
  for (const double size : sizes)
    if (m_sizes.size() < mostSizes) m_sizes.push_back(size);
}

void RedrawnInputs::fit(const std::function<bool(const ValueList&)>& runs) {
  std::vector<WholeRange> ranges = {{-DrawnKinds::usualWhole, DrawnKinds::usualWhole}};
  for (const double size : m_sizes) {
    ranges.push_back({-size, size - 1});
    ranges.push_back({0, size - 1});
  }
  ranges.push_back({0, 1});
  ranges.push_back({0, 0});  // of an axis with one element
  int fits = 0;
  for (std::size_t i = 0; i < m_inputs.size(); ++i) {
    if (!isWhole(m_inputs[i])) continue;
    const auto isFit = [&](const WholeRange& range) {
      m_ranges[i] = Range{range, true};
      for (int which = 1; which < most; ++which) {
        if (++fits > mostFits) return false;
        ValueList only = m_inputs;
        only[i] = draw(which)[i];
        if (!runs(only)) return false;
        constexpr std::int64_t few = 256;  // the bounds of a range may not be among so few
        if (m_inputs[i].tensor().numel() >= few) break;
      }
      return true;
    };
    if (std::ranges::none_of(ranges, isFit)) m_ranges[i] = Range();
  }
}

bool RedrawnInputs::isFixed(std::size_t input) const {
  const Value& value = m_inputs[input];
  return value.isTensor() && (!isRedrawn(value) || (isWhole(value) && !m_ranges[input].isKnown));
}

ValueList RedrawnInputs::draw(int which) const {
  if (which == 0) return m_inputs;
  ValueList made = m_inputs;
  std::array<std::size_t, 2> singles = {0, 0};  // of floats, which come after the flags; of flags
  for (const Value& each : m_inputs) singles[0] += isSingle(each, true) ? 1 : 0;
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (!made[i].isTensor() || isFixed(i)) continue;
    const DType dtype = made[i].tensor().dtype();
    auto numbers = numbersOf(made[i].tensor());
    if (!numbers) continue;
    constexpr std::uint64_t draws = 1 << 20;
    const std::size_t count = numbers->values.size();
    const LaneType lane = laneTypeOf(elementType(dtypeInfo(dtype).torchName));
    std::size_t& single = singles[dtype == DType::Bool ? 1 : 0];
    double* const to = numbers->values.edit();
    for (std::size_t element = 0; element < count; ++element) {
      const DrawnPlace place{which, i + std::uint64_t(which) * draws, element, count, single};
      if (isFloating(dtype))
        to[element] = m_kinds.real(place);
      else
        to[element] = dtype == DType::Bool ? DrawnKinds::flag(place) : asLane(lane, m_kinds.whole(place, m_ranges[i]));
    }
    if (!isWhole(m_inputs[i]) && count == 1) ++single;
    if (auto value = withNumbers(m_inputs[i].tensor(), *numbers)) made[i] = std::move(*value);
  }
  return made;
}

}  // namespace kerf::inline audit
