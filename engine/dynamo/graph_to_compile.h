// What a compiler behind a backend gets and makes; free of Python.
#pragma once

#include <functional>
#include <string>

#include "engine/support/result.h"
#include "engine/tensor/value.h"

namespace kerf::inline dynamo {

/// A graph's computation on values of its inputs.
using GraphRunner = std::function<Result<ValueList>(const ValueList& inputs)>;

struct GraphToCompile {
  std::string text;        ///< as print_readable writes it
  std::string backend;     ///< "aot_eager" or "inductor"
  std::string settings{};  ///< of torch._inductor.config, a JSON object, for what compile_fx compiles; else empty
};

}  // namespace kerf::inline dynamo
