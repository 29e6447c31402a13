// WrapperRun: calls of operators and library functions.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "engine/audit/wrapper_run.h"

namespace kerf::inline audit {
namespace {

/// Products of matrices: which arguments are the factors, and how many dimensions they have.
struct ProductForm {
  std::string_view name;
  std::size_t left, right;
  std::size_t rank;
};
constexpr std::array<ProductForm, 6> products = {{{"extern_kernels.mm", 0, 1, 2},
                                                  {"extern_kernels.addmm", 1, 2, 2},
                                                  {"extern_kernels.bias_addmm", 1, 2, 2},
                                                  {"extern_kernels.bmm", 0, 1, 3},
                                                  {"extern_kernels.baddbmm", 1, 2, 3},
                                                  {"extern_kernels._int_mm", 0, 1, 2}}};

/// "torch.ops.aten.index_put_.default", "buf0.copy_": the operator's own name ends in "_".
bool isInPlace(std::string_view callee) {
  std::string_view op = callee;
  if (op.starts_with("torch.ops.") || op.starts_with("aten.")) {
    const std::size_t dot = op.rfind('.');
    if (dot != std::string_view::npos && !op.substr(0, dot).ends_with('_')) return false;
    op = op.substr(0, dot);
  }
  return op.ends_with('_') && !op.ends_with("__");
}

/// Operators that inductor calls and whose results look at their operand's memory.
bool isViewOperator(std::string_view name) {
  static constexpr std::array<std::string_view, 6> views = {"aten.view_as_complex.", "aten.view_as_real.",
                                                            "aten._conj.",           "aten._neg_view.",
                                                            "aten.alias.",           "aten.view.dtype"};
  return std::ranges::any_of(views, [&](std::string_view each) { return name.find(each) != std::string_view::npos; });
}

}  // namespace

void WrapperRun::collectTensors(const SyntaxNode& node, std::vector<WrapperValue>& into) {
  if (into.size() > 4096) return;
  WrapperValue value = evaluate(node);
  if (value.isTensor()) into.push_back(value);
  if (value.items)
    for (const WrapperValue& each : *value.items)
      if (each.isTensor()) into.push_back(each);
}

WrapperValue WrapperRun::externCall(const SyntaxNode& node) {
  const std::string callee = node.callee();
  const SyntaxNode& function = node.items[0];
  std::vector<WrapperValue> tensors;
  ++m_calls;
  WrapperValue object;
  const bool isMethod = function.is(SyntaxKind::Member) && function.items[0].is(SyntaxKind::Name) &&
                        m_state.names.contains(function.items[0].text);
  if (isMethod) {
    object = evaluate(function.items[0]);
    if (object.isTensor()) tensors.push_back(object);
  } else if (function.is(SyntaxKind::Member) && callee.empty()) {
    collectTensors(function.items[0], tensors);
  }
  std::optional<WrapperValue> out;
  std::vector<WrapperValue> values;
  for (std::size_t i = 0; i < node.argumentCount(); ++i) {
    if (node.keywords[i] == "out") {
      WrapperValue value = evaluate(node.argument(i));
      if (value.isTensor()) out = std::move(value);
      continue;
    }
    const std::size_t before = tensors.size();
    collectTensors(node.argument(i), tensors);
    if (node.keywords[i].empty()) values.push_back(tensors.size() == before + 1 ? tensors.back() : WrapperValue());
  }
  const std::string name = callee.empty() ? function.text : callee;
  const bool writesFirst = isInPlace(name) && !tensors.empty();
  const bool onlyWrites = writesFirst && (name.ends_with(".copy_") || name.ends_with("zero_") ||
                                          name.ends_with("fill_") || name.find(".copy_.") != std::string::npos);
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (i > 0 || !onlyWrites) readWhole(tensors[i], node.line, fmt::format("{} ({})", tensors[i].name, name));
  claimShapes(name, node, values, out ? &*out : nullptr);
  for (const WrapperValue& each : tensors)
    if (name.starts_with("torch.ops.") && !name.starts_with("torch.ops.aten."))
      m_state.storages[std::size_t(each.tensor.storage)].mayBeWritten = true;
  if (out) writeWhole(*out, node.line, name);
  if (writesFirst) writeWhole(tensors[0], node.line, name);
  if (out) return *out;
  if (writesFirst) return tensors[0];
  WrapperValue result = newResult(name, node.line);
  if (isViewOperator(name) && !tensors.empty())
    m_state.storages[std::size_t(result.tensor.storage)].viewOf = tensors[0].tensor.storage;
  return result;
}

/// A product's factors must fit each other and what it is written to.
void WrapperRun::claimShapes(const std::string& name, const SyntaxNode& node, std::vector<WrapperValue>& values,
                             const WrapperValue* out) {
  const auto form = std::ranges::find(products, std::string_view(name), &ProductForm::name);
  if (form == products.end() || values.size() <= form->right || out == nullptr) return;
  WrapperValue& left = values[form->left];
  WrapperValue& right = values[form->right];
  if (!left.isTensor() || !right.isTensor() || !hasLayout(left.tensor) || !hasLayout(right.tensor) ||
      !out->tensor.hasLayout)
    return;
  const auto& a = left.tensor.sizes;
  const auto& b = right.tensor.sizes;
  const auto& c = out->tensor.sizes;
  const std::string subject = fmt::format("{} ({}, {})", name, left.name, right.name);
  if (a.size() != form->rank || b.size() != form->rank || c.size() != form->rank)
    return refute(ClaimAbout::Layout, node.line, 0, subject,
                  fmt::format("it takes {} dimensions, and is given {} and {}", form->rank, a.size(), b.size()));
  const std::size_t last = form->rank - 1;
  std::optional<bool> fits = true;
  const auto same = [&](SymInt x, SymInt y) {
    const auto equal = alwaysHolds(SymRelation::Eq, x, y);
    if (equal == false) fits = false;
    if (!equal && fits) fits = std::nullopt;
  };
  same(a[last], b[last - 1]);
  same(a[last - 1], c[last - 1]);
  same(b[last], c[last]);
  if (form->rank == 3) {
    same(a[0], b[0]);
    same(a[0], c[0]);
  }
  settle(ClaimAbout::Layout, fits, node.line, subject, "the sizes of its factors and of what it writes do not fit");
  if (!left.tensor.type.empty() && !right.tensor.type.empty())
    settle(ClaimAbout::Type, left.tensor.type == right.tensor.type, node.line, subject,
           fmt::format("its factors have {} and {}", left.tensor.type, right.tensor.type));
}

}  // namespace kerf::inline audit
