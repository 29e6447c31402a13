#include "app/bench/cases.h"

#include <algorithm>
#include <memory>

#include "app/bench/diff_cases.h"
#include "app/bench/import_cases.h"
#include "app/bench/partition_cases.h"
#include "app/bench/scale_cases.h"
#include "app/bench/shape_cases.h"
#include "engine/accuracy/same_two_models.h"
#include "engine/capture/common/capture.h"
#include "engine/ir/interpreter.h"
#include "engine/mathlib/convolution.h"
#include "engine/mathlib/gemm.h"
#include "engine/ops/core/op_registry.h"
#include "engine/pipeline/compile_fx.h"
#include "engine/pipeline/compiler_passes.h"
#include "minifier/core/verdict_cache.h"
#include "minifier/oracle/engine_oracle.h"
#include "minifier/reductions/reductions.h"

namespace kerf::bench {
namespace {

namespace fs = std::filesystem;

/// A captured graph with shapes and inputs.
struct Loaded {
  CapturedGraph graph;
  ValueList inputs;
};

Result<std::shared_ptr<Loaded>> load(const fs::path& path) {
  KERF_TRY(Capture capture, importCapture(path));
  if (capture.graphs.empty()) return fail(ErrorCode::BadInput, "{} holds no graph", path.string());
  auto loaded = std::make_shared<Loaded>();
  loaded->graph = std::move(capture.graphs.front());
  KERF_CHECK(loaded->graph.annotateShapes());
  KERF_TRY(loaded->inputs, loaded->graph.loadInputs(false, nullptr));
  return loaded;
}

Result<BenchWork> prepareImport(const fs::path& path) {
  return BenchWork([path]() -> Result<void> {
    KERF_CHECK(importCapture(path));
    return {};
  });
}

Result<BenchWork> prepareShapes(const fs::path& path) {
  KERF_TRY(Capture capture, importCapture(path));
  if (capture.graphs.empty()) return fail(ErrorCode::BadInput, "{} holds no graph", path.string());
  return BenchWork([graph = capture.graphs.front()]() -> Result<void> {
    CapturedGraph copy = graph;
    return copy.annotateShapes();
  });
}

Result<BenchWork> prepareCompile(const fs::path& path) {
  KERF_TRY(const auto loaded, load(path));
  return BenchWork([loaded]() -> Result<void> {
    KERF_CHECK(compileFx(loaded->graph.module, {.keepArtifacts = false}));
    return {};
  });
}

Result<BenchWork> prepareInterpret(const fs::path& path) {
  KERF_TRY(const auto loaded, load(path));
  return BenchWork([loaded]() -> Result<void> {
    KERF_CHECK(Interpreter(loaded->graph.module, referenceOps()).run(loaded->inputs));
    return {};
  });
}

Result<BenchWork> prepareRun(const fs::path& path) {
  KERF_TRY(const auto loaded, load(path));
  KERF_TRY(std::shared_ptr<CompiledGraph> compiled, compileFx(loaded->graph.module, {.keepArtifacts = false}));
  return BenchWork([loaded, compiled]() -> Result<void> {
    KERF_CHECK(compiled->run(loaded->inputs));
    return {};
  });
}

Result<BenchWork> prepareCompare(const fs::path& path) {
  KERF_TRY(const auto loaded, load(path));
  KERF_TRY(std::shared_ptr<CompiledGraph> compiled, compileFx(loaded->graph.module, {.keepArtifacts = false}));
  return BenchWork([loaded, compiled]() -> Result<void> {
    const RunModel run = [&](const ValueList& inputs) { return compiled->run(inputs); };
    KERF_CHECK(sameTwoModels(loaded->graph.module, referenceOps(), run, loaded->inputs, {}));
    return {};
  });
}

/// The three runs of a comparison, and nothing else.
Result<BenchWork> prepareThreeRuns(const fs::path& path) {
  KERF_TRY(const auto loaded, load(path));
  KERF_TRY(std::shared_ptr<CompiledGraph> compiled, compileFx(loaded->graph.module, {.keepArtifacts = false}));
  KERF_TRY(const GraphModule cast, castToFp64(loaded->graph.module));
  KERF_TRY(const ValueList wide, cloneInputs(loaded->inputs, true));
  return BenchWork([loaded, compiled, cast, wide]() -> Result<void> {
    KERF_CHECK(Interpreter(loaded->graph.module, referenceOps()).run(loaded->inputs));
    KERF_CHECK(Interpreter(cast, referenceOps()).run(wide));
    KERF_CHECK(compiled->run(loaded->inputs));
    return {};
  });
}

/// A planted fault found and cut down, with an empty verdict cache each time.
Result<BenchWork> prepareMinify(const fs::path& path) {
  KERF_TRY(const auto loaded, load(path));
  EngineOracleOptions options;
  options.compile.keepArtifacts = false;
  KERF_TRY(Fault fault, parseFault("relu=accuracy"));
  options.compile.faults.faults.push_back(std::move(fault));
  return BenchWork([loaded, options]() -> Result<void> {
    EngineOracle oracle(options);
    MemoryVerdictCache cache;
    const Candidate start{loaded->graph.module, loaded->inputs};
    const auto ignore = [](const MinifyProgress&, const Candidate*) { return Result<void>(); };
    KERF_TRY(const MinifyResult result, minify(start, oracle, cache, {}, ignore, {}));
    if (result.oneMinimal) return {};
    return fail(ErrorCode::Internal, "the minified graph of {} nodes is not minimal", measure(result.candidate).nodes);
  });
}

/// What passes cost that change nothing.
Result<BenchWork> prepareEmptyPasses(const fs::path& log) {
  KERF_TRY(const auto module, loadJointGraph(log));
  const Pass empty{.name = "empty", .run = [](GraphModule&, const PassContext&) { return Result<void>(); }};
  auto manager = std::make_shared<PassManager>(std::vector<Pass>(60, empty));
  auto run = std::make_shared<PassRun>(manager->start(*module));
  return BenchWork([manager, run] { return run->stage(PassStage::PostGrad); });
}

/// Every pass of every stage, as `kerf passes` runs them.
Result<BenchWork> prepareAllPasses(const fs::path& log) {
  KERF_TRY(const auto module, loadJointGraph(log));
  auto manager = std::make_shared<PassManager>(compilerPasses());
  KERF_CHECK(manager->run(*module));  // what is loaded once a process is there then
  return BenchWork([manager, module]() -> Result<void> {
    KERF_CHECK(manager->run(*module));
    return {};
  });
}

/// What the pass manager does after a pass that changed a graph.
Result<BenchWork> prepareLintAndHash(const fs::path& log) {
  KERF_TRY(const auto module, loadJointGraph(log));
  return BenchWork([module]() -> Result<void> {
    KERF_CHECK(module->graph.lint());
    return module->graph.contentHash() == Hash128() ? fail(ErrorCode::Internal, "a hash of zeros") : Result<void>();
  });
}

Result<Tensor> ones(const Sizes& sizes) {
  KERF_TRY(const Tensor one, Tensor::zeros(DType::Float32, sizes));
  std::fill_n(one.data<float>(), one.numel(), 1.0f);
  return one;
}

Result<BenchWork> prepareGemm(const fs::path&) {
  KERF_TRY(const Tensor a, ones({512, 512}));
  KERF_TRY(const Tensor b, ones({512, 512}));
  KERF_TRY(const Tensor out, ones({512, 512}));
  return BenchWork([a, b, out] {
    Tensor target = out;
    return gemm(a, b, target);
  });
}

Result<BenchWork> prepareConvolution(const fs::path&) {
  KERF_TRY(const Tensor image, ones({8, 64, 56, 56}));
  KERF_TRY(const Tensor filter, ones({64, 64, 3, 3}));
  KERF_TRY(const Tensor out, ones({8, 64, 56, 56}));
  const ConvolutionSpec spec{.stride = {1}, .padding = {1}};
  return BenchWork([=] { return convolutionInto(image, filter, {}, spec, out); });
}

}  // namespace

const std::vector<BenchCase>& benchCases() {
  static const std::string efficientnet = "golden/timm_test_efficientnet/repro/train_forward.py";
  static const std::string bert = "golden/bert_mini/repro/train_forward.py";
  static const std::string gpt2 = "traces/gpt2/dedicated_log_torch_trace_4u8yacx7.log";
  static const std::string mlp8 = "anchors/launcher/mlp8/minifier_launcher.py";
  static const std::string resnet = "anchors/launcher/resnet_timm/minifier_launcher.py";
  static const std::vector<BenchCase> own{
      {"import_efficientnet", "import of a repro.py without its data", 20, efficientnet, prepareImport},
      {"shapes_efficientnet", "shape propagation", 0, efficientnet, prepareShapes},
      {"compile_bert", "compile_fx with all kernels", 1000, bert, prepareCompile},
      {"passes_sixty_empty", "60 passes that change nothing, on a joint graph of 2,302 nodes", 6, gpt2,
       prepareEmptyPasses},
      {"passes_gpt2_joint", "all passes on that graph", 150, gpt2, prepareAllPasses},
      {"lint_hash_joint", "lint and content hash of that graph, as after a pass that changed it", 0, gpt2,
       prepareLintAndHash},
      {"interpret_bert", "one run in the interpreter", 0, bert, prepareInterpret},
      {"run_bert", "one run of the compiled graph", 0, bert, prepareRun},
      {"compare_bert", "interpreter, fp64 and compiled run, and the verdict; beside it the runs alone", 0, bert,
       prepareCompare, prepareThreeRuns},
      {"minify_mlp8", "87 nodes with a planted relu fault to a minimal graph", 300, mlp8, prepareMinify},
      {"minify_resnet", "359 nodes with a planted relu fault to a minimal graph", 1000, resnet, prepareMinify},
      {"gemm_512", "float32 matrix product, 512 x 512 x 512", 0, "", prepareGemm},
      {"convolution_64x56", "float32 3x3 convolution, [8, 64, 56, 56]", 0, "", prepareConvolution},
  };
  static const std::vector<BenchCase> cases = [] {
    auto all = own;
    for (auto& entry : importBenchCases()) all.push_back(std::move(entry));
    for (auto& entry : shapeBenchCases()) all.push_back(std::move(entry));
    for (auto& entry : partitionBenchCases()) all.push_back(std::move(entry));
    for (auto& entry : diffBenchCases()) all.push_back(std::move(entry));
    for (auto& entry : scaleBenchCases()) all.push_back(std::move(entry));
    return all;
  }();
  return cases;
}

}  // namespace kerf::bench
