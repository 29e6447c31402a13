// The golden models trained: gradients against PyTorch's eager ones, joint graphs against AOTAutograd's, and forward mode
// against reverse mode.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <regex>

#include "engine/autograd/decompose.h"
#include "engine/autograd/linearize.h"
#include "engine/autograd/training_mode.h"
#include "engine/capture/common/capture.h"
#include "engine/ir/interpreter.h"
#include "engine/ir/printer.h"
#include "engine/ops/core/op_registry.h"
#include "engine/pipeline/dtype_module.h"
#include "engine/tensor/safetensors.h"
#include "tests/support/recordings.h"

namespace kerf {
namespace {

using namespace testing;

struct Trained {
  CapturedGraph graph;
  std::vector<AotInput> inputs;
  AotGraph joint;
};

std::vector<AotInput> inputsOf(const CapturedGraph& graph) {
  std::vector<AotInput> inputs = plainInputs(graph.module);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const GraphSignature::Entry& entry = graph.signature->inputs[i];
    if (entry.kind == "parameter") inputs[i].kind = AotInput::Kind::Parameter;
    if (entry.kind == "buffer") inputs[i].kind = AotInput::Kind::Buffer;
    if (!entry.target.empty()) inputs[i].source = entry.target;
  }
  return inputs;
}

Result<Trained> train(const std::filesystem::path& file) {
  KERF_TRY(Capture capture, importCapture(file));
  Trained trained{.graph = std::move(capture.graphs.at(0)), .inputs = {}, .joint = {}};
  KERF_CHECK(trained.graph.annotateShapes());
  setTrainingMode(trained.graph.module, true);
  trained.inputs = inputsOf(trained.graph);
  KERF_TRY(trained.joint, aotTrace(trained.graph.module, trained.inputs));
  return trained;
}

void flatten(const Value& value, ValueList& into) {
  if (!value.isList()) return into.push_back(value);
  for (const Value& item : value.list()) flatten(item, into);
}

Result<ValueList> runFlat(const GraphModule& module, const ValueList& inputs) {
  Interpreter interpreter(module, referenceOps());
  KERF_TRY(const Value result, interpreter.run(inputs));
  ValueList leaves;
  flatten(result, leaves);
  return leaves;
}

Tensor filled(const Sizes& sizes, const std::function<double(std::int64_t)>& value) {
  Tensor tensor = *Tensor::zeros(DType::Float64, sizes);
  for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor.data<double>()[i] = value(i);
  return tensor;
}

double dot(const Tensor& a, const Tensor& b) {
  double sum = 0;
  for (std::int64_t i = 0; i < a.numel(); ++i) sum += a.itemAsDouble(i) * b.itemAsDouble(i);
  return sum;
}

Sizes sizesOf(const Graph& graph, NodeId id) { return *graph.node(id).meta().value.tensor()->concreteSizes(); }

/// Everything in float64; tangents are made by `tangent(k, element)`.
struct Wide {
  GraphModule module;
  ValueList inputs;
};
Result<Wide> widened(const Trained& trained, const GraphModule& module, std::size_t tangents,
                     const std::function<Tensor(const Sizes&, std::size_t)>& tangent) {
  KERF_TRY(ValueList values, trained.graph.loadInputs(true, nullptr));
  const auto placeholders = module.graph.placeholders();
  const std::size_t first = values.size();
  for (std::size_t k = 0; k < tangents; ++k)
    values.push_back(tangent(sizesOf(module.graph, placeholders[first + k]), k));
  KERF_TRY(CastGraph cast, castGraph(module, values, DType::Float64));
  return Wide{std::move(cast.module), std::move(cast.inputs)};
}

class GoldenTraining : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(folder() / "train_ref64.safetensors")) GTEST_SKIP() << leftOut(folder());
    auto made = train(folder() / "model.pt2");
    ASSERT_TRUE(made) << made.error().text();
    trained = std::move(*made);
  }
  static std::filesystem::path folder() { return recordingsFolder() / "golden" / GetParam(); }
  Trained trained;
};

/// Weights that two layers share, whose recorded gradient is a sum (`kerf run --train` adds them up).
bool isTied(std::string_view name) {
  return name == "grad.m.bert.embeddings.word_embeddings.weight" || name == "grad.m.cls.predictions.decoder.weight" ||
         name == "grad.m.transformer.wte.weight" || name == "grad.m.lm_head.weight";
}

TEST_P(GoldenTraining, HasThoseGradients) {
  const std::size_t outputs = trained.joint.tangents.size();
  const auto mean = [&](const Sizes& sizes, std::size_t) {
    return filled(sizes, [&](std::int64_t) { return 1.0 / (double(*checkedNumel(sizes)) * double(outputs)); });
  };
  const auto wide = widened(trained, trained.joint.module, outputs, mean);
  ASSERT_TRUE(wide) << wide.error().text();
  const auto values = runFlat(wide->module, wide->inputs);
  ASSERT_TRUE(values) << values.error().text();
  const auto recorded = readSafetensors(folder() / "train_ref64.safetensors");
  ASSERT_TRUE(recorded);
  std::map<std::string, Tensor> gradients;
  const std::size_t first = trained.joint.mutatedOutputs + trained.joint.userOutputs;
  for (std::size_t i = 0; i < trained.joint.metadata.inputs.size(); ++i) {
    const AotInput& input = trained.joint.metadata.inputs[i];
    EXPECT_EQ(input.requiresGrad, input.kind == AotInput::Kind::Parameter) << input.source;
    const Value& gradient = (*values)[first + i];
    if (gradient.isTensor()) gradients.emplace("grad." + input.source, gradient.tensor());
  }
  double largest = 0;
  for (const auto& [name, tensor] : recorded->tensors)
    for (std::int64_t i = 0; i < tensor.numel(); ++i) largest = std::max(largest, std::abs(tensor.itemAsDouble(i)));
  int checked = 0;
  for (const auto& [name, expected] : recorded->tensors) {
    const auto found = gradients.find(name);
    if (found == gradients.end() || isTied(name)) continue;
    ++checked;
    double scale = 0, error = 0;
    for (std::int64_t i = 0; i < expected.numel(); ++i) {
      scale = std::max(scale, std::abs(expected.itemAsDouble(i)));
      error = std::max(error, std::abs(expected.itemAsDouble(i) - found->second.itemAsDouble(i)));
    }
    EXPECT_LE(error, std::max(1e-9 * scale, 8 * 0x1p-52 * largest)) << name;
  }
  EXPECT_GT(checked, 4);
}

using Calls = std::map<std::string, int>;

Calls callsOf(const Graph& graph) {
  Calls calls;
  for (const NodeId id : graph.order())
    if (graph.node(id).op() == Opcode::CallFunction) ++calls[graph.node(id).target()];
  return calls;
}

Calls recordedCalls(const std::filesystem::path& file) {
  std::ifstream stream(file);
  Calls calls;
  const std::regex call(R"(call_function\[target=([^\]]+)\])");
  for (std::string line; std::getline(stream, line);)
    if (std::smatch match; std::regex_search(line, match, call)) ++calls[match[1]];
  return calls;
}

/// Calls of which AOTAutograd's graph has others than ours, and why; nothing else may differ.
struct Explained {
  const char* call;
  const char* models;
  const char* why;
};
constexpr Explained explained[] = {
    {"torch.ops.aten.alias.default", "*", "saved results are detached, which leaves an alias of each"},
    {"torch.ops.aten.clone.default", "*", "clones that nobody uses, or of what is dense already"},
    {"torch.ops.aten.add.Tensor", "convbn timm_test_efficientnet",
     "num_batches_tracked is counted by the module, not by the exported call"},
    {"torch.ops.aten.as_strided.default", "convnext_mini", "a gradient copied into an input's strides"},
    {"torch.ops.aten.as_strided_scatter.default", "convnext_mini", "the same"},
    {"torch.ops.aten.copy.default", "convnext_mini", "the same"},
    {"torch.ops.aten.full.default", "convnext_mini", "the same"},
    {"torch.ops.aten.squeeze.dim", "convnext_mini", "the mean of a pooled dimension of one"},
};

bool isExplained(const std::string& call, std::string_view model) {
  return std::ranges::any_of(explained, [&](const Explained& row) {
    return call == row.call && (std::string_view(row.models) == "*" || std::string_view(row.models).contains(model));
  });
}

TEST_P(GoldenTraining, HasTheCallsOfAotAutograd) {
  const auto decomposed = decomposeGraph(trained.joint.module, DecompositionTable::Inductor);
  ASSERT_TRUE(decomposed) << decomposed.error().text();
  const Calls ours = callsOf(decomposed->graph), theirs = recordedCalls(folder() / "train_joint.graph.txt");
  ASSERT_FALSE(theirs.empty());
  Calls all = ours;
  all.insert(theirs.begin(), theirs.end());
  for (const auto& [call, count] : all) {
    const int a = ours.contains(call) ? ours.at(call) : 0, b = theirs.contains(call) ? theirs.at(call) : 0;
    EXPECT_TRUE(a == b || isExplained(call, GetParam())) << call << ": " << a << " calls, recorded " << b;
  }
}

/// <u, J v> = <Jᵀ u, v>, and the tangent graph applied to the primal's residuals gives J v again.
TEST_P(GoldenTraining, ForwardModeAgreesWithReverseMode) {
  const auto linear = linearize(trained.graph.module, trained.inputs);
  ASSERT_TRUE(linear) << linear.error().text();
  const auto wave = [](double phase) {
    return [phase](const Sizes& sizes, std::size_t k) {
      return filled(sizes, [&](std::int64_t i) { return std::sin(phase + 0.7 * double(k) + 1.3 * double(i)); });
    };
  };
  const auto jvp = widened(trained, linear->jvp, linear->tangentInputs.size(), wave(0.1));
  ASSERT_TRUE(jvp) << jvp.error().text();
  const auto forward = runFlat(jvp->module, jvp->inputs);
  ASSERT_TRUE(forward) << forward.error().text();
  const auto joint = widened(trained, trained.joint.module, trained.joint.tangents.size(), wave(0.4));
  ASSERT_TRUE(joint) << joint.error().text();
  const auto backward = runFlat(joint->module, joint->inputs);
  ASSERT_TRUE(backward) << backward.error().text();
  const std::size_t inputs = trained.joint.metadata.inputs.size();
  double left = 0, right = 0;
  for (std::size_t k = 0; k < trained.joint.tangents.size(); ++k) {
    const auto at = std::ranges::find(linear->tangentOutputs, trained.joint.tangents[k]);
    ASSERT_NE(at, linear->tangentOutputs.end());
    const std::size_t place = linear->outputs + std::size_t(at - linear->tangentOutputs.begin());
    left += dot(joint->inputs[inputs + k].tensor(), (*forward)[place].tensor());
  }
  const std::size_t first = trained.joint.mutatedOutputs + trained.joint.userOutputs;
  for (std::size_t k = 0; k < linear->tangentInputs.size(); ++k) {
    const Value& gradient = (*backward)[first + linear->tangentInputs[k]];
    if (gradient.isTensor()) right += dot(gradient.tensor(), jvp->inputs[inputs + k].tensor());
  }
  EXPECT_NEAR(left, right, 1e-9 * std::max({1.0, std::abs(left), std::abs(right)}));

  const auto primal = widened(trained, linear->primal, 0, wave(0));
  ASSERT_TRUE(primal) << primal.error().text();
  const auto kept = runFlat(primal->module, primal->inputs);
  ASSERT_TRUE(kept) << kept.error().text();
  ValueList residuals(kept->begin() + std::ptrdiff_t(linear->outputs), kept->end());
  residuals.insert(residuals.end(), jvp->inputs.begin() + std::ptrdiff_t(inputs), jvp->inputs.end());
  const auto tangent = castGraph(linear->tangent, residuals, DType::Float64);
  ASSERT_TRUE(tangent) << tangent.error().text();
  const auto applied = runFlat(tangent->module, tangent->inputs);
  ASSERT_TRUE(applied) << applied.error().text();
  ASSERT_EQ(applied->size(), linear->tangentOutputs.size());
  for (std::size_t k = 0; k < applied->size(); ++k) {
    const Tensor &a = (*applied)[k].tensor(), &b = (*forward)[linear->outputs + k].tensor();
    for (std::int64_t i = 0; i < a.numel(); ++i) ASSERT_NEAR(a.itemAsDouble(i), b.itemAsDouble(i), 1e-9);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, GoldenTraining,
                         ::testing::Values("mlp", "convbn", "attention", "dlrm", "bert_mini", "gpt2_mini",
                                           "convnext_mini", "timm_test_efficientnet"));

}  // namespace
}  // namespace kerf
