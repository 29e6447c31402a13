#include "engine/audit/meaning/drawn_kinds.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>

#include "engine/audit/meaning/lanes.h"

namespace kerf::inline audit {
namespace {

constexpr std::size_t mostConstants = 64;
constexpr double farthestConstant = 1e5;  ///< of floats: larger ones would drown what they are added to
constexpr std::uint64_t kindSeeds = 1 << 19;
constexpr int constantsDraw = 1, zerosDraw = 2, specialsDraw = 3, endlessDraw = 4, laterConstants = 5;
constexpr int smallDraw = 3;  ///< where nothing special is asked for
constexpr std::array<double, 3> nearConstants = {1, 0.99, 1.01};

/// What the single flag number `flag` is in a draw from 1 to 7; false in draw 0.
bool singleFlag(int draw, std::size_t flag) {
  constexpr unsigned patterns = 126, step = 37;
  constexpr std::array<unsigned, 3> firsts = {0b1010101, 0b1100110, 0b1111000};
  if (draw <= 0) return false;
  if (flag < firsts.size()) return ((unsigned(draw) >> flag) & 1U) != 0;
  std::size_t left = (flag - firsts.size()) % (patterns - firsts.size());
  for (unsigned n = 0; n < patterns; ++n) {
    const unsigned pattern = 1 + n * step % patterns;
    if (std::ranges::find(firsts, pattern) != firsts.end()) continue;
    if (left-- == 0) return ((pattern >> unsigned(draw - 1)) & 1U) != 0;
  }
  return false;
}

}  // namespace

double fractionOf(std::uint64_t seed, std::uint64_t element) {
  std::uint64_t mixed = (seed + 1) * 0x9e3779b97f4a7c15ULL + element;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
  return double((mixed ^ (mixed >> 31)) >> 11) * 0x1p-53;
}

void DrawnKinds::mention(double constant) {
  if (m_constants.size() < mostConstants && std::isfinite(constant) &&
      std::ranges::find(m_constants, constant) == m_constants.end())
    m_constants.push_back(constant);
}

void DrawnKinds::mention(const Argument& argument) {
  if (m_constants.size() >= mostConstants) return;
  if (const auto* const whole = argument.as<std::int64_t>()) mention(double(*whole));
  if (const auto* const real = argument.as<double>()) mention(*real);
  if (const ListArgument* const list = argument.asList())
    for (const Argument& each : list->items) mention(each);
}

void DrawnKinds::mention(const Node& node) {
  static constexpr std::array<std::string_view, 8> products = {"mul", "pow", "prod",  "square",
                                                               "dot", "mm",  "shift", "higher_order"};
  m_isWide = m_isWide && std::ranges::none_of(products, [&](std::string_view each) {
               return node.target().find(each) != std::string::npos;
             });
  for (const Argument& each : node.args()) mention(each);
  for (const auto& [name, each] : node.kwargs()) mention(each);
}

void DrawnKinds::mentionOfKernel(std::string_view text) {
  const auto isOfName = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!isOfName(text[i])) continue;
    std::size_t end = i;
    while (end < text.size() && isOfName(text[end])) ++end;
    const std::string_view word = text.substr(i, end - i), before = text.substr(0, i);
    const bool isConstant =
        word.find('.') != std::string_view::npos || before.ends_with(">(") || before.ends_with("], ");
    double value = 0;
    if (isConstant && std::isdigit(static_cast<unsigned char>(word[0])) != 0 &&
        std::from_chars(word.data(), word.data() + word.size(), value).ec == std::errc())
      mention(value);
    i = end;
  }
}

double DrawnKinds::pick(double part) const {
  return m_constants[std::min(std::size_t(part * double(m_constants.size())), m_constants.size() - 1)];
}

double DrawnKinds::real(const DrawnPlace& place) const {
  constexpr double reach = 1.7, wide = 8, mostlyUsual = 0.94;
  const double part = fractionOf(place.seed, place.element), kind = fractionOf(place.seed + kindSeeds, place.element);
  const bool isSingle = place.count == 1, isFirstHalf = isSingle || place.element < place.count / 2;
  if (place.draw == zerosDraw && isFirstHalf && !m_isPositive) return 0;
  if (m_asksForSpecials && place.draw == endlessDraw && isFirstHalf) return -endlessLane;
  if (m_asksForSpecials && place.draw == specialsDraw && (kind < 0.25 || isSingle)) {
    constexpr std::array<double, 3> specials = {std::numeric_limits<double>::quiet_NaN(), endlessLane, -endlessLane};
    return specials[std::min<std::size_t>(std::size_t(part * 3), 2)];
  }
  const bool isOfConstants = place.draw == constantsDraw
                                 ? kind < 0.25
                                 : place.draw >= laterConstants && place.count < fewElements && kind < 0.6;
  if (isOfConstants) {
    const double constant = pick(fractionOf(place.seed + 2 * kindSeeds + 1, place.element));
    const double near = constant * nearConstants[std::min<std::size_t>(std::size_t(part * 3), 2)];
    if (std::abs(constant) <= farthestConstant && !(m_isPositive && constant <= 0))
      return isSingle || m_isPositive || kind < 0.2 ? near : -near;
  }
  // Beside numbers of usual size, 1e-12 that is added to a square is nothing.
  constexpr double small = 1e-6;
  const bool isSmall = place.draw == smallDraw && !m_asksForSpecials;
  const double factor = (kind > mostlyUsual ? wide : 1) * (isSmall ? small : 1);
  if (m_isPositive) return factor * (0.05 + reach * part);
  if (isSingle) return factor * (singleFlag(place.draw, place.single) ? reach : -reach) * (0.01 + part);
  return factor * (2 * reach * part - reach);
}

double DrawnKinds::whole(const DrawnPlace& place, const WholeRange& range) const {
  constexpr double wideWhole = 3e9, mostlyUsual = 0.94;
  const double part = fractionOf(place.seed, place.element), kind = fractionOf(place.seed + kindSeeds, place.element);
  const bool isSingle = place.count == 1;
  if (isSingle ? place.draw == 1 : kind < 0.0625) return range.low;
  if (isSingle ? place.draw == 2 : kind < 0.125) return range.high;
  if (kind < 0.5) {
    const double constant = pick(part), near = constant + std::floor(kind * 24) - 7;  // from -4 to 4
    const bool isIn = range.low == -usualWhole ? std::abs(near) <= (m_isWide ? wideWhole : farthestConstant)
                                               : near >= range.low && near <= range.high;
    if (constant == std::floor(constant) && isIn) return near;
  }
  if (m_isWide && range.low == -usualWhole && kind > mostlyUsual) return std::floor(wideWhole * (2 * part - 1));
  return range.low + std::floor(part * (range.high - range.low + 1));
}

double DrawnKinds::flag(const DrawnPlace& place) {
  if (place.count == 1) return singleFlag(place.draw, place.single) ? 1 : 0;
  return std::floor(2 * fractionOf(place.seed, place.element));
}

}  // namespace kerf::inline audit
