// Programs over recorded calls. Composite ops: the traced graph, run by the interpreter, gives what the op itself
// gives, bit by bit. Decompositions of ops with kernels: it gives the same numbers but for rounding.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <map>

#include "engine/conformance/recorded_call.h"
#include "engine/conformance/recorded_calls.h"
#include "engine/ir/interpreter.h"
#include "engine/ops/core/op_call.h"
#include "engine/ops/core/op_tracer.h"
#include "engine/support/recordings.h"

namespace kerf {
namespace {

void collectTensors(const Value& value, ValueList& tensors) {
  if (value.isTensor()) tensors.push_back(value);
  if (!value.isList()) return;
  for (const Value& item : value.list()) collectTensors(item, tensors);
}

enum class Agreement { Bitwise, Rounding };

/// A few units in the last place of the results' dtype.
double toleranceOf(DType dtype) {
  if (dtype == DType::Float64) return 1e-12;
  if (dtype == DType::BFloat16) return 2e-2;
  return dtype == DType::Float16 ? 2e-3 : 1e-5;
}

std::string roundedDifference(const Tensor& a, const Tensor& b) {
  const double tolerance = toleranceOf(a.dtype());
  for (std::int64_t i = 0; i < a.numel(); ++i) {
    const double x = a.itemAsDouble(i), y = b.itemAsDouble(i);
    const bool same = x == y || (std::isnan(x) && std::isnan(y)) || std::abs(x - y) <= tolerance * (1 + std::abs(y));
    if (!same) return fmt::format("element {}: {} and {}", i, y, x);
  }
  return "";
}

std::string differenceOf(const Tensor& a, const Tensor& b, Agreement agreement) {
  if (a.dtype() != b.dtype() || a.sizes() != b.sizes()) return "dtype or shape differs";
  if (agreement == Agreement::Rounding) return roundedDifference(a, b);
  if (a.strides() != b.strides()) return "strides differ";
  const Tensor left = a.contiguous().value(), right = b.contiguous().value();
  const auto bytes = std::size_t(left.byteSize());
  return bytes == 0 || std::memcmp(left.data<char>(), right.data<char>(), bytes) == 0 ? "" : "elements differ";
}

/// Both results flattened; the traced graph gives a list where the program does.
std::string differenceOf(const Value& a, const Value& b, Agreement agreement) {
  ValueList left, right;
  collectTensors(a, left);
  collectTensors(b, right);
  if (left.size() != right.size()) return "number of tensors differs";
  for (std::size_t i = 0; i < left.size(); ++i)
    if (const std::string text = differenceOf(left[i].tensor(), right[i].tensor(), agreement); !text.empty())
      return text;
  return "";
}

/// Arguments of the traced graph in the order of its placeholders.
ValueList inputsOf(const OpInfo& op, const RecordedCall& call) {
  const auto bound = bindArguments(op, call.args, call.kwargs);
  ValueList inputs;
  for (const Value& value : bound.value().values) collectTensors(value, inputs);
  return inputs;
}

/// Empty when both readings agree; what differs or why there is no trace otherwise.
std::string compareReadings(const OpInfo& op, const RecordedCall& call) {
  const auto traced = traceCall(op, call.args, call.kwargs);
  if (!traced) return "no trace: " + traced.error().text();
  const auto direct = referenceOps().call(op.id, call.args, call.kwargs);
  const auto viaGraph = Interpreter(*traced, referenceOps()).run(inputsOf(op, call));
  if (!direct || !viaGraph) return "does not run: " + (direct ? viaGraph : direct).error().text();
  return differenceOf(*direct, *viaGraph, op.composite ? Agreement::Bitwise : Agreement::Rounding);
}

class ProgramReadings : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto file = recordedCallsFile(recordingsFolder() / "opinfo");
    ASSERT_TRUE(file) << "no recorded calls in the recordings";
    tensors = readSafetensors(std::filesystem::path(*file).replace_extension(".safetensors")).value();
    std::ifstream lines(*file);
    for (std::string line; std::getline(lines, line);) check(readRecordedCall(line, tensors).value());
  }

  void check(const RecordedCall& call) {
    const OpInfo* op = findOp(call.op);
    if (!op || !op->decomposition || has(op->traits, OpTrait::Inplace)) return;
    ++(op->composite ? composites : decompositions)[call.op];
    if (const std::string text = compareReadings(*op, call); !text.empty())
      failures.push_back(fmt::format("{} (call {}): {}", call.op, call.id, text));
  }

  SafetensorsFile tensors;
  std::map<std::string, int> composites, decompositions;  ///< calls by overload
  std::vector<std::string> failures;
};

TEST_F(ProgramReadings, TracedGraphsGiveWhatTheProgramsGive) {
  for (const std::string& failure : failures) ADD_FAILURE() << failure;
  EXPECT_GE(composites.size(), 20u);
  EXPECT_GE(decompositions.size(), 8u);
}

}  // namespace
}  // namespace kerf
