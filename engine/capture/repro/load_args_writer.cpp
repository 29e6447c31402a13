#include "engine/capture/repro/load_args_writer.h"

#include "engine/ir/python_expression.h"

namespace kerf::inline capture {
namespace {

constexpr std::string_view indent = "    ";

std::string storageLine(const StorageRef& storage, std::size_t index) {
  const std::string hash = storage.hash.empty() ? "None" : pythonString(storage.hash);
  const std::string bytes = storage.bytesText.empty() ? std::to_string(storage.bytes) : storage.bytesText;
  std::string line = fmt::format("{}buf{} = reader.storage({}, {}", indent, index, hash, bytes);
  if (storage.device != Device{}) line += ", device=" + pythonDevice(storage.device);
  if (storage.dtypeHint) line += fmt::format(", dtype_hint={}", dtypeInfo(*storage.dtypeHint).torchName);
  return line + ")\n";
}

std::string tensorArguments(const GraphInput& input) {
  std::string text = fmt::format("buf{}, {}", input.storageIndex, pythonTuple(input.sizes, input.sizeTexts));
  if (input.explicitStrides || input.strides != contiguousStrides(input.sizes))
    text += ", " + pythonTuple(input.strides, input.strideTexts);
  if (input.dtype != DType::Float32) text += fmt::format(", dtype={}", dtypeInfo(input.dtype).torchName);
  if (input.storageOffset != 0 || !input.offsetText.empty())
    text += ", storage_offset=" + (input.offsetText.empty() ? std::to_string(input.storageOffset) : input.offsetText);
  for (const auto& [key, value] : input.extra) text += fmt::format(", {}={}", key, value);
  if (input.requiresGrad) text += ", requires_grad=True";
  if (input.isLeaf) text += ", is_leaf=True";
  return text;
}

/// Whether Python evaluates the text with nothing but its symbols defined: sympy's functions are not.
bool isPythonArithmetic(std::string_view text) {
  for (std::size_t i = 1; i < text.size(); ++i)
    if (text[i] == '(' && (std::isalnum(static_cast<unsigned char>(text[i - 1])) != 0 || text[i - 1] == '_'))
      return false;
  return !text.empty() && parsePythonExpression(text).has_value();
}

/// The expression itself, which every version of torch reads, where it may stand there.
std::string symintArguments(const GraphInput& input) {
  const std::string value = std::to_string(input.sym.hint.value_or(0));
  if (input.hasExprKeyword) return fmt::format("{}, expr={}", value, pythonString(input.sym.text));
  return isPythonArithmetic(input.sym.text) ? input.sym.text : value;
}

/// Method of the reader and the text between its parentheses.
std::string callText(const GraphInput& input) {
  using Kind = GraphInput::Kind;
  switch (input.kind) {
    case Kind::Tensor:
      return "tensor(" + tensorArguments(input) + ")";
    case Kind::SymInt:
      return "symint(" + symintArguments(input) + ")";
    case Kind::Const:
      return "const(" + input.text + ")";
    case Kind::Unsupported:
      return "unsupported(" + input.text + ")";
    case Kind::Generator:
      return "generator(" + input.text + ")";
    case Kind::Opaque:
      return "opaque(" + input.text + ")";
  }
  return {};
}

/// What stands behind the '#': the comment as read, or the name, which a string literal may make anything.
std::string commentText(const GraphInput& input) {
  const std::string& comment = input.comment.empty() ? input.name : input.comment;
  const std::string_view breaks = input.comment.empty() ? "\r\n" : "\n";
  const bool fits = comment.find_first_of(breaks) == std::string::npos && checkPythonText(comment).has_value();
  return fits ? "  # " + comment : std::string();
}

std::string inputLines(const GraphInput& input) {
  std::string text = fmt::format("{}reader.{}{}\n", indent, callText(input), commentText(input));
  for (const std::string& line : input.block) text += line + "\n";
  return text;
}

}  // namespace

std::string pythonDevice(const Device& device) {
  if (device.index < 0) return fmt::format("device(type={})", pythonString(device.type));
  return fmt::format("device(type={}, index={})", pythonString(device.type), device.index);
}

std::string pythonTuple(const Sizes& values, const std::vector<std::string>& texts) {
  std::string text = "(";
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i != 0) text += ", ";
    text += i < texts.size() && !texts[i].empty() ? texts[i] : std::to_string(values[i]);
  }
  return text + (values.size() == 1 ? ",)" : ")");
}

std::string loadArgsText(const CapturedGraph& graph) {
  std::string text = "def load_args(reader):\n";
  std::vector<bool> written(graph.storages.size(), false);
  const auto write = [&](std::size_t index) {
    if (!written[index]) text += storageLine(graph.storages[index], index);
    written[index] = true;
  };
  for (const GraphInput& input : graph.inputs) {
    if (input.kind == GraphInput::Kind::Tensor) {
      const auto needed = std::size_t(input.storageIndex);
      for (std::size_t i = 0; i < needed; ++i)
        if (!graph.storages[i].inBlock) write(i);
      write(needed);  // also one that so far only a string literal defined: Python needs the line
    }
    text += inputLines(input);
  }
  for (std::size_t i = 0; i < graph.storages.size(); ++i)
    if (!graph.storages[i].inBlock) write(i);
  if (graph.inputs.empty() && graph.storages.empty()) text += fmt::format("{}pass\n", indent);
  return text;
}

}  // namespace kerf::inline capture
