// PassOptions: the settings that a pass declares, each with a type, a default and a sentence, and what a caller set
// them to.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/support/result.h"

namespace kerf::inline passes {

using PassOptionValue = std::variant<bool, std::int64_t, double, std::string>;

/// "bool", "int", "float" or "str".
std::string_view optionType(const PassOptionValue& value);
/// As `--config` takes it: "true", "65536", "0.5", "text".
std::string optionText(const PassOptionValue& value);

struct PassOption {
  std::string name;
  PassOptionValue value;    ///< where the pass is declared the default; its type is the option's
  std::string description;  ///< one sentence
};

class PassOptions {
 public:
  PassOptions() = default;
  PassOptions(std::initializer_list<PassOption> options) : m_options(options) {}

  const std::vector<PassOption>& all() const { return m_options; }
  /// The value of an option that the pass declared with type T; T() for one that it did not declare.
  template <class T>
  T value(std::string_view name) const {
    const PassOption* option = find(name);
    const T* value = option ? std::get_if<T>(&option->value) : nullptr;
    return value ? *value : T();
  }
  /// BadUsage listing the options when there is none of this name, or naming the type when it does not fit.
  Result<void> set(std::string_view name, const PassOptionValue& value);
  /// `text` as a value of the option's type; BadUsage as for set().
  Result<PassOptionValue> parse(std::string_view name, std::string_view text) const;

 private:
  const PassOption* find(std::string_view name) const;
  Result<const PassOption*> known(std::string_view name) const;
  std::vector<PassOption> m_options;
};

}  // namespace kerf::inline passes
