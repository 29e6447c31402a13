// Where a product is transposed and nobody cares how the result lies in memory: what the passes that compute the
// transposed product at once ask of an occurrence, and what they keep.
#pragma once

#include <span>

#include "engine/ir/graph_module.h"
#include "engine/ir/subgraph_rewriter.h"
#include "engine/ir/tracer.h"

namespace kerf::inline passes {

/// A product of its inputs, the first two of which are matrices or batches of them; the result is transposed by
/// `torch.transpose` or `torch.permute`.
struct ProductPattern {
  std::vector<const char*> inputs;
  std::function<Proxy(Tracer&, std::span<const Proxy>)> product;
  /// The product with its last two dimensions swapped.
  std::function<Proxy(Tracer&, std::span<const Proxy>)> transposed;
};

/// Replaces every occurrence whose transposition swaps the last two dimensions, whose result is read by nothing that
/// tells strides apart, and where nothing is written. No other value of the graph changes its shape or strides: where
/// one would, nothing is done.
Result<void> transposeAtOnce(GraphModule& module, std::span<const ProductPattern> patterns);

}  // namespace kerf::inline passes
