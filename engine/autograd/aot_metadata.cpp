#include "engine/autograd/aot_metadata.h"

namespace kerf::inline autograd {

std::string_view kindName(AotInput::Kind kind) {
  constexpr std::string_view names[] = {"parameter", "buffer", "user input", "symbol"};
  return names[std::size_t(kind)];
}

std::string_view aliasName(AotOutput::Alias alias) {
  constexpr std::string_view names[] = {"", "view of input", "is input", "shares with output"};
  return names[std::size_t(alias)];
}

}  // namespace kerf::inline autograd
