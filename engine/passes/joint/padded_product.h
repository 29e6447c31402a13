// PaddedProduct: a matrix product whose factors get zeros up to aligned sizes, as calls that can be traced and run.
//
//     y = addmm(c, a, b)      →      y = slice(addmm(pad(c), pad(a), pad(b)))
#pragma once

#include <functional>
#include <span>

#include "engine/ir/graph.h"
#include "engine/ops/core/op_registry.h"

namespace kerf::inline passes {

/// [m, k] · [k, n], or batches of them, perhaps added to something.
struct PaddedProduct {
  OpId op;  ///< mm, bmm, addmm
  NodeId a, b;
  NodeId term;  ///< of addmm; else invalid
  Sizes left, right, added;
  KeywordValues factors = {};  ///< beta and alpha of addmm
  DType dtype = DType::Float32;
  std::int64_t alignment = 0;  ///< of m, k and n

  std::int64_t m() const { return left[left.size() - 2]; }
  std::int64_t k() const { return left.back(); }
  std::int64_t n() const { return right.back(); }
  /// Elements that are missing to the next aligned size.
  std::int64_t missing(std::int64_t size) const { return (alignment - size % alignment) % alignment; }
  /// Multiplications for each element that padding copies: factors that grow, and the result where it is cut.
  double intensity() const;
};

/// The product that a node computes: of fixed sizes, one dtype that tensor cores multiply, something to pad.
std::optional<PaddedProduct> paddedProductOf(const Graph& graph, const Node& node);

/// Makes one call; None after a failed one.
using CallMaker = std::function<Value(const OpTarget&, const ValueList&, const KeywordValues&)>;
/// The product of `inputs` (factors, then the term) as it is.
Value writePlain(const CallMaker& call, std::span<const Value> inputs, const PaddedProduct& product);
/// Of padded inputs, cut to its size.
Value writePadded(const CallMaker& call, std::span<const Value> inputs, const PaddedProduct& product);

}  // namespace kerf::inline passes
