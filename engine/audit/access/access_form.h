// AccessForm: the index of a kernel's access as a sum of steps over its iterations, for sizes that a call gives.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/audit/kernels/kernel_model.h"
#include "engine/audit/memory/element_region.h"

namespace kerf::inline audit {

struct FormDigit {
  int variable = -1;  ///< -1: data whose range is known
  int part = 0;       ///< of a variable that is divided: 0 is what changes fastest
  SymInt stride, count;
};

struct AccessForm {
  std::string unknown;  ///< why it is not known; empty: it is
  SymInt first;
  std::vector<FormDigit> digits;  ///< those with a stride of 0 too: iterations that touch the same element
  SymInt lowest, highest;         ///< bounds of the index, conditions taken into account
  bool isExact = true;            ///< just these elements; otherwise these at most
  bool hasData = false;           ///< where depends on data
  bool isNever = false;           ///< its condition never holds

  ElementBox box() const;
};

/// What a call gives for the sizes among the parameters.
using SizeOfParameter = std::function<std::optional<SymInt>(int parameter)>;

struct ValueSpan {
  SymInt from, to;  ///< both belong to it
};

class FormBuilder {
 public:
  FormBuilder(const KernelModel& model, SizeOfParameter sizes)
      : m_model(model), m_terms(model.terms), m_sizes(std::move(sizes)) {}

  AccessForm build(const KernelAccess& access);
  /// The value of a term without variables and data.
  std::optional<SymInt> constant(TermId term) const;

 private:
  struct Axis {
    int variable;
    SymInt begin, end;         ///< values, with the conditions on the variable alone
    std::vector<SymInt> cuts;  ///< divisors, rising
    std::size_t firstDigit = 0;
  };
  struct Digit {
    int variable;
    int part;
    SymInt weight;    ///< of one step, in values of the variable
    SymInt from, to;  ///< of the digit
    bool isData = false;
  };
  struct Sum {
    SymInt constant;
    std::vector<SymInt> coefficients;  ///< by digit
  };

  void variablesOf(TermId term, std::vector<int>& into, int depth = 0) const;
  bool addAxis(int variable, const std::vector<TermId>& conditions);
  void narrow(Axis& axis, const std::vector<TermId>& conditions, SymInt& upper);
  void findCuts(TermId term, int depth = 0);
  void needCut(TermId term, SymInt divisor, int depth = 0);
  void makeDigits();
  std::optional<Sum> sum(TermId term, int depth = 0);
  std::optional<Sum> divided(const IndexTerm& term, int depth);
  std::optional<Sum> opaque(TermId term);
  std::optional<ValueSpan> spanOf(TermId term, int depth = 0);
  void add(Sum& into, const Sum& from, SymInt factor) const;
  void constrain(TermId condition);
  bool constrainDigit(const Sum& atLeastZero);
  void bound(const Sum& index, AccessForm& form) const;

  const KernelModel& m_model;
  const IndexTerms& m_terms;
  SizeOfParameter m_sizes;
  std::vector<Axis> m_axes;
  std::vector<Digit> m_digits;
  std::vector<Sum> m_limits;  ///< each is >= 0
  std::map<TermId, std::size_t> m_opaque;
  bool m_isExact = true, m_hasData = false, m_isNever = false;
};

}  // namespace kerf::inline audit
