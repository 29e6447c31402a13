#include "engine/audit/meaning/drawn_operators.h"

#include <array>

#include <fmt/format.h>

#include "engine/audit/meaning/lanes.h"
#include "engine/ops/core/op_registry.h"

namespace kerf::inline audit {
namespace {

struct DrawnRow {
  std::string_view op, kind;
};
constexpr std::array<DrawnRow, 14> drawnRows = {
    {{"aten.mm.default", "aten.mm.default"},
     {"aten.addmm.default", "aten.mm.default"},
     {"aten.bmm.default", "aten.bmm.default"},
     {"aten.baddbmm.default", "aten.bmm.default"},
     {"aten.convolution.default", "aten.convolution.default"},
     {"aten.convolution_backward.default", "aten.convolution_backward.default"},
     {"aten._scaled_dot_product_flash_attention.default", "aten._scaled_dot_product_flash_attention.default"},
     {"aten._scaled_dot_product_flash_attention_backward.default",
      "aten._scaled_dot_product_flash_attention_backward.default"},
     {"aten._scaled_dot_product_efficient_attention.default", "aten._scaled_dot_product_efficient_attention.default"},
     {"aten._scaled_dot_product_efficient_attention_backward.default",
      "aten._scaled_dot_product_efficient_attention_backward.default"},
     {"aten._scaled_dot_product_cudnn_attention.default", "aten._scaled_dot_product_cudnn_attention.default"},
     {"aten._scaled_dot_product_cudnn_attention_backward.default",
      "aten._scaled_dot_product_cudnn_attention_backward.default"},
     {"aten._scaled_dot_product_flash_attention_for_cpu.default",
      "aten._scaled_dot_product_flash_attention_for_cpu.default"},
     {"aten._scaled_dot_product_flash_attention_for_cpu_backward.default",
      "aten._scaled_dot_product_flash_attention_for_cpu_backward.default"}}};

std::string_view withoutTorch(std::string_view target) {
  constexpr std::string_view prefix = "torch.ops.";
  return target.starts_with(prefix) ? target.substr(prefix.size()) : target;
}

/// Numbers as text; tensors as their sizes, with a mark each.
std::string keyOf(const Value& value, std::vector<ValueMark>& marks, bool& isKnown) {
  if (value.isTensor()) {
    const auto mark = ValueMark::of(value.tensor());
    isKnown = isKnown && mark.has_value();
    if (!mark) return "?";
    marks.push_back(*mark);
    return fmt::format("[{}]", fmt::join(value.tensor().sizes(), ","));
  }
  if (value.isList()) {
    std::string text = "(";
    for (const Value& each : value.list()) text += keyOf(each, marks, isKnown) + ' ';
    return text + ')';
  }
  if (const bool* const flag = value.as<bool>()) return *flag ? "1" : "0";
  if (const auto* const whole = value.as<std::int64_t>()) return std::to_string(*whole);
  if (const double* const real = value.as<double>()) return fmt::format("{}", *real);
  return value.isNone() ? "None" : "other";
}

double nextNumber(std::uint64_t& seed) {
  seed += 0x9e3779b97f4a7c15ULL;
  std::uint64_t mixed = seed;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
  return double((mixed ^ (mixed >> 31)) >> 11) * 0x1p-53 * 3.4 - 1.7;
}

}  // namespace

std::string drawnKind(std::string_view target) {
  const auto row = std::ranges::find(drawnRows, withoutTorch(target), &DrawnRow::op);
  return row == drawnRows.end() ? std::string() : std::string(row->kind);
}

Result<Value> DrawnOperators::number(const Value& shape, std::uint64_t& seed) {
  if (shape.isList()) {
    ValueList items;
    for (const Value& each : shape.list()) {
      KERF_TRY(Value item, number(each, seed));
      items.push_back(std::move(item));
    }
    return Value(std::move(items));
  }
  if (!shape.isTensor()) return shape;
  DenseNumbers numbers{shape.tensor().sizes(), shape.tensor().dtype(), {}, true};
  numbers.values = NumberArray::zeros(std::size_t(shape.tensor().numel()));
  double* const to = numbers.values.edit();
  for (std::size_t i = 0; i < numbers.values.size() && isFloating(numbers.dtype); ++i) to[i] = nextNumber(seed);
  KERF_TRY(Tensor tensor, tensorOf(numbers));
  return Value(std::move(tensor));
}

Result<Value> DrawnOperators::drawn(const std::string& target, const ValueList& args,
                                    const KeywordValues& kwargs) const {
  Drawn made;
  bool isKnown = true;
  made.key = keyOf(Value(args), made.operands, isKnown);
  for (const auto& [name, value] : kwargs) made.key += name + '=' + keyOf(value, made.operands, isKnown);
  if (!isKnown) return fail(ErrorCode::UnsupportedOp, "operands of {} cannot be compared", target);
  for (const Drawn& known : m_known[target]) {
    bool isSame = known.key == made.key;
    for (std::size_t i = 0; i < known.operands.size() && isSame; ++i)
      isSame = known.operands[i].isLike(made.operands[i], true);
    if (!isSame) continue;
    if (const StoragePtr storage = known.kept.lock()) {
      const Sizes& sizes = known.shape.tensor().sizes();
      return Value(Tensor(storage, DType::Float64, sizes, contiguousStrides(sizes)));
    }
    std::uint64_t seed = known.seed;
    return number(known.shape, seed);
  }
  if (m_isClosed) return fail(ErrorCode::NotFound, "no node {} has these operands", target);
  const std::string full = "torch.ops." + target;
  KERF_TRY(made.shape, shapeOps().call(OpTarget(full), args, kwargs));
  made.seed = m_seed;
  KERF_TRY(Value result, number(made.shape, m_seed));
  const bool isWhole = result.isTensor() && result.tensor().dtype() == DType::Float64 &&
                       result.tensor().isContiguous() && result.tensor().offset() == 0;
  if (isWhole) made.kept = result.tensor().storage();
  m_known[target].push_back(std::move(made));
  return result;
}

/// addmm(bias, a, b): bias and the drawn product.
Result<Value> DrawnOperators::product(std::string_view target, const ValueList& args,
                                      const KeywordValues& kwargs) const {
  const bool isBatched = target.find("bmm") != std::string_view::npos;
  if (args.size() < 3) return fail(ErrorCode::BadInput, "{} takes three tensors", target);
  KERF_TRY(Value result, drawn(isBatched ? "aten.bmm.default" : "aten.mm.default", {args[1], args[2]}, {}));
  double alpha = 1, beta = 1;
  for (const auto& [name, value] : kwargs) {
    const auto* const whole = value.as<std::int64_t>();
    const double* const real = value.as<double>();
    const double factor = whole != nullptr ? double(*whole) : real != nullptr ? *real : 1;
    if (name == "alpha") alpha = factor;
    if (name == "beta") beta = factor;
  }
  const auto scaled = [&](const Value& value, double by) -> Result<Value> {
    if (by == 1) return value;
    return m_ops.call(OpTarget("torch.ops.aten.mul.Tensor"), {value, Value(by)}, {});
  };
  KERF_TRY(const Value left, scaled(result, alpha));
  KERF_TRY(const Value right, scaled(args[0], beta));
  return m_ops.call(OpTarget("torch.ops.aten.add.Tensor"), {left, right}, {});
}

/// (input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
Result<Value> DrawnOperators::convolution(const ValueList& args, const KeywordValues& kwargs) const {
  static constexpr std::array<std::string_view, 9> names = {
      "input", "weight", "bias", "stride", "padding", "dilation", "transposed", "output_padding", "groups"};
  ValueList all(9);
  for (std::size_t i = 0; i < args.size() && i < 9; ++i) all[i] = args[i];
  for (const auto& [name, value] : kwargs)
    if (const auto at = std::ranges::find(names, name); at != names.end()) all[std::size_t(at - names.begin())] = value;
  const Value bias = std::exchange(all[2], Value());
  KERF_TRY(const Value core, drawn("aten.convolution.default", all, {}));
  if (!bias.isTensor() || !core.isTensor()) return core;
  std::vector<std::int64_t> ones(std::size_t(core.tensor().dim()), 1);
  ones[core.tensor().dim() > 1 ? 1 : 0] = -1;
  ValueList shape(ones.begin(), ones.end());
  KERF_TRY(const Value spread, m_ops.call(OpTarget("torch.ops.aten.reshape.default"), {bias, Value(shape)}, {}));
  return m_ops.call(OpTarget("torch.ops.aten.add.Tensor"), {core, spread}, {});
}

std::optional<Result<Value>> DrawnOperators::random(std::string_view name, const ValueList& args) const {
  const auto whole = [&](std::size_t i) {
    const auto* const value = i < args.size() ? args[i].as<std::int64_t>() : nullptr;
    return value == nullptr ? std::int64_t(-1) : *value;
  };
  const auto seedOf = [&](std::size_t i) {
    const auto numbers = i < args.size() && args[i].isTensor() ? numbersOf(args[i].tensor()) : std::nullopt;
    return numbers && numbers->values.size() == 1 ? numbers->values[0] : double(whole(i));
  };
  DenseNumbers made{{}, DType::Int64, {}, true};
  if (name == "prims.inductor_seeds.default" || name == "prims.inductor_seed.default") {
    const std::int64_t count = name.find("seeds") == std::string_view::npos ? 1 : whole(0);
    if (count < 1 || count > 1 << 20) return std::nullopt;
    if (name.find("seeds") != std::string_view::npos) made.sizes = {count};
    made.values = NumberArray(std::size_t(count));
    double* const to = made.values.edit();
    for (std::int64_t i = 0; i < count; ++i) to[i] = double(i + 1);
  } else if (name == "prims.inductor_lookup_seed.default") {
    const auto seeds = !args.empty() && args[0].isTensor() ? numbersOf(args[0].tensor()) : std::nullopt;
    const std::int64_t which = whole(1);
    if (!seeds || which < 0 || std::size_t(which) >= seeds->values.size()) return std::nullopt;
    made.values = {seeds->values[std::size_t(which)]};
  } else if (name == "prims.inductor_random.default" && args.size() >= 3 && args[0].isList()) {
    const std::string* const mode = args[2].as<std::string>();
    if (mode == nullptr) return std::nullopt;
    std::int64_t count = 1;
    for (const Value& each : args[0].list()) {
      const auto* const size = each.as<std::int64_t>();
      if (size == nullptr) return std::nullopt;
      made.sizes.push_back(*size);
      count *= *size;
    }
    made.dtype = DType::Float64;
    const double seed = seedOf(1);
    made.values = NumberArray(std::size_t(std::max<std::int64_t>(count, 0)));
    double* const to = made.values.edit();
    for (std::int64_t i = 0; i < count; ++i) {
      const double drawn = drawnNumber(seed, double(i));
      to[i] = *mode == "randn" ? 4 * drawn - 2 : drawn;
    }
  } else {
    return std::nullopt;
  }
  auto tensor = tensorOf(made);
  if (!tensor) return fail(std::move(tensor).error());
  return Value(std::move(*tensor));
}

Result<Value> DrawnOperators::call(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs) const {
  if (auto drawn = random(withoutTorch(target.text), args)) return std::move(*drawn);
  const std::string kind = drawnKind(target.text);
  if (kind.empty() || !m_kinds.contains(kind)) return m_ops.call(target, args, kwargs);
  const std::string_view name = withoutTorch(target.text);
  if (name == "aten.addmm.default" || name == "aten.baddbmm.default") return product(name, args, kwargs);
  if (name == "aten.convolution.default") return convolution(args, kwargs);
  return drawn(kind, args, kwargs);
}

Result<Value> DrawnOperators::callHigherOrder(const OpTarget& target, const ValueList& args,
                                              const KeywordValues& kwargs, const SubgraphCaller& subgraphs) const {
  return m_ops.callHigherOrder(target, args, kwargs, subgraphs);
}

}  // namespace kerf::inline audit
