// Which form of a callable a call means, and where each parameter's value stands: what PyTorch's argument parser does,
// and Python itself for functions written in it.
#pragma once

#include "engine/ops/python/call_forms.h"
#include "engine/ops/python/call_operand.h"

namespace kerf::inline ops {

using KeywordOperands = std::vector<std::pair<std::string, CallOperand>>;

enum class SlotSource : std::uint8_t {
  Absent,      ///< the default
  Positional,  ///< positional operand `index`
  Keyword,     ///< keyword operand `index`
  Rest,        ///< all positional operands from `index` on, as one list
};
struct ParameterSlot {
  SlotSource source = SlotSource::Absent;
  std::size_t index = 0;
};

struct BoundForm {
  const CallableForms* callable = nullptr;
  const CallForm* form = nullptr;
  std::vector<ParameterSlot> slots;  ///< one per parameter of `form`
};

/// Operands of a method come without its self. BadInput, with the forms that there are, when none takes the operands or
/// when what is known of them leaves more than one.
Result<BoundForm> parseCall(const CallableForms& callable, const std::vector<CallOperand>& positional,
                            const KeywordOperands& keyword);

}  // namespace kerf::inline ops
