// ProgramWrapper: expressions, buffers and views.
#include <algorithm>
#include <cmath>

#include "engine/audit/kernels/kernel_model.h"
#include "engine/audit/meaning/program_wrapper.h"

namespace kerf::inline audit {

namespace {

constexpr std::int64_t mostElements = std::int64_t(1) << 29;  ///< of one buffer, or of all that are there
constexpr double mostSize = 1LL << 48;

}  // namespace

std::optional<Sizes> ProgramWrapper::sizesOf(const SyntaxNode& node) {
  if (!node.is(SyntaxKind::Tuple)) return std::nullopt;
  Sizes sizes;
  for (const SyntaxNode& each : node.items) {
    const auto size = realOf(evaluate(each));
    if (!size || !(*size >= 0 && *size < mostSize)) return std::nullopt;
    sizes.push_back(std::int64_t(*size));
  }
  return sizes;
}

RunValue ProgramWrapper::evaluate(const SyntaxNode& node) {
  switch (node.kind) {
    case SyntaxKind::Name:
      return named(node);
    case SyntaxKind::Number:
      return numberOf(node);
    case SyntaxKind::Text:
      return otherValue(node.text);
    case SyntaxKind::Tuple: {
      RunValue list;
      list.kind = RunValue::Kind::List;
      for (const SyntaxNode& each : node.items) list.items.push_back(evaluate(each));
      return list;
    }
    case SyntaxKind::Item: {
      const RunValue base = evaluate(node.items[0]);
      const auto index = node.items.size() == 2 ? node.items[1].integer() : std::nullopt;
      return index && *index >= 0 && std::size_t(*index) < base.items.size() ? base.items[std::size_t(*index)]
                                                                             : RunValue();
    }
    case SyntaxKind::Member: {
      const auto dtype = dtypeFromTorchName(node.dotted());
      return dtype ? otherValue(isFloating(*dtype) ? DType::Float64 : *dtype) : RunValue();
    }
    case SyntaxKind::Unary:
    case SyntaxKind::Binary:
      return arithmetic(node);
    case SyntaxKind::Call:
      return call(node);
    default:
      return {};
  }
}

RunValue ProgramWrapper::numberOf(const SyntaxNode& node) {
  if (const auto whole = node.integer()) return numberValue(*whole);
  return numberValue(std::strtod(node.text.c_str(), nullptr));
}

RunValue ProgramWrapper::named(const SyntaxNode& node) {
  if (node.text == "None") return otherValue({});
  if (node.text == "True" || node.text == "False") return numberValue(node.text == "True");
  if (node.text == "inf") return numberValue(INFINITY);
  if (node.text == "nan") return numberValue(double(NAN));
  if (const auto found = m_values.find(node.text); found != m_values.end()) return found->second;
  if (const auto input = m_pending.find(node.text); input != m_pending.end()) {
    // Copied where it is first used, and gone with its name.
    RunValue& value = m_values[node.text] = fromValue(input->second);
    m_pending.erase(input);
    if (m_context.kept.contains(node.text)) m_inputs[node.text] = value;
    m_inputNames.insert(node.text);
    return value;
  }
  if (const TensorAttribute* const constant = m_context.graph.attribute(node.text)) {
    m_values[node.text] = fromValue(constant->tensor);
    return m_values[node.text];
  }
  return {};
}

RunValue ProgramWrapper::arithmetic(const SyntaxNode& node) {
  const auto a = realOf(evaluate(node.items[0]));
  if (!a) return {};
  if (node.is(SyntaxKind::Unary)) {
    if (node.text != "-") return {};
    return node.items[0].integer() || *a == std::trunc(*a) ? numberValue(std::int64_t(-*a)) : numberValue(-*a);
  }
  const auto b = realOf(evaluate(node.items[1]));
  if (!b) return {};
  return calculated(node.text, *a, *b);
}

RunValue ProgramWrapper::extreme(const SyntaxNode& node, bool isMax) {
  std::optional<double> best;
  for (std::size_t i = 0; i < node.argumentCount(); ++i) {
    const auto each = realOf(evaluate(node.argument(i)));
    if (!each) return {};
    best = !best ? *each : isMax ? std::max(*best, *each) : std::min(*best, *each);
  }
  return best ? numberValue(std::int64_t(*best)) : RunValue();
}

RunValue ProgramWrapper::allocate(const SyntaxNode& node, std::size_t at) {
  RunValue value;
  if (node.argumentCount() < at + 2) return value;
  const auto sizes = sizesOf(node.argument(at)), strides = sizesOf(node.argument(at + 1));
  const SyntaxNode* const type = node.keyword("dtype") != nullptr ? node.keyword("dtype")
                                 : node.argumentCount() > 2       ? &node.argument(2)
                                                                  : nullptr;
  const auto dtype = dtypeFromTorchName(type == nullptr ? std::string() : type->dotted());
  if (!sizes || !strides || !dtype || isComplex(dtype.value_or(DType::Complex64)) || sizes->size() != strides->size())
    return value;
  const std::int64_t span = spanOf(*sizes, *strides);
  if (!hasRoomFor(span) || elementsOf(*sizes) > double(mostElements)) {
    stop(node, "allocates more than is run here");
    return value;
  }
  value.kind = RunValue::Kind::Tensor;
  value.tensor = {std::make_shared<RunMemory>(
                      laneTypeOf(elementType(dtypeInfo(dtype.value_or(DType::Float32)).torchName)), std::size_t(span)),
                  *sizes, *strides, 0, dtype.value_or(DType::Float32)};
  return value;
}

/// Counts what is there anew where all that was ever allocated would be too much.
bool ProgramWrapper::hasRoomFor(std::int64_t span) {
  if (span > mostElements) return false;
  if (m_elements + span > mostElements) {
    std::set<const RunMemory*> alive;
    for (const auto& [name, value] : m_values)
      if (value.kind == RunValue::Kind::Tensor && !m_inputNames.contains(name)) alive.insert(value.tensor.memory.get());
    m_elements = 0;
    for (const RunMemory* const each : alive) m_elements += std::int64_t(each->size());
  }
  m_elements += span;
  return m_elements <= mostElements;
}

RunValue ProgramWrapper::reinterpret(const SyntaxNode& node) {
  RunValue value = node.argumentCount() < 4 ? RunValue() : evaluate(node.argument(0));
  if (value.kind != RunValue::Kind::Tensor) return {};
  const auto sizes = sizesOf(node.argument(1)), strides = sizesOf(node.argument(2));
  const auto offset = realOf(evaluate(node.argument(3)));
  if (!sizes || !strides || !offset || sizes->size() != strides->size() || !(std::abs(*offset) < mostSize) ||
      elementsOf(*sizes) > double(mostElements))
    return {};
  RunTensor& tensor = value.tensor;
  tensor.sizes = *sizes;
  tensor.strides = *strides;
  tensor.offset += std::int64_t(*offset);
  const bool isInside =
      countOf(*sizes) == 0 ||
      (tensor.offset >= 0 && spanOf(*sizes, *strides) <= std::int64_t(tensor.memory->size()) - tensor.offset);
  return isInside ? value : RunValue();
}

RunValue ProgramWrapper::fromValue(const Value& value) {
  if (value.isNone()) return otherValue({});
  if (value.isList()) {
    RunValue list;
    list.kind = RunValue::Kind::List;
    for (const Value& each : value.list()) list.items.push_back(fromValue(each));
    return list;
  }
  if (!value.isTensor()) return numberValue(value);
  if (value.tensor().dtype() == DType::Float64) return sharedValue(value.tensor());
  const auto numbers = numbersOf(value.tensor());
  return numbers ? tensorValue(*numbers, value.tensor().strides()) : RunValue();
}

}  // namespace kerf::inline audit
