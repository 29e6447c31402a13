// Methods of lists and dicts that look at one item or at none: they guard what they look at.
#pragma once

#include <optional>

#include "engine/dynamo/instruction_translator.h"

namespace kerf::inline dynamo {

/// Nothing where the method looks at all that is in the container.
std::optional<VariableTracker> callContainerMethod(InstructionTranslator& t, PyObject* method, PyObject* args,
                                                   PyObject* kwargs, std::vector<VariableTracker>& sources);

}  // namespace kerf::inline dynamo
