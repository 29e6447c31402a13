#include "engine/partition/random_draws.h"

#include <algorithm>

#include "engine/ir/value_meta.h"
#include "engine/ops/core/op_call.h"
#include "engine/ops/random/state.h"

namespace kerf::inline partition {

namespace {

constexpr std::string_view saves = "torch.ops.higher_order.run_and_save_rng_state";
constexpr std::string_view repeats = "torch.ops.higher_order.run_with_rng_state";

const TensorMeta* firstTensor(const ValueMeta& meta) {
  if (meta.tensor() != nullptr) return meta.tensor();
  if (meta.list() != nullptr)
    for (const ValueMeta& item : *meta.list())
      if (const TensorMeta* tensor = firstTensor(item)) return tensor;
  return nullptr;
}

/// u8[5056] of a CPU's generator, u8[16] of CUDA's; both lie in the CPU's memory.
ValueMeta stateMeta(const Node& draw) {
  const TensorMeta* drawn = firstTensor(draw.meta().value);
  const bool ofCuda = drawn != nullptr && drawn->device.type == "cuda";
  return metaOf(Value(metaTensor(DType::UInt8, SymSizes{ofCuda ? cudaStateBytes : cpuStateBytes})));
}

std::vector<std::string> repeatedDraws(const Partition& partition) {
  std::vector<std::string> names;
  for (const std::string& name : partition.recomputed) {
    const auto id = partition.forward.graph.find(name);
    if (id && has(opClassOf(partition.forward.graph.node(*id)), OpClass::Random)) names.push_back(name);
  }
  return names;
}

/// The call's operator and arguments, as a higher-order op takes them.
ArgumentList wrapped(const Node& draw) {
  ArgumentList args{PythonName{draw.target()}};
  args.insert(args.end(), draw.args().begin(), draw.args().end());
  return args;
}

class DrawSharing {
 public:
  explicit DrawSharing(Partition& partition) : m_partition(partition) {}

  Result<void> share(const std::string& draw, const std::string& state) {
    KERF_TRY(const NodeId saved, saveIn(m_partition.forward.graph, draw, state));
    addOutput(saved);
    KERF_CHECK(repeatIn(m_partition.backward.graph, draw, state));
    m_partition.saved.push_back({state, m_bytes, "rng_state"});
    m_partition.savedBytes += m_bytes;
    return {};
  }

 private:
  Result<NodeId> saveIn(Graph& graph, const std::string& name, const std::string& stateName) {
    const NodeId draw = *graph.find(name);
    const Node call = graph.node(draw);
    const ValueMeta state = stateMeta(call);
    m_bytes = *state.tensor()->concreteSizes()->begin();
    const InsertionScope scope(graph, InsertionScope::Where::Before, draw);
    const NodeId both =
        graph.createNamed(Opcode::CallFunction, saves, wrapped(call), call.kwargs(), "run_and_save_rng_state");
    graph.setValueMeta(both, {std::vector<ValueMeta>{state, call.meta().value}});
    const NodeId saved = graph.createNamed(Opcode::CallFunction, "operator.getitem", {both, 0}, {}, stateName);
    graph.setValueMeta(saved, state);
    const NodeId drawn = graph.createNamed(Opcode::CallFunction, "operator.getitem", {both, 1}, {}, name);
    graph.setMeta(drawn, call.meta());
    graph.replaceAllUsesWith(draw, drawn);
    KERF_CHECK(graph.eraseNode(draw));
    return saved;
  }

  Result<void> repeatIn(Graph& graph, const std::string& name, const std::string& stateName) const {
    const auto placeholders = graph.placeholders();
    const auto tangent = std::ranges::find_if(
        placeholders, [&](NodeId id) { return jointInputOf(graph.node(id)) == JointInput::Tangent; });
    const NodeId draw = *graph.find(name);
    const Node call = graph.node(draw);
    const NodeId first = tangent == placeholders.end() ? graph.order().front() : *tangent;
    NodeId state;
    {
      const InsertionScope scope(graph, InsertionScope::Where::Before, first);
      state = graph.createNamed(Opcode::Placeholder, stateName, {}, {}, stateName);
    }
    graph.setValueMeta(state, stateMeta(call));
    ArgumentList args = wrapped(call);
    args.insert(args.begin(), Argument(state));
    const InsertionScope scope(graph, InsertionScope::Where::Before, draw);
    const NodeId drawn =
        graph.createNamed(Opcode::CallFunction, repeats, std::move(args), call.kwargs(), "run_with_rng_state");
    graph.setMeta(drawn, call.meta());
    graph.replaceAllUsesWith(draw, drawn);
    return graph.eraseNode(draw);
  }

  void addOutput(NodeId saved) {
    Graph& graph = m_partition.forward.graph;
    ListArgument outputs = *graph.node(graph.outputNode()).args()[0].asList();
    outputs.items.insert(outputs.items.end() - std::ptrdiff_t(m_partition.symbols.size()), Argument(saved));
    graph.setArgs(graph.outputNode(), {Argument(std::move(outputs))});
  }

  Partition& m_partition;
  std::int64_t m_bytes = 0;
};

}  // namespace

Result<void> repeatRandomDraws(Partition& partition) {
  const std::vector<std::string> draws = repeatedDraws(partition);
  if (draws.empty()) return {};
  DrawSharing sharing(partition);
  for (std::size_t i = 0; i < draws.size(); ++i)
    KERF_CHECK(sharing.share(draws[i], fmt::format("rng_state_output_{}", i)));
  KERF_CHECK(partition.forward.graph.lint());
  return partition.backward.graph.lint();
}

}  // namespace kerf::inline partition
