// Composite ops over recorded calls: the traced graph, run by the interpreter, gives what the program itself gives.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>

#include "engine/ir/interpreter.h"
#include "engine/ops/core/op_call.h"
#include "engine/ops/core/op_tracer.h"
#include "engine/ops/core/recorded_call.h"
#include "engine/ops/core/recorded_calls.h"

namespace kerf {
namespace {

std::filesystem::path corpus() {
  const char* given = std::getenv("KERF_CORPUS");
  return given ? std::filesystem::path(given) : std::filesystem::path(KERF_SOURCE_DIR) / ".." / "shared" / "corpus";
}

void collectTensors(const Value& value, ValueList& tensors) {
  if (value.isTensor()) tensors.push_back(value);
  if (!value.isList()) return;
  for (const Value& item : value.list()) collectTensors(item, tensors);
}

std::string differenceOf(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.sizes() != b.sizes()) return "dtype or shape differs";
  if (a.strides() != b.strides()) return "strides differ";
  const Tensor left = a.contiguous().value(), right = b.contiguous().value();
  const auto bytes = std::size_t(left.byteSize());
  return bytes == 0 || std::memcmp(left.data<char>(), right.data<char>(), bytes) == 0 ? "" : "elements differ";
}

/// Both results flattened; the traced graph gives a list where the program does.
std::string differenceOf(const Value& a, const Value& b) {
  ValueList left, right;
  collectTensors(a, left);
  collectTensors(b, right);
  if (left.size() != right.size()) return "number of tensors differs";
  for (std::size_t i = 0; i < left.size(); ++i)
    if (const std::string text = differenceOf(left[i].tensor(), right[i].tensor()); !text.empty()) return text;
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
  return differenceOf(*direct, *viaGraph);
}

class CompositeReadings : public testing::Test {
 protected:
  void SetUp() override {
    const auto file = recordedCallsFile(corpus() / "opinfo");
    if (!file) GTEST_SKIP() << "no recorded calls below " << corpus() << "; set KERF_CORPUS";
    tensors = readSafetensors(std::filesystem::path(*file).replace_extension(".safetensors")).value();
    std::ifstream lines(*file);
    for (std::string line; std::getline(lines, line);) check(readRecordedCall(line, tensors).value());
  }

  void check(const RecordedCall& call) {
    const OpInfo* op = findOp(call.op);
    if (!op || !op->composite || has(op->traits, OpTrait::Inplace)) return;
    ++calls[call.op];
    if (const std::string text = compareReadings(*op, call); !text.empty())
      failures.push_back(fmt::format("{} (call {}): {}", call.op, call.id, text));
  }

  SafetensorsFile tensors;
  std::map<std::string, int> calls;
  std::vector<std::string> failures;
};

TEST_F(CompositeReadings, TracedGraphsGiveWhatTheProgramsGive) {
  for (const std::string& failure : failures) ADD_FAILURE() << failure;
  int total = 0;
  for (const auto& [op, count] : calls) total += count;
  std::cout << calls.size() << " composite overloads, " << total << " calls\n";
  EXPECT_GE(calls.size(), 15u);
}

}  // namespace
}  // namespace kerf
