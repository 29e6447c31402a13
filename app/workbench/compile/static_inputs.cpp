#include "app/workbench/compile/static_inputs.h"

#include <charconv>

#include "engine/partition/joint_graph.h"

namespace kerf::workbench {

namespace {

constexpr std::string_view metadataRecord = "aot_forward_graph_fw_metadata";

std::vector<std::string> primalsOf(const Graph& graph) {
  std::vector<std::string> names;
  for (const NodeId id : graph.placeholders())
    if (jointInputOf(graph.node(id)) == JointInput::Primal) names.push_back(graph.node(id).name());
  return names;
}

std::vector<std::string> tracedNames(const AotMetadata& metadata) {
  std::vector<std::string> names;
  for (const AotInput& input : metadata.inputs)
    if (input.kind == AotInput::Kind::Parameter || input.kind == AotInput::Kind::Buffer) names.push_back(input.name);
  return names;
}

/// Of the same compilation as the graph.
std::optional<std::vector<std::size_t>> recordedIndices(const GraphSource& source) {
  if (source.capture.details == nullptr) return {};
  const GraphOrigin& origin = source.graph().origin;
  for (const CaptureRecord& record : source.capture.details->records) {
    const GraphOrigin& own = record.origin;
    if (record.name != metadataRecord || own.compileId != origin.compileId || own.rank != origin.rank) continue;
    if (const auto text = record.text()) return recordedStaticIndices(*text);
  }
  return {};
}

}  // namespace

std::optional<std::vector<std::size_t>> recordedStaticIndices(std::string_view metadata) {
  constexpr std::string_view mark = "static_input_indices=[";
  const std::size_t at = metadata.find(mark);
  if (at == metadata.npos) return {};
  std::string_view rest = metadata.substr(at + mark.size());
  rest = rest.substr(0, rest.find(']'));
  std::vector<std::size_t> indices;
  while (!rest.empty()) {
    std::size_t index = 0;
    const auto [end, problem] = std::from_chars(rest.data(), rest.data() + rest.size(), index);
    if (problem == std::errc()) indices.push_back(index);
    rest.remove_prefix(problem == std::errc() ? std::size_t(end - rest.data()) : 1);
  }
  return indices;
}

Result<StaticInputs> staticInputs(const GraphSource& source, int given) {
  const std::vector<std::string> primals = primalsOf(source.graph().module.graph);
  if (given > int(primals.size()))
    return fail(ErrorCode::BadUsage, "{} static inputs are more than the joint graph has primals ({})", given,
                primals.size());
  if (given >= 0) return StaticInputs{std::vector<std::string>(primals.begin(), primals.begin() + given), "given"};
  if (source.aot != nullptr) return StaticInputs{tracedNames(source.aot->metadata), "traced"};
  const auto indices = recordedIndices(source);
  if (!indices) return StaticInputs();
  std::vector<std::string> names;
  for (const std::size_t index : *indices)
    if (index < primals.size()) names.push_back(primals[index]);
  return StaticInputs{std::move(names), "recorded"};
}

}  // namespace kerf::workbench
