#include "engine/ir/python_signature.h"

#include <algorithm>

namespace kerf::inline ir {
namespace {

std::string join(const std::vector<std::string>& items, std::string_view separator = ", ") {
  std::string out;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += separator;
    out += items[i];
  }
  return out;
}

/// One bound value: its parameter name, annotation, default and description.
struct Bound {
  std::string name;
  std::string annotation;
  std::string rest;
  std::string description;
};

std::vector<Bound> boundPlaceholders(const GraphModule& module, const PythonCodeOptions& options) {
  std::vector<Bound> out;
  for (const NodeId id : module.graph.placeholders()) {
    const Node& node = module.graph.node(id);
    Bound bound{node.target(), annotationSuffix(node, options), {}, {}};
    if (!node.args().empty()) bound.rest = " = " + printArgument(module.graph, node.args()[0], ArgumentStyle::Python);
    if (module.codegen.expanded) bound.description = node.meta().description;
    out.push_back(std::move(bound));
  }
  return out;
}

std::string withDescription(const std::string& text, const std::string& description) {
  return description.empty() ? text : text + "  # " + description;
}

std::vector<std::string> definition(const std::vector<Bound>& parameters, bool expanded) {
  if (!expanded) {
    std::string line = "def forward(self";
    for (const Bound& bound : parameters) line += ", " + bound.name + bound.annotation + bound.rest;
    return {line + "):"};
  }
  std::vector<std::string> lines = {"def forward(", "    self,"};
  for (const Bound& bound : parameters)
    lines.push_back(withDescription("    " + bound.name + bound.annotation + bound.rest + ",", bound.description));
  lines.emplace_back("):");
  return lines;
}

std::vector<Bound> plainParameters(const CodeGen& codegen) {
  std::vector<Bound> out;
  for (const std::string& name : codegen.parameters) out.push_back({name, {}, {}, {}});
  return out;
}

/// "a, b, " or "() " for no names: what stands before the '=' of an unpacking.
std::string unpackTargets(const std::vector<std::string>& names) { return names.empty() ? "() " : join(names) + ", "; }

std::string unpackTargets(const std::vector<Bound>& bound) {
  std::vector<std::string> names;
  for (const Bound& item : bound) names.push_back(item.name);
  return unpackTargets(names);
}

void annotationLines(std::vector<std::string>& lines, const std::vector<Bound>& bound, bool expanded) {
  std::string oneLine;
  for (const Bound& item : bound) {
    if (item.annotation.empty()) continue;
    if (expanded)
      lines.push_back(withDescription("    " + item.name + item.annotation, item.description));
    else
      oneLine += item.name + item.annotation + "; ";
  }
  if (oneLine.empty()) return;
  lines.push_back("    " + oneLine);
  lines.emplace_back();
}

std::vector<std::string> pytreeSignature(const GraphModule& module, const std::vector<Bound>& bound) {
  const CodeGen& codegen = module.codegen;
  std::vector<std::string> lines = definition(plainParameters(codegen), codegen.expanded);
  if (bound.empty() && codegen.parameters.empty()) return lines;
  annotationLines(lines, bound, codegen.expanded);
  const std::string arguments =
      codegen.flattenArguments.empty() ? "[" + join(codegen.parameters) + "], self._in_spec" : codegen.flattenArguments;
  lines.push_back("    " + unpackTargets(bound) + "= fx_pytree.tree_flatten_spec(" + arguments + ")");
  return lines;
}

std::vector<std::string> exportSignature(const GraphModule& module, const std::vector<Bound>& bound) {
  const CodeGen& codegen = module.codegen;
  std::vector<std::string> lines = definition(plainParameters(codegen), codegen.expanded);
  const std::string arguments =
      codegen.flattenArguments.empty() ? "(" + unpackTargets(codegen.parameters) + ")" : codegen.flattenArguments;
  const std::string leaves = join(codegen.leafNames);
  lines.push_back("    " + unpackTargets(codegen.leafNames) + "= pytree.tree_leaves(" + arguments + ")");
  lines.push_back("    " + unpackTargets(bound) + "= self._in_shuffle_graph(" + leaves + ")");
  return lines;
}

std::vector<std::string> boxedSignature(const std::vector<Bound>& bound) {
  std::vector<std::string> lines = {"def forward(self, args_list):"};
  lines.emplace_back("    args_iter = iter(args_list)");
  for (const Bound& item : bound) lines.push_back("    " + item.name + " = next(args_iter)");
  lines.emplace_back("    args_list.clear()");
  return lines;
}

/// Items one per line with their descriptions, between `prefix` + bracket and bracket + `suffix`.
std::vector<std::string> expandedReturn(const CodeGen& codegen, const Graph& graph, const ListArgument& list,
                                        const std::string& prefix, const std::string& suffix) {
  std::vector<std::string> lines = {prefix + (list.isTuple ? "(" : "[")};
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    const std::string item = "    " + printArgument(graph, list.items[i], ArgumentStyle::Python) + ",";
    lines.push_back(withDescription(item, i < codegen.outputDescriptions.size() ? codegen.outputDescriptions[i] : ""));
  }
  lines.push_back((list.isTuple ? ")" : "]") + suffix);
  return lines;
}

}  // namespace

std::vector<std::string> signatureLines(const GraphModule& module, const PythonCodeOptions& options) {
  const std::vector<Bound> bound = boundPlaceholders(module, options);
  switch (module.codegen.kind) {
    case CodeGen::Kind::Plain:
      return definition(bound, module.codegen.expanded);
    case CodeGen::Kind::Pytree:
      return pytreeSignature(module, bound);
    case CodeGen::Kind::Export:
      return exportSignature(module, bound);
    case CodeGen::Kind::Boxed:
      return boxedSignature(bound);
  }
  return {};
}

std::vector<std::string> returnLines(const CodeGen& codegen, const Graph& graph, const Argument& value) {
  const bool pytree = codegen.kind == CodeGen::Kind::Pytree && codegen.unflattensOutput;
  const std::string prefix = pytree ? "return pytree.tree_unflatten(" : "return ";
  const std::string suffix = pytree ? ", self._out_spec)" : "";
  const ListArgument* list = value.asList();
  if (codegen.expanded && !codegen.outputDescriptions.empty() && list)
    return expandedReturn(codegen, graph, *list, prefix, suffix);
  if (codegen.kind == CodeGen::Kind::Export && list && !list->isTuple) {
    std::string items = join(codegen.leafNames);
    for (const Argument& item : list->items)
      items += (items.empty() ? "" : ", ") + printArgument(graph, item, ArgumentStyle::Python);
    return {"return pytree.tree_unflatten(self._out_shuffle_graph(" + items + "), self._out_spec)"};
  }
  return {prefix + printArgument(graph, value, ArgumentStyle::Python) + suffix};
}

}  // namespace kerf::inline ir
