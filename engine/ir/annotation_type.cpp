#include "engine/ir/annotation_type.h"

#include <algorithm>
#include <array>

#include "engine/ir/python_expression.h"

namespace kerf::inline ir {
namespace {

constexpr std::array<std::string_view, 24> types = {"torch.Tensor",
                                                    "torch.nn.parameter.Parameter",
                                                    "torch.nn.Parameter",
                                                    "torch.nn.parameter.Buffer",
                                                    "torch.SymInt",
                                                    "torch.SymFloat",
                                                    "torch.SymBool",
                                                    "torch.Size",
                                                    "torch.dtype",
                                                    "torch.device",
                                                    "torch.layout",
                                                    "torch.memory_format",
                                                    "torch.Generator",
                                                    "int",
                                                    "float",
                                                    "bool",
                                                    "complex",
                                                    "str",
                                                    "list",
                                                    "tuple",
                                                    "dict",
                                                    "type",
                                                    "object",
                                                    "set"};

/// Classes that take other types in brackets.
constexpr std::array<std::string_view, 5> generics = {"list", "tuple", "dict", "type", "set"};

std::string typeText(const PythonExpression& expression) {
  if (expression.isNone() || (expression.kind == PythonKind::Constant && expression.text == "..."))
    return expression.text;
  if (expression.kind == PythonKind::Name) return isAnnotationType(expression.text) ? expression.text : std::string();
  if (expression.kind != PythonKind::Index || expression.items.size() != 2) return {};
  const PythonExpression& object = expression.items[0];
  if (object.kind != PythonKind::Name || std::ranges::find(generics, object.text) == generics.end()) return {};
  const PythonExpression& index = expression.items[1];
  if (index.kind != PythonKind::Tuple) {
    const std::string inner = typeText(index);
    return inner.empty() ? inner : object.text + "[" + inner + "]";
  }
  std::string items;
  for (const PythonExpression& item : index.items) {
    const std::string inner = typeText(item);
    if (inner.empty()) return {};
    items += (items.empty() ? "" : ", ") + inner;
  }
  return items.empty() ? items : object.text + "[" + items + "]";
}

}  // namespace

bool isAnnotationType(std::string_view name) { return std::ranges::find(types, name) != types.end(); }

std::string annotationTypeText(std::string_view annotation) {
  if (isAnnotationType(annotation)) return std::string(annotation);
  const auto expression = parsePythonExpression(annotation);
  return expression ? typeText(*expression) : std::string();
}

bool isUnreadType(std::string_view annotation) { return !annotation.empty() && annotationTypeText(annotation).empty(); }

}  // namespace kerf::inline ir
