// expectAgreement(): a graph as text, checked in every way on inputs that are made from its annotations.
#pragma once

#include <gtest/gtest.h>

#include <string_view>

#include "engine/backend/input_symbols.h"
#include "engine/capture/text/capture.h"
#include "tests/differential/fuzzgraph/checks.h"

namespace kerf::fuzzgraph {

/// Repros tell the strides of their inputs; annotations need not.
inline void addStrides(Graph& graph) {
  for (const NodeId id : graph.placeholders()) {
    ValueMeta meta = graph.node(id).meta().value;
    auto* tensor = std::get_if<TensorMeta>(&meta.value);
    const auto strides = tensor && tensor->strides.empty() ? tensor->concreteStrides() : std::nullopt;
    if (!strides) continue;
    tensor->strides.clear();
    for (const std::int64_t stride : *strides) tensor->strides.push_back({{}, stride});
    graph.setValueMeta(id, std::move(meta));
  }
}

inline void expectAgreement(std::string_view text) {
  auto capture = importGraphText(text, "find.txt");
  ASSERT_TRUE(capture) << capture.error().text();
  ASSERT_EQ(capture->graphs.size(), 1u);
  CapturedGraph& graph = capture->graphs[0];
  ASSERT_TRUE(graph.ensureLoaded());
  addStrides(graph.module.graph);
  LoadOptions options;
  for (const SymExpr& symbol : graph.symbols()) options.symbols[symbol.text] = 7;
  const auto inputs = graph.loadInputs(options, nullptr);
  ASSERT_TRUE(inputs) << inputs.error().text();
  const auto hinted =  // as recordings have it
      withExample(graph.module, SymbolBindings(options.symbols.begin(), options.symbols.end()));
  ASSERT_TRUE(hinted) << hinted.error().text();
  graph.module = *hinted;
  const auto shapes = graph.annotateShapes();
  ASSERT_TRUE(shapes) << shapes.error().text();
  std::vector<const CheckedWay*> ways;
  for (const CheckedWay& way : allWays()) ways.push_back(&way);
  const CheckSummary summary = checkGraph({graph.module, *inputs}, ways, [](const std::string&) {});
  EXPECT_EQ(summary.referenceError, "");
  EXPECT_EQ(summary.runs, int(ways.size()));
  for (const Disagreement& item : summary.disagreements)
    ADD_FAILURE() << item.check << ": " << item.kind << ": " << item.what;
}

/// A graph that once came out wrong.
struct FoundGraph {
  const char* name;
  const char* graph;
};

class FuzzGraphFinds : public ::testing::TestWithParam<FoundGraph> {};

inline std::string nameOf(const ::testing::TestParamInfo<FoundGraph>& info) { return info.param.name; }

}  // namespace kerf::fuzzgraph
