// The table of uses: which values an op takes in which of its arguments. A row names all ops that take the same values
// there; several files of rows. Private to engine/capture.
#pragma once

#include <span>
#include <string_view>

#include "engine/capture/plausible/use_site.h"
#include "engine/capture/plausible/value_need.h"

namespace kerf::inline capture {

struct UseRule;

/// What the use needs of the value itself (not yet of what it was computed from); nothing where the rule does not fit
/// the call.
using MakeNeed = std::optional<ValueNeed> (*)(const UseSite& site, const UseRule& rule);

struct UseRule {
  std::string_view ops;  ///< base names, a space between: "sqrt" stands for sqrt_, _foreach_sqrt and torch.sqrt too
  std::string_view argument;  ///< as ATen's schema names it
  MakeNeed make;
  std::string_view of = {};  ///< the argument whose size bounds an index
  int dim = 0;               ///< its dimension
  bool bySign = false;       ///< holds of a value that is only known to grow with the input, too
};

using UseRules = std::span<const UseRule>;

UseRules domainRules();   ///< roots, logarithms, divisions, probabilities, counts
UseRules indexRules();    ///< what picks elements of something
UseRules scaleRules();    ///< weights, gains, shifts: activations that stay near 1
UseRules patternRules();  ///< masks, sorted values, offsets, saved softmaxes
UseRules numberRules();   ///< sizes inside of tensors, assertions

/// The rows for an op's base name.
std::span<const UseRule* const> rulesOf(std::string_view op);

}  // namespace kerf::inline capture
