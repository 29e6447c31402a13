#include "engine/ops/core/memory_writes.h"

#include <algorithm>
#include <array>
#include <map>

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

/// A placeholder or attribute whose memory a value looks at.
struct Origin {
  int placeholder = -1;
  std::string attribute;
  Answer certainty = Answer::Yes;
};
using Origins = std::vector<Origin>;

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
  Walk(const GraphModule& module, int depth) : m_module(module), m_depth(depth) {
    for (const NodeId id : module.graph.order()) visit(module.graph.node(id));
  }
  MemoryWrites finish() && { return std::move(m_writes); }

 private:
  void visit(const Node& node) {
    switch (node.op()) {
      case Opcode::Placeholder:
        m_origins[node.id()] = {{int(m_writes.placeholders.size()), {}, Answer::Yes}};
        m_writes.placeholders.push_back(Answer::No);
        return;
      case Opcode::GetAttr:
        if (m_module.submodule(node.target()) == nullptr) m_origins[node.id()] = {{-1, node.target(), Answer::Yes}};
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
      const MemoryWrites inner = Walk(body, m_depth + 1).finish();
      if (inner.placeholders.size() == operands.size()) {
        for (std::size_t i = 0; i < operands.size(); ++i) write(*operands[i], inner.placeholders[i]);
        return;
      }
      if (std::ranges::all_of(inner.placeholders, [](Answer answer) { return answer == Answer::No; })) return;
    }
    for (const Argument* operand : operands) write(*operand, Answer::Maybe);
  }

  void maybeAll(const Node& node) {
    for (const NodeId input : node.inputs()) {
      write(Argument(input), Answer::Maybe);
      share(node, Argument(input), Answer::Maybe);
    }
  }

  void write(const Argument& argument, Answer answer) {
    if (answer == Answer::No) return;
    forEachNode(argument, [&](NodeId id) {
      for (const Origin& origin : m_origins[id]) mark(origin, std::min(answer, origin.certainty));
    });
  }

  void mark(const Origin& origin, Answer answer) {
    if (origin.placeholder >= 0) {
      Answer& known = m_writes.placeholders[std::size_t(origin.placeholder)];
      known = std::max(known, answer);
      return;
    }
    using Entry = std::pair<std::string, Answer>;
    const auto found = std::ranges::find(m_writes.attributes, origin.attribute, &Entry::first);
    if (found == m_writes.attributes.end())
      m_writes.attributes.emplace_back(origin.attribute, answer);
    else
      found->second = std::max(found->second, answer);
  }

  /// `node` looks at the memory that `argument` looks at.
  void share(const Node& node, const Argument& argument, Answer certainty) {
    Origins found;
    forEachNode(argument, [&](NodeId id) {
      for (Origin origin : m_origins[id]) {
        origin.certainty = std::min(origin.certainty, certainty);
        found.push_back(std::move(origin));
      }
    });
    Origins& known = m_origins[node.id()];
    for (Origin& origin : found) {
      const auto same = std::ranges::find_if(known, [&](const Origin& other) {
        return other.placeholder == origin.placeholder && other.attribute == origin.attribute;
      });
      if (same == known.end())
        known.push_back(std::move(origin));
      else
        same->certainty = std::max(same->certainty, origin.certainty);
    }
  }

  const GraphModule& m_module;
  int m_depth;
  MemoryWrites m_writes;
  std::map<NodeId, Origins> m_origins;
};

}  // namespace

MemoryWrites memoryWrites(const GraphModule& module) { return Walk(module, 0).finish(); }

}  // namespace kerf::inline ops
