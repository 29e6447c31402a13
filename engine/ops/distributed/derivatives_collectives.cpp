// Gradients of collectives: every rank runs the backward too, and what one rank gives reaches all that used it. Of sums and
// means alone: of other reductions nobody can say whose value a result was.
#include "engine/ops/core/flow_terms.h"
#include "engine/ops/core/gradient_rules.h"
#include "engine/ops/core/op_call.h"
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

Formula waited(const Formula& collective) { return {"_c10d_functional.wait_tensor.default"_op, {collective}}; }

void sameOnAll(Backward& b) { b.give(0, b.grad()); }

bool isSum(const Backward& b) { return b.args.text(1) == "sum"; }
bool isMean(const Backward& b) { return b.args.text(1) == "avg"; }

/// all_reduce(input, reduce_op, group_name)
void reducedGradient(Backward& b) {
  if (!isSum(b) && !isMean(b)) return b.refuse(0);
  b.give(0, waited({"_c10d_functional.all_reduce.default"_op, withArguments(b, {b.grad()}, 1)}));
}

/// all_gather_into_tensor(input, group_size, group_name)
void gatheredGradient(Backward& b) {
  const Formula rows("aten.contiguous.default"_op, {b.grad()});
  b.give(0, waited({"_c10d_functional.reduce_scatter_tensor.default"_op,
                    withArguments(b, {rows, Formula(Value(std::string("sum")))}, 1)}));
}

/// reduce_scatter_tensor(input, reduce_op, group_size, group_name)
void scatteredGradient(Backward& b) {
  if (!isSum(b) && !isMean(b)) return b.refuse(0);
  const Formula rows("aten.contiguous.default"_op, {b.grad()});
  const Formula all = waited({"_c10d_functional.all_gather_into_tensor.default"_op, withArguments(b, {rows}, 2)});
  b.give(0, isSum(b) ? all : over(all, Formula(b.args.values[2])));
}

/// all_to_all_single(input, output_split_sizes, input_split_sizes, group_name)
void exchangedGradient(Backward& b) {
  const Formula rows("aten.contiguous.default"_op, {b.grad()});
  b.give(0, waited({"_c10d_functional.all_to_all_single.default"_op,
                    {rows, Formula(b.args.values[2]), Formula(b.args.values[1]), Formula(b.args.values[3])}}));
}

/// all_reduce_coalesced(inputs, reduce_op, group_name)
void reducedGradients(Backward& b) {
  if (!isSum(b) && !isMean(b)) return b.refuse(0);
  std::vector<Formula> gradients = b.listedGrads();
  for (Formula& gradient : gradients)
    if (!gradient.isNone())
      gradient = waited({"_c10d_functional.all_reduce.default"_op, withArguments(b, {gradient}, 1)});
  b.give(0, gradients);
}

constexpr OpFacts collectiveDerivatives[] = {
    onlyBackward<sameOnAll>("_c10d_functional::wait_tensor"),
    onlyBackward<reducedGradient>("_c10d_functional::all_reduce"),
    onlyBackward<reducedGradients>("_c10d_functional::all_reduce_coalesced"),
    onlyBackward<gatheredGradient>("_c10d_functional::all_gather_into_tensor"),
    onlyBackward<scatteredGradient>("_c10d_functional::reduce_scatter_tensor"),
    onlyBackward<exchangedGradient>("_c10d_functional::all_to_all_single"),
    onlyBackward<gatheredGradient>("_c10d_functional_autograd::all_gather_into_tensor"),
    onlyBackward<scatteredGradient>("_c10d_functional_autograd::reduce_scatter_tensor"),
    onlyBackward<exchangedGradient>("_c10d_functional_autograd::all_to_all_single"),
};

const OpRegistration collectiveDerivativeOps({.facts = collectiveDerivatives});

}  // namespace

}  // namespace kerf::inline ops
