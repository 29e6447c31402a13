#include "engine/audit/meaning/redrawn_inputs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "engine/audit/kernels/kernel_model.h"
#include "engine/audit/meaning/lanes.h"

namespace kerf::inline audit {
namespace {

constexpr std::size_t mostConstants = 64, mostSizes = 12;
constexpr double farthestConstant = 1e5;  ///< of floats: larger ones would drown what they are added to
constexpr int mostFits = 200;

/// Between 0 and 1.
double fractionOf(std::uint64_t seed, std::uint64_t element) {
  std::uint64_t mixed = (seed + 1) * 0x9e3779b97f4a7c15ULL + element;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
  return double((mixed ^ (mixed >> 31)) >> 11) * 0x1p-53;
}

double pick(const std::vector<double>& from, double part) {
  return from[std::min(std::size_t(part * double(from.size())), from.size() - 1)];
}

void addConstants(const Argument& argument, std::set<double>& into) {
  if (into.size() >= mostConstants) return;
  if (const auto* const whole = argument.as<std::int64_t>()) into.insert(double(*whole));
  if (const auto* const real = argument.as<double>(); real != nullptr && std::isfinite(*real)) into.insert(*real);
  if (const ListArgument* const list = argument.asList())
    for (const Argument& each : list->items) addConstants(each, into);
}

/// Strides of an input count where the program reads it: others stay as they were given.
bool isRedrawn(const Value& input) {
  return input.isTensor() && input.tensor().isContiguous() && !isComplex(input.tensor().dtype());
}

bool isWhole(const Value& input) {
  return isRedrawn(input) && !isFloating(input.tensor().dtype()) && input.tensor().dtype() != DType::Bool;
}

}  // namespace

RedrawnInputs::RedrawnInputs(const GraphModule& graph, ValueList inputs, bool isPositive)
    : m_inputs(std::move(inputs)), m_ranges(m_inputs.size()), m_isPositive(isPositive) {
  std::set<double> constants{0};
  std::set<double, std::greater<>> sizes;
  const auto sized = [&](const Sizes& of) {
    for (const std::int64_t each : of)
      if (each > 1) sizes.insert(double(each));
  };
  for (const NodeId id : graph.graph.order()) {
    const Node& node = graph.graph.node(id);
    for (const Argument& each : node.args()) addConstants(each, constants);
    for (const auto& [name, each] : node.kwargs()) addConstants(each, constants);
    for (const std::string_view special : {"isnan", "isinf", "isfinite", "nan_to_num"})
      m_asksForSpecials = m_asksForSpecials || node.target().find(special) != std::string::npos;
  }
  for (const Value& input : m_inputs) {
    if (!input.isTensor()) continue;
    sized(input.tensor().sizes());
    m_hasWhole = m_hasWhole || (isRedrawn(input) && !isFloating(input.tensor().dtype()));
  }
  m_hasWhole = m_hasWhole || m_asksForSpecials;
  m_constants.assign(constants.begin(), constants.end());
  for (const double size : sizes)
    if (m_sizes.size() < mostSizes) m_sizes.push_back(size);
}

void RedrawnInputs::fit(const std::function<bool(const ValueList&)>& runs) {
  // Products of numbers beyond it would not be whole in doubles.
  constexpr double usual = 1000;
  std::vector<Range> ranges = {{-usual, usual}};
  for (const double size : m_sizes) {
    ranges.push_back({-size, size - 1});
    ranges.push_back({0, size - 1});
  }
  ranges.push_back({0, 1});
  int fits = 0;
  for (std::size_t i = 0; i < m_inputs.size(); ++i) {
    if (!isWhole(m_inputs[i])) continue;
    const auto isFit = [&](const Range& range) {
      m_ranges[i] = range;
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

double RedrawnInputs::real(int which, std::uint64_t seed, std::size_t element, std::size_t count) const {
  constexpr int constantsDraw = 1, zerosDraw = 2, specialsDraw = 3, endlessDraw = 4;
  constexpr std::uint64_t kinds = 1 << 19;
  constexpr double reach = 1.7, wide = 8;
  const double part = fractionOf(seed, element), kind = fractionOf(seed + kinds, element);
  const bool isFirstHalf = count == 1 || element < count / 2;
  if (which == zerosDraw && isFirstHalf && !m_isPositive) return 0;
  if (m_asksForSpecials && which == endlessDraw && isFirstHalf) return -endlessLane;
  if (m_asksForSpecials && which == specialsDraw && (kind < 0.25 || count == 1)) {
    constexpr std::array<double, 3> specials = {std::numeric_limits<double>::quiet_NaN(), endlessLane, -endlessLane};
    return specials[std::min<std::size_t>(std::size_t(part * 3), 2)];
  }
  if (which == constantsDraw && kind < 0.25) {
    const double constant = pick(m_constants, kind * 4);
    constexpr std::array<double, 3> near = {1, 0.99, 1.01};
    if (std::abs(constant) <= farthestConstant && !(m_isPositive && constant <= 0))
      return constant * near[std::min<std::size_t>(std::size_t(part * 3), 2)];
  }
  return (kind > 0.94 ? wide : 1) * (m_isPositive ? 0.05 + reach * part : 2 * reach * part - reach);
}

double RedrawnInputs::whole(int which, std::uint64_t seed, std::size_t element, std::size_t count,
                            const Range& range) const {
  constexpr std::uint64_t kinds = 1 << 19;
  const double part = fractionOf(seed, element), kind = fractionOf(seed + kinds, element);
  const bool isOne = count == 1;
  if (isOne ? which == 1 : kind < 0.0625) return range.low;
  if (isOne ? which == 2 : kind < 0.125) return range.high;
  if (kind < 0.5) {
    const double constant = pick(m_constants, part), near = constant + std::floor(kind * 24) - 7;  // from -4 to 4
    if (constant == std::floor(constant) && near >= range.low && near <= range.high) return near;
  }
  return range.low + std::floor(part * (range.high - range.low + 1));
}

namespace {

/// What the single flag number `flag` is in draw `which` from 1 to 7. The first three come in all combinations; each
/// two of the first 126 differ in some draw.
double flagIn(int which, std::size_t flag) {
  constexpr unsigned patterns = 126, firsts[] = {0b1010101, 0b1100110, 0b1111000};
  if (flag < std::size(firsts)) return (which >> flag) & 1;
  std::size_t left = (flag - std::size(firsts)) % (patterns - std::size(firsts));
  for (unsigned n = 0; n < patterns; ++n) {
    const unsigned pattern = 1 + n * 37 % patterns;
    if (std::ranges::find(firsts, pattern) != std::end(firsts)) continue;
    if (left-- == 0) return (pattern >> (which - 1)) & 1;
  }
  return 0;
}

}  // namespace

ValueList RedrawnInputs::draw(int which) const {
  if (which == 0) return m_inputs;
  ValueList made = m_inputs;
  std::size_t flags = 0;  // single ones
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (!isRedrawn(made[i])) continue;
    const DType dtype = made[i].tensor().dtype();
    if (isWhole(made[i]) && m_ranges[i].high < m_ranges[i].low) continue;
    auto numbers = numbersOf(made[i].tensor());
    if (!numbers) continue;
    constexpr std::uint64_t draws = 1 << 20;
    const std::uint64_t seed = i + std::uint64_t(which) * draws;
    const std::size_t count = numbers->values.size();
    const LaneType lane = laneTypeOf(elementType(dtypeInfo(dtype).torchName));
    double* const to = numbers->values.edit();
    for (std::size_t element = 0; element < count; ++element) {
      if (isFloating(dtype))
        to[element] = real(which, seed, element, count);
      else if (dtype == DType::Bool)  // one flag alone both ways, and several in all combinations
        to[element] = count == 1 ? flagIn(which, flags) : std::floor(2 * fractionOf(seed, element));
      else
        to[element] = asLane(lane, whole(which, seed, element, count, m_ranges[i]));
    }
    if (dtype == DType::Bool && count == 1) ++flags;
    numbers->dtype = isFloating(dtype) ? DType::Float64 : dtype;
    if (auto tensor = tensorOf(*numbers)) made[i] = Value(std::move(*tensor));
  }
  return made;
}

}  // namespace kerf::inline audit
