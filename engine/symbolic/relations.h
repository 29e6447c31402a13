// Relations between sizes: on numbers, on ranges, as expressions, and as "something is at least 0". Private to
// engine/symbolic.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "engine/symbolic/sym_int.h"
#include "engine/symbolic/value_range.h"

namespace kerf::inline symbolic {

SymRelation opposite(SymRelation relation);
/// "Eq" … "Ge".
std::optional<SymRelation> relationNamed(std::string_view name);
Symbolic relationOf(SymRelation relation, const Symbolic& a, const Symbolic& b);
bool compareNumbers(SymRelation relation, std::int64_t a, std::int64_t b);
/// None where some values of the ranges say yes and others no.
std::optional<bool> compareRanges(SymRelation relation, const ValueRange& a, const ValueRange& b);

/// difference <relation> 0 for integers as alternatives of which one must hold; each is a list of expressions that all
/// are >= 0.
std::vector<std::vector<Symbolic>> atLeastZeroForms(SymRelation relation, const Symbolic& difference);
/// What c*s + k <relation> 0 says of s, whose range is `known`; none if the difference has another form.
std::optional<ValueRange> linearBound(SymRelation relation, const Symbolic& difference, const ValueRange& known);

}  // namespace kerf::inline symbolic
