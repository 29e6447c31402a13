#include "app/workbench/engine_options.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "app/workbench/workbench.h"
#include "engine/backend/registry/backends.h"
#include "engine/passes/joint/padding_benchmark.h"
#include "engine/passes/pass_names.h"
#include "engine/patterns/user_patterns.h"

namespace kerf::workbench {

Result<FaultPlan> parsePlants(const std::vector<std::string>& plants) {
  FaultPlan plan;
  for (const auto& text : plants) {
    KERF_TRY(auto fault, parseFault(text));
    plan.faults.push_back(std::move(fault));
  }
  return plan;
}

namespace {

/// A file of patterns counts by its text too: results are known again by the configuration.
Result<void> addDigests(PassConfig& config) {
  const std::vector<PassPatch> given = config.patches;
  for (const PassPatch& patch : given) {
    const auto* path = std::get_if<std::string>(&patch.value);
    if (patch.pass != "user_patterns" || patch.option != "file" || path == nullptr || path->empty()) continue;
    KERF_TRY(const PatternFileContent content, readPatternFile(*path));
    config.patches.push_back({patch.pass, "digest", content.digest});
  }
  return {};
}

/// So that a configuration has one text, whichever names it was given in.
std::vector<std::string> currentNames(std::vector<std::string> passes) {
  for (std::string& pass : passes) pass = currentPassName(pass);
  return passes;
}

}  // namespace

void keepMeasurements(Workbench& bench, const PassConfig& config, const Job& job) {
  const bool measures =
      std::ranges::any_of(config.patches, [](const PassPatch& patch) { return patch.option == "benchmark"; });
  if (!measures) return;
  if (const auto cache = bench.codeCache(job); !cache.empty())
    PaddingBenchmark::shared().keepIn(cache / "padding.times");
}

Result<PassConfig> passConfig(const PassChoice& choice) {
  PassConfig config{.disabled = currentNames(choice.disabled)};
  if (!choice.only.empty()) config.only = currentNames(choice.only);
  for (const std::string& text : choice.settings) {
    KERF_TRY(auto patch, parsePassPatch(text, compilerPasses()));
    config.patches.push_back(std::move(patch));
  }
  KERF_CHECK(addDigests(config));
  KERF_TRY(const auto passes, selectPasses(config, compilerPasses()));
  for (const PassPatch& patch : config.patches)
    if (std::ranges::find(passes, patch.pass, &Pass::name) == passes.end())
      return fail(ErrorCode::BadUsage, "pass {} does not run, so that its option {} would do nothing", patch.pass,
                  patch.option);
  return config;
}

Result<void> setAccuracy(EngineOracleOptions& options, const AccuracyChoice& choice) {
  options.compare.requireFp64 = choice.requireFp64;
  if (choice.strict && choice.requireFp64)
    return fail(ErrorCode::BadUsage,
                "strict accuracy compares without the fp64 reference that is required; choose one of the two");
  options.compare.ignoreNonFloat = choice.ignoreNonFloat;
  if (choice.exact && choice.requireFp64)
    return fail(ErrorCode::BadUsage,
                "bits are compared without the fp64 reference that is required; choose one of the two");
  options.compare.useFp64 = !choice.strict && !choice.exact;
  options.compare.exactBits = choice.exact;
  options.compare.forwardOnly = choice.forwardOnly;
  options.compare.torchSame = choice.torchSame;
  for (const std::string& text : choice.tolerances) {
    const auto equals = text.rfind('=');
    double value = -1;
    const char* end = text.data() + text.size();
    const auto [at, problem] =
        equals == std::string::npos ? std::from_chars(end, end, value) : std::from_chars(&text[equals] + 1, end, value);
    if (equals == 0 || problem != std::errc() || at != end || !(value >= 0) || !std::isfinite(value))
      return fail(ErrorCode::BadUsage, "\"{}\" is not a NAME=NUMBER, as out3=1e-2 is", text);
    options.compare.tolerances.emplace_back(text.substr(0, equals), value);
  }
  return {};
}

Result<EngineOracleOptions> engineOptions(const std::vector<std::string>& plants, const PassChoice& passes,
                                          double tolerance, std::chrono::milliseconds timeout) {
  EngineOracleOptions options;
  KERF_TRY(options.compile.faults, parsePlants(plants));
  KERF_TRY(options.compile.passes, passConfig(passes));
  options.compare.tolerance = tolerance;
  options.limits.timeout = timeout;
  return options;
}

Result<void> setBackend(EngineOracleOptions& options, const std::string& name) {
  KERF_TRY(const Backend* const backend, findBackend(name));
  KERF_CHECK(backend->canRun());
  options.compile.backend = name;
  if (backend->isDevice()) options.limits.memoryBytes = deviceAddressSpace;
  return {};
}

void setLimits(EngineOracleOptions& options, const CandidateLimits& limits) {
  if (limits.memoryBytes > 0) options.limits.memoryBytes = limits.memoryBytes;
  if (limits.fileBytes > 0) options.limits.fileBytes = limits.fileBytes;
}

}  // namespace kerf::workbench
