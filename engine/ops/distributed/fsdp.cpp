// What FSDP2's traced all-gathers and reduce-scatters put around the collectives: copies between parameters and one
// buffer, and storages that come and go.
#include "engine/ops/core/op_call.h"
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

/// The rank's part of the buffer, and the buffer.
Result<Value> copyInShape(const BoundArguments& args) {
  const Tensor& buffer = args.tensor(1);
  if (buffer.dim() != 1) return mismatch(args, "all_gather_output must have one dimension, got {}", buffer.dim());
  const SymInt count = args.symInteger(3), rank = args.symInteger(4);
  const SymInt stride = buffer.symStride(0);
  return tensorList(
      {metaTensor(buffer.dtype(), SymSizes{count}, SymSizes{stride}, buffer.symOffset() + count * rank * stride),
       buffer});
}

Result<Value> nothing(const BoundArguments&) { return Value(); }

/// What these do to storages has no meaning without the rest of FSDP.
Result<Value> needsFsdp(const BoundArguments& args) {
  return fail(ErrorCode::UnsupportedOp, "{} changes the storages of FSDP's parameters: Kerf does not run it",
              args.opName());
}

constexpr OpTrait writes = OpTrait::Impure | OpTrait::Inplace;

constexpr OpRow fsdpRows[] = {
    {"fsdp::all_gather_copy_in(Tensor[] all_gather_inputs, Tensor all_gather_output, SymInt[] inp_split_sizes, SymInt "
     "all_gather_input_numel, SymInt rank) -> (Tensor, Tensor)",
     writes, copyInShape, needsFsdp},
    {"fsdp::split_with_sizes_copy(Tensor all_gather_output, SymInt[] all_gather_input_split_sizes, int dim=0, *, "
     "Tensor(a!)[] out) -> ()",
     writes, nothing, needsFsdp},
    {"fsdp::chunk_cat(Tensor[] tensors, int dim, int num_chunks, *, Tensor(a!) out) -> ()", writes, nothing, needsFsdp},
    {"fsdp::copy_(Tensor(a!) tensor, Tensor data) -> ()", writes, nothing, needsFsdp},
    {"inductor::resize_storage_bytes_(Tensor(a!) variable, SymInt new_size) -> ()", writes, nothing, needsFsdp},
    {"inductor::accumulate_grad_(Tensor(a!) variable, Tensor new_grad) -> ()", writes, nothing, needsFsdp},
    {"_c10d_functional::all_gather_into_tensor_out(Tensor input, int group_size, Any group_name, *, Tensor(a!) out) -> "
     "Tensor(a!)",
     writes, [](const BoundArguments& args) -> Result<Value> { return args.values[3]; }, needsFsdp},
    {"_c10d_functional::reduce_scatter_tensor_out(Tensor input, str reduce_op, int group_size, Any group_name, *, "
     "Tensor(a!) out) -> Tensor(a!)",
     writes, [](const BoundArguments& args) -> Result<Value> { return args.values[4]; }, needsFsdp},
};

const OpRegistration fsdpOps({.rows = fsdpRows});

}  // namespace

}  // namespace kerf::inline ops
