// Reading, setting and printing the options of passes.
#include "engine/passes/pass_options.h"

#include <algorithm>
#include <charconv>
#include <ranges>

namespace kerf::inline passes {

namespace {

constexpr std::string_view typeNames[] = {"bool", "int", "float", "str"};

struct TextOf {
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(const std::string& value) const { return value; }
  template <class Number>
  std::string operator()(Number value) const {
    return fmt::format("{}", value);
  }
};

/// Reads `text` as the type that `value` has; false if it is none.
struct ReadAs {
  std::string_view text;
  bool operator()(bool& value) const {
    value = text == "true";
    return value || text == "false";
  }
  bool operator()(std::string& value) const {
    value = text;
    return true;
  }
  template <class Number>
  bool operator()(Number& value) const {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size();
  }
};

std::unexpected<Error> wrongType(const PassOption& option, std::string_view given) {
  return fail(ErrorCode::BadUsage, "option {} takes {} {}, not '{}'; e.g. {}", option.name,
              option.value.index() == 1 ? "an" : "a", optionType(option.value), given, optionText(option.value));
}

}  // namespace

std::string_view optionType(const PassOptionValue& value) { return typeNames[value.index()]; }

std::string optionText(const PassOptionValue& value) { return std::visit(TextOf(), value); }

const PassOption* PassOptions::find(std::string_view name) const {
  const auto found = std::ranges::find(m_options, name, &PassOption::name);
  return found == m_options.end() ? nullptr : &*found;
}

Result<const PassOption*> PassOptions::known(std::string_view name) const {
  if (const PassOption* option = find(name)) return option;
  if (m_options.empty()) return fail(ErrorCode::BadUsage, "there is no option '{}': this pass has none", name);
  return fail(ErrorCode::BadUsage, "there is no option '{}'; there is {}", name,
              fmt::join(m_options | std::views::transform(&PassOption::name), ", "));
}

Result<void> PassOptions::set(std::string_view name, const PassOptionValue& value) {
  KERF_TRY(const PassOption* const option, known(name));
  if (option->value.index() != value.index()) return wrongType(*option, optionText(value));
  m_options[std::size_t(option - m_options.data())].value = value;
  return {};
}

Result<PassOptionValue> PassOptions::parse(std::string_view name, std::string_view text) const {
  KERF_TRY(const PassOption* const option, known(name));
  PassOptionValue value = option->value;
  if (!std::visit(ReadAs{text}, value)) return wrongType(*option, text);
  return value;
}

}  // namespace kerf::inline passes
