#include "app/workbench/captures/recorded_settings.h"

#include <algorithm>
#include <charconv>

#include "engine/capture/repro/graph_level.h"
#include "engine/capture/repro/usual_header.h"
#include "engine/ops/core/op_registry.h"

namespace kerf::workbench {

const ReproEnvelope& envelopeOf(const GraphSource& source) {
  return source.graph().envelope ? *source.graph().envelope : source.capture.envelope;
}

namespace {

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

/// What "os.environ['NAME'] = 'text'" sets; empty if no line does.
std::string_view variableOf(const ReproEnvelope& envelope, std::string_view name) {
  const std::string start = fmt::format("os.environ['{}'] = '", name);
  for (const std::string_view line : envelope.environmentLines)
    if (line.starts_with(start) && line.ends_with('\''))
      return line.substr(start.size(), line.size() - start.size() - 1);
  return {};
}

/// One setting of PyTorch's minifier: the variable and the entry of torch._dynamo.config that say the same.
struct Setting {
  std::string_view name, variable, entry, meaning;
};
constexpr Setting settings[] = {
    {"repro_after", "TORCHDYNAMO_REPRO_AFTER", "torch._dynamo.config.repro_after", "the graph is of that stage"},
    {"repro_level", "TORCHDYNAMO_REPRO_LEVEL", "torch._dynamo.config.repro_level",
     "at 4 accuracy is what fails, below it crashes and exceptions"},
    {"repro_forward_only", "TORCHDYNAMO_REPRO_FORWARD_ONLY", "torch._dynamo.config.repro_forward_only",
     "outputs are compared without a loss and its gradients"},
    {"repro_ignore_non_fp", "TORCHDYNAMO_REPRO_IGNORE_NON_FP", "torch._dynamo.config.repro_ignore_non_fp",
     "results that are not floating-point tensors are not compared"},
    {"repro_tolerance", "", "torch._dynamo.config.repro_tolerance", "the tolerance of same()"}};

/// As PyTorch reads it: the config line is run after the environment was looked at.
std::string_view saidOf(const ReproEnvelope& envelope, const Setting& setting) {
  std::string_view text = settingOf(envelope, setting.entry);
  if (text.empty() && !setting.variable.empty()) text = variableOf(envelope, setting.variable);
  return text;
}

std::string_view saidOf(const ReproEnvelope& envelope, std::string_view name) {
  return saidOf(envelope, *std::ranges::find(settings, name, &Setting::name));
}

bool isOn(std::string_view text) { return text == "1" || text == "True"; }

bool saysNothing(const ReproEnvelope& envelope) {
  return envelope.headerLines.empty() && envelope.mainLines.empty() && envelope.runOptions.empty();
}

/// The repro of a log that tells most of the graph's process.
const CapturedGraph* graphThatTells(const GraphSource& source) {
  const GraphOrigin& own = source.graph().origin;
  const CapturedGraph* any = nullptr;
  for (const CapturedGraph& graph : source.capture.graphs) {
    if (graph.origin.stage != "fx_graph_runnable" || graph.origin.rank != own.rank) continue;
    if (graph.origin.compileId == own.compileId) return &graph;
    if (any == nullptr) any = &graph;
  }
  return any;
}

}  // namespace

GraphSource withRecordedEnvironment(GraphSource source) {
  if (!saysNothing(envelopeOf(source))) return source;
  const CapturedGraph* found = graphThatTells(source);
  if (found == nullptr) return source;
  CapturedGraph teller = *found;
  if (!teller.ensureLoaded() || !teller.envelope) return source;
  ReproEnvelope envelope = environmentOf(*teller.envelope);
  if (saidOf(envelope, "repro_level") == "4") {  // as PyTorch would have written the graph itself
    envelope.runOptions = {{"accuracy", "True"}};
    envelope.runner = isDynamoGraph(source.graph()) ? "after_dynamo" : "after_aot";
  }
  if (!envelope.headerLines.empty())
    source.graph().envelope = std::make_shared<const ReproEnvelope>(std::move(envelope));
  return source;
}

std::vector<std::string> recordedSettings(const GraphSource& source) {
  std::vector<std::string> lines;
  for (const Setting& setting : settings)
    if (const std::string_view text = saidOf(envelopeOf(source), setting); !text.empty())
      lines.push_back(fmt::format("{} {}: {}", setting.name, text, setting.meaning));
  return lines;
}

Result<GraphModule> moduleToCompare(const GraphSource& source) {
  GraphModule module = source.graph().module;
  if (!runsInAutocast(envelopeOf(source))) return module;
  wrapInAutocast(module.graph);
  KERF_CHECK(propagateShapes(module));
  return module;
}

void takeRecordedRule(const GraphSource& source, const AccuracyChoice& choice, CompareOptions& options) {
  const ReproEnvelope& envelope = envelopeOf(source);
  const std::string_view text = saidOf(envelope, "repro_tolerance");
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [at, problem] = std::from_chars(text.data(), end, value);
  const bool isNumber = !text.empty() && problem == std::errc() && at == end && value >= 0;
  if (!choice.toleranceGiven && isNumber) options.tolerance = value;
  if (isOn(saidOf(envelope, "repro_ignore_non_fp"))) options.ignoreNonFloat = true;
  if (isOn(saidOf(envelope, "repro_forward_only"))) options.forwardOnly = true;
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
    const bool gradient = entry.kind.starts_with("gradient_to_");
    names.push_back(mutates    ? "mutates " + entry.target
                    : gradient ? "grad." + entry.target
                               : fmt::format("out{}", outputs++));
  }
  return names;
}

}  // namespace kerf::workbench
