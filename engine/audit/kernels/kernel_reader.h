// KernelReader: what the readers of both languages share: values by name, and the accesses that they note.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/audit/kernels/kernel_model.h"

namespace kerf::inline audit {

/// What a name or an expression of a kernel stands for.
struct KernelValue {
  TermId term = noTerm;   ///< an integer or a condition
  int pointer = -1;       ///< parameter, and `term` is the offset into it
  std::string type;       ///< of its elements; empty: not known
  TermId guard = noTerm;  ///< where(guard, …): elements elsewhere are the neutral ones
  std::string block;      ///< of arange and of offsets: "XBLOCK"
  std::string indexType;  ///< of a pointer: of what was added to it
  bool isBlockOffset = false;
  bool isAccumulator = false;
  bool isReduced = false;  ///< the result of a reduction
  const SyntaxNode* lambda = nullptr;
  std::vector<KernelValue> parts;  ///< of a tuple
};

class KernelReader {
 protected:
  explicit KernelReader(KernelModel& model) : m_model(model), m_terms(model.terms) {}

  KernelValue ofTerm(TermId term, std::string type = {}) const {
    KernelValue value;
    value.term = term;
    value.type = std::move(type);
    return value;
  }
  KernelValue unknown(std::string type = {}) const { return ofTerm(noTerm, std::move(type)); }
  /// An integer that is only known when the kernel runs.
  KernelValue dataOf(const std::string& type);
  /// a op b of either language.
  KernelValue binary(std::string_view op, const KernelValue& a, const KernelValue& b);
  KernelValue chosen(const KernelValue& condition, const KernelValue& a, const KernelValue& b);
  /// The condition as a term that stands for it, if only as something unknown.
  TermId conditionOf(const KernelValue& value);
  /// Takes 0 <= x & x < n, with or without an `|` beside it, as a fact.
  void assume(TermId condition);
  void note(KernelAccess::Kind kind, const KernelValue& pointer, TermId mask, int line, std::string valueType = {});
  /// An access of which nothing is known, through a pointer that something was given.
  void noteUnknown(const KernelValue& pointer, int line);
  void remark(KernelRemark::About about, bool holds, int line, std::string text, int parameter = -1) {
    m_model.remarks.push_back({about, holds, line, holds ? std::string() : std::move(text), parameter});
  }
  /// Stores at places that data gives must add atomically, where the kernel's name or header says that it adds.
  void claimAtomics(bool isSaid);
  TermId maskWith(TermId mask) { return mask < 0 ? m_mask : m_terms.of(TermOp::And, m_mask, mask); }

  KernelModel& m_model;
  IndexTerms& m_terms;
  std::map<std::string, KernelValue, std::less<>> m_values;
  TermId m_mask = noTerm;  ///< of the `if`s around
  int m_nest = 0;
  std::vector<int> m_loops;
};

/// Of two operands: the wider one; floats win.
std::string commonType(const std::string& a, const std::string& b);
/// Whether sums of `value` lose range or precision in an accumulator of type `kept`.
bool isNarrower(std::string_view kept, std::string_view value);

}  // namespace kerf::inline audit
