// The wrapper around passes: what counts as a change, records, nested graphs, observers, lint.
#include "engine/passes/manager/pass_manager.h"

#include <gtest/gtest.h>

namespace kerf {
namespace {

constexpr const char* reluTarget = "torch.ops.aten.relu.default";
using PassFunction = std::function<Result<void>(GraphModule&, const PassContext&)>;

GraphModule chain() {
  GraphModule module;
  const NodeId x = module.graph.placeholder("x");
  module.graph.callFunction(reluTarget, {x}, {}, "dead");
  const NodeId relu = module.graph.callFunction(reluTarget, {x}, {}, "relu");
  module.graph.output(Argument::tuple({relu}));
  return module;
}

/// chain() with `paths` as nested graphs: one shared graph at all of them.
GraphModule nesting(const GraphModule& inner, std::initializer_list<const char*> paths) {
  GraphModule module = chain();
  const auto shared = std::make_shared<const GraphModule>(inner);
  for (const char* path : paths) module.submodules.add(path, {shared, {}});
  return module;
}

Pass named(std::string name, PassFunction run, PassStage stage = PassStage::PostGrad) {
  return {.name = std::move(name), .stage = stage, .description = "Test.", .run = std::move(run)};
}

Result<void> nothing(GraphModule&, const PassContext&) { return {}; }

Result<void> eraseDead(GraphModule& module, const PassContext&) {
  if (const auto dead = module.graph.find("dead")) KERF_CHECK(module.graph.eraseNode(*dead));
  return {};
}

/// Touches the graph and leaves it as it was.
Result<void> changeBack(GraphModule& module, const PassContext&) {
  const NodeId relu = *module.graph.find("relu");
  module.graph.setTarget(relu, "torch.ops.aten.neg.default");
  module.graph.setTarget(relu, reluTarget);
  return {};
}

struct Recorder : PassObserver {
  std::vector<std::string> events;
  std::string skip;
  void add(std::string text) { events.push_back(std::move(text)); }
  bool shouldRun(const Pass& pass) override { return pass.name != skip; }
  void beforePipeline(const GraphModule&) override { add("pipeline {"); }
  void afterPipeline(const GraphModule&) override { add("}"); }
  void beforeStage(PassStage stage, const GraphModule&) override { add(fmt::format("{} {{", stageName(stage))); }
  void afterStage(PassStage, const GraphModule&) override { add("}"); }
  void beforePass(const Pass& pass, const GraphModule&) override { add(pass.name + " {"); }
  void afterPass(const Pass&, const GraphModule&) override { add("}"); }
  void beforeGraph(const Pass&, std::string_view path, const GraphModule& module) override {
    add(fmt::format("[{}] {}", path, module.graph.size()));
  }
  void afterGraph(const PassRecord& record, const GraphModule& module) override {
    add(fmt::format("[{}] {}", record.path, module.graph.size()));
  }
};

TEST(PassManager, RecordsWhatChangedByContentAndSharesSnapshots) {
  const GraphModule module = chain();
  const PassManager manager({named("liar", changeBack), named("erase", eraseDead), named("idle", nothing)});
  std::vector<PassRecord> records;
  const auto result = manager.run(module, &records);
  ASSERT_TRUE(result.has_value());
  ASSERT_EQ(records.size(), 3u);
  EXPECT_FALSE(records[0].changed);
  EXPECT_EQ(records[0].before, records[0].after);
  EXPECT_TRUE(records[1].changed);
  EXPECT_EQ(records[1].nodesBefore, 4u);
  EXPECT_EQ(records[1].nodesAfter, 3u);
  EXPECT_NE(records[1].hashBefore, records[1].hashAfter);
  EXPECT_EQ(records[1].before->size(), 4u);
  EXPECT_EQ(records[1].after->size(), 3u);
  EXPECT_EQ(records[1].after, records[2].after);
  EXPECT_EQ(records[2].index, 2);
  EXPECT_EQ(module.graph.size(), 4u) << "the caller's graph must not change";
}

TEST(PassManager, SeesChangesOfAttributesAndOfNestedGraphs) {
  const PassManager manager({named("attribute",
                                   [](GraphModule& module, const PassContext&) -> Result<void> {
                                     module.attributes.add("w", {Tensor::scalar(1.0, DType::Float32), false, {}});
                                     return {};
                                   }),
                             named("same_again",
                                   [](GraphModule& module, const PassContext&) -> Result<void> {
                                     auto& entry = module.attributes.edit()[0];
                                     entry.second = TensorAttribute(entry.second);
                                     return {};
                                   }),
                             named("nest", [](GraphModule& module, const PassContext&) -> Result<void> {
                               module.submodules.add("body", {std::make_shared<const GraphModule>(chain()), {}});
                               return {};
                             })});
  std::vector<PassRecord> records;
  const auto result = manager.run(chain(), &records);
  ASSERT_TRUE(result.has_value());
  EXPECT_NE(result->attribute("w"), nullptr);
  EXPECT_TRUE(records[0].changed);
  EXPECT_FALSE(records[1].changed);
  EXPECT_TRUE(records.back().changed);
}

TEST(PassManager, RunsOnNestedGraphsInnermostFirstAndOnceWhereShared) {
  const GraphModule module = nesting(nesting(chain(), {"inner"}), {"true_graph_0", "false_graph_0"});
  std::vector<PassRecord> records;
  const auto result = PassManager({named("erase", eraseDead)}).run(module, &records);
  ASSERT_TRUE(result.has_value());
  std::vector<std::string> paths;
  for (const PassRecord& record : records) {
    paths.push_back(record.path);
    EXPECT_TRUE(record.changed) << record.path;
  }
  EXPECT_EQ(paths, (std::vector<std::string>{"true_graph_0.inner", "true_graph_0", ""}));
  for (const char* path : {"true_graph_0", "false_graph_0"}) {
    const GraphModule& branch = *result->submodule(path)->graph;
    EXPECT_EQ(branch.graph.size(), 3u) << path;
    EXPECT_EQ(branch.submodule("inner")->graph->graph.size(), 3u) << path;
  }
  EXPECT_EQ(module.submodule("true_graph_0")->graph->graph.size(), 4u) << "the caller's graph must not change";
}

TEST(PassManager, LeavesNestedGraphsToThePassesThatWantThem) {
  Pass outer = named("erase", eraseDead);
  outer.scope = PassScope::OuterOnly;
  std::vector<PassRecord> records;
  const auto result = PassManager({outer}).run(nesting(chain(), {"body"}), &records);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(records.size(), 1u);
  EXPECT_EQ(result->graph.size(), 3u);
  EXPECT_EQ(result->submodule("body")->graph->graph.size(), 4u);
}

TEST(PassManager, TellsObserversAtEveryLevel) {
  PassManager manager({named("first", nothing, PassStage::PreGrad), named("erase", eraseDead)});
  Recorder recorder;
  manager.addObserver(&recorder);
  ASSERT_TRUE(manager.run(nesting(chain(), {"body"})).has_value());
  EXPECT_EQ(recorder.events, (std::vector<std::string>{"pipeline {",  //
                                                       "pre_grad {",
                                                       "first {",
                                                       "[body] 4",
                                                       "[body] 4",
                                                       "[] 4",
                                                       "[] 4",
                                                       "}",
                                                       "}",  //
                                                       "joint {",
                                                       "}",  //
                                                       "post_grad {",
                                                       "erase {",
                                                       "[body] 4",
                                                       "[body] 3",
                                                       "[] 4",
                                                       "[] 3",
                                                       "}",
                                                       "}",  //
                                                       "lowering {",
                                                       "}",  //
                                                       "}"}));
}

TEST(PassManager, SkipsWhatAnObserverRefuses) {
  PassManager manager({named("erase", eraseDead), named("other", nothing)});
  Recorder recorder;
  recorder.skip = "erase";
  manager.addObserver(&recorder);
  std::vector<PassRecord> records;
  ASSERT_TRUE(manager.run(chain(), &records).has_value());
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].name, "other");
  EXPECT_EQ(records[0].index, 1);
}

TEST(PassManager, APassThatBreaksLintIsNamed) {
  const PassManager manager({named("breaker", [](GraphModule& module, const PassContext&) -> Result<void> {
    module.graph.setArgs(*module.graph.find("dead"), {*module.graph.find("relu")});
    return {};
  })});
  const auto result = manager.run(chain());
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::Internal);
  EXPECT_NE(result.error().message.find("breaker"), std::string::npos);
}

TEST(PassManager, APassErrorKeepsItsCodeAndNamesPassAndGraph) {
  const PassManager manager({named("failing", [](GraphModule&, const PassContext& context) -> Result<void> {
    if (context.path.empty()) return {};
    return fail(ErrorCode::CompileFailed, "no");
  })});
  EXPECT_TRUE(manager.run(chain()).has_value());
  const auto result = manager.run(nesting(chain(), {"body"}));
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::CompileFailed);
  EXPECT_NE(result.error().text().find("failing on nested graph body"), std::string::npos);
}

TEST(PassManager, StopsBetweenPasses) {
  std::stop_source source;
  const PassManager manager({named("stopping",
                                   [&](GraphModule&, const PassContext&) -> Result<void> {
                                     source.request_stop();
                                     return {};
                                   }),
                             named("never", eraseDead)});
  const auto result = manager.run(chain(), nullptr, source.get_token());
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::Cancelled);
}

}  // namespace
}  // namespace kerf
