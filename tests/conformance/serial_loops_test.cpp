// Recorded calls of PyTorch whose ops write at computed places or scan, as generated loops: what was recorded comes out.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>

#include "engine/conformance/recorded_call.h"
#include "engine/conformance/recorded_calls.h"
#include "engine/ops/core/op_tracer.h"
#include "engine/pipeline/compile_fx.h"
#include "engine/support/recordings.h"

namespace kerf {
namespace {

/// A graph of the one call, whose tensors are its inputs.
class OneCall {
 public:
  explicit OneCall(const RecordedCall& call) : m_tracer(module) {
    ValueList args;
    for (const Value& value : call.args) args.push_back(given(value));
    KeywordValues kwargs;
    for (const auto& [name, value] : call.kwargs) kwargs.push_back({name, given(value)});
    const auto result = m_tracer.call(OpTarget("torch.ops." + call.op), args, kwargs);
    EXPECT_TRUE(result) << (result ? "" : result.error().text());
    if (!result) return;
    ArgumentList outputs;
    for (const Value& item : result->isList() ? result->list() : ValueList{*result})
      outputs.push_back(*m_tracer.argumentOf(item));
    module.graph.output(Argument::tuple(std::move(outputs)));
  }

  GraphModule module;
  ValueList inputs;

 private:
  Value given(const Value& value) {
    if (value.isTensor()) {
      inputs.push_back(value);
      return *m_tracer.placeholder(fmt::format("x{}", inputs.size()), value);
    }
    if (!value.isList()) return value;
    ValueList items;
    for (const Value& item : value.list()) items.push_back(given(item));
    return items;
  }

  OpTracer m_tracer;
};

double roundingOf(DType dtype) {
  if (dtype == DType::Float64) return 1e-12;
  if (dtype == DType::BFloat16) return 2e-2;
  return dtype == DType::Float16 ? 2e-3 : isFloating(dtype) ? 1e-5 : 0;
}

void expectLike(const Tensor& recorded, const Tensor& given, const std::string& what) {
  ASSERT_EQ(recorded.dtype(), given.dtype()) << what;
  ASSERT_EQ(recorded.sizes(), given.sizes()) << what;
  for (std::int64_t i = 0; i < recorded.numel(); ++i) {
    const double a = recorded.itemAsDouble(i), b = given.itemAsDouble(i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    ASSERT_LE(std::abs(a - b), roundingOf(recorded.dtype()) * (1 + std::abs(a))) << what << ", element " << i;
  }
}

/// Whether the call became loops.
bool isGenerated(const CompiledGraph& graph) {
  return std::ranges::none_of(graph.kernels(), [](const KernelInfo& kernel) { return kernel.kind == "extern"; });
}

bool isComplexCall(const RecordedCall& call) {
  return std::ranges::any_of(call.tensorArguments, [](const Tensor& tensor) { return isComplex(tensor.dtype()); });
}

TEST(SerialLoops, GiveWhatWasRecorded) {
  const auto file = recordedCallsFile(recordingsFolder() / "opinfo");
  ASSERT_TRUE(file) << "no recorded calls in the recordings";
  const SafetensorsFile tensors =
      readSafetensors(std::filesystem::path(*file).replace_extension(".safetensors")).value();
  std::map<std::string, int> generated;
  int calls = 0;
  std::ifstream lines(*file);
  for (std::string line; std::getline(lines, line);) {
    const RecordedCall call = readRecordedCall(line, tensors).value();
    const OpInfo* const op = findOp(call.op);
    if (op == nullptr || (op->lowering.writes == nullptr && !op->lowering.scan) || isComplexCall(call)) continue;
    const std::string what = fmt::format("{} (call {})", call.op, call.id);
    const OneCall one(call);
    const auto graph = compileFx(one.module, {});
    ASSERT_TRUE(graph) << what << ": " << graph.error().text();
    generated[call.op] += isGenerated(**graph);
    ++calls;
    const auto result = (*graph)->run(one.inputs);
    ASSERT_TRUE(result) << what << ": " << result.error().text();
    ASSERT_EQ(result->list().size(), call.out.size()) << what;
    for (std::size_t i = 0; i < call.out.size(); ++i)
      expectLike(call.out[i].tensor(), result->list()[i].tensor(), what);
  }
  int loops = 0;
  for (const auto& [op, count] : generated) loops += count;
  EXPECT_GE(generated.size(), 12u);
  EXPECT_GE(loops * 10, calls * 7) << loops << " of " << calls;
  std::cout << loops << " of " << calls << " calls of " << generated.size() << " overloads are loops\n";
}

}  // namespace
}  // namespace kerf
