// The cuda backend: code without a GPU, results with one, and what it says where something is missing.
#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "engine/codegen_cuda/nvrtc.h"
#include "engine/ir/parser.h"
#include "engine/pipeline/compile_fx.h"
#include "tests/support/graph_fixture.h"
#include "tests/support/recordings.h"

namespace kerf {
namespace {

using ::testing::HasSubstr;
using testing_support::expectClose;
using testing_support::GraphFixture;

struct Chain : GraphFixture {
  Chain() {
    const NodeId x = input("x", DType::Float32, {8, 8}), bias = input("bias", DType::Float32, {8});
    const NodeId product = call("aten.addmm.default", {bias, x, x});
    const NodeId relu = call("aten.relu.default", {product});
    output({relu, call("aten._softmax.default", {relu, Argument(std::int64_t(1)), Argument(false)})});
  }
};

TEST(CudaBackend, MakesCodeWithoutAGpu) {
  const Chain chain;
  const auto graph = compileFx(chain.module, {.backend = "cuda"});
  if (const auto version = nvrtcVersion(); !version) {
    ASSERT_FALSE(graph);
    EXPECT_EQ(graph.error().code, ErrorCode::Environment);
    EXPECT_THAT(graph.error().text(), HasSubstr("libnvrtc.so"));
    return;
  }
  ASSERT_TRUE(graph) << graph.error().text();
  int fused = 0;
  for (const KernelInfo& kernel : (*graph)->kernels()) {
    if (kernel.kind != "fused") continue;
    ++fused;
    EXPECT_THAT(std::string(kernel.text("cuda")), HasSubstr("// " + kernel.nodes.front()));
    EXPECT_THAT(std::string(kernel.text("ptx")), HasSubstr(".visible .entry cuda_" + kernel.name.substr(4)));
    EXPECT_THAT(std::string(kernel.text("loop")), HasSubstr("kernel " + kernel.name));
  }
  EXPECT_GE(fused, 1);
}

TEST(CudaBackend, RunsOrSaysThatThereIsNoDevice) {
  if (const auto version = nvrtcVersion(); !version) GTEST_SKIP() << version.error().text();
  const Chain chain;
  const auto graph = compileFx(chain.module, {.backend = "cuda"});
  ASSERT_TRUE(graph) << graph.error().text();
  for (int round = 0; round < 2; ++round) {
    const auto result = (*graph)->run(chain.inputs);
    if (!result) {
      EXPECT_EQ(result.error().code, ErrorCode::Environment);
      EXPECT_THAT(result.error().text(), HasSubstr("CUDA"));
      continue;
    }
    for (const std::size_t i : {0, 1})
      expectClose(chain.interpret()->list()[i].tensor(), result->list()[i].tensor(), 1e-5, "cuda");
  }
}

/// Graphs that PyTorch 2.11 recorded of small models: each fusion group compiles.
class CudaRecordings : public ::testing::TestWithParam<const char*> {};

TEST_P(CudaRecordings, EveryFusionGroupCompiles) {
  if (const auto version = nvrtcVersion(); !version) GTEST_SKIP() << version.error().text();
  const auto path = recordingsFolder() / "golden" / GetParam();
  std::ifstream file(path);
  if (!file) GTEST_SKIP() << testing::leftOut(path);
  std::stringstream text;
  text << file.rdbuf();
  const auto module = parseReadable(text.str());
  ASSERT_TRUE(module) << module.error().text();
  const auto graph = compileFx(*module, {.backend = "cuda"});
  ASSERT_TRUE(graph) << graph.error().text();
  int compiled = 0;
  for (const KernelInfo& kernel : (*graph)->kernels()) {
    if (kernel.kind != "fused" || kernel.name.find('/') != std::string::npos) continue;
    EXPECT_FALSE(kernel.text("ptx").empty()) << kernel.name;
    ++compiled;
  }
  EXPECT_GT(compiled, 0);
}

INSTANTIATE_TEST_SUITE_P(Golden, CudaRecordings,
                         ::testing::Values("attention/train_forward.txt", "attention/train_backward.txt",
                                           "bert_mini/train_forward.txt", "bert_mini/train_backward.txt",
                                           "convbn/train_forward.txt", "convbn/train_backward.txt",
                                           "convnext_mini/train_forward.txt", "convnext_mini/train_backward.txt",
                                           "dlrm/train_forward.txt", "dlrm/train_backward.txt",
                                           "gpt2_mini/train_forward.txt", "gpt2_mini/train_backward.txt",
                                           "mlp/train_forward.txt", "mlp/train_backward.txt"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name)
                             if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
                           return name;
                         });

}  // namespace
}  // namespace kerf
