#include "tests/differential/fuzzgraph/checks.h"

#include "engine/accuracy/same_two_models.h"
#include "engine/backend/input_symbols.h"
#include "engine/ops/random/state.h"
#include "engine/pipeline/compiler_passes.h"
#include "tests/differential/fuzzgraph/dice.h"
#include "tests/support/every_pass.h"

namespace kerf::fuzzgraph {
namespace {

CheckedWay way(std::string name, CompileOptions options) {
  options.keepArtifacts = false;
  return {std::move(name), std::move(options)};
}

std::vector<CheckedWay> makeWays() {
  std::vector<CheckedWay> ways;
  ways.push_back(way("O2", {}));
  ways.push_back(
      way("interp, every pass", {.backend = "interp", .passes = {.patches = testing::everythingOn(compilerPasses())}}));
  ways.push_back(way("O0 unfused, no passes",
                     {.passes = {.only = std::vector<std::string>()}, .fuse = false, .optimizationLevel = 0}));
  for (const int level : {0, 2, 3})
    for (const bool fuse : {true, false})
      if (level != 2 || !fuse)
        ways.push_back(
            way(fmt::format("O{}{}", level, fuse ? "" : " unfused"), {.fuse = fuse, .optimizationLevel = level}));
  ways.push_back(way("O2, no passes", {.passes = {.only = std::vector<std::string>()}}));
  ways.push_back(way("interp", {.backend = "interp"}));
  ways.push_back(way("interp, no passes", {.backend = "interp", .passes = {.only = std::vector<std::string>()}}));
  const std::vector<Pass> passes = compilerPasses();
  ways.push_back(way("O2, every pass", {.passes = {.patches = testing::everythingOn(passes)}}));
  for (const Pass& pass : passes) {
    const PassConfig alone{.only = std::vector<std::string>{pass.name},
                           .patches = testing::everythingOn(passes, pass.name)};
    ways.push_back(way("O2, only " + pass.name, {.passes = alone}));
    ways.push_back(way("O2, without " + pass.name, {.passes = {.disabled = {pass.name}}}));
    ways.push_back(way("interp, only " + pass.name, {.backend = "interp", .passes = alone}));
  }
  return ways;
}

std::optional<Disagreement> tryWay(const Candidate& candidate, const CheckedWay& way, const RunResult& reference,
                                   const std::optional<RunResult>& fp64) {
  const auto failed = [](const char* kind, const Error& error) { return Disagreement{"", kind, error.text()}; };
  const auto compiled = compileFx(candidate.module, way.compile);
  if (!compiled) return failed("compile error", compiled.error());
  auto inputs = cloneInputs(candidate.inputs, false);
  if (!inputs) return failed("error", inputs.error());
  const RandomScope random;
  auto outputs = (*compiled)->run(*inputs);
  if (!outputs) return failed("runtime error", outputs.error());
  return disagreement(reference, {std::move(*outputs), std::move(*inputs)}, fp64);
}

}  // namespace

const std::vector<CheckedWay>& allWays() {
  static const std::vector<CheckedWay> ways = makeWays();
  return ways;
}

std::vector<const CheckedWay*> waysFor(std::uint64_t seed, int more) {
  const auto& ways = allWays();
  std::vector<const CheckedWay*> chosen{&ways[0], &ways[1]};
  Dice dice(seed ^ 0x77617973);
  for (int i = 0; i < more; ++i) chosen.push_back(&ways[2 + dice.below(ways.size() - 2)]);
  return chosen;
}

CheckSummary checkGraph(const Candidate& candidate, const std::vector<const CheckedWay*>& ways,
                        const OnCheck& onCheck) {
  CheckSummary summary;
  onCheck("reference");
  const auto reference = interpreted(candidate.module, candidate.inputs, false);
  if (!reference) {
    summary.referenceError = reference.error().text();
    return summary;
  }
  onCheck("fp64");
  std::optional<RunResult> fp64;
  if (auto result = interpreted(candidate.module, candidate.inputs, true)) fp64 = std::move(*result);
  summary.haveFp64 = fp64.has_value();
  for (const CheckedWay* way : ways) {
    onCheck(way->name);
    ++summary.runs;
    if (auto found = tryWay(candidate, *way, *reference, fp64)) {
      found->check = way->name;
      summary.disagreements.push_back(std::move(*found));
    }
  }
  const auto add = [&](const char* check, std::vector<Disagreement> found) {
    for (Disagreement& item : found) {
      item.check = check;
      summary.disagreements.push_back(std::move(item));
    }
  };
  if (InputSymbols(candidate.module).any()) {
    onCheck("sizes");
    add("sizes", checkSizes(candidate, ways.front()->compile, summary.otherSizes));
  }
  onCheck("export");
  add("export", checkExport(candidate, reference->outputs));
  return summary;
}

}  // namespace kerf::fuzzgraph
