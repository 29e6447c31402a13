#include "app/workbench/minify/minified_repro.h"

#include <algorithm>

#include "app/workbench/captures/recorded_settings.h"
#include "app/workbench/engine_options.h"
#include "app/workbench/minify/failure_choice.h"
#include "app/workbench/minify/judge_graph.h"
#include "engine/support/atomic_file.h"
#include "engine/tensor/mapped_file.h"
#include "minifier/report/injected_fault.h"
#include "minifier/report/minify_report.h"

namespace kerf::workbench {

namespace {

/// run_repro's accuracy= for this failure; none where the capture's own is right, or nothing is known of the failure.
std::optional<std::string> accuracyFor(std::string_view fingerprint, const ReproEnvelope& envelope) {
  constexpr std::string_view known[] = {"accuracy", "compile", "run", "crash", "hang"};
  const bool isKnown =
      std::ranges::any_of(known, [&](std::string_view start) { return fingerprint.starts_with(start); });
  if (!isKnown) return std::nullopt;
  const std::string wanted = accuracyOption(fingerprint);
  const auto said = std::ranges::find(envelope.runOptions, "accuracy", &std::pair<std::string, std::string>::first);
  const bool isOn = said != envelope.runOptions.end() && said->second != "False" && said->second != "None";
  if (wanted == "True" && isOn) return std::nullopt;  // 'strict_accuracy' stays
  return wanted;
}

/// What the user named with the oracle belongs to the repro: without it PyTorch does not know the ops.
Result<void> addImports(const std::filesystem::path& repro, const std::vector<std::string>& imports) {
  if (imports.empty()) return {};
  KERF_TRY(const StoragePtr bytes, mapFile(repro));
  std::string text(reinterpret_cast<const char*>(bytes->data()), std::size_t(bytes->bytes()));
  std::string lines;
  for (const std::string& name : imports)
    lines += name.ends_with(".so")
                 ? fmt::format("torch.ops.load_library({:?})\n", std::filesystem::absolute(name).string())
                 : fmt::format("import {}\n", name);
  constexpr std::string_view first = "import torch\n";
  const auto at = text.starts_with(first) ? 0 : text.find(fmt::format("\n{}", first));
  if (at == std::string::npos) return fail(ErrorCode::Internal, "{} does not import torch", repro.string());
  text.insert(text.find('\n', at + 1) + 1, lines);
  return writeTextFile(text, repro);
}

}  // namespace

Result<std::filesystem::path> writeMinified(const SearchedFailure& searched, const MinifyResult& result,
                                            const std::filesystem::path& folder) {
  const GraphSource& source = searched.source;
  KERF_TRY(const auto faults, parsePlants(searched.request.oracle.plants));
  const std::string fault = faultOfKerfAlone(faults.text(), envelopeOf(source));
  const std::string started = result.steps.empty() ? result.fingerprint : result.steps.front().fingerprint;
  const MinifyReportContext how{source.text, fault, searched.oracle.identity(), searched.match.rule(started),
                                searched.startNodes};
  KERF_TRY(const auto capture, minifiedCapture(result, source.capture, source.index, how));
  ExportOptions options;
  // PyTorch knows nothing of a fault that Kerf planted: its accuracy check would judge another bug, or none.
  options.accuracy = fault.empty() ? accuracyFor(result.fingerprint, capture.envelope) : "False";
  KERF_TRY(auto repro, exportRepro(capture, 0, folder, options));
  if (searched.request.oracle.oracle == "torch") KERF_CHECK(addImports(repro, searched.request.oracle.imports));
  return repro;
}

Result<std::string> checkMinified(const SearchedFailure& searched, const Minified& found, const GraphModule& module,
                                  const std::filesystem::path& repro) {
  const auto& [bench, source, request, job, oracle, match, startNodes] = searched;
  const auto settings = withPlantsIn(module, request.oracle);
  const auto ask = [&] {
    return request.oracle.oracle == "torch" ? recheckWith(bench, oracle, repro, job)
                                            : recheckInFreshProcess(bench, settings, repro, job);
  };
  auto verdict = ask();  // of a flaky failure once is proof here as well
  for (int asked = 1; asked < found.passesAsked && verdict && verdict->kind != VerdictKind::Fails; ++asked)
    verdict = ask();
  if (!verdict && verdict.error().code == ErrorCode::Cancelled) {
    job.note(fmt::format("{} is written; stopped before a fresh process had checked it", repro.string()));
    return std::string();
  }
  if (!verdict) return fail(verdict.error().while_(fmt::format("checking {} in a fresh process", repro.string())));
  const bool fails = verdict->kind == VerdictKind::Fails;
  const bool same = fails && match.accepts(verdict->fingerprint, verdict->detail, found.fingerprint);
  const bool sameInRepro =
      fails && match.isSame() && match.accepts(verdict->fingerprint, "", fingerprintOfRepro(found.fingerprint));
  if (same || sameInRepro) return verdict->fingerprint;
  return fail(ErrorCode::Different,
              "the repro {} was written, but a fresh process finds \"{}\" where the search found \"{}\"",
              repro.string(), verdict->fingerprint, found.fingerprint);
}

Result<std::string> confirmMinified(const SearchedFailure& searched, const std::filesystem::path& repro) {
  const auto& oracle = searched.request.oracle;
  KERF_TRY(const auto said, confirmWithTorch(oracle.python, repro, oracle.limits, searched.job.stop));
  if (said.fails) return said.text();
  KERF_TRY(const auto faults, parsePlants(oracle.plants));
  const bool isKerfs = !faultOfKerfAlone(faults.text(), envelopeOf(searched.source)).empty();
  return said.text() + (isKerfs ? ": the fault is Kerf's planted one" : ": not as the search saw it");
}

Result<void> writeIssueOf(const SearchedFailure& searched, const MinifyResult& result, VerdictCache& verdicts,
                          const std::string& confirmed, const std::filesystem::path& repro) {
  const JudgingRule rule{searched.request.votes, searched.request.flaky};
  IssueFacts facts = issueFacts({result, searched.oracle, verdicts, rule}, searched.job.stop);
  KERF_TRY(const auto faults, parsePlants(searched.request.oracle.plants));
  facts.fault = faults.text();
  facts.startNodes = searched.startNodes;
  facts.confirmed = confirmed;
  return writeIssueBeside(std::move(facts), repro);
}

}  // namespace kerf::workbench
