#include "minifier/bisect/part_bisection.h"

#include <algorithm>

#include "engine/backend/backend.h"
#include "engine/ops/core/op_registry.h"
#include "engine/pipeline/module_parts.h"
#include "engine/process/in_child.h"
#include "minifier/bisect/culprit_search.h"

namespace kerf::inline minifier::inline bisect {

namespace {

/// The compiled side of a candidate.
using RunCompiled = std::function<Result<Value>(const ValueList& inputs, const CompileOptions& compile)>;

RunCompiled runWhole(const GraphModule& module) {
  return [&module](const ValueList& inputs, const CompileOptions& compile) -> Result<Value> {
    KERF_TRY(const auto graph, compileFx(module, compile));
    return graph->run(inputs);
  };
}

/// What differs or failed in the compiled side; empty if nothing. Runs in the child.
Result<std::string> compareWith(const BisectedCompiler& compiler, const CompileOptions& compile,
                                const RunCompiled& run) {
  const Candidate& candidate = compiler.candidate;
  std::string failure;
  const RunModel compiled = [&](const ValueList& inputs) -> Result<Value> {
    auto result = run(inputs, compile);
    if (!result && result.error().code != ErrorCode::UnsupportedOp) failure = result.error().text();
    return result;
  };
  const auto report =
      sameTwoModels(candidate.module, referenceOps(), compiled, candidate.inputs, compiler.options.compare);
  if (!failure.empty()) return failure;
  if (!report) return fail(report.error());
  for (const auto& output : report->outputs)
    if (!output.same) return fmt::format("{}: {}", output.name, output.reason);
  return std::string();
}

Result<std::string> attempt(const BisectedCompiler& compiler, const CompileOptions& compile, const RunCompiled& run,
                            const std::stop_token& stop) {
  const std::function body = [&](const SendEvent&) { return compareWith(compiler, compile, run); };
  KERF_TRY(auto ended, callIsolated<std::string>(body, compiler.options.limits, stop));
  if (ended.answer) return std::move(*ended.answer);
  const auto end = errorOfEnd(ended.outcome, "the compiled side", ErrorCode::Different);
  if (end.code == ErrorCode::Cancelled) return fail(ErrorCode::Cancelled, "stopped while bisecting");
  return end.message;
}

/// A kernel of the whole compilation: what can be turned off one by one.
struct KernelPart {
  std::string name;
  std::vector<std::string> nodes;  ///< captured

  KERF_FIELDS(name, nodes)
};

/// Those of `module` itself that `isPart` wants. A crash while compiling is an error: there is nothing to turn off.
Result<std::vector<KernelPart>> kernelsOf(const BisectedCompiler& compiler, bool (*isPart)(const KernelInfo&),
                                          const std::stop_token& stop) {
  using Parts = std::vector<KernelPart>;
  const std::function<Result<Parts>()> body = [&]() -> Result<Parts> {
    CompileOptions compile = compiler.options.compile;
    compile.keepArtifacts = false;
    KERF_TRY(const auto graph, compileFx(compiler.candidate.module, compile));
    Parts parts;
    for (const KernelInfo& kernel : graph->kernels()) {
      const bool isNested = std::ranges::any_of(kernel.nodes, [](const auto& node) { return node.contains('/'); });
      if (isPart(kernel) && !isNested) parts.push_back({kernel.name, kernel.capturedNodes});
    }
    return parts;
  };
  return inChild(body, compiler.options.limits, stop, "compiling", ErrorCode::CompileFailed);
}

bool isLoops(const KernelInfo& kernel) { return kernel.kind == "fused"; }
bool isFusion(const KernelInfo& kernel) { return isLoops(kernel) && kernel.capturedNodes.size() > 1; }

/// What can be turned off: names, and how a compilation goes without some of them.
struct Parts {
  std::string_view what;
  std::vector<std::string> names;
  std::function<void(CompileOptions&, const std::vector<bool>& on)> choose = {};
  /// Where parts of the graph are turned off: how it runs then. Empty: as a whole.
  std::function<RunCompiled(const std::vector<bool>& on)> running = {};
};

Result<Parts> passParts(const BisectedCompiler& compiler, const std::stop_token&) {
  KERF_TRY(const auto passes, selectPasses(compiler.options.compile.passes, compilerPasses()));
  Parts parts{"pass", {}};
  for (const Pass& pass : passes) parts.names.push_back(pass.name);
  parts.choose = [names = parts.names](CompileOptions& compile, const std::vector<bool>& on) {
    compile.passes.only.emplace();
    for (std::size_t i = 0; i < on.size(); ++i)
      if (on[i]) compile.passes.only->push_back(names[i]);
  };
  return parts;
}

constexpr std::string_view decompositionsName = "decompositions";

/// A part of the compiler, and what turns it off.
struct SubsystemRow {
  std::string_view name;
  std::optional<PassStage> stage;  ///< its passes do not run
  void (*turnOff)(CompileOptions&);
  bool (*isThere)(const CompileOptions&) = nullptr;  ///< null: in every compilation
};

/// The interpreter's values keep their own memory; code for CPU and GPU is planned alike.
bool plansMemory(const CompileOptions& compile) { return compile.backend != "interp"; }
bool isLlvms(const CompileOptions& compile) { return compile.backend == "llvm"; }

/// In the order in which a graph comes to them; each can do without those after it.
constexpr SubsystemRow subsystems[] = {
    {decompositionsName, {}, nullptr},
    {"pre-grad passes", PassStage::PreGrad, nullptr},
    {"joint passes", PassStage::Joint, nullptr},
    {"post-grad passes", PassStage::PostGrad, nullptr},
    {"lowering and code generation", PassStage::Lowering, [](CompileOptions& compile) { compile.backend = "interp"; }},
    {"fusion", {}, [](CompileOptions& compile) { compile.fuse = false; }},
    {"memory plan", {}, [](CompileOptions& compile) { compile.sharesMemory = false; }, plansMemory},
    {"LLVM optimisation", {}, [](CompileOptions& compile) { compile.optimizationLevel = 0; }, isLlvms}};

/// Rows of `subsystems` that this compilation has.
std::vector<const SubsystemRow*> usedSubsystems(const CompileOptions& compile, DecompositionTable table) {
  std::vector<const SubsystemRow*> used;
  for (const SubsystemRow& row : subsystems) {
    const bool isDecomposing = row.name == decompositionsName && table == DecompositionTable::None;
    if (!isDecomposing && (!row.isThere || row.isThere(compile))) used.push_back(&row);
  }
  return used;
}

Result<Parts> subsystemParts(const BisectedCompiler& compiler, const std::stop_token&) {
  const CompileOptions& usual = compiler.options.compile;
  KERF_TRY(const auto passes, selectPasses(usual.passes, compilerPasses()));
  Parts parts{"subsystem", {}};
  const auto used = usedSubsystems(usual, compiler.table);
  for (const SubsystemRow* row : used) parts.names.emplace_back(row->name);
  parts.choose = [passes, used](CompileOptions& compile, const std::vector<bool>& on) {
    const auto isOn = [&](const Pass& pass) {
      const auto row = std::ranges::find(used, std::optional(pass.stage), &SubsystemRow::stage);
      return on[std::size_t(row - used.begin())];
    };
    compile.passes.only.emplace();
    for (const Pass& pass : passes)
      if (isOn(pass)) compile.passes.only->push_back(pass.name);
    for (std::size_t i = 0; i < on.size(); ++i)
      if (!on[i] && used[i]->turnOff) used[i]->turnOff(compile);
  };
  if (compiler.table == DecompositionTable::None) return parts;
  parts.running = [&compiler](const std::vector<bool>& on) {
    return runWhole(on.front() ? compiler.decomposed : compiler.candidate.module);
  };
  return parts;
}

Result<Parts> configParts(const BisectedCompiler& compiler, const std::stop_token&) {
  const auto patches = compiler.options.compile.passes.patches;
  if (patches.empty())
    return fail(ErrorCode::BadUsage, Hint{Advice::GivePassOption},
                "a bisection by config asks which option of a pass is to blame: give some");
  Parts parts{"option", {}};
  for (const PassPatch& patch : patches)
    parts.names.push_back(fmt::format("{}.{}={}", patch.pass, patch.option, optionText(patch.value)));
  parts.choose = [patches](CompileOptions& compile, const std::vector<bool>& on) {
    compile.passes.patches.clear();
    for (std::size_t i = 0; i < on.size(); ++i)
      if (on[i]) compile.passes.patches.push_back(patches[i]);
  };
  return parts;
}

Result<Parts> partsOfKernels(std::string_view what, const std::vector<KernelPart>& kernels,
                             std::set<std::string> CompileOptions::* nodesOff) {
  Parts parts{what, {}};
  for (const KernelPart& kernel : kernels) parts.names.push_back(kernel.name);
  parts.choose = [kernels, nodesOff](CompileOptions& compile, const std::vector<bool>& on) {
    for (std::size_t i = 0; i < on.size(); ++i)
      if (!on[i]) (compile.*nodesOff).insert(kernels[i].nodes.begin(), kernels[i].nodes.end());
  };
  return parts;
}

Result<Parts> fusionParts(const BisectedCompiler& compiler, const std::stop_token& stop) {
  KERF_TRY(const auto kernels, kernelsOf(compiler, isFusion, stop));
  return partsOfKernels("fusion", kernels, &CompileOptions::unfused);
}

Result<Parts> kernelParts(const BisectedCompiler& compiler, const std::stop_token& stop) {
  KERF_TRY(const auto kernels, kernelsOf(compiler, isLoops, stop));
  return partsOfKernels("kernel", kernels, &CompileOptions::interpreted);
}

Result<Parts> moduleParts(const BisectedCompiler& compiler, const std::stop_token&) {
  KERF_TRY(ModuleParts modules, ModuleParts::of(compiler.candidate.module));
  Parts parts{"module", modules.names()};
  parts.running = [modules = std::move(modules)](const std::vector<bool>& on) -> RunCompiled {
    return [&modules, on](const ValueList& inputs, const CompileOptions& compile) {
      return modules.run(inputs, on, compile);
    };
  };
  return parts;
}

using PartsOf = Result<Parts> (*)(const BisectedCompiler&, const std::stop_token&);
/// By BisectedParts.
constexpr PartsOf partsTable[] = {passParts, subsystemParts, configParts, fusionParts, kernelParts, moduleParts};
static_assert(std::size(partsTable) == std::size_t(BisectedParts::Modules) + 1);

}  // namespace

Result<CulpritReport> bisectParts(BisectedParts which, const BisectedCompiler& compiler, const WorkProgress& progress) {
  KERF_TRY(const Parts parts, partsTable[std::size_t(which)](compiler, progress.stop));
  const PartTrial trial = [&](const std::vector<bool>& on) -> Result<std::string> {
    CompileOptions compile = compiler.options.compile;
    compile.keepArtifacts = false;
    if (parts.choose) parts.choose(compile, on);
    return attempt(compiler, compile, parts.running ? parts.running(on) : runWhole(compiler.candidate.module),
                   progress.stop);
  };
  return findCulprits(parts.names, parts.what, trial, progress);
}

}  // namespace kerf::inline minifier::inline bisect
