// valueClasses(): which nodes of one graph compute the same value, as common subexpressions do.
//
//     a = sub(x, m); b = sub(x, m)      →      one class; two draws of rand, or two reads around a write, are two
#pragma once

#include <vector>

#include "engine/diff/compared_graph.h"

namespace kerf::inline diff {

/// By position: the first node of the same class.
std::vector<int> valueClasses(const ComparedGraph& graph);

/// Of both graphs that are compared.
struct Classes {
  std::vector<int> before, after;
};

}  // namespace kerf::inline diff
