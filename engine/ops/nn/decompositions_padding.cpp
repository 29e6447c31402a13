// Decompositions of padding by reflection and replication: one gather by index a dimension.
#include "engine/ops/core/formula.h"
#include "engine/ops/core/op_math.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"

namespace kerf::inline ops {
namespace {

Formula unsafeIndex(const Formula& a, const std::vector<Formula>& indices) {
  return {"aten._unsafe_index.Tensor"_op, {a, listOf(indices)}};
}
Formula maskedIndex(const Formula& a, const Formula& mask, const std::vector<Formula>& indices) {
  return {"aten._unsafe_masked_index.default"_op, {a, mask, listOf(indices), 0.0}};
}
Formula logicalAnd(const Formula& a, const Formula& b) { return {"aten.logical_and.default"_op, {a, b}}; }

/// Padding before and after each of the last dimensions, outermost first.
struct Margins {
  std::vector<SymInt> before, after;
  explicit Margins(const SymSizes& padding) {
    for (std::size_t i = padding.size() / 2; i-- > 0;) {
      before.push_back(padding[2 * i]);
      after.push_back(padding[2 * i + 1]);
    }
  }
  std::size_t count() const { return before.size(); }
};

Formula mirrored(const Formula& place, const SymInt& size) {
  return SymInt(size - 1) - abs(SymInt(size - 1) - abs(place));
}
Formula nearest(const Formula& place, const SymInt& size) {
  return clamp(place, std::int64_t{0}, Value(SymInt(size - 1)));
}

/// pad(self, padding): `source` says where a place comes from.
template <Formula (*source)(const Formula&, const SymInt&)>
Result<Value> reflectionPadOrReplicationPad(const BoundArguments& args, const OpRunner& run) {
  const Tensor& self = args.tensor(0);
  const Margins margins(args.symSizes(1));
  const auto first = self.dim() - std::int64_t(margins.count());
  if (first < 1) return mismatch(args, "padding is for more dimensions than there are");
  Formulas p(args, run);
  Formula out = p[0];
  for (std::size_t i = 0; i < margins.count(); ++i) {
    const SymInt size = self.symSize(first + std::int64_t(i));
    const Formula places = p(arange(-margins.before[i], size + margins.after[i], 1, DType::Int64, self.device()));
    std::vector<Formula> indices(std::size_t(self.dim()), Formula{});
    indices[std::size_t(first) + i] = p(source(places, size));
    out = p(unsafeIndex(out, indices));
  }
  if (!p.ok()) return p.done(out);
  const MemoryFormat format = suggestFormat(out.tensor());
  if (format == MemoryFormat::Contiguous) return p.done(contiguous(out));
  return p.done({"aten.contiguous.default"_op, {out}, {{"memory_format", format}}});
}

/// What one dimension contributes to the backward op: a place in the gradient, and for which places it is there.
struct Area {
  Formula place, at;
  SymInt low, high;
};

/// The kept middle of a dimension, and what was mirrored before and after it.
std::array<Area, 3> areasOf(Formulas& p, const Formula& at, const SymInt& last, const SymInt& before,
                            const SymInt& after) {
  const Formula middle = p(at + before);
  return {Area{p(before - at), at, 1, before}, Area{middle, middle, 0, last + before + after},
          Area{p(SymInt(2 * last + before) - at), at, last - after, last - SymInt(1)}};
}

/// reflection_padNd_backward(grad_output, self, padding): the sum of what every mirror image gives.
Result<Value> reflectionPadBackward(const BoundArguments& args, const OpRunner& run) {
  const Tensor& self = args.tensor(1);
  const Margins margins(args.symSizes(2));
  const auto rank = std::size_t(self.dim()), first = rank - margins.count();
  if (margins.count() >= rank) return mismatch(args, "padding is for more dimensions than there are");
  Formulas p(args, run);
  std::vector<Formula> indices;
  for (std::size_t d = 0; d < rank; ++d) {
    SymSizes shape(rank, 1);
    shape[d] = -1;
    indices.push_back(p(view(arange(self.symSize(std::int64_t(d)), DType::Int64, self.device()), shape)));
  }
  std::vector<std::array<Area, 3>> areas;
  for (std::size_t i = 0; i < margins.count(); ++i)
    areas.push_back(
        areasOf(p, indices[first + i], self.symSize(std::int64_t(first + i)) - 1, margins.before[i], margins.after[i]));
  std::size_t combinations = 1;
  for (std::size_t i = 0; i < margins.count(); ++i) combinations *= 3;
  const auto part = [&](std::size_t combination, bool always) -> std::optional<Formula> {
    Formula mask;
    std::vector<Formula> places = indices;
    for (std::size_t i = margins.count(); i-- > 0; combination /= 3) {
      const Area& area = areas[i][combination % 3];
      if (!always && guardOrFalse(area.high < area.low)) return {};
      places[first + i] = area.place;
      const Formula inside = p(logicalAnd(area.at >= area.low, area.at <= area.high));
      mask = mask.isNone() ? inside : p(logicalAnd(inside, mask));
    }
    return p(maskedIndex(p[0], mask, places));
  };
  const std::size_t center = combinations / 2;
  Formula flow = *part(center, true);
  for (std::size_t i = 0; i < combinations; ++i)
    if (i != center)
      if (const auto more = part(i, false)) flow = p(flow + *more);
  return p.done(flow);
}

constexpr OpFacts paddingDecompositionsTable[] = {
    decomposes("aten::reflection_pad1d", reflectionPadOrReplicationPad<mirrored>),
    decomposes("aten::reflection_pad2d", reflectionPadOrReplicationPad<mirrored>),
    decomposes("aten::reflection_pad3d", reflectionPadOrReplicationPad<mirrored>),
    decomposes("aten::replication_pad1d", reflectionPadOrReplicationPad<nearest>),
    decomposes("aten::replication_pad2d", reflectionPadOrReplicationPad<nearest>),
    decomposes("aten::replication_pad3d", reflectionPadOrReplicationPad<nearest>),
    decomposes("aten::reflection_pad1d_backward", inOpMath<reflectionPadBackward>),
    decomposes("aten::reflection_pad2d_backward", inOpMath<reflectionPadBackward>),
    decomposes("aten::reflection_pad3d_backward", inOpMath<reflectionPadBackward>),
};

const OpRegistration paddingDecompositions({.facts = paddingDecompositionsTable});

}  // namespace

}  // namespace kerf::inline ops
