#include "engine/ops/core/purity.h"

#include <algorithm>

namespace kerf::inline ops {
namespace {

using enum Purity;

/// Functions with effects that are no rows of the table: modes, Python statements, wrappers with side effects.
constexpr std::string_view effects[] = {
    "torch._assert",
    "torch._C._set_grad_enabled",
    "torch.set_grad_enabled",
    "torch.amp.autocast_mode._enter_autocast",
    "torch.manual_seed",
    "higher_order.print",
    "higher_order.with_effects",
    "higher_order.run_and_save_rng_state",
    "torch.amp.autocast_mode._exit_autocast",
    "torch.random.manual_seed",
};

/// `operator.iadd` and its kin change their first argument.
constexpr std::string_view inplaceOperators[] = {"iadd", "iand", "ifloordiv", "ilshift", "imod",     "imul", "imatmul",
                                                 "ior",  "ipow", "irshift",   "isub",    "itruediv", "ixor", "setitem"};

/// PyTorch's convention: a trailing underscore mutates ("add_"); dunder names do not.
bool mutatesByName(std::string_view name) { return name.size() > 1 && name.ends_with('_') && !name.ends_with("__"); }

Purity purityOfUnknown(std::string_view target) {
  std::string op = canonicalOpName(target);
  if (op.ends_with(".default")) op.resize(op.size() - std::string_view(".default").size());
  if (std::ranges::find(effects, op) != std::end(effects) || op.starts_with("profiler.")) return Impure;
  const std::string_view last = std::string_view(op).substr(op.rfind('.') + 1);
  if (op.starts_with("operator."))
    return std::ranges::find(inplaceOperators, last) != std::end(inplaceOperators) ? Impure : Unknown;
  return mutatesByName(last) ? Impure : Unknown;
}

Purity purityOfCall(const Node& node) {
  const OpInfo* op = findOp(node);
  if (op == nullptr) return purityOfUnknown(node.target());
  return has(op->traits, OpTrait::Inplace | OpTrait::Random | OpTrait::Impure) ? Impure : Pure;
}

}  // namespace

Purity purityOf(const Node& node) {
  switch (node.op()) {
    case Opcode::Placeholder:
    case Opcode::Output:
      return Impure;
    case Opcode::GetAttr:
      return Pure;
    case Opcode::CallFunction:
      return purityOfCall(node);
    case Opcode::CallMethod:
      return mutatesByName(node.target()) || node.target() == "__setitem__" ? Impure : Unknown;
    case Opcode::CallModule:
      return Unknown;
  }
  return Unknown;
}

}  // namespace kerf::inline ops
