// The wrapper around passes: copies, records, observers, lint.
#include <gtest/gtest.h>

#include "engine/passes/pass_manager.h"

namespace kerf {
namespace {

constexpr const char* reluTarget = "torch.ops.aten.relu.default";

GraphModule chain() {
  GraphModule module;
  const NodeId x = module.graph.placeholder("x");
  module.graph.callFunction(reluTarget, {x}, {}, "dead");
  const NodeId relu = module.graph.callFunction(reluTarget, {x}, {}, "relu");
  module.graph.output(Argument::tuple({relu}));
  return module;
}

Pass named(std::string name, std::function<Result<bool>(GraphModule&)> run) {
  return {.name = std::move(name), .stage = "post_grad", .description = "Test.", .run = std::move(run)};
}

Result<bool> eraseDead(GraphModule& module) {
  KERF_CHECK(module.graph.eraseNode(*module.graph.find("dead")));
  return true;
}

struct Recorder : PassObserver {
  std::vector<std::string> events;
  std::string skip;
  std::string breakAfter;
  bool shouldRun(const Pass& pass) override { return pass.name != skip; }
  void beforePass(const Pass& pass, const GraphModule&) override { events.push_back("before " + pass.name); }
  void afterPass(const PassRecord& record, const GraphModule& module) override {
    events.push_back(fmt::format("after {} {}", record.name, module.graph.size()));
  }
  Result<void> tamper(const Pass& pass, GraphModule& module) override {
    if (pass.name == breakAfter) module.graph.setArgs(*module.graph.find("relu"), {NodeId{1000}});
    return {};
  }
};

TEST(PassManager, RecordsWhatChangedByHashAndSharesSnapshots) {
  const GraphModule module = chain();
  const PassManager manager({named("liar", [](GraphModule&) { return Result<bool>(true); }), named("erase", eraseDead),
                             named("idle", [](GraphModule&) { return Result<bool>(false); })});
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

TEST(PassManager, TellsObserversAndObeysThem) {
  PassManager manager({named("erase", eraseDead), named("other", [](GraphModule&) { return Result<bool>(false); })});
  Recorder recorder;
  recorder.skip = "erase";
  manager.addObserver(&recorder);
  std::vector<PassRecord> records;
  ASSERT_TRUE(manager.run(chain(), &records).has_value());
  EXPECT_EQ(recorder.events, (std::vector<std::string>{"before other", "after other 4"}));
  EXPECT_EQ(records.size(), 1u);
}

TEST(PassManager, APassThatBreaksLintIsNamed) {
  PassManager manager({named("breaker", [](GraphModule&) { return Result<bool>(false); })});
  Recorder recorder;
  recorder.breakAfter = "breaker";
  manager.addObserver(&recorder);
  const auto result = manager.run(chain());
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::Internal);
  EXPECT_NE(result.error().message.find("breaker"), std::string::npos);
}

TEST(PassManager, APassErrorKeepsItsCodeAndNamesThePass) {
  const PassManager manager(
      {named("failing", [](GraphModule&) -> Result<bool> { return fail(ErrorCode::CompileFailed, "no"); })});
  const auto result = manager.run(chain());
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::CompileFailed);
  EXPECT_NE(result.error().text().find("failing"), std::string::npos);
}

TEST(DefaultPasses, HaveStableNamesInOrder) {
  std::vector<std::string> names;
  for (const Pass& pass : defaultPasses()) {
    names.push_back(pass.name);
    EXPECT_EQ(pass.stage, "post_grad");
    EXPECT_FALSE(pass.description.empty());
  }
  EXPECT_EQ(names, (std::vector<std::string>{"no_op_removal", "constant_folding", "cse", "dce"}));
}

}  // namespace
}  // namespace kerf
