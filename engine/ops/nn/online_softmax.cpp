// prepare_softmax_online(a, dim): maximum and sum of exp(a - maximum), dimensions kept.
#include <cmath>

#include "engine/ops/core/op_registration.h"
#include "engine/ops/kernels/lines.h"
#include "engine/symbolic/shape_env.h"

namespace kerf::inline ops {
namespace {

Result<Value> onlineShape(const BoundArguments& args) {
  KERF_TRY(const ReducedDims dims, reducedDims(args, args.tensor(0), args.values[1], true));
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), args.tensor(0).dim()));
  if (args.tensor(0).dim() > 0 && guardOrFalse(args.tensor(0).symSize(dim) == 0))
    return mismatch(args, "dimension {} has no elements", dim);
  const Value one = metaTensor(args.tensor(0).dtype(), dims.outSizes);
  return Value(ValueList{one, one});
}

Result<Value> onlineKernel(const BoundArguments& args) {
  KERF_TRY(const std::vector<Tensor> outs, makeOutputs(args));
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), args.tensor(0).dim()));
  const Lines maxima(outs[0], dim), sums(outs[1], dim);
  KERF_CHECK(forLines<double>(args.tensor(0), dim, [&](std::int64_t line, const std::vector<double>& x) {
    const double largest = *std::ranges::max_element(x);
    double sum = 0;
    for (double value : x) sum += std::exp(value - largest);
    maxima.write(line, &largest);
    sums.write(line, &sum);
  }));
  return tensorList(outs);
}

constexpr OpRow onlineSoftmaxRows[] = {
    {"prims::prepare_softmax_online(Tensor a, int dim) -> (Tensor, Tensor)", OpTrait::Reduction, onlineShape,
     onlineKernel},
};

const OpRegistration onlineSoftmaxOps({.rows = onlineSoftmaxRows});

}  // namespace

}  // namespace kerf::inline ops
