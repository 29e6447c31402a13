#include "engine/capture/pt2/inputs.h"

#include <algorithm>
#include <array>

namespace kerf::inline capture {
namespace {

constexpr auto callerKinds = std::to_array<std::string_view>({"user_output", "loss_output"});

Result<void> checkInput(const GraphInput& input, const Value& value) {
  const auto mismatch = [&](const std::string& expected, const std::string& given) {
    Error error{ErrorCode::ShapeMismatch,
                fmt::format("the input '{}' is {}, {} was given", input.name, expected, given),
                {},
                0,
                {},
                {}};
    error.atNode(input.name);
    return fail(std::move(error));
  };
  if (input.kind == GraphInput::Kind::SymInt) {
    if (value.as<std::int64_t>() != nullptr) return {};
    return mismatch("an integer", "something else");
  }
  if (!value.isTensor()) return mismatch("a tensor", "something else");
  const Tensor& tensor = value.tensor();
  if (tensor.dtype() != input.dtype)
    return mismatch(std::string(dtypeInfo(input.dtype).torchName), std::string(dtypeInfo(tensor.dtype()).torchName));
  const auto shape = [](const Sizes& sizes) { return fmt::format("[{}]", fmt::join(sizes, ", ")); };
  bool same = tensor.sizes().size() == input.sizes.size();
  for (std::size_t d = 0; same && d < input.sizes.size(); ++d) {
    const bool symbolic = d < input.sizeTexts.size() && !input.sizeTexts[d].empty() &&
                          input.sizeTexts[d].find_first_not_of("0123456789") != std::string::npos;
    same = symbolic || tensor.sizes()[d] == input.sizes[d];
  }
  if (same) return {};
  return mismatch(shape(input.sizes), shape(tensor.sizes()));
}

}  // namespace

std::vector<std::size_t> userInputs(const CapturedGraph& graph) {
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const GraphInput::Kind kind = graph.inputs[i].kind;
    if (kind != GraphInput::Kind::Tensor && kind != GraphInput::Kind::SymInt) continue;
    if (graph.signature && (i >= graph.signature->inputs.size() || graph.signature->inputs[i].kind != "user_input"))
      continue;
    positions.push_back(i);
  }
  return positions;
}

std::vector<std::size_t> userOutputs(const CapturedGraph& graph, std::size_t count) {
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < count; ++i) {
    const bool known = graph.signature && i < graph.signature->outputs.size();
    if (!known || std::ranges::find(callerKinds, graph.signature->outputs[i].kind) != callerKinds.end())
      positions.push_back(i);
  }
  return positions;
}

Result<ValueList> loadInputsWith(const CapturedGraph& graph, const ValueList& user, bool strict,
                                 std::vector<std::string>* notes) {
  const std::vector<std::size_t> positions = userInputs(graph);
  if (positions.size() != user.size())
    return fail(ErrorCode::BadInput, "the program takes {} inputs from its caller, {} were given", positions.size(),
                user.size());
  // Nothing is loaded or made up for inputs that are given.
  CapturedGraph rest = graph;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    KERF_CHECK(checkInput(graph.inputs[positions[i]], user[i]));
    rest.inputs[positions[i]].kind = GraphInput::Kind::Opaque;
  }
  KERF_TRY(ValueList values, rest.loadInputs(strict, notes));
  for (std::size_t i = 0; i < positions.size(); ++i) values[positions[i]] = user[i];
  return values;
}

}  // namespace kerf::inline capture
