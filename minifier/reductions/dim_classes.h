// Dimension classes: which dimensions of the inputs can only change together.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "minifier/core/minify.h"

namespace kerf::inline minifier::inline reductions {

/// Dimensions that are functions of one number.
struct DimClass {
  struct Place {
    std::size_t input = 0;
    std::size_t dim = 0;
    std::string size;  ///< over the class's symbol: "z3", "2*z3"
  };
  std::string symbol;        ///< empty: the graph names their size, so that its calls must follow
  std::int64_t present = 0;  ///< the number now
  std::vector<Place> places;
};

/// Every dimension of every tensor input that is not 1, in classes, by making each a symbol, propagating the shapes,
/// and reading from ShapeEnv what the calls made equal.
///
///     x: f32[16, 8]; w: f32[8, 4]; y = mm(x, w)      →      {x.0}, {x.1, w.0}, {w.1}
std::vector<DimClass> dimClasses(const Candidate& candidate);

}  // namespace kerf::inline minifier::inline reductions
