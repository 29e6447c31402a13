// Decompositions of ops on windows of images: interpolation, im2col, pooling, embeddings.
#include "engine/ops/core/formula.h"
#include "engine/ops/core/op_math.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/core/type_promotion.h"

namespace kerf::inline ops {
namespace {

// Interpolation

/// Where one output coordinate reads: the position, the pixel before and the one after.
struct Taps {
  Formula position, low, high;
};

double sourceScale(double in, double out, bool aligned, std::optional<double> given) {
  if (aligned) return out > 1 ? (in - 1) / (out - 1) : 0;
  return given && *given > 0 ? 1 / *given : in / out;
}

Taps tapsOf(Formulas& p, std::int64_t in, std::int64_t out, bool aligned, double scale, std::size_t behind,
            const Tensor& input) {
  const Formula count = p(to(arange(out, DType::Int64, input.device()), toFloating(input.dtype())));
  Formula position = p(clamp(aligned ? count * scale : (count + 0.5) * scale - 0.5, 0.0));
  SymSizes shape(behind + 1, 1);
  shape[0] = out;
  position = p(reshape(position, shape));
  const Formula low = p(to(position, DType::Int64));
  return {position, low, p(clamp(low + 1, {}, in - 1))};
}

/// upsample_linear1d, _bilinear2d, _trilinear3d(input, output_size, align_corners, scales…).
Result<Value> upsampleLinear(const BoundArguments& args, const OpRunner& run) {
  const Tensor& input = args.tensor(0);
  const Sizes out = args.sizes(1);
  const auto dims = out.size();
  if (input.dim() != std::int64_t(dims) + 2) return mismatch(args, "input needs {} dimensions", dims + 2);
  const bool aligned = args.boolean(2);
  Formulas p(args, run);
  std::vector<Taps> taps;
  for (std::size_t d = 0; d < dims; ++d) {
    const std::int64_t in = input.symSize(std::int64_t(d) + 2);
    const double scale = sourceScale(double(in), double(out[d]), aligned, args.numberIf(3 + d));
    taps.push_back(tapsOf(p, in, out[d], aligned, scale, dims - 1 - d, input));
  }
  std::vector<Formula> corners;
  for (std::size_t corner = 0; corner < std::size_t(1) << dims; ++corner) {
    std::vector<Formula> indices(2);
    for (std::size_t d = 0; d < dims; ++d) {
      const bool isHigh = (corner >> (dims - 1 - d) & 1) != 0;
      indices.push_back(isHigh ? taps[d].high : taps[d].low);
    }
    corners.push_back(p(Formula("aten._unsafe_index.Tensor"_op, {p[0], listOf(indices)})));
  }
  for (std::size_t d = dims; d-- > 0;) {
    const Formula share = p(clamp(taps[d].position - taps[d].low, 0.0, 1.0));
    for (std::size_t i = 0; 2 * i < corners.size(); ++i)
      corners[i] = p(corners[2 * i] + (corners[2 * i + 1] - corners[2 * i]) * share);
    corners.resize(corners.size() / 2);
  }
  const Formula result = p({"aten.contiguous.default"_op, {corners[0]}, {{"memory_format", suggestFormat(input)}}});
  return p.done(isFloating(input.dtype()) ? result : round(result));
}

// Sliding blocks

/// Which pixels of a padded dimension the blocks hold: [kernel, blocks].
Formula blockIndices(Formulas& p, std::int64_t size, std::int64_t kernel, std::int64_t dilation, std::int64_t padding,
                     std::int64_t stride, Device device) {
  const std::int64_t room = size + 2 * padding - dilation * (kernel - 1);
  const Formula starts = p(unsqueeze(arange(0, room, stride, DType::Int64, device), 0));
  const Formula grid = p(unsqueeze(arange(0, kernel * dilation, dilation, DType::Int64, device), -1));
  return p(starts + grid);
}

/// im2col(self, kernel_size, dilation, padding, stride)
Result<Value> im2col(const BoundArguments& args, const OpRunner& run) {
  const Sizes kernel = args.sizes(1), dilation = args.sizes(2), padding = args.sizes(3), stride = args.sizes(4);
  const Tensor& self = args.tensor(0);
  if (self.dim() != 3 && self.dim() != 4) return mismatch(args, "needs 3 or 4 dimensions, got {}", self.dim());
  const bool batched = self.dim() == 4;
  const SymInt batch = batched ? self.symSize(0) : SymInt(1), channels = self.symSizes().end()[-3];
  const std::int64_t h = self.symSizes().end()[-2], w = self.symSizes().back();
  Formulas p(args, run);
  const Formula image = batched ? p[0] : p(unsqueeze(p[0], 0));
  Formula rows = blockIndices(p, h, kernel[0], dilation[0], padding[0], stride[0], self.device());
  const Formula columns = blockIndices(p, w, kernel[1], dilation[1], padding[1], stride[1], self.device());
  if (!p.ok()) return p.done(rows);
  const SymInt blocks = rows.sizes()[1] * columns.sizes()[1];
  const Value margins = intList({padding[1], padding[1], padding[0], padding[0]});
  const Formula wide = p({"aten.constant_pad_nd.default"_op, {image, margins, 0.0}});
  rows = p(unsqueeze(unsqueeze(rows, -1), -1));
  const Formula taken = p(permute(index(wide, {Formula(), Formula(), rows, columns}), {0, 1, 2, 4, 3, 5}));
  const Formula out = p(reshape(taken, {batch, channels * SymInt(kernel[0] * kernel[1]), blocks}));
  return p.done(batched ? out : squeeze(out, 0));
}
/// col2im(self, output_size, kernel_size, dilation, padding, stride): blocks added where they were taken.
Result<Value> col2im(const BoundArguments& args, const OpRunner& run) {
  const Sizes size = args.sizes(1), kernel = args.sizes(2), dilation = args.sizes(3), padding = args.sizes(4),
              stride = args.sizes(5);
  const Tensor& self = args.tensor(0);
  if (self.dim() != 2 && self.dim() != 3) return mismatch(args, "needs 2 or 3 dimensions, got {}", self.dim());
  const bool batched = self.dim() == 3;
  const SymInt batch = batched ? self.symSize(0) : SymInt(1);
  const SymInt channels = floorDiv(self.symSizes().end()[-2], SymInt(kernel[0] * kernel[1]));
  const auto blocks = [&](std::size_t i) {
    return 1 + (size[i] + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1) / stride[i];
  };
  Formulas p(args, run);
  const Formula columns = batched ? p[0] : p(unsqueeze(p[0], 0));
  const Formula apart =
      p(permute(reshape(columns, {batch, channels, kernel[0], kernel[1], blocks(0), blocks(1)}), {0, 1, 2, 4, 3, 5}));
  Formula down = blockIndices(p, size[0], kernel[0], dilation[0], padding[0], stride[0], self.device());
  down = p(unsqueeze(unsqueeze(down, -1), -1));
  const Formula across = blockIndices(p, size[1], kernel[1], dilation[1], padding[1], stride[1], self.device());
  const Formula zeros = p(newZeros(apart, {batch, channels, size[0] + 2 * padding[0], size[1] + 2 * padding[1]}));
  const Value places = listOf({Formula(), Formula(), down, across});
  const Formula added = p({"aten._unsafe_index_put.default"_op, {zeros, places, apart, true}});
  const Value margins = intList({-padding[1], -padding[1], -padding[0], -padding[0]});
  const Formula out = p({"aten.constant_pad_nd.default"_op, {added, margins, 0.0}});
  return p.done(batched ? out : squeeze(out, 0));
}

// Pooling

constexpr std::int64_t mostLowMemoryElements = 25;  ///< above that Inductor calls the kernel

Sizes repeatedTo(Sizes values, std::size_t count, std::int64_t otherwise) {
  if (values.empty()) values.assign(1, otherwise);
  if (values.size() == 1) values.resize(count, values[0]);
  return values;
}
std::int64_t windowOf(const BoundArguments& args, std::size_t dims) {
  std::int64_t count = 1;
  for (const std::int64_t k : repeatedTo(args.sizes(1), dims, 1)) count *= k;
  return count;
}
template <std::size_t dims>
bool hasSmallWindow(const BoundArguments& args) {
  return windowOf(args, dims) <= mostLowMemoryElements;
}
/// max_poolNd_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode): offsets in the window in 8 bits,
/// indices from them.
template <std::size_t dims>
Result<Value> lowMemoryMaxPoolWithIndices(const BoundArguments& args, const OpRunner& run) {
  const Tensor& self = args.tensor(0);
  const Sizes kernel = repeatedTo(args.sizes(1), dims, 1);
  const Sizes stride = args.sizes(2).empty() ? kernel : repeatedTo(args.sizes(2), dims, 1);
  const Value steps = intList(stride), padding = intList(repeatedTo(args.sizes(3), dims, 0)),
              dilation = intList(repeatedTo(args.sizes(4), dims, 1));
  Formulas p(args, run);
  const auto [values, offsets] = p.several<2>(
      {"prims._low_memory_max_pool_with_offsets.default"_op, {p[0], intList(kernel), steps, padding, dilation, p[5]}});
  const SymSizes input(self.symSizes().end() - std::ptrdiff_t(dims), self.symSizes().end());
  const Formula indices({"prims._low_memory_max_pool_offsets_to_indices.default"_op,
                         {offsets, intList(kernel), intList(input), steps, padding, dilation}});
  return p.done(std::vector<Formula>{values, indices});
}

bool dividesEvenly(const BoundArguments& args) {
  const Sizes out = args.sizes(1);
  const SymSizes& in = args.tensor(0).symSizes();
  return out.size() == 2 && out[0] > 0 && out[1] > 0 && guardOrFalse(floorMod(in.end()[-2], out[0]) == 0) &&
         guardOrFalse(floorMod(in.back(), out[1]) == 0);
}
Result<Value> evenAdaptiveMaxPool(const BoundArguments& args, const OpRunner& run) {
  const Sizes out = args.sizes(1);
  const SymSizes& in = args.tensor(0).symSizes();
  return run.value("aten.max_pool2d_with_indices.default"_op,
                   {args.values[0], intList({floorDiv(in.end()[-2], out[0]), floorDiv(in.back(), out[1])})});
}

/// adaptive_avg_poolNd(self, output_size): to one pixel it is the mean.
template <std::size_t dims>
Result<Value> adaptiveAvgPool(const BoundArguments& args, const OpRunner& run) {
  const Tensor& self = args.tensor(0);
  const Sizes out = repeatedTo(args.sizes(1), dims, 1);
  Formulas p(args, run);
  if (!std::ranges::all_of(out, [](std::int64_t size) { return size == 1; }))
    return p.done(
        {dims == 2 ? "aten._adaptive_avg_pool2d.default"_op : "aten._adaptive_avg_pool3d.default"_op, {p[0], p[1]}});
  Sizes last;
  for (std::size_t d = 0; d < dims; ++d) last.insert(last.begin(), -1 - std::int64_t(d));
  if (dims == 2) std::ranges::reverse(last);
  const Formula pixel = p(mean(p[0], last, true));
  const bool channelsLast = self.dim() == std::int64_t(dims) + 2 && suggestFormat(self) != MemoryFormat::Contiguous;
  if (!channelsLast) return p.done(pixel);
  const SymInt n = self.symSize(0), c = self.symSize(1);
  SymSizes sizes{n, c}, strides{c, 1};
  for (std::size_t d = 0; d < dims; ++d) {
    sizes.push_back(1);
    strides.push_back(c);
  }
  return p.done({"aten.as_strided.default"_op, {pixel, intList(sizes), intList(strides)}});
}

// Embeddings

/// embedding_dense_backward(grad_output, indices, num_weights, padding_idx, scale_grad_by_freq): rows added up.
Result<Value> embeddingDenseBackward(const BoundArguments& args, const OpRunner& run) {
  const Tensor &grad = args.tensor(0), &indices = args.tensor(1);
  Formulas p(args, run);
  Formula flow = p(to(p[0], opMathType(grad.dtype())));
  const Formula where = p(to(p[1], DType::Int64));
  if (args.boolean(4)) {
    const Formula none = p(newZeros(where, {args.symInteger(2)}));
    const Formula counts = p(indexPut(none, {where}, onesLike(where), true));
    flow = p(flow / unsqueeze(index(counts, {where}), -1));
  }
  const Formula isPadding = p(unsqueezedTo(p(equals(where, p[3])), grad.dim()));
  flow = p(maskedFill(flow, isPadding, 0));
  SymSizes sizes{args.symInteger(2)};
  sizes.append(grad.symSizes().begin() + indices.dim(), grad.symSizes().end());
  const Formula zeros = p(newZeros(flow, sizes));
  return p.done(to(indexPut(zeros, {where}, flow, true), grad.dtype()));
}

constexpr OpFacts windowDecompositionsTable[] = {
    decomposes("aten::upsample_linear1d.", inOpMath<upsampleLinear>),
    decomposes("aten::upsample_bilinear2d.", inOpMath<upsampleLinear>),
    decomposes("aten::upsample_trilinear3d.", inOpMath<upsampleLinear>),
    decomposes("aten::im2col", im2col),
    decomposes("aten::col2im", inOpMath<col2im>),
    decomposes("aten::adaptive_avg_pool2d", adaptiveAvgPool<2>),
    decomposes("aten::adaptive_avg_pool3d", adaptiveAvgPool<3>),
    decomposes("aten::embedding_dense_backward", embeddingDenseBackward),
};

constexpr TableProgram programs[] = {
    {"aten::max_pool2d_with_indices", lowMemoryMaxPoolWithIndices<2>, hasSmallWindow<2>},
    {"aten::max_pool3d_with_indices", lowMemoryMaxPoolWithIndices<3>, hasSmallWindow<3>},
    {"aten::adaptive_max_pool2d", evenAdaptiveMaxPool, dividesEvenly},
};

const OpRegistration windowDecompositions({.facts = windowDecompositionsTable, .programs = programs});

}  // namespace

}  // namespace kerf::inline ops
