// c10d.*: the collectives of process groups as eager code calls them, in place, which traces hold where nothing has
// made them functional. They return a Work, which has no value here, most of them behind what they write to.
#include "engine/ops/core/op_call.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/distributed/rank_link.h"

namespace kerf::inline ops {
namespace {

/// What was written to, and the Work.
Result<Value> writtenAndWork(const BoundArguments& args) { return Value(ValueList{args.values[0], Value()}); }

/// The Work alone.
Result<Value> workOnly(const BoundArguments&) { return Value(); }

Result<Value> needsGroup(const BoundArguments& args) {
  if (RankLink* link = RankLink::current()) return link->collective(args);
  return fail(ErrorCode::UnsupportedOp, "{} talks through a process group: Kerf does not run it", args.opName());
}

constexpr OpTrait writes = OpTrait::Impure | OpTrait::Inplace;

constexpr OpRow collective(const char* schema, ShapeRule shape) { return {schema, writes, shape, needsGroup}; }

#define KERF_ASYNC ", bool asyncOp=True, int timeout=-1)"
#define KERF_REDUCING ", Any process_group, Any reduce_op"

// torch/csrc/distributed/c10d/Ops.cpp
constexpr OpRow processGroupRows[] = {
    collective("c10d::broadcast_(Tensor(a!)[] tensors, Any process_group, int root_rank, int root_tensor" KERF_ASYNC
               " -> (Tensor(a!)[], Any)",
               writtenAndWork),
    collective("c10d::allreduce_(Tensor(a!)[] tensors" KERF_REDUCING ", Tensor? sparse_indices" KERF_ASYNC
               " -> (Tensor(a!)[], Any)",
               writtenAndWork),
    collective("c10d::allreduce_coalesced_(Tensor(a!)[] tensors" KERF_REDUCING KERF_ASYNC " -> Any", workOnly),
    collective("c10d::reduce_(Tensor(a!)[] tensors" KERF_REDUCING ", int root_rank, int root_tensor" KERF_ASYNC
               " -> Any",
               workOnly),
    collective("c10d::_allgather_base_(Tensor(a!) output_tensor, Tensor input_tensor, Any process_group" KERF_ASYNC
               " -> (Tensor(a!), Any)",
               writtenAndWork),
    collective("c10d::allgather_into_tensor_coalesced_(Tensor(a!)[] outputs, Tensor[] inputs, Any "
               "process_group" KERF_ASYNC " -> Any",
               workOnly),
    collective("c10d::_reduce_scatter_base_(Tensor(a!) output_tensor, Tensor input_tensor" KERF_REDUCING KERF_ASYNC
               " -> (Tensor(a!), Any)",
               writtenAndWork),
    collective("c10d::reduce_scatter_tensor_coalesced_(Tensor(a!)[] outputs, Tensor[] inputs" KERF_REDUCING KERF_ASYNC
               " -> Any",
               workOnly),
    collective("c10d::allgather_(Tensor(a!)[][] output_tensors, Tensor[] input_tensors, Any process_group" KERF_ASYNC
               " -> (Tensor(a!)[][], Any)",
               writtenAndWork),
    collective("c10d::allgather_coalesced_(Tensor(a!)[][] output_lists, Tensor[] input_list, Any process_group, bool "
               "asyncOp=True) -> Any",
               workOnly),
    collective("c10d::reduce_scatter_(Tensor(a!)[] output_tensors, Tensor[][] input_tensors" KERF_REDUCING KERF_ASYNC
               " -> (Tensor(a!)[], Any)",
               writtenAndWork),
    collective("c10d::gather_(Tensor(a!)[][] output_tensors, Tensor[] input_tensors, Any process_group, int "
               "root_rank" KERF_ASYNC " -> Any",
               workOnly),
    collective("c10d::scatter_(Tensor(a!)[] output_tensors, Tensor[][] input_tensors, Any process_group, int "
               "root_rank" KERF_ASYNC " -> (Tensor(a!)[], Any)",
               writtenAndWork),
    collective("c10d::monitored_barrier_(Tensor tensor, Any process_group, int[] device_ids, int timeout, bool "
               "wait_all_ranks=True) -> ()",
               workOnly),
    collective("c10d::alltoall_(Tensor(a!)[] output_tensors, Tensor[] input_tensors, Any process_group" KERF_ASYNC
               " -> (Tensor(a!)[], Any)",
               writtenAndWork),
    collective("c10d::alltoall_base_(Tensor(a!) output, Tensor input, Any process_group, int[] output_split_sizes, "
               "int[] input_split_sizes" KERF_ASYNC " -> Any",
               workOnly),
    collective("c10d::barrier(Tensor tensor, Any process_group, int[] device_ids" KERF_ASYNC " -> Any", workOnly),
    collective("c10d::send(Tensor[] tensors, Any process_group, int dst, int tag) -> Any", workOnly),
    collective("c10d::recv_(Tensor(a!)[] tensors, Any process_group, int src, int tag) -> Any", workOnly),
};

const OpRegistration processGroupOps({.rows = processGroupRows});

}  // namespace

}  // namespace kerf::inline ops
