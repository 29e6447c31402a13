#include "engine/capture/pt2/made_program.h"

#include <algorithm>
#include <memory>

#include "engine/capture/pt2/program.h"
#include "engine/capture/pt2/signature_writer.h"

namespace kerf::inline capture::pt2 {
namespace {

bool isState(const GraphSignature::Entry& entry) {
  return entry.kind == "parameter" || entry.kind == "buffer" || entry.kind == "tensor_constant";
}

}  // namespace

Result<void> makeProgram(CapturedGraph& graph, std::int64_t schemaMinor) {
  if (graph.program || !graph.signature) return {};
  const auto& entries = graph.signature->inputs;
  const auto placeholders = graph.module.graph.placeholders();
  const bool fits = entries.size() == placeholders.size() && graph.inputs.size() == placeholders.size();
  if (!fits || std::ranges::none_of(entries, isState)) return {};
  KERF_CHECK(graph.annotateShapes());
  auto program = std::make_shared<Pt2Program>();
  program->isMade = true;
  program->schemaMinor = schemaMinor;
  std::vector<std::string> users;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Node& node = graph.module.graph.node(placeholders[i]);
    if (!isState(entries[i])) {
      users.push_back(node.name());
      continue;
    }
    const TensorMeta* meta = node.meta().value.tensor();
    if (meta == nullptr) return {};
    Pt2Payload payload;
    payload.name = entries[i].target;
    payload.isParameter = entries[i].kind == "parameter";
    payload.meta = *meta;
    payload.storage = graph.inputs[i].storageIndex;
    const bool isWeight = payload.isParameter || (entries[i].kind == "buffer" && entries[i].persistent);
    (isWeight ? program->weights : program->constants).push_back(std::move(payload));
  }
  const auto outputs = std::ranges::count(graph.signature->outputs, "user_output", &GraphSignature::Entry::kind);
  program->graphModuleFields["module_call_graph"] = moduleCallGraphJson(users, std::size_t(outputs));
  graph.program = std::move(program);
  return {};
}

}  // namespace kerf::inline capture::pt2
