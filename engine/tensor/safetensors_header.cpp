#include "engine/tensor/safetensors_header.h"

#include <limits>
#include <unordered_map>
#include <unordered_set>

#include <nlohmann/json.hpp>

namespace kerf::inline tensor {
namespace {

// Event reader for exactly one shape of document:
// {"__metadata__": {str: str}, name: {"dtype": str, "shape": [n…], "data_offsets": [begin, end]}}.
// Anything else stops the parse at once, so nesting and size of hostile headers cost nothing.
class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  SafetensorsHeader header;
  std::string problem;

  bool null() override { return refuse("null"); }
  bool boolean(bool) override { return refuse("a boolean"); }
  bool number_float(number_float_t, const string_t&) override { return refuse("a fraction"); }
  bool binary(binary_t&) override { return refuse("binary data"); }
  bool number_integer(number_integer_t value) override { return number(value); }
  bool number_unsigned(number_unsigned_t value) override {
    constexpr auto limit = static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max());
    return value > limit ? refuse("a number beyond 2^63") : number(std::int64_t(value));
  }

  bool string(string_t& value) override {
    if (m_place == Place::Metadata) {
      const auto [slot, isNew] = m_metadata.try_emplace(m_key, header.metadata.size());
      if (isNew)
        header.metadata.emplace_back(m_key, value);
      else
        header.metadata[slot->second].second = value;  // the last one counts, as in every JSON object
      return true;
    }
    if (m_place != Place::Entry || m_key != "dtype") return refuse("a string");
    const auto dtype = dtypeFromSafetensorsName(value);
    if (!dtype) return stop(fmt::format("tensor '{}' has the unknown dtype '{}'", header.entries.back().name, value));
    header.entries.back().dtype = *dtype;
    m_haveDtype = true;
    return true;
  }

  bool start_object(std::size_t) override {
    switch (m_place) {
      case Place::Start:
        m_place = Place::Top;
        return true;
      case Place::Top:
        return startEntry();
      default:
        return refuse("an object");
    }
  }

  bool end_object() override {
    if (m_place == Place::Entry && !(m_haveDtype && m_haveShape && m_haveOffsets))
      return stop(fmt::format("tensor '{}' lacks dtype, shape or data_offsets", header.entries.back().name));
    m_place = m_place == Place::Top ? Place::End : Place::Top;
    return true;
  }

  bool key(string_t& value) override {
    m_key = value;
    if (m_place == Place::Top && !m_seen.insert(value).second) return stop(fmt::format("'{}' appears twice", value));
    return true;
  }

  bool start_array(std::size_t) override {
    if (m_place != Place::Entry) return refuse("an array");
    if (m_key == "shape" && !m_haveShape)
      m_place = Place::Shape;
    else if (m_key == "data_offsets" && !m_haveOffsets)
      m_place = Place::Offsets;
    else
      return refuse("an array");
    m_count = 0;
    return true;
  }

  bool end_array() override {
    if (m_place == Place::Offsets && m_count != 2) return refuse("data_offsets without two numbers");
    (m_place == Place::Shape ? m_haveShape : m_haveOffsets) = true;
    m_place = Place::Entry;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    return stop(fmt::format("the header is not valid JSON at byte {}", position));
  }

 private:
  enum class Place { Start, Top, Metadata, Entry, Shape, Offsets, End };
  static constexpr int maximumDims = 64;

  bool stop(std::string text) {
    problem = std::move(text);
    return false;
  }
  bool refuse(std::string_view what) { return stop(fmt::format("unexpected {} at '{}' in the header", what, m_key)); }

  bool startEntry() {
    if (m_key == "__metadata__") {
      m_place = Place::Metadata;
      return true;
    }
    m_place = Place::Entry;
    m_haveDtype = m_haveShape = m_haveOffsets = false;
    header.entries.emplace_back().name = m_key;
    return true;
  }

  bool number(std::int64_t value) {
    if (value < 0) return refuse("a negative number");
    if (m_place == Place::Shape) {
      if (++m_count > maximumDims) return refuse("a shape of too many dimensions");
      header.entries.back().sizes.push_back(value);
      return true;
    }
    if (m_place != Place::Offsets || m_count > 1) return refuse("a number");
    (m_count++ == 0 ? header.entries.back().begin : header.entries.back().end) = value;
    return true;
  }

  Place m_place = Place::Start;
  std::string m_key;
  std::unordered_set<std::string> m_seen;
  std::unordered_map<std::string, std::size_t> m_metadata;  ///< key → index in header.metadata
  bool m_haveDtype = false, m_haveShape = false, m_haveOffsets = false;
  int m_count = 0;
};

}  // namespace

Result<SafetensorsHeader> parseSafetensorsHeader(std::string_view text) {
  HeaderReader reader;
  if (nlohmann::json::sax_parse(text, &reader)) return std::move(reader.header);
  return fail(ErrorCode::BadInput, "{}", reader.problem.empty() ? "the header is not valid JSON" : reader.problem);
}

}  // namespace kerf::inline tensor
