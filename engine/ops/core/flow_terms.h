// Terms of gradients and tangents, some of which are not there.
#pragma once

#include "engine/ops/core/formula.h"

namespace kerf::inline ops {

/// The sum of those that are there; none where none is.
Formula sumOf(std::initializer_list<Formula> terms);
/// a · b, where none stands for one.
Formula multiplied(const Formula& a, const Formula& b);
/// -a; none of none.
Formula negated(const Formula& a);
/// In `dtype`, computed.
Formula typed(Formulas& p, const Formula& a, DType dtype);
/// `first`, then the arguments from `from` on.
std::vector<Formula> withArguments(const Formulas& p, std::vector<Formula> first, std::size_t from);

}  // namespace kerf::inline ops
