#include "engine/lower/write_results.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "engine/lower/node_writer.h"
#include "engine/ops/core/memory_use.h"

namespace kerf::inline lower {
namespace {

/// Whether a call writes into `operand` element by element and gives it as its result.
bool writesInto(const Node& call, NodeId operand) {
  const NodeId* written = call.args().empty() ? nullptr : call.args()[0].as<NodeId>();
  return written && *written == operand && newResultOf(call) != nullptr;
}

/// Whether its result is a tensor in memory that no other node looks at.
bool ownsMemory(const Node& node) {
  const OpInfo* op = node.op() == Opcode::CallFunction ? findOp(node) : nullptr;
  return op && node.meta().value.tensor() && !node.isCall("operator.getitem"_op) && !mayShareMemory(*op);
}

/// What a call does with the memory of `operand`, as far as is known.
struct MemoryUse {
  bool writes = false, looksOn = false;  ///< looksOn: its result is in that memory
};
MemoryUse useOf(const Node& user, NodeId operand) {
  if (user.op() == Opcode::Output) return {};
  if (user.op() != Opcode::CallFunction || findOp(user) == nullptr) return {.writes = true};
  MemoryUse use;
  forEachMemoryUse(user, [&](const Argument& argument, bool writes, bool shares) {
    bool isOperand = false;
    forEachNode(argument, [&](NodeId id) { isOperand |= id == operand; });
    use.writes |= isOperand && writes;
    use.looksOn |= isOperand && shares;
  });
  return use;
}

class ResultWriter {
 public:
  explicit ResultWriter(GraphModule& module)
      : m_graph(module.graph), m_writer(module, [](const OpInfo&) { return Replacement(false); }) {
    for (const NodeId id : m_graph.order()) m_places.emplace(id, m_places.size());
  }

  Result<void> run() {
    for (const NodeId id : std::vector<NodeId>(m_graph.order().begin(), m_graph.order().end())) {
      if (!m_graph.contains(id) || !ownsMemory(m_graph.node(id))) continue;
      if (const auto readers = readersOf(id)) KERF_CHECK(write(id, *readers));
    }
    return {};
  }

 private:
  /// All that read a result or what was written into it, in order of the graph, writers among them. None where nobody
  /// writes, where somebody writes in another way, and where a view that was taken before a write is read behind it.
  std::optional<std::vector<NodeId>> readersOf(NodeId result) const {
    const auto isWriter = [&](NodeId id) { return writesInto(m_graph.node(id), result); };
    if (std::ranges::none_of(m_graph.node(result).users(), isWriter)) return std::nullopt;
    std::vector<NodeId> names{result};
    std::unordered_set<NodeId> readers;
    std::vector<std::pair<std::size_t, std::size_t>> views;  // from where to where they are read
    for (std::size_t i = 0; i < names.size(); ++i)
      for (const NodeId id : m_graph.node(names[i]).users()) {
        const Node& user = m_graph.node(id);
        const bool isNewResult = writesInto(user, names[i]);
        const MemoryUse use = isNewResult ? MemoryUse() : useOf(user, names[i]);
        const auto last = use.looksOn ? lastRead(id) : m_places.at(id);
        if (use.writes || !last) return std::nullopt;
        if (use.looksOn) views.emplace_back(m_places.at(id), *last);
        readers.insert(id);
        if (isNewResult && std::ranges::find(names, id) == names.end()) names.push_back(id);
      }
    const auto isWrittenOver = [&](const auto& view) {
      return std::any_of(names.begin() + 1, names.end(), [&](NodeId writer) {
        return view.first < m_places.at(writer) && m_places.at(writer) < view.second;
      });
    };
    if (std::ranges::any_of(views, isWrittenOver)) return std::nullopt;
    std::vector<NodeId> ordered(readers.begin(), readers.end());
    std::ranges::sort(ordered, {}, [&](NodeId id) { return m_places.at(id); });
    return ordered;
  }

  /// Where a view, or a view of it, is read last; none where somebody writes into it.
  std::optional<std::size_t> lastRead(NodeId view) const {
    std::vector<NodeId> views{view};
    std::size_t last = m_places.at(view);
    for (std::size_t i = 0; i < views.size(); ++i)
      for (const NodeId id : m_graph.node(views[i]).users()) {
        const MemoryUse use = useOf(m_graph.node(id), views[i]);
        if (use.writes) return std::nullopt;
        last = std::max(last, m_places.at(id));
        if (use.looksOn && std::ranges::find(views, id) == views.end()) views.push_back(id);
      }
    return last;
  }

  /// From reader to reader, each of which takes the newest result.
  Result<void> write(NodeId result, const std::vector<NodeId>& readers) {
    std::unordered_set<NodeId> names{result};
    NodeId newest = result;
    for (const NodeId reader : readers) {
      for (const NodeId input : m_graph.node(reader).inputs())
        if (names.contains(input) && input != newest) m_graph.replaceInput(reader, input, newest);
      if (!writesInto(m_graph.node(reader), newest)) continue;
      KERF_TRY(newest, newResult(reader, *newResultOf(m_graph.node(reader))));
      names.insert(newest);
    }
    return {};
  }

  /// What the call gives as a result of its own; the call itself where that would be of another dtype or layout.
  Result<NodeId> newResult(NodeId call, const OpInfo& op) {
    const TensorMeta* written = m_graph.node(call).meta().value.tensor();
    if (written == nullptr) return call;
    const auto fits = [this, meta = *written](const WrittenNodes& nodes) {
      const NodeId* result = nodes.result.as<NodeId>();
      const TensorMeta* made = result ? m_graph.node(*result).meta().value.tensor() : nullptr;
      return made && isLike(*made, meta);
    };
    const auto program = [&](const OpTracer& tracer, const CallValues& given) {
      return tracer.call(OpTarget(op.id), given.args, given.kwargs);
    };
    KERF_TRY(const auto made, m_writer.replace(call, program, fits));
    if (!made) return call;
    const NodeId id = *made->as<NodeId>();
    m_places.emplace(id, m_places.at(call));
    return id;
  }

  Graph& m_graph;
  NodeWriter m_writer;
  std::unordered_map<NodeId, std::size_t> m_places;
};

}  // namespace

const OpInfo* newResultOf(const Node& node) {
  const OpInfo* op = node.op() == Opcode::CallFunction ? findOp(node) : nullptr;
  if (op == nullptr || !has(op->traits, OpTrait::Inplace) || !op->base) return nullptr;
  const OpInfo* base = findOp(op->base);
  if (base == nullptr || base->schema.arguments.size() != op->schema.arguments.size()) return nullptr;
  return base->lowering.pointwise || base->id == "aten.detach.default"_op ? base : nullptr;
}

Result<void> writeResults(GraphModule& module) { return ResultWriter(module).run(); }

}  // namespace kerf::inline lower
