// Before the cut: dead nodes go, and what the backward part computes a second time becomes the forward's value.
//
//     mul_1 = mul(x, 0.7); …; mul_3 = mul(x, 0.7)      →      mul_1 = mul(x, 0.7)
#pragma once

#include "engine/ir/graph.h"

namespace kerf::inline partition {

/// Whether dead code elimination keeps a node that nobody uses: writes, asserts, effects. Random draws go, as they do
/// inside PyTorch's compiler unless it falls back to eager random numbers.
bool hasEffects(const Node& node);

/// Whether a call writes into an operand: copy_ and its like.
bool writesMemory(const Node& node);

/// fx_graph_cse of functorch: equal calls (equal arguments of equal types) become the first of them. Never random ones,
/// `empty`, and what shares memory with an output: two results of one function are two tensors.
void mergeEqualCalls(Graph& graph);

/// Dead code elimination, then mergeEqualCalls.
void cleanJointGraph(Graph& graph);

}  // namespace kerf::inline partition
