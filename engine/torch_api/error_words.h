// The commonest errors of ops as PyTorch words them: programs print them, and posts quote them.
#pragma once

#include <string_view>

#include "engine/support/result.h"
#include "engine/tensor/value.h"

namespace kerf::inline torch_api {

/// The same error; its message is PyTorch's where the rule is known.
Error inTorchsWords(Error error, std::string_view called, const ValueList& args);

}  // namespace kerf::inline torch_api
