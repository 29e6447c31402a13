#include "tests/differential/fuzzgraph/call_draft.h"

#include <algorithm>

namespace kerf::fuzzgraph {
namespace {

struct ArgumentOf {
  Argument operator()(std::monostate) const { return {}; }
  Argument operator()(const Tensor&) const { return {}; }
  Argument operator()(const SymNumber&) const { return {}; }
  Argument operator()(const std::shared_ptr<const ValueList>& list) const {
    ArgumentList items;
    for (const Value& item : *list) items.push_back(std::visit(*this, item.variant()));
    return Argument::list(std::move(items));
  }
  template <class T>
  Argument operator()(const T& value) const {
    return Argument(value);
  }
};

}  // namespace

bool CallDraft::has(std::string_view name) const {
  return std::ranges::any_of(m_op.schema.arguments, [&](const SchemaArgument& item) { return item.name == name; });
}

const Operand* CallDraft::find(std::string_view name) const {
  const auto found = m_operands.find(name);
  return found == m_operands.end() ? nullptr : &found->second;
}

void CallDraft::set(std::string_view name, Operand operand) { m_operands[std::string(name)] = std::move(operand); }
void CallDraft::set(std::string_view name, const Value& value) { set(name, constant(value)); }

void CallDraft::setSymSizes(std::string_view name, const Sizes& values) {
  Operand operand = listOf(values);
  ArgumentList items;
  for (const std::int64_t value : values)
    items.push_back(build.theme.symbolic && dice.chance(92) ? build.sizeArgument(value) : Argument(value));
  operand.argument = Argument::list(std::move(items));
  set(name, std::move(operand));
}

Operand CallDraft::constant(const Value& value) { return {std::visit(ArgumentOf(), value.variant()), value, false}; }

Operand CallDraft::listOf(const Sizes& values) {
  ValueList items(values.begin(), values.end());
  return constant(Value(std::move(items)));
}

const Tensor* CallDraft::first() const {
  for (const SchemaArgument& argument : m_op.schema.arguments) {
    const Operand* operand = find(argument.name);
    if (operand == nullptr) continue;
    if (const auto* tensor = operand->value.as<Tensor>()) return tensor;
    if (operand->value.isList() && !operand->value.list().empty())
      if (const auto* tensor = operand->value.list()[0].as<Tensor>()) return tensor;
  }
  return nullptr;
}

std::optional<Operand> CallDraft::existing(const std::function<bool(const Tensor&)>& fitting) {
  std::vector<const KnownTensor*> found;
  for (const KnownTensor& known : build.tensors())
    if (fitting(known.tensor)) found.push_back(&known);
  if (found.empty()) return {};
  std::size_t at = dice.below(found.size());
  if (dice.chance(50)) at = std::max(at, dice.below(found.size()));  // rather what came last
  return GraphBuilder::operandOf(*found[at]);
}

Operand CallDraft::floatOfRank(std::size_t rank, Sizes sizes) {
  if (dice.chance(75)) {
    auto known = existing([&](const Tensor& tensor) {
      return isFloating(tensor.dtype()) && tensor.dim() == std::int64_t(rank) && tensor.numel() > 0;
    });
    if (known) {
      m_floatDType = known->value.tensor().dtype();
      return *known;
    }
  }
  while (sizes.size() < rank) sizes.push_back(dice.between(1, 6));
  return floats(sizes);
}

Operand CallDraft::floats(const Sizes& sizes, Interval range) { return build.fresh(m_floatDType, sizes, range); }

Operand CallDraft::indices(const Sizes& sizes, std::int64_t bound, DType dtype) {
  const bool corners = build.theme.corners;
  (void)corners;
  const Tensor tensor = *Tensor::zeros(dtype, sizes);
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    const std::int64_t value = bound > 0 ? std::int64_t(dice.below(std::size_t(bound))) : 0;
    if (dtype == DType::Int64)
      tensor.data<std::int64_t>()[i] = value;
    else
      tensor.data<std::int32_t>()[i] = std::int32_t(value);
  }
  return build.fresh(tensor);
}

bool CallDraft::draw(const SchemaArgument& argument) {
  if (find(argument.name)) return true;
  const bool omits = argument.defaultValue && dice.chance(55);
  if (omits) return true;
  auto operand = drawArgument(*this, argument);
  if (!operand) return argument.defaultValue.has_value();
  set(argument.name, std::move(*operand));
  return true;
}

bool CallDraft::complete() {
  return std::ranges::all_of(m_op.schema.arguments, [&](const SchemaArgument& item) { return draw(item); });
}

/// Positional up to the last that is set; what is between and not set gets its default.
PlannedCall CallDraft::plan() const {
  PlannedCall call;
  const std::string qualified = m_op.schema.qualifiedName();
  const bool isPython = qualified.find('.') == std::string::npos;
  call.target = isPython ? qualified : "torch.ops." + qualified;
  const auto dot = qualified.find('.');
  call.name = qualified.substr(dot + 1, qualified.find('.', dot + 1) - dot - 1);
  const auto& arguments = m_op.schema.arguments;
  std::size_t positional = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (!arguments[i].keywordOnly && find(arguments[i].name)) positional = i + 1;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Operand* operand = find(arguments[i].name);
    if (arguments[i].keywordOnly) {
      if (operand) call.keywords.emplace_back(arguments[i].name, *operand);
    } else if (i < positional) {
      Operand value;
      if (operand)
        value = *operand;
      else
        value = Operand{*arguments[i].defaultValue, m_op.defaults[i].value_or(Value())};
      call.positional.push_back(std::move(value));
    }
  }
  return call;
}

bool CallDraft::keep() { return build.keep(m_op, plan()); }

}  // namespace kerf::fuzzgraph
