// kerf bench --products: products of float32 matrices by Kerf's rule, and by each library at hand, one after another.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "engine/support/result.h"

namespace kerf::bench {

/// [m, k] x [k, n]; an operand may lie transposed, as weights do.
struct ProductShape {
  std::int64_t m = 0, n = 0, k = 0;
  bool transposedA = false, transposedB = false;
  int uses = 1;  ///< in the graphs
  bool operator==(const ProductShape&) const = default;
};
/// "[8, 768] x [768, 2304] NT"
std::string nameOf(const ProductShape& shape);

struct ProductBenchOptions {
  std::vector<std::string> graphs;  ///< "repro.py", "trace.log#forward"; none: shapes of big models
  int repeats = 5;
  std::string filter;  ///< only names that contain this
  bool cold = false;   ///< operands that no cache holds, as between the other steps of a big graph
};

/// The fastest of the runs, of the processor's time with one thread, else of the clock's; milliseconds.
struct ProductTime {
  ProductShape shape;
  double kerf = 0, openBlas = 0, oneDnn = 0;
  double work() const { return 2.0 * double(shape.m) * double(shape.n) * double(shape.k); }
};

/// Names and versions of the libraries.
std::vector<std::string> productLibraries();

/// One row for each shape, those of most work first.
Result<std::vector<ProductTime>> benchProducts(const ProductBenchOptions& options, std::stop_token stop);

}  // namespace kerf::bench
