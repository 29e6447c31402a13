// simplify_arguments: one argument at a time, by the schema's word on what it may be.
#include "minifier/reductions/simplify_all.h"

#include "minifier/core/call_slots.h"
#include "minifier/core/candidate_editor.h"

namespace kerf::inline minifier::inline reductions {

namespace {

std::optional<Candidate> withArgument(const Candidate& candidate, const CallSlot& slot, const Argument& value) {
  CandidateEditor editor(candidate);
  setArgument(editor.graph(), slot, value);
  return editor.finishWithShapes();
}

/// Plainer arguments for one, the plainest first.
std::vector<Argument> plainer(const Argument& argument, const SchemaArgument* schema) {
  std::vector<Argument> list;
  const Argument* usual = schema && schema->defaultValue ? &*schema->defaultValue : nullptr;
  if (argument.isNone() || (usual && *usual == argument)) return list;
  if (usual) list.push_back(*usual);
  const bool isOptional = schema && schema->type.ends_with('?');
  if (isOptional && !(usual && usual->isNone())) list.emplace_back();
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

std::vector<Edit> editsThatSimplifyArguments(const ReductionInput& input, ResumePoint) {
  std::vector<Edit> list;
  forEachSlot(input.graph(), [&](const CallSlot& slot, const Argument& argument, const SchemaArgument* schema) {
    for (const Argument& value : plainer(argument, schema))
      list.push_back({{}, [&input, slot, value] { return withArgument(input.candidate, slot, value); }});
  });
  return list;
}

}  // namespace

std::optional<Candidate> allArgumentsPlain(const Candidate& candidate) {
  std::optional<Candidate> result;
  std::vector<std::pair<CallSlot, Argument>> all;
  forEachSlot(candidate.module.graph,
              [&](const CallSlot& slot, const Argument& argument, const SchemaArgument* schema) {
                const auto values = plainer(argument, schema);
                if (!values.empty()) all.emplace_back(slot, values.front());
              });
  for (const auto& [slot, value] : all)  // each by itself: one that cannot be must not keep the others from it
    if (auto simpler = withArgument(result ? *result : candidate, slot, value)) result = std::move(simpler);
  return result;
}

Reduction simplifyArguments() {
  return {"simplify_arguments", "Leaves out optional arguments and list items.", editsThatSimplifyArguments};
}

}  // namespace kerf::inline minifier::inline reductions
