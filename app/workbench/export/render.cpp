#include "app/workbench/export/render.h"

#include <algorithm>

#include "app/workbench/captures/recorded_settings.h"
#include "app/workbench/run/transposes.h"
#include "engine/capture/repro/export_text.h"
#include "engine/ir/printer.h"

namespace kerf::workbench {

namespace {

using namespace std::chrono_literals;

constexpr auto drawingTime = 60s;

using RenderResult = Result<std::string>;

std::string lines(std::string text) {
  if (!text.ends_with('\n')) text += '\n';
  return text;
}

RenderResult asTable(const CapturedGraph& graph, const Job&) { return lines(printTabular(graph.module.graph)); }
RenderResult asText(const CapturedGraph& graph, const Job&) { return lines(printGraphText(graph.module.graph)); }
RenderResult asCode(const CapturedGraph& graph, const Job&) { return lines(printPythonCode(graph.module)); }
bool hasStackTraces(const GraphModule& module) {
  const auto has = [&](NodeId id) { return !module.graph.node(id).meta().stackTrace.empty(); };
  return std::ranges::any_of(module.graph.order(), has) ||
         std::ranges::any_of(module.submodules, [](const auto& entry) {
           return entry.second.graph != nullptr && hasStackTraces(*entry.second.graph);
         });
}

/// print_readable() with shapes, strides and devices, and the user's lines where they were recorded.
RenderResult asReadable(const CapturedGraph& graph, const Job&) {
  PythonCodeOptions options;
  options.annotateValues = options.includeStride = options.includeDevice = true;
  options.includeStackTraces = hasStackTraces(graph.module);
  return lines(printReadable(graph.module, options));
}
RenderResult asDot(const CapturedGraph& graph, const Job&) { return dotText(graph.module.graph, graph.name); }
RenderResult asJson(const CapturedGraph& graph, const Job&) {
  return graphJson(graph).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}
RenderResult asSvg(const CapturedGraph& graph, const Job& job) {
  return renderDot(dotText(graph.module.graph, graph.name), "svg", drawingTime, job.stop);
}
RenderResult asPng(const CapturedGraph& graph, const Job& job) {
  return renderDot(dotText(graph.module.graph, graph.name), "png", drawingTime, job.stop);
}

/// What each input and output of an exported program stands for: a line each, tabs between the columns.
RenderResult asSignature(const CapturedGraph& graph, const Job&) {
  if (!graph.signature)
    return fail(ErrorCode::BadUsage, "{} has no signature; exported programs (.pt2) do", graph.name);
  std::string text;
  const auto add = [&](std::string_view side, const std::vector<GraphSignature::Entry>& entries) {
    for (const auto& entry : entries)
      text += fmt::format("{}\t{}\t{}\t{}\n", side, entry.kind, entry.name, entry.target);
  };
  add("in", graph.signature->inputs);
  add("out", graph.signature->outputs);
  return text;
}

struct Form {
  std::string_view name;
  RenderResult (*render)(const CapturedGraph&, const Job&);
};
constexpr Form forms[] = {{"table", asTable},       {"text", asText}, {"code", asCode},
                          {"readable", asReadable}, {"dot", asDot},   {"json", asJson},
                          {"svg", asSvg},           {"png", asPng},   {"signature", asSignature}};

}  // namespace

Result<std::string> renderGraph(const CapturedGraph& graph, const std::string& format, const Job& job) {
  const auto* form = std::ranges::find(forms, format, &Form::name);
  if (form == std::end(forms)) return fail(ErrorCode::BadUsage, "there is no format \"{}\"", format);
  return form->render(graph, job);
}

Result<std::string> perform(Workbench& bench, const RenderRequest& request, const Job& job) {
  if (request.format == "transposes") return checkTransposes(bench, request.graph, job);
  KERF_TRY(auto found, resolveGraph(bench, request.graph, job));
  const ShapedGraph source = shapedAsRecorded(std::move(found), job);
  for (auto& note : leftOutNotes(source.capture, source.index)) job.note(std::move(note));
  for (const auto& setting : recordedSettings(source)) job.note("PyTorch's minifier was set: " + setting);
  if (isKernelFormat(request.format)) return kernelTexts(source, request.format, bench.codeCache(job), job);
  return renderGraph(source.graph(), request.format, job);
}

}  // namespace kerf::workbench
