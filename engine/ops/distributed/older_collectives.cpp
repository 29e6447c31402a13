// c10d_functional.*: the same collectives as torch 2.0 to 2.2 traced them, with tag and ranks.
#include "engine/ops/core/op_registration.h"
#include "engine/ops/distributed/shapes.h"

namespace kerf::inline ops {
namespace {

constexpr OpRow collective(const char* schema, ShapeRule shape) {
  return {schema, OpTrait::Impure, shape, aloneKernel};
}

#define KERF_RANKS ", str tag, int[] ranks, int group_size)"

constexpr OpRow olderCollectiveRows[] = {
    collective("c10d_functional::broadcast(Tensor self, int src" KERF_RANKS " -> Tensor", sameAsInput),
    collective("c10d_functional::all_reduce(Tensor self, str reduceOp" KERF_RANKS " -> Tensor", sameAsInput),
    collective("c10d_functional::all_reduce_coalesced(Tensor[] self, str reduceOp" KERF_RANKS " -> Tensor[]",
               sameAsInputs),
    collective("c10d_functional::wait_tensor(Tensor self) -> Tensor", sameAsInput),
    collective("c10d_functional::all_gather_into_tensor(Tensor shard" KERF_RANKS " -> Tensor", gatheredShape),
    collective("c10d_functional::all_gather_into_tensor_coalesced(Tensor[] input" KERF_RANKS " -> Tensor[]",
               gatheredShapes),
    collective("c10d_functional::reduce_scatter_tensor(Tensor input, str reduceOp" KERF_RANKS " -> Tensor",
               scatteredShape),
    collective("c10d_functional::reduce_scatter_tensor_coalesced(Tensor[] inputs, str reduceOp" KERF_RANKS
               " -> Tensor[]",
               scatteredShapes),
    collective("c10d_functional::all_to_all_single(Tensor input, SymInt[]? output_split_sizes, SymInt[]? "
               "input_split_sizes" KERF_RANKS " -> Tensor",
               exchangedShape),
};

const OpRegistration olderCollectiveOps({.rows = olderCollectiveRows});

}  // namespace

}  // namespace kerf::inline ops
