#include <algorithm>
#include <cmath>

#include "engine/backend/cuda/device_attention.h"
#include "engine/codegen_cuda/scalar_text.h"

namespace kerf::inline backend {
namespace {

/// Keys beyond which a row is a whole block's.
constexpr std::int64_t longRow = 2048;

bool lieEvenly(const HeadMatrices& b) { return b.sizes[0] == 1 || b.strides[0] == b.sizes[1] * b.strides[1]; }

}  // namespace

std::optional<std::size_t> argumentNamed(const BoundArguments& args, std::string_view name) {
  for (std::size_t i = 0; i < args.values.size(); ++i)
    if (args.op->schema.arguments[i].name == name) return i;
  return {};
}
const Tensor* tensorNamed(const BoundArguments& args, std::string_view name) {
  const auto at = argumentNamed(args, name);
  return at ? args.tensorIf(*at) : nullptr;
}
bool isFlash(const BoundArguments& args) { return args.op->schema.name.find("_flash_") != std::string::npos; }

std::optional<AttentionHeads> attentionHeads(const DeviceCall& call) {
  const BoundArguments& args = call.args;
  const Tensor *q = tensorNamed(args, "query"), *k = tensorNamed(args, "key"), *v = tensorNamed(args, "value");
  if (call.on.blas == nullptr || !q || !k || !v || q->dim() != 4 || k->dim() != 4 || v->dim() != 4) return {};
  const DType dtype = q->dtype();
  const bool isFloat =
      dtype == DType::Float32 || dtype == DType::Float64 || dtype == DType::Float16 || dtype == DType::BFloat16;
  if (!isFloat || k->dtype() != dtype || v->dtype() != dtype || q->numel() == 0 || k->numel() == 0 || v->numel() == 0)
    return {};
  if (k->size(1) == 0 || q->size(1) % k->size(1) != 0 || v->size(1) != k->size(1)) return {};
  AttentionHeads h{args,
                   *q,
                   *k,
                   *v,
                   q->size(0),
                   q->size(1),
                   q->size(1) / k->size(1),
                   q->size(2),
                   k->size(2),
                   q->size(3),
                   v->size(3),
                   1,
                   0,
                   dtype,
                   dtype == DType::Float64 ? DType::Float64 : DType::Float32};
  const auto scale = argumentNamed(args, "scale"), dropout = argumentNamed(args, "dropout_p");
  h.scale = scale && !args.none(*scale) ? args.number(*scale) : 1 / std::sqrt(double(h.width));
  if (dropout) h.dropout = args.number(*dropout);
  h.mask = tensorNamed(args, argumentNamed(args, "attn_mask") ? "attn_mask" : "attn_bias");
  if (h.mask != nullptr && h.mask->dtype() != DType::Bool && h.mask->dtype() != dtype) return {};
  return h;
}

KernelMacros attentionMacros(DType dtype, DType mask, bool isLong, bool isFlash) {
  const DType sum = dtype == DType::Float64 ? DType::Float64 : DType::Float32;
  const bool isBool = mask == DType::Bool;
  return {{"T", std::string(memoryType(dtype))},
          {"A", std::string(memoryType(sum))},
          {"M", std::string(memoryType(mask))},
          {"MASK_IS_BOOL", isBool ? "1" : "0"},
          {"FROM_MASK(x)", isBool ? "0" : convertText("(x)", mask, sum)},
          {"TO_MASK(x)", isBool ? "0" : convertText("(x)", sum, mask)},
          {"FROM(x)", convertText("(x)", dtype, sum)},
          {"TO(x)", convertText("(x)", sum, dtype)},
          {"TEAM", isLong ? "256" : "32"},
          {"KERF_INFINITY", "__int_as_float(0x7f800000)"},
          {"EMPTY_IS_PLUS", isFlash ? "1" : "0"}};
}
KernelMacros attentionMacros(const AttentionHeads& h) {
  return attentionMacros(h.dtype, h.mask != nullptr ? h.mask->dtype() : h.dtype, h.keys > longRow, isFlash(h.args));
}

AttentionRows attentionRows(const AttentionHeads& h, const ScoreBlock& block) {
  AttentionRows rows{.rows = block.rows(), .keys = block.keys, .queries = block.queries, .heads = block.heads};
  rows.allKeys = h.keys, rows.allQueries = h.queries, rows.allHeads = h.heads;
  rows.firstBatch = block.batch, rows.firstHead = block.head, rows.firstQuery = block.query;
  const auto causal = argumentNamed(h.args, "is_causal");
  rows.causal = causal && h.args.boolean(*causal) ? 1 : 0;
  if (isFlash(h.args)) rows.shift = h.keys - h.queries;
  rows.drops = h.dropout != 0 ? 1 : 0;
  rows.keep = h.dropout;
  rows.factor = 1 / (1 - h.dropout);
  if (h.mask == nullptr) return rows;
  rows.hasMask = 1;
  const std::size_t dims = h.mask->sizes().size();
  for (std::size_t d = 0; d < std::min<std::size_t>(dims, 4); ++d)
    rows.mask[3 - d] = h.mask->sizes()[dims - 1 - d] == 1 ? 0 : h.mask->strides()[dims - 1 - d];
  return rows;
}

std::int64_t attentionBlocks(const DeviceCall& call, const AttentionHeads& h, const ScoreBlock& block) {
  const std::int64_t teams = h.keys > longRow ? 1 : 8;
  return std::min<std::int64_t>((block.rows() + teams - 1) / teams, call.on.queue.driver().processors() * 32);
}

Result<HeadMatrices> headMatrices(const DeviceCall& call, const Tensor& tensor, bool writes, std::int64_t groups) {
  HeadMatrices result{0, tensor.sizes(), tensor.strides(), tensor.dtype(), groups};
  KERF_TRY(result.address, call.on.addressOf(tensor, writes));
  const DeviceMatrix matrix = result.matrix(0, 0);
  if (writes || DeviceBlas::takes(matrix, matrix, matrix, tensor.dtype())) return result;
  result.strides = contiguousStrides(result.sizes);
  KERF_TRY(const DeviceAddress copy, call.on.scratch.take(tensor.byteSize()));
  KERF_CHECK(call.on.library.copy(result.sizes, copy, result.strides, result.address, tensor.strides(),
                                  itemSize(tensor.dtype())));
  result.address = copy;
  return result;
}

bool isWritable(const DeviceCall& call, std::size_t out) {
  if (!call.hasOut(out)) return true;
  const Tensor& tensor = call.out(out);
  const DeviceMatrix matrix = HeadMatrices{0, tensor.sizes(), tensor.strides(), tensor.dtype()}.matrix(0, 0);
  return DeviceBlas::takes(matrix, matrix, matrix, tensor.dtype());
}

Result<void> multiplyHeads(const DeviceCall& call, const HeadMatrices& a, const HeadMatrices& b,
                           const HeadMatrices& out, double alpha, bool adds) {
  const std::int64_t batch = a.sizes[0], heads = std::max({a.sizes[1], b.sizes[1], out.sizes[1]});
  const std::int64_t groups = std::max({a.groups, b.groups, out.groups});
  const auto multiply = [&](std::int64_t first, std::int64_t head, std::int64_t stepOf, std::int64_t count,
                            double beta) -> Result<void> {
    DeviceMatrix left = a.matrix(first, head), right = b.matrix(first, head), to = out.matrix(first, head);
    const auto step = [&](const HeadMatrices& x) {
      return stepOf == 0 ? x.strides[0] : x.strides[1] * stepOf / x.groups;
    };
    left.batchStride = step(a), right.batchStride = step(b), to.batchStride = step(out);
    return call.on.queue.call({left.address, right.address, to.address}, [&] {
      return call.on.blas->multiply(left, right, to, {a.dtype, out.dtype}, count, alpha, beta);
    });
  };
  if (groups == 1 && lieEvenly(a) && lieEvenly(b) && lieEvenly(out))
    return multiply(0, 0, 1, batch * heads, adds ? 1 : 0);
  const auto betaOf = [&](std::int64_t group) { return adds || (out.groups > 1 && group > 0) ? 1.0 : 0.0; };
  if (batch > heads) {
    for (std::int64_t head = 0; head < heads; ++head) KERF_CHECK(multiply(0, head, 0, batch, betaOf(head % groups)));
    return {};
  }
  for (std::int64_t first = 0; first < batch; ++first)
    for (std::int64_t group = 0; group < groups; ++group)
      KERF_CHECK(multiply(first, group, groups, heads / groups, betaOf(group)));
  return {};
}

/// Masked scores become weights (kept where `keepsWeights`) and dropped weights.
static Result<void> softmax(const DeviceCall& call, const AttentionHeads& h, const ScoreBlock& block,
                            const AttentionWeights& of, const Tensor* sums, const DeviceDropout& stream,
                            bool keepsWeights) {
  AttentionRows rows = attentionRows(h, block);
  DeviceAddress sumsAt = 0, maskAt = 0;
  if (sums != nullptr && sums->numel() > 0) {
    KERF_TRY(sumsAt, call.on.addressOf(*sums, true));
    for (std::size_t d = 0; d < 3; ++d) rows.sums[d] = sums->strides()[d];
  }
  if (h.mask != nullptr) {
    KERF_TRY(maskAt, call.on.addressOf(*h.mask));
  }
  KernelArguments arguments;
  arguments.add(of.weights.address).add(of.dropped.address).add(sumsAt).add(maskAt).add(stream.seed).add(stream.offset);
  arguments.add(rows).add(int(keepsWeights));
  return call.on.library.launch(attentionSource(), "kerf_softmax", attentionMacros(h), attentionBlocks(call, h, block),
                                256, arguments);
}

Result<AttentionWeights> attend(const DeviceCall& call, const AttentionHeads& h, const AttentionParts& parts,
                                const ScoreBlock& block, const Tensor* sums, const DeviceDropout& stream,
                                bool keepsWeights) {
  const AttentionWeights of{blockScores(parts.scores, block, h.sum), blockScores(parts.dropped, block, h.dtype)};
  KERF_CHECK(multiplyHeads(call, parts.q.queries(block), parts.k.keys(block).turned(), of.weights, h.scale));
  KERF_CHECK(softmax(call, h, block, of, sums, stream, keepsWeights));
  return of;
}

}  // namespace kerf::inline backend
