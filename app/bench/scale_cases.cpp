#include "app/bench/scale_cases.h"

#include <memory>

#include "engine/capture/text/capture.h"
#include "engine/pipeline/compile_fx.h"

namespace kerf::bench {
namespace {

namespace fs = std::filesystem;

constexpr int chainLayers = 10000;
constexpr int splitParts = 5000;

/// mm, mul and tanh, over and over, of which all layers share the weight: as many library calls as kernels.
std::string chainText() {
  const std::string type = R"(: "f32[8, 8][8, 1]cpu")";
  std::string text = "def forward(self, x" + type + ", w" + type + "):\n", last = "x";
  for (int i = 0; i < chainLayers; ++i) {
    text += fmt::format("    mm_{0}{1} = torch.ops.aten.mm.default({2}, w)\n", i, type, last);
    text += fmt::format("    mul_{0}{1} = torch.ops.aten.mul.Tensor(mm_{0}, 0.125)\n", i, type);
    text += fmt::format("    tanh_{0}{1} = torch.ops.aten.tanh.default(mul_{0})\n", i, type);
    last = fmt::format("tanh_{}", i);
  }
  return text + "    return (" + last + ",)\n";
}

/// One split of which each part is used, and one list of them all.
std::string splitText() {
  const std::string type = R"(: "f32[1][1]cpu")";
  std::string text = fmt::format("def forward(self, x: \"f32[{}][1]cpu\"):\n", splitParts), parts;
  text += "    split = torch.ops.aten.split.Tensor(x, 1)\n";
  for (int i = 0; i < splitParts; ++i) {
    text += fmt::format("    getitem_{0}{1} = split[{0}]\n", i, type);
    text += fmt::format("    neg_{0}{1} = torch.ops.aten.neg.default(getitem_{0})\n", i, type);
    parts += fmt::format("{}neg_{}", i == 0 ? "" : ", ", i);
  }
  return text + fmt::format("    cat: \"f32[{}][1]cpu\" = torch.ops.aten.cat.default([{}])\n    return (cat,)\n",
                            splitParts, parts);
}

Result<std::shared_ptr<CapturedGraph>> read(const std::string& text) {
  KERF_TRY(CapturedGraph captured, capturedFromReadable(text, {}));
  auto graph = std::make_shared<CapturedGraph>(std::move(captured));
  KERF_CHECK(graph->annotateShapes());
  return graph;
}

/// Inputs made up and the graph compiled.
Result<BenchWork> prepare(const std::string& text) {
  KERF_TRY(const auto graph, read(text));
  return BenchWork([graph]() -> Result<void> {
    KERF_CHECK(graph->loadInputs(false, nullptr));
    KERF_CHECK(compileFx(graph->module, {.keepArtifacts = false}));
    return {};
  });
}

Result<BenchWork> prepareChain(const fs::path&) { return prepare(chainText()); }
Result<BenchWork> prepareSplit(const fs::path&) { return prepare(splitText()); }

}  // namespace

std::vector<BenchCase> scaleBenchCases() {
  return {{"scale_chain", "compile 30,000 small calls one after another", 3000, "", prepareChain},
          {"scale_split", "compile a split of 5,000 parts", 3000, "", prepareSplit}};
}

}  // namespace kerf::bench
