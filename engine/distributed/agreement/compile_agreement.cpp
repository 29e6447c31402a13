#include "engine/distributed/agreement/compile_agreement.h"

#include "engine/distributed/group/collectives.h"

namespace kerf::inline distributed::inline agreement {
namespace {

constexpr std::string_view dynamicText = "auto_dynamic";

AgreedNumber numberOf(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  return {std::string(text), text == dynamicText};
}

/// "[4, S(1)]" behind `key` in a line; none where it is not there.
std::optional<std::vector<AgreedNumber>> listBehind(const std::string& line, std::string_view key) {
  const std::size_t at = line.find(key);
  if (at == std::string::npos || at + key.size() >= line.size() || line[at + key.size()] != '[') return std::nullopt;
  std::vector<AgreedNumber> numbers;
  std::string item;
  for (std::size_t i = at + key.size() + 1; i < line.size(); ++i) {
    if (line[i] != ',' && line[i] != ']') {
      item += line[i];
      continue;
    }
    if (!item.empty()) numbers.push_back(numberOf(item));
    item.clear();
    if (line[i] == ']') return numbers;
  }
  return std::nullopt;
}

void mergeNumber(AgreedNumber& into, const AgreedNumber& other) {
  if (into == other) return;
  into = {std::string(dynamicText), true};
}

void mergeList(std::optional<std::vector<AgreedNumber>>& into, const std::optional<std::vector<AgreedNumber>>& other) {
  if (!into || !other || into->size() != other->size()) {
    into.reset();
    return;
  }
  for (std::size_t i = 0; i < into->size(); ++i) mergeNumber((*into)[i], (*other)[i]);
}

std::string listText(const std::optional<std::vector<AgreedNumber>>& numbers) {
  if (!numbers) return std::string(dynamicText);
  std::vector<std::string> texts;
  for (const AgreedNumber& number : *numbers) texts.push_back(number.text);
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

Result<InputState> parseInput(const std::string& source, const std::string& what) {
  InputState input;
  if (what.starts_with("scalar ")) {
    input.scalar = numberOf(std::string_view(what).substr(7));
    return input;
  }
  if (!what.starts_with("tensor "))
    return fail(ErrorCode::BadInput, "{} is neither a tensor nor a scalar: {}", source, what.substr(0, 80));
  input.isTensor = true;
  input.sizes = listBehind(what, "size=");
  input.strides = listBehind(what, "stride=");
  return input;
}

}  // namespace

Result<FrameState> parseFrameState(const std::string& text) {
  FrameState state;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    if (line.empty()) continue;
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos) return fail(ErrorCode::BadInput, "no source in \"{}\"", line.substr(0, 80));
    KERF_TRY(state[line.substr(0, colon)], parseInput(line.substr(0, colon), line.substr(colon + 2)));
  }
  return state;
}

std::string frameStateText(const FrameState& state) {
  std::string text;
  for (const auto& [source, input] : state) {
    if (!text.empty()) text += '\n';
    if (input.isTensor)
      text += fmt::format("{}: tensor size={} stride={}", source, listText(input.sizes), listText(input.strides));
    else
      text += fmt::format("{}: scalar {}", source, input.scalar ? input.scalar->text : std::string(dynamicText));
  }
  return text;
}

FrameState agreedState(const std::vector<FrameState>& ranks) {
  FrameState agreed;
  for (const FrameState& rank : ranks)
    for (const auto& [source, input] : rank) {
      const auto [known, isFirst] = agreed.try_emplace(source, input);
      if (isFirst) continue;
      InputState& into = known->second;
      if (into.isTensor != input.isTensor) {
        into = {.isTensor = into.isTensor};  // nothing is the same
        continue;
      }
      if (into.isTensor) {
        mergeList(into.sizes, input.sizes);
        mergeList(into.strides, input.strides);
      } else if (into.scalar && input.scalar) {
        mergeNumber(*into.scalar, *input.scalar);
      }
    }
  return agreed;
}

Result<FrameState> agreeOn(Communicator& ranks, const Group& group, const FrameState& own) {
  KERF_TRY(const auto texts, allGatherObject(ranks, group, frameStateText(own)));
  std::vector<FrameState> states;
  for (const std::string& text : texts) {
    KERF_TRY(FrameState state, parseFrameState(text));
    states.push_back(std::move(state));
  }
  return agreedState(states);
}

}  // namespace kerf::inline distributed::inline agreement
