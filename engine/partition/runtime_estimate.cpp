#include "engine/partition/runtime_estimate.h"

#include <algorithm>
#include <chrono>

#include "engine/ir/interpreter.h"
#include "engine/ir/value_meta.h"
#include "engine/ops/core/cost.h"
#include "engine/ops/core/op_call.h"

namespace kerf::inline partition {

namespace {

constexpr std::string_view estimatorNames[] = {"flops", "profile", "testing"};
constexpr std::int64_t assumedSize = 4096;  ///< of a symbolic number without a value

struct CallArguments {
  ValueList args;
  KeywordValues kwargs;
};

/// The arguments of a call by the metas of its inputs; `make` turns each into the value that the call gets.
std::optional<CallArguments> argumentsOf(const Graph& graph, const Node& node,
                                         const std::function<std::optional<Value>(const ValueMeta&)>& make) {
  std::unordered_map<NodeId, Value> values;
  for (const NodeId input : node.inputs()) {
    auto value = make(graph.node(input).meta().value);
    if (!value) return {};
    values.emplace(input, std::move(*value));
  }
  const auto lookup = [&](NodeId id) -> const Value& { return values.at(id); };
  CallArguments call;
  for (const Argument& argument : node.args()) {
    auto value = argumentToValue(argument, lookup);
    if (!value) return {};
    call.args.push_back(std::move(*value));
  }
  for (const auto& [name, argument] : node.kwargs()) {
    auto value = argumentToValue(argument, lookup);
    if (!value) return {};
    call.kwargs.emplace_back(name, std::move(*value));
  }
  return call;
}

std::optional<Value> zerosLike(const ValueMeta& meta) {
  if (meta.sym() != nullptr) return Value(meta.sym()->expr.hint.value_or(assumedSize));
  if (meta.tensor() == nullptr) return {};
  const auto sizes = meta.tensor()->concreteSizes(), strides = meta.tensor()->concreteStrides();
  if (!sizes || !strides) return {};
  auto tensor = Tensor::zerosStrided(meta.tensor()->dtype, *sizes, *strides);
  if (!tensor) return {};
  return Value(std::move(*tensor));
}

std::optional<double> formulaOf(const Graph& graph, const Node& node, bool onlyCounted) {
  const OpInfo* op = findOp(node);
  if (op == nullptr || (onlyCounted && op->flops == nullptr)) return {};
  const auto call = argumentsOf(graph, node, valueOf);
  const auto result = valueOf(node.meta().value);
  if (!call || !result) return {};
  const auto bound = bindArguments(*op, call->args, call->kwargs);
  if (!bound) return {};
  return flopsOf(*bound, result->isList() ? result->list() : ValueList(1, *result));
}

std::optional<double> millisecondsOf(const Graph& graph, const Node& node) {
  const auto call = argumentsOf(graph, node, zerosLike);
  if (!call) return {};
  std::optional<double> least;
  for (int run = 0; run < 3; ++run) {
    const auto start = std::chrono::steady_clock::now();
    if (!referenceOps().call(OpTarget(node.opId(), node.target()), call->args, call->kwargs)) return {};
    const double spent = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    least = std::min(least.value_or(spent), spent);
  }
  return least;
}

}  // namespace

std::string_view estimatorName(RuntimeEstimator estimator) { return estimatorNames[std::size_t(estimator)]; }

Result<RuntimeEstimator> estimatorFromName(std::string_view name) {
  const auto found = std::ranges::find(estimatorNames, name);
  if (found != std::end(estimatorNames)) return RuntimeEstimator(found - std::begin(estimatorNames));
  return fail(ErrorCode::BadUsage, "there is no runtime estimator \"{}\"; choose flops, profile or testing", name);
}

double estimateRuntime(const JointGraph& joint, int place, RuntimeEstimator estimator) {
  const Graph& graph = joint.module.graph;
  const Node& node = joint.node(place);
  if (estimator == RuntimeEstimator::Testing) return 1;
  if (estimator == RuntimeEstimator::Profile) return millisecondsOf(graph, node).value_or(1);
  return std::max(formulaOf(graph, node, true).value_or(1), 1.0);
}

double flopsOfNode(const Graph& graph, const Node& node) {
  return node.op() == Opcode::CallFunction ? formulaOf(graph, node, false).value_or(0) : 0;
}

}  // namespace kerf::inline partition
