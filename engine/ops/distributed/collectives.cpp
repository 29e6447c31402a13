// _c10d_functional.*: the collectives that traces of torch.distributed have, their differentiable forms and DTensor's.
#include "engine/ops/core/op_call.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/distributed/shapes.h"

namespace kerf::inline ops {
namespace {

/// The size of a group is known to it alone: what the text or the recording says of the result stays.
Result<Value> dependsOnGroup(const BoundArguments& args) {
  return fail(ErrorCode::UnsupportedOp, "{}: the result's shape depends on the size of its group", args.opName());
}

/// In-place forms return their input.
Result<Value> inputItself(const BoundArguments& args) { return args.values[0]; }

constexpr OpTrait talks = OpTrait::Impure;
constexpr OpTrait writes = OpTrait::Impure | OpTrait::Inplace;

constexpr OpRow collective(const char* schema, ShapeRule shape, OpTrait traits = talks) {
  return {schema, traits, shape, aloneKernel};
}

// PyTorch names the group by a string, newer versions also by the group itself.
#define KERF_GROUP ", Any group_name)"
#define KERF_SIZED ", int group_size, Any group_name)"
#define KERF_REDUCED ", str reduce_op, Any group_name)"
#define KERF_REDUCED_SIZED ", str reduce_op, int group_size, Any group_name)"
#define KERF_SPLITS ", SymInt[] output_split_sizes, SymInt[] input_split_sizes, Any group_name)"

constexpr OpRow collectiveRows[] = {
    collective("_c10d_functional::all_reduce(Tensor input" KERF_REDUCED " -> Tensor", sameAsInput),
    collective("_c10d_functional::all_reduce_(Tensor(a!) input" KERF_REDUCED " -> Tensor(a!)", inputItself, writes),
    collective("_c10d_functional::all_reduce_coalesced(Tensor[] inputs" KERF_REDUCED " -> Tensor[]", sameAsInputs),
    collective("_c10d_functional::all_reduce_coalesced_(Tensor[](a!) inputs" KERF_REDUCED " -> Tensor[](a!)",
               inputItself, writes),
    collective("_c10d_functional::all_gather_into_tensor(Tensor input" KERF_SIZED " -> Tensor", gatheredShape),
    collective("_c10d_functional::all_gather_into_tensor_coalesced(Tensor[] inputs" KERF_SIZED " -> Tensor[]",
               gatheredShapes),
    collective("_c10d_functional::reduce_scatter_tensor(Tensor input" KERF_REDUCED_SIZED " -> Tensor", scatteredShape),
    collective("_c10d_functional::reduce_scatter_tensor_coalesced(Tensor[] inputs" KERF_REDUCED_SIZED " -> Tensor[]",
               scatteredShapes),
    collective("_c10d_functional::all_to_all_single(Tensor input" KERF_SPLITS " -> Tensor", exchangedShape),
    collective("_c10d_functional::broadcast(Tensor input, int src" KERF_GROUP " -> Tensor", sameAsInput),
    collective("_c10d_functional::broadcast_(Tensor(a!) input, int src" KERF_GROUP " -> Tensor(a!)", inputItself,
               writes),
    collective("_c10d_functional::wait_tensor(Tensor tensor) -> Tensor", sameAsInput),
    collective("_c10d_functional_autograd::all_gather_into_tensor(Tensor input" KERF_SIZED " -> Tensor", gatheredShape),
    collective("_c10d_functional_autograd::reduce_scatter_tensor(Tensor input" KERF_REDUCED_SIZED " -> Tensor",
               scatteredShape),
    collective("_c10d_functional_autograd::all_to_all_single(Tensor input" KERF_SPLITS " -> Tensor", exchangedShape),
    collective("_dtensor::shard_dim_alltoall(Tensor input, int gather_dim, int shard_dim" KERF_GROUP " -> Tensor",
               dependsOnGroup),
};

const OpRegistration collectiveOps({.rows = collectiveRows});

}  // namespace

}  // namespace kerf::inline ops
