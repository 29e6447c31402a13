// The recorded .pt2 archives: opened, run on the recorded inputs, fp32 against out*, fp64 (after the cast) against
// out64_*.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "engine/capture/pt2/import.h"
#include "engine/capture/pt2/inputs.h"
#include "engine/ir/interpreter.h"
#include "engine/ops/core/op_registry.h"
#include "engine/pipeline/dtype_module.h"
#include "engine/support/recordings.h"
#include "engine/tensor/safetensors.h"

namespace kerf {
namespace {

namespace fs = std::filesystem;

fs::path golden() { return recordingsFolder() / "golden"; }

std::vector<std::string> archives() {
  std::vector<std::string> found;
  std::error_code missing;
  for (const auto& model : fs::directory_iterator(golden(), missing))
    for (const char* name : {"model.pt2", "model_core_aten.pt2"})
      if (fs::exists(model.path() / name)) found.push_back(model.path().filename().string() + "/" + name);
  std::sort(found.begin(), found.end());
  return found;
}

/// Largest |a - b| divided by the largest |b|.
double relativeError(const Tensor& a, const Tensor& b) {
  double worst = 0, scale = 0;
  for (std::int64_t i = 0; i < b.numel(); ++i) {
    const double x = a.itemAsDouble(i), y = b.itemAsDouble(i);
    scale = std::max(scale, std::abs(y));
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    worst = std::isfinite(x - y) ? std::max(worst, std::abs(x - y)) : INFINITY;
  }
  return scale > 0 ? worst / scale : worst;
}

ValueList recorded(const SafetensorsFile& io, std::string_view prefix) {
  ValueList values;
  for (;;) {
    const Tensor* tensor = io.find(fmt::format("{}{}", prefix, values.size()));
    if (tensor == nullptr) return values;
    values.push_back(*tensor);
  }
}

class Pt2Archives : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    auto capture = importPt2(golden() / GetParam(), {}, {});
    ASSERT_TRUE(capture.has_value()) << capture.error().text();
    ASSERT_EQ(capture->graphs.size(), 1u);
    m_graph = std::move(capture->graphs[0]);
    auto io = readSafetensors((golden() / GetParam()).parent_path() / "eval_io.safetensors");
    ASSERT_TRUE(io.has_value()) << io.error().text();
    m_io = std::move(*io);
  }

  void expectOutputs(const Result<Value>& result, std::string_view prefix, double tolerance) {
    ASSERT_TRUE(result.has_value()) << result.error().text();
    const ValueList expected = recorded(m_io, prefix);
    ASSERT_FALSE(expected.empty());
    const std::vector<std::size_t> places = userOutputs(m_graph, result->list().size());
    ASSERT_EQ(places.size(), expected.size());
    for (std::size_t i = 0; i < places.size(); ++i) {
      const Value& value = result->list()[places[i]];
      ASSERT_TRUE(value.isTensor());
      EXPECT_EQ(value.tensor().sizes(), expected[i].tensor().sizes());
      EXPECT_EQ(value.tensor().dtype(), expected[i].tensor().dtype());
      EXPECT_LE(relativeError(value.tensor(), expected[i].tensor()), tolerance) << prefix << i;
    }
  }

  CapturedGraph m_graph;
  SafetensorsFile m_io;
};

TEST_P(Pt2Archives, ReproducesTheRecordedOutputs) {
  const auto inputs = loadInputsWith(m_graph, recorded(m_io, "in"), true, nullptr);
  ASSERT_TRUE(inputs.has_value()) << inputs.error().text();
  expectOutputs(Interpreter(m_graph.module, referenceOps()).run(*inputs), "out", 1e-5);
  // In-place ops of export graphs write to their inputs: the fp64 run starts from fresh ones.
  const auto again = loadInputsWith(m_graph, recorded(m_io, "in"), true, nullptr);
  ASSERT_TRUE(again.has_value()) << again.error().text();
  const auto cast = castGraph(m_graph.module, *again, DType::Float64);
  ASSERT_TRUE(cast.has_value()) << cast.error().text();
  expectOutputs(Interpreter(cast->module, referenceOps()).run(cast->inputs), "out64_", 1e-12);
}

std::vector<std::string> archivesOrNone() {
  std::vector<std::string> found = archives();
  if (found.empty()) found.push_back("missing");
  return found;
}

std::string testName(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Golden, Pt2Archives, ::testing::ValuesIn(archivesOrNone()), testName);

}  // namespace
}  // namespace kerf
