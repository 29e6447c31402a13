#include "engine/distributed/graphs/shard_graph.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "engine/distributed/dtensor/sharded_caller.h"
#include "engine/distributed/graphs/graph_steps.h"
#include "engine/distributed/group/in_process.h"
#include "engine/distributed/group/rank_kernels.h"
#include "engine/distributed/sharding/redistribute.h"
#include "engine/ir/interpreter.h"
#include "engine/ir/value_meta.h"

namespace kerf::inline distributed::inline graphs {
namespace {

/// Writes each call on a rank's parts into that rank's graph.
class GraphSharder : public ShardedCaller {
 public:
  GraphSharder(const DeviceMesh& mesh, Sizes coordinate, GraphModule& module)
      : ShardedCaller(mesh),
        m_coordinate(coordinate),
        m_tracer(module, [](const OpInfo&) { return Replacement(false); }),
        m_steps(m_tracer, mesh, std::move(coordinate)) {}

  Tensor own(const Tensor& local, const Tensor& whole, const Placements& placements) const {
    Tensor tensor = handle(whole, placements);
    m_locals.resize(std::size_t(handles()));
    m_locals.back() = local;
    return tensor;
  }
  const Tensor& local(const Tensor& tensor) const { return m_locals[std::size_t(tensor.traced)]; }
  OpTracer& tracer() { return m_tracer; }
  const OpTracer& tracer() const { return m_tracer; }
  const GraphSteps& steps() const { return m_steps; }
  std::vector<ShardedNode>& nodes() const { return m_nodes; }
  /// The node whose value the tensors in `value` are.
  void nameSource(const Value& value, const std::string& node) const {
    if (value.isTensor() && value.tensor().traced >= 0) m_sources[value.tensor().traced] = node;
    if (value.isList())
      for (const Value& item : value.list()) nameSource(item, node);
  }

 protected:
  void becameOther(const Tensor& tensor, const Tensor& now) const override {
    m_locals[std::size_t(tensor.traced)] = m_locals[std::size_t(now.traced)];
  }
  Result<Value> execute(const Dispatch& dispatch) const override {
    m_nodes.back().calls.push_back(dispatch.args.op->schema.qualifiedName());
    noteOthers(dispatch);
    std::vector<Value> parts;
    for (std::size_t i = 0; i < dispatch.operands.size(); ++i) {
      KERF_TRY(Tensor moved, movedPart(dispatch.tensors[i], dispatch.operands[i].spec, dispatch.strategy.inputs[i],
                                       operandName(dispatch, i)));
      parts.emplace_back(std::move(moved));
    }
    const BoundArguments arguments = localArguments(dispatch.args, dispatch.operands, parts, dispatch.strategy,
                                                    dispatch.shapes, mesh(), m_coordinate);
    KERF_TRY(const Value result, runParts(dispatch, arguments));
    if (const Value* written = writtenArgument(dispatch.args)) return *written;
    if (dispatch.shapes.isNone()) return result;
    ValueList locals = result.isList() ? result.list() : ValueList{result};
    return mapTensors(dispatch.shapes, [&](const Tensor& shape, std::size_t index) -> Result<Value> {
      if (index >= locals.size() || !locals[index].isTensor()) return Value();
      return Value(own(locals[index].tensor(), shape, outputOf(dispatch, index)));
    });
  }

  Result<Tensor> placed(const Tensor& tensor, const Spec& from, const Placements& to) const override {
    KERF_TRY(const Tensor part, movedPart(tensor, from, to, {}));
    return own(part, tensor, to);
  }

  /// Made without operands: whole on every rank.
  Result<Value> plain(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs) const override {
    KERF_TRY(const Value result, m_tracer.call(op.id, args, kwargs));
    return mapTensors(result, [&](const Tensor& tensor, std::size_t) -> Result<Value> {
      return Value(own(tensor, tensor, Placements(mesh().dims())));
    });
  }

 private:
  /// Writes what brings an operand's part to where the strategy has it.
  Result<Tensor> movedPart(const Tensor& tensor, const Spec& from, const Placements& to, std::string operand) const {
    const bool isPlain = specOf(tensor) == nullptr;
    const Tensor part = isPlain ? tensor : local(tensor);
    if (from.placements != to) {
      ShardedNode& node = m_nodes.back();
      const double cost = redistributeCost(from, to, mesh());
      const auto source = m_sources.find(tensor.traced);
      node.moved.push_back({placementsText(from.placements), placementsText(to), cost, std::move(operand),
                            source == m_sources.end() ? std::string() : source->second});
      node.cost += cost;
    }
    return m_steps.redistribute(part, from, to);
  }

  static std::string operandName(const Dispatch& dispatch, std::size_t index) {
    const ShardedOperand& operand = dispatch.operands[index];
    const std::string& name = dispatch.args.op->schema.arguments[operand.argument].name;
    return operand.item < 0 ? name : fmt::format("{}[{}]", name, operand.item);
  }

  static std::string textOfEach(const std::vector<Placements>& all) {
    std::vector<std::string> texts;
    for (const Placements& placements : all) texts.push_back(placementsText(placements));
    return fmt::format("{}", fmt::join(texts, ", "));
  }

  /// The cheapest strategies that were not taken: what there was to choose from. The first rank's are enough.
  void noteOthers(const Dispatch& dispatch) const {
    constexpr std::size_t mostOthers = 4;
    if (std::ranges::any_of(m_coordinate, [](std::int64_t at) { return at != 0; })) return;
    std::vector<std::pair<double, const Strategy*>> others;
    for (const Strategy& strategy : dispatch.offered) {
      if (strategy.inputs == dispatch.strategy.inputs) continue;
      const double cost = costOf(dispatch.call, strategy);
      if (std::isfinite(cost)) others.emplace_back(cost, &strategy);
    }
    std::ranges::stable_sort(others, {}, &std::pair<double, const Strategy*>::first);
    if (others.size() > mostOthers) others.resize(mostOthers);
    for (const auto& [cost, strategy] : others)
      m_nodes.back().others.push_back({dispatch.args.op->schema.qualifiedName(), textOfEach(strategy->inputs),
                                       textOfEach(strategy->outputs), cost});
  }

  Result<Value> runParts(const Dispatch& dispatch, const BoundArguments& parts) const {
    const OpRunner run(m_tracer);
    if (!isShardedConvolution(dispatch.args, dispatch.strategy)) return callRow(*dispatch.args.op, parts, run);
    return ShardedConvolution(run, m_steps, mesh(), m_coordinate).run(dispatch.args, parts, dispatch.strategy);
  }

  Sizes m_coordinate;
  OpTracer m_tracer;
  GraphSteps m_steps;
  mutable std::vector<Tensor> m_locals;  ///< by Tensor::traced: values of the rank's graph
  mutable std::vector<ShardedNode> m_nodes;
  mutable std::map<int, std::string> m_sources;  ///< node by Tensor::traced
};

/// Notes which node is sharded, and makes its constants whole tensors of every rank.
class NodeSharder : public Interpreter {
 public:
  NodeSharder(const GraphModule& module, const GraphSharder& sharder, Graph& own)
      : Interpreter(module, sharder), m_whole(module.graph), m_sharder(sharder), m_own(own) {}

 protected:
  Result<Value> callFunction(const Node& node, const ValueList& args, const KeywordValues& kwargs) override {
    begin(node);
    return named(node, Interpreter::callFunction(node, args, kwargs));
  }
  Result<Value> callMethod(const Node& node, const ValueList& args, const KeywordValues& kwargs) override {
    begin(node);
    return named(node, Interpreter::callMethod(node, args, kwargs));
  }
  Result<Value> getAttr(const Node& node) override {
    KERF_TRY(const Value value, Interpreter::getAttr(node));
    if (!value.isTensor()) return value;
    begin(node);
    const Placements everywhere(m_sharder.mesh().dims());
    m_sharder.nodes().back().placements = placementsText(everywhere);
    const Value whole(m_sharder.own(value.tensor(), value.tensor(), everywhere));
    m_sharder.nameSource(whole, node.name());
    return whole;
  }

 private:
  void begin(const Node& node) {
    ShardedNode sharded{node.name(), node.target(), {}, {}, {}, 0};
    for (const NodeId input : node.inputs()) sharded.inputs.push_back(m_whole.node(input).name());
    m_sharder.nodes().push_back(std::move(sharded));
  }

  /// The placements of a result's first tensor.
  const Spec* firstSpec(const Value& value) const {
    if (value.isTensor()) return m_sharder.specOf(value.tensor());
    if (!value.isList()) return nullptr;
    for (const Value& item : value.list())
      if (const Spec* spec = firstSpec(item)) return spec;
    return nullptr;
  }

  /// The rank's node that holds the part is called what the whole one is, so that they can be found beside each other.
  Result<Value> named(const Node& node, Result<Value> result) {
    if (const Spec* spec = result ? firstSpec(*result) : nullptr)
      m_sharder.nodes().back().placements = placementsText(spec->placements);
    if (result) m_sharder.nameSource(*result, node.name());
    const bool isPlaced = result && result->isTensor() && m_sharder.specOf(result->tensor()) != nullptr;
    if (!isPlaced) return result;
    KERF_TRY(const Argument held, m_sharder.tracer().argumentOf(Value(m_sharder.local(result->tensor()))));
    const auto* id = held.as<NodeId>();
    const bool isCall = id != nullptr && m_own.node(*id).op() == Opcode::CallFunction;
    if (isCall && m_named.insert(*id).second && m_own.node(*id).name() != node.name()) m_own.rename(*id, node.name());
    return result;
  }

  const Graph& m_whole;
  const GraphSharder& m_sharder;
  Graph& m_own;
  std::set<NodeId> m_named;
};

Result<Value> wholeInput(const Node& node) {
  const auto value = valueOf(node.meta().value);
  if (!value) return fail(ErrorCode::UnsupportedOp, "nothing is known of the sizes of input '{}'", node.name());
  if (value->isTensor() && value->tensor().isSymbolic())
    return fail(ErrorCode::UnsupportedOp, "input '{}' has sizes that are no numbers", node.name());
  return *value;
}

Result<Placements> placementsOf(const Node& node, const Value& value, const DeviceMesh& mesh,
                                const ShardOptions& options) {
  const auto found = options.inputs.find(node.name());
  if (found == options.inputs.end()) return Placements(mesh.dims());
  if (!value.isTensor()) return fail(ErrorCode::BadUsage, "input '{}' is no tensor", node.name());
  if (found->second.size() != mesh.dims())
    return fail(ErrorCode::BadUsage, "input '{}' needs {} placements, one for each dimension of the mesh {}",
                node.name(), mesh.dims(), mesh.text());
  return normalized(found->second, value.tensor().dim());
}

struct RankGraph {
  GraphModule module;
  std::vector<ShardedNode> nodes;
  std::vector<Placements> inputs, outputs;
};

/// A number stays what it is: the rank's graph takes it, too.
Result<Value> addInput(const Node& node, const Placements& placements, GraphSharder& sharder, Graph& graph,
                       const Sizes& coordinate) {
  KERF_TRY(const Value whole, wholeInput(node));
  if (!whole.isTensor()) {
    graph.setMeta(graph.placeholder(node.name()), node.meta());
    return whole;
  }
  const DeviceMesh& mesh = sharder.mesh();
  const Tensor& tensor = whole.tensor();
  const Sizes sizes = localSizes({placements, tensor.sizes(), tensor.dtype()}, mesh, coordinate);
  const bool isWhole = sizes == tensor.sizes();
  const Tensor part =
      isWhole ? metaTensor(tensor.dtype(), tensor.sizes(), tensor.strides()) : metaTensor(tensor.dtype(), sizes);
  KERF_TRY(const Value local, sharder.tracer().placeholder(node.name(), part));
  sharder.nodes().push_back({node.name(), "placeholder", {}, {}, placementsText(placements), 0});
  const Value own(sharder.own(local.tensor(), tensor, placements));
  sharder.nameSource(own, node.name());
  return own;
}

/// What the rank's graph gives, and the placements of its tensors.
Result<Value> localOutput(const Value& value, const GraphSharder& sharder, bool gathers,
                          std::vector<Placements>& placements) {
  if (value.isList()) {
    ValueList items;
    for (const Value& item : value.list()) {
      KERF_TRY(Value local, localOutput(item, sharder, gathers, placements));
      items.push_back(std::move(local));
    }
    return Value(std::move(items));
  }
  if (!value.isTensor()) {
    placements.emplace_back();
    return value;
  }
  const Spec spec = *sharder.specOf(value.tensor());
  const Placements whole(sharder.mesh().dims());
  placements.push_back(gathers ? whole : spec.placements);
  if (!gathers) return Value(sharder.local(value.tensor()));
  KERF_TRY(Tensor gathered, sharder.steps().redistribute(sharder.local(value.tensor()), spec, whole));
  return Value(std::move(gathered));
}

Result<RankGraph> rankGraph(const GraphModule& module, const DeviceMesh& mesh, const ShardOptions& options, int rank) {
  RankGraph result;
  const Sizes coordinate = mesh.coordinate(rank);
  GraphSharder sharder(mesh, coordinate, result.module);
  ValueList inputs;
  for (const NodeId id : module.graph.placeholders()) {
    const Node& node = module.graph.node(id);
    KERF_TRY(const Value whole, wholeInput(node));
    KERF_TRY(const Placements placements, placementsOf(node, whole, mesh, options));
    KERF_TRY(Value input, addInput(node, placements, sharder, result.module.graph, coordinate));
    result.inputs.push_back(whole.isTensor() ? placements : Placements());
    inputs.push_back(std::move(input));
  }
  KERF_TRY(const Value output, NodeSharder(module, sharder, result.module.graph).run(inputs));
  KERF_TRY(const Value local, localOutput(output, sharder, options.wholeOutputs, result.outputs));
  KERF_TRY(Argument argument, sharder.tracer().argumentOf(local));
  result.module.graph.output(std::move(argument));
  KERF_CHECK(result.module.graph.lint());
  result.nodes = std::move(sharder.nodes());
  return result;
}

}  // namespace

Result<ShardedGraph> shardGraph(const GraphModule& module, const DeviceMesh& mesh, const ShardOptions& options) {
  for (const auto& [name, placements] : options.inputs) {
    const auto id = module.graph.find(name);
    if (!id || module.graph.node(*id).op() != Opcode::Placeholder)
      return fail(ErrorCode::BadUsage, "the graph has no input '{}'", name);
  }
  ShardedGraph result;
  for (int rank = 0; rank < mesh.ranks(); ++rank) {
    KERF_TRY(RankGraph own, rankGraph(module, mesh, options, rank));
    if (rank == 0) {
      result.nodes = std::move(own.nodes);
      result.inputs = std::move(own.inputs);
      result.outputs = std::move(own.outputs);
      for (const NodeId id : own.module.graph.order()) {
        const std::string& target = own.module.graph.node(id).target();
        const bool isCollective = target.find("c10d_functional") != std::string::npos;
        if (isCollective && target.find("wait_tensor") == std::string::npos) ++result.collectives[target];
      }
    }
    result.ranks.push_back(std::move(own.module));
  }
  return result;
}

std::vector<Group> groupsOfMesh(const DeviceMesh& mesh, int rank) {
  std::vector<Group> groups;
  for (std::size_t dim = 0; dim < mesh.dims(); ++dim) {
    groups.push_back(mesh.group(rank, dim));
    groups.back().name = groupName(mesh, dim, mesh.coordinate(rank));
  }
  return groups;
}

namespace {

Result<ValueList> runRankGraph(const ShardedGraph& graph, const DeviceMesh& mesh, const ValueList& inputs,
                               Communicator& link) {
  MeshRank rank(mesh, link);
  ValueList parts;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].isTensor() || graph.inputs[i].empty()) {
      parts.push_back(inputs[i]);
      continue;
    }
    const Spec whole{Placements(mesh.dims()), inputs[i].tensor().sizes(), inputs[i].tensor().dtype()};
    KERF_TRY(const Tensor part, redistribute(rank, inputs[i].tensor(), whole, graph.inputs[i]));
    KERF_TRY(Tensor own, part.clone());  // graphs may write into what they get
    parts.emplace_back(std::move(own));
  }
  RankKernels kernels(link, groupsOfMesh(mesh, link.rank()));
  const RankLink::Scope scope(kernels);
  KERF_TRY(const Value result, Interpreter(graph.ranks[std::size_t(link.rank())], referenceOps()).run(parts));
  ValueList outputs = result.isList() ? result.list() : ValueList{result};
  for (std::size_t i = 0; i < std::min(outputs.size(), graph.outputs.size()); ++i) {
    if (!outputs[i].isTensor() || graph.outputs[i].empty()) continue;
    // The whole sizes follow from the parts': gathering needs none.
    Spec spec{graph.outputs[i], outputs[i].tensor().sizes(), outputs[i].tensor().dtype()};
    KERF_TRY(Tensor whole, fullTensor(rank, outputs[i].tensor(), spec));
    outputs[i] = Value(std::move(whole));
  }
  return outputs;
}

}  // namespace

Result<ValueList> runShardedGraph(const ShardedGraph& graph, const DeviceMesh& mesh, const ValueList& inputs) {
  ValueList outputs;
  const auto results = runRanks(mesh.ranks(), [&](Communicator& link) -> Result<void> {
    KERF_TRY(ValueList own, runRankGraph(graph, mesh, inputs, link));
    if (link.rank() == 0) outputs = std::move(own);
    return {};
  });
  KERF_CHECK(firstCause(results));
  return outputs;
}

}  // namespace kerf::inline distributed::inline graphs
