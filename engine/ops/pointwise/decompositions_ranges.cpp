// Decompositions of ranges, of the indices of triangles, and of casts.
#include <cmath>

#include "engine/ops/core/formula.h"
#include "engine/ops/core/op_math.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/type_promotion.h"

namespace kerf::inline ops {
namespace {

/// A keyword argument of a call; none where the op has none of that name.
const Value& named(const BoundArguments& args, std::string_view name) {
  static const Value nothing;
  const auto& arguments = args.op->schema.arguments;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].name == name) return args.values[i];
  return nothing;
}
Device deviceOf(const BoundArguments& args) {
  const Device* device = named(args, "device").as<Device>();
  return device ? *device : Device();
}
std::optional<DType> dtypeOf(const BoundArguments& args) {
  const DType* dtype = named(args, "dtype").as<DType>();
  return dtype ? std::optional(*dtype) : std::nullopt;
}

/// arange(end) and arange(start, end) with a step of 1; what was given stays given.
Result<Value> arangeProgram(const BoundArguments& args, const OpRunner& run) {
  const bool fromZero = args.op->schema.arguments[1].name != "end";
  KeywordValues options;
  for (std::size_t i = fromZero ? 1 : 2; i < args.values.size(); ++i)
    if (!args.none(i)) options.emplace_back(args.op->schema.arguments[i].name, args.values[i]);
  if (fromZero) return run.value("aten.arange.start_step"_op, {std::int64_t{0}, args.values[0]}, options);
  return run.value("aten.arange.start_step"_op, {args.values[0], args.values[1]}, options);
}

Formula iota(const SymInt& length, const Formula& start, const Formula& step, DType dtype, const Device& device) {
  return {"prims.iota.default"_op,
          {length},
          {{"start", start.value()},
           {"step", step.value()},
           {"dtype", dtype},
           {"device", device},
           {"requires_grad", false}}};
}
bool isWhole(const Value& value) { return value.asSymInt().has_value(); }

/// arange.start_step(start, end, step): iota of whole numbers, arithmetic on one for others.
Result<Value> arangeStartStep(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const bool whole = isWhole(args.values[0]) && isWhole(args.values[1]) && isWhole(args.values[2]);
  const DType dtype = dtypeOf(args).value_or(whole ? DType::Int64 : DType::Float32);
  const Device device = deviceOf(args);
  SymInt length;
  if (whole) {
    const SymInt start = args.symInteger(0), end = args.symInteger(1), step = args.symInteger(2);
    const SymInt ahead = guardOrTrue(step > 0) ? step - SymInt(1) : step + SymInt(1);
    length = floorDiv(end - start + ahead, step);
  } else {
    length = std::int64_t(std::ceil((args.number(1) - args.number(0)) / args.number(2)));
  }
  if (isIntegral(dtype)) {
    const auto integer = [&](std::size_t i) { return whole ? p[i] : Formula(std::int64_t(args.number(i))); };
    return p.done(iota(length, integer(0), integer(2), dtype, device));
  }
  const DType wide = opMathType(dtype);
  Formula count = p(iota(length, 0, 1, DType::Int64, device));
  if (!whole) count = p(to(count, wide));
  return p.done(to(count * p[2] + p[0], dtype));
}

/// linspace(start, end, steps): from the nearer end; ends may be 0-d tensors.
Result<Value> linspace(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const std::int64_t steps = args.integer(2);
  const DType dtype = dtypeOf(args).value_or(DType::Float32);
  const Device device = deviceOf(args);
  const auto bound = [&](std::size_t i) { return args.values[i].isTensor() ? p(to(p[i], DType::Float64)) : p[i]; };
  const Formula start = bound(0), end = bound(1);
  if (steps == 0) return p.done(full({0}, 0, dtype, device));
  if (steps == 1 && start.isNumber()) return p.done(full({1}, start, dtype, device));
  if (steps == 1) {
    const Formula one({"aten.empty.memory_format"_op, {intList({1})}, {{"dtype", dtype}, {"device", device}}});
    return p.done({"aten.copy.default"_op, {one, start}});
  }
  const DType wide = isIntegral(dtype) ? DType::Int64 : opMathType(dtype);
  const Formula count = p(arange(0, steps, 1, DType::Int64, device));
  const bool numbers = start.isNumber() && end.isNumber();
  const Formula step =
      numbers ? Formula((args.number(1) - args.number(0)) / double(steps - 1)) : p((end - start) / (steps - 1));
  const Formula near = p(count < double(steps) / 2);
  const Formula rising = p(to(count, wide) * step + start);
  const Formula falling = p(end - to(SymInt(steps - 1) - count, wide) * step);
  return p.done(to(where(near, rising, falling), dtype));
}
/// logspace(start, end, steps, base): powers of the base.
Result<Value> logspace(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const DType dtype = dtypeOf(args).value_or(DType::Float32);
  const OpId spaces[] = {"aten.linspace.default"_op, "aten.linspace.Scalar_Tensor"_op, "aten.linspace.Tensor_Scalar"_op,
                         "aten.linspace.Tensor_Tensor"_op};
  const OpId space = spaces[2 * int(args.values[0].isTensor()) + int(args.values[1].isTensor())];
  const auto bound = [&](std::size_t i) -> Formula {
    if (!isIntegral(dtype)) return p[i];
    return args.values[i].isTensor() ? p(to(p[i], dtype)) : Formula(std::int64_t(args.number(i)));
  };
  const KeywordValues options{{"dtype", DType::Float64}, {"device", deviceOf(args)}};
  const Formula exponents = p({space, {bound(0), bound(1), p[2]}, options});
  return p.done(to({"aten.pow.Scalar"_op, {p[3], exponents}}, dtype));
}

/// Rows and columns of the two parts of a triangle of a row × col matrix.
struct TriangleSizes {
  std::int64_t trapezoid = 0, rectangle = 0, firstRow = 0;
};
TriangleSizes lowerSizes(std::int64_t row, std::int64_t col, std::int64_t offset) {
  if (row == 0 || col == 0) return {};
  const std::int64_t first = offset > 0 ? std::min(col, 1 + offset) : row + offset > 0;
  const std::int64_t last = std::max<std::int64_t>(0, std::min(col, row + offset));
  const std::int64_t all = std::max<std::int64_t>(0, std::min(row, row + offset)), slanted = last - first + 1;
  return {(first + last) * slanted / 2, std::max<std::int64_t>(0, (all - slanted) * col), first};
}
TriangleSizes upperSizes(std::int64_t row, std::int64_t col, std::int64_t offset) {
  if (row == 0 || col == 0) return {};
  const std::int64_t rectangle = std::max<std::int64_t>(0, std::min(row, -offset) * col);
  const TriangleSizes below = lowerSizes(row, col, offset - 1);
  const std::int64_t first = offset > 0 ? std::max<std::int64_t>(0, col - offset) : col;
  return {row * col - below.trapezoid - below.rectangle - rectangle, rectangle, first};
}

Formula joined(Formulas& p, const Formula& a, const Formula& b, const Formula& c, const Formula& d) {
  const Formula rows = p(cat({a, b}, 0)), columns = p(cat({c, d}, 0));
  return {"aten.stack.default"_op, {listOf({rows, columns})}};
}

/// tril_indices(row, col, offset): the rows of a trapezoid by the root of a count, then a rectangle.
Result<Value> trilIndices(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const std::int64_t row = args.integer(0), col = args.integer(1), offset = args.integer(2);
  const DType dtype = dtypeOf(args).value_or(DType::Int64);
  const Device device = deviceOf(args);
  const auto [trapezoid, rectangle, first] = lowerSizes(row, col, offset);
  const std::int64_t rowOffset = std::max<std::int64_t>(0, -offset);
  const Formula count = p(arange(0, trapezoid, 1, DType::Float64, device));
  const double b = double(first) - 0.5;
  const Formula rows = p(floor(sqrt(count * 2 + b * b) + -b));
  const Formula columns = p(floor(count - (rows + (2 * first - 1)) * rows * 0.5));
  const Formula shifted = p(to(rows + rowOffset, dtype));
  const Formula inTrapezoid = p(to(columns, dtype));
  const Formula rest = p(arange(0, rectangle, 1, dtype, device));
  const Formula divisor = std::max<std::int64_t>(col, 1);
  const Formula restRows = p(roundedQuotient(rest, divisor, "floor") + (col - first + 1 + rowOffset));
  const Formula restColumns = p({"aten.remainder.Scalar"_op, {rest, divisor}});
  return p.done(joined(p, shifted, restRows, inTrapezoid, restColumns));
}
/// triu_indices(row, col, offset): the rectangle comes first.
Result<Value> triuIndices(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const std::int64_t row = args.integer(0), col = args.integer(1), offset = args.integer(2);
  const DType dtype = dtypeOf(args).value_or(DType::Int64);
  const Device device = deviceOf(args);
  const auto [trapezoid, rectangle, first] = upperSizes(row, col, offset);
  const Formula divisor = std::max<std::int64_t>(col, 1);
  const Formula whole = p(arange(0, rectangle, 1, dtype, device));
  const Formula wholeRows = p(roundedQuotient(whole, divisor, "floor"));
  const Formula wholeColumns = p({"aten.remainder.Scalar"_op, {whole, divisor}});
  const Formula count = p(arange(0, trapezoid, 1, DType::Float64, device));
  const double b = -0.5 - double(first);
  const Formula rows = p(floor(-b - sqrt(b * b - count * 2)));
  const Formula columns = p(floor(count - (SymInt(2 * first - 1) - rows) * rows * 0.5));
  Formula slantedRows = p(to(rows, dtype));
  Formula slantedColumns = p(to(columns, dtype));
  if (col != 0) slantedRows = p(slantedRows + rectangle / col);
  slantedColumns = p(slantedColumns + std::max<std::int64_t>(0, offset));
  return p.done(joined(p, wholeRows, slantedRows, wholeColumns, slantedColumns));
}

/// _to_copy(self, *, dtype, layout, device, pin_memory, non_blocking, memory_format)
Result<Value> toCopy(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Device* device = named(args, "device").as<Device>();
  const std::optional<DType> dtype = dtypeOf(args);
  const Value& format = named(args, "memory_format");
  if (device == nullptr && !dtype && format.isNone()) return p.done(clone(p[0]));
  Formula x = p[0];
  const bool moves = device != nullptr && !(*device == args.tensor(0).device());
  const bool castsFirst = moves && dtype && device->type == "cpu";
  if (castsFirst) x = {"prims.convert_element_type.default"_op, {x, Value(*dtype)}};
  if (moves) x = {"prims.device_put.default"_op, {x, Value(*device), named(args, "non_blocking")}};
  if (dtype && !castsFirst) x = {"prims.convert_element_type.default"_op, {x, Value(*dtype)}};
  return p.done(format.isNone() ? x : Formula("aten.clone.default"_op, {x}, {{"memory_format", format}}));
}

constexpr OpFacts rangeDecompositionsTable[] = {
    decomposes("aten::arange.", arangeProgram),
    decomposes("aten::arange.start", arangeProgram),
    decomposes("aten::arange.start_step", arangeStartStep),
    decomposes("aten::linspace", linspace),
    decomposes("aten::logspace", logspace),
    decomposes("aten::tril_indices", trilIndices),
    decomposes("aten::triu_indices", triuIndices),
    decomposes("aten::_to_copy", toCopy),
};

const OpRegistration rangeDecompositions({.facts = rangeDecompositionsTable});

}  // namespace

}  // namespace kerf::inline ops
