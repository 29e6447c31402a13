// Ops that move elements: turns, shuffles, diagonals and blocks, chunked concatenation, masked indexing.
#include <algorithm>

#include "engine/ops/core/composite.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"

namespace kerf::inline ops {
namespace {

const KeywordValues rowMajor{{"memory_format", MemoryFormat::Contiguous}};

/// rot90(self, k, dims): one flip, and for odd k the two dimensions change places.
Result<Value> rot90Program(const BoundArguments& args, const OpRunner& run) {
  const Tensor& self = args.tensor(0);
  if (args.sizes(2).size() != 2) return mismatch(args, "argument 'dims' must have 2 entries");
  if (self.dim() < 2) return mismatch(args, "expects at least 2 dimensions, got {}", self.dim());
  KERF_TRY(const Sizes dims, wrapDims(args, args.sizes(2), self.dim()));
  const std::int64_t quarters = (args.integer(1) % 4 + 4) % 4;
  if (quarters == 0) return run.value("aten.clone.default"_op, {self}, rowMajor);
  if (quarters == 2) return run.value("aten.flip.default"_op, {self, intList(dims)});
  KERF_TRY(const Value flipped, run.value("aten.flip.default"_op, {self, intList({dims[quarters == 1 ? 1 : 0]})}));
  return run.value("aten.transpose.int"_op, {flipped, dims[0], dims[1]});
}

// Shuffles: dimensions are split, permuted and joined again

struct Shuffle {
  SymSizes split;
  Sizes order;
  SymSizes joined;
};

Result<Value> shuffled(const Value& self, const Shuffle& plan, const OpRunner& run) {
  KERF_TRY(const Value split, run.value("aten.reshape.default"_op, {self, intList(plan.split)}));
  KERF_TRY(const Value turned, run.value("aten.permute.default"_op, {split, intList(plan.order)}));
  KERF_TRY(const Value moved, run.value("aten.clone.default"_op, {turned}, rowMajor));
  return run.value("aten.view.default"_op, {moved, intList(plan.joined)});
}

Result<std::int64_t> shuffleFactor(const BoundArguments& args, std::int64_t rank) {
  const std::int64_t factor = args.integer(1);
  if (args.tensor(0).dim() >= rank && factor > 0 && factor <= (1 << 20)) return factor;
  return mismatch(args, "needs {} dimensions and a positive factor", rank);
}

/// channel_shuffle(self, groups): channels as (group, channel of the group) turned round.
Result<Value> channelShuffleProgram(const BoundArguments& args, const OpRunner& run) {
  const SymInt groups = args.symInteger(1);
  if (args.tensor(0).dim() < 2 || guardOrFalse(groups <= 0) || guardOrFalse(groups > (1 << 20)))
    return mismatch(args, "needs 2 dimensions and a positive factor");
  const SymSizes& sizes = args.tensor(0).symSizes();
  const SymInt items = sizes[0], channels = sizes[1];
  KERF_TRY(const SymInt area, checkedCount({sizes.begin() + 2, sizes.end()}));
  if (guardOrFalse(floorMod(channels, groups) != 0))
    return mismatch(args, "{} channels do not divide into {} groups", channels, groups);
  return shuffled(args.values[0], {{items, groups, floorDiv(channels, groups), area}, {0, 2, 1, 3}, sizes}, run);
}

/// The last three dimensions, with those before them joined into one.
struct Planes {
  SymSizes leading;
  SymInt batch, channels, height, width;
  explicit Planes(const SymSizes& sizes)
      : leading(sizes.begin(), sizes.end() - 3),
        batch(symProduct(leading)),
        channels(sizes.end()[-3]),
        height(sizes.end()[-2]),
        width(sizes.end()[-1]) {}
  SymSizes with(std::initializer_list<SymInt> last) const {
    SymSizes sizes = leading;
    sizes.append(last.begin(), last.end());
    return sizes;
  }
};

/// pixel_shuffle(self, upscale_factor): channels become pixels.
Result<Value> pixelShuffleProgram(const BoundArguments& args, const OpRunner& run) {
  KERF_TRY(const std::int64_t r, shuffleFactor(args, 3));
  const Planes p(args.tensor(0).symSizes());
  if (guardOrFalse(floorMod(p.channels, r * r) != 0))
    return mismatch(args, "{} channels are not a multiple of {}", p.channels, r * r);
  const SymInt channels = floorDiv(p.channels, r * r);
  return shuffled(
      args.values[0],
      {{p.batch, channels, r, r, p.height, p.width}, {0, 1, 4, 2, 5, 3}, p.with({channels, p.height * r, p.width * r})},
      run);
}

/// pixel_unshuffle(self, downscale_factor): pixels become channels.
Result<Value> pixelUnshuffleProgram(const BoundArguments& args, const OpRunner& run) {
  KERF_TRY(const std::int64_t r, shuffleFactor(args, 3));
  const Planes p(args.tensor(0).symSizes());
  if (guardOrFalse(floorMod(p.height, r) != 0) || guardOrFalse(floorMod(p.width, r) != 0))
    return mismatch(args, "height {} and width {} must be multiples of {}", p.height, p.width, r);
  const SymInt height = floorDiv(p.height, r), width = floorDiv(p.width, r);
  return shuffled(
      args.values[0],
      {{p.batch, p.channels, height, r, width, r}, {0, 1, 3, 5, 2, 4}, p.with({p.channels * r * r, height, width})},
      run);
}

// Diagonals and blocks

/// diag_embed(self, offset, dim1, dim2): self's last dimension on a diagonal of zeros.
Result<Value> diagEmbedProgram(const BoundArguments& args, const OpRunner& run) {
  const Tensor& self = args.tensor(0);
  if (self.dim() == 0) return mismatch(args, "needs at least one dimension");
  KERF_TRY(const Sizes dims, wrapDims(args, {args.integer(2), args.integer(3)}, self.dim() + 1));
  const std::int64_t offset = args.integer(1);
  if (offset > (1LL << 40) || offset < -(1LL << 40))
    return fail(ErrorCode::TooLarge, "{}: offset {}", args.opName(), offset);
  SymSizes sizes(self.symSizes().begin(), self.symSizes().end() - 1);
  for (const std::int64_t dim : {std::min(dims[0], dims[1]), std::max(dims[0], dims[1])})
    sizes.insert(sizes.begin() + dim, self.symSizes().back() + std::abs(offset));
  KERF_TRY(const Value zeros, run.value("aten.new_zeros.default"_op, {self, intList(sizes)}));
  return run.value("aten.diagonal_scatter.default"_op, {zeros, self, offset, dims[0], dims[1]});
}

/// block_diag(tensors): rows of blocks, each padded with zeros to the whole width.
Result<Value> blockDiagProgram(const BoundArguments& args, const OpRunner& run) {
  const auto widthOf = [](const Tensor& tensor) { return tensor.dim() == 0 ? SymInt(1) : tensor.symSizes().back(); };
  SymInt width = 0, left = 0;
  for (const Tensor& tensor : args.tensors(0)) {
    if (tensor.dim() > 2) return mismatch(args, "tensors must have at most 2 dimensions, got {}", tensor.dim());
    width += widthOf(tensor);
  }
  ValueList rows;
  for (const Tensor& tensor : args.tensors(0)) {
    const SymSizes sizes{tensor.dim() == 2 ? tensor.symSize(0) : SymInt(1), widthOf(tensor)};
    KERF_TRY(const Value block, run.value("aten.reshape.default"_op, {tensor, intList(sizes)}));
    KERF_TRY(Value row, run.value("aten.constant_pad_nd.default"_op,
                                  {block, intList({left, width - left - sizes[1]}), std::int64_t{0}}));
    rows.push_back(std::move(row));
    left += sizes[1];
  }
  if (rows.empty()) return run.value("aten.zeros.default"_op, {intList({1, 0})});
  return run.value("aten.cat.default"_op, {Value(std::move(rows)), std::int64_t{0}});
}

/// One tensor of _chunk_cat: padded to a multiple of `chunks`, then [leading…, chunks, elements of a chunk].
Result<Value> chunked(const BoundArguments& args, const Tensor& tensor, std::int64_t dim, const OpRunner& run) {
  const SymInt chunks = args.integer(2), length = ceilDiv(tensor.symSize(dim), chunks);
  KERF_TRY(const SymInt inner, checkedCount(SymSizes(tensor.symSizes().begin() + dim + 1, tensor.symSizes().end())));
  SymSizes pad(std::size_t(tensor.dim() - dim) * 2, 0);
  pad.back() = length * chunks - tensor.symSize(dim);
  KERF_TRY(const Value padded, run.value("aten.constant_pad_nd.default"_op, {tensor, intList(pad), std::int64_t{0}}));
  SymSizes sizes(tensor.symSizes().begin(), tensor.symSizes().begin() + dim);
  sizes.push_back(chunks);
  sizes.push_back(length * inner);
  return run.value("aten.reshape.default"_op, {padded, intList(sizes)});
}

/// _chunk_cat(tensors, dim, num_chunks): every tensor padded to a multiple of num_chunks, chunks side by side.
Result<Value> chunkCatProgram(const BoundArguments& args, const OpRunner& run) {
  const std::vector<Tensor> tensors = args.tensors(0);
  const std::int64_t chunks = args.integer(2);
  if (tensors.empty()) return mismatch(args, "expects at least one tensor");
  if (chunks < 1 || chunks > (1LL << 31))
    return mismatch(args, "argument 'num_chunks' must be positive, got {}", chunks);
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), tensors[0].dim()));
  ValueList parts;
  for (const Tensor& tensor : tensors) {
    if (tensor.dim() <= dim || guardOrFalse(tensor.symNumel() == 0) || tensor.dtype() != tensors[0].dtype())
      return mismatch(args, "tensors must be of one dtype, not empty, and have dimension {}", dim);
    const auto leading = [dim](const Tensor& t) { return SymSizes(t.symSizes().begin(), t.symSizes().begin() + dim); };
    if (!checkEqual(leading(tensor), leading(tensors[0])))
      return mismatch(args, "tensors must agree in the dimensions before {}", dim);
    KERF_TRY(Value part, chunked(args, tensor, dim, run));
    parts.push_back(std::move(part));
  }
  return run.value("aten.cat.default"_op, {Value(std::move(parts)), dim + 1});
}

// _unsafe_masked_index(self, mask, indices, fill), _unsafe_masked_index_put_accumulate(self, mask, indices, values)

Result<Value> clampedIndices(const BoundArguments& args, const OpRunner& run) {
  const Tensor& self = args.tensor(0);
  ValueList clamped;
  for (const Value& item : args.values[2].list()) {
    const auto dim = std::int64_t(clamped.size());
    if (item.isNone() || dim >= self.dim()) {
      clamped.push_back(item);
      continue;
    }
    const SymInt size = self.symSize(dim);
    KERF_TRY(Value index, run.value("aten.clamp.default"_op, {item, -size, size - 1}));
    clamped.push_back(std::move(index));
  }
  return Value(std::move(clamped));
}

/// logical_not of the mask.
Result<Value> outsideOf(const BoundArguments& args, const OpRunner& run) {
  if (args.tensor(1).dtype() != DType::Bool) return mismatch(args, "argument 'mask' must be a bool tensor");
  return run.value("aten.logical_not.default"_op, {args.values[1]});
}

/// Nothing to look at: the fill value everywhere.
Result<Value> filled(const BoundArguments& args, const OpRunner& run) {
  KERF_TRY(const Value indexed, inferShapes("aten._unsafe_index.Tensor"_op, {args.values[0], args.values[2]}, {}));
  KERF_TRY(const Value meta, inferShapes("aten.masked_fill.Scalar"_op, {indexed, args.values[1], args.values[3]}, {}));
  return run.value("aten.new_full.default"_op, {args.values[0], intList(meta.tensor().symSizes()), args.values[3]});
}

Result<Value> maskedIndexProgram(const BoundArguments& args, const OpRunner& run) {
  KERF_TRY(const Value outside, outsideOf(args, run));
  if (guardOrFalse(args.tensor(0).symNumel() == 0)) return filled(args, run);
  KERF_TRY(const Value indices, clampedIndices(args, run));
  KERF_TRY(const Value indexed, run.value("aten._unsafe_index.Tensor"_op, {args.values[0], indices}));
  return run.value("aten.masked_fill.Scalar"_op, {indexed, outside, args.values[3]});
}

Result<Value> maskedPutProgram(const BoundArguments& args, const OpRunner& run) {
  KERF_TRY(const Value outside, outsideOf(args, run));
  if (guardOrFalse(args.tensor(0).symNumel() == 0)) return run.value("aten.clone.default"_op, {args.values[0]});
  KERF_TRY(const Value indices, clampedIndices(args, run));
  KERF_TRY(const Value values, run.value("aten.masked_fill.Scalar"_op, {args.values[3], outside, std::int64_t{0}}));
  return run.value("aten._unsafe_index_put.default"_op, {args.values[0], indices, values, true});
}

constexpr OpRow elementMoveRows[] = {
    compositeRow(rot90Program, "aten::rot90(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor"),
    compositeRow(pixelShuffleProgram, "aten::pixel_shuffle(Tensor self, int upscale_factor) -> Tensor"),
    compositeRow(pixelUnshuffleProgram, "aten::pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor"),
    compositeRow(channelShuffleProgram, "aten::channel_shuffle(Tensor self, SymInt groups) -> Tensor"),
    compositeRow(diagEmbedProgram, "aten::diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor"),
    compositeRow(blockDiagProgram, "aten::block_diag(Tensor[] tensors) -> Tensor"),
    compositeRow(chunkCatProgram, "aten::_chunk_cat(Tensor[] tensors, int dim, int num_chunks) -> Tensor"),
    compositeRow(maskedIndexProgram,
                 "aten::_unsafe_masked_index(Tensor self, Tensor mask, Tensor?[] indices, Scalar fill) -> Tensor"),
    compositeRow(maskedPutProgram,
                 "aten::_unsafe_masked_index_put_accumulate(Tensor self, Tensor mask, Tensor?[] indices, "
                 "Tensor values) -> Tensor"),
};

const OpRegistration elementMoveOps({.rows = elementMoveRows});

}  // namespace

}  // namespace kerf::inline ops
