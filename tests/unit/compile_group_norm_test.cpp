// Group norm: statistics of groups of channels, and a scale and bias for each channel, in one kernel.
#include "tests/support/compiled_fixture.h"

namespace kerf {
namespace {

using testing_support::GraphFixture;
using testing_support::partsOf;

struct GroupNorm {
  std::int64_t images, groups, channels, height, width;  ///< channels of each group
  DType dtype = DType::Float32;
};

Argument sizes(std::initializer_list<std::int64_t> values) {
  ArgumentList list;
  for (const std::int64_t value : values) list.emplace_back(value);
  return Argument::list(std::move(list));
}

/// As Inductor writes it; `gates`: one more value of the normalised elements before they are scaled.
void groupNorm(GraphFixture& f, const GroupNorm& n, bool gates = false) {
  const std::int64_t channels = n.groups * n.channels;
  const NodeId x = f.input("x", n.dtype, {n.images, channels, n.height, n.width});
  const NodeId w = f.input("w", n.dtype, {channels}), b = f.input("b", n.dtype, {channels});
  const auto view = [&](NodeId of, const Argument& shape) { return f.call("aten.view.default", {of, shape}); };
  const Argument image = sizes({n.images, channels, n.height, n.width}), perChannel = sizes({1, channels, 1, 1});
  const NodeId grouped = view(x, sizes({n.images, n.groups, n.channels, n.height * n.width}));
  const NodeId mean = f.call("aten.mean.dim", {grouped, sizes({2, 3}), Argument(true)});
  const NodeId centred = f.call("aten.sub.Tensor", {grouped, mean});
  const NodeId squares = f.call("aten.mul.Tensor", {centred, centred});
  const NodeId variance = f.call("aten.mean.dim", {squares, sizes({2, 3}), Argument(true)});
  const NodeId scale = f.call("aten.rsqrt.default", {f.call("aten.add.Tensor", {variance, Argument(1e-5)})});
  NodeId result = view(f.call("aten.mul.Tensor", {centred, scale}), image);
  if (gates) result = f.call("aten.mul.Tensor", {result, f.call("aten.sigmoid.default", {result})});
  result = f.call("aten.mul.Tensor", {result, view(w, perChannel)});
  f.output({f.call("aten.add.Tensor", {result, view(b, perChannel)})});
}

std::size_t kernelsOf(const GroupNorm& norm, double tolerance, bool gates = false) {
  GraphFixture f;
  groupNorm(f, norm, gates);
  const auto graph = compileFx(f.module, {});
  if (!graph) return 0;
  const auto reference = f.interpret(), result = (*graph)->run(f.inputs);
  EXPECT_TRUE(reference && result);
  if (!reference || !result) return 0;
  const Tensor a = partsOf(*reference)[0].tensor(), b = partsOf(*result)[0].tensor();
  double worst = 0;
  for (std::int64_t i = 0; i < a.numel(); ++i) worst = std::max(worst, std::abs(a.itemAsDouble(i) - b.itemAsDouble(i)));
  EXPECT_LE(worst, tolerance);
  return (*graph)->kernels().size();
}

TEST(GroupNorms, AreOneKernel) {
  EXPECT_EQ(kernelsOf({2, 8, 4, 16, 16}, 1e-5), 1u);
  EXPECT_EQ(kernelsOf({3, 7, 5, 17, 19}, 1e-5, true), 1u);
  EXPECT_EQ(kernelsOf({2, 8, 4, 16, 17, DType::BFloat16}, 0.04), 1u);
  EXPECT_EQ(kernelsOf({16, 1, 6, 16, 16}, 1e-5), 1u);
}

TEST(GroupNorms, ShortRowsAndFewGroupsStayTwo) {
  EXPECT_EQ(kernelsOf({2, 8, 4, 7, 7}, 1e-5), 2u);
  EXPECT_EQ(kernelsOf({1, 8, 4, 16, 16}, 1e-5), 2u);
}

}  // namespace
}  // namespace kerf
