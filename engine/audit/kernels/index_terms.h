// IndexTerms: integers and conditions that a kernel computes, as shared terms over its loop variables and sizes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace kerf::inline audit {

/// Of a term in its IndexTerms; negative: not known as a term.
using TermId = std::int32_t;
constexpr TermId noTerm = -1;

enum class TermOp : std::uint8_t {
  Number,
  Variable,  ///< number: which KernelVariable
  Size,      ///< number: which parameter of the kernel
  Data,      ///< what was loaded or computed from it; number: which
  Add,
  Mul,
  FloorDiv,
  Mod,
  Min,
  Max,
  Choice,  ///< a if c else b: c is kept in `number`
  Less,    ///< a < b
  Equal,
  And,
  Or,
  Not,
};

struct IndexTerm {
  TermOp op = TermOp::Number;
  TermId a = noTerm, b = noTerm;
  std::int64_t number = 0;
  auto operator<=>(const IndexTerm&) const = default;
};

class IndexTerms {
 public:
  TermId number(std::int64_t value) { return add({TermOp::Number, noTerm, noTerm, value}); }
  TermId variable(int which) { return add({TermOp::Variable, noTerm, noTerm, which}); }
  TermId size(int parameter) { return add({TermOp::Size, noTerm, noTerm, parameter}); }
  /// Another unknown each time.
  TermId data() { return add({TermOp::Data, noTerm, noTerm, m_data++}); }
  /// Folds numbers; noTerm if either is none.
  TermId of(TermOp op, TermId a, TermId b = noTerm);
  TermId minus(TermId a, TermId b) { return of(TermOp::Add, a, of(TermOp::Mul, number(-1), b)); }
  TermId choice(TermId condition, TermId a, TermId b);
  TermId lessOrEqual(TermId a, TermId b) { return of(TermOp::Less, a, of(TermOp::Add, b, number(1))); }
  TermId truth() { return number(1); }

  const IndexTerm& operator[](TermId id) const { return m_terms[std::size_t(id)]; }
  std::optional<std::int64_t> value(TermId id) const {
    if (id < 0 || (*this)[id].op != TermOp::Number) return std::nullopt;
    return (*this)[id].number;
  }
  std::size_t count() const { return m_terms.size(); }
  /// The parts of a conjunction.
  void conjuncts(TermId id, std::vector<TermId>& into) const;
  /// Whether `id` is, or contains, `part`.
  bool contains(TermId id, TermId part) const;
  bool usesVariable(TermId id, int which) const;
  bool usesData(TermId id) const;

 private:
  TermId add(const IndexTerm& term);
  std::optional<std::int64_t> folded(TermOp op, std::int64_t a, std::int64_t b) const;

  std::vector<IndexTerm> m_terms;
  std::map<IndexTerm, TermId> m_known;
  std::int64_t m_data = 0;
};

}  // namespace kerf::inline audit
