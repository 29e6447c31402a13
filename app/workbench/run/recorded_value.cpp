#include "app/workbench/run/recorded_value.h"

#include <algorithm>
#include <filesystem>

#include "app/workbench/captures/given_inputs.h"
#include "engine/capture/pt2/inputs.h"

namespace kerf::workbench {

namespace {

namespace fs = std::filesystem;

/// How files of expected values are called beside their capture.
constexpr std::string_view besideSuffixes[] = {"_io.safetensors", ".out.safetensors"};

/// "a/mlp_io.safetensors" of "a/mlp.pt2"; empty where there is none.
std::string fileBeside(const fs::path& capture) {
  for (fs::path stem = capture; stem.has_extension();) {
    stem.replace_extension();
    for (const std::string_view suffix : besideSuffixes) {
      const std::string path = stem.string() + std::string(suffix);
      std::error_code ignored;
      if (fs::is_regular_file(path, ignored)) return path;
    }
  }
  return {};
}

/// The nodes that a graph returns, in order; invalid for what is no node.
std::vector<NodeId> resultNodes(const Graph& graph) {
  const NodeId output = graph.outputNode();
  std::vector<NodeId> nodes;
  if (!output.valid()) return nodes;
  const auto add = [&](const auto& self, const Argument& argument) -> void {
    if (const ListArgument* const list = argument.asList()) {
      for (const Argument& item : list->items) self(self, item);
      return;
    }
    const auto* const node = argument.as<NodeId>();
    nodes.push_back(node == nullptr ? NodeId() : *node);
  };
  for (const Argument& argument : graph.node(output).args()) add(add, argument);
  return nodes;
}

/// PyTorch and Kerf write this where they only know an attribute's shape.
bool isMadeUp(const TensorAttribute& attribute) { return attribute.text.find("torch.rand") != std::string::npos; }

}  // namespace

Result<RecordedSide> RecordedSide::of(const GraphSource& source, const std::string& expect) {
  RecordedSide values;
  values.m_path = expect.empty() ? fileBeside(source.capture.path) : expect;
  if (values.m_path.empty()) return values;
  auto file = readSafetensors(values.m_path);
  if (!file) return fail(file.error().atFile(values.m_path));
  values.m_file = std::move(*file);
  return values;
}

Result<RunnableGraph> RecordedSide::runnableOnIts(GraphSource source, const Job& job) const {
  if (m_path.empty() || !source.inputFile.empty() || !hasInputs(m_file)) return runnable(std::move(source), job);
  auto ready = runnableOn(std::move(source), m_file, job);
  if (!ready && ready.error().file.empty()) ready.error().atFile(m_path);
  return ready;
}

/// By the node's own name, else as an output: of an exported program those that its caller gets.
std::optional<RecordedValue> RecordedSide::ofFile(const GraphSource& source, const Node& node) const {
  const std::string file = fs::path(m_path).filename().string();
  const auto named = [&](const std::string& name) -> std::optional<RecordedValue> {
    const Tensor* const tensor = m_file.find(name);
    if (tensor == nullptr) return std::nullopt;
    return RecordedValue{Value(*tensor), fmt::format("{} of {}", name, file)};
  };
  if (auto own = named(node.name())) return own;
  const auto returned = resultNodes(source.graph().module.graph);
  const auto places = userOutputs(source.graph(), returned.size());
  for (std::size_t i = 0; i < places.size(); ++i)
    if (places[i] < returned.size() && returned[places[i]] == node.id())
      if (auto output = named(fmt::format("out{}", i))) return output;
  return std::nullopt;
}

std::optional<RecordedValue> RecordedSide::ofCapture(const RunnableGraph& source, const Node& node) const {
  if (node.op() == Opcode::GetAttr) {
    const TensorAttribute* const attribute = source.graph().module.attribute(node.target());
    if (attribute == nullptr || isMadeUp(*attribute)) return std::nullopt;
    return RecordedValue{
        Value(attribute->tensor),
        fmt::format("{} {} of the capture", attribute->isParameter ? "parameter" : "constant", node.target())};
  }
  const auto placeholders = source.graph().module.graph.placeholders();
  const auto place = std::size_t(std::ranges::find(placeholders, node.id()) - placeholders.begin());
  if (place >= source.inputs.size() || place >= source.origins.size()) return std::nullopt;
  switch (source.origins[place].source) {
    case InputOrigin::Source::Stored:
    case InputOrigin::Source::Absent:
      return RecordedValue{source.inputs[place], fmt::format("input {} of the capture", node.name())};
    case InputOrigin::Source::Given:
      return RecordedValue{source.inputs[place], fmt::format("input {} of the given file", source.origins[place].why)};
    case InputOrigin::Source::Generated:
      return std::nullopt;
  }
  return std::nullopt;
}

Result<RecordedValue> RecordedSide::find(const RunnableGraph& source, NodeId id) const {
  const Node& node = source.graph().module.graph.node(id);
  if (!m_path.empty())
    if (auto found = ofFile(source, node)) return std::move(*found);
  if (auto found = ofCapture(source, node)) return std::move(*found);
  const bool isInput = node.op() == Opcode::Placeholder || node.op() == Opcode::GetAttr;
  const std::string where = m_path.empty() ? std::string() : fmt::format(" and {} does not either", m_path);
  return fail(ErrorCode::NotFound, Hint{Advice::GiveExpected},
              "no value of {} is recorded: {}{}; a .safetensors file of expected values may have it, under its name{}",
              node.name(),
              isInput ? "the capture has no data for it (what it runs on is made up)"
                      : "captures have the values of inputs, parameters and constants only",
              where, isInput ? " or as in0, in1, …" : ", or as out0, out1, … if it is an output");
}

}  // namespace kerf::workbench
