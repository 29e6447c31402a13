// What FSDP2's traced all-gathers and reduce-scatters put around the collectives: copies between parameters and one
// buffer, and storages that come and go.
#include "engine/ops/core/op_call.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/distributed/rank_link.h"

namespace kerf::inline ops {
namespace {

/// `count` elements at place `rank`, inside of the buffer; what is not known yet is taken to fit.
Result<void> checkPart(const BoundArguments& args, const Tensor& buffer, SymInt count, SymInt rank) {
  const SymInt size = buffer.symSize(0);
  if (count.isSymbolic() || rank.isSymbolic()) return {};
  const std::int64_t elements = count, place = rank;
  if (elements < 0 || place < 0) return mismatch(args, "rank {} and {} elements cannot be negative", place, elements);
  if (size.isSymbolic() || elements == 0 || place < std::int64_t(size) / elements) return {};
  return mismatch(args, "the part of rank {}, {} elements, lies beyond the buffer of {}", place, elements,
                  std::int64_t(size));
}

/// The rank's part of the buffer, and the buffer.
Result<Value> copyInShape(const BoundArguments& args) {
  const Tensor& buffer = args.tensor(1);
  if (buffer.dim() != 1) return mismatch(args, "all_gather_output must have one dimension, got {}", buffer.dim());
  const SymInt count = args.symInteger(3), rank = args.symInteger(4);
  KERF_CHECK(checkPart(args, buffer, count, rank));
  const SymInt stride = buffer.symStride(0);
  return tensorList(
      {metaTensor(buffer.dtype(), SymSizes{count}, SymSizes{stride}, buffer.symOffset() + count * rank * stride),
       buffer});
}

Result<Value> nothing(const BoundArguments&) { return Value(); }

/// Result `i` of the collective's functional form, written into its last argument.
Result<Value> overRanks(const BoundArguments& args) {
  if (RankLink* link = RankLink::current()) return link->collective(args);
  return fail(ErrorCode::UnsupportedOp, "{} needs the other ranks of its group: Kerf runs one process", args.opName());
}

Result<void> write(const Tensor& from, const Tensor& to) {
  KERF_TRY(const Tensor flat, callTensorOp("aten.reshape.default"_op, {from, intList(to.sizes())}));
  KERF_CHECK(callOp("aten.copy_.default"_op, {to, flat}));
  return {};
}

/// The parameters' shards one behind the other, in this rank's part of the buffer.
Result<Value> copyIn(const BoundArguments& args) {
  KERF_TRY(const Value shapes, copyInShape(args));
  const Tensor& buffer = args.tensor(1);
  const std::int64_t count = args.integer(3), rank = args.integer(4);
  KERF_TRY(const Tensor own,
           callTensorOp("aten.slice.Tensor"_op, {buffer, std::int64_t{0}, count * rank, count * (rank + 1)}));
  std::int64_t at = 0;
  for (const Tensor& input : args.tensors(0)) {
    if (input.numel() > count - at)
      return mismatch(args, "the inputs have more than the {} elements of a rank's part", count);
    KERF_TRY(const Tensor part, callTensorOp("aten.slice.Tensor"_op, {own, std::int64_t{0}, at, at + input.numel()}));
    KERF_CHECK(write(input, part));
    at += input.numel();
  }
  return Value(ValueList{own, buffer});
}

/// Parts of the gathered buffer along `dim`, each into its parameter.
Result<Value> copyOut(const BoundArguments& args) {
  const Tensor& buffer = args.tensor(0);
  const Sizes sizes = args.sizes(1);
  const std::vector<Tensor> out = args.tensors(3);
  if (out.size() != sizes.size()) return mismatch(args, "{} sizes for {} tensors", sizes.size(), out.size());
  std::int64_t at = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (sizes[i] < 0) return mismatch(args, "a size of {} is negative", sizes[i]);
    KERF_TRY(const Tensor part, callTensorOp("aten.slice.Tensor"_op, {buffer, args.integer(2), at, at + sizes[i]}));
    KERF_CHECK(write(part, out[i]));
    at += sizes[i];
  }
  return Value();
}

constexpr std::int64_t mostChunks = 1 << 20;  ///< one for each rank

/// Gradients padded to equal chunks, chunk by chunk behind each other.
Result<Value> chunkCat(const BoundArguments& args) {
  if (args.integer(1) != 0) return fail(ErrorCode::UnsupportedOp, "{} along another dimension than 0", args.opName());
  const std::int64_t chunks = args.integer(2);
  if (chunks < 1 || chunks > mostChunks)
    return mismatch(args, "num_chunks must be from 1 to {}, got {}", mostChunks, chunks);
  ValueList rows;
  for (const Tensor& tensor : args.tensors(0)) {
    if (tensor.dim() == 0) return mismatch(args, "a tensor without dimensions has no chunks");
    const std::int64_t missing = (chunks - tensor.size(0) % chunks) % chunks;
    Sizes padding(std::size_t(2 * tensor.dim()), 0);
    padding.back() = missing;
    KERF_TRY(const Tensor padded, callTensorOp("aten.constant_pad_nd.default"_op, {tensor, intList(padding), 0.0}));
    KERF_TRY(Tensor flat, callTensorOp("aten.reshape.default"_op, {padded, intList({chunks, -1})}));
    rows.emplace_back(std::move(flat));
  }
  KERF_TRY(const Tensor joined, callTensorOp("aten.cat.default"_op, {Value(std::move(rows)), std::int64_t{1}}));
  KERF_CHECK(write(joined, args.tensor(3)));
  return Value();
}

Result<Value> copyInto(const BoundArguments& args) {
  KERF_CHECK(write(args.tensor(1), args.tensor(0)));
  return Value();
}

/// What these do to storages has no meaning without the rest of FSDP.
Result<Value> needsFsdp(const BoundArguments& args) {
  return fail(ErrorCode::UnsupportedOp, "{} changes the storages of FSDP's parameters: Kerf does not run it",
              args.opName());
}

constexpr OpTrait writes = OpTrait::Impure | OpTrait::Inplace;

constexpr OpRow fsdpRows[] = {
    {"fsdp::all_gather_copy_in(Tensor[] all_gather_inputs, Tensor all_gather_output, SymInt[] inp_split_sizes, SymInt "
     "all_gather_input_numel, SymInt rank) -> (Tensor, Tensor)",
     writes, copyInShape, copyIn},
    {"fsdp::split_with_sizes_copy(Tensor all_gather_output, SymInt[] all_gather_input_split_sizes, int dim=0, *, "
     "Tensor(a!)[] out) -> ()",
     writes, nothing, copyOut},
    {"fsdp::chunk_cat(Tensor[] tensors, int dim, int num_chunks, *, Tensor(a!) out) -> ()", writes, nothing, chunkCat},
    {"fsdp::copy_(Tensor(a!) tensor, Tensor data) -> ()", writes, nothing, copyInto},
    {"inductor::resize_storage_bytes_(Tensor(a!) variable, SymInt new_size) -> ()", writes, nothing, needsFsdp},
    {"inductor::accumulate_grad_(Tensor(a!) variable, Tensor new_grad) -> ()", writes, nothing, needsFsdp},
    {"_c10d_functional::all_gather_into_tensor_out(Tensor input, int group_size, Any group_name, *, Tensor(a!) out) -> "
     "Tensor(a!)",
     writes, [](const BoundArguments& args) -> Result<Value> { return args.values[3]; }, overRanks},
    {"_c10d_functional::reduce_scatter_tensor_out(Tensor input, str reduce_op, int group_size, Any group_name, *, "
     "Tensor(a!) out) -> Tensor(a!)",
     writes, [](const BoundArguments& args) -> Result<Value> { return args.values[4]; }, overRanks},
};

const OpRegistration fsdpOps({.rows = fsdpRows});

}  // namespace

}  // namespace kerf::inline ops
