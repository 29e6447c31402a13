// Copies into inputs that a device's kernels do themselves, as CUDA C++ on the CPU.
#include <gmock/gmock.h>

#include "engine/codegen_cuda/kernel_source.h"
#include "engine/lower/value_table.h"
#include "tests/support/graph_on_host.h"
#include "tests/support/input_copies.h"

namespace kerf {
namespace {

using Case = testing_support::CopyCase;
using testing_support::adam;
using testing_support::expectClose;
using testing_support::inputsOf;
using testing_support::moduleOf;

TEST(CudaInputCopies, AreStoresOfKernels) {
  const Case columns{"running statistics",
                     "p: \"f32[40]\", x: \"f32[96, 40]\"",
                     {"s = mean.dim(x, [0])", "b = mul.Tensor(p, 0.9)", "n = add.Tensor(s, b)", "o = sub.Tensor(x, n)",
                      "c = copy_.default(p, n)"},
                     "o, c"};
  const Case rows{"a value for each row",
                  "p: \"f32[96]\", x: \"f32[96, 40]\"",
                  {"s = mean.dim(x, [1])", "b = mul.Tensor(p, 0.9)", "n = add.Tensor(s, b)",
                   "u = unsqueeze.default(n, 1)", "o = sub.Tensor(x, u)", "c = copy_.default(p, n)"},
                  "o, c"};
  const Case sums{"sums of what is written",
                  "p: \"f32[70, 300]\", x: \"f32[70, 300]\"",
                  {"a = add.Tensor(p, x)", "s = sum.dim_IntList(a, [1])", "c = copy_.default(p, a)"},
                  "c, s"};
  const Case columnSums{"sums of its columns",
                        "p: \"f32[300, 70]\", x: \"f32[300, 70]\"",
                        {"a = add.Tensor(p, x)", "s = sum.dim_IntList(a, [0])", "c = copy_.default(p, a)"},
                        "c, s"};
  const Case swapped{
      "swapped",
      "p: \"f32[37, 40]\", q: \"f32[37, 40]\", x: \"f32[37, 40]\"",
      {"a = mul.Tensor(p, x)", "b = mul.Tensor(q, x)", "c = copy_.default(p, b)", "d = copy_.default(q, a)"},
      "c, d"};
  const Case turned{
      "swapped, of other strides",
      "p: \"f32[40, 40]\", q: \"f32[40, 40][1, 40]\", x: \"f32[40, 40]\"",
      {"a = mul.Tensor(p, x)", "b = mul.Tensor(q, x)", "c = copy_.default(p, b)", "d = copy_.default(q, a)"},
      "c, "};
  for (const Case* c : {&adam, &columns, &rows, &sums, &columnSums, &swapped, &turned}) {
    SCOPED_TRACE(c->what);
    const GraphModule module = moduleOf(*c);
    const ValueList wantedInputs = inputsOf(module), givenInputs = inputsOf(module);
    ASSERT_TRUE(Interpreter(module, referenceOps()).run(wantedInputs));
    const auto given = testing_support::runOnHost(module, givenInputs);
    ASSERT_TRUE(given) << given.error().text();
    for (std::size_t i = 0; i < givenInputs.size(); ++i)
      ASSERT_NO_FATAL_FAILURE(
          expectClose(wantedInputs[i].tensor(), givenInputs[i].tensor(), 1e-5, fmt::format("input {} afterwards", i)));
  }
}

TEST(CudaInputCopies, AreNoConstants) {
  const GraphModule module = moduleOf(adam);
  auto table = classifyValues(module);
  ASSERT_TRUE(table);
  const auto graph = scheduleGraph(std::make_shared<const ValueTable>(std::move(*table)), true);
  ASSERT_TRUE(graph);
  ASSERT_EQ(graph->steps.size(), 1u);
  const auto kernel = generateKernel(graph->steps[0].kernel, {"adam"});
  ASSERT_TRUE(kernel);
  for (const char* name : {"/* p */", "/* m */", "/* v */"}) {
    const std::size_t at = kernel->source.find(name);
    ASSERT_NE(at, std::string::npos);
    const std::size_t line = kernel->source.rfind('\n', at);
    EXPECT_EQ(kernel->source.substr(line, at - line).find("const"), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace kerf
