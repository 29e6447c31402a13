// Recorded models with their batch as a symbol: one compilation against the interpreter for every batch.
#include <gtest/gtest.h>

#include <filesystem>

#include "engine/capture/common/capture.h"
#include "engine/ops/core/op_call.h"
#include "tests/support/recordings.h"
#include "tests/support/symbolic_fixture.h"

namespace kerf {
namespace {

using testing_support::expectLikeInterpreter;

struct Model {
  const char* name;
  std::int64_t batch;
  friend void PrintTo(const Model& model, std::ostream* out) { *out << model.name; }
};

/// A recorded graph, with "s0" wherever its batch stands: in the inputs without gradient, and in the sizes that views
/// and expansions of what follows from them are given.
class DynamicModel {
 public:
  DynamicModel(CapturedGraph graph, std::int64_t batch) : m_graph(std::move(graph)), m_batch(batch) {}

  Result<void> make() {
    KERF_TRY(m_inputs, m_graph.loadInputs(true, nullptr));
    KERF_CHECK(m_graph.annotateInputs());
    const auto placeholders = m_graph.module.graph.placeholders();
    for (std::size_t i = 0; i < placeholders.size(); ++i)
      if (isBatched(m_inputs[i])) addBatch(placeholders[i]);
    const auto order = m_graph.module.graph.order();
    for (const NodeId id : std::vector<NodeId>(order.begin(), order.end())) rewrite(id);
    return propagateShapes(m_graph.module);
  }
  const GraphModule& module() const { return m_graph.module; }

  /// Rows of the recorded inputs, as often as they are needed.
  Result<ValueList> inputsFor(std::int64_t batch) const {
    Tensor rows = *Tensor::zeros(DType::Int64, {batch});
    for (std::int64_t i = 0; i < batch; ++i) rows.data<std::int64_t>()[i] = i % m_batch;
    ValueList result = m_inputs;
    for (Value& input : result) {
      if (!isBatched(input)) continue;
      KERF_TRY(input, callOp("torch.ops.aten.index_select.default", {input, std::int64_t{0}, rows}));
    }
    return result;
  }

 private:
  bool isBatched(const Value& input) const {
    if (!input.isTensor() || input.tensor().requiresGrad || input.tensor().dim() < 2) return false;
    return input.tensor().size(0) == m_batch;
  }

  void addBatch(NodeId id) {
    ValueMeta meta = m_graph.module.graph.node(id).meta().value;
    std::get<TensorMeta>(meta.value).sizes[0] = {"s0", m_batch};
    m_graph.module.graph.setValueMeta(id, std::move(meta));
    m_batched.insert(id);
  }

  void rewrite(NodeId id) {
    Graph& graph = m_graph.module.graph;
    const Node& node = graph.node(id);
    const auto isIn = [&](NodeId input) { return m_batched.contains(input); };
    const auto inputs = node.inputs();
    if (std::ranges::any_of(inputs, isIn)) m_batched.insert(id);
    if (node.target() == "torch.ops.prims.iota.default" && node.args()[0] == Argument(m_batch)) {
      m_batched.insert(id);
      return graph.setArgs(id, {SymExpr{"s0", m_batch}});
    }
    const bool isFull = node.target() == "torch.ops.aten.full.default";
    const bool isExpand = node.target() == "torch.ops.aten.expand.default";
    if (!isFull && !isExpand && node.target() != "torch.ops.aten.view.default") return;
    const std::size_t at = isFull ? 0 : 1;
    const ListArgument* list = node.args().size() > at ? node.args()[at].asList() : nullptr;
    const auto* size = list && !list->items.empty() ? list->items[0].as<std::int64_t>() : nullptr;
    if (size == nullptr || *size <= 0 || *size % m_batch != 0) return;
    if (!m_batched.contains(id) && *size != m_batch) return;
    m_batched.insert(id);
    ArgumentList items = list->items, args(node.args().begin(), node.args().end());
    items[0] = SymExpr{*size == m_batch ? "s0" : fmt::format("{}*s0", *size / m_batch), *size};
    args[at] = Argument::list(std::move(items));
    graph.setArgs(id, std::move(args));
  }

  CapturedGraph m_graph;
  std::int64_t m_batch;
  ValueList m_inputs;
  std::set<NodeId> m_batched;
};

class DynamicBatch : public ::testing::TestWithParam<Model> {};

TEST_P(DynamicBatch, OneCompilationEqualsTheInterpreter) {
  const auto file = recordingsFolder() / "golden" / GetParam().name / "repro/infer_forward.py";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << testing::leftOut(file);
  auto capture = importCapture(file);
  ASSERT_TRUE(capture) << capture.error().text();
  DynamicModel model(std::move(capture->graphs.at(0)), GetParam().batch);
  const auto made = model.make();
  ASSERT_TRUE(made) << made.error().text();
  const auto compiled = compileFx(model.module());
  ASSERT_TRUE(compiled) << compiled.error().text();
  EXPECT_EQ((*compiled)->artifacts().fixedSizesReason, "");
  for (const std::int64_t batch :
       {GetParam().batch, std::int64_t{3}, std::int64_t{7}, std::int64_t{2}, std::int64_t{16}}) {
    const auto inputs = model.inputsFor(batch);
    ASSERT_TRUE(inputs) << inputs.error().text();
    expectLikeInterpreter(model.module(), **compiled, *inputs, {{"s0", batch}}, 1e-3, std::to_string(batch));
    if (HasFatalFailure()) return;
    EXPECT_EQ((*compiled)->compilations(), 1) << batch << ": " << (*compiled)->recompilations().back().text();
  }
}

INSTANTIATE_TEST_SUITE_P(Corpus, DynamicBatch,
                         ::testing::Values(Model{"attention", 2}, Model{"bert_mini", 2}, Model{"convbn", 2},
                                           Model{"dlrm", 6}, Model{"gpt2_mini", 2}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace kerf
