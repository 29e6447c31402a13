// What attention's forward and backward on the device share: heads as matrices, their scores and the softmax over them.
#pragma once

#include <optional>
#include <vector>

#include "engine/backend/cuda/device_ops.h"

namespace kerf::inline backend {

/// Rows of scores as the kernels take them: those of one block, and where it lies in the whole.
struct AttentionRows {
  long long rows = 0, keys = 0, queries = 0, heads = 0, mask[4] = {}, sums[3] = {}, shift = 0;
  long long allKeys = 0, allQueries = 0, allHeads = 0, firstBatch = 0, firstHead = 0, firstQuery = 0;
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

/// Scores that are in memory at once: some batches, or some heads of one batch, or some queries of the heads of one key head.
struct ScoreBlock {
  std::int64_t batch = 0, batches = 1, head = 0, heads = 1, query = 0, queries = 1;
  std::int64_t keys = 1;  ///< up to the last one that a causal triangle lets some query see
  std::int64_t rows() const { return batches * heads * queries; }
};
/// One block where all scores, of `bytes` each, take no more than `most`. Of blocks of the same heads the first one has the last
/// queries and all keys; others have them too where `needsAllKeys`.
std::vector<ScoreBlock> scoreBlocks(const AttentionHeads& h, std::int64_t bytes, std::int64_t most,
                                    bool needsAllKeys = false);
/// Scores of the largest block.
std::int64_t mostScores(const std::vector<ScoreBlock>& blocks);

/// None where the device does not take them.
std::optional<AttentionHeads> attentionHeads(const DeviceCall& call);
/// Flash kernels align the causal triangle with the last key, the others with the first.
AttentionRows attentionRows(const AttentionHeads& h, const ScoreBlock& block);
KernelMacros attentionMacros(DType dtype, DType mask, bool isLong, bool isFlash);
KernelMacros attentionMacros(const AttentionHeads& h);
std::int64_t attentionBlocks(const DeviceCall& call, const AttentionHeads& h, const ScoreBlock& block);

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
  /// `count` of its places along `dim`, from `first` on; heads are those of the query.
  HeadMatrices part(std::size_t dim, std::int64_t first, std::int64_t count) const {
    HeadMatrices result = *this;
    if (dim == 1) first /= groups, count /= groups;
    result.address += std::uint64_t(first * strides[dim] * itemSize(dtype));
    result.sizes[dim] = count;
    return result;
  }
  HeadMatrices heads(const ScoreBlock& b) const { return part(0, b.batch, b.batches).part(1, b.head, b.heads); }
  HeadMatrices queries(const ScoreBlock& b) const { return heads(b).part(2, b.query, b.queries); }
  HeadMatrices keys(const ScoreBlock& b) const { return heads(b).part(2, 0, b.keys); }
  DeviceMatrix matrix(std::int64_t batch, std::int64_t head) const {
    const std::int64_t offset = batch * strides[0] + head / groups * strides[1];
    return {address + std::uint64_t(offset * itemSize(dtype)), sizes[2], sizes[3], strides[2], strides[3], 0};
  }
};

/// Dense scores of a block, where `address` has place for them.
HeadMatrices blockScores(DeviceAddress address, const ScoreBlock& block, DType dtype);
/// A tensor of the call; in a dense copy where its matrices lie as cuBLAS does not take them.
Result<HeadMatrices> headMatrices(const DeviceCall& call, const Tensor& tensor, bool writes, std::int64_t groups = 1);
/// Whether cuBLAS writes the matrices of a result as they lie.
bool isWritable(const DeviceCall& call, std::size_t out);
/// out = alpha a b for every batch and head, added to what is there where `adds`; heads of `out` that share a place add up there.
Result<void> multiplyHeads(const DeviceCall& call, const HeadMatrices& a, const HeadMatrices& b,
                           const HeadMatrices& out, double alpha, bool adds = false);

/// Where the dropout's numbers start; addresses of two integers, or none.
struct DeviceDropout {
  DeviceAddress seed = 0, offset = 0;
};

/// What attend() works on: query, key, and places for the scores of a block.
struct AttentionParts {
  HeadMatrices q, k;
  DeviceAddress scores = 0, dropped = 0;
};
Result<AttentionParts> attentionParts(const DeviceCall& call, const AttentionHeads& h,
                                      const std::vector<ScoreBlock>& blocks);

struct AttentionWeights {
  HeadMatrices weights, dropped;
};

/// Scores of a block, masked and made weights; `sums`: the logarithms of the softmax's sums, or null.
Result<AttentionWeights> attend(const DeviceCall& call, const AttentionHeads& h, const AttentionParts& parts,
                                const ScoreBlock& block, const Tensor* sums, const DeviceDropout& stream,
                                bool keepsWeights);

/// A gradient of key or value, to which blocks of queries may have to add.
class KeyGradient {
 public:
  /// `out`: the number of the result; where the call has none, nothing is done.
  static Result<KeyGradient> of(const DeviceCall& call, const AttentionHeads& h, std::size_t out,
                                const std::vector<ScoreBlock>& blocks);
  /// Adds alpha a b, of which every block of the same heads has a part.
  Result<void> add(const DeviceCall& call, const HeadMatrices& a, const HeadMatrices& b, const ScoreBlock& block,
                   double alpha) const;
  /// Rounds what was summed up.
  Result<void> finish(const DeviceCall& call, const AttentionHeads& h) const;

 private:
  bool m_wanted = false;
  std::size_t m_result = 0;
  std::int64_t m_lastQuery = 0;  ///< of the first block of each head: it does not add
  HeadMatrices m_out, m_sums;    ///< m_sums: where they are formed, in float32; else m_out
};

/// What is summed in another type than that of the result becomes the result.
Result<void> roundInto(const DeviceCall& call, const KernelMacros& macros, const Tensor& out, DeviceAddress sums);

}  // namespace kerf::inline backend
