#include "engine/lower/write_loops.h"

#include <algorithm>

#include "engine/lower/node_writer.h"
#include "engine/ops/core/decomposition_tables.h"
#include "engine/ops/core/memory_use.h"
#include "engine/ops/core/purity.h"

namespace kerf::inline lower {
namespace {

constexpr std::size_t mostCalls = 64;  // in place of one

/// An op whose decomposition gives what its kernel does, whatever the values and numbers are. Not so losses that check
/// their inputs, or take margins and thresholds of either sign.
struct WrittenOp {
  std::string_view name;
  bool halves = false;        ///< of 16-bit floats, too: computed in float32 and rounded once, not after each step
  bool wholeNumbers = false;  ///< its parts take whole numbers as its kernel does
};
constexpr WrittenOp writtenOps[] = {
    {.name = "aten::arange", .wholeNumbers = true},
    {.name = "aten::fmax"},
    {.name = "aten::fmin"},
    {.name = "aten::glu"},
    {.name = "aten::glu_backward"},
    {.name = "aten::linalg_vector_norm"},
    {.name = "aten::log_sigmoid_backward"},
    {.name = "aten::log_sigmoid_forward"},
    {.name = "aten::log_softmax", .halves = true},
    {.name = "aten::_log_softmax", .halves = true},
    {.name = "aten::_log_softmax_backward_data", .halves = true},
    {.name = "aten::logsumexp"},
    {.name = "aten::max"},
    {.name = "aten::min"},
    {.name = "aten::mish"},
    {.name = "aten::mish_backward"},
    {.name = "aten::mse_loss"},
    {.name = "aten::mse_loss_backward"},
    {.name = "aten::nan_to_num"},
    {.name = "aten::native_batch_norm", .halves = true},
    {.name = "aten::native_batch_norm_backward", .halves = true},
    {.name = "aten::_native_batch_norm_legit", .halves = true},
    {.name = "aten::_native_batch_norm_legit_no_training", .halves = true},
    {.name = "aten::native_group_norm", .halves = true},
    {.name = "aten::native_group_norm_backward", .halves = true},
    {.name = "aten::native_layer_norm", .halves = true},
    {.name = "aten::native_layer_norm_backward", .halves = true},
    {.name = "aten::nll_loss2d_forward"},
    {.name = "aten::nll_loss_forward"},
    {.name = "aten::_prelu_kernel"},
    {.name = "aten::_prelu_kernel_backward"},
    {.name = "aten::reshape", .halves = true, .wholeNumbers = true},
    {.name = "aten::_safe_softmax"},
    {.name = "aten::softmax", .halves = true},
    {.name = "aten::_softmax", .halves = true},
    {.name = "aten::_softmax_backward_data", .halves = true},
};
const WrittenOp* writtenOp(const OpInfo& op) {
  const auto row = std::ranges::find(writtenOps, std::string_view(op.schema.name), &WrittenOp::name);
  return row == std::end(writtenOps) ? nullptr : row;
}

bool isLoop(const OpInfo& op) { return bool(op.lowering) || has(op.traits, OpTrait::View); }

/// What a trace replaces while it writes a call: all that is no loop yet.
Replacement unlessLoop(const OpInfo& op) {
  if (isLoop(op) || has(op.traits, OpTrait::Random)) return false;
  static const Decomposes table = decomposesBy(DecompositionTable::Inductor);
  const Replacement by = table(op);
  return by.replaces || op.decomposition == nullptr ? by : Replacement(true);
}

bool isReshape(const Node& node) { return node.isCall("aten.reshape.default"_op); }
bool isLiteralItem(const Node& node) {
  return node.isCall("operator.getitem"_op) && !node.args().empty() && !node.args()[0].as<NodeId>();
}

/// Of what only batch norms in training write: their running statistics.
bool trains(const Node& node, const OpInfo& op) {
  for (std::size_t i = 0; i < op.schema.arguments.size(); ++i) {
    const std::string& name = op.schema.arguments[i].name;
    if (name != "training" && name != "train") continue;
    const Argument* given = boundArgument(node, op, i);
    const bool* flag = given ? given->as<bool>() : nullptr;
    return flag == nullptr || *flag;
  }
  return true;
}
bool writesNothing(const Node& node, const OpInfo& op) {
  if (purityOf(node) == Purity::Pure) return true;
  bool statistics = false;
  for (std::size_t i = 0; i < op.schema.arguments.size(); ++i) statistics |= updatesStatistics(op, i);
  return statistics && !has(op.traits, OpTrait::Random) && !trains(node, op);
}

/// A batch norm's running statistics are not looked at by its results.
bool givesView(const OpInfo& op) {
  for (std::size_t i = 0; i < op.schema.arguments.size(); ++i)
    if (sharesMemory(op, i)) return true;
  return false;
}

bool isConversion(const Node& node) {
  return node.isCall("prims.convert_element_type.default"_op) || node.isCall("aten._to_copy.default"_op);
}
bool isHalf(const TensorMeta* tensor) { return tensor && isFloating(tensor->dtype) && itemSize(tensor->dtype) == 2; }
bool rounds(const Node& node) {
  return isHalf(node.meta().value.tensor()) && !isConversion(node) && !node.isCall("aten.clone.default"_op) &&
         !has(findOp(node)->traits, OpTrait::View) && !node.inputs().empty();
}

/// One call and what was written for it.
class Acceptance {
 public:
  Acceptance(const Graph& graph, const Node& node)
      : m_graph(graph), m_op(*writtenOp(*findOp(node))), m_isReshape(isReshape(node)) {
    m_readsSome = m_readsFloats = !node.inputs().empty();
    for (const NodeId id : node.inputs()) {
      const TensorMeta* tensor = graph.node(id).meta().value.tensor();
      m_readsFloats &= tensor == nullptr || isFloating(tensor->dtype);
      m_readsHalves |= isHalf(tensor);
    }
    const auto* results = node.meta().value.list();
    if (results == nullptr) m_items.push_back({-1, node.meta().value});
    for (const NodeId id : node.users())
      if (results != nullptr) addItems(graph.node(id), *results);
  }

  bool operator()(const WrittenNodes& written) const {
    const auto isCopy = [&](NodeId id) { return m_graph.node(id).isCall("aten.clone.default"_op); };
    if (m_isReshape && std::ranges::none_of(written.made, isCopy)) return false;
    if (m_readsHalves && !m_op.halves) return false;
    return areLoops(written) && std::ranges::all_of(m_items, [&](const Item& item) { return fits(item, written); });
  }

 private:
  struct Item {
    std::int64_t index;  ///< of the list that is the result; -1: the result itself
    ValueMeta meta;
  };

  /// What a user reads: one of the results, or all of them.
  void addItems(const Node& user, const std::vector<ValueMeta>& results) {
    const bool isItem = user.isCall("operator.getitem"_op) && user.args().size() == 2;
    const auto* index = isItem ? user.args()[1].as<std::int64_t>() : nullptr;
    for (std::size_t i = 0; i < results.size(); ++i)
      if (index == nullptr || *index == std::int64_t(i) || *index < 0) m_items.push_back({std::int64_t(i), results[i]});
  }

  /// Of 16-bit floats nothing is rounded but results.
  bool areLoops(const WrittenNodes& written) const {
    const auto isGenerated = [&](NodeId id) {
      const Node& node = m_graph.node(id);
      const OpInfo* op = findOp(node);
      if (op == nullptr) return false;
      if (node.isCall("operator.getitem"_op)) return true;
      return isLoop(*op) && (!rounds(node) || isResult(id, written.result));
    };
    return written.made.size() <= mostCalls && std::ranges::all_of(written.made, isGenerated);
  }
  static bool isResult(NodeId id, const Argument& result) {
    bool found = false;
    forEachNode(result, [&](NodeId given) { found |= given == id; });
    return found;
  }

  /// None where the call gives none; else the same dtype, sizes and strides, in memory that the call's parts made:
  /// somebody may write into it.
  bool fits(const Item& item, const WrittenNodes& written) const {
    const ListArgument* list = written.result.asList();
    if ((item.index >= 0) != (list != nullptr) || (list && std::size_t(item.index) >= list->items.size())) return false;
    const Argument& given = list ? list->items[std::size_t(item.index)] : written.result;
    const TensorMeta* before = item.meta.tensor();
    if (before == nullptr) return given.isNone();
    const NodeId* id = given.as<NodeId>();
    const TensorMeta* after = id && ownsMemory(*id, written.made) ? m_graph.node(*id).meta().value.tensor() : nullptr;
    return after && isRight(after->dtype) && isLike(*after, *before);
  }
  /// An op's own kernel may take whole numbers that its parts refuse, and computes ranges of floats otherwise.
  bool isRight(DType result) const { return isFloating(result) ? m_readsSome : m_readsFloats || m_op.wholeNumbers; }
  bool ownsMemory(NodeId id, std::span<const NodeId> made) const {
    for (;;) {
      if (std::ranges::find(made, id) == made.end()) return false;
      const Node& node = m_graph.node(id);
      const OpInfo* op = findOp(node);
      const bool looksOn = node.isCall("operator.getitem"_op) || mayShareMemory(*op);
      const NodeId* base = node.args().empty() ? nullptr : node.args()[0].as<NodeId>();
      if (!looksOn) return true;
      if (base == nullptr) return false;
      id = *base;
    }
  }

  const Graph& m_graph;
  const WrittenOp& m_op;
  bool m_isReshape, m_readsSome, m_readsFloats, m_readsHalves = false;
  std::vector<Item> m_items;
};

}  // namespace

bool mayBecomeLoops(const Node& node) {
  const OpInfo* op = node.op() == Opcode::CallFunction ? findOp(node) : nullptr;
  if (op == nullptr || !writesNothing(node, *op)) return false;
  if (isReshape(node)) return true;
  return writtenOp(*op) && !isLoop(*op) && unlessLoop(*op).replaces && !givesView(*op);
}

Result<void> writeLoops(GraphModule& module) {
  OpId root;  // a reshape, which is a view elsewhere
  NodeWriter writer(module, [&](const OpInfo& op) { return op.id == root ? Replacement(true) : unlessLoop(op); });
  const auto program = [](const OpId op, std::string_view target) {
    return [=](const OpTracer& tracer, const CallValues& call) {
      return tracer.call(OpTarget(op, target), call.args, call.kwargs);
    };
  };
  for (const NodeId id : std::vector<NodeId>(module.graph.order().begin(), module.graph.order().end())) {
    const Node& node = module.graph.node(id);
    const bool isItem = isLiteralItem(node);
    if (!isItem && !mayBecomeLoops(node)) continue;
    const OpId op = node.opId();
    root = isReshape(node) ? op : OpId();
    const std::string target = node.target();
    const NodeWriter::Check accepts = isItem ? NodeWriter::Check() : Acceptance(module.graph, node);
    KERF_CHECK(writer.replace(id, program(op, target), accepts));
  }
  writer.dropUnread();
  return {};
}

}  // namespace kerf::inline lower
