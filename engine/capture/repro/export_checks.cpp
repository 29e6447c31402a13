#include "engine/capture/repro/export_checks.h"

#include <algorithm>

#include "engine/capture/repro/audit_expressions.h"
#include "engine/capture/repro/audit_module_lines.h"
#include "engine/capture/repro/auditor.h"
#include "engine/ir/annotation_type.h"
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

bool isOrdinaryPath(std::string_view path) {
  return path.find(".__") == std::string_view::npos && !path.starts_with("__") && isPlainText(path);
}

class CallChecker {
 public:
  CallChecker(const GraphModule& module, const ExtraCalls& extra, ExtraCalls* used)
      : m_graph(module.graph), m_extra(extra), m_used(used) {}

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
    const std::string& target = node.target();
    if (node.op() == Opcode::CallModule || node.op() == Opcode::GetAttr) {
      const bool isCall = node.op() == Opcode::CallModule;
      if (isOrdinaryPath(target) && (!isCall || !isForbiddenCall(target.substr(target.rfind('.') + 1)))) return {};
      return refuse(node, fmt::format("reads the attribute '{}', which may not be exported", target));
    }
    if (node.op() != Opcode::CallFunction && node.op() != Opcode::CallMethod) return {};
    if (target == "builtins.getattr" || target == "getattr") return getattr(node);
    const bool isFunction = node.op() == Opcode::CallFunction;
    const bool isKnown =
        isFunction ? isAllowedFunction(target) || isAllowedFunction("builtins." + target) || isSympyFunction(target)
                   : isAllowedMethod(target);
    if (isKnown || isExtra(target)) return {};
    return refuse(
        node, fmt::format("calls '{}', which may not be exported: it is no {} that is known only to compute{}", target,
                          isFunction ? "function" : "method",
                          isForbiddenCall(target) ? "" : "; --allow-call lets it through"));
  }

  static Result<void> getattr(const Node& node) {
    const auto* name = node.args().size() == 2 ? node.args()[1].as<std::string>() : nullptr;
    if (name != nullptr && isAllowedAttribute(*name) && isPlainText(*name)) return {};
    return refuse(node, "calls getattr with a name that may not be exported");
  }

  /// Functions may be arguments too.
  Result<void> mentions(const Node& node, const Argument& argument) const {
    if (const auto* name = argument.as<PythonName>()) {
      if (isAllowedName(name->text) || isExtra(name->text)) return {};
      return refuse(node, fmt::format("mentions '{}', which may not be exported", name->text));
    }
    if (const auto* symbol = argument.as<SymExpr>()) {
      if (symbol->text.empty() || isSymbolText(symbol->text)) return {};
      return refuse(node, fmt::format("has the size '{}', which is no expression over symbols", symbol->text));
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

  const Graph& m_graph;
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
