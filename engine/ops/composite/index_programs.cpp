// Ops built on other rows: rot90, renorm, bilinear forms, chunked concatenation, masked indexing, bit hashes.
#include <bit>
#include <cmath>

#include "engine/ops/composite/families.h"
#include "engine/ops/core/complex_values.h"
#include "engine/ops/core/doubles.h"
#include "engine/ops/core/type_promotion.h"
#include "engine/ops/index/views.h"
#include "engine/ops/nn/planes.h"
#include "engine/tensor/copy.h"

namespace kerf::inline ops {
namespace {

constexpr OpTrait none = OpTrait::None;

// rot90(self, k, dims)

struct Turn {
  std::int64_t quarter, first, second;
};

Result<Turn> turn(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  if (args.sizes(2).size() != 2) return mismatch(args, "argument 'dims' must have 2 entries");
  if (self.dim() < 2) return mismatch(args, "expects at least 2 dimensions, got {}", self.dim());
  KERF_TRY(const Sizes dims, wrapDims(args, args.sizes(2), self.dim()));
  return Turn{(args.integer(1) % 4 + 4) % 4, dims[0], dims[1]};
}

/// Dimensions to flip, and whether the two then change places.
std::pair<Sizes, bool> turnSteps(const Turn& turn) {
  if (turn.quarter == 1) return {{turn.second}, true};
  if (turn.quarter == 2) return {{turn.first, turn.second}, false};
  return {{turn.first}, true};
}

Result<Value> rot90Shape(const BoundArguments& args) {
  KERF_TRY(const Turn how, turn(args));
  const Tensor& self = args.tensor(0);
  if (how.quarter == 0) return Value(metaTensor(self.dtype(), self.sizes()));
  const auto [dims, swaps] = turnSteps(how);
  KERF_TRY(const Value flipped, inferShapes("aten.flip.default"_op, {self, intList(dims)}, {}));
  if (!swaps) return flipped;
  return inferShapes("aten.transpose.int"_op, {flipped, how.first, how.second}, {});
}

Result<Value> rot90Kernel(const BoundArguments& args) {
  KERF_TRY(const Turn how, turn(args));
  const Tensor& self = args.tensor(0);
  if (how.quarter == 0) {
    KERF_TRY(Tensor copy, self.clone());
    return Value(std::move(copy));
  }
  const auto [dims, swaps] = turnSteps(how);
  KERF_TRY(const Value flipped, callOp("aten.flip.default"_op, {self, intList(dims)}));
  if (!swaps) return flipped;
  return callOp("aten.transpose.int"_op, {flipped, how.first, how.second});
}

// renorm(self, p, dim, maxnorm): slices along `dim` whose p-norm is larger than maxnorm shrink to it

Result<Value> renormShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  if (isIntegral(self.dtype())) return mismatch(args, "argument 'self' must be floating point or complex");
  if (self.dim() < 2) return mismatch(args, "expects at least 2 dimensions, got {}", self.dim());
  KERF_CHECK(wrapDim(args, args.integer(2), self.dim()));
  if (!(args.number(1) > 0)) return mismatch(args, "argument 'p' must be positive, got {}", args.number(1));
  if (!(args.number(3) >= 0)) return mismatch(args, "argument 'maxnorm' must not be negative, got {}", args.number(3));
  return Value(metaTensor(self.dtype(), self.sizes()));
}

Result<Value> renormKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  const Tensor& self = args.tensor(0);
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(2), self.dim()));
  KERF_TRY(Complexes values, complexesOf(self));
  const double p = args.number(1), limit = args.number(3);
  std::int64_t inner = 1;
  for (std::int64_t d = dim + 1; d < self.dim(); ++d) inner *= self.size(d);
  const auto sliceOf = [&](std::size_t i) { return i / std::size_t(inner) % std::size_t(self.size(dim)); };
  Doubles norms(std::size_t(self.size(dim)), 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    double& norm = norms[sliceOf(i)];
    const double x = std::abs(values[i]);
    norm = std::isinf(p) ? (std::isnan(norm) || norm > x ? norm : x) : norm + (p == 2 ? x * x : std::pow(x, p));
  }
  for (double& norm : norms) {
    if (!std::isinf(p)) norm = p == 2 ? std::sqrt(norm) : std::pow(norm, 1 / p);
    norm = norm > limit ? roundedTo(partOf(self.dtype()), limit / (norm + 1e-7)) : 1.0;
  }
  for (std::size_t i = 0; i < values.size(); ++i) values[i] *= norms[sliceOf(i)];
  KERF_CHECK(writeComplexes(values, out));
  return Value(std::move(out));
}

// hash_tensor(self, dim, *, keepdim, mode): exclusive or of the elements' bits as double or int64

Result<Value> hashShape(const BoundArguments& args) {
  if (args.integer(3) != 0) return mismatch(args, "argument 'mode' must be 0, got {}", args.integer(3));
  KERF_TRY(const ReducedDims dims, reducedDims(args, args.tensor(0), args.values[1], args.boolean(2)));
  return Value(metaTensor(DType::UInt64, dims.outSizes));
}

Result<Value> hashKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  const Tensor& self = args.tensor(0);
  KERF_TRY(const ReducedDims dims, reducedDims(args, self, args.values[1], args.boolean(2)));
  KERF_TRY(const Tensor wide, self.to(isFloating(self.dtype()) ? DType::Float64 : DType::Int64));
  KERF_TRY(const Tensor flat, wide.contiguous());
  Sizes steps(self.sizes().size(), 0);
  std::int64_t step = 1;
  for (std::size_t d = steps.size(); d-- > 0;) {
    if (dims.reduced[d]) continue;
    steps[d] = step;
    step *= self.sizes()[d];
  }
  const auto* bits = reinterpret_cast<const std::uint64_t*>(flat.storage()->data()) + flat.offset();
  for (std::int64_t i = 0; i < self.numel(); ++i) {
    std::int64_t rest = i, to = 0;
    for (std::size_t d = steps.size(); d-- > 0; rest /= self.sizes()[d]) to += rest % self.sizes()[d] * steps[d];
    out.data<std::uint64_t>()[to] ^= bits[i];
  }
  return Value(std::move(out));
}

// _trilinear(i1, i2, i3, expand1, expand2, expand3, sumdim, unroll_dim)

bool contains(const Sizes& dims, std::int64_t dim) { return std::ranges::find(dims, dim) != dims.end(); }

struct Trilinear {
  std::array<Tensor, 3> inputs;  ///< with size-1 dimensions where expanded
  Sizes sizes;                   ///< broadcast
  Sizes summedFirst, summedLast;
  Sizes outSizes;
};

Result<Trilinear> trilinear(const BoundArguments& args) {
  Trilinear plan;
  const auto total = std::size_t(args.tensor(0).dim()) + args.sizes(3).size();
  Sizes broadcast;
  for (std::size_t k = 0; k < 3; ++k) {
    const Tensor& input = args.tensor(k);
    if (std::size_t(input.dim()) + args.sizes(3 + k).size() != total)
      return mismatch(args, "inputs expand to different numbers of dimensions");
    Sizes dims = args.sizes(3 + k);
    std::ranges::sort(dims);
    Value expanded = input;
    for (std::int64_t dim : dims) {
      KERF_TRY(expanded, callOp("aten.unsqueeze.default"_op, {expanded, dim}));
    }
    plan.inputs[k] = expanded.tensor();
    auto sizes = k == 0 ? Result<Sizes>(plan.inputs[k].sizes()) : broadcastSizes(broadcast, plan.inputs[k].sizes());
    if (!sizes) return mismatch(args, "{}", sizes.error().message);
    broadcast = std::move(*sizes);
  }
  const Sizes sums = args.sizes(6);
  for (std::int64_t dim : sums)
    if (dim < 0 || dim >= std::int64_t(total)) return mismatch(args, "sumdim {} is out of range", dim);
  for (std::size_t d = 0; d < total; ++d) {
    const auto dim = std::int64_t(d);
    if (!contains(sums, dim)) plan.outSizes.push_back(broadcast[d]);
    if (contains(sums, dim)) (contains(args.sizes(5), dim) ? plan.summedFirst : plan.summedLast).push_back(dim);
  }
  plan.sizes = std::move(broadcast);
  return plan;
}

Result<Value> trilinearShape(const BoundArguments& args) {
  Sizes sizes;
  const auto total = std::size_t(args.tensor(0).dim()) + args.sizes(3).size();
  for (std::size_t k = 0; k < 3; ++k) {
    const Tensor& input = args.tensor(k);
    if (input.dtype() != args.tensor(0).dtype()) return mismatch(args, "inputs differ in dtype");
    if (std::size_t(input.dim()) + args.sizes(3 + k).size() != total)
      return mismatch(args, "inputs expand to different numbers of dimensions");
    Sizes own;
    std::size_t next = 0;
    for (std::size_t d = 0; d < total; ++d) {
      const bool added = contains(args.sizes(3 + k), std::int64_t(d));
      if (!added && next == input.sizes().size()) return mismatch(args, "an expand list names dimensions wrongly");
      own.push_back(added ? 1 : input.sizes()[next++]);
    }
    auto both = k == 0 ? Result<Sizes>(own) : broadcastSizes(sizes, own);
    if (!both) return mismatch(args, "{}", both.error().message);
    sizes = std::move(*both);
  }
  Sizes kept;
  for (std::size_t d = 0; d < total; ++d)
    if (!contains(args.sizes(6), std::int64_t(d))) kept.push_back(sizes[d]);
  return Value(metaTensor(args.tensor(0).dtype(), kept));
}

/// One product and its sum, in double or int64; the partial result of the first two inputs rounds to `dtype`, as their
/// product there.
Result<Tensor> trilinearSum(const Trilinear& plan, const std::array<Tensor, 3>& inputs, DType dtype) {
  const DType wide = inputs[0].dtype();
  KERF_TRY(Tensor partial, callTensorOp("aten.mul.Tensor"_op, {inputs[0], inputs[1]}));
  if (!plan.summedFirst.empty()) {
    KERF_TRY(partial, callTensorOp("aten.sum.dim_IntList"_op, {partial, intList(plan.summedFirst), true}));
  }
  KERF_TRY(const Tensor rounded, partial.to(dtype));
  KERF_TRY(partial, rounded.to(wide));
  KERF_TRY(Tensor product, callTensorOp("aten.mul.Tensor"_op, {partial, inputs[2]}));
  Sizes summed = plan.summedLast;
  if (!summed.empty()) {
    KERF_TRY(product, callTensorOp("aten.sum.dim_IntList"_op, {product, intList(summed), true}));
  }
  return product.to(dtype);
}

/// unroll_dim is a loop: where it is summed over, the running sum is kept in the result's dtype.
Result<Value> trilinearKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  if (out.numel() == 0) return Value(std::move(out));
  KERF_TRY(const Trilinear plan, trilinear(args));
  const std::int64_t unrolled = args.integer(7);
  const bool loop = contains(args.sizes(6), unrolled);
  std::array<Tensor, 3> inputs;
  for (std::size_t k = 0; k < 3; ++k) {
    KERF_TRY(inputs[k], plan.inputs[k].to(isFloating(out.dtype()) ? DType::Float64 : DType::Int64));
  }
  Tensor result;
  for (std::int64_t k = 0; k < (loop ? plan.sizes[std::size_t(unrolled)] : 1); ++k) {
    std::array<Tensor, 3> slices = inputs;
    for (Tensor& slice : slices)
      if (loop && slice.size(unrolled) > 1) {
        KERF_TRY(slice, callTensorOp("aten.slice.Tensor"_op, {slice, unrolled, k, k + 1}));
      }
    KERF_TRY(Tensor part, trilinearSum(plan, slices, out.dtype()));
    if (result.defined()) {
      KERF_TRY(part, callTensorOp("aten.add.Tensor"_op, {result, part}));
    }
    result = std::move(part);
  }
  if (!result.defined()) return Value(std::move(out));
  KERF_TRY(const Tensor flat, result.contiguous());
  KERF_CHECK(copyElements(flat.viewAs(out.sizes(), contiguousStrides(out.sizes()), flat.offset()), out));
  return Value(std::move(out));
}

// _chunk_cat(tensors, dim, num_chunks): every tensor padded to a multiple of num_chunks, chunks side by side

struct ChunkCat {
  std::size_t dim = 0;
  std::vector<std::int64_t> widths;  ///< per tensor: elements of one of its chunks
  std::vector<std::int64_t> rowsPerChunk;
  Sizes sizes;
};

Result<ChunkCat> chunkCat(const BoundArguments& args) {
  const std::vector<Tensor> tensors = args.tensors(0);
  const std::int64_t chunks = args.integer(2);
  if (tensors.empty()) return mismatch(args, "expects at least one tensor");
  if (chunks < 1 || chunks > (1LL << 31))
    return mismatch(args, "argument 'num_chunks' must be positive, got {}", chunks);
  ChunkCat plan;
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), tensors[0].dim()));
  plan.dim = std::size_t(dim);
  std::int64_t width = 0;
  for (const Tensor& tensor : tensors) {
    if (tensor.dim() <= dim || tensor.numel() == 0 || tensor.dtype() != tensors[0].dtype())
      return mismatch(args, "tensors must be of one dtype, not empty, and have dimension {}", dim);
    if (!std::equal(tensor.sizes().begin(), tensor.sizes().begin() + dim, tensors[0].sizes().begin()))
      return mismatch(args, "tensors must agree in the dimensions before {}", dim);
    plan.rowsPerChunk.push_back((tensor.size(dim) + chunks - 1) / chunks);
    KERF_TRY(std::int64_t own, checkedNumel(Sizes(tensor.sizes().begin() + dim + 1, tensor.sizes().end())));
    plan.widths.push_back(own * plan.rowsPerChunk.back());
    width += plan.widths.back();
  }
  plan.sizes.assign(tensors[0].sizes().begin(), tensors[0].sizes().begin() + dim);
  plan.sizes.push_back(chunks);
  plan.sizes.push_back(width);
  return plan;
}

Result<Value> chunkCatShape(const BoundArguments& args) {
  KERF_TRY(const ChunkCat plan, chunkCat(args));
  return Value(metaTensor(args.tensors(0)[0].dtype(), plan.sizes));
}

Result<Value> chunkCatKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const ChunkCat plan, chunkCat(args));
  const std::vector<Tensor> tensors = args.tensors(0);
  std::int64_t at = 0;
  for (std::size_t k = 0; k < tensors.size(); ++k) {
    const Tensor& tensor = tensors[k];
    KERF_TRY(const Tensor flat, tensor.contiguous());
    const auto dim = std::int64_t(plan.dim);
    const std::int64_t rest = plan.widths[k] / plan.rowsPerChunk[k], length = tensor.size(dim);
    const std::int64_t outer = flat.numel() / (rest * length);
    for (std::int64_t row = 0; row < outer * length; ++row) {
      const std::int64_t o = row / length, i = row % length;
      const std::int64_t to =
          (o * args.integer(2) + i / plan.rowsPerChunk[k]) * plan.sizes.back() + at + i % plan.rowsPerChunk[k] * rest;
      KERF_CHECK(copyElements(flat.viewAs({rest}, {1}, flat.offset() + row * rest), out.viewAs({rest}, {1}, to)));
    }
    at += plan.widths[k];
  }
  return Value(std::move(out));
}

// _unsafe_masked_index(self, mask, indices, fill), _unsafe_masked_index_put_accumulate(self, mask, indices, values)

Result<Value> clampedIndices(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  ValueList clamped;
  for (const Value& item : args.values[2].list()) {
    const auto dim = std::int64_t(clamped.size());
    if (item.isNone() || dim >= self.dim()) {
      clamped.push_back(item);
      continue;
    }
    const std::int64_t size = self.size(dim);
    KERF_TRY(Value index, callOp("aten.clamp.default"_op, {item, -size, size - 1}));
    clamped.push_back(std::move(index));
  }
  return Value(std::move(clamped));
}

Result<Value> maskedIndexShape(const BoundArguments& args) {
  if (args.tensor(1).dtype() != DType::Bool) return mismatch(args, "argument 'mask' must be a bool tensor");
  KERF_TRY(const Value indexed, inferShapes("aten._unsafe_index.Tensor"_op, {args.values[0], args.values[2]}, {}));
  return inferShapes("aten.masked_fill.Scalar"_op, {indexed, args.values[1], args.values[3]}, {});
}

Result<Value> maskedIndexKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  if (args.tensor(0).numel() == 0) return callOp("aten.fill_.Scalar"_op, {out, args.values[3]});
  KERF_TRY(const Value indices, clampedIndices(args));
  KERF_TRY(const Value indexed, callOp("aten._unsafe_index.Tensor"_op, {args.values[0], indices}));
  KERF_TRY(const Value outside, callOp("aten.logical_not.default"_op, {args.values[1]}));
  return callOp("aten.masked_fill.Scalar"_op, {indexed, outside, args.values[3]});
}

Result<Value> maskedPutShape(const BoundArguments& args) {
  if (args.tensor(1).dtype() != DType::Bool) return mismatch(args, "argument 'mask' must be a bool tensor");
  return inferShapes("aten._unsafe_index_put.default"_op, {args.values[0], args.values[2], args.values[3], true}, {});
}

Result<Value> maskedPutKernel(const BoundArguments& args) {
  KERF_CHECK(maskedPutShape(args));
  if (args.tensor(0).numel() == 0) return callOp("aten.clone.default"_op, {args.values[0]});
  KERF_TRY(const Value indices, clampedIndices(args));
  KERF_TRY(const Value outside, callOp("aten.logical_not.default"_op, {args.values[1]}));
  KERF_TRY(const Value values, callOp("aten.masked_fill.Scalar"_op, {args.values[3], outside, std::int64_t{0}}));
  return callOp("aten._unsafe_index_put.default"_op, {args.values[0], indices, values, true});
}

constexpr OpRow rows[] = {
    {"aten::rot90(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor", none, rot90Shape, rot90Kernel},
    {"aten::renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor", none, renormShape, renormKernel},
    {"aten::hash_tensor(Tensor self, int[1] dim=[], *, bool keepdim=False, int mode=0) -> Tensor", OpTrait::Reduction,
     hashShape, hashKernel},
    {"aten::_trilinear(Tensor i1, Tensor i2, Tensor i3, int[] expand1, int[] expand2, int[] expand3, int[] sumdim, int "
     "unroll_dim=1) -> Tensor",
     none, trilinearShape, trilinearKernel},
    {"aten::_chunk_cat(Tensor[] tensors, int dim, int num_chunks) -> Tensor", none, chunkCatShape, chunkCatKernel},
    {"aten::_unsafe_masked_index(Tensor self, Tensor mask, Tensor?[] indices, Scalar fill) -> Tensor", none,
     maskedIndexShape, maskedIndexKernel},
    {"aten::_unsafe_masked_index_put_accumulate(Tensor self, Tensor mask, Tensor?[] indices, Tensor values) -> Tensor",
     none, maskedPutShape, maskedPutKernel},
};

}  // namespace

OpRows indexProgramOps() { return rows; }

}  // namespace kerf::inline ops
