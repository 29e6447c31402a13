// Decomposition tables over recorded calls: what a trace writes in place of an op gives what the op gives. And exported
// models, decomposed here, against the graphs that PyTorch's run_decompositions() made of them.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>

#include "engine/autograd/decompose.h"
#include "engine/capture/common/capture.h"
#include "engine/conformance/recorded_call.h"
#include "engine/conformance/recorded_calls.h"
#include "engine/ir/interpreter.h"
#include "engine/ops/core/decomposition_tables.h"
#include "engine/ops/core/op_call.h"
#include "engine/ops/core/symbolic_checks.h"
#include "tests/support/recordings.h"

namespace kerf {
namespace {

void collectTensors(const Value& value, ValueList& tensors) {
  if (value.isTensor()) tensors.push_back(value);
  if (!value.isList()) return;
  for (const Value& item : value.list()) collectTensors(item, tensors);
}

/// A few units in the last place of the results' dtype, of what several steps of it leave.
double toleranceOf(DType dtype) {
  if (dtype == DType::Float64 || dtype == DType::Complex128) return 1e-10;
  if (dtype == DType::BFloat16) return 2e-2;
  return dtype == DType::Float16 ? 2e-3 : 2e-5;
}

std::string complexDifferenceOf(const Tensor& a, const Tensor& b, double tolerance) {
  const auto close = callOp("aten.allclose.default"_op, {a, b, tolerance, tolerance, true});
  return close && *close->as<bool>() ? "" : "complex elements differ";
}

std::string differenceOf(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype()) return fmt::format("dtype {}", dtypeInfo(a.dtype()).torchName);
  if (a.sizes() != b.sizes()) return fmt::format("sizes [{}]", fmt::join(a.sizes(), ", "));
  const double tolerance = toleranceOf(a.dtype());
  const Tensor left = a.contiguous().value(), right = b.contiguous().value();
  if (isComplex(a.dtype())) return complexDifferenceOf(left, right, tolerance);
  for (std::int64_t i = 0; i < a.numel(); ++i) {
    const double x = left.itemAsDouble(i), y = right.itemAsDouble(i);
    const bool same = x == y || (std::isnan(x) && std::isnan(y)) || std::abs(x - y) <= tolerance * (1 + std::abs(y));
    if (!same) return fmt::format("element {}: {} and not {}", i, x, y);
  }
  return "";
}

/// One recorded call under one table.
struct Comparison {
  bool replaced = false;
  std::string failure;
  bool sameStrides = true;
};

struct TracedCall {
  GraphModule module;
  bool replaced = false;
};

Result<TracedCall> traceUnder(DecompositionTable table, const OpInfo& op, const RecordedCall& call) {
  KERF_TRY(BoundArguments bound, bindArguments(op, call.args, call.kwargs));
  TracedCall traced;
  OpTracer tracer(traced.module, decomposesBy(table));
  ValueList positional;
  KeywordValues keywords;
  for (std::size_t i = 0; i < bound.values.size(); ++i) {
    const SchemaArgument& argument = op.schema.arguments[i];
    KERF_TRY(Value value, tracer.placeholder(argument.name, bound.values[i]));
    if (argument.keywordOnly)
      keywords.emplace_back(argument.name, std::move(value));
    else
      positional.push_back(std::move(value));
  }
  KERF_TRY(const Value result, withoutThrowing([&] { return tracer.call(op.id, positional, keywords); }));
  for (const NodeId id : traced.module.graph.order())
    if (traced.module.graph.node(id).isCall(op.id)) return traced;
  traced.replaced = true;
  KERF_TRY(Argument output, tracer.argumentOf(result));
  traced.module.graph.output(std::move(output));
  KERF_CHECK(traced.module.graph.lint());
  return traced;
}

Comparison compare(DecompositionTable table, const OpInfo& op, const RecordedCall& call) {
  Comparison result;
  const auto traced = traceUnder(table, op, call);
  if (!traced) {
    result.failure = "no trace: " + traced.error().text();
    return result;
  }
  if (!traced->replaced) return result;
  result.replaced = true;
  ValueList inputs;
  const auto bound = bindArguments(op, call.args, call.kwargs);
  for (const Value& value : bound->values) collectTensors(value, inputs);
  const auto direct = referenceOps().call(op.id, call.args, call.kwargs);
  const auto decomposed = Interpreter(traced->module, referenceOps()).run(inputs);
  if (!direct) return result;
  if (!decomposed) {
    result.failure = "does not run: " + decomposed.error().text();
    return result;
  }
  ValueList left, right;
  collectTensors(*decomposed, left);
  collectTensors(*direct, right);
  if (left.size() != right.size()) result.failure = "number of tensors differs";
  for (std::size_t i = 0; i < left.size() && result.failure.empty(); ++i) {
    result.failure = differenceOf(left[i].tensor(), right[i].tensor());
    result.sameStrides = result.sameStrides && left[i].tensor().strides() == right[i].tensor().strides();
  }
  return result;
}

class Decompositions : public ::testing::TestWithParam<DecompositionTable> {};

TEST_P(Decompositions, GiveWhatTheOpsGive) {
  const auto file = recordedCallsFile(recordingsFolder() / "opinfo");
  ASSERT_TRUE(file) << "no recorded calls in the recordings";
  const auto tensors = readSafetensors(std::filesystem::path(*file).replace_extension(".safetensors")).value();
  std::map<std::string, int> replaced;      // calls by overload
  std::map<std::string, int> otherStrides;  // the same of those whose strides differ
  std::ifstream lines(*file);
  for (std::string line; std::getline(lines, line);) {
    const RecordedCall call = readRecordedCall(line, tensors).value();
    const OpInfo* op = findOp(call.op);
    if (!op || has(op->traits, OpTrait::Inplace | OpTrait::Random | OpTrait::DataDependent) || call.mutates) continue;
    const Comparison comparison = compare(GetParam(), *op, call);
    EXPECT_EQ(comparison.failure, "") << call.op << " (call " << call.id << ")";
    if (!comparison.replaced) continue;
    ++replaced[call.op];
    if (!comparison.sameStrides) ++otherStrides[call.op];
  }
  int calls = 0;
  for (const auto& [op, count] : replaced) calls += count;
  std::cout << replaced.size() << " overloads in " << calls << " calls; strides differ in";
  for (const auto& [op, count] : otherStrides) std::cout << ' ' << op << ":" << count;
  std::cout << '\n';
  EXPECT_GE(replaced.size(), GetParam() == DecompositionTable::None ? 10u : 100u);
}

constexpr const char* models[] = {"mlp",       "convbn",        "attention", "dlrm",
                                  "bert_mini", "convnext_mini", "gpt2_mini", "timm_test_efficientnet"};

/// Calls by target.
using Counts = std::map<std::string, int>;

Counts countsOf(const Graph& graph) {
  Counts counts;
  for (const NodeId id : graph.order())
    if (graph.node(id).op() == Opcode::CallFunction) ++counts[graph.node(id).target()];
  return counts;
}

/// "aten.add.Tensor: 3 and not 4, …"; empty for equal ones.
std::string differencesOf(const Counts& actual, const Counts& expected) {
  std::string text;
  Counts all = actual;
  all.insert(expected.begin(), expected.end());
  const auto at = [](const Counts& counts, const std::string& target) {
    const auto found = counts.find(target);
    return found == counts.end() ? 0 : found->second;
  };
  for (const auto& [target, count] : all)
    if (at(actual, target) != at(expected, target))
      text += fmt::format("{}: {} and not {}, ", target, at(actual, target), at(expected, target));
  return text;
}

CapturedGraph graphOf(const std::filesystem::path& file) {
  auto capture = importCapture(file);
  EXPECT_TRUE(capture) << file << ": " << capture.error().text();
  if (!capture) return {};
  CapturedGraph graph = std::move(capture->graphs.at(0));
  const auto annotated = graph.annotateShapes();
  EXPECT_TRUE(annotated) << file << ": " << annotated.error().text();
  return graph;
}

/// In-place calls as the ops they are forms of, which functionalization leaves of them here; what the table replaces as
/// it is (detach_) stays.
void makePure(Graph& graph) {
  const Decomposes decomposes = decomposesBy(DecompositionTable::Core);
  for (const NodeId id : graph.order()) {
    const OpInfo* op = findOp(graph.node(id));
    const OpInfo* pure = op && has(op->traits, OpTrait::Inplace) ? findOp(op->base) : nullptr;
    if (pure && !decomposes(*op).replaces) graph.setTarget(id, "torch.ops." + pure->schema.qualifiedName());
  }
}

class GoldenDecompositions : public ::testing::TestWithParam<const char*> {
 protected:
  std::filesystem::path folder() const { return recordingsFolder() / "golden" / GetParam(); }
};

TEST_P(GoldenDecompositions, OfTheExportedModelAreRunDecompositions) {
  if (!std::filesystem::exists(folder())) GTEST_SKIP() << testing::leftOut(folder());
  CapturedGraph model = graphOf(folder() / "model.pt2");
  makePure(model.module.graph);
  const auto core = decomposeGraph(model.module, DecompositionTable::Core);
  ASSERT_TRUE(core) << core.error().text();
  const auto recorded = importCapture(folder() / "model_core_aten.graph.txt");
  ASSERT_TRUE(recorded) << recorded.error().text();
  EXPECT_EQ(differencesOf(countsOf(core->graph), countsOf(recorded->graphs.at(0).module.graph)), "");
}

/// What Inductor's table left is what it leaves: no recorded node is replaced, and names follow the order.
TEST_P(GoldenDecompositions, LeaveRecordedGraphsAsTheyAre) {
  if (!std::filesystem::exists(folder())) GTEST_SKIP() << testing::leftOut(folder());
  for (const char* file :
       {"repro/infer_forward.py", "repro/train_forward.py", "repro/train_backward.py", "train_joint.txt"}) {
    SCOPED_TRACE(file);
    const CapturedGraph graph = graphOf(folder() / file);
    const auto again = decomposeGraph(graph.module, DecompositionTable::Inductor);
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(differencesOf(countsOf(again->graph), countsOf(graph.module.graph)), "");
    EXPECT_EQ(again->graph.size(), graph.module.graph.size());
  }
}

INSTANTIATE_TEST_SUITE_P(Models, GoldenDecompositions, ::testing::ValuesIn(models),
                         [](const auto& info) { return std::string(info.param); });

INSTANTIATE_TEST_SUITE_P(Tables, Decompositions,
                         ::testing::Values(DecompositionTable::None, DecompositionTable::Core,
                                           DecompositionTable::Inductor),
                         [](const auto& info) { return std::string(decompositionTableName(info.param)); });

}  // namespace
}  // namespace kerf
