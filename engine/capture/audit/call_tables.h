// Tables of what an export may call, a file for each kind. Private to allowed_calls.cpp.
#pragma once

#include <algorithm>
#include <string_view>
#include <unordered_set>

namespace kerf::inline capture {

/// Names out of a text, with white space between them.
class CallNames {
 public:
  explicit CallNames(std::string_view text) {
    constexpr std::string_view blanks = " \n";
    for (std::size_t at = text.find_first_not_of(blanks); at != std::string_view::npos;
         at = text.find_first_not_of(blanks, at)) {
      const std::size_t end = std::min(text.find_first_of(blanks, at), text.size());
      m_names.insert(text.substr(at, end - at));
      at = end;
    }
  }
  bool contains(std::string_view name) const { return m_names.contains(name); }

 private:
  std::unordered_set<std::string_view> m_names;
};

const CallNames& torchFunctions();
const CallNames& functionalFunctions();
const CallNames& operatorFunctions();
const CallNames& mathFunctions();
const CallNames& builtinFunctions();
const CallNames& boundNames();
const CallNames& tensorMethods();
const CallNames& guardMethods();
const CallNames& readAttributes();
const CallNames& moduleClasses();
const CallNames& moduleMembers();

}  // namespace kerf::inline capture
