// Compiling a graph to look at it: passes, kernels and stages, without running anything.
#include <algorithm>

#include "app/workbench/captures/graph_source.h"
#include "app/workbench/compile/aot_passes.h"
#include "app/workbench/compile/pass_trace.h"
#include "app/workbench/engine_options.h"
#include "engine/backend/registry/backends.h"
#include "engine/codegen_llvm/line_numbers.h"
#include "engine/pipeline/compile_fx.h"
#include "engine/process/in_child.h"

namespace kerf::workbench {

namespace {

double milliseconds(std::chrono::nanoseconds time) { return double(time.count()) / 1e6; }

std::vector<int> loopLinesOf(const KernelInfo& kernel, const std::string& format) {
  return readLineNumbers(kernel.text(format + std::string(loopLinesSuffix)));
}

/// What a backend leaves of a kernel: its code, and what that becomes.
struct CodeForms {
  std::string_view backend;
  const char *code, *assembly;
};
constexpr CodeForms codeForms[] = {{"llvm", "llvm", "asm"}, {"cuda", "cuda", "ptx"}, {"interp", "", ""}};

CompileDoc docOf(const CompiledGraph& compiled, std::string_view backend) {
  const auto* const found = std::ranges::find(codeForms, backend, &CodeForms::backend);
  const auto& forms = found == std::end(codeForms) ? codeForms[0] : *found;
  CompileDoc doc;
  for (const auto& record : compiled.passRecords())
    if (record.path.empty()) doc.passes.push_back(passDoc(record));
  for (const auto& kernel : compiled.kernels()) {
    doc.kernels.push_back({kernel.name, kernel.kind, kernel.reason, std::string(kernel.text("loop")),
                           std::string(kernel.text(forms.code)), kernel.nodes, kernel.capturedNodes,
                           std::string(kernel.text(forms.assembly)), loopLinesOf(kernel, forms.code),
                           loopLinesOf(kernel, forms.assembly)});
  }
  for (const auto& stage : compiled.stageTimes()) doc.stages.emplace_back(stage.stage, milliseconds(stage.time));
  doc.plannedBytes = compiled.artifacts().plannedBytes;
  doc.unplannedBytes = compiled.artifacts().unplannedBytes;
  return doc;
}

/// What can still be shown of a graph that does not compile: the reason and, where they run, the passes.
CompileDoc docOfFailure(const GraphModule& module, const Error& error, const Job& job) {
  CompileDoc doc;
  doc.error = error.text();
  doc.errorNode = error.node;
  if (auto trace = tracePasses(module, {}, job)) doc.passes = std::move(trace->passes);
  std::erase_if(doc.passes, [](const PassDoc& pass) { return !pass.nestedGraph.empty(); });
  return doc;
}

}  // namespace

Result<CompileDocPtr> perform(Workbench& bench, const CompileRequest& request, const Job& job) {
  KERF_TRY(auto found, resolveGraph(bench, request.graph, job));
  const ShapedGraph source = shapedForReading(std::move(found), job);
  const auto& module = source.graph().module;
  KERF_CHECK(findBackend(request.backend));
  CompileOptions options{.backend = request.backend, .cache = bench.codeCache(job)};
  KERF_TRY(options.faults, parsePlants(request.plants));
  const std::function body = [&]() -> Result<CompileDoc> {
    KERF_TRY(const auto compiled, compileFx(module, options));
    return docOf(*compiled, request.backend);
  };
  auto doc = inChild(body, patientLimits(request.timeout), job.stop, "compiling", ErrorCode::CompileFailed);
  if (!doc && doc.error().code == ErrorCode::Cancelled) return fail(std::move(doc.error()));
  if (!doc) doc = docOfFailure(module, doc.error(), job);
  KERF_TRY(const auto stages, stageRows(bench, request.graph, job));
  if (!stages.rows.empty()) prependRows(doc->passes, stages.rows);
  return std::make_shared<const CompileDoc>(std::move(*doc));
}

}  // namespace kerf::workbench
