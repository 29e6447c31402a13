// SymInt: a size as torch.SymInt has it: a plain integer, or an expression of the ShapeEnv that this thread works in.
//
//     SymInt n = x.symSize(0);            2*s0            nothing is decided
//     if (n == 1) …                       Eq(2*s0, 1)     decided by ranges, or by the hint: then it is a guard
//     std::int64_t fixed = n;             16              specialised: the guard Eq(2*s0, 16)
#pragma once

#include <concepts>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "engine/support/error.h"

namespace kerf::inline symbolic {

/// Thrown by what needs to know the value of an expression and cannot, and by expressions that grow without bound.
/// runShapeRule() and the other doors to symbolic code turn it into the Error.
struct SymbolicFailure {
  Error error;
};

/// Eight bytes, copied like an integer. An expression is an index into the thread's ShapeEnv (ShapeEnv::Scope) and must
/// not outlive it. Plain integers cost one comparison more than an int64.
class SymInt {
 public:
  constexpr SymInt() = default;
  template <std::integral T>
  constexpr SymInt(T value) : m_bits(plainBits(static_cast<std::int64_t>(value))) {}  // NOLINT: a number is a size
  static constexpr SymInt ofExpression(std::uint32_t index) { return SymInt(Bits{}, firstExpression + index); }

  constexpr bool isSymbolic() const { return isExpression(m_bits); }
  /// Of an expression: its index in the ShapeEnv.
  constexpr std::uint32_t index() const { return static_cast<std::uint32_t>(m_bits - firstExpression); }
  /// The number of a plain one; of an expression its hint, which becomes a guard (specialisation).
  constexpr operator std::int64_t() const { return isSymbolic() ? specialised() : m_bits; }  // NOLINT
  /// Equal for the same number and for the same expression, nothing else: never a guard.
  constexpr bool isIdentical(SymInt other) const { return m_bits == other.m_bits; }
  constexpr std::int64_t bits() const { return m_bits; }

  /// Whether an int64 would be read as an expression: 2^32 numbers beside the smallest one, which no size can be.
  static constexpr bool isExpression(std::int64_t bits) {
    return static_cast<std::uint64_t>(bits) - static_cast<std::uint64_t>(firstExpression) < (std::uint64_t{1} << 32);
  }
  /// A number as it is kept: those that would be read as an expression become the smallest number.
  static constexpr std::int64_t plainBits(std::int64_t value) { return isExpression(value) ? INT64_MIN : value; }

 private:
  struct Bits {};
  constexpr SymInt(Bits, std::int64_t bits) : m_bits(bits) {}
  static constexpr std::int64_t firstExpression = INT64_MIN + 1;
  std::int64_t specialised() const;

  std::int64_t m_bits = 0;
};

enum class SymOp : std::uint8_t { Add, Sub, Mul, FloorDiv, Mod, Max, Min, CeilDiv };
enum class SymRelation : std::uint8_t { Eq, Ne, Lt, Le, Gt, Ge };

/// By the ShapeEnv. SymbolicFailure for a division by zero and for an expression that grows too large.
SymInt symbolicResult(SymOp op, SymInt a, SymInt b);
bool guardRelation(SymRelation relation, SymInt a, SymInt b);
bool relationOr(SymRelation relation, SymInt a, SymInt b, bool fallback);
bool relationKnown(SymRelation relation, SymInt a, SymInt b);

/// A comparison that is not decided yet. As a bool it is: where expressions are compared and ranges do not decide, that
/// is a guard.
class SymBool {
 public:
  constexpr SymBool(bool value) : m_value(value) {}  // NOLINT: a decided one
  constexpr SymBool(SymRelation relation, SymInt a, SymInt b) : m_open(true), m_relation(relation), m_a(a), m_b(b) {}
  constexpr operator bool() const { return m_open ? guardRelation(m_relation, m_a, m_b) : m_value; }  // NOLINT

  /// Decided without a guard; `fallback` where that cannot be (torch's guard_or_false and guard_or_true for unbacked
  /// symbols). Backed symbols are guarded on.
  constexpr bool valueOr(bool fallback) const { return m_open ? relationOr(m_relation, m_a, m_b, fallback) : m_value; }
  /// Whether it always holds: by ranges and what is known, never a guard (torch's statically_known_true).
  constexpr bool isKnown() const { return m_open ? relationKnown(m_relation, m_a, m_b) : m_value; }

 private:
  bool m_open = false;
  bool m_value = false;
  SymRelation m_relation = SymRelation::Eq;
  SymInt m_a, m_b;
};
constexpr bool guardOrFalse(const SymBool& condition) { return condition.valueOr(false); }
constexpr bool guardOrTrue(const SymBool& condition) { return condition.valueOr(true); }
constexpr bool staticallyKnown(const SymBool& condition) { return condition.isKnown(); }

namespace detail {
constexpr std::int64_t wrap(std::uint64_t value) { return static_cast<std::int64_t>(value); }
constexpr bool plain(SymInt a, SymInt b) { return !a.isSymbolic() && !b.isSymbolic(); }
}  // namespace detail

/// Plain numbers wrap around on overflow, as hardware does; sizes are checked where tensors are made.
constexpr SymInt operator+(SymInt a, SymInt b) {
  if (!detail::plain(a, b)) return symbolicResult(SymOp::Add, a, b);
  return detail::wrap(static_cast<std::uint64_t>(a.bits()) + static_cast<std::uint64_t>(b.bits()));
}
constexpr SymInt operator-(SymInt a, SymInt b) {
  if (!detail::plain(a, b)) return symbolicResult(SymOp::Sub, a, b);
  return detail::wrap(static_cast<std::uint64_t>(a.bits()) - static_cast<std::uint64_t>(b.bits()));
}
constexpr SymInt operator*(SymInt a, SymInt b) {
  if (!detail::plain(a, b)) return symbolicResult(SymOp::Mul, a, b);
  return detail::wrap(static_cast<std::uint64_t>(a.bits()) * static_cast<std::uint64_t>(b.bits()));
}
constexpr SymInt operator-(SymInt a) { return SymInt(0) - a; }
constexpr SymInt& operator+=(SymInt& a, SymInt b) { return a = a + b; }
constexpr SymInt& operator-=(SymInt& a, SymInt b) { return a = a - b; }
constexpr SymInt& operator*=(SymInt& a, SymInt b) { return a = a * b; }

/// Python's // and %: rounded down, the sign of the divisor. Plain divisors must not be 0.
constexpr SymInt floorDiv(SymInt a, SymInt b) {
  if (!detail::plain(a, b)) return symbolicResult(SymOp::FloorDiv, a, b);
  if (b.bits() == -1) return -a;
  const std::int64_t quotient = a.bits() / b.bits();
  return quotient - ((a.bits() % b.bits() != 0 && (a.bits() < 0) != (b.bits() < 0)) ? 1 : 0);
}
constexpr SymInt floorMod(SymInt a, SymInt b) {
  if (!detail::plain(a, b)) return symbolicResult(SymOp::Mod, a, b);
  if (b.bits() == -1) return 0;
  const std::int64_t rest = a.bits() % b.bits();
  return rest != 0 && (rest < 0) != (b.bits() < 0) ? rest + b.bits() : rest;
}
/// Rounded up.
constexpr SymInt ceilDiv(SymInt a, SymInt b) {
  if (!detail::plain(a, b)) return symbolicResult(SymOp::CeilDiv, a, b);
  return -floorDiv(-a, b);
}
constexpr SymInt symMax(SymInt a, SymInt b) {
  if (!detail::plain(a, b)) return symbolicResult(SymOp::Max, a, b);
  return a.bits() < b.bits() ? b : a;
}
constexpr SymInt symMin(SymInt a, SymInt b) {
  if (!detail::plain(a, b)) return symbolicResult(SymOp::Min, a, b);
  return b.bits() < a.bits() ? b : a;
}
/// C++'s / and % round to zero, Python's down: say which one is meant.
SymInt operator/(SymInt a, SymInt b) = delete;
SymInt operator%(SymInt a, SymInt b) = delete;

#define KERF_SYM_RELATION(op, relation)                                    \
  constexpr SymBool operator op(SymInt a, SymInt b) {                      \
    if (!detail::plain(a, b)) return SymBool(SymRelation::relation, a, b); \
    return SymBool(a.bits() op b.bits());                                  \
  }                                                                        \
  template <std::integral T>                                               \
  constexpr SymBool operator op(SymInt a, T b) {                           \
    return a op SymInt(b);                                                 \
  }                                                                        \
  template <std::integral T>                                               \
  constexpr SymBool operator op(T a, SymInt b) {                           \
    return SymInt(a) op b;                                                 \
  }
KERF_SYM_RELATION(==, Eq)
KERF_SYM_RELATION(!=, Ne)
KERF_SYM_RELATION(<, Lt)
KERF_SYM_RELATION(<=, Le)
KERF_SYM_RELATION(>, Gt)
KERF_SYM_RELATION(>=, Ge)
#undef KERF_SYM_RELATION

#define KERF_SYM_ARITHMETIC(op)                 \
  template <std::integral T>                    \
  constexpr SymInt operator op(SymInt a, T b) { \
    return a op SymInt(b);                      \
  }                                             \
  template <std::integral T>                    \
  constexpr SymInt operator op(T a, SymInt b) { \
    return SymInt(a) op b;                      \
  }
KERF_SYM_ARITHMETIC(+)
KERF_SYM_ARITHMETIC(-)
KERF_SYM_ARITHMETIC(*)
#undef KERF_SYM_ARITHMETIC

/// "2*s0", "16".
std::string symText(SymInt value);

enum class SymKind : std::uint8_t { Int, Float, Bool };

/// A number that is an expression: torch.SymInt, SymFloat or SymBool. `value` is symbolic; only of an Int it can be
/// calculated with.
struct SymNumber {
  SymInt value;
  SymKind kind = SymKind::Int;
};

}  // namespace kerf::inline symbolic

template <>
struct fmt::formatter<kerf::SymInt> : fmt::formatter<std::string_view> {
  auto format(kerf::SymInt value, fmt::format_context& context) const {
    return fmt::formatter<std::string_view>::format(kerf::symText(value), context);
  }
};
