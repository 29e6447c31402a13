// Graph: an ordered list of nodes with the API of torch.fx.Graph. It owns its nodes; everything else holds NodeId.
// Copies are cheap (nodes are shared until one side changes them), so a snapshot is simply a copy.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/ir/copy_on_write.h"
#include "engine/ir/node.h"
#include "engine/ir/node_order.h"
#include "engine/support/hash.h"
#include "engine/support/number_set.h"
#include "engine/support/result.h"

namespace kerf::inline ir {

/// FX's create_name rules: illegal characters become '_', a leading digit gets '_', builtins and keywords get a suffix,
/// and a taken name gets the next free "_N". Deterministic: same calls, same names.
class NameSpace {
 public:
  std::string create(std::string_view candidate);
  /// Takes `name` as it is, even where FX would have avoided it; false if it is taken or no identifier.
  bool claim(std::string_view name);
  /// A free name derived from a taken one, in constant time however many there are (create() may have to count up).
  std::string createLike(std::string_view name);
  void release(std::string_view name);
  bool taken(std::string_view name) const;

 private:
  struct Tables {
    std::unordered_map<std::string, std::int64_t> lastSuffix;  ///< by base name
    std::unordered_map<std::string, std::int64_t> lastLike;    ///< the same for createLike; only grows
    std::unordered_set<std::string> used;
    std::unordered_map<std::string, NumberSet> numbers;  ///< of used names, by base name

    void take(const std::string& name);
    void drop(const std::string& name);
    std::string firstFree(const std::string& base, std::int64_t& number) const;
  };
  Tables& tables();
  std::shared_ptr<Tables> m_tables;  ///< shared by copies until one of them changes
};

/// Python identifier that is not a keyword.
bool isPythonIdentifier(std::string_view text);
/// Keyword, builtin or one of the names that FX reserves ("torch", "inf", "device", …).
bool isReservedPythonName(std::string_view text);
/// The candidate name that FX derives from a call's target (Graph._target_to_str).
std::string nameFromTarget(Opcode op, std::string_view target);

class Graph {
 public:
  Graph();
  Graph(const Graph&) = default;
  Graph& operator=(const Graph&) = default;
  Graph(Graph&&) noexcept = default;
  Graph& operator=(Graph&&) noexcept = default;

  // Reading
  std::size_t size() const { return m_order.size(); }
  /// Node ids in execution order. Invalidated by any insertion, erasure or move, after which it takes time linear in the
  /// graph's size once more: a loop that changes the graph asks for it before.
  std::span<const NodeId> order() const { return m_order.all(); }
  /// Invalid id for the first one; of no node, the last. Takes no time after changes, other than order().
  NodeId nodeBefore(NodeId node) const { return node.valid() ? m_order.previous(node) : m_order.last(); }
  /// The `count` nodes before `node`, in execution order; fewer at the graph's beginning.
  std::vector<NodeId> nodesBefore(NodeId node, std::size_t count) const;
  const Node& node(NodeId id) const;
  bool contains(NodeId id) const;
  std::optional<NodeId> find(std::string_view name) const;
  std::vector<NodeId> placeholders() const;
  /// Invalid id if the graph has no output node (yet).
  NodeId outputNode() const;

  // Building: each appends at the insertion point and returns the new node.
  NodeId placeholder(std::string_view name, std::optional<Argument> defaultValue = {});
  NodeId callFunction(std::string_view target, ArgumentList args, KeywordArguments kwargs = {},
                      std::string_view nameHint = {});
  NodeId callMethod(std::string_view method, ArgumentList args, KeywordArguments kwargs = {},
                    std::string_view nameHint = {});
  NodeId callModule(std::string_view path, ArgumentList args, KeywordArguments kwargs = {},
                    std::string_view nameHint = {});
  NodeId getAttr(std::string_view path, std::string_view nameHint = {});
  NodeId output(Argument value);
  /// With an empty nameHint the name is chosen as FX would from the target ("torch.ops.aten.add.Tensor" → "add_tensor"
  /// is FX's own choice only for OpOverload __name__; AOT names such as "add" are given by nameHint).
  NodeId createNode(Opcode op, std::string_view target, ArgumentList args, KeywordArguments kwargs,
                    std::string_view nameHint);
  /// As createNode, but keeps `name` even where FX would have chosen another ("sum" stays "sum"), as readers of
  /// existing text must. Falls back to createNode's rules if the name is taken or no identifier.
  NodeId createNamed(Opcode op, std::string_view target, ArgumentList args, KeywordArguments kwargs,
                     std::string_view name);

  /// Moves the insertion point; insertAtEnd() is the state of a new graph. Prefer InsertionScope. Nodes created one
  /// after another stay in that order, also after insertAfter().
  void insertBefore(NodeId node);
  void insertAfter(NodeId node);
  void insertAtEnd();

  // Changing
  void setArgs(NodeId node, ArgumentList args);
  void setKwargs(NodeId node, KeywordArguments kwargs);
  void setTarget(NodeId node, std::string target);
  void setMeta(NodeId node, NodeMeta meta);
  void setValueMeta(NodeId node, ValueMeta value);
  /// Renames to a free name derived from `name`, and returns it.
  std::string rename(NodeId node, std::string_view name);
  void replaceInput(NodeId user, NodeId oldInput, Argument newInput);
  /// Every user of `node` (for which `filter`, if given, is true) uses `replacement` instead. Returns changed users.
  std::vector<NodeId> replaceAllUsesWith(NodeId node, NodeId replacement,
                                         const std::function<bool(const Node&)>& filter = {});
  /// Fails with Internal, naming the users, when the node still has any.
  Result<void> eraseNode(NodeId node);
  void moveBefore(NodeId node, NodeId anchor);
  /// Erases nodes without users, unless `mustStay` (placeholders and output always do); returns the count.
  std::size_t eliminateDeadCode(const std::function<bool(const Node&)>& mustStay);
  /// Appends copies of all of `other`'s nodes but output; fills `map`; returns the mapped output argument (graph_copy).
  Argument copyFrom(const Graph& other, std::unordered_map<NodeId, NodeId>& map);

  // Whole graph
  /// Every invariant: definitions before uses, users exact, unique legal names, one output last, placeholders first.
  Result<void> lint() const;
  /// Reorders (stable) so that definitions precede uses; BadInput naming a node on a cycle.
  Result<void> topologicalSort();
  /// Hash of names, ops, targets, arguments, order and value metadata; not of provenance.
  Hash128 contentHash() const;
  /// A number that every change of the graph replaces by one that no graph has had; the insertion point is no part of
  /// it. Graphs of equal revision are copies of each other, metadata included.
  std::uint64_t revision() const { return m_revision.number(); }

 private:
  using NameTable = std::unordered_map<std::string, NodeId>;
  Node& mutableNode(NodeId id);
  NameTable& nameTable();
  NodeId addNode(Opcode op, std::string_view target, ArgumentList args, KeywordArguments kwargs, std::string name);
  void removeUses(const Node& user);
  void addUses(const Node& user);
  Result<void> lintNode(const Node& node, const std::vector<bool>& defined) const;
  Result<void> lintUsers() const;
  void forgetName(const Node& node);

  std::vector<std::shared_ptr<Node>> m_nodes;  ///< by NodeId::index; null once erased; copied on write
  NodeOrder m_order;
  std::shared_ptr<NameTable> m_byName;  ///< shared by copies until one of them changes
  NameSpace m_names;
  NodeId m_insertBefore;  ///< invalid: append at the end
  Revision m_revision;
};

/// Sets the insertion point for a scope and restores the end-of-graph default afterwards.
class InsertionScope {
 public:
  enum class Where { Before, After };
  InsertionScope(Graph& graph, Where where, NodeId anchor);
  ~InsertionScope();
  InsertionScope(const InsertionScope&) = delete;
  InsertionScope& operator=(const InsertionScope&) = delete;

 private:
  Graph& m_graph;
};

using GraphSnapshot = std::shared_ptr<const Graph>;

}  // namespace kerf::inline ir
