// Functions that few graphs call: range, combinations, sequences padded and packed, and convolutions by the names of
// their algorithms.
#include <algorithm>
#include <cmath>

#include "engine/ops/core/composite.h"
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

using SI = std::int64_t;

// range(start, end, step): both ends, unlike arange

Result<Value> rangeProgram(const BoundArguments& args, const OpRunner& run) {
  const bool stepped = args.op->schema.overload == "step";
  const double start = args.number(0), end = args.number(1), step = stepped ? args.number(2) : 1;
  if (step == 0 || !std::isfinite(start) || !std::isfinite(end) || (step > 0 ? start > end : start < end))
    return mismatch(args, "bounds {} and {} do not fit step {}", start, end, step);
  const DType dtype = args.dtypeIf(args.position("dtype")).value_or(DType::Float32);
  const double count = std::floor((end - start) / step) + 1;
  if (count > double(1LL << 40)) return fail(ErrorCode::TooLarge, "{}: {} elements", args.opName(), count);
  CompositeSteps s(run);
  KeywordValues keywords{{"dtype", dtype}};
  if (const Value device = args.values[args.position("device")]; !device.isNone())
    keywords.emplace_back("device", device);
  const Tensor counts = s("aten.arange.default"_op, {Value(SI(count))}, keywords);
  const bool whole = isIntegral(dtype);
  const auto number = [&](double value) { return whole ? Value(SI(value)) : Value(value); };
  return s.done(s("aten.add.Scalar"_op, {s("aten.mul.Scalar"_op, {counts, number(step)}), number(start)}));
}

// combinations(self, r, with_replacement): rows of r elements, in the order of their places

Result<Value> combinationsProgram(const BoundArguments& args, const OpRunner& run) {
  const Tensor& self = args.tensor(0);
  const SI r = args.integer(1);
  if (self.dim() != 1) return mismatch(args, "expects a 1D vector, got {} dimensions", self.dim());
  if (r < 0) return mismatch(args, "expects a non-negative number, got {}", r);
  if (r > 25) return mismatch(args, "more than 25 elements of a row are not supported, got {}", r);
  CompositeSteps s(run);
  if (r == 0) return s.done(s("aten.new_empty.default"_op, {self, intList({0})}));
  const auto grids = [&](const Tensor& line) {
    return run.value("aten.meshgrid.indexing"_op, {Value(ValueList(std::size_t(r), Value(line)))},
                     {{"indexing", std::string("ij")}});
  };
  const Tensor places = s("aten.arange.default"_op, {Value(self.symNumel())});
  KERF_TRY(const Value values, grids(self));
  KERF_TRY(const Value indices, grids(places));
  Tensor mask = s("aten.ones_like.default"_op, {indices.list()[0]}, {{"dtype", DType::Bool}});
  for (std::size_t i = 0; i + 1 < std::size_t(r); ++i) {
    const Tensor fits = args.boolean(2) ? s("aten.le.Tensor"_op, {indices.list()[i], indices.list()[i + 1]})
                                        : s("aten.lt.Tensor"_op, {indices.list()[i], indices.list()[i + 1]});
    mask = s("aten.logical_and.default"_op, {mask, fits});
  }
  ValueList columns;
  for (const Value& grid : values.list()) columns.emplace_back(s("aten.masked_select.default"_op, {grid, mask}));
  return s.done(s("aten.stack.default"_op, {Value(std::move(columns)), SI(1)}));
}

// Tensors that are dense and floating already

Result<Value> sameProgram(const BoundArguments& args, const OpRunner& run) {
  const DType own = args.tensor(0).dtype();
  const bool given = args.values.size() > 1;
  const DType wanted = given ? args.dtypeIf(1).value_or(own) : (isFloating(own) ? own : DType::Float32);
  if (!given && wanted == own && own != DType::Float32)
    return run.value("aten.to.dtype"_op, {args.values[0], DType::Float32});
  return wanted == own ? Result<Value>(args.values[0]) : run.value("aten.to.dtype"_op, {args.values[0], wanted});
}

/// The norm of all but one dimension, which keeps its place.
Result<Value> normExceptProgram(const BoundArguments& args, const OpRunner& run) {
  const Tensor& v = args.tensor(0);
  const Value power = args.values[1];
  const SI dim = args.integer(2);
  if (dim == -1) return run.value("aten.norm.Scalar"_op, {v, power});
  if (dim < 0 || dim >= v.dim()) return mismatch(args, "there is no dimension {}", dim);
  Sizes others;
  for (SI i = 0; i < v.dim(); ++i)
    if (i != dim) others.push_back(i);
  return run.value("aten.norm.ScalarOpt_dim"_op, {v, power, intList(SymSizes(others)), true});
}

// Sequences

Result<Value> padSequenceProgram(const BoundArguments& args, const OpRunner& run) {
  const std::vector<Tensor> parts = args.tensors(0);
  if (parts.empty()) return mismatch(args, "received an empty list of sequences");
  const bool left = args.text(3) == "left";
  if (!left && args.text(3) != "right") return mismatch(args, "padding_side should be either right or left");
  SymInt longest = 0;
  for (const Tensor& part : parts) {
    if (part.dim() == 0) return mismatch(args, "a sequence has no dimensions");
    longest = symMax(longest, part.symSize(0));
  }
  CompositeSteps s(run);
  ValueList padded;
  for (const Tensor& part : parts) {
    SymSizes pad(std::size_t(2 * part.dim()), 0);
    pad[pad.size() - (left ? 2 : 1)] = longest - part.symSize(0);
    padded.emplace_back(s("aten.constant_pad_nd.default"_op, {part, intList(pad), args.values[2]}));
  }
  return s.done(s("aten.stack.default"_op, {Value(std::move(padded)), SI(args.boolean(1) ? 0 : 1)}));
}

Result<Value> flattenDenseProgram(const BoundArguments& args, const OpRunner& run) {
  CompositeSteps s(run);
  ValueList flat;
  for (const Tensor& tensor : args.tensors(0)) flat.emplace_back(s("aten.reshape.default"_op, {tensor, intList({-1})}));
  if (flat.empty()) return mismatch(args, "expects tensors");
  return s.done(s("aten.cat.default"_op, {Value(std::move(flat)), SI(0)}));
}

Result<Value> unflattenDenseProgram(const BoundArguments& args, const OpRunner& run) {
  CompositeSteps s(run);
  ValueList parts;
  SymInt at = 0;
  for (const Tensor& like : args.tensors(1)) {
    const Tensor part = s("aten.narrow.default"_op, {args.values[0], SI(0), Value(at), Value(like.symNumel())});
    parts.emplace_back(s("aten.view.default"_op, {part, intList(like.symSizes())}));
    at += like.symNumel();
  }
  KERF_CHECK(s.done(args.tensor(0)));
  return Value(std::move(parts));
}

// Convolutions

/// A number stands for all spatial dimensions.
Value spatial(const BoundArguments& args, std::string_view name, SI count, SI otherwise) {
  const auto& arguments = args.op->schema.arguments;
  const auto found =
      std::ranges::find(arguments, name, [](const auto& argument) { return std::string_view(argument.name); });
  SymSizes sizes(std::size_t(count), otherwise);
  if (found != arguments.end()) {
    const SymSizes given = args.symSizes(std::size_t(found - arguments.begin()));
    if (SI(given.size()) == count) sizes = given;
    if (given.size() == 1) sizes.assign(std::size_t(count), given[0]);
  }
  return intList(sizes);
}

/// The convolution that the row names by its algorithm: the last number of the name is that of spatial dimensions.
Result<Value> convolutionProgram(const BoundArguments& args, const OpRunner& run) {
  const std::string& name = args.op->schema.name;
  const SI count = name.find("3d") != name.npos ? 3 : 2;
  const bool transposed = name.find("transpose") != name.npos, depthwise = name.find("depthwise") != name.npos;
  const Tensor& self = args.tensor(0);
  if (self.dim() != count + 1 && self.dim() != count + 2) return mismatch(args, "got {} dimensions", self.dim());
  CompositeSteps s(run);
  const bool batched = self.dim() == count + 2;
  const Tensor input = batched ? self : s("aten.unsqueeze.default"_op, {self, SI(0)});
  const Value groups = depthwise ? Value(input.symSize(1)) : Value(SI(1));
  const Tensor result =
      s("aten.convolution.default"_op,
        {input, args.values[1], args.values[3], spatial(args, "stride", count, 1), spatial(args, "padding", count, 0),
         spatial(args, "dilation", count, 1), transposed, spatial(args, "output_padding", count, 0), groups});
  return s.done(batched ? result : s("aten.squeeze.dim"_op, {result, SI(0)}));
}

/// conv_tbc: time, batch, channels.
Result<Value> convTbcProgram(const BoundArguments& args, const OpRunner& run) {
  if (args.tensor(0).dim() != 3 || args.tensor(1).dim() != 3 || args.tensor(2).dim() != 1)
    return mismatch(args, "expects input and weight of 3 dimensions and a bias of one");
  CompositeSteps s(run);
  const Tensor input = s("aten.permute.default"_op, {args.values[0], intList({1, 2, 0})});
  const Tensor weight = s("aten.permute.default"_op, {args.values[1], intList({2, 1, 0})});
  const Tensor result =
      s("aten.convolution.default"_op, {input, weight, args.values[2], intList({1}), intList({args.integer(3)}),
                                        intList({1}), false, intList({0}), SI(1)});
  return s.done(s("aten.contiguous.default"_op, {s("aten.permute.default"_op, {result, intList({2, 0, 1})})}));
}

Result<Value> rreluInPlace(const BoundArguments& args, const OpRunner& run) {
  KERF_TRY(const Value made,
           run.value("aten.rrelu.default"_op, {args.values[0], args.values[1], args.values[2], args.values[3]},
                     {{"generator", args.values[4]}}));
  return run.value("aten.copy_.default"_op, {args.values[0], made});
}

/// The conjugate of the last two dimensions exchanged; of a tensor without dimensions its conjugate.
Result<Value> adjointProgram(const BoundArguments& args, const OpRunner& run) {
  const std::int64_t dims = args.tensor(0).dim();
  if (dims == 1) return mismatch(args, "needs no dimension, or at least 2, got 1");
  Value turned = args.values[0];
  if (dims > 0) {
    KERF_TRY(turned, run.value("aten.transpose.int"_op, {args.values[0], SI(-2), SI(-1)}));
  }
  return isComplex(args.tensor(0).dtype()) ? run.value("aten.conj.default"_op, {turned}) : Result<Value>(turned);
}

constexpr OpTrait none = OpTrait::None;
#define KERF_FACTORY \
  "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
#define KERF_PLAIN(dims)                                                                       \
  "(Tensor self, Tensor weight, SymInt[" dims "] kernel_size, Tensor? bias=None, SymInt[" dims \
  "] stride=1, SymInt[" dims "] padding=0"
constexpr OpRow rareRows[] = {
    compositeRow(rangeProgram, "aten::range(Scalar start, Scalar end, " KERF_FACTORY),
    compositeRow(rangeProgram, "aten::range.step(Scalar start, Scalar end, Scalar step=1, " KERF_FACTORY),
    compositeRow(combinationsProgram, "aten::combinations(Tensor self, int r=2, bool with_replacement=False) -> Tensor",
                 OpTrait::DataDependent),
    compositeRow(sameProgram, "aten::dequantize.self(Tensor self) -> Tensor"),
    compositeRow(sameProgram,
                 "aten::to_dense(Tensor self, ScalarType? dtype=None, *, bool? masked_grad=None) -> Tensor"),
    compositeRow(normExceptProgram, "aten::norm_except_dim(Tensor v, int pow=2, int dim=0) -> Tensor"),
    compositeRow(padSequenceProgram,
                 "aten::pad_sequence(Tensor[] sequences, bool batch_first=False, float padding_value=0.0, str "
                 "padding_side=\"right\") -> Tensor"),
    compositeRow(flattenDenseProgram, "aten::flatten_dense_tensors(Tensor[] tensors) -> Tensor"),
    compositeRow(unflattenDenseProgram, "aten::unflatten_dense_tensors(Tensor flat, Tensor[] tensors) -> Tensor[]"),
    compositeRow(convolutionProgram, "aten::thnn_conv2d" KERF_PLAIN("2") ") -> Tensor", OpTrait::Matmul),
    compositeRow(convolutionProgram, "aten::slow_conv3d" KERF_PLAIN("3") ") -> Tensor", OpTrait::Matmul),
    compositeRow(convolutionProgram, "aten::slow_conv_dilated2d" KERF_PLAIN("2") ", SymInt[2] dilation=1) -> Tensor",
                 OpTrait::Matmul),
    compositeRow(convolutionProgram, "aten::slow_conv_dilated3d" KERF_PLAIN("3") ", SymInt[3] dilation=1) -> Tensor",
                 OpTrait::Matmul),
    compositeRow(
        convolutionProgram,
        "aten::slow_conv_transpose2d" KERF_PLAIN("2") ", SymInt[2] output_padding=0, SymInt[2] dilation=1) -> Tensor",
        OpTrait::Matmul),
    compositeRow(
        convolutionProgram,
        "aten::slow_conv_transpose3d" KERF_PLAIN("3") ", SymInt[3] output_padding=0, SymInt[3] dilation=1) -> Tensor",
        OpTrait::Matmul),
    compositeRow(convTbcProgram, "aten::conv_tbc(Tensor self, Tensor weight, Tensor bias, int pad=0) -> Tensor",
                 OpTrait::Matmul),
    aliasRow("aten::native_channel_shuffle(Tensor self, SymInt groups) -> Tensor", "aten.channel_shuffle.default"),
    compositeRow(
        rreluInPlace,
        "aten::rrelu_(Tensor(a!) self, Scalar lower=0.125, Scalar upper=0.3333333333333333, bool training=False, "
        "Generator? generator=None) -> Tensor(a!)",
        OpTrait::Random | OpTrait::Inplace | OpTrait::Impure),
    compositeRow(adjointProgram, "aten::adjoint(Tensor(a) self) -> Tensor(a)", none),
};

const OpRegistration rareOps({.rows = rareRows});

}  // namespace

}  // namespace kerf::inline ops
