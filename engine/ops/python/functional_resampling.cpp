// torch.nn.functional's resampling and windows: interpolate, grid_sample, unfold, pools with indices, unpooling.
#include <algorithm>
#include <cmath>

#include "engine/ops/core/op_call.h"
#include "engine/ops/core/symbolic_checks.h"
#include "engine/ops/python/call_values.h"
#include "engine/ops/python/python_level.h"

namespace kerf::inline ops {
namespace {

std::string textOf(const PythonCall& call, std::string_view key) {
  const Value value = call.get(SIZE_MAX, key);
  return value.as<std::string>() ? *value.as<std::string>() : std::string();
}

Value repeated(const Value& value, std::size_t count) {
  return value.isList() || value.isNone() ? value : Value(ValueList(count, withNumbers(value)));
}

/// One mode of interpolate: the rank of its input and its op.
struct Mode {
  std::string_view name;
  std::int64_t rank;
  std::string_view op;
  bool takesCorners;
  std::string_view antialias{};
};
constexpr Mode modes[] = {
    {"nearest", 3, "upsample_nearest1d.vec", false},
    {"nearest", 4, "upsample_nearest2d.vec", false},
    {"nearest", 5, "upsample_nearest3d.vec", false},
    {"nearest-exact", 3, "_upsample_nearest_exact1d.vec", false},
    {"nearest-exact", 4, "_upsample_nearest_exact2d.vec", false},
    {"nearest-exact", 5, "_upsample_nearest_exact3d.vec", false},
    {"area", 3, "adaptive_avg_pool1d.default", false},
    {"area", 4, "adaptive_avg_pool2d.default", false},
    {"area", 5, "adaptive_avg_pool3d.default", false},
    {"linear", 3, "upsample_linear1d.vec", true},
    {"bilinear", 4, "upsample_bilinear2d.vec", true, "_upsample_bilinear2d_aa.vec"},
    {"trilinear", 5, "upsample_trilinear3d.vec", true},
    {"bicubic", 4, "upsample_bicubic2d.vec", true, "_upsample_bicubic2d_aa.vec"},
};

struct Scaling {
  Value size, factors;
};

/// Sizes from factors, as Python's floor of the product gives them.
Result<Value> scaledSizes(const Tensor& input, const Value& factors) {
  ValueList sizes;
  for (std::size_t i = 0; i < factors.list().size(); ++i) {
    const Value& factor = factors.list()[i];
    const std::int64_t own = input.symSize(std::int64_t(i) + 2);
    const double times =
        factor.as<double>() ? *factor.as<double>() : double(factor.as<std::int64_t>() ? *factor.as<std::int64_t>() : 0);
    sizes.emplace_back(std::int64_t(std::floor(double(own) * times)));
  }
  return Value(std::move(sizes));
}

Result<Scaling> scalingOf(const PythonCall& call, const Tensor& input, bool recompute) {
  const auto spatial = std::size_t(std::max<std::int64_t>(input.dim() - 2, 0));
  const Value size = call.get(SIZE_MAX, "size"), factor = call.get(SIZE_MAX, "scale_factor");
  if (size.isNone() == factor.isNone())
    return fail(ErrorCode::BadInput, "{}: one of size and scale_factor must be given", call.name);
  Scaling scaling{repeated(size, spatial), repeated(factor, spatial)};
  const Value& given = size.isNone() ? scaling.factors : scaling.size;
  if (given.list().size() != spatial)
    return fail(ErrorCode::BadInput, "{}: {} numbers for {} spatial dimensions", call.name, given.list().size(),
                spatial);
  if (!size.isNone() && recompute)
    return fail(ErrorCode::BadInput, "{}: recompute_scale_factor is of no use with a size", call.name);
  if (size.isNone() && (recompute || textOf(call, "mode") == "area")) {
    KERF_TRY(scaling.size, scaledSizes(input, scaling.factors));
    scaling.factors = Value();
  }
  return scaling;
}

Result<Value> interpolate(const PythonCall& call) {
  KERF_TRY(const Tensor input, call.tensor(0, "input"));
  const std::string name = textOf(call, "mode");
  const auto* mode =
      std::ranges::find_if(modes, [&](const Mode& row) { return row.name == name && row.rank == input.dim(); });
  if (mode == std::end(modes))
    return fail(ErrorCode::BadInput, "{}: mode '{}' does not fit an input of {} dimensions", call.name, name,
                input.dim());
  const Value corners = call.get(SIZE_MAX, "align_corners");
  if (!mode->takesCorners && !corners.isNone())
    return fail(ErrorCode::BadInput, "{}: align_corners is not for mode '{}'", call.name, name);
  if (!corners.isNone() && corners.as<bool>() == nullptr)
    return fail(ErrorCode::BadInput, "{}: argument 'align_corners' must be a bool", call.name);
  const bool smooth = call.truth(SIZE_MAX, "antialias", false);
  if (smooth && mode->antialias.empty())
    return fail(ErrorCode::BadInput, "{}: antialias is not for mode '{}'", call.name, name);
  KERF_TRY(const Scaling scaling, scalingOf(call, input, call.truth(SIZE_MAX, "recompute_scale_factor", false)));
  if (name == "area") return call.aten(mode->op, {Value(input), scaling.size});
  ValueList args{Value(input), scaling.size};
  if (mode->takesCorners) args.emplace_back(corners.as<bool>() && *corners.as<bool>());
  args.push_back(scaling.factors);
  return call.aten(smooth ? mode->antialias : mode->op, args);
}

/// upsample_nearest and upsample_bilinear: interpolate with a mode of their own.
Result<Value> upsampleAs(const PythonCall& call) {
  KeywordValues named = call.kwargs;
  const bool bilinear = call.name == "upsample_bilinear";
  named.emplace_back("mode", Value(std::string(bilinear ? "bilinear" : "nearest")));
  if (bilinear) named.emplace_back("align_corners", Value(true));
  return interpolate({call.name, call.args, named, call.ops});
}

Result<std::int64_t> numberOf(const PythonCall& call, std::string_view key,
                              std::initializer_list<std::string_view> of) {
  const std::string name = textOf(call, key);
  const auto* found = std::ranges::find(of, name);
  if (found == of.end()) return fail(ErrorCode::BadInput, "{}: '{}' is not a valid {}", call.name, name, key);
  return found - of.begin();
}

Result<Value> gridSample(const PythonCall& call) {
  KERF_TRY(const std::int64_t mode, numberOf(call, "mode", {"bilinear", "nearest", "bicubic"}));
  KERF_TRY(const std::int64_t padding, numberOf(call, "padding_mode", {"zeros", "border", "reflection"}));
  return call.aten("grid_sampler.default", {call.get(0, "input"), call.get(1, "grid"), Value(mode), Value(padding),
                                            Value(call.flag(SIZE_MAX, "align_corners", false))});
}

Result<Value> affineGrid(const PythonCall& call) {
  return call.aten("affine_grid_generator.default",
                   {call.get(0, "theta"), call.get(1, "size"), Value(call.flag(SIZE_MAX, "align_corners", false))});
}

Value pairOf(const PythonCall& call, std::string_view key) { return repeated(call.get(SIZE_MAX, key), 2); }

/// Lists hold one number for each dimension; `single`: or one for all. BadInput for bools, too.
Result<void> checkLists(const PythonCall& call, std::initializer_list<std::string_view> keys, std::size_t count,
                        bool single) {
  for (const std::string_view key : keys) {
    const Value value = call.get(SIZE_MAX, key);
    const bool isNumber = !single && value.isTensor() && value.tensor().dim() == 0;  // Python would iterate over it
    if (value.as<bool>() != nullptr || isNumber || (value.isNone() && key != "stride"))
      return fail(ErrorCode::BadInput, "{}: argument '{}' must be ints", call.name, key);
    if (!value.isList() || value.list().empty() || value.list().size() == count) continue;
    if (single && value.list().size() == 1) continue;
    return fail(ErrorCode::BadInput, "{}: argument '{}' must have {} number{}, has {}", call.name, key, count,
                count == 1 ? "" : "s", value.list().size());
  }
  return {};
}

/// Sliding windows as columns: what Tensor.unfold is not.
Result<Value> unfold(const PythonCall& call) {
  KERF_CHECK(checkLists(call, {"kernel_size", "dilation", "padding", "stride"}, 2, false));
  return call.aten("im2col.default", {call.get(0, "input"), pairOf(call, "kernel_size"), pairOf(call, "dilation"),
                                      pairOf(call, "padding"), pairOf(call, "stride")});
}
Result<Value> fold(const PythonCall& call) {
  KERF_CHECK(checkLists(call, {"output_size", "kernel_size", "dilation", "padding", "stride"}, 2, false));
  return call.aten("col2im.default", {call.get(0, "input"), pairOf(call, "output_size"), pairOf(call, "kernel_size"),
                                      pairOf(call, "dilation"), pairOf(call, "padding"), pairOf(call, "stride")});
}

std::size_t spatialOf(std::string_view name) { return std::size_t(name[name.find_first_of("123")] - '0'); }

bool isAbsent(const Value& stride) { return stride.isNone() || (stride.isList() && stride.list().empty()); }

/// max_pool1d and max_pool3d, and their forms with indices; one dimension is pooled as two.
Result<Value> maxPool(const PythonCall& call) {
  const std::size_t spatial = spatialOf(call.name);
  KERF_CHECK(checkLists(call, {"kernel_size", "stride", "padding", "dilation"}, spatial, true));
  const bool both = call.name.ends_with("_with_indices") || call.truth(SIZE_MAX, "return_indices", false);
  const Value kernel = repeated(call.get(1, "kernel_size"), spatial), given = call.get(2, "stride");
  const Value stride = isAbsent(given) ? kernel : repeated(given, spatial);
  const Value padding = repeated(call.get(3, "padding"), spatial),
              dilation = repeated(call.get(4, "dilation"), spatial);
  const Value ceil(call.flag(5, "ceil_mode", false)), input = call.get(0, "input");
  if (!both)
    return call.aten(fmt::format("max_pool{}d.default", spatial), {input, kernel, stride, padding, dilation, ceil});
  if (spatial == 3)
    return call.aten("max_pool3d_with_indices.default", {input, kernel, stride, padding, dilation, ceil});
  const auto led = [](const Value& list, std::int64_t first) { return Value(ValueList{Value(first), list.list()[0]}); };
  const Value dim(std::int64_t{-2});
  KERF_TRY(const Value wide, call.aten("unsqueeze.default", {input, dim}));
  KERF_TRY(const Value pooled, call.aten("max_pool2d_with_indices.default", {wide, led(kernel, 1), led(stride, 1),
                                                                             led(padding, 0), led(dilation, 1), ceil}));
  ValueList results;
  for (const Value& part : pooled.list()) {
    KERF_TRY(Value narrow, call.aten("squeeze.dim", {part, dim}));
    results.push_back(std::move(narrow));
  }
  return Value(std::move(results));
}

/// Sizes of the output from ratios of the input's, as Python's int() rounds the products.
Result<Value> sizesByRatio(const PythonCall& call, const Tensor& input, std::size_t spatial) {
  const Value ratio = repeated(call.get(3, "output_ratio"), spatial);
  if (!ratio.isList() || ratio.list().size() != spatial)
    return fail(ErrorCode::BadInput, "{}: output_size or output_ratio must be given", call.name);
  ValueList sizes;
  for (std::size_t i = 0; i < spatial; ++i) {
    const Value& factor = ratio.list()[i];
    const auto* whole = factor.as<std::int64_t>();
    const double times = factor.as<double>() ? *factor.as<double>() : double(whole ? *whole : 0);
    if (!(times > 0 && times < 1))
      return fail(ErrorCode::BadInput, "{}: output_ratio must be between 0 and 1", call.name);
    const std::int64_t own = input.symSize(input.dim() - std::int64_t(spatial - i));
    sizes.emplace_back(std::int64_t(double(own) * times));
  }
  return Value(std::move(sizes));
}

/// fractional_max_pool2d and 3d, with and without indices. Samples that are not given are drawn: for each plane one of each
/// dimension.
Result<Value> fractionalMaxPool(const PythonCall& call) {
  KERF_TRY(const Tensor input, call.tensor(0, "input"));
  const std::size_t spatial = spatialOf(call.name);
  const std::int64_t planes = input.dim() - std::int64_t(spatial) - 1;
  if (planes != 0 && planes != 1)
    return fail(ErrorCode::ShapeMismatch, "{}: input must have {} or {} dimensions, got {}", call.name, spatial + 1,
                spatial + 2, input.dim());
  Value size = repeated(call.get(2, "output_size"), spatial), samples = call.get(5, "_random_samples");
  if (size.isNone()) {
    KERF_TRY(size, sizesByRatio(call, input, spatial));
  }
  if (samples.isNone()) {
    const SymInt batch = planes == 0 ? SymInt(1) : input.symSize(0);
    const SymSizes drawn{batch, input.symSize(planes), SymInt(std::int64_t(spatial))};
    KERF_TRY(samples, call.aten("rand.default", {intList(drawn)},
                                {{"dtype", Value(input.dtype())}, {"device", Value(input.device())}}));
  }
  KERF_TRY(const Value both, call.aten(fmt::format("fractional_max_pool{}d.default", spatial),
                                       {Value(input), repeated(call.get(1, "kernel_size"), spatial), size, samples}));
  const bool asked = call.name.ends_with("_with_indices") || call.truth(SIZE_MAX, "return_indices", false);
  return asked || !both.isList() ? both : both.list()[0];
}

/// Output sizes with None where the input's is kept.
Result<Value> adaptiveMaxPool(const PythonCall& call) {
  KERF_TRY(const Tensor input, call.tensor(0, "input"));
  const std::size_t spatial = spatialOf(call.name);
  const Value size = repeated(call.get(1, "output_size"), spatial);
  if (!size.isList() || size.list().size() != spatial || input.dim() < std::int64_t(spatial))
    return fail(ErrorCode::ShapeMismatch, "{}: output_size must have {} numbers", call.name, spatial);
  ValueList sizes = size.list();
  for (std::size_t i = 0; i < spatial; ++i)
    if (sizes[i].isNone()) sizes[i] = Value(input.symSize(input.dim() - std::int64_t(spatial - i)));
  KERF_TRY(const Value both,
           call.aten(fmt::format("adaptive_max_pool{}d.default", spatial), {Value(input), Value(std::move(sizes))}));
  const bool asked = call.name.ends_with("_with_indices") || call.truth(SIZE_MAX, "return_indices", false);
  return asked || !both.isList() ? both : both.list()[0];
}

/// One int for each spatial dimension of a list that a program gives.
Result<SymSizes> intsOf(const PythonCall& call, std::string_view key, const Value& value, std::size_t spatial) {
  SymSizes sizes;
  if (value.isList())
    for (const Value& item : value.list())
      if (const auto size = item.asSymInt()) sizes.push_back(*size);
  if (!value.isList() || sizes.size() != value.list().size() || sizes.size() != spatial)
    return fail(ErrorCode::BadInput, "{}: argument '{}' must be {} ints", call.name, key, spatial);
  return sizes;
}

/// The size before pooling: by default the smallest that gives the input.
Result<SymSizes> unpooledSize(const PythonCall& call, const Tensor& input, const Value& kernel, const Value& stride,
                              const Value& padding) {
  const std::size_t spatial = spatialOf(call.name);
  if (input.dim() < std::int64_t(spatial))
    return fail(ErrorCode::ShapeMismatch, "{}: the input has {} dimensions, {} are pooled", call.name, input.dim(),
                spatial);
  KERF_TRY(const SymSizes windows, intsOf(call, "kernel_size", kernel, spatial));
  KERF_TRY(const SymSizes steps, intsOf(call, "stride", stride, spatial));
  KERF_TRY(const SymSizes borders, intsOf(call, "padding", padding, spatial));
  SymSizes made, given;
  const Value wanted = call.get(SIZE_MAX, "output_size");
  for (std::size_t i = 0; i < spatial; ++i) {
    const SymInt own = input.symSize(input.dim() - std::int64_t(spatial - i));
    made.push_back((own - 1) * steps[i] + windows[i] - borders[i] * 2);
  }
  if (!wanted.isList()) return made;
  for (const Value& item : wanted.list()) given.push_back(item.asSymInt().value_or(SymInt(0)));
  if (given.size() == spatial + 2) given.erase(given.begin(), given.begin() + 2);
  if (given.size() != spatial)
    return fail(ErrorCode::BadInput, "{}: output_size must have {} or {} numbers", call.name, spatial, spatial + 2);
  for (std::size_t i = 0; i < spatial; ++i) {
    if (!(given[i] > made[i] - steps[i] && given[i] < made[i] + steps[i]))
      return fail(ErrorCode::BadInput, "{}: output_size does not fit the input", call.name);
  }
  return given;
}

Result<Value> maxUnpool(const PythonCall& call) {
  KERF_TRY(const Tensor input, call.tensor(0, "input"));
  const std::size_t spatial = spatialOf(call.name);
  const Value kernel = repeated(call.get(2, "kernel_size"), spatial), given = call.get(3, "stride");
  const Value stride = isAbsent(given) ? kernel : repeated(given, spatial);
  const Value padding = repeated(call.get(4, "padding"), spatial), indices = call.get(1, "indices");
  KERF_TRY(SymSizes size, unpooledSize(call, input, kernel, stride, padding));
  if (spatial == 3) return call.aten("max_unpool3d.default", {Value(input), indices, intList(size), stride, padding});
  if (spatial == 2) return call.aten("max_unpool2d.default", {Value(input), indices, intList(size)});
  const Value last(std::int64_t{-1});
  size.push_back(SymInt(1));
  KERF_TRY(const Value values, call.aten("unsqueeze.default", {Value(input), last}));
  KERF_TRY(const Value places, call.aten("unsqueeze.default", {indices, last}));
  KERF_TRY(const Value wide, call.aten("max_unpool2d.default", {values, places, intList(size)}));
  return call.aten("squeeze.dim", {wide, last});
}

/// The average of powers, taken back.
Result<Value> lpPool(const PythonCall& call) {
  const std::size_t spatial = spatialOf(call.name);
  const Value power = call.get(1, "norm_type"), kernel = repeated(call.get(2, "kernel_size"), spatial);
  const Value given = call.get(3, "stride"), none(std::int64_t{0});
  if (spatial == 1 && call.get(2, "kernel_size").isList())
    return fail(ErrorCode::BadInput, "{}: argument 'kernel_size' must be an int", call.name);
  const double p = call.number(1, "norm_type", 2);
  std::int64_t count = 1;
  for (const Value& item : kernel.list()) count *= item.as<std::int64_t>() ? *item.as<std::int64_t>() : 1;
  KERF_TRY(const Value powers, call.aten("pow.Tensor_Scalar", {call.get(0, "input"), power}));
  KERF_TRY(const Value mean, call.aten(fmt::format("avg_pool{}d.default", spatial),
                                       {powers, kernel, isAbsent(given) ? kernel : repeated(given, spatial),
                                        repeated(none, spatial), Value(call.flag(4, "ceil_mode", false))}));
  KERF_TRY(const Value sign, call.aten("sign.default", {mean}));
  KERF_TRY(const Value size, call.aten("abs.default", {mean}));
  KERF_TRY(const Value kept, call.aten("relu.default", {size}));
  KERF_TRY(const Value signedMean, call.aten("mul.Tensor", {sign, kept}));
  KERF_TRY(const Value sum, call.aten("mul.Tensor", {signedMean, Value(count)}));
  return call.aten("pow.Tensor_Scalar", {sum, Value(1.0 / p)});
}

constexpr PythonRow rows[] = {
    {"torch.nn.functional.interpolate", interpolate},
    {"torch.nn.functional.upsample", interpolate},
    {"torch.nn.functional.upsample_nearest", upsampleAs},
    {"torch.nn.functional.upsample_bilinear", upsampleAs},
    {"torch.nn.functional.grid_sample", gridSample},
    {"torch.nn.functional.affine_grid", affineGrid},
    {"torch.nn.functional.unfold", unfold},
    {"torch.nn.functional.fold", fold},
    {"torch.nn.functional.max_pool1d", maxPool},
    {"torch.nn.functional.max_pool3d", maxPool},
    {"torch.nn.functional.max_pool1d_with_indices", maxPool},
    {"torch.nn.functional.max_pool3d_with_indices", maxPool},
    {"torch.max_pool1d_with_indices", maxPool},
    {"torch.nn.functional.fractional_max_pool2d", fractionalMaxPool},
    {"torch.nn.functional.fractional_max_pool3d", fractionalMaxPool},
    {"torch.nn.functional.fractional_max_pool2d_with_indices", fractionalMaxPool},
    {"torch.nn.functional.fractional_max_pool3d_with_indices", fractionalMaxPool},
    {"torch.nn.functional.adaptive_max_pool1d", adaptiveMaxPool},
    {"torch.nn.functional.adaptive_max_pool2d", adaptiveMaxPool},
    {"torch.nn.functional.adaptive_max_pool3d", adaptiveMaxPool},
    {"torch.nn.functional.adaptive_max_pool1d_with_indices", adaptiveMaxPool},
    {"torch.nn.functional.adaptive_max_pool2d_with_indices", adaptiveMaxPool},
    {"torch.nn.functional.adaptive_max_pool3d_with_indices", adaptiveMaxPool},
    {"torch.nn.functional.max_unpool1d", maxUnpool},
    {"torch.nn.functional.max_unpool2d", maxUnpool},
    {"torch.nn.functional.max_unpool3d", maxUnpool},
    {"torch.nn.functional.lp_pool1d", lpPool},
    {"torch.nn.functional.lp_pool2d", lpPool},
    {"torch.nn.functional.lp_pool3d", lpPool},
};

}  // namespace

PythonRows resamplingRows() { return rows; }

}  // namespace kerf::inline ops
