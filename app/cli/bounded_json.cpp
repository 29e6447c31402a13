#include "app/cli/bounded_json.h"

namespace kerf::cli {

namespace {

struct Limits {
  std::size_t items, bytes;
};

std::string cutText(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // no half character
  return fmt::format("{}\xE2\x80\xA6 {} more bytes", text.substr(0, end), text.size() - end);
}

Json cut(const Json& value, const Limits& limits) {
  if (value.is_string()) return cutText(value.get_ref<const std::string&>(), limits.bytes);
  if (!value.is_structured()) return value;
  Json out = value.is_array() ? Json::array() : Json::object();
  std::size_t count = 0;
  for (const auto& [key, item] : value.items()) {
    if (count++ >= limits.items) break;
    if (value.is_array())
      out.push_back(cut(item, limits));
    else
      out[cutText(key, limits.bytes)] = cut(item, limits);
  }
  if (value.size() <= limits.items) return out;
  const std::size_t missing = value.size() - limits.items;
  if (value.is_array())
    out.push_back({{"left_out", missing}});
  else
    out["left_out"] = missing;
  return out;
}

std::size_t sizeOf(const Json& value) { return value.dump(-1, ' ', true, Json::error_handler_t::replace).size(); }

}  // namespace

Json boundedJson(const Json& value, std::size_t most) {
  Json out = value;
  for (Limits limits{4096, 65536}; sizeOf(out) > most; limits = {limits.items / 2, limits.bytes / 2}) {
    if (limits.items == 0) return {{"left_out", sizeOf(value)}};
    out = cut(value, limits);
  }
  return out;
}

Result<Json> partOfJson(const Json& document, const std::string& pointer) {
  try {
    return document.at(Json::json_pointer(pointer));
  } catch (const Json::exception&) {
    return fail(ErrorCode::BadUsage, "there is nothing at \"{}\" in the answer", pointer);
  }
}

}  // namespace kerf::cli
