// Codec: plain structs as bytes (CBOR) and back, from the one list of fields that each struct has (KERF_FIELDS).
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "engine/support/fields.h"
#include "engine/support/result.h"

namespace kerf::inline process {

using Wire = nlohmann::json;

/// Reads one value; keeps the path to the field that did not fit and what was wrong with it.
class WireReader {
 public:
  template <class T>
  bool read(Wire& wire, T& value);
  template <class T>
  bool readField(const char* name, Wire& wire, T& value) {
    m_path.emplace_back(name);
    const bool good = read(wire, value);
    if (good) m_path.pop_back();
    return good;
  }
  /// Remembers the problem; false, so that readers can return it.
  bool refuse(std::string_view expected, const Wire& found);
  /// Internal, naming `what` and the field.
  Error problem(std::string_view what) const;

 private:
  std::vector<const char*> m_path;
  std::string m_problem;
};

/// How one type is written and read. The general case: structs with fields (as a list), enums, numbers, texts.
/// Enums need a constexpr lastOf(Enum) beside them, so that no value outside comes in. A struct with afterReading() has
/// it called when its fields are there.
template <class T>
struct WireType {
  static Wire write(const T& value);
  static bool read(WireReader& reader, Wire& wire, T& value);
};

template <class T>
Wire wireOf(const T& value) {
  return WireType<T>::write(value);
}

template <class T>
bool WireReader::read(Wire& wire, T& value) {
  return WireType<T>::read(*this, wire, value);
}

/// Bytes of a value. NaN, infinities and texts that are not UTF-8 survive.
std::string wireBytes(Wire wire);
/// Internal for bytes that are no such message, nest too deep or hold too many values.
Result<Wire> parseWire(std::string_view bytes, std::string_view what);

template <class T>
std::string encode(const T& value) {
  return wireBytes(wireOf(value));
}

/// Internal, naming `what` and the field, for bytes that are no such value.
template <class T>
Result<T> decode(std::string_view bytes, std::string_view what) {
  KERF_TRY(auto wire, parseWire(bytes, what));
  T value{};
  WireReader reader;
  if (!reader.read(wire, value)) return fail(reader.problem(what));
  return value;
}

// Implementation of the types that WireType knows.

template <class T>
Wire WireType<T>::write(const T& value) {
  if constexpr (HasFields<T>) {
    Wire list = Wire::array();
    T::eachField(value, [&](const char*, const auto& field) { list.push_back(wireOf(field)); });
    return list;
  } else if constexpr (std::is_enum_v<T>) {
    return std::int64_t(value);
  } else {
    static_assert(std::is_arithmetic_v<T> || std::is_same_v<T, std::string>, "the type needs KERF_FIELDS");
    return value;
  }
}

template <class T>
bool readFields(WireReader& reader, Wire& wire, T& value) {
  std::size_t count = 0;
  T::eachField(value, [&](const char*, auto&) { ++count; });
  if (!wire.is_array() || wire.size() != count) return reader.refuse(fmt::format("a list of {} fields", count), wire);
  std::size_t next = 0;
  bool good = true;
  T::eachField(value,
               [&](const char* name, auto& field) { good = good && reader.readField(name, wire[next++], field); });
  if constexpr (requires { value.afterReading(); }) value.afterReading();
  return good;
}

template <class T>
bool readInteger(WireReader& reader, const Wire& wire, T& value) {
  const bool fits = wire.is_number_unsigned()  ? std::in_range<T>(wire.get<std::uint64_t>())
                    : wire.is_number_integer() ? std::in_range<T>(wire.get<std::int64_t>())
                                               : false;
  if (!fits) return reader.refuse(fmt::format("a whole number of {} bytes", sizeof(T)), wire);
  value = wire.get<T>();
  return true;
}

template <class T>
bool WireType<T>::read(WireReader& reader, Wire& wire, T& value) {
  if constexpr (HasFields<T>) {
    return readFields(reader, wire, value);
  } else if constexpr (std::is_enum_v<T>) {
    std::int64_t number = 0;
    if (!readInteger(reader, wire, number)) return false;
    if (number < 0 || number > std::int64_t(lastOf(T()))) return reader.refuse("a known choice", wire);
    value = T(number);
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!wire.is_boolean()) return reader.refuse("true or false", wire);
    value = wire.get<bool>();
  } else if constexpr (std::is_integral_v<T>) {
    return readInteger(reader, wire, value);
  } else if constexpr (std::is_floating_point_v<T>) {
    if (!wire.is_number()) return reader.refuse("a number", wire);
    value = wire.get<T>();
  } else {
    if (!wire.is_string()) return reader.refuse("a text", wire);
    value = std::move(wire.get_ref<std::string&>());
  }
  return true;
}

template <class T>
struct WireType<std::vector<T>> {
  static Wire write(const std::vector<T>& values) {
    Wire list = Wire::array();
    for (const auto& value : values) list.push_back(wireOf(value));
    return list;
  }
  static bool read(WireReader& reader, Wire& wire, std::vector<T>& values) {
    if (!wire.is_array()) return reader.refuse("a list", wire);
    values.resize(wire.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      if (!reader.read(wire[i], values[i])) return false;
    return true;
  }
};

template <class T>
struct WireType<std::optional<T>> {
  static Wire write(const std::optional<T>& value) { return value ? wireOf(*value) : Wire(); }
  static bool read(WireReader& reader, Wire& wire, std::optional<T>& value) {
    value.reset();
    if (wire.is_null()) return true;
    T inner{};
    if (!reader.read(wire, inner)) return false;
    value.emplace(std::move(inner));
    return true;
  }
};

template <class T>
struct WireType<std::shared_ptr<const T>> {
  static Wire write(const std::shared_ptr<const T>& value) { return value ? wireOf(*value) : Wire(); }
  static bool read(WireReader& reader, Wire& wire, std::shared_ptr<const T>& value) {
    value.reset();
    if (wire.is_null()) return true;
    auto made = std::make_shared<T>();
    if (!reader.read(wire, *made)) return false;
    value = std::move(made);
    return true;
  }
};

template <class A, class B>
struct WireType<std::pair<A, B>> {
  static Wire write(const std::pair<A, B>& value) { return Wire::array({wireOf(value.first), wireOf(value.second)}); }
  static bool read(WireReader& reader, Wire& wire, std::pair<A, B>& value) {
    if (!wire.is_array() || wire.size() != 2) return reader.refuse("a pair", wire);
    return reader.read(wire[0], value.first) && reader.read(wire[1], value.second);
  }
};

template <class Rep, class Period>
struct WireType<std::chrono::duration<Rep, Period>> {
  using Duration = std::chrono::duration<Rep, Period>;
  static Wire write(const Duration& value) { return value.count(); }
  static bool read(WireReader& reader, Wire& wire, Duration& value) {
    Rep count = 0;
    const bool good = reader.read(wire, count);
    value = Duration(count);
    return good;
  }
};

template <>
struct WireType<std::filesystem::path> {
  static Wire write(const std::filesystem::path& value) { return value.string(); }
  static bool read(WireReader& reader, Wire& wire, std::filesystem::path& value) {
    std::string text;
    const bool good = reader.read(wire, text);
    value = std::move(text);
    return good;
  }
};

template <class... Types>
struct WireType<std::variant<Types...>> {
  using Variant = std::variant<Types...>;
  static Wire write(const Variant& value) {
    return std::visit([&](const auto& held) { return Wire::array({value.index(), wireOf(held)}); }, value);
  }
  static bool read(WireReader& reader, Wire& wire, Variant& value) {
    std::size_t index = 0;
    if (!wire.is_array() || wire.size() != 2) return reader.refuse("a choice with its value", wire);
    if (!reader.read(wire[0], index)) return false;
    return readChoice(reader, wire, index, value, std::index_sequence_for<Types...>());
  }

 private:
  template <std::size_t... Indices>
  static bool readChoice(WireReader& reader, Wire& wire, std::size_t index, Variant& value,
                         std::index_sequence<Indices...>) {
    bool known = false, good = false;
    ((index == Indices ? (known = true, good = reader.read(wire[1], value.template emplace<Indices>())) : false), ...);
    return known ? good : reader.refuse("a known choice", wire[0]);
  }
};

}  // namespace kerf::inline process
