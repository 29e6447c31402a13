#include "engine/ir/argument_hash.h"

#include <bit>
#include <cmath>

namespace kerf::inline ir {

struct HashBuffer::Writer {
  HashBuffer& out;
  void operator()(std::monostate) const {}
  void operator()(bool value) const { out.number(value ? 1 : 0); }
  void operator()(std::int64_t value) const { out.number(std::uint64_t(value)); }
  void operator()(double value) const { out.real(value); }
  void operator()(const std::string& value) const { out.text(value); }
  void operator()(NodeId value) const {
    out.number(value.index < out.m_positions.size() ? out.m_positions[value.index] : value.index);
  }
  void operator()(const SymExpr& value) const { out.symbol(value); }
  void operator()(DType value) const { out.number(std::uint64_t(value)); }
  void operator()(Layout value) const { out.number(std::uint64_t(value)); }
  void operator()(MemoryFormat value) const { out.number(std::uint64_t(value)); }
  void operator()(const Device& value) const {
    out.text(value.type);
    out.number(std::uint64_t(value.index));
  }
  void operator()(Ellipsis) const {}
  void operator()(const ComplexNumber& value) const {
    out.real(value.real);
    out.real(value.imag);
  }
  void operator()(const SubgraphRef& value) const { out.text(value.path); }
  void operator()(const PythonName& value) const { out.text(value.text); }
  void operator()(const std::shared_ptr<const ListArgument>& value) const {
    out.number(value->isTuple ? 1 : 0);
    out.arguments(value->items);
  }
  void operator()(const std::shared_ptr<const SliceArgument>& value) const { out.arguments(value->items); }
  void operator()(const std::shared_ptr<const DictArgument>& value) const {
    out.number(value->items.size());
    for (const auto& [key, item] : value->items) {
      out.text(key);
      out.argument(item);
    }
  }
};

void HashBuffer::number(std::uint64_t value) {
  char bytes[8];
  for (int i = 0; i < 8; ++i) bytes[i] = char(value >> (8 * i) & 0xffu);
  m_bytes.append(bytes, sizeof(bytes));
}

void HashBuffer::real(double value) {
  number(std::isnan(value) ? 0x7ff8000000000000u : std::bit_cast<std::uint64_t>(value));
}

void HashBuffer::text(std::string_view value) {
  number(value.size());
  m_bytes += value;
}

void HashBuffer::argument(const Argument& argument) {
  m_bytes += char(argument.variant().index());
  std::visit(Writer{*this}, argument.variant());
}

void HashBuffer::arguments(const ArgumentList& arguments) {
  number(arguments.size());
  for (const Argument& item : arguments) argument(item);
}

void HashBuffer::symbol(const SymExpr& expr) {
  text(expr.text);
  m_bytes += expr.hint ? '\1' : '\0';
  if (expr.hint) number(std::uint64_t(*expr.hint));
}

void HashBuffer::dims(const std::vector<Dim>& dims) {
  number(dims.size());
  for (const Dim& dim : dims) symbol(dim);
}

void HashBuffer::valueMeta(const ValueMeta& meta) {
  m_bytes += char(meta.value.index());
  if (const auto* tensor = meta.tensor()) {
    number(std::uint64_t(tensor->dtype));
    dims(tensor->sizes);
    dims(tensor->strides);
    number(std::uint64_t(tensor->storageOffset));
    Writer{*this}(tensor->device);
    number(tensor->requiresGrad ? 1 : 0);
  } else if (const auto* sym = meta.sym()) {
    symbol(sym->expr);
  } else if (const auto* list = meta.list()) {
    number(list->size());
    for (const ValueMeta& item : *list) valueMeta(item);
  }
}

}  // namespace kerf::inline ir
