// What AOTAutograd knows of a traced graph's inputs and outputs (PyTorch's ViewAndMutationMeta).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kerf::inline autograd {

/// One input of the traced graph, in the order of its placeholders.
struct AotInput {
  enum class Kind : std::uint8_t { Parameter, Buffer, User, Symbol };
  std::string name;    ///< of the placeholder in the traced graph: "primals_3"
  std::string source;  ///< the captured graph's placeholder, or the path of the attribute: "layers.0.weight"
  Kind kind = Kind::User;
  bool requiresGrad = false;
  bool mutatesData = false;      ///< the graph writes into it: its new value is an output, or a copy_ epilogue
  bool mutatesMetadata = false;  ///< the graph gives it other sizes or strides (t_, unsqueeze_)
};

/// One output of the user's function.
struct AotOutput {
  enum class Alias : std::uint8_t {
    None,     ///< memory of its own, or no tensor
    OfInput,  ///< a view of input `base`
    IsInput,  ///< input `base` itself
    OfOutput  ///< shares memory with output `base`, which stands before it
  };
  Alias alias = Alias::None;
  std::optional<std::size_t> base;
  bool requiresGrad = false;
};

struct AotMetadata {
  std::vector<AotInput> inputs;
  std::vector<AotOutput> outputs;
  std::vector<std::size_t> mutatedInputs;  ///< indices whose data changes, ascending
  std::size_t fixedInputs = 0;             ///< parameters and buffers, which come first
  bool usesRandom = false;                 ///< whether a run draws random numbers
  std::vector<std::string> notes;          ///< what a user should know
};

/// "parameter", "buffer", "user input", "symbol".
std::string_view kindName(AotInput::Kind kind);
/// "", "view of input", "is input", "shares with output".
std::string_view aliasName(AotOutput::Alias alias);

}  // namespace kerf::inline autograd
