// torch.gradient: differences of neighbouring elements along each dimension, at places that are even or given.
#include <algorithm>
#include <array>

#include "engine/ops/core/composite.h"
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

using SI = std::int64_t;

// gradient: central differences inside, one-sided ones at the ends, along each dimension

class Differences {
 public:
  Differences(CompositeSteps& steps, const Tensor& self, SI dim, SI order)
      : m_s(steps), m_self(self), m_dim(dim), m_order(order), m_size(self.symSize(dim)) {}

  /// Places that are `spacing` apart.
  Tensor even(double spacing) {
    const auto over = [&](const Tensor& a, double factor) {
      return m_s("aten.div.Tensor"_op, {a, Value(spacing * factor)});
    };
    const Tensor inner = over(minus(part(2, 0), part(0, -2)), 2);
    if (m_order == 1) return joined(over(minus(at(1), at(0)), 1), inner, over(minus(at(-1), at(-2)), 1));
    const auto edge = [&](SI near, SI next, SI far, double sign) {
      const Tensor sum =
          plus(plus(scaled(at(near), -1.5 * sign), scaled(at(next), 2 * sign)), scaled(at(far), -0.5 * sign));
      return over(sum, 1);
    };
    return joined(edge(0, 1, 2, 1), inner, edge(-1, -2, -3, -1));
  }

  /// Places given one by one.
  Tensor at(const Tensor& places) {
    SymSizes sizes(std::size_t(m_self.dim()), 1);
    sizes[std::size_t(m_dim)] = m_size;
    const Tensor line = m_s("aten.reshape.default"_op, {places, intList(sizes)});
    const Differences steps(m_s, line, m_dim, m_order);
    const Tensor gaps = minus(steps.part(1, 0), steps.part(0, -1));
    const Differences gap(m_s, gaps, m_dim, m_order);
    const Tensor before = gap.part(0, -1), after = gap.part(1, 0), both = plus(before, after);
    const Tensor a = negated(over(after, times(before, both))), b = over(minus(after, before), times(before, after)),
                 c = over(before, times(after, both));
    const Tensor inner = plus(plus(times(a, part(0, -2)), times(b, part(1, -1))), times(c, part(2, 0)));
    if (m_order == 1)
      return joined(over(minus(at(1), at(0)), gap.at(0)), inner, over(minus(at(-1), at(-2)), gap.at(-1)));
    return joined(edge(gap.at(0), gap.at(1), {0, 1, 2}, false), inner,
                  edge(gap.at(-1), gap.at(-2), {-1, -2, -3}, true));
  }

 private:
  /// Second order at an end: `near` and `next` are the gaps from it inwards.
  Tensor edge(const Tensor& near, const Tensor& next, const std::array<SI, 3>& places, bool last) {
    const Tensor both = plus(near, next);
    const Tensor a = over(plus(scaled(near, 2), next), times(near, both)), b = over(both, times(near, next)),
                 c = over(near, times(next, both));
    const Tensor sum = plus(minus(times(b, at(places[1])), times(a, at(places[0]))), negated(times(c, at(places[2]))));
    return last ? negated(sum) : sum;
  }

  /// Without `first` elements at the front and -`last` at the end.
  Tensor part(SI first, SI last) const {
    return m_s("aten.slice.Tensor"_op, {m_self, Value(m_dim), Value(first), Value(m_size + last)});
  }
  Tensor at(SI place) const {
    const SymInt begin = place < 0 ? m_size + place : SymInt(place);
    return m_s("aten.slice.Tensor"_op, {m_self, Value(m_dim), Value(begin), Value(begin + 1)});
  }
  Tensor joined(const Tensor& first, const Tensor& inner, const Tensor& last) const {
    return m_s("aten.cat.default"_op, {Value(ValueList{first, inner, last}), Value(m_dim)});
  }
  Tensor plus(const Tensor& a, const Tensor& b) const { return m_s("aten.add.Tensor"_op, {a, b}); }
  Tensor minus(const Tensor& a, const Tensor& b) const { return m_s("aten.sub.Tensor"_op, {a, b}); }
  Tensor times(const Tensor& a, const Tensor& b) const { return m_s("aten.mul.Tensor"_op, {a, b}); }
  Tensor over(const Tensor& a, const Tensor& b) const { return m_s("aten.div.Tensor"_op, {a, b}); }
  Tensor scaled(const Tensor& a, double factor) const { return m_s("aten.mul.Tensor"_op, {a, Value(factor)}); }
  Tensor negated(const Tensor& a) const { return m_s("aten.neg.default"_op, {a}); }

  CompositeSteps& m_s;
  Tensor m_self;
  SI m_dim, m_order;
  SymInt m_size;
};

/// Where the argument of that name is; nothing where the overload has none.
std::optional<std::size_t> placeOf(const BoundArguments& args, std::string_view name) {
  const auto& arguments = args.op->schema.arguments;
  const auto found = std::ranges::find(arguments, name, [](const auto& argument) { return argument.name; });
  return found == arguments.end() ? std::nullopt : std::optional(std::size_t(found - arguments.begin()));
}

bool namesDims(const BoundArguments& args) {
  const auto at = placeOf(args, "dim");
  return at && !args.none(*at);
}

/// The dimensions: those given, or all.
Result<Sizes> gradientDims(const BoundArguments& args) {
  const auto at = placeOf(args, "dim");
  const SI rank = args.tensor(0).dim();
  Sizes dims;
  if (at && args.values[*at].isList())
    dims = args.sizes(*at);
  else if (namesDims(args))
    dims = {args.integer(*at)};
  else
    for (SI dim = 0; dim < rank; ++dim) dims.push_back(dim);
  return wrapDims(args, dims, rank);
}

/// A real number; none for others.
std::optional<double> realNumber(const Value& value) {
  if (const auto* number = value.as<double>()) return *number;
  if (const auto* flag = value.as<bool>()) return double(*flag);
  if (const auto number = value.asSymInt()) return double(std::int64_t(*number));
  return std::nullopt;
}

/// Of each dimension a number or a tensor.
Result<ValueList> spacings(const BoundArguments& args, std::size_t count) {
  const auto at = placeOf(args, "spacing");
  if (!at || args.none(*at)) return ValueList(count, Value(1.0));
  const Value& given = args.values[*at];
  if (!given.isList()) return ValueList(count, given);
  if (given.list().size() != count) return mismatch(args, "{} spacings for {} dimensions", given.list().size(), count);
  return given.list();
}

Result<Value> gradientProgram(const BoundArguments& args, const OpRunner& run) {
  const SI order = args.integer(args.position("edge_order"));
  if (order != 1 && order != 2) return mismatch(args, "edge_order must be 1 or 2, got {}", order);
  KERF_TRY(const Sizes dims, gradientDims(args));
  if (!dims.empty() && args.tensor(0).dim() == 0)
    return mismatch(args, "dimension {} is given, but the tensor has no dimensions", dims[0]);
  KERF_TRY(const ValueList gaps, spacings(args, dims.size()));
  CompositeSteps s(run);
  ValueList results;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (guardOrFalse(args.tensor(0).symSize(dims[i]) < order + 1))
      return mismatch(args, "each dimension needs at least edge_order + 1 elements");
    if (gaps[i].isTensor() && guardOrFalse(gaps[i].tensor().symNumel() != args.tensor(0).symSize(dims[i])))
      return mismatch(args, "the places of dimension {} have another number than its elements", dims[i]);
    const auto spacing = realNumber(gaps[i]);
    if (!gaps[i].isTensor() && !spacing) return mismatch(args, "a spacing must be a real number or a tensor");
    Differences along(s, args.tensor(0), dims[i], order);
    results.emplace_back(spacing ? along.even(*spacing) : along.at(gaps[i].tensor()));
  }
  KERF_CHECK(s.done(args.tensor(0)));
  return Value(std::move(results));
}

#define KERF_GRADIENT(overload, spacing, dim) \
  compositeRow(gradientProgram,               \
               "aten::gradient." overload "(Tensor self, *, " spacing dim ", int edge_order=1) -> Tensor[]")
constexpr OpRow gradientRows[] = {
    KERF_GRADIENT("scalarint", "Scalar? spacing=None, ", "int? dim=None"),
    KERF_GRADIENT("scalararray", "Scalar spacing, ", "int[] dim"),
    KERF_GRADIENT("array", "", "int[] dim"),
    KERF_GRADIENT("scalarrayint", "Scalar[] spacing, ", "int? dim=None"),
    KERF_GRADIENT("scalarrayarray", "Scalar[] spacing, ", "int[] dim"),
    KERF_GRADIENT("tensorarrayint", "Tensor[] spacing, ", "int? dim=None"),
    KERF_GRADIENT("tensorarray", "Tensor[] spacing, ", "int[] dim"),
};

const OpRegistration gradientOps({.rows = gradientRows});

}  // namespace

}  // namespace kerf::inline ops
