#include "engine/ops/core/memory_writes.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "engine/ops/core/purity.h"

namespace kerf::inline ops {
namespace {

using Answer = MemoryWrites::Answer;
constexpr int deepestGraph = 100;

/// Views by their schema that copy where strides ask for it.
constexpr std::array<std::string_view, 7> mayCopy = {"reshape", "contiguous", "to",   "flatten",
                                                     "ravel",   "reshape_as", "float"};

/// Higher-order ops that write into copies only.
constexpr std::array<std::string_view, 2> functional = {"auto_functionalized", "auto_functionalized_v2"};

/// A value that looks at the memory of another one.
struct Sharing {
  NodeId source;
  Answer certainty = Answer::Yes;
};

/// What is known of nested graphs, each looked through once however often it is called.
using NestedWrites = std::unordered_map<const GraphModule*, MemoryWrites>;

std::string_view bareName(std::string_view target) {
  constexpr std::string_view higher = "torch.ops.higher_order.", aten = "torch.ops.aten.";
  if (target.starts_with(higher)) return target.substr(higher.size());
  if (target.starts_with(aten)) target.remove_prefix(aten.size());
  return target.substr(0, target.find('.'));
}

void flatten(const Argument& argument, std::vector<const Argument*>& leaves) {
  if (const ListArgument* list = argument.asList())
    for (const Argument& item : list->items) flatten(item, leaves);
  else if (argument.as<std::string>() == nullptr)
    leaves.push_back(&argument);
}

class Walk {
 public:
  Walk(const GraphModule& module, int depth, NestedWrites& nested)
      : m_module(module), m_depth(depth), m_nested(nested) {
    for (const NodeId id : module.graph.order()) visit(module.graph.node(id));
  }
  MemoryWrites finish() && { return std::move(m_writes); }

 private:
  void visit(const Node& node) {
    switch (node.op()) {
      case Opcode::Placeholder:
        m_placeholders.emplace(node.id(), m_writes.placeholders.size());
        m_writes.placeholders.push_back(Answer::No);
        return;
      case Opcode::GetAttr:
        if (m_module.submodule(node.target()) == nullptr) m_attributes.emplace(node.id(), node.target());
        return;
      case Opcode::CallFunction:
        return visitFunction(node);
      case Opcode::CallMethod:
        return visitMethod(node);
      case Opcode::CallModule:
        return visitModule(node);
      case Opcode::Output:
        return;
    }
  }

  void visitFunction(const Node& node) {
    if (node.isCall("operator.getitem"_op)) return share(node, node.args()[0], Answer::Yes);
    if (node.target().starts_with("torch.ops.higher_order.")) return visitHigherOrder(node);
    if (const OpInfo* op = findOp(node)) return visitKnown(node, *op);
    visitUnknown(node);
  }

  void visitKnown(const Node& node, const OpInfo& op) {
    const bool copies = mayReturnArgument(op) || std::ranges::find(mayCopy, bareName(node.target())) != mayCopy.end();
    for (std::size_t i = 0; i < op.schema.arguments.size(); ++i) {
      const Argument* argument = boundArgument(node, op, i);
      if (argument == nullptr) continue;
      if (writesTo(op, i)) write(*argument, updatesStatistics(op, i) ? Answer::Maybe : Answer::Yes);
      if (sharesMemory(op, i)) share(node, *argument, copies ? Answer::Maybe : Answer::Yes);
    }
  }

  /// Python's in-place operators and functions named so, `inplace=True` and `out=`; anything else may do anything.
  void visitUnknown(const Node& node) {
    if (std::ranges::find(functional, bareName(node.target())) != functional.end()) return;
    bool writesFirst = changesFirst(node);
    if (const Argument* out = outOfTorch(node)) {
      write(*out, Answer::Yes);
      return share(node, *out, Answer::Yes);
    }
    writesFirst = writesFirst || asksForInplace(node);
    for (const auto& [key, value] : node.kwargs())
      if (key == "out") write(value, Answer::Yes);
    if (writesFirst && !node.args().empty()) write(node.args()[0], Answer::Yes);
    maybeAll(node);
    if (writesFirst && !node.args().empty()) share(node, node.args()[0], Answer::Yes);
  }

  void visitMethod(const Node& node) {
    if (node.args().empty()) return;
    const bool writes = purityOf(node) == Purity::Impure;
    if (writes) write(node.args()[0], Answer::Yes);
    const bool copies = std::ranges::find(mayCopy, node.target()) != mayCopy.end();
    share(node, node.args()[0], writes || (isViewMethod(node.target()) && !copies) ? Answer::Yes : Answer::Maybe);
  }

  void visitModule(const Node& node) {
    const Submodule* found = m_module.submodule(node.target());
    if (found == nullptr || !found->graph) return maybeAll(node);
    std::vector<const Argument*> operands;
    for (const Argument& argument : node.args()) flatten(argument, operands);
    for (const auto& [key, value] : node.kwargs()) flatten(value, operands);
    enter(*found->graph, operands);
    for (const Argument* operand : operands) share(node, *operand, Answer::Maybe);
  }

  /// Operands follow the nested graphs, in the order of the graphs' placeholders: cond(p, f, g, [x]), map(f, xs, rest),
  /// while_loop(c, b, carried, rest), invoke_subgraph(f, "name", x).
  void visitHigherOrder(const Node& node) {
    if (std::ranges::find(functional, bareName(node.target())) != functional.end()) return;
    std::vector<const GraphModule*> bodies;
    std::vector<const Argument*> leaves, operands;
    for (const Argument& argument : node.args()) flatten(argument, leaves);
    for (const auto& [key, value] : node.kwargs()) flatten(value, leaves);
    for (const Argument* leaf : leaves) {
      if (const GraphModule* body = bodyOf(*leaf))
        bodies.push_back(body);
      else if (!bodies.empty())
        operands.push_back(leaf);
    }
    if (bodies.empty()) return maybeAll(node);
    for (const GraphModule* body : bodies) enter(*body, operands);
    for (const Argument* operand : operands) share(node, *operand, Answer::Maybe);
  }

  const GraphModule* bodyOf(const Argument& argument) const {
    const SubgraphRef* path = argument.as<SubgraphRef>();
    const NodeId* id = argument.as<NodeId>();
    const Node* node = id != nullptr ? &m_module.graph.node(*id) : nullptr;
    if (path == nullptr && (node == nullptr || node->op() != Opcode::GetAttr)) return nullptr;
    const Submodule* found = m_module.submodule(path != nullptr ? path->path : node->target());
    return found != nullptr ? found->graph.get() : nullptr;
  }

  /// What a nested graph does to its placeholders happens to the operands.
  void enter(const GraphModule& body, const std::vector<const Argument*>& operands) {
    if (m_depth < deepestGraph) {
      const MemoryWrites& inner = writesIn(body);
      if (inner.placeholders.size() == operands.size()) {
        for (std::size_t i = 0; i < operands.size(); ++i) write(*operands[i], inner.placeholders[i]);
        return;
      }
      if (std::ranges::all_of(inner.placeholders, [](Answer answer) { return answer == Answer::No; })) return;
    }
    for (const Argument* operand : operands) write(*operand, Answer::Maybe);
  }

  const MemoryWrites& writesIn(const GraphModule& body) {
    const auto known = m_nested.find(&body);
    if (known != m_nested.end()) return known->second;
    MemoryWrites inner = Walk(body, m_depth + 1, m_nested).finish();
    return m_nested.emplace(&body, std::move(inner)).first->second;
  }

  void maybeAll(const Node& node) {
    for (const NodeId input : node.inputs()) {
      write(Argument(input), Answer::Maybe);
      share(node, Argument(input), Answer::Maybe);
    }
  }

  void write(const Argument& argument, Answer answer) {
    if (answer == Answer::No) return;
    forEachNode(argument, [&](NodeId id) { writeBack({id, answer}); });
  }

  /// To where the memory comes from. A node that was met before with no less certainty has nothing new behind it, so that
  /// all writes together look at each sharing twice at most.
  void writeBack(Sharing written) {
    std::vector<Sharing> left{written};
    while (!left.empty()) {
      const auto [id, answer] = left.back();
      left.pop_back();
      Answer& known = m_written[id];
      if (known >= answer) continue;
      known = answer;
      mark(id, answer);
      const std::vector<Sharing>& sources = m_sources[id];
      for (auto source = sources.rbegin(); source != sources.rend(); ++source)
        left.push_back({source->source, std::min(answer, source->certainty)});
    }
  }

  void mark(NodeId id, Answer answer) {
    if (const auto found = m_placeholders.find(id); found != m_placeholders.end()) {
      Answer& known = m_writes.placeholders[found->second];
      known = std::max(known, answer);
    }
    const auto attribute = m_attributes.find(id);
    if (attribute == m_attributes.end()) return;
    const auto [row, fresh] = m_rows.emplace(attribute->second, m_writes.attributes.size());
    if (fresh)
      m_writes.attributes.emplace_back(attribute->second, answer);
    else
      m_writes.attributes[row->second].second = std::max(m_writes.attributes[row->second].second, answer);
  }

  /// `node` looks at the memory that `argument` looks at.
  void share(const Node& node, const Argument& argument, Answer certainty) {
    std::vector<Sharing>& sources = m_sources[node.id()];
    forEachNode(argument, [&](NodeId id) { sources.push_back({id, certainty}); });
  }

  const GraphModule& m_module;
  int m_depth;
  MemoryWrites m_writes;
  NestedWrites& m_nested;
  std::unordered_map<NodeId, std::size_t> m_placeholders;      ///< their numbers
  std::unordered_map<NodeId, std::string> m_attributes;        ///< paths of those that are read
  std::unordered_map<std::string, std::size_t> m_rows;         ///< in m_writes.attributes, by path
  std::unordered_map<NodeId, std::vector<Sharing>> m_sources;  ///< whose memory a value looks at
  std::unordered_map<NodeId, Answer> m_written;                ///< what was written so far
};

}  // namespace

MemoryWrites memoryWrites(const GraphModule& module) {
  NestedWrites nested;
  return Walk(module, 0, nested).finish();
}

}  // namespace kerf::inline ops
