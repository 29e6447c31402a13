#include "engine/capture/common/generated_inputs.h"

#include <cmath>
#include <numbers>

#include "engine/capture/common/input_purpose.h"
#include "engine/capture/common/random_data.h"
#include "engine/support/thread_pool.h"
#include "engine/tensor/convert.h"
#include "engine/tensor/dispatch.h"

namespace kerf::inline capture {
namespace {

/// splitmix64 of (seed, index): the same value whatever the threads.
std::uint64_t hashed(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t value = seed + (index + 1) * 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

/// Sets every element of the storage to make(index).
template <class T, class Make>
void transform(Storage& storage, Make make) {
  T* const elements = reinterpret_cast<T*>(storage.data());
  parallelFor(storage.bytes() / std::int64_t(sizeof(T)), 1 << 14, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) elements[i] = make(std::uint64_t(i));
  });
}

/// Mean 0, variance 1, nearly normal (the sum of four uniform numbers), and quick: large models have 10^8 weights.
double bellAt(std::uint64_t seed, std::uint64_t index) {
  const std::uint64_t bits = hashed(seed, index);
  const std::uint64_t sum = (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
  return (double(sum) / 65535 - 2) * std::numbers::sqrt3;
}

void fillFloats(Storage& storage, DType dtype, const InputPurpose& purpose, std::uint64_t seed) {
  const bool positive = purpose.kind == InputPurpose::Kind::Positive;
  const double factor = 1 / std::sqrt(double(purpose.fanIn));
  const auto filled = dispatchFloating(dtype, [&]<class T>() {
    transform<T>(storage, [=](std::uint64_t i) {
      const double value = bellAt(seed, i);
      return convertElement<T>(positive ? 0.5 + std::abs(value) : factor * value);
    });
  });
  if (!filled) fillLikeRandStrided(storage, dtype, seed);  // complex numbers and 8-bit floats
}

constexpr std::int64_t plainIntegers = 8;  ///< integers that index nothing are in [0, 8)

void fillIntegers(Storage& storage, DType dtype, std::int64_t bound, std::uint64_t seed) {
  const auto limit = std::uint64_t(bound);
  (void)dispatchInteger(dtype, [&]<class T>() {
    transform<T>(storage, [=](std::uint64_t i) { return static_cast<T>(hashed(seed, i) % limit); });
  });
}

/// True three times out of four: masks seldom hide a whole row.
void fillBools(Storage& storage, std::uint64_t seed) {
  transform<bool>(storage, [=](std::uint64_t i) { return hashed(seed, i) % 4 != 0; });
}

void fill(Storage& storage, DType dtype, const InputPurpose& purpose, std::uint64_t seed) {
  if (dtype == DType::Bool) return fillBools(storage, seed);
  if (!isIntegral(dtype)) return fillFloats(storage, dtype, purpose, seed);
  if (purpose.kind == InputPurpose::Kind::Unbounded) return;
  const bool index = purpose.kind == InputPurpose::Kind::Index;
  fillIntegers(storage, dtype, index ? purpose.bound : plainIntegers, seed);
}

bool isFloatSymbol(std::string_view text) { return text.starts_with("zf") || text.starts_with("zuf"); }

void addDims(const std::vector<Dim>& dims, std::vector<const SymExpr*>& into) {
  for (const Dim& item : dims)
    if (!item.text.empty()) into.push_back(&item);
}

/// Every symbolic number in a placeholder's annotation.
std::vector<const SymExpr*> expressionsOf(const Node& node) {
  std::vector<const SymExpr*> result;
  if (const SymMeta* sym = node.meta().value.sym()) result.push_back(&sym->expr);
  if (const TensorMeta* tensor = node.meta().value.tensor()) {
    addDims(tensor->sizes, result);
    addDims(tensor->strides, result);
  }
  return result;
}

/// Symbols of all placeholders, and what the hints say of them with `given` before them.
Result<SymbolBindings> bind(const GraphModule& module, const SymbolBindings& given, std::set<std::string>& names) {
  std::vector<SizeEquation> hints;
  for (const NodeId id : module.graph.placeholders())
    for (const SymExpr* expression : expressionsOf(module.graph.node(id))) {
      collectSymbols(expression->text, names);
      if (expression->hint && !expression->text.empty())
        hints.push_back({fmt::format("input '{}'", module.graph.node(id).name()), expression->text, *expression->hint});
    }
  KERF_TRY(SymbolBindings hinted, solveSizes(hints));
  SymbolBindings bindings = given;
  bindings.merge(hinted);
  return bindings;
}

Result<void> checkBindings(const SymbolBindings& given, const SymbolBindings& bindings,
                           const std::set<std::string>& names) {
  for (const auto& [name, value] : given)
    if (!names.contains(name))
      return fail(ErrorCode::BadUsage, "there is no symbol '{}'; the graph has {}", name,
                  names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
  std::vector<std::string> missing;
  for (const std::string& name : names)
    if (!bindings.contains(name)) missing.push_back(name);
  if (missing.empty()) return {};
  return fail(ErrorCode::BadInput, "give values for the symbols {}", fmt::join(missing, ", "));
}

/// Sizes or strides whose symbols are bound.
Result<Sizes> numbersOf(const std::vector<Dim>& dims) {
  Sizes result;
  for (const Dim& item : dims) {
    if (!item.hint) return fail(ErrorCode::BadInput, "the size '{}' cannot be computed", item.text.substr(0, 200));
    if (*item.hint < 0) return fail(ErrorCode::BadInput, "the size '{}' is {}", item.text, *item.hint);
    result.push_back(*item.hint);
  }
  return result;
}

Result<Value> makeTensor(const GraphModule& module, NodeId id, const TensorMeta& meta, std::uint64_t seed) {
  KERF_TRY(const Sizes sizes, numbersOf(meta.sizes));
  KERF_TRY(Sizes strides, numbersOf(meta.strides));
  if (strides.size() != sizes.size()) strides = contiguousStrides(sizes);
  KERF_TRY(Tensor tensor, Tensor::zerosStrided(meta.dtype, sizes, strides));
  fill(*tensor.storage(), meta.dtype, purposeOf(module, id), seed);
  tensor.setDevice(meta.device);
  tensor.requiresGrad = meta.requiresGrad;
  tensor.isLeaf = true;
  return Value(std::move(tensor));
}

Result<Value> makeValue(const GraphModule& module, NodeId id, std::uint64_t seed) {
  const Node& node = module.graph.node(id);
  if (const TensorMeta* meta = node.meta().value.tensor()) return makeTensor(module, id, *meta, seed);
  if (const SymMeta* meta = node.meta().value.sym()) {
    if (!meta->expr.hint) return fail(ErrorCode::BadInput, "'{}' needs a value", meta->expr.text);
    return isFloatSymbol(meta->expr.text) ? Value(double(*meta->expr.hint)) : Value(*meta->expr.hint);
  }
  if (node.users().empty()) return Value();
  return fail(ErrorCode::BadInput, "the input has no annotation: its dtype and shape are unknown");
}

void bindDims(std::vector<Dim>& dims, const SymbolBindings& symbols) {
  for (Dim& item : dims)
    if (!item.text.empty())
      if (const auto value = evaluateSize(item.text, symbols)) item.hint = *value;
}

void bindMeta(ValueMeta& meta, const SymbolBindings& symbols) {
  if (auto* tensor = std::get_if<TensorMeta>(&meta.value)) {
    bindDims(tensor->sizes, symbols);
    bindDims(tensor->strides, symbols);
  }
  if (auto* sym = std::get_if<SymMeta>(&meta.value))
    if (const auto value = evaluateSize(sym->expr.text, symbols)) sym->expr.hint = *value;
  if (auto* list = std::get_if<std::vector<ValueMeta>>(&meta.value))
    for (ValueMeta& item : *list) bindMeta(item, symbols);
}

}  // namespace

void bindAnnotations(GraphModule& module, const SymbolBindings& symbols) {
  const std::vector<NodeId> order(module.graph.order().begin(), module.graph.order().end());
  for (const NodeId id : order) {
    ValueMeta meta = module.graph.node(id).meta().value;
    bindMeta(meta, symbols);
    if (!(meta == module.graph.node(id).meta().value)) module.graph.setValueMeta(id, std::move(meta));
  }
  for (auto& [path, submodule] : module.submodules.edit()) {
    if (!submodule.graph) continue;
    auto bound = std::make_shared<GraphModule>(*submodule.graph);
    bindAnnotations(*bound, symbols);
    submodule.graph = std::move(bound);
  }
}

std::vector<SymExpr> placeholderSymbols(const GraphModule& module) {
  std::set<std::string> names;
  const auto bindings = bind(module, {}, names);
  std::vector<SymExpr> result;
  for (const std::string& name : names) {
    SymExpr symbol{name, {}};
    if (bindings && bindings->contains(name)) symbol.hint = bindings->at(name);
    result.push_back(std::move(symbol));
  }
  return result;
}

Result<ValueList> generateInputs(const GraphModule& module, const SymbolBindings& symbols, std::uint64_t seed) {
  std::set<std::string> names;
  KERF_TRY(const SymbolBindings bindings, bind(module, symbols, names));
  KERF_CHECK(checkBindings(symbols, bindings, names));
  GraphModule bound = module;
  bound.submodules.clear();
  bindAnnotations(bound, bindings);
  ValueList values;
  std::uint64_t index = 0;
  for (const NodeId id : bound.graph.placeholders()) {
    auto value = makeValue(bound, id, hashed(seed, index++));
    if (!value) {
      value.error().atNode(bound.graph.node(id).name());
      return fail(std::move(value.error().while_("generating inputs")));
    }
    values.push_back(std::move(*value));
  }
  return values;
}

}  // namespace kerf::inline capture
