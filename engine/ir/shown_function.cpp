#include "engine/ir/shown_function.h"

#include <algorithm>
#include <array>

#include "engine/ir/python_operators.h"

namespace kerf::inline ir {
namespace {

/// Functions of the torch._C._nn module that torch.nn.functional re-exports as built-ins.
constexpr std::array<std::string_view, 16> nnBuiltins = {"linear",
                                                         "gelu",
                                                         "avg_pool2d",
                                                         "avg_pool3d",
                                                         "softplus",
                                                         "log_sigmoid",
                                                         "hardtanh",
                                                         "leaky_relu",
                                                         "one_hot",
                                                         "elu_",
                                                         "pad",
                                                         "upsample_nearest2d",
                                                         "scaled_dot_product_attention",
                                                         "softshrink",
                                                         "adaptive_avg_pool2d",
                                                         "glu"};
constexpr std::array<std::string_view, 12> mathFunctions = {"sqrt", "ceil", "floor", "exp",  "log",   "sin",
                                                            "cos",  "tan",  "log2",  "prod", "isnan", "isinf"};

std::string builtIn(const std::string& name) {
  for (const std::size_t operands : {1, 2, 3})
    if (operatorOfTarget("operator." + name, operands) != nullptr) return "operator." + name;
  if (const auto called = targetOfCalledName(name); called && called->starts_with("builtins.")) return *called;
  if (std::ranges::find(nnBuiltins, name) != nnBuiltins.end()) return "torch._C._nn." + name;
  if (std::ranges::find(mathFunctions, name) != mathFunctions.end()) return "math." + name;
  return "torch." + name;
}

/// "<OpOverload(op='aten.add', overload='Tensor')>"
std::string overload(std::string_view shown) {
  const auto quoted = [&](std::string_view key) {
    const std::size_t at = shown.find(key);
    if (at == std::string_view::npos) return std::string_view();
    const std::string_view rest = shown.substr(at + key.size());
    return rest.substr(0, rest.find('\''));
  };
  const std::string_view name = quoted("overload='");
  return "torch.ops." + std::string(quoted("op='")) + (name.empty() ? "" : "." + std::string(name));
}

}  // namespace

std::string targetOfShown(std::string_view shown, std::vector<std::string>* guessed) {
  const auto between = [&](std::string_view prefix) {
    return std::string(shown.substr(prefix.size(), shown.find_first_of(" >", prefix.size()) - prefix.size()));
  };
  if (shown.starts_with("<built-in function ")) return builtIn(between("<built-in function "));
  if (shown.starts_with("<built-in method ")) return "torch." + between("<built-in method ");
  if (shown.starts_with("<class '") && shown.ends_with("'>")) return std::string(shown.substr(8, shown.size() - 10));
  if (shown.starts_with("<OpOverload(op='") || shown.starts_with("<OpOverloadPacket(op='")) return overload(shown);
  if (shown.starts_with("<function ")) {
    const std::string name = between("<function ");
    if (guessed != nullptr) guessed->push_back(name);
    return "torch.nn.functional." + name;
  }
  if (shown.starts_with("torch.") || shown.starts_with("<")) return std::string(shown);
  return (shown.find('.') == std::string_view::npos ? "torch.ops.higher_order." : "torch.ops.") + std::string(shown);
}

}  // namespace kerf::inline ir
