// KernelLanes: what an expression of a kernel is worth: one number, or one for each lane of a block or vector. Floats are
// doubles whatever their type, so that nothing is rounded; integers wrap as their type does.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

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
/// `value` as `type` keeps it: integers wrap, bool is 0 or 1, floats stay.
double asLane(LaneType type, double value);

class KernelLanes {
 public:
  KernelLanes() = default;
  KernelLanes(double number, LaneType of) : type(of), m_number(number) {}
  KernelLanes(std::vector<double> numbers, LaneType of)
      : type(of), m_many(std::make_shared<const std::vector<double>>(std::move(numbers))) {}
  static KernelLanes unknown(LaneType of = LaneType::Float32) {
    KernelLanes lanes(0, of);
    lanes.isUnknown = true;
    return lanes;
  }

  std::size_t size() const { return m_many ? m_many->size() : 1; }
  bool isOne() const { return !m_many; }
  double at(std::size_t i) const { return m_many ? (*m_many)[i] : m_number; }
  /// Of the same numbers `count` times, where it is one.
  KernelLanes spread(std::size_t count) const;

  LaneType type = LaneType::Float32;
  bool isUnknown = false;
  int memory = -1;                                        ///< of a pointer: which memory; the numbers are places in it
  std::shared_ptr<const std::vector<KernelLanes>> parts;  ///< of a tuple
  const SyntaxNode* lambda = nullptr;                     ///< of a function that the kernel defines

 private:
  double m_number = 0;
  std::shared_ptr<const std::vector<double>> m_many;
};

/// Element by element; what is one counts for all lanes. Unknown if either is.
template <class Function>
KernelLanes zipLanes(const KernelLanes& a, const KernelLanes& b, LaneType type, const Function& function) {
  if (a.isUnknown || b.isUnknown) return KernelLanes::unknown(type);
  if (a.isOne() && b.isOne()) return {function(a.at(0), b.at(0)), type};
  const std::size_t count = a.isOne() ? b.size() : b.isOne() ? a.size() : std::min(a.size(), b.size());
  std::vector<double> result(count);
  for (std::size_t i = 0; i < count; ++i) result[i] = function(a.at(i), b.at(i));
  return {std::move(result), type};
}
template <class Function>
KernelLanes mapLanes(const KernelLanes& a, LaneType type, const Function& function) {
  if (a.isUnknown) return KernelLanes::unknown(type);
  if (a.isOne()) return {function(a.at(0)), type};
  std::vector<double> result(a.size());
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = function(a.at(i));
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
