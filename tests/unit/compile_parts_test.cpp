// Parts of the compiler that are no passes: turned off, and with faults planted in them.
#include "engine/pipeline/compile_fx.h"
#include "engine/pipeline/compiler_parts.h"
#include "tests/support/graph_fixture.h"

namespace kerf {
namespace {

using testing_support::GraphFixture;

/// Results of library calls that are not needed at the same time, and ops between them that are fused.
struct LongChain : GraphFixture {
  LongChain() {
    NodeId x = input("x", DType::Float32, {16, 16});
    for (int i = 0; i < 4; ++i)
      x = call("aten.sin.default", {call("aten.relu.default", {call("aten.mm.default", {x, x})})});
    output({x});
  }
};

/// Element 0 of the output minus the interpreter's.
double partShift(const LongChain& chain, const CompileOptions& options) {
  const auto graph = compileFx(chain.module, options);
  EXPECT_TRUE(graph) << graph.error().text();
  const auto result = (*graph)->run(chain.inputs);
  EXPECT_TRUE(result) << result.error().text();
  return result->list()[0].tensor().itemAsDouble() - chain.interpret()->list()[0].tensor().itemAsDouble();
}

TEST(CompilerParts, WithoutAMemoryPlanEachBufferHasAPlaceOfItsOwn) {
  const LongChain chain;
  CompileOptions options;
  const auto shared = compileFx(chain.module, options);
  options.sharesMemory = false;
  const auto apart = compileFx(chain.module, options);
  ASSERT_TRUE(shared && apart);
  EXPECT_LT((*shared)->artifacts().plannedBytes, (*shared)->artifacts().unplannedBytes);
  EXPECT_EQ((*apart)->artifacts().plannedBytes, (*apart)->artifacts().unplannedBytes);
  EXPECT_EQ((*apart)->artifacts().unplannedBytes, (*shared)->artifacts().unplannedBytes);
  EXPECT_NEAR(partShift(chain, options), 0, 1e-5);
}

TEST(CompilerParts, AFaultInAPartIsThereWhereThePartIsUsed) {
  struct Row {
    const char* part;
    void (*turnOff)(CompileOptions&);
  };
  const Row rows[] = {{"codegen", [](CompileOptions& options) { options.backend = "interp"; }},
                      {"fusion", [](CompileOptions& options) { options.fuse = false; }},
                      {"memory_plan", [](CompileOptions& options) { options.sharesMemory = false; }},
                      {"optimisation", [](CompileOptions& options) { options.optimizationLevel = 0; }}};
  const LongChain chain;
  for (const Row& row : rows) {
    CompileOptions options;
    options.faults.faults.push_back(*parseFault(fmt::format("pass:{}=accuracy", row.part)));
    EXPECT_TRUE(checkOptions(chain.module, options)) << row.part;
    EXPECT_NEAR(partShift(chain, options), 1, 1e-5) << row.part;
    row.turnOff(options);
    EXPECT_NEAR(partShift(chain, options), 0, 1e-5) << row.part;
    const auto checked = checkOptions(chain.module, options);
    ASSERT_FALSE(checked) << row.part;
    EXPECT_EQ(checked.error().code, ErrorCode::BadUsage);
    EXPECT_TRUE(checked.error().text().contains(fmt::format("this compilation has no {}", row.part)));
  }
}

TEST(CompilerParts, EveryBackendThatMakesCodePlansMemory) {
  const std::pair<const char*, std::size_t> rows[] = {{"llvm", 1}, {"cuda", 1}, {"interp", 0}};
  for (const auto& [backend, broken] : rows) {
    CompileOptions options{.backend = backend};
    options.faults.faults.push_back(*parseFault("pass:memory_plan=accuracy"));
    EXPECT_EQ(brokenParts(options).size(), broken) << backend;
    options.sharesMemory = false;
    EXPECT_TRUE(brokenParts(options).empty()) << backend;
  }
}

TEST(CompilerParts, ACompileErrorInAPartNamesIt) {
  CompileOptions options;
  options.faults.faults.push_back(*parseFault("pass:fusion=compile_error"));
  const auto graph = compileFx(LongChain().module, options);
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().code, ErrorCode::CompileFailed);
  EXPECT_TRUE(graph.error().text().contains("fusion"));
}

}  // namespace
}  // namespace kerf
