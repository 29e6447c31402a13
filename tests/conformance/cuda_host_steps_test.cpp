// Which steps of the recorded graphs the cuda backend leaves to the host, counted without a device: calls that are no kernel, no
// view, no product of matrices, and no op of the device's own. A device's op may still refuse a call's arguments.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "engine/backend/cuda/device_ops.h"
#include "engine/backend/kernels/kernel_module.h"
#include "engine/capture/common/capture.h"
#include "engine/ir/parser.h"
#include "engine/ops/core/op_registry.h"
#include "engine/runtime/library_kernels.h"
#include "tests/support/recordings.h"

namespace kerf {
namespace {

namespace fs = std::filesystem;

struct HostSteps {
  int steps = 0;
  std::map<std::string, int> onHost;  ///< by op
};

bool runsOnDevice(const Node& node) {
  if (node.isCall("operator.getitem"_op) || libraryStepKind(node.target()) != StepKind::Call) return true;
  const OpInfo* const op = findOp(node);
  return op != nullptr && (has(op->traits, OpTrait::View) || findDeviceOp(op->schema.qualifiedName()) != nullptr);
}

HostSteps stepsOf(const std::shared_ptr<const GraphModule>& module) {
  HostSteps counted;
  const auto count = [&](const LoweredGraph& graph, const auto&, const BackendOptions&) -> Result<KernelCodes> {
    KernelCodes codes;
    for (const LoweredStep& step : graph.steps) {
      ++counted.steps;
      if (!step.isExtern) {
        codes.kernels.kernels.emplace_back();
        continue;
      }
      const Node& node = graph.values->graph().node(step.node);
      if (!runsOnDevice(node)) ++counted.onHost[std::string(node.target())];
    }
    return codes;
  };
  BackendOptions options;
  options.keepArtifacts = false;
  const auto lowered = lowerToKernels(module, options, count, {});
  EXPECT_TRUE(lowered) << lowered.error().text();
  if (lowered) {
    const auto compiled = (*lowered)->compile({});
    EXPECT_TRUE(compiled) << compiled.error().text();
  }
  return counted;
}

class CudaHostSteps : public ::testing::Test {
 protected:
  void count(const fs::path& file, const std::string& stage, const GraphModule& module) {
    const HostSteps counted = stepsOf(std::make_shared<const GraphModule>(module));
    EXPECT_GT(counted.steps, 0) << file;
    ++m_graphs;
    if (counted.onHost.empty()) return;
    std::string text;
    for (const auto& [op, n] : counted.onHost) text += fmt::format(" {} x {}", op, n), m_all[op] += n;
    fmt::print("{} {}: {} steps, on the host{}\n", fs::relative(file, recordingsFolder()).string(), stage,
               counted.steps, text);
  }
  void addTrace(const fs::path& file) {
    auto capture = importCapture(file);
    if (!capture) return;
    for (CapturedGraph& graph : capture->graphs) {
      const std::string stage = graph.origin.stage;
      const bool isAot = stage.starts_with("aot_") && stage.ends_with("_graph") && stage != "aot_joint_graph";
      if (!isAot || !graph.ensureLoaded()) continue;
      ASSERT_TRUE(propagateShapes(graph.module));
      count(file, stage, graph.module);
    }
  }
  void addGolden(const fs::path& file) {
    std::ifstream stream(file);
    std::stringstream text;
    text << stream.rdbuf();
    auto module = parseReadable(text.str());
    ASSERT_TRUE(module) << file << module.error().text();
    ASSERT_TRUE(propagateShapes(*module));
    count(file, "", *module);
  }

  std::map<std::string, int> m_all;
  int m_graphs = 0;
};

TEST_F(CudaHostSteps, OfTheRecordedGraphs) {
  for (const char* folder : {"traces", "variety", "golden"}) {
    if (!fs::exists(recordingsFolder() / folder)) GTEST_SKIP() << testing::leftOut(recordingsFolder() / folder);
    for (const auto& entry : fs::recursive_directory_iterator(recordingsFolder() / folder)) {
      const fs::path& path = entry.path();
      const std::string name = path.filename().string();
      if (path.extension() == ".log") addTrace(path);
      if (name == "train_forward.txt" || name == "train_backward.txt" || name == "infer_forward.txt") addGolden(path);
    }
  }
  EXPECT_GT(m_graphs, 40);
  // Graphs of graphs and complex numbers; seeds are the host's by their definition.
  const std::set<std::string> known{"torch.ops.aten._fft_r2c.default", "torch.ops.aten.abs.default",
                                    "torch.ops.higher_order.cond", "torch.ops.higher_order.flex_attention",
                                    "torch.ops.prims.inductor_seeds.default"};
  for (const auto& [op, n] : m_all)
    EXPECT_TRUE(known.contains(op) || !op.starts_with("torch.")) << op << " " << n << " times";
}

}  // namespace
}  // namespace kerf
