// Compiler parts: a table of what uses each.
#include "engine/pipeline/compiler_parts.h"

#include <algorithm>

#include "engine/passes/plant_faults.h"

namespace kerf::inline pipeline {

namespace {

struct PartRow {
  std::string_view name;
  bool (*isUsed)(const CompileOptions&);
};

bool makesCode(const CompileOptions& options) { return options.backend != "interp"; }
bool usesLlvm(const CompileOptions& options) { return options.backend == "llvm"; }

constexpr PartRow compilerParts[] = {
    {"codegen", makesCode},
    {"fusion", [](const CompileOptions& options) { return makesCode(options) && options.fuse; }},
    {"memory_plan", [](const CompileOptions& options) { return makesCode(options) && options.sharesMemory; }},
    {"optimisation", [](const CompileOptions& options) { return usesLlvm(options) && options.optimizationLevel > 0; }}};

const PartRow* partOf(const Fault& fault) {
  const auto* row = std::ranges::find(compilerParts, fault.subject, &PartRow::name);
  return fault.onPass && row != std::end(compilerParts) ? row : nullptr;
}

}  // namespace

std::vector<Pass> brokenParts(const CompileOptions& options) {
  std::vector<Pass> passes;
  for (const Fault& fault : options.faults.faults)
    if (const PartRow* part = partOf(fault); part && part->isUsed(options)) passes.push_back(breakingPass(fault));
  return passes;
}

Result<FaultPlan> checkPartFaults(const CompileOptions& options) {
  FaultPlan elsewhere;
  for (const Fault& fault : options.faults.faults) {
    const PartRow* part = partOf(fault);
    if (part && !part->isUsed(options))
      return fail(ErrorCode::BadUsage, "nothing to plant {} in: this compilation has no {}", FaultPlan{{fault}}.text(),
                  part->name);
    if (!part) elsewhere.faults.push_back(fault);
  }
  return elsewhere;
}

}  // namespace kerf::inline pipeline
