// KernelLanes: what an expression of a kernel is worth: one number, or one for each lane of a block or vector. Floats are
// doubles whatever their type, so that nothing is rounded; integers wrap as their type does.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/audit/meaning/number_array.h"
#include "engine/audit/syntax/syntax_node.h"

namespace kerf::inline audit {

enum class LaneType : std::uint8_t {
  Bool,
  UInt8,
  Int8,
  UInt16,
  Int16,
  UInt32,
  Int32,
  UInt64,
  Int64,
  Float16,
  BFloat16,
  Float32,
  Float64,
};
constexpr bool isFloatLane(LaneType type) { return type >= LaneType::Float16; }
/// Of "float32", "int64", …; Float32 for what is no such name.
LaneType laneTypeOf(std::string_view element);
/// The whole numbers that an integer type has.
struct LaneRange {
  double low, high;
};
constexpr double endlessLane = std::numeric_limits<double>::infinity();
constexpr std::array<LaneRange, 13> laneRanges = {{{0, 1},
                                                   {0, 255},
                                                   {-128, 127},
                                                   {0, 65535},
                                                   {-32768, 32767},
                                                   {0, 4294967295.0},
                                                   {-2147483648.0, 2147483647.0},
                                                   {-endlessLane, endlessLane},
                                                   {-endlessLane, endlessLane},
                                                   {},
                                                   {},
                                                   {},
                                                   {}}};
/// Of an integer type: what lies beyond its range wraps.
double wrappedLane(LaneType type, double value);
/// `value` as `type` keeps it: integers wrap, bool is 0 or 1, floats stay.
inline double asLane(LaneType type, double value) {
  if (isFloatLane(type)) return value;
  if (type == LaneType::Bool) return value != 0 ? 1 : 0;
  const double whole = std::trunc(value);
  const LaneRange range = laneRanges[std::size_t(type)];
  return whole >= range.low && whole <= range.high ? whole : wrappedLane(type, whole);
}

class KernelLanes {
 public:
  KernelLanes() = default;
  KernelLanes(double number, LaneType of) : type(of), m_number(number) {}
  KernelLanes(NumberArray numbers, LaneType of) : type(of), m_many(std::move(numbers)), m_isOne(false) {}
  KernelLanes(std::vector<double> numbers, LaneType of) : KernelLanes(NumberArray(std::move(numbers)), of) {}
  static KernelLanes unknown(LaneType of = LaneType::Float32) {
    KernelLanes lanes(0, of);
    lanes.isUnknown = true;
    return lanes;
  }

  std::size_t size() const { return m_isOne ? 1 : m_many.size(); }
  bool isOne() const { return m_isOne; }
  /// Whether it can be read lane by lane beside values of so many.
  bool fits(std::size_t count) const { return m_isOne || m_many.size() >= count; }
  double at(std::size_t i) const { return m_isOne ? m_number : m_many.data()[i]; }
  const double* data() const { return m_isOne ? &m_number : m_many.data(); }
  /// Of the same numbers `count` times, where it is one.
  KernelLanes spread(std::size_t count) const;

  LaneType type = LaneType::Float32;
  bool isUnknown = false;
  int memory = -1;                                        ///< of a pointer: which memory; the numbers are places in it
  std::shared_ptr<const std::vector<KernelLanes>> parts;  ///< of a tuple
  const SyntaxNode* lambda = nullptr;                     ///< of a function that the kernel defines

 private:
  double m_number = 0;
  NumberArray m_many;
  bool m_isOne = true;
};

/// Element by element; what is one counts for all lanes. Unknown if either is.
template <class Function>
KernelLanes zipLanes(const KernelLanes& a, const KernelLanes& b, LaneType type, const Function& function) {
  if (a.isUnknown || b.isUnknown) return KernelLanes::unknown(type);
  if (a.isOne() && b.isOne()) return {function(a.at(0), b.at(0)), type};
  const std::size_t count = a.isOne() ? b.size() : b.isOne() ? a.size() : std::min(a.size(), b.size());
  NumberArray result(count);
  double* const to = result.edit();
  const double *const left = a.data(), *const right = b.data();
  if (a.isOne())
    for (std::size_t i = 0; i < count; ++i) to[i] = function(*left, right[i]);
  else if (b.isOne())
    for (std::size_t i = 0; i < count; ++i) to[i] = function(left[i], *right);
  else
    for (std::size_t i = 0; i < count; ++i) to[i] = function(left[i], right[i]);
  return {std::move(result), type};
}
template <class Function>
KernelLanes mapLanes(const KernelLanes& a, LaneType type, const Function& function) {
  if (a.isUnknown) return KernelLanes::unknown(type);
  if (a.isOne()) return {function(a.at(0)), type};
  NumberArray result(a.size());
  double* const to = result.edit();
  const double* const from = a.data();
  for (std::size_t i = 0; i < result.size(); ++i) to[i] = function(from[i]);
  return {std::move(result), type};
}

KernelLanes tupleOf(std::vector<KernelLanes> parts);
KernelLanes castLanes(const KernelLanes& value, LaneType type);
KernelLanes chooseLanes(const KernelLanes& condition, const KernelLanes& a, const KernelLanes& b);
LaneType commonLane(const KernelLanes& a, const KernelLanes& b);
/// Of "+", "//", "<", "&", … as both languages mean it.
KernelLanes operateLanes(std::string_view sign, const KernelLanes& a, const KernelLanes& b);
/// Of "exp", "rsqrt", "pow", …; null where it is not known.
using UnaryNumber = double (*)(double);
UnaryNumber unaryNumber(std::string_view name);
using BinaryNumber = double (*)(double, double);
BinaryNumber binaryNumber(std::string_view name);

/// Of "floor", "trunc", …: whether another rounding of a lane would give another whole number.
bool isDecidedByRounding(std::string_view name, const KernelLanes& value);
/// Stands for any random number generator: the number that `seed` gives for `offset`, in [0, 1).
double drawnNumber(double seed, double offset);

}  // namespace kerf::inline audit
