#include "engine/ir/purity.h"

#include <algorithm>
#include <array>

namespace kerf::inline ir {
namespace {

/// Op names (without namespace and overload) that have effects or draw random numbers.
constexpr std::array<std::string_view, 30> impureOps = {"_assert",
                                                        "_assert_async",
                                                        "_assert_scalar",
                                                        "_assert_tensor_metadata",
                                                        "bernoulli",
                                                        "binomial",
                                                        "dropout",
                                                        "multinomial",
                                                        "native_dropout",
                                                        "normal",
                                                        "normal_functional",
                                                        "poisson",
                                                        "print",
                                                        "rand",
                                                        "rand_like",
                                                        "randint",
                                                        "randint_like",
                                                        "randn",
                                                        "randn_like",
                                                        "random",
                                                        "randperm",
                                                        "rrelu_with_noise",
                                                        "uniform",
                                                        "set_grad_enabled",
                                                        "_set_grad_enabled",
                                                        "_enter_autocast",
                                                        "_exit_autocast",
                                                        "sym_constrain_range",
                                                        "sym_constrain_range_for_size",
                                                        "with_effects"};

/// `operator.iadd` and its kin change their first argument.
constexpr std::array<std::string_view, 13> inplaceOperators = {"iadd", "iand",     "ifloordiv", "ilshift", "imod",
                                                               "imul", "imatmul",  "ior",       "ipow",    "irshift",
                                                               "isub", "itruediv", "ixor"};

/// "torch.ops.aten.add_.Tensor" → "add_"; "torch.manual_seed" → "manual_seed".
std::string_view opName(std::string_view target) {
  if (!target.starts_with("torch.ops.")) return target.substr(target.rfind('.') + 1);
  std::string_view rest = target.substr(10);
  rest.remove_prefix(std::min(rest.size(), rest.find('.') + 1));
  return rest.substr(0, rest.find('.'));
}

bool mutatesByName(std::string_view name) { return name.size() > 1 && name.ends_with('_') && !name.ends_with("__"); }

bool isImpureFunction(std::string_view target) {
  const std::string_view name = opName(target);
  if (target.starts_with("operator."))
    return name == "setitem" || std::ranges::find(inplaceOperators, name) != inplaceOperators.end();
  if (target.starts_with("torch.ops.profiler.") || name == "manual_seed") return true;
  return mutatesByName(name) || std::ranges::find(impureOps, name) != impureOps.end();
}

}  // namespace

bool isImpureByName(const Node& node) {
  switch (node.op()) {
    case Opcode::Placeholder:
    case Opcode::Output:
      return true;
    case Opcode::CallFunction:
      return isImpureFunction(node.target());
    case Opcode::CallMethod:
      return mutatesByName(node.target()) || node.target() == "__setitem__";
    case Opcode::CallModule:
      return true;
    case Opcode::GetAttr:
      return false;
  }
  return true;
}

}  // namespace kerf::inline ir
