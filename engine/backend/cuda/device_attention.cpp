// Scaled dot product attention on the device, in the fused forms that captures contain: scores and gradients as batched
// products, and everything between them row by row in one kernel.
#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/backend/cuda/device_ops.h"
#include "engine/codegen_cuda/scalar_text.h"
#include "engine/ops/random/state.h"

namespace kerf::inline backend {
namespace {

/// Keys beyond which a row is a whole block's.
constexpr std::int64_t longRow = 2048;

struct Rows {
  long long rows = 0, keys = 0, queries = 0, heads = 0, mask[4] = {}, sums[3] = {}, shift = 0;
  double keep = 0, factor = 1;
  int causal = 0, hasMask = 0, drops = 0, padding = 0;
};

std::optional<std::size_t> find(const BoundArguments& args, std::string_view name) {
  for (std::size_t i = 0; i < args.values.size(); ++i)
    if (args.op->schema.arguments[i].name == name) return i;
  return {};
}
const Tensor* named(const BoundArguments& args, std::string_view name) {
  const auto at = find(args, name);
  return at ? args.tensorIf(*at) : nullptr;
}
bool isFlash(const BoundArguments& args) { return args.op->schema.name.find("_flash_") != std::string::npos; }

struct Heads {
  const BoundArguments& args;
  const Tensor &q, &k, &v;
  std::int64_t batch, heads, groups, queries, keys, width, valueWidth;  ///< groups: query heads of one key head
  double scale = 1, dropout = 0;
  DType dtype, sum;  ///< of the tensors, and what is computed with
  const Tensor* mask = nullptr;
  std::int64_t rows() const { return batch * heads * queries; }
  std::int64_t scores() const { return rows() * keys; }
};

std::optional<Heads> headsOf(const DeviceCall& call) {
  const BoundArguments& args = call.args;
  const Tensor *q = named(args, "query"), *k = named(args, "key"), *v = named(args, "value");
  if (call.on.blas == nullptr || !q || !k || !v || q->dim() != 4 || k->dim() != 4 || v->dim() != 4) return {};
  const DType dtype = q->dtype();
  const bool isFloat =
      dtype == DType::Float32 || dtype == DType::Float64 || dtype == DType::Float16 || dtype == DType::BFloat16;
  if (!isFloat || k->dtype() != dtype || v->dtype() != dtype || q->numel() == 0 || k->numel() == 0 || v->numel() == 0)
    return {};
  if (k->size(1) == 0 || q->size(1) % k->size(1) != 0 || v->size(1) != k->size(1)) return {};
  Heads h{args,
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
  const auto scale = find(args, "scale"), dropout = find(args, "dropout_p");
  h.scale = scale && !args.none(*scale) ? args.number(*scale) : 1 / std::sqrt(double(h.width));
  if (dropout) h.dropout = args.number(*dropout);
  h.mask = named(args, find(args, "attn_mask") ? "attn_mask" : "attn_bias");
  if (h.mask != nullptr && h.mask->dtype() != DType::Bool && h.mask->dtype() != dtype) return {};
  return h;
}

KernelMacros macrosOf(DType dtype, DType mask, bool isLong, bool isFlash) {
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
KernelMacros macrosOf(const Heads& h) {
  return macrosOf(h.dtype, h.mask != nullptr ? h.mask->dtype() : h.dtype, h.keys > longRow, isFlash(h.args));
}

/// Flash kernels align the causal triangle with the last key, the others with the first.
Rows rowsOf(const Heads& h) {
  Rows rows{.rows = h.rows(), .keys = h.keys, .queries = h.queries, .heads = h.heads};
  const auto causal = find(h.args, "is_causal");
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

std::int64_t blocksFor(const DeviceCall& call, const Heads& h) {
  const std::int64_t teams = h.keys > longRow ? 1 : 8;
  return std::min<std::int64_t>((h.rows() + teams - 1) / teams, call.on.queue.driver().processors() * 32);
}

/// A [batch, heads, rows, columns] tensor of the device; heads are those of the query, of which `groups` share one
/// here.
struct Batches {
  DeviceAddress address = 0;
  Sizes sizes, strides;
  DType dtype = DType::Float32;
  std::int64_t groups = 1;
  Batches turned() const {
    Batches result = *this;
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
Result<Batches> scoresOf(const DeviceCall& call, const Heads& h, DType dtype) {
  Batches result{0, {h.batch, h.heads, h.queries, h.keys}, {}, dtype};
  result.strides = contiguousStrides(result.sizes);
  KERF_TRY(result.address, call.on.scratch.take(h.scores() * itemSize(dtype)));
  return result;
}

/// A tensor of the call; in a dense copy where its matrices lie as cuBLAS does not take them.
Result<Batches> batchesOf(const DeviceCall& call, const Tensor& tensor, bool writes, std::int64_t groups = 1) {
  Batches result{0, tensor.sizes(), tensor.strides(), tensor.dtype(), groups};
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

/// Whether cuBLAS writes the matrices of a result as they lie.
bool isWritable(const DeviceCall& call, std::size_t out) {
  if (!call.hasOut(out)) return true;
  const Tensor& tensor = call.out(out);
  const DeviceMatrix matrix = Batches{0, tensor.sizes(), tensor.strides(), tensor.dtype()}.matrix(0, 0);
  return DeviceBlas::takes(matrix, matrix, matrix, tensor.dtype());
}

bool lieEvenly(const Batches& b) { return b.sizes[0] == 1 || b.strides[0] == b.sizes[1] * b.strides[1]; }

/// out = alpha a b for every batch and head; heads of `out` that share a place add up there.
Result<void> multiplyAll(const DeviceCall& call, const Batches& a, const Batches& b, const Batches& out, double alpha) {
  const std::int64_t batch = a.sizes[0], heads = std::max({a.sizes[1], b.sizes[1], out.sizes[1]});
  const std::int64_t groups = std::max({a.groups, b.groups, out.groups});
  const auto multiply = [&](std::int64_t first, std::int64_t head, std::int64_t stepOf, std::int64_t count,
                            double beta) -> Result<void> {
    DeviceMatrix left = a.matrix(first, head), right = b.matrix(first, head), to = out.matrix(first, head);
    const auto step = [&](const Batches& x) { return stepOf == 0 ? x.strides[0] : x.strides[1] * stepOf / x.groups; };
    left.batchStride = step(a), right.batchStride = step(b), to.batchStride = step(out);
    return call.on.queue.call({left.address, right.address, to.address}, [&] {
      return call.on.blas->multiply(left, right, to, {a.dtype, out.dtype}, count, alpha, beta);
    });
  };
  if (groups == 1 && lieEvenly(a) && lieEvenly(b) && lieEvenly(out)) return multiply(0, 0, 1, batch * heads, 0);
  const auto betaOf = [&](std::int64_t group) { return out.groups > 1 && group > 0 ? 1.0 : 0.0; };
  if (batch > heads) {
    for (std::int64_t head = 0; head < heads; ++head) KERF_CHECK(multiply(0, head, 0, batch, betaOf(head % groups)));
    return {};
  }
  for (std::int64_t first = 0; first < batch; ++first)
    for (std::int64_t group = 0; group < groups; ++group)
      KERF_CHECK(multiply(first, group, groups, heads / groups, betaOf(group)));
  return {};
}

/// Where the dropout's numbers start; addresses of two integers, or none.
struct Stream {
  DeviceAddress seed = 0, offset = 0;
};

/// Masked scores become weights (kept where `keepsWeights`) and dropped weights.
Result<void> softmax(const DeviceCall& call, const Heads& h, Rows rows, const Batches& scores, const Batches& dropped,
                     const Tensor* sums, const Stream& stream, bool keepsWeights) {
  DeviceAddress sumsAt = 0, maskAt = 0;
  if (sums != nullptr && sums->numel() > 0) {
    KERF_TRY(sumsAt, call.on.addressOf(*sums, true));
    for (std::size_t d = 0; d < 3; ++d) rows.sums[d] = sums->strides()[d];
  }
  if (h.mask != nullptr) {
    KERF_TRY(maskAt, call.on.addressOf(*h.mask));
  }
  KernelArguments arguments;
  arguments.add(scores.address).add(dropped.address).add(sumsAt).add(maskAt).add(stream.seed).add(stream.offset);
  arguments.add(rows).add(int(keepsWeights));
  return call.on.library.launch(attentionSource(), "kerf_softmax", macrosOf(h), blocksFor(call, h), 256, arguments);
}

struct Weights {
  Batches weights, dropped;
};

Result<Weights> attend(const DeviceCall& call, const Heads& h, const Tensor* sums, const Stream& stream,
                       bool keepsWeights) {
  KERF_TRY(const Batches q, batchesOf(call, h.q, false));
  KERF_TRY(const Batches k, batchesOf(call, h.k, false, h.groups));
  KERF_TRY(Batches scores, scoresOf(call, h, h.sum));
  KERF_TRY(Batches dropped, scoresOf(call, h, h.dtype));
  KERF_CHECK(multiplyAll(call, q, k.turned(), scores, h.scale));
  KERF_CHECK(softmax(call, h, rowsOf(h), scores, dropped, sums, stream, keepsWeights));
  return Weights{scores, dropped};
}

// Forward: output, logsumexp, …, seed, offset

/// Positions of seed and offset among the results; flash has both in one.
struct StreamOuts {
  std::size_t seed, offset;
  bool both;
};
StreamOuts streamOuts(const DeviceCall& call) {
  if (isFlash(call.args)) return {6, 7, true};
  return call.outs.size() > 4 ? StreamOuts{6, 7, false} : StreamOuts{2, 3, false};
}

Result<void> prepareForward(const DeviceCall& call) {
  const auto heads = headsOf(call);
  std::uint64_t seed = 0, offset = 0;
  if (heads && heads->dropout != 0) {
    RandomState& state = randomState();
    offset = state.takeCudaOffset(std::uint64_t(heads->scores()));
    seed = state.cudaSeed;
  }
  const StreamOuts at = streamOuts(call);
  auto* const first = reinterpret_cast<std::uint64_t*>(call.out(at.seed).storage()->data());
  first[0] = seed;
  auto* const second = reinterpret_cast<std::uint64_t*>(call.out(at.offset).storage()->data());
  if (at.both)
    first[1] = offset, second[0] = 0;
  else
    second[0] = offset;
  return {};
}

Result<bool> forward(const DeviceCall& call) {
  const auto h = headsOf(call);
  if (!h || !isWritable(call, 0)) return false;
  const StreamOuts at = streamOuts(call);
  Stream stream;
  if (h->dropout != 0) {
    KERF_TRY(stream.seed, call.on.addressOf(call.out(at.seed)));
    stream.offset = stream.seed + 8;
    if (!at.both) {
      KERF_TRY(stream.offset, call.on.addressOf(call.out(at.offset)));
    }
  }
  const auto wantsSums = find(call.args, "compute_log_sumexp");
  const Tensor* const sums = call.hasOut(1) && (!wantsSums || call.out(1).numel() > 0) ? &call.out(1) : nullptr;
  if (sums != nullptr && sums->numel() > h->rows()) {  // rows that belong to no query
    KERF_TRY(const DeviceAddress place, call.on.addressOf(*sums, true));
    KERF_CHECK(call.on.queue.clear(place, sums->byteSize()));
  }
  KERF_TRY(const Weights of, attend(call, *h, sums, stream, false));
  KERF_TRY(const Batches v, batchesOf(call, h->v, false, h->groups));
  KERF_TRY(const Batches out, batchesOf(call, call.out(0), true));
  KERF_CHECK(multiplyAll(call, of.dropped, v, out, 1));
  return true;
}

// Backward: gradients of query, key, value and bias

Result<std::optional<Stream>> givenStream(const DeviceCall& call, const Heads& h) {
  Stream stream;
  if (h.dropout == 0) return stream;
  const Tensor *seed = named(call.args, "philox_seed"), *offset = named(call.args, "philox_offset");
  const auto is64 = [](const Tensor* t) { return t != nullptr && itemSize(t->dtype()) == 8; };
  if (!is64(seed) || (seed->numel() != 2 && !is64(offset))) return std::optional<Stream>();
  KERF_TRY(stream.seed, call.on.addressOf(*seed));
  stream.offset = stream.seed + 8;
  if (seed->numel() != 2) {
    KERF_TRY(stream.offset, call.on.addressOf(*offset));
  }
  return stream;
}

/// `out` gets the gradient of the scores, summed over what the bias was repeated along.
Result<void> biasGradient(const DeviceCall& call, const Heads& h, const Batches& grads, const Tensor& out) {
  Sizes whole, wholeStrides, rest, restStrides;
  const std::size_t dims = out.sizes().size(), lead = 4 - dims;
  std::int64_t each = 1;
  for (std::size_t d = 0; d < 4; ++d) {
    const bool repeated = d < lead || (out.sizes()[d - lead] == 1 && grads.sizes[d] != 1);
    if (d >= lead) whole.push_back(out.sizes()[d - lead]), wholeStrides.push_back(grads.strides[d]);
    if (!repeated) continue;
    rest.push_back(grads.sizes[d]), restStrides.push_back(grads.strides[d]);
    each *= grads.sizes[d];
  }
  KERF_TRY(const DeviceAddress to, call.on.addressOf(out, true));
  KERF_TRY(const DeviceShape bias, DeviceShape::of(out.sizes(), out.strides()));
  KERF_TRY(const DeviceShape own, DeviceShape::of(whole, wholeStrides));
  KERF_TRY(const DeviceShape repeated, DeviceShape::of(rest, restStrides));
  KernelArguments arguments;
  arguments.add(to).add(grads.address).add(bias).add(own).add(repeated).add(out.numel()).add(each);
  return call.on.library.launch(attentionSource(), "kerf_bias_gradient", macrosOf(h),
                                call.on.library.blocksFor(out.numel()), 256, arguments);
}

Result<bool> backward(const DeviceCall& call) {
  const auto h = headsOf(call);
  const Tensor& grad = call.args.tensor(0);
  if (!h || grad.dtype() != h->dtype || grad.dim() != 4) return false;
  if (call.hasOut(3) && (h->mask == nullptr || h->mask->dtype() == DType::Bool || h->mask->dim() > 4)) return false;
  if (!isWritable(call, 0) || !isWritable(call, 1) || !isWritable(call, 2)) return false;
  KERF_TRY(const auto stream, givenStream(call, *h));
  if (!stream) return false;
  KERF_TRY(const Weights of, attend(call, *h, nullptr, *stream, true));
  KERF_TRY(const Batches dOut, batchesOf(call, grad, false));
  KERF_TRY(const Batches v, batchesOf(call, h->v, false, h->groups));
  KERF_TRY(const Batches dWeights, scoresOf(call, *h, h->sum));
  KERF_TRY(const Batches dScores, scoresOf(call, *h, h->dtype));
  KERF_CHECK(multiplyAll(call, dOut, v.turned(), dWeights, 1));
  KernelArguments arguments;
  arguments.add(of.weights.address).add(dWeights.address).add(dScores.address).add(stream->seed).add(stream->offset);
  arguments.add(rowsOf(*h));
  KERF_CHECK(call.on.library.launch(attentionSource(), "kerf_softmax_gradient", macrosOf(*h), blocksFor(call, *h), 256,
                                    arguments));
  if (call.hasOut(0)) {
    KERF_TRY(const Batches k, batchesOf(call, h->k, false, h->groups));
    KERF_TRY(const Batches out, batchesOf(call, call.out(0), true));
    KERF_CHECK(multiplyAll(call, dScores, k, out, h->scale));
  }
  if (call.hasOut(1)) {
    KERF_TRY(const Batches q, batchesOf(call, h->q, false));
    KERF_TRY(const Batches out, batchesOf(call, call.out(1), true, h->groups));
    KERF_CHECK(multiplyAll(call, dScores.turned(), q, out, h->scale));
  }
  if (call.hasOut(2)) {
    KERF_TRY(const Batches out, batchesOf(call, call.out(2), true, h->groups));
    KERF_CHECK(multiplyAll(call, of.dropped.turned(), dOut, out, 1));
  }
  if (call.hasOut(3)) KERF_CHECK(biasGradient(call, *h, dScores, call.out(3)));
  return true;
}

constexpr std::uint32_t bits(std::size_t a, std::size_t b) { return 1u << a | 1u << b; }
constexpr DeviceOp rows[] = {
    {"aten._scaled_dot_product_efficient_attention.default", prepareForward, forward, bits(2, 3)},
    {"aten._scaled_dot_product_flash_attention.default", prepareForward, forward, bits(6, 7)},
    {"aten._scaled_dot_product_cudnn_attention.default", prepareForward, forward, bits(6, 7)},
    {"aten._scaled_dot_product_fused_attention_overrideable.default", prepareForward, forward, bits(6, 7)},
    {"aten._scaled_dot_product_efficient_attention_backward.default", nullptr, backward},
    {"aten._scaled_dot_product_flash_attention_backward.default", nullptr, backward},
    {"aten._scaled_dot_product_cudnn_attention_backward.default", nullptr, backward},
    {"aten._scaled_dot_product_fused_attention_overrideable_backward.default", nullptr, backward},
};

}  // namespace

std::vector<LibraryKernel> attentionKernels() {
  std::vector<LibraryKernel> all;
  for (const DType dtype : {DType::Float32, DType::Float64, DType::Float16, DType::BFloat16})
    for (const DType mask : {dtype, DType::Bool})
      for (const bool isLong : {false, true})
        for (const char* name : {"kerf_softmax", "kerf_softmax_gradient", "kerf_bias_gradient"})
          all.push_back({attentionSource(), name, macrosOf(dtype, mask, isLong, isLong)});
  return all;
}

std::span<const DeviceOp> attentionDeviceOps() { return rows; }

}  // namespace kerf::inline backend
