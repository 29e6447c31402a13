// simplify_arguments: one argument at a time, by the schema's word on what it may be.
#include "minifier/reductions/simplify_arguments.h"

#include "engine/ops/core/op_registry.h"
#include "minifier/core/call_units.h"
#include "minifier/core/candidate_editor.h"

namespace kerf::inline minifier::inline reductions {

namespace {

/// An argument of a call, by position or by name.
struct Slot {
  NodeId call;
  std::size_t position = 0;
  std::string keyword;  ///< empty: by position
};

std::optional<Candidate> withArgument(const Candidate& candidate, const Slot& slot, const Argument& value) {
  CandidateEditor editor(candidate);
  Graph& graph = editor.graph();
  if (slot.keyword.empty()) {
    ArgumentList args = graph.node(slot.call).args();
    args[slot.position] = value;
    graph.setArgs(slot.call, std::move(args));
  } else {
    KeywordArguments kwargs = graph.node(slot.call).kwargs();
    for (auto& [name, argument] : kwargs)
      if (name == slot.keyword) argument = value;
    graph.setKwargs(slot.call, std::move(kwargs));
  }
  return editor.finishWithShapes();
}

/// Plainer arguments for one, the plainest first.
std::vector<Argument> plainer(const Argument& argument, const SchemaArgument* schema) {
  std::vector<Argument> list;
  const bool optional = schema && schema->type.ends_with('?');
  if (argument.isNone()) return list;
  if (schema && schema->defaultValue && !(*schema->defaultValue == argument)) list.push_back(*schema->defaultValue);
  if (schema && schema->defaultValue && *schema->defaultValue == argument) return list;
  if (optional) list.emplace_back();
  if (const auto* number = argument.as<std::int64_t>(); number && std::abs(*number) > 1)
    for (const std::int64_t less : {0, 1, -1}) list.emplace_back(less);
  if (const auto* number = argument.as<double>(); number && *number != 0 && *number != 1)
    for (const double less : {0.0, 1.0}) list.emplace_back(less);
  if (const ListArgument* items = argument.asList(); items && items->items.size() > 1) {
    for (std::size_t drop = items->items.size(); drop-- > 0;) {
      ListArgument shorter = *items;
      shorter.items.erase(shorter.items.begin() + std::ptrdiff_t(drop));
      list.emplace_back(std::move(shorter));
    }
  }
  return list;
}

const SchemaArgument* schemaOf(const OpInfo* op, const Slot& slot) {
  if (!op) return nullptr;
  if (slot.keyword.empty())
    return slot.position < op->schema.arguments.size() ? &op->schema.arguments[slot.position] : nullptr;
  for (const SchemaArgument& argument : op->schema.arguments)
    if (argument.name == slot.keyword) return &argument;
  return nullptr;
}

template <class Visit>
void forEachSlot(const Graph& graph, const Visit& visit) {
  for (const NodeId call : callNodes(graph)) {
    const Node& node = graph.node(call);
    const OpInfo* op = findOp(node);
    for (std::size_t i = 0; i < node.args().size(); ++i) {
      const Slot slot{call, i, {}};
      visit(slot, node.args()[i], schemaOf(op, slot));
    }
    for (const auto& [name, argument] : node.kwargs()) {
      const Slot slot{call, 0, name};
      visit(slot, argument, schemaOf(op, slot));
    }
  }
}

std::vector<Edit> edits(const ReductionInput& input, ResumePoint) {
  std::vector<Edit> list;
  forEachSlot(input.graph(), [&](const Slot& slot, const Argument& argument, const SchemaArgument* schema) {
    for (const Argument& value : plainer(argument, schema))
      list.push_back({{}, [&input, slot, value] { return withArgument(input.candidate, slot, value); }});
  });
  return list;
}

}  // namespace

std::optional<Candidate> allArgumentsPlain(const Candidate& candidate) {
  std::optional<Candidate> result;
  std::vector<std::pair<Slot, Argument>> all;
  forEachSlot(candidate.module.graph, [&](const Slot& slot, const Argument& argument, const SchemaArgument* schema) {
    const auto values = plainer(argument, schema);
    if (!values.empty()) all.emplace_back(slot, values.front());
  });
  for (const auto& [slot, value] : all)  // each by itself: one that cannot be must not keep the others from it
    if (auto simpler = withArgument(result ? *result : candidate, slot, value)) result = std::move(simpler);
  return result;
}

Reduction simplifyArguments() { return {"simplify_arguments", "Leaves out optional arguments and list items.", edits}; }

}  // namespace kerf::inline minifier::inline reductions
