#include "engine/capture/repro/export_checks.h"

#include <algorithm>
#include <unordered_set>

#include "engine/capture/audit/audit_expressions.h"
#include "engine/capture/audit/audit_module_lines.h"
#include "engine/capture/audit/auditor.h"
#include "engine/ir/annotation_type.h"
#include "engine/ir/python_operators.h"
#include "engine/ir/sympy_functions.h"

namespace kerf::inline capture {
namespace {

std::unexpected<Error> refuse(const Node& node, std::string what) {
  return fail(ErrorCode::BadInput, "the node '{}' {}", node.name(), what);
}

/// Whether Python's quotes need no escape around the text.
bool isPlainText(std::string_view text) { return pythonString(text).find('\\') == std::string::npos; }

/// Whether Python ends a comment with the text where it ends for people.
bool isCommentText(const std::string& text) {
  return text.empty() || (text.find('\n') == std::string::npos && auditTokens("# - " + text));
}

bool isOrdinaryPath(std::string_view path) { return isAllowedSelfPath(path) && isPlainText(path); }

/// Whether a function that is called with this as the argument that it calls finds a graph, or nothing to call.
bool isSubgraph(const Graph& graph, const Argument& argument) {
  if (const auto* id = argument.as<NodeId>()) return graph.node(*id).op() == Opcode::GetAttr;
  return argument.isNone() || argument.as<SubgraphRef>() != nullptr || argument.as<std::string>() != nullptr;
}

class CallChecker {
 public:
  CallChecker(const GraphModule& module, const ExtraCalls& extra, ExtraCalls* used)
      : m_module(module), m_graph(module.graph), m_extra(extra), m_used(used) {
    for (const NodeId id : m_graph.order()) m_names.insert(m_graph.node(id).name());
  }

  Result<void> run() const {
    for (const NodeId id : m_graph.order()) {
      const Node& node = m_graph.node(id);
      KERF_CHECK(target(node));
      for (const Argument& argument : node.args()) KERF_CHECK(mentions(node, argument));
      for (const auto& [key, value] : node.kwargs()) KERF_CHECK(mentions(node, value));
    }
    return {};
  }

 private:
  bool isExtra(const std::string& target) const {
    if (!m_extra.contains(target) || isForbiddenCall(target)) return false;
    if (m_used != nullptr) m_used->insert(target);
    return true;
  }

  Result<void> target(const Node& node) const {
    if (node.op() == Opcode::CallModule || node.op() == Opcode::GetAttr) return attribute(node);
    if (node.op() != Opcode::CallFunction && node.op() != Opcode::CallMethod) return {};
    const std::string& target = node.target();
    if (target == "builtins.getattr" || target == "getattr") return getattr(node);
    const bool isFunction = node.op() == Opcode::CallFunction;
    const bool isKnown =
        isFunction ? isAllowedFunction(target) || isAllowedFunction("builtins." + target) || isSympyFunction(target)
                   : isAllowedMethod(target);
    if (isKnown || isExtra(target)) return isFunction ? function(node) : Result<void>();
    return refuseUnlessAllowed(
        node, target,
        fmt::format("calls '{}', which may not be exported: it is not a {} that is known only to compute", target,
                    isFunction ? "function" : "method"));
  }

  /// Refuses what the user may let through by its name, unless no user may.
  static std::unexpected<Error> refuseUnlessAllowed(const Node& node, const std::string& name, std::string what) {
    auto refused = refuse(node, std::move(what));
    if (!isForbiddenCall(name)) refused.error().advise(Advice::AllowCall, name);
    return refused;
  }

  /// What a graph calls of itself is a module, and none of torch.nn.Module's own methods.
  Result<void> attribute(const Node& node) const {
    const std::string& path = node.target();
    const bool isCall = node.op() == Opcode::CallModule;
    if (!isOrdinaryPath(path) || (isCall && !isAllowedSelfCall(path)))
      return refuse(node, fmt::format("reads the attribute '{}', which may not be exported", path));
    for (std::size_t dot = path.find('.'); isCall; dot = path.find('.', dot + 1)) {
      if (m_module.attribute(path.substr(0, dot)) != nullptr)
        return refuse(node, fmt::format("calls '{}', which is a tensor and no module", path));
      if (dot == std::string::npos) break;
    }
    return {};
  }

  /// A function that is known: what it calls itself is a graph, and no value of the graph hides its module.
  Result<void> function(const Node& node) const {
    const std::string& target = node.target();
    const std::string called = calledName(target), root = called.substr(0, called.find('.'));
    if (root.size() < called.size() && m_names.contains(root))
      return refuse(node, fmt::format("calls '{}', and another node is called '{}'", target, root));
    const CallbackRule* rule = callbackRule(target);
    if (rule == nullptr) return {};
    bool isAllowed = rule->position >= node.args().size() || isSubgraph(m_graph, node.args()[rule->position]);
    for (const auto& [key, value] : node.kwargs())  // others than identifiers are written as **{…}, which hides them
      isAllowed = isAllowed && isPythonIdentifier(key) && (!rule->isCalledBy(key) || isSubgraph(m_graph, value));
    return isAllowed ? Result<void>() : refuse(node, fmt::format("has '{}' call what is not a graph", target));
  }

  Result<void> getattr(const Node& node) const {
    const bool isUsual = node.args().size() == 2 && node.kwargs().empty() && node.args()[0].as<NodeId>() != nullptr;
    const auto* name = isUsual ? node.args()[1].as<std::string>() : nullptr;
    if (name == nullptr || !isPlainText(*name))
      return refuse(node, "calls getattr with a name that may not be exported");
    const bool isKnown = isAllowedAttribute(*name) || (!isForbiddenCall(*name) && isExtra(*name));
    if (isKnown) return {};
    return refuseUnlessAllowed(
        node, *name,
        fmt::format("reads the attribute '{}', which may not be exported: it is none that is known only to hold data",
                    *name));
  }

  /// Functions may be arguments too.
  Result<void> mentions(const Node& node, const Argument& argument) const {
    if (const auto* name = argument.as<PythonName>()) {
      if (isAllowedName(name->text) || isExtra(name->text)) return {};
      return refuse(node, fmt::format("mentions '{}', which may not be exported", name->text));
    }
    if (const auto* symbol = argument.as<SymExpr>()) {
      if (symbol->text.empty() || isSymbolText(symbol->text)) return {};
      return refuse(node, fmt::format("has the size '{}', which is not an expression over symbols", symbol->text));
    }
    if (const auto* path = argument.as<SubgraphRef>())
      return isOrdinaryPath(path->path) ? Result<void>() : refuse(node, fmt::format("mentions '{}'", path->path));
    const ListArgument* list = argument.asList();
    const SliceArgument* slice = argument.asSlice();
    if (list != nullptr || slice != nullptr) {
      for (const Argument& item : list != nullptr ? list->items : slice->items) KERF_CHECK(mentions(node, item));
    }
    if (const DictArgument* dict = argument.asDict())
      for (const auto& [key, value] : dict->items) KERF_CHECK(mentions(node, value));
    return {};
  }

  const GraphModule& m_module;
  const Graph& m_graph;
  std::unordered_set<std::string_view> m_names;  ///< of the nodes
  const ExtraCalls& m_extra;
  ExtraCalls* m_used;
};

bool hasUnreadTexts(const GraphModule& module) {
  const bool inNodes = std::ranges::any_of(module.graph.order(), [&](NodeId id) {
    const NodeMeta& meta = module.graph.node(id).meta();
    return isUnreadType(meta.typeText) || !isCommentText(meta.description);
  });
  return inNodes || !std::ranges::all_of(module.codegen.outputDescriptions, isCommentText) ||
         std::ranges::any_of(module.submodules, [](const auto& entry) {
           return entry.second.graph && hasUnreadTexts(*entry.second.graph);
         });
}

}  // namespace

Result<void> checkCalls(const GraphModule& module, const ExtraCalls& extra, ExtraCalls* used) {
  KERF_CHECK(CallChecker(module, extra, used).run());
  for (const auto& [path, submodule] : module.submodules)
    if (submodule.graph) KERF_CHECK(checkCalls(*submodule.graph, extra, used));
  return {};
}

Result<void> checkNames(const GraphModule& module) {
  for (const NodeId id : module.graph.order()) {
    const Node& node = module.graph.node(id);
    if (node.op() == Opcode::Output) continue;
    std::string parameter = node.op() == Opcode::Placeholder ? node.target() : node.name();
    std::erase(parameter, '*');
    if (isReservedLocal(node.name()) || isReservedLocal(parameter))
      return refuse(node, "has a name that the code of graphs itself uses, so that an export would mean another graph");
  }
  for (const auto& [path, submodule] : module.submodules)
    if (submodule.graph) KERF_CHECK(checkNames(*submodule.graph));
  return {};
}

std::vector<std::string> unreadTypes(const GraphModule& module) {
  std::vector<std::string> found;
  for (const NodeId id : module.graph.order()) {
    const Node& node = module.graph.node(id);
    if (isUnreadType(node.meta().typeText)) found.push_back(node.name() + ": " + node.meta().typeText);
  }
  for (const auto& [path, submodule] : module.submodules) {
    if (!submodule.graph) continue;
    for (std::string& inner : unreadTypes(*submodule.graph)) found.push_back(path + "/" + std::move(inner));
  }
  return found;
}

GraphModule withoutUnreadTexts(GraphModule module) {
  if (!hasUnreadTexts(module)) return module;  // nested graphs that are shared stay so
  const std::vector<NodeId> order(module.graph.order().begin(), module.graph.order().end());
  for (const NodeId id : order) {
    const NodeMeta& old = module.graph.node(id).meta();
    const bool isType = !isUnreadType(old.typeText), isComment = isCommentText(old.description);
    if (isType && isComment) continue;
    NodeMeta meta = old;
    if (!isType) meta.typeText.clear();
    if (!isComment) meta.description.clear();
    module.graph.setMeta(id, std::move(meta));
  }
  for (std::string& description : module.codegen.outputDescriptions)
    if (!isCommentText(description)) description.clear();
  if (std::ranges::none_of(module.submodules, [](const auto& entry) { return entry.second.graph != nullptr; }))
    return module;
  for (auto& [path, submodule] : module.submodules.edit())
    if (submodule.graph) submodule.graph = std::make_shared<const GraphModule>(withoutUnreadTexts(*submodule.graph));
  return module;
}

}  // namespace kerf::inline capture
