// The graphs of the recorded traces, run node by node on generated inputs: every value has the dtype, sizes and strides
// that PyTorch annotated. One graph per model; all of them with KERF_SLOW=1.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "engine/capture/common/capture.h"
#include "engine/capture/inputs/generated_inputs.h"
#include "engine/ir/interpreter.h"
#include "engine/ops/core/op_registry.h"
#include "engine/support/recordings.h"
#include "engine/symbolic/symbolic.h"

namespace kerf {
namespace {

namespace fs = std::filesystem;

bool slow() {
  const char* given = std::getenv("KERF_SLOW");
  return given && std::string_view(given) == "1";
}

fs::path logOf(const fs::path& folder) {
  if (!fs::exists(folder)) return {};
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".log") return entry.path();
  return {};
}

/// Symbols without a recorded value get one that every graph takes.
SymbolBindings valuesFor(const CapturedGraph& graph, std::int64_t value) {
  SymbolBindings values;
  for (const SymExpr& symbol : graph.symbols()) values[symbol.text] = symbol.hint.value_or(value);
  return values;
}

struct Compared {
  int tensors = 0;
  std::vector<std::string> different;
};

/// Strides of dimensions that have more than one element; the others address nothing.
Sizes realStrides(const Sizes& sizes, const Sizes& strides) {
  Sizes result;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] > 1) result.push_back(strides[i]);
  return result;
}

void compareMeta(const Node& node, const Tensor& tensor, const TensorMeta& meta, bool exactStrides,
                 Compared& compared) {
  const auto sizes = meta.concreteSizes();
  const auto strides = meta.concreteStrides();
  if (!sizes) return;
  ++compared.tensors;
  const auto add = [&](std::string what) { compared.different.push_back(node.name() + ": " + std::move(what)); };
  if (tensor.dtype() != meta.dtype)
    add(fmt::format("dtype {} instead of {}", dtypeInfo(tensor.dtype()).torchName, dtypeInfo(meta.dtype).torchName));
  else if (tensor.sizes() != *sizes)
    add(fmt::format("sizes [{}] instead of [{}]", fmt::join(tensor.sizes(), ", "), fmt::join(*sizes, ", ")));
  else if (exactStrides && strides && strides->size() == sizes->size() &&
           realStrides(*sizes, tensor.strides()) != realStrides(*sizes, *strides) && tensor.numel() > 0)
    add(fmt::format("strides [{}] instead of [{}]", fmt::join(tensor.strides(), ", "), fmt::join(*strides, ", ")));
}

/// Runs one graph; adds a failure where it cannot run or a value is not what the annotation says. Symbols have their
/// recorded value, or `scale` times it and one more.
void runGraph(CapturedGraph& graph, const std::string& title, std::int64_t scale = 0) {
  const auto loaded = graph.ensureLoaded();
  ASSERT_TRUE(loaded) << title << ": " << loaded.error().text();
  LoadOptions options;
  options.symbols = valuesFor(graph, 6);
  if (scale != 0)
    for (auto& [name, value] : options.symbols) value = scale * value + 1;
  bindAnnotations(graph.module, options.symbols);
  const auto inputs = graph.loadInputs(options, nullptr);
  ASSERT_TRUE(inputs) << title << ": " << inputs.error().text();
  Compared compared;
  // Dynamo's graphs leave the choice of an attention kernel, and so its layout, to the device.
  const bool exactStrides = title.find("dynamo_") == std::string::npos && title.find("pre_grad") == std::string::npos;
  Interpreter interpreter(graph.module, referenceOps());
  interpreter.onNode = [&](const Node& node, const Value& value) {
    if (const TensorMeta* meta = node.meta().value.tensor(); meta && value.isTensor())
      compareMeta(node, value.tensor(), *meta, exactStrides, compared);
  };
  const auto start = std::chrono::steady_clock::now();
  const auto result = interpreter.run(*inputs);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  // Inductor lays saved values out anew; its program then has views that eager PyTorch refuses as well.
  const bool eagerFails = !result && graph.origin.stage == "fx_graph_runnable" &&
                          result.error().message.find("without a copy") != std::string::npos;
  EXPECT_TRUE(result || eagerFails) << title << ": " << (result ? "" : result.error().text());
  fmt::print("{:<70} {:>5} nodes {:>5} values checked {:>7.2f} s{}\n", title, graph.module.graph.size(),
             compared.tensors, seconds.count(),
             result       ? ""
             : eagerFails ? "  refuses a view, as PyTorch"
                          : "  FAILED");
  EXPECT_TRUE(compared.different.empty()) << title << ": " << compared.different.size()
                                          << " values differ from the annotation, first " << compared.different.front();
}

bool isAotGraph(const std::string& stage) { return stage.starts_with("aot_") && stage.ends_with("_graph"); }
/// The quickest graph of a model that contains all of its forward ops.
bool isDefault(const std::string& stage) { return stage == "aot_forward_graph" || stage == "aot_inference_graph"; }

class TraceGraphs : public ::testing::TestWithParam<std::string> {};

TEST_P(TraceGraphs, RunOnGeneratedInputs) {
  const fs::path log = logOf(recordingsFolder() / "traces" / GetParam());
  ASSERT_FALSE(log.empty()) << "no trace of " << GetParam() << " in " << recordingsFolder();
  auto capture = importCapture(log);
  ASSERT_TRUE(capture) << capture.error().text();
  int runs = 0;
  for (CapturedGraph& graph : capture->graphs) {
    const std::string stage = graph.origin.stage;
    if (!slow() && !isDefault(stage)) continue;
    runGraph(graph, GetParam() + " " + graph.name);
    graph.module = {};  // one graph at a time in memory
    ++runs;
  }
  EXPECT_GE(runs, 1) << "the log has no AOT graph";
}

INSTANTIATE_TEST_SUITE_P(Corpus, TraceGraphs,
                         ::testing::Values("mobilenet_v3_small", "efficientnet_b0", "vit_b_16", "bert_base", "gpt2",
                                           "llama_8l", "convnext_seed"),
                         [](const auto& info) { return info.param; });

class VarietyGraphs : public ::testing::TestWithParam<std::string> {};

TEST_P(VarietyGraphs, RunOnGeneratedInputs) {
  const fs::path log = logOf(recordingsFolder() / "variety" / GetParam() / "trace");
  ASSERT_FALSE(log.empty()) << "no trace of " << GetParam() << " in " << recordingsFolder();
  auto capture = importCapture(log);
  ASSERT_TRUE(capture) << capture.error().text();
  int runs = 0;
  for (CapturedGraph& graph : capture->graphs) {
    if (!isAotGraph(graph.origin.stage)) continue;
    runGraph(graph, GetParam() + " " + graph.name);
    if (!graph.symbols().empty()) runGraph(graph, GetParam() + " " + graph.name + " at another size", 2);
    ++runs;
  }
  EXPECT_GE(runs, 1) << "the log has no AOT graph";
}

INSTANTIATE_TEST_SUITE_P(Corpus, VarietyGraphs,
                         ::testing::Values("compiled_autograd", "complex_fft", "cond_hop", "dropout_rng", "dynamic_mlp",
                                           "flex_attention_cuda", "graph_breaks", "inplace_alias", "int8_quant"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace kerf
