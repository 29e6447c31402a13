// Codec: CBOR through nlohmann-json, behind a check of depth and count that runs before anything is built. Bytes of
// tensors follow it as they are, since that library reads bytes one by one.
//
//   8 bytes: length of the CBOR | the CBOR, with 8 bytes for each binary value: its length | those values' bytes
#include "engine/process/codec.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

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

using Length = std::uint64_t;

/// Calls see(binary) for the binary values in the order of the message, until it returns false.
template <class See>
bool eachBinary(Wire& wire, const See& see) {
  if (wire.is_binary()) return see(wire.get_binary());
  if (!wire.is_structured()) return true;
  return std::ranges::all_of(wire, [&](Wire& part) { return eachBinary(part, see); });
}

Wire::binary_t bytesOf(Length length) {
  Wire::binary_t bytes;
  bytes.resize(sizeof length);
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes;
}

std::optional<Length> takeLength(std::string_view& bytes) {
  Length length = 0;
  if (bytes.size() < sizeof length) return {};
  std::memcpy(&length, bytes.data(), sizeof length);
  bytes.remove_prefix(sizeof length);
  return length <= bytes.size() ? std::optional(length) : std::nullopt;
}

/// Puts what follows the CBOR into the binary values. False where it is not what their lengths say.
bool fillBinaries(Wire& wire, std::string_view bytes) {
  const bool good = eachBinary(wire, [&](Wire::binary_t& binary) {
    Length length = 0;
    if (binary.size() != sizeof length) return false;
    std::memcpy(&length, binary.data(), sizeof length);
    if (length > bytes.size()) return false;
    const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
    binary.assign(first, first + length);
    bytes.remove_prefix(length);
    return true;
  });
  return good && bytes.empty();
}

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

std::string wireBytes(Wire wire) {
  std::vector<Wire::binary_t> binaries;
  std::size_t following = 0;
  eachBinary(wire, [&](Wire::binary_t& binary) {
    following += binary.size();
    binaries.push_back(std::exchange(binary, bytesOf(binary.size())));
    return true;
  });
  std::string bytes(sizeof(Length), '\0');
  Wire::to_cbor(wire, bytes);
  const Length length = bytes.size() - sizeof length;
  std::memcpy(bytes.data(), &length, sizeof length);
  bytes.reserve(bytes.size() + following);
  for (const auto& binary : binaries) bytes.append(reinterpret_cast<const char*>(binary.data()), binary.size());
  return bytes;
}

Result<Wire> parseWire(std::string_view bytes, std::string_view what) {
  ShapeCheck check;
  const auto refused = [&, size = bytes.size()] {
    return fail(ErrorCode::Internal, "{} cannot be read: {} bytes that are not a whole message", what, size);
  };
  const auto length = takeLength(bytes);
  if (!length) return refused();
  const std::string_view shape = bytes.substr(0, *length);
  if (!Wire::sax_parse(shape.begin(), shape.end(), &check, Wire::input_format_t::cbor)) return refused();
  Wire wire = Wire::from_cbor(shape, true, false);
  if (!fillBinaries(wire, bytes.substr(*length))) return refused();
  return wire;
}

}  // namespace kerf::inline process
