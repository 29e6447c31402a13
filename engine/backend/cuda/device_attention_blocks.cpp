// Attention's scores a block at a time, so that their memory does not grow with the square of the sequence, and the gradients to
// which several blocks add.
#include <algorithm>

#include "engine/backend/cuda/device_attention.h"

namespace kerf::inline backend {
namespace {

/// Queries of a block and the keys that it looks at are multiples of this where they can be: what products' squares take.
constexpr std::int64_t productSide = 64;

std::int64_t roundedUp(std::int64_t number, std::int64_t unit) { return (number + unit - 1) / unit * unit; }

/// Of `count` things as many as fit, shared out evenly.
std::int64_t atOnce(std::int64_t count, std::int64_t bytes, std::int64_t most) {
  const std::int64_t fit = std::clamp<std::int64_t>(most / std::max<std::int64_t>(1, bytes), 1, count);
  const std::int64_t blocks = (count + fit - 1) / fit;
  return (count + blocks - 1) / blocks;
}

std::int64_t queriesAtOnce(const AttentionHeads& h, std::int64_t bytes, std::int64_t most) {
  const std::int64_t fit = std::clamp<std::int64_t>(most / (h.groups * h.keys * bytes), 1, h.queries);
  return fit < h.queries && fit > productSide ? fit / productSide * productSide : fit;
}

/// Keys that queries before `end` see.
std::int64_t keysBefore(const AttentionHeads& h, std::int64_t end) {
  const auto causal = argumentNamed(h.args, "is_causal");
  if (!causal || !h.args.boolean(*causal)) return h.keys;
  const std::int64_t shift = isFlash(h.args) ? h.keys - h.queries : 0;
  return std::clamp<std::int64_t>(roundedUp(std::max<std::int64_t>(end + shift, 1), productSide), 1, h.keys);
}

}  // namespace

std::vector<ScoreBlock> scoreBlocks(const AttentionHeads& h, std::int64_t bytes, std::int64_t most, bool needsAllKeys) {
  const std::int64_t perKeyHead = h.groups * h.queries * h.keys * bytes, keyHeads = h.heads / h.groups;
  const std::int64_t batches = atOnce(h.batch, perKeyHead * keyHeads, most);
  const std::int64_t heads = perKeyHead * keyHeads <= most ? h.heads : atOnce(keyHeads, perKeyHead, most) * h.groups;
  const std::int64_t queries = perKeyHead <= most ? h.queries : queriesAtOnce(h, bytes, most);
  std::vector<ScoreBlock> blocks;
  for (std::int64_t batch = 0; batch < h.batch; batch += batches)
    for (std::int64_t head = 0; head < h.heads; head += heads)
      for (std::int64_t query = (h.queries - 1) / queries * queries; query >= 0; query -= queries) {
        const std::int64_t end = std::min(h.queries, query + queries);
        blocks.push_back({batch, std::min(batches, h.batch - batch), head, std::min(heads, h.heads - head), query,
                          end - query, needsAllKeys || end == h.queries ? h.keys : keysBefore(h, end)});
      }
  return blocks;
}

std::int64_t mostScores(const std::vector<ScoreBlock>& blocks) {
  std::int64_t most = 0;
  for (const ScoreBlock& block : blocks) most = std::max(most, block.rows() * block.keys);
  return most;
}

HeadMatrices blockScores(DeviceAddress address, const ScoreBlock& block, DType dtype) {
  HeadMatrices result{address, {block.batches, block.heads, block.queries, block.keys}, {}, dtype};
  result.strides = contiguousStrides(result.sizes);
  return result;
}

Result<AttentionParts> attentionParts(const DeviceCall& call, const AttentionHeads& h,
                                      const std::vector<ScoreBlock>& blocks) {
  AttentionParts parts;
  KERF_TRY(parts.q, headMatrices(call, h.q, false));
  KERF_TRY(parts.k, headMatrices(call, h.k, false, h.groups));
  KERF_TRY(parts.scores, call.on.scratch.take(mostScores(blocks) * itemSize(h.sum)));
  KERF_TRY(parts.dropped, call.on.scratch.take(mostScores(blocks) * itemSize(h.dtype)));
  return parts;
}

Result<void> roundInto(const DeviceCall& call, const KernelMacros& macros, const Tensor& out, DeviceAddress sums) {
  KERF_TRY(const DeviceAddress to, call.on.addressOf(out, true));
  KERF_TRY(const DeviceShape shape, DeviceShape::of(out.sizes(), out.strides()));
  KernelArguments arguments;
  arguments.add(to).add(sums).add(shape).add(out.numel());
  return call.on.library.launch(attentionSource(), "kerf_rounded", macros, call.on.library.blocksFor(out.numel()), 256,
                                arguments);
}

Result<KeyGradient> KeyGradient::of(const DeviceCall& call, const AttentionHeads& h, std::size_t out,
                                    const std::vector<ScoreBlock>& blocks) {
  KeyGradient result;
  result.m_wanted = call.hasOut(out), result.m_result = out;
  if (!result.m_wanted) return result;
  KERF_TRY(result.m_out, headMatrices(call, call.out(out), true, h.groups));
  result.m_sums = result.m_out;
  result.m_lastQuery = blocks.front().query;
  if (result.m_lastQuery == 0 || h.dtype == h.sum) return result;
  result.m_sums.dtype = h.sum;
  result.m_sums.strides = contiguousStrides(result.m_sums.sizes);
  KERF_TRY(result.m_sums.address, call.on.scratch.take(call.out(out).numel() * itemSize(h.sum)));
  return result;
}

Result<void> KeyGradient::add(const DeviceCall& call, const HeadMatrices& a, const HeadMatrices& b,
                              const ScoreBlock& block, double alpha) const {
  if (!m_wanted) return {};
  return multiplyHeads(call, a, b, m_sums.keys(block), alpha, block.query != m_lastQuery);
}

Result<void> KeyGradient::finish(const DeviceCall& call, const AttentionHeads& h) const {
  if (!m_wanted || m_sums.address == m_out.address) return {};
  return roundInto(call, attentionMacros(h), call.out(m_result), m_sums.address);
}

}  // namespace kerf::inline backend
