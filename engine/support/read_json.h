// JSON that others wrote, read into a tree of nlohmann's library. Its trees are copied, compared and printed by one call per
// level, so text that nests without end would end the stack: such text is no JSON here.
#pragma once

#include <istream>
#include <iterator>
#include <string>
#include <string_view>

namespace kerf::inline support {

/// Deepest nesting of JSON that is read into a tree.
inline constexpr int deepestJson = 200;

/// Whether lists and objects nest deeper than `most` levels.
bool nestsDeeperThan(std::string_view json, int most);
/// What is wrong with a text that readJson() discards, to follow its name: "is no JSON", "nests deeper than 200 levels".
std::string whyNoJson(std::string_view text);

/// The tree of type Json (nlohmann::json, …); discarded where the text is malformed or nests deeper than `deepest`.
template <class Json>
Json readJson(std::string_view text, int deepest = deepestJson) {
  if (nestsDeeperThan(text, deepest)) return Json(Json::value_t::discarded);
  return Json::parse(text, nullptr, false);
}
template <class Json>
Json readJson(std::istream& in) {
  const std::string text(std::istreambuf_iterator<char>(in), {});
  return readJson<Json>(text);
}

}  // namespace kerf::inline support
