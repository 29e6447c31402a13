// argumentToValue: what an op receives for one argument of a node.
#include "engine/ir/interpreter.h"

#include <complex>

#include "engine/ir/value_meta.h"
#include "engine/symbolic/shape_env.h"

namespace kerf::inline ir {
namespace {

using Lookup = std::function<const Value&(NodeId)>;

Result<ValueList> itemValues(const ArgumentList& items, const Lookup& lookup) {
  ValueList out;
  out.reserve(items.size());
  for (const Argument& item : items) {
    KERF_TRY(auto value, argumentToValue(item, lookup));
    out.push_back(std::move(value));
  }
  return out;
}

struct ToValue {
  const Lookup& lookup;

  template <class T>
  Result<Value> operator()(const T& value) const {
    return Value(value);
  }
  Result<Value> operator()(std::monostate) const { return Value(); }
  Result<Value> operator()(NodeId id) const { return lookup(id); }
  Result<Value> operator()(Ellipsis) const { return Value(std::string("...")); }
  Result<Value> operator()(const SubgraphRef& value) const { return Value(value.path); }
  Result<Value> operator()(const PythonName& value) const { return Value(value.text); }
  Result<Value> operator()(const SymExpr& value) const {
    if (ShapeEnv::current() != nullptr)
      if (auto symbolic = valueOf(ValueMeta{SymMeta{value}})) return std::move(*symbolic);
    if (value.hint) return Value(*value.hint);
    return fail(ErrorCode::BadInput, "the symbol {} has no value", value.text);
  }
  /// A 0-d tensor; complex64 where that holds the number, so that promotion treats it as Python's scalar.
  Result<Value> operator()(const ComplexNumber& value) const {
    const std::complex<float> narrow(float(value.real), float(value.imag));
    const bool exact = narrow.real() == value.real && narrow.imag() == value.imag;
    KERF_TRY(Tensor result, Tensor::zeros(exact ? DType::Complex64 : DType::Complex128, {}));
    if (exact)
      *result.data<std::complex<float>>() = narrow;
    else
      *result.data<std::complex<double>>() = {value.real, value.imag};
    return Value(std::move(result));
  }
  Result<Value> operator()(const std::shared_ptr<const ListArgument>& value) const {
    KERF_TRY(auto items, itemValues(value->items, lookup));
    return Value(std::move(items));
  }
  Result<Value> operator()(const std::shared_ptr<const SliceArgument>& value) const {
    KERF_TRY(auto items, itemValues(value->items, lookup));
    items.insert(items.begin(), Value(std::string("slice")));
    return Value(std::move(items));
  }
  Result<Value> operator()(const std::shared_ptr<const DictArgument>& value) const {
    ValueList out;
    for (const auto& [key, item] : value->items) {
      KERF_TRY(auto converted, argumentToValue(item, lookup));
      out.push_back(Value(ValueList{Value(key), std::move(converted)}));
    }
    return Value(std::move(out));
  }
};

}  // namespace

Result<Value> argumentToValue(const Argument& argument, const Lookup& lookup) {
  return std::visit(ToValue{lookup}, argument.variant());
}

}  // namespace kerf::inline ir
