// Codec: CBOR through nlohmann-json, behind a check of depth and count that runs before anything is built.
#include "engine/process/codec.h"

#include <fmt/ranges.h>

namespace kerf::inline process {

namespace {

constexpr int deepest = 64;
constexpr std::size_t mostValues = 100'000'000;

/// Walks over the bytes without keeping anything. The parser recurses into lists, so their depth must be known first.
class ShapeCheck {
 public:
  bool null() { return one(); }
  bool boolean(bool) { return one(); }
  bool number_integer(std::int64_t) { return one(); }
  bool number_unsigned(std::uint64_t) { return one(); }
  bool number_float(double, const std::string&) { return one(); }
  bool string(const std::string&) { return one(); }
  bool binary(const Wire::binary_t&) { return one(); }
  bool key(const std::string&) { return one(); }
  bool start_array(std::size_t) { return ++m_depth <= deepest && one(); }
  bool end_array() { return --m_depth >= 0; }
  bool start_object(std::size_t) { return ++m_depth <= deepest && one(); }
  bool end_object() { return --m_depth >= 0; }
  bool parse_error(std::size_t, const std::string&, const Wire::exception&) { return false; }

 private:
  bool one() { return ++m_values <= mostValues; }
  int m_depth = 0;
  std::size_t m_values = 0;
};

}  // namespace

bool WireReader::refuse(std::string_view expected, const Wire& found) {
  m_problem = fmt::format("expected {}, found {}", expected,
                          found.is_array() ? fmt::format("a list of {}", found.size()) : found.type_name());
  return false;
}

Error WireReader::problem(std::string_view what) const {
  return {ErrorCode::Internal, fmt::format("{} cannot be read: {}{}{}", what, fmt::join(m_path, "."),
                                           m_path.empty() ? "" : ": ", m_problem)};
}

std::string wireBytes(const Wire& wire) {
  std::string bytes;
  Wire::to_cbor(wire, bytes);
  return bytes;
}

Result<Wire> parseWire(std::string_view bytes, std::string_view what) {
  ShapeCheck check;
  if (!Wire::sax_parse(bytes.begin(), bytes.end(), &check, Wire::input_format_t::cbor))
    return fail(ErrorCode::Internal, "{} cannot be read: {} bytes that are no whole message", what, bytes.size());
  return Wire::from_cbor(bytes, true, false);
}

}  // namespace kerf::inline process
