// Writes over operands that nobody reads afterwards: what is written, and what must stay.
#include "tests/support/pass_fixture.h"

namespace kerf {
namespace {

using namespace kerf::testing;
using Calls = std::vector<std::string>;

/// index_put into a fresh tensor; `later` reads that once more, `given`: into an input.
PassGraph put(bool later, bool given, bool copiedBack) {
  PassGraph g;
  const NodeId x = g.input("x", {6}), index = g.input("index", {3}, DType::Int64), values = g.input("values", {3});
  const NodeId base = given ? x : g.call("aten.exp.default", {x});
  const NodeId result = g.call("aten.index_put.default", {base, Argument::list({index}), values, true});
  ArgumentList outputs{g.call("aten.neg.default", {result})};
  if (later) outputs.emplace_back(g.call("aten.relu.default", {base}));
  if (copiedBack) g.call("aten.copy_.default", {x, result});
  g.finish(std::move(outputs));
  return g;
}

TEST(ReinplaceInplaceableOps, WritesIntoWhatDies) {
  const std::vector<std::string> on{"reinplace_inplaceable_ops.enabled=true"};
  const auto has = [&](const PassGraph& graph, const char* op) {
    return std::ranges::count(calls(afterPass(graph, "reinplace_inplaceable_ops", on).graph), op) == 1;
  };
  EXPECT_TRUE(has(put(false, false, false), "aten.index_put_.default"));
  EXPECT_TRUE(has(put(true, false, false), "aten.index_put.default"));
  EXPECT_TRUE(has(put(false, true, false), "aten.index_put.default"));
  EXPECT_TRUE(has(put(false, true, true), "aten.index_put_.default"));
  EXPECT_FALSE(has(put(false, true, true), "aten.copy_.default"));
  EXPECT_EQ(calls(afterPass(put(false, false, false), "reinplace_inplaceable_ops").graph)[1], "aten.index_put.default");
}

TEST(ReinplaceInplaceableOps, WritesThroughAViewOfWhatDies) {
  PassGraph g;
  const NodeId x = g.input("x", {6}), y = g.input("y", {3});
  const NodeId base = g.call("aten.exp.default", {x});
  g.finish({g.call("aten.neg.default",
                   {g.call("aten.as_strided_scatter.default", {base, y, numbers({3}), numbers({2}), 0})})});
  EXPECT_EQ(calls(afterPass(g, "reinplace_inplaceable_ops", {"reinplace_inplaceable_ops.enabled=true"}).graph),
            (Calls{"aten.exp.default", "aten.as_strided.default", "aten.copy_.default", "aten.neg.default"}));
}

/// index_put(x, indices, x): the writes would change what is still to be read.
TEST(ReinplaceInplaceableOps, LeavesWhatTheCallItselfReads) {
  const std::vector<std::string> on{"reinplace_inplaceable_ops.enabled=true"};
  PassGraph g;
  const NodeId x = g.input("x", {6}), index = g.input("index", {6}, DType::Int64);
  const NodeId base = g.call("aten.exp.default", {x});
  g.finish({g.call("aten.index_put.default", {base, Argument::list({index}), base, true})});
  EXPECT_EQ(calls(afterPass(g, "reinplace_inplaceable_ops", on).graph),
            (Calls{"aten.exp.default", "aten.index_put.default"}));
  PassGraph h;
  const NodeId y = h.input("y", {3});
  const NodeId whole = h.call("aten.exp.default", {y});
  h.finish({h.call("aten.as_strided_scatter.default", {whole, whole, numbers({3}), numbers({1}), 0})});
  EXPECT_EQ(calls(afterPass(h, "reinplace_inplaceable_ops", on).graph),
            (Calls{"aten.exp.default", "aten.as_strided_scatter.default"}));
}

}  // namespace
}  // namespace kerf
