#include "engine/distributed/doctor/flight_json.h"

#include <algorithm>
#include <limits>

#include <nlohmann/json.hpp>

namespace kerf::inline distributed::inline doctor {
namespace {

using capture::pt2::Pickle;
using capture::pt2::PickleValue;

constexpr std::size_t deepestRecord = 64;  ///< a record has four levels, with frames six

/// Builds values from events: the parser keeps no tree and calls nothing recursively.
class FlightJsonReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit FlightJsonReader(std::size_t maxValues) : m_maxValues(maxValues) {}
  Pickle record;
  std::string problem;
  bool isTooLarge = false;

  bool null() override { return add({}); }
  bool boolean(bool value) override { return add({.kind = PickleValue::Kind::Bool, .integer = value ? 1 : 0}); }
  bool number_integer(number_integer_t value) override {
    return add({.kind = PickleValue::Kind::Int, .integer = std::int64_t(value)});
  }
  bool number_unsigned(number_unsigned_t value) override {
    constexpr auto most = number_unsigned_t(std::numeric_limits<std::int64_t>::max());
    return add({.kind = PickleValue::Kind::Int, .integer = std::int64_t(std::min(value, most))});
  }
  bool number_float(number_float_t value, const string_t&) override {
    return add({.kind = PickleValue::Kind::Float, .real = value});
  }
  bool string(string_t& value) override { return add({.kind = PickleValue::Kind::String, .text = std::move(value)}); }
  bool binary(binary_t&) override { return false; }
  bool key(string_t& value) override { return string(value); }
  bool start_object(std::size_t) override { return open(PickleValue::Kind::Dict); }
  bool start_array(std::size_t) override { return open(PickleValue::Kind::List); }
  bool end_object() override { return m_open.pop_back(), true; }
  bool end_array() override { return m_open.pop_back(), true; }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    problem = fmt::format("it is no JSON from byte {}", position);
    return false;
  }

 private:
  bool add(PickleValue value) {
    if (record.values.size() >= m_maxValues) {
      isTooLarge = true;
      problem = fmt::format("it holds more than {} values", m_maxValues);
      return false;
    }
    const auto index = std::uint32_t(record.values.size());
    record.values.push_back(std::move(value));
    if (!m_open.empty()) record.values[m_open.back()].items.push_back(index);
    return true;
  }
  bool open(PickleValue::Kind kind) {
    if (m_open.size() >= deepestRecord) {
      problem = fmt::format("it is nested deeper than {} levels", deepestRecord);
      return false;
    }
    if (!add({.kind = kind})) return false;
    m_open.push_back(std::uint32_t(record.values.size() - 1));
    return true;
  }

  std::size_t m_maxValues;
  std::vector<std::uint32_t> m_open;  ///< containers, the innermost last
};

/// The text between the quotes at `at`, which is moved behind them; nothing where it does not end.
std::optional<std::string_view> quotedAt(std::string_view text, std::size_t& at) {
  const std::size_t start = at + 1;
  for (std::size_t end = start; end < text.size(); ++end) {
    if (text[end] == '\\') {
      ++end;
    } else if (text[end] == '"') {
      at = end + 1;
      return text.substr(start, end - start);
    }
  }
  return std::nullopt;
}

bool isWhite(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// The keys of the outermost object, as far as the text goes.
std::vector<std::string_view> outerKeys(std::string_view text) {
  std::vector<std::string_view> keys;
  int depth = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c != '"') {
      depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
      if (depth <= 0 && !isWhite(c)) break;  // it has ended, or is no object
      ++at;
      continue;
    }
    const auto name = quotedAt(text, at);
    if (!name) break;
    while (at < text.size() && isWhite(text[at])) ++at;
    if (depth == 1 && at < text.size() && text[at] == ':') keys.push_back(*name);
  }
  return keys;
}

constexpr std::string_view entryKeys[] = {"\"collective_seq_id\"", "\"record_id\"", "\"profiling_name\"", "\"seq_id\""};

}  // namespace

bool looksLikeFlightJson(std::string_view head) {
  const std::size_t start = std::ranges::find_if_not(head, isWhite) - head.begin();
  if (start >= head.size() || head[start] != '{') return false;
  const auto keys = outerKeys(head);
  const auto has = [&](std::string_view key) { return std::ranges::find(keys, key) != keys.end(); };
  if (has("pg_config") || has("pg_status")) return true;
  return has("entries") &&
         std::ranges::any_of(entryKeys, [&](std::string_view key) { return head.find(key) != std::string_view::npos; });
}

Result<Pickle> readFlightJson(std::string_view text, std::size_t maxValues) {
  FlightJsonReader reader(maxValues);
  if (nlohmann::json::sax_parse(text, &reader)) return std::move(reader.record);
  return fail(reader.isTooLarge ? ErrorCode::TooLarge : ErrorCode::BadInput, "the flight record cannot be read: {}",
              reader.problem.empty() ? "it is no JSON" : reader.problem);
}

}  // namespace kerf::inline distributed::inline doctor
