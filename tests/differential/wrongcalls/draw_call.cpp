#include "tests/differential/wrongcalls/draw_call.h"

#include "engine/ir/call_values.h"
#include "engine/ops/random/state.h"
#include "tests/differential/fuzzgraph/generate.h"

namespace kerf::wrongcalls {

using fuzzgraph::Dice;
using fuzzgraph::GraphBuilder;

namespace {

constexpr int attemptsPerBase = 6, spoiledPerBase = 5;

/// Python's own objects (functions of the `operator` module take lists and slices) have no place among the arguments.
bool isWritable(const Value& value) {
  if (value.isList())
    for (const Value& item : value.list())
      if (!isWritable(item)) return false;
  return !value.as<SymNumber>();
}

/// Numbers of ops differ from run to run.
std::uint64_t nameHash(const OpInfo& op) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : op.schema.qualifiedName()) hash = (hash ^ std::uint8_t(c)) * 1099511628211ULL;
  return hash;
}

/// The arguments of the graph's last call of the op.
std::optional<CallCase> lastCall(const GraphModule& module, const ValueList& inputs, const OpInfo& op) {
  const Node* last = nullptr;
  for (const NodeId id : module.graph.order())
    if (module.graph.node(id).opId() == op.id) last = &module.graph.node(id);
  if (!last) return {};
  std::unordered_map<NodeId, Value> values;
  Interpreter interpreter(module, referenceOps());
  bool reached = false;
  std::optional<CallCase> found;
  interpreter.onNode = [&](const Node& node, const Value& value) { values[node.id()] = value; };
  interpreter.start(inputs);
  while (!reached) {
    const Node* next = interpreter.nextNode();
    if (!next) return {};
    if (next->id() == last->id()) {
      const auto call = callValues(*last, [&](NodeId id) -> const Value& { return values[id]; });
      if (!call) return {};
      found = CallCase{&op, call->args, call->kwargs, last->meta().value, {}};
      reached = true;
    } else if (!interpreter.step().value_or(false)) {
      return {};
    }
  }
  for (const Value& value : found->args)
    if (!isWritable(value)) return {};
  return found;
}

}  // namespace

std::optional<CallCase> validCall(const OpInfo& op, std::uint64_t seed) {
  const RandomScope random;
  for (int attempt = 0; attempt < attemptsPerBase; ++attempt) {
    GraphBuilder build(seed * 131 + std::uint64_t(attempt), false);
    if (attempt >= 2) build.theme.dtype = DType::Float32;
    if (attempt >= 3) build.theme.sizes = {3, 3};
    build.theme.mutates = true;
    build.theme.corners = false;
    if (!fuzzgraph::growCall(build, op)) continue;
    const auto candidate = build.finish();
    if (!candidate) continue;
    if (auto call = lastCall(candidate->module, candidate->inputs, op)) return call;
  }
  return {};
}

std::vector<CallCase> wrongCalls(const OpInfo& op, std::uint64_t seed, int count) {
  std::vector<CallCase> calls;
  std::optional<CallCase> base;
  Dice dice(seed ^ nameHash(op));
  for (int i = 0; int(calls.size()) < count; ++i) {
    if (i % spoiledPerBase == 0) {
      if (auto fresh = validCall(op, dice.next() >> 20)) {
        base = std::move(fresh);
        if (i == 0) calls.push_back(*base);
      }
      if (!base) base = CallCase{&op, {}, {}, {}, {"no valid call found"}};
    }
    calls.push_back(spoiled(*base, dice));
  }
  return calls;
}

}  // namespace kerf::wrongcalls
