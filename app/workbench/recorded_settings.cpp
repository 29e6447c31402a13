#include "app/workbench/recorded_settings.h"

#include <algorithm>
#include <charconv>

#include "engine/ops/core/op_registry.h"

namespace kerf::workbench {

namespace {

const ReproEnvelope& envelopeOf(const GraphSource& source) {
  return source.graph().envelope ? *source.graph().envelope : source.capture.envelope;
}

bool runsInAutocast(const ReproEnvelope& envelope) {
  const auto found = std::ranges::find(envelope.runOptions, "autocast", &std::pair<std::string, std::string>::first);
  return found != envelope.runOptions.end() && found->second == "True";
}

void wrapInAutocast(Graph& graph) {
  const auto order = graph.order();
  const auto first = std::ranges::find_if(order, [&](NodeId id) { return graph.node(id).op() != Opcode::Placeholder; });
  if (first == order.end() || !graph.outputNode().valid()) return;
  const auto call = [&](NodeId place, std::string_view target, ArgumentList args) {
    const InsertionScope scope(graph, InsertionScope::Where::Before, place);
    return graph.callFunction(target, std::move(args));
  };
  const NodeId enter = call(*first, "torch.amp.autocast_mode._enter_autocast",
                            {Argument("cuda"), Argument(), Argument(true), Argument()});
  call(graph.outputNode(), "torch.amp.autocast_mode._exit_autocast", {Argument(enter)});
}

/// What stands behind "NAME = "; empty if no line sets it.
std::string_view settingOf(const ReproEnvelope& envelope, std::string_view name) {
  for (const std::string_view line : envelope.configLines) {
    if (!line.starts_with(name)) continue;
    const std::string_view rest = line.substr(name.size());
    const auto value = rest.find_first_not_of(" =");
    if (value != std::string_view::npos && rest.substr(0, value).find('=') != std::string_view::npos)
      return rest.substr(value, rest.find_last_not_of(" \t\r") - value + 1);
  }
  return {};
}

}  // namespace

Result<GraphModule> moduleToCompare(const GraphSource& source) {
  GraphModule module = source.graph().module;
  if (!runsInAutocast(envelopeOf(source))) return module;
  wrapInAutocast(module.graph);
  KERF_CHECK(propagateShapes(module));
  return module;
}

void takeRecordedRule(const GraphSource& source, const AccuracyChoice& choice, CompareOptions& options) {
  const ReproEnvelope& envelope = envelopeOf(source);
  const std::string_view text = settingOf(envelope, "torch._dynamo.config.repro_tolerance");
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [at, problem] = std::from_chars(text.data(), end, value);
  const bool isNumber = !text.empty() && problem == std::errc() && at == end && value >= 0;
  if (!choice.toleranceGiven && isNumber) options.tolerance = value;
  if (settingOf(envelope, "torch._dynamo.config.repro_ignore_non_fp") == "True") options.ignoreNonFloat = true;
  const auto names = resultNames(source.graph());
  for (auto& [subject, tolerance] : options.tolerances)
    for (std::size_t i = 0; i < names.size(); ++i)
      if (toleranceConcerns(subject, names[i])) {
        subject = fmt::format("out{}", i);  // as it is called where the graph runs
        break;
      }
}

std::vector<std::string> resultNames(const CapturedGraph& graph) {
  std::vector<std::string> names;
  if (!graph.signature) return names;
  std::size_t outputs = 0;
  for (const GraphSignature::Entry& entry : graph.signature->outputs) {
    const bool mutates = entry.kind.ends_with("_mutation") && !entry.target.empty();
    names.push_back(mutates ? "mutates " + entry.target : fmt::format("out{}", outputs++));
  }
  return names;
}

}  // namespace kerf::workbench
