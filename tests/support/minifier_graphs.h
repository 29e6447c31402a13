// Small candidates and in-process oracles for tests of the minifier.
#pragma once

#include <atomic>
#include <functional>
#include <random>

#include "engine/ops/core/op_registry.h"
#include "minifier/core/candidate.h"
#include "minifier/core/minify.h"

namespace kerf::testing {

inline constexpr const char* reluTarget = "torch.ops.aten.relu.default";
inline constexpr const char* tanhTarget = "torch.ops.aten.tanh.default";
inline constexpr const char* expTarget = "torch.ops.aten.exp.default";
inline constexpr const char* addTarget = "torch.ops.aten.add.Tensor";
inline constexpr const char* mulTarget = "torch.ops.aten.mul.Tensor";
inline constexpr const char* permuteTarget = "torch.ops.aten.permute.default";
inline constexpr const char* addmmTarget = "torch.ops.aten.addmm.default";

/// Contiguous tensor with values in [-1, 1) that depend on `seed` only.
inline Tensor filled(const Sizes& sizes, unsigned seed) {
  Tensor tensor = *Tensor::zeros(DType::Float32, sizes);
  std::mt19937 random(seed);
  for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor.data<float>()[i] = float(random() % 2000) / 1000.0f - 1.0f;
  return tensor;
}

/// A candidate under construction.
struct CandidateBuilder {
  Candidate candidate;
  Graph& graph = candidate.module.graph;

  NodeId input(const char* name, const Sizes& sizes) {
    const NodeId id = graph.placeholder(name);
    candidate.inputs.emplace_back(filled(sizes, unsigned(candidate.inputs.size())));
    graph.setValueMeta(id, metaOf(candidate.inputs.back()));
    return id;
  }
  NodeId call(const char* target, ArgumentList args, const char* name = "") {
    return graph.callFunction(target, std::move(args), {}, name);
  }
  Candidate finish(const std::vector<NodeId>& outputs) {
    graph.output(Argument::tuple(ArgumentList(outputs.begin(), outputs.end())));
    EXPECT_TRUE(propagateShapes(candidate.module).has_value());
    EXPECT_TRUE(graph.lint().has_value());
    return std::move(candidate);
  }
};

/// mlp: `layers` times permute, addmm and an activation; tanh everywhere but in layer `reluAt`.
inline Candidate mlp(int layers, int reluAt) {
  CandidateBuilder b;
  std::vector<NodeId> weights, biases;
  const NodeId x = b.input("x", {4, 8});
  for (int i = 0; i < layers; ++i) {
    weights.push_back(b.input(fmt::format("w{}", i).c_str(), {8, 8}));
    biases.push_back(b.input(fmt::format("b{}", i).c_str(), {8}));
  }
  NodeId current = x;
  for (int i = 0; i < layers; ++i) {
    const auto at = std::size_t(i);
    const NodeId permute = b.call(permuteTarget, {weights[at], Argument::list({1, 0})}, "permute");
    const NodeId addmm = b.call(addmmTarget, {biases[at], current, permute}, "addmm");
    current = i == reluAt ? b.call(reluTarget, {addmm}, "relu") : b.call(tanhTarget, {addmm}, "tanh");
  }
  return b.finish({current});
}

inline bool calls(const Graph& graph, const char* target) {
  for (NodeId id : graph.order()) {
    if (graph.node(id).isCall(knownOp(target))) return true;
  }
  return false;
}

/// Judges by a function of the graph; counts how often it was asked.
class GraphOracle : public Oracle {
 public:
  using Rule = std::function<Verdict(const Candidate&)>;
  explicit GraphOracle(Rule rule) : m_rule(std::move(rule)) {}
  Result<Verdict> judge(const Candidate& candidate, std::stop_token stop) override {
    if (stop.stop_requested()) return fail(ErrorCode::Cancelled, "stopped");
    ++asked;
    return m_rule(candidate);
  }
  std::string identity() const override { return "graph oracle"; }
  std::atomic<int> asked = 0;

 private:
  Rule m_rule;
};

inline Verdict fails(std::string fingerprint) {
  return {.kind = VerdictKind::Fails, .fingerprint = std::move(fingerprint)};
}
inline Verdict passes() { return {.kind = VerdictKind::Passes}; }

}  // namespace kerf::testing
