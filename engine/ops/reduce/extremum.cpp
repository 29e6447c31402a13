// Maxima and minima, with and without their positions.
#include "engine/ops/core/op_registration.h"
#include "engine/ops/kernels/element_math.h"
#include "engine/ops/kernels/reduction_engine.h"

namespace kerf::inline ops {
namespace {

enum class Which { Max, Min };

template <Which which>
struct Step {
  template <class V>
  static V apply(V a, V b) {
    return which == Which::Max ? element::maximum(a, b) : element::minimum(a, b);
  }
};

template <class V, Which which>
V worst() {
  using Limits = std::numeric_limits<V>;
  if constexpr (std::is_same_v<V, double>)
    return which == Which::Max ? -Limits::infinity() : Limits::infinity();
  else
    return which == Which::Max ? Limits::min() : Limits::max();
}

/// Extremum and its first position along the run of visits; the first NaN wins.
template <class V, Which which>
struct PositionOp {
  struct State {
    V best{};
    std::int64_t position = 0;
    std::int64_t seen = 0;
  };
  State initial(std::int64_t) const { return {}; }
  static void step(State& state, V x) {
    using element::isNan;
    const bool better = which == Which::Max ? x > state.best : x < state.best;
    if (state.seen == 0 || (!isNan(state.best) && (better || isNan(x)))) {
      state.best = x;
      state.position = state.seen;
    }
    ++state.seen;
  }
  void addRun(State& state, const V* x, std::int64_t count) const {
    for (std::int64_t i = 0; i < count; ++i) step(state, x[i]);
  }
  void addColumns(State* states, const V* x, std::int64_t count) const {
    for (std::int64_t i = 0; i < count; ++i) step(states[i], x[i]);
  }
};

Value dimOf(const BoundArguments& args) {
  for (std::size_t i = 0; i < args.values.size(); ++i)
    if (args.op->schema.arguments[i].name == "dim") return args.values[i];
  return {};
}

bool keepdimOf(const BoundArguments& args) {
  for (std::size_t i = 0; i < args.values.size(); ++i)
    if (args.op->schema.arguments[i].name == "keepdim") return args.boolean(i);
  return false;
}

Result<ReducedDims> dimsOf(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(ReducedDims dims, reducedDims(args, self, dimOf(args), keepdimOf(args)));
  for (std::size_t d = 0; d < dims.reduced.size(); ++d)
    if (dims.reduced[d] && guardOrFalse(self.symSizes()[d] == 0))
      return mismatch(args, "no extremum over dimension {} of size 0", d);
  return dims;
}

Result<Value> valueShape(const BoundArguments& args) {
  KERF_TRY(const ReducedDims dims, dimsOf(args));
  return Value(metaTensor(args.tensor(0).dtype(), dims.outSizes));
}
Result<Value> positionShape(const BoundArguments& args) {
  KERF_TRY(const ReducedDims dims, dimsOf(args));
  return Value(metaTensor(DType::Int64, dims.outSizes));
}
Result<Value> bothShape(const BoundArguments& args) {
  KERF_TRY(const Value value, valueShape(args));
  return Value(ValueList{value, metaTensor(DType::Int64, value.tensor().symSizes())});
}
Result<Value> pairShape(const BoundArguments& args) {
  KERF_TRY(const Value value, valueShape(args));
  return Value(ValueList{value, value});
}

template <Which which>
Result<void> extremumInto(const Tensor& self, const ReducedDims& dims, const Tensor& out) {
  return inOrderOf(self.dtype(), [&]<class V>(V) -> Result<void> {
    KERF_TRY(const auto values, (reduceStates<V>(self, dims, FoldOp<V, Step<which>>{worst<V, which>()})));
    return writeValues(values, out);
  });
}

template <Which which>
Result<Value> valueKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const ReducedDims dims, dimsOf(args));
  KERF_CHECK(extremumInto<which>(args.tensor(0), dims, out));
  return Value(std::move(out));
}

Result<Value> minMaxKernel(const BoundArguments& args) {
  KERF_TRY(const std::vector<Tensor> outs, makeOutputs(args));
  KERF_TRY(const ReducedDims dims, dimsOf(args));
  KERF_CHECK(extremumInto<Which::Min>(args.tensor(0), dims, outs[0]));
  KERF_CHECK(extremumInto<Which::Max>(args.tensor(0), dims, outs[1]));
  return tensorList(outs);
}

/// Values and positions; either output may be left out.
template <class V, Which which>
Result<void> positionsInto(const Tensor& self, const ReducedDims& dims, const Tensor* values, const Tensor& positions) {
  KERF_TRY(const auto states, (reduceStates<V>(self, dims, PositionOp<V, which>{})));
  std::vector<V> best;
  std::vector<std::int64_t> where;
  for (const auto& state : states) {
    best.push_back(state.best);
    where.push_back(state.position);
  }
  if (values) KERF_CHECK(writeValues(best, *values));
  return writeValues(where, positions);
}

template <Which which>
Result<void> positionsInto(const Tensor& self, const ReducedDims& dims, const Tensor* values, const Tensor& positions) {
  return inOrderOf(self.dtype(), [&]<class V>(V) { return positionsInto<V, which>(self, dims, values, positions); });
}

template <Which which>
Result<Value> positionKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const ReducedDims dims, dimsOf(args));
  KERF_CHECK(positionsInto<which>(args.tensor(0), dims, nullptr, out));
  return Value(std::move(out));
}

template <Which which>
Result<Value> bothKernel(const BoundArguments& args) {
  KERF_TRY(const std::vector<Tensor> outs, makeOutputs(args));
  KERF_TRY(const ReducedDims dims, dimsOf(args));
  KERF_CHECK(positionsInto<which>(args.tensor(0), dims, &outs[0], outs[1]));
  return tensorList(outs);
}

constexpr OpTrait reduction = OpTrait::Reduction;
constexpr Which max = Which::Max, min = Which::Min;
constexpr OpRow extremumRows[] = {
    {"aten::amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", reduction, valueShape, valueKernel<max>},
    {"aten::amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", reduction, valueShape, valueKernel<min>},
    {"aten::max(Tensor self) -> Tensor", reduction, valueShape, valueKernel<max>},
    {"aten::min(Tensor self) -> Tensor", reduction, valueShape, valueKernel<min>},
    {"aten::aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)", reduction,
     pairShape, minMaxKernel},
    {"aten::max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", reduction, bothShape,
     bothKernel<max>},
    {"aten::min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", reduction, bothShape,
     bothKernel<min>},
    {"aten::argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", reduction, positionShape,
     positionKernel<max>},
    {"aten::argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", reduction, positionShape,
     positionKernel<min>},
};

const OpRegistration extremumOps({.rows = extremumRows});

}  // namespace

}  // namespace kerf::inline ops
