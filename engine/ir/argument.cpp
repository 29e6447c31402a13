#include "engine/ir/argument.h"

#include <bit>
#include <cmath>

namespace kerf::inline ir {
namespace {

bool sameFloat(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

template <class T>
bool sameValue(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, double>)
    return sameFloat(a, b);
  else if constexpr (std::is_same_v<T, ComplexNumber>)
    return sameFloat(a.real, b.real) && sameFloat(a.imag, b.imag);
  else
    return a == b;
}

template <class T>
bool sameValue(const std::shared_ptr<const T>& a, const std::shared_ptr<const T>& b) {
  return a == b || *a == *b;
}

ArgumentList mapItems(const ArgumentList& items, const std::function<Argument(NodeId)>& map) {
  ArgumentList out;
  out.reserve(items.size());
  for (const Argument& item : items) out.push_back(mapNodes(item, map));
  return out;
}

}  // namespace

Argument::Argument(bool value) : m_value(value) {}
Argument::Argument(std::int64_t value) : m_value(value) {}
Argument::Argument(int value) : m_value(std::int64_t{value}) {}
Argument::Argument(double value) : m_value(value) {}
Argument::Argument(std::string value) : m_value(std::move(value)) {}
Argument::Argument(const char* value) : m_value(std::string(value)) {}
Argument::Argument(NodeId value) : m_value(value) {}
Argument::Argument(SymExpr value) : m_value(std::move(value)) {}
Argument::Argument(DType value) : m_value(value) {}
Argument::Argument(Device value) : m_value(std::move(value)) {}
Argument::Argument(Layout value) : m_value(value) {}
Argument::Argument(MemoryFormat value) : m_value(value) {}
Argument::Argument(Ellipsis value) : m_value(value) {}
Argument::Argument(ComplexNumber value) : m_value(value) {}
Argument::Argument(SubgraphRef value) : m_value(std::move(value)) {}
Argument::Argument(PythonName value) : m_value(std::move(value)) {}
Argument::Argument(ListArgument value) : m_value(std::make_shared<const ListArgument>(std::move(value))) {}
Argument::Argument(SliceArgument value) : m_value(std::make_shared<const SliceArgument>(std::move(value))) {}
Argument::Argument(DictArgument value) : m_value(std::make_shared<const DictArgument>(std::move(value))) {}
Argument::Argument(const Argument&) = default;
Argument::Argument(Argument&&) noexcept = default;
Argument& Argument::operator=(const Argument&) = default;
Argument& Argument::operator=(Argument&&) noexcept = default;
Argument::~Argument() = default;

bool ListArgument::operator==(const ListArgument& other) const {
  return isTuple == other.isTuple && items == other.items;
}
bool SliceArgument::operator==(const SliceArgument& other) const { return items == other.items; }
bool DictArgument::operator==(const DictArgument& other) const { return items == other.items; }

bool Argument::operator==(const Argument& other) const {
  if (m_value.index() != other.m_value.index()) return false;
  return std::visit(
      [&](const auto& mine) { return sameValue(mine, std::get<std::decay_t<decltype(mine)>>(other.m_value)); },
      m_value);
}

void forEachNode(const Argument& argument, const std::function<void(NodeId)>& visit) {
  if (const auto* id = argument.as<NodeId>()) return visit(*id);
  if (const auto* list = argument.asList())
    for (const Argument& item : list->items) forEachNode(item, visit);
  if (const auto* slice = argument.asSlice())
    for (const Argument& item : slice->items) forEachNode(item, visit);
  if (const auto* dict = argument.asDict())
    for (const auto& [key, item] : dict->items) forEachNode(item, visit);
}

Argument mapNodes(const Argument& argument, const std::function<Argument(NodeId)>& map) {
  if (const auto* id = argument.as<NodeId>()) return map(*id);
  if (const auto* list = argument.asList()) return ListArgument{mapItems(list->items, map), list->isTuple};
  if (const auto* slice = argument.asSlice()) return SliceArgument{mapItems(slice->items, map)};
  if (const auto* dict = argument.asDict()) {
    DictArgument out;
    for (const auto& [key, item] : dict->items) out.items.emplace_back(key, mapNodes(item, map));
    return out;
  }
  return argument;
}

}  // namespace kerf::inline ir
