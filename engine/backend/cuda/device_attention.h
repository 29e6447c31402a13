// What attention's forward and backward on the device share: heads as matrices, their scores and the softmax over them.
#pragma once

#include <optional>

#include "engine/backend/cuda/device_ops.h"

namespace kerf::inline backend {

/// Rows of scores as the kernels take them.
struct AttentionRows {
  long long rows = 0, keys = 0, queries = 0, heads = 0, mask[4] = {}, sums[3] = {}, shift = 0;
  double keep = 0, factor = 1;
  int causal = 0, hasMask = 0, drops = 0, padding = 0;
};

/// Which argument of the op has this name.
std::optional<std::size_t> argumentNamed(const BoundArguments& args, std::string_view name);
/// Null where there is none, or no tensor.
const Tensor* tensorNamed(const BoundArguments& args, std::string_view name);
bool isFlash(const BoundArguments& args);

struct AttentionHeads {
  const BoundArguments& args;
  const Tensor &q, &k, &v;
  std::int64_t batch, heads, groups, queries, keys, width, valueWidth;  ///< groups: query heads of one key head
  double scale = 1, dropout = 0;
  DType dtype, sum;  ///< of the tensors, and what is computed with
  const Tensor* mask = nullptr;
  std::int64_t rows() const { return batch * heads * queries; }
  std::int64_t scores() const { return rows() * keys; }
};

/// None where the device does not take them.
std::optional<AttentionHeads> attentionHeads(const DeviceCall& call);
/// Flash kernels align the causal triangle with the last key, the others with the first.
AttentionRows attentionRows(const AttentionHeads& h);
KernelMacros attentionMacros(DType dtype, DType mask, bool isLong, bool isFlash);
KernelMacros attentionMacros(const AttentionHeads& h);
std::int64_t attentionBlocks(const DeviceCall& call, const AttentionHeads& h);

/// A [batch, heads, rows, columns] tensor of the device; heads are those of the query, of which `groups` share one
/// here.
struct HeadMatrices {
  DeviceAddress address = 0;
  Sizes sizes, strides;
  DType dtype = DType::Float32;
  std::int64_t groups = 1;
  HeadMatrices turned() const {
    HeadMatrices result = *this;
    std::swap(result.sizes[2], result.sizes[3]);
    std::swap(result.strides[2], result.strides[3]);
    return result;
  }
  DeviceMatrix matrix(std::int64_t batch, std::int64_t head) const {
    const std::int64_t offset = batch * strides[0] + head / groups * strides[1];
    return {address + std::uint64_t(offset * itemSize(dtype)), sizes[2], sizes[3], strides[2], strides[3], 0};
  }
};

/// Dense scores in scratch.
Result<HeadMatrices> takeScores(const DeviceCall& call, const AttentionHeads& h, DType dtype);
/// A tensor of the call; in a dense copy where its matrices lie as cuBLAS does not take them.
Result<HeadMatrices> headMatrices(const DeviceCall& call, const Tensor& tensor, bool writes, std::int64_t groups = 1);
/// Whether cuBLAS writes the matrices of a result as they lie.
bool isWritable(const DeviceCall& call, std::size_t out);
/// out = alpha a b for every batch and head; heads of `out` that share a place add up there.
Result<void> multiplyHeads(const DeviceCall& call, const HeadMatrices& a, const HeadMatrices& b, const HeadMatrices& out,
                           double alpha);

/// Where the dropout's numbers start; addresses of two integers, or none.
struct DeviceDropout {
  DeviceAddress seed = 0, offset = 0;
};

struct AttentionWeights {
  HeadMatrices weights, dropped;
};

/// Scores, masked and made weights; `sums`: the logarithms of the softmax's sums, or null.
Result<AttentionWeights> attend(const DeviceCall& call, const AttentionHeads& h, const Tensor* sums,
                                const DeviceDropout& stream, bool keepsWeights);

}  // namespace kerf::inline backend
