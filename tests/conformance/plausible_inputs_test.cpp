// Inputs made up after their uses: every recorded overload runs on them and stays finite, and so does every recorded
// repro without its storages.
#include <cmath>
#include <fstream>
#include <set>

#include "engine/capture/inputs/generated_inputs.h"
#include "engine/conformance/recorded_call.h"
#include "engine/conformance/recorded_calls.h"
#include "engine/ir/interpreter.h"
#include "engine/ops/core/op_registry.h"
#include "tests/support/recordings.h"
#include "tests/unit/capture_testing.h"

namespace kerf {
namespace {

namespace fs = std::filesystem;

bool isFinite(const Value& value) {
  if (value.isList()) return std::ranges::all_of(value.list(), [](const Value& item) { return isFinite(item); });
  if (!value.isTensor() || !isFloating(value.tensor().dtype())) return true;
  const auto wide = value.tensor().to(DType::Float64);
  const auto dense = wide ? wide->contiguous() : wide;
  if (!dense) return true;
  const double* elements = dense->data<double>();
  return std::all_of(elements, elements + dense->numel(), [](double element) { return std::isfinite(element); });
}

/// A graph of one call, its tensors being placeholders.
class CallGraph {
 public:
  explicit CallGraph(const RecordedCall& call) {
    ArgumentList args;
    KeywordArguments kwargs;
    for (const Value& value : call.args) args.push_back(argumentOf(value));
    for (const auto& [name, value] : call.kwargs) kwargs.emplace_back(name, argumentOf(value));
    const NodeId node = module.graph.callFunction("torch.ops." + call.op, std::move(args), std::move(kwargs));
    module.graph.output(Argument::tuple({node}));
  }

  GraphModule module;
  bool isWhole = true;  ///< every value of the call has a form in a graph

 private:
  Argument argumentOf(const Value& value) {
    if (value.isNone()) return {};
    if (value.isTensor()) return placeholderFor(value.tensor());
    if (const auto* flag = value.as<bool>()) return *flag;
    if (const auto* integer = value.as<std::int64_t>()) return *integer;
    if (const auto* real = value.as<double>()) return *real;
    if (const auto* text = value.as<std::string>()) return *text;
    if (const auto* dtype = value.as<DType>()) return *dtype;
    if (value.isList()) {
      ArgumentList items;
      for (const Value& item : value.list()) items.push_back(argumentOf(item));
      return Argument::list(std::move(items));
    }
    isWhole = false;
    return {};
  }

  Argument placeholderFor(const Tensor& tensor) {
    const NodeId id = module.graph.placeholder(fmt::format("x{}", m_count++));
    TensorMeta meta;
    meta.dtype = tensor.dtype();
    for (const std::int64_t size : tensor.sizes()) meta.sizes.push_back(dim(size));
    module.graph.setValueMeta(id, {std::move(meta)});
    return id;
  }

  int m_count = 0;
};

/// What happens to one call on inputs that are made up: empty if it runs and stays finite.
std::string problemOf(const RecordedCall& call) {
  const CallGraph graph(call);
  if (!graph.isWhole || graph.module.graph.placeholders().empty()) return {};
  const auto inputs = generateInputs(graph.module, {});
  if (!inputs) return inputs.error().text();
  const auto result = Interpreter(graph.module, referenceOps()).run(*inputs);
  if (!result) return result.error().text();
  return isFinite(*result) ? std::string() : "not finite";
}

TEST(PlausibleInputs, EveryRecordedOverloadRunsAndStaysFinite) {
  const auto file = recordedCallsFile(recordingsFolder() / "opinfo");
  if (!file) GTEST_SKIP() << testing::leftOut(recordingsFolder() / "opinfo");
  const auto tensors = readSafetensors(fs::path(*file).replace_extension(".safetensors"));
  ASSERT_TRUE(tensors) << tensors.error().text();
  std::ifstream lines(*file);
  std::set<std::string> seen;
  std::size_t checked = 0;
  for (std::string text; std::getline(lines, text);) {
    const auto call = readRecordedCall(text, *tensors);
    ASSERT_TRUE(call) << call.error().text();
    // One call of each overload, and only such as PyTorch itself gave finite results for.
    const bool wasFinite = std::ranges::all_of(call->out, isFinite);
    const bool hasElements = std::ranges::all_of(call->tensorArguments, [](const Tensor& t) { return t.numel() > 0; });
    if (!wasFinite || !hasElements || !seen.insert(call->op).second) continue;
    ++checked;
    const std::string problem = problemOf(*call);
    EXPECT_TRUE(problem.empty()) << call->op << " (call " << call->id << "): " << problem;
  }
  EXPECT_GE(checked, 20u);
}

TEST(PlausibleInputs, RecordedReprosRunWithoutTheirStorages) {
  std::size_t checked = 0;
  std::error_code absent;
  for (const auto& entry : fs::recursive_directory_iterator(recordingsFolder() / "golden", absent)) {
    if (entry.path().extension() != ".py") continue;
    SCOPED_TRACE(entry.path().string());
    auto capture = importCapture(entry.path());
    ASSERT_TRUE(capture) << capture.error().text();
    CapturedGraph& graph = capture->graphs.at(0);
    graph.storageDirectory = "/nowhere";
    const auto inputs = graph.loadInputs(LoadOptions{}, nullptr);
    ASSERT_TRUE(inputs) << inputs.error().text();
    const auto result = Interpreter(graph.module, referenceOps()).run(*inputs);
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_TRUE(isFinite(*result));
    ++checked;
  }
  if (absent) GTEST_SKIP() << testing::leftOut(recordingsFolder() / "golden");
  EXPECT_GE(checked, 3u);
}

}  // namespace
}  // namespace kerf
