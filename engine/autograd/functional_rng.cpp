#include "engine/autograd/functional_rng.h"

#include <algorithm>
#include <set>

#include "engine/ir/value_meta.h"
#include "engine/ops/core/op_registry.h"

namespace kerf::inline autograd {
namespace {

const OpId rand = "aten.rand.default"_op, randLike = "aten.rand_like.default"_op,
           nativeDropout = "aten.native_dropout.default"_op;
constexpr std::string_view philoxRand = "torch.ops.rngprims.philox_rand.default";

/// What a tensor of the node's first result looks like.
const TensorMeta* tensorOf(const Node& node) {
  const ValueMeta& meta = node.meta().value;
  const auto* results = meta.list();
  return results != nullptr && !results->empty() ? results->front().tensor() : meta.tensor();
}

TensorMeta scalarOn(const Device& device) { return {.dtype = DType::Int64, .device = device}; }

class RngFunctionalizer {
 public:
  explicit RngFunctionalizer(AotGraph& traced) : m_traced(traced), m_graph(traced.module.graph) {}

  Result<void> run() {
    KERF_TRY(const std::vector<NodeId> draws, functionalDraws());
    if (draws.empty()) return {};
    findBackward();
    addState("fwd", m_forward);
    if (isJoint()) addState("bwd", m_backward);
    for (const NodeId id : draws) KERF_CHECK(replace(id));
    returnOffsets();
    return m_graph.lint();
  }

 private:
  /// Where the next draw of a part begins.
  struct State {
    NodeId seed, offset;
  };
  bool isJoint() const { return !m_traced.tangents.empty(); }

  Result<std::vector<NodeId>> functionalDraws() {
    std::vector<NodeId> found;
    for (const NodeId id : m_graph.order()) {
      const Node& node = m_graph.node(id);
      const OpInfo* op = findOp(node);
      if (op == nullptr || !has(op->traits, OpTrait::Random)) continue;
      const bool known = node.opId() == rand || node.opId() == randLike || node.opId() == nativeDropout;
      if (!known || !hasNumbers(node)) {
        m_traced.metadata.notes.push_back(
            fmt::format("{} draws from the generator still: {} has no form of seeds", node.name(), node.target()));
        continue;
      }
      if (std::string_view(tensorOf(node)->device.type) != "cuda") {
        Error error{ErrorCode::UnsupportedOp,
                    "random numbers of a CPU tensor are not a function of a seed and an offset"};
        error.atNode(node.name());
        return fail(std::move(error));
      }
      if (m_device.type.empty() || found.empty()) m_device = tensorOf(node)->device;
      found.push_back(id);
    }
    return found;
  }

  static bool hasNumbers(const Node& node) {
    const TensorMeta* meta = tensorOf(node);
    return meta != nullptr && std::ranges::all_of(meta->sizes, [](const Dim& size) { return size.text.empty(); });
  }

  /// The backward part: what the tracer says is one's gradient, and what depends on a tangent.
  void findBackward() {
    const std::vector<NodeId> placeholders = m_graph.placeholders();
    for (std::size_t i = m_traced.metadata.inputs.size(); i < placeholders.size(); ++i)
      m_isBackward.insert(placeholders[i]);
    for (const NodeId id : m_graph.order()) {
      const Node& node = m_graph.node(id);
      const auto& extra = node.meta().extra;
      const bool said = std::ranges::any_of(
          extra, [](const auto& entry) { return entry.first == "partitioner_tag" && entry.second == "is_backward"; });
      bool depends = said;
      for (const NodeId input : node.inputs()) depends = depends || m_isBackward.contains(input);
      if (depends) m_isBackward.insert(id);
    }
  }

  void addState(std::string_view part, State& state) {
    for (const std::string_view what : {"seed", "base_offset"}) {
      const auto order = m_graph.order();
      const auto first =
          std::ranges::find_if(order, [&](NodeId id) { return m_graph.node(id).op() != Opcode::Placeholder; });
      const InsertionScope scope(m_graph, InsertionScope::Where::Before, *first);
      const NodeId node = m_graph.placeholder(fmt::format("{}_{}_1", part, what));
      m_graph.setValueMeta(node, {scalarOn(m_device)});
      m_traced.rngInputs.push_back(m_graph.node(node).name());
      (what == "seed" ? state.seed : state.offset) = node;
    }
  }

  NodeId call(std::string_view target, ArgumentList args, KeywordArguments kwargs, ValueMeta meta,
              std::string_view name, const Node& like) {
    const NodeId made = m_graph.callFunction(target, std::move(args), std::move(kwargs), name);
    NodeMeta all = like.meta();
    all.value = std::move(meta);
    m_graph.setMeta(made, std::move(all));
    return made;
  }

  /// Uniform numbers like the node's result, and the state behind them.
  NodeId draw(const Node& node, State& state) {
    TensorMeta numbers = *tensorOf(node);
    std::ranges::fill(numbers.strides, Dim());
    std::int64_t stride = 1;
    ArgumentList sizes;
    for (std::size_t i = numbers.sizes.size(); i-- > 0;) {
      numbers.strides[i] = dim(stride);
      stride *= std::max<std::int64_t>(*numbers.sizes[i].hint, 1);
    }
    for (const Dim& size : numbers.sizes) sizes.push_back(Argument(*size.hint));
    numbers.storageOffset = 0;
    const ValueMeta jump{scalarOn(m_device)}, drawn{numbers};
    const NodeId both = call(philoxRand,
                             {Argument::list(std::move(sizes)), state.seed, state.offset, Argument(),
                              Argument(numbers.device), Argument(numbers.dtype)},
                             {}, {std::vector<ValueMeta>{drawn, jump}}, "philox_rand", node);
    const NodeId values = call("operator.getitem", {both, Argument(std::int64_t{0})}, {}, drawn, "getitem", node);
    const NodeId step = call("operator.getitem", {both, Argument(std::int64_t{1})}, {}, jump, "getitem", node);
    state.offset = call("torch.ops.aten.add.Tensor", {state.offset, step}, {}, jump, "add", node);
    return values;
  }

  Result<void> replace(NodeId id) {
    const InsertionScope scope(m_graph, InsertionScope::Where::Before, id);
    const Node& node = m_graph.node(id);
    State& state = m_isBackward.contains(id) ? m_backward : m_forward;
    if (node.opId() == nativeDropout) return replaceDropout(id, state);
    m_graph.replaceAllUsesWith(id, draw(node, state));
    return m_graph.eraseNode(id);
  }

  /// stays = rand > p; kept = stays * input * (1 / (1 - p))
  Result<void> replaceDropout(NodeId id, State& state) {
    const Node& node = m_graph.node(id);
    KERF_TRY(const auto bound, bindNode(node));
    const double rate = bound.rate;
    if (!bound.trains || rate <= 0 || rate >= 1) return {};  // draws nothing
    const NodeId uniform = draw(node, state);
    const ValueMeta kept = (*node.meta().value.list())[0];
    TensorMeta mask = *m_graph.node(uniform).meta().value.tensor();
    mask.dtype = DType::Bool;
    const NodeId stays = call("torch.ops.aten.gt.Scalar", {uniform, Argument(rate)}, {}, {mask}, "gt", node);
    const NodeId masked = call("torch.ops.aten.mul.Tensor", {stays, bound.input}, {}, kept, "mul", node);
    const NodeId scaled =
        call("torch.ops.aten.mul.Tensor", {masked, Argument(1.0 / (1.0 - rate))}, {}, kept, "mul", node);
    const std::vector<NodeId> users(node.users().begin(), node.users().end());
    for (const NodeId user : users) {
      const auto* index = m_graph.node(user).args()[1].as<std::int64_t>();
      m_graph.replaceAllUsesWith(user, index != nullptr && *index == 0 ? scaled : stays);
      KERF_CHECK(m_graph.eraseNode(user));
    }
    return m_graph.eraseNode(id);
  }

  struct Dropout {
    NodeId input;
    double rate = 0;
    bool trains = true;
  };
  Result<Dropout> bindNode(const Node& node) const {
    Dropout dropout;
    const auto& args = node.args();
    const NodeId* input = args.empty() ? nullptr : args[0].as<NodeId>();
    if (input == nullptr || args.size() < 2)
      return fail(ErrorCode::BadInput, "{} has no input and probability", node.name());
    dropout.input = *input;
    if (const auto* rate = args[1].as<double>()) dropout.rate = *rate;
    if (args.size() > 2)
      if (const auto* trains = args[2].as<bool>()) dropout.trains = *trains;
    return dropout;
  }

  /// The forward part's offset behind the user's outputs, the backward part's at the end.
  void returnOffsets() {
    const NodeId output = m_graph.outputNode();
    const Argument& returned = m_graph.node(output).args()[0];
    const auto* list = returned.asList();
    ArgumentList items = list != nullptr ? list->items : ArgumentList{returned};
    const std::size_t forward = m_traced.mutatedOutputs + m_traced.userOutputs;
    items.insert(items.begin() + std::ptrdiff_t(std::min(forward, items.size())), Argument(m_forward.offset));
    if (isJoint()) items.push_back(Argument(m_backward.offset));
    m_graph.setArgs(output, {isJoint() ? Argument::list(std::move(items)) : Argument::tuple(std::move(items))});
    ++m_traced.userOutputs;
  }

  AotGraph& m_traced;
  Graph& m_graph;
  Device m_device;
  std::set<NodeId> m_isBackward;
  State m_forward, m_backward;
};

}  // namespace

Result<void> functionalizeRng(AotGraph& traced) { return RngFunctionalizer(traced).run(); }

}  // namespace kerf::inline autograd
