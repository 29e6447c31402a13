// Arguments and value annotations as text.
#include <cmath>

#include "engine/ir/printer.h"
#include "engine/ir/python_constants.h"

namespace kerf::inline ir {
namespace {

std::string complexPart(double value) {
  std::string text = pythonFloat(value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

std::string complexText(const ComplexNumber& value) {
  if (std::isnan(value.imag)) return "complex(" + pythonFloat(value.real) + ", nan)";
  const std::string imaginary =
      std::isinf(value.imag) ? (value.imag < 0 ? "-1e999j" : "1e999j") : complexPart(value.imag) + "j";
  // "-2j" negates both parts; "-0" is an integer without a sign
  const bool realIsSigned = std::signbit(value.real);
  if (value.real == 0 && realIsSigned == std::signbit(value.imag)) return imaginary;
  if (value.real == 0) return (realIsSigned ? "(-0.0+" : "(0") + imaginary + ")";
  return "(" + complexPart(value.real) + (imaginary.starts_with('-') ? "" : "+") + imaginary + ")";
}

std::string symbolText(const SymExpr& expr) {
  return expr.text.empty() ? std::to_string(expr.hint.value_or(0)) : expr.text;
}

struct Printer {
  const Graph& graph;
  bool graphText;

  std::string print(const Argument& argument) const { return std::visit(*this, argument.variant()); }

  std::string operator()(std::monostate) const { return "None"; }
  std::string operator()(bool value) const { return value ? "True" : "False"; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return pythonFloat(value); }
  std::string operator()(const std::string& value) const { return graphText ? value : pythonString(value); }
  std::string operator()(NodeId id) const {
    const std::string name = graph.contains(id) ? graph.node(id).name() : "<erased>";
    return graphText ? "%" + name : name;
  }
  std::string operator()(const SymExpr& value) const { return symbolText(value); }
  std::string operator()(DType value) const { return std::string(dtypeInfo(value).torchName); }
  std::string operator()(Layout value) const { return std::string(layoutName(value)); }
  std::string operator()(MemoryFormat value) const { return std::string(memoryFormatName(value)); }
  std::string operator()(const Device& value) const {
    if (graphText) return value.text();
    const std::string type = "device(type=" + pythonString(value.type);
    return value.index < 0 ? type + ")" : type + ", index=" + std::to_string(value.index) + ")";
  }
  std::string operator()(Ellipsis) const { return "Ellipsis"; }
  std::string operator()(const ComplexNumber& value) const { return complexText(value); }
  std::string operator()(const SubgraphRef& value) const { return value.path; }
  std::string operator()(const PythonName& value) const { return value.text; }
  std::string operator()(const std::shared_ptr<const ListArgument>& value) const {
    const std::string items = join(value->items);
    if (!value->isTuple) return "[" + items + "]";
    return "(" + items + (value->items.size() == 1 ? ",)" : ")");
  }
  /// repr() of a slice, in which nodes are plain names in both styles.
  std::string operator()(const std::shared_ptr<const SliceArgument>& value) const {
    return "slice(" + Printer{graph, false}.join(value->items) + ")";
  }
  std::string operator()(const std::shared_ptr<const DictArgument>& value) const {
    std::string out;
    for (const auto& [key, item] : value->items) {
      if (!out.empty()) out += ", ";
      out += (graphText ? key : pythonString(key)) + ": " + print(item);
    }
    return "{" + out + "}";
  }

  std::string join(const ArgumentList& items) const {
    std::string out;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out += ", ";
      out += print(items[i]);
    }
    return out;
  }
};

std::string dimsText(const std::vector<Dim>& dims) {
  std::string out = "[";
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (i > 0) out += ", ";
    out += symbolText(dims[i]);
  }
  return out + "]";
}

}  // namespace

std::string printArgument(const Graph& graph, const Argument& argument, ArgumentStyle style) {
  return Printer{graph, style == ArgumentStyle::GraphText}.print(argument);
}

std::string printAnnotation(const NodeMeta& meta, bool includeStride, bool includeDevice) {
  if (!meta.annotation.empty()) return meta.annotation;
  if (const auto* sym = meta.value.sym()) return "Sym(" + symbolText(sym->expr) + ")";
  const TensorMeta* tensor = meta.value.tensor();
  if (tensor == nullptr) return {};
  std::string out(dtypeInfo(tensor->dtype).shortCode);
  out += dimsText(tensor->sizes);
  if (includeStride && tensor->strides.size() == tensor->sizes.size()) out += dimsText(tensor->strides);
  if (includeDevice) out += tensor->device.text();
  return out;
}

}  // namespace kerf::inline ir
