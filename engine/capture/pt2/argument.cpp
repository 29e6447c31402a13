#include "engine/capture/pt2/argument.h"

#include <array>

#include "engine/capture/common/call_syntax.h"
#include "engine/capture/pt2/schema.h"
#include "engine/symbolic/symbolic.h"

namespace kerf::inline capture::pt2 {
namespace {

template <class Read>
Result<Argument> readList(JsonCursor& json, Read read) {
  ArgumentList items;
  KERF_CHECK(json.forEachElement([&]() -> Result<void> {
    KERF_TRY(Argument item, read(json));
    items.push_back(std::move(item));
    return {};
  }));
  return Argument::list(std::move(items));
}

Result<Argument> readInt(JsonCursor& json) {
  KERF_TRY(const std::int64_t value, json.integer());
  return Argument(value);
}

Result<Argument> readFloat(JsonCursor& json) {
  KERF_TRY(const double value, json.number());
  return Argument(value);
}

Result<Argument> readBool(JsonCursor& json) {
  KERF_TRY(const bool value, json.boolean());
  return Argument(value);
}

Result<Argument> readString(JsonCursor& json) {
  KERF_TRY(std::string value, json.string());
  return Argument(std::move(value));
}

Result<Argument> readNone(JsonCursor& json) {
  KERF_CHECK(json.skip());  // a bool now, an empty tuple in older schemas
  return Argument();
}

Result<Argument> readScalarType(JsonCursor& json) {
  KERF_TRY(const DType dtype, readDtype(json));
  return Argument(dtype);
}

template <class T>
Result<Argument> readEnum(JsonCursor& json, std::optional<T> (*valueOf)(std::int64_t), std::string_view what) {
  KERF_TRY(const std::int64_t number, json.integer());
  const auto value = valueOf(number);
  if (!value) return json.failHere(fmt::format("{} is not a {} of the schema", number, what));
  return Argument(*value);
}

Result<Argument> readLayout(JsonCursor& json) { return readEnum(json, layoutOf, "layout"); }
Result<Argument> readMemoryFormat(JsonCursor& json) { return readEnum(json, memoryFormatOf, "memory format"); }

Result<Argument> readDeviceArgument(JsonCursor& json) {
  KERF_TRY(Device device, readDevice(json));
  return Argument(std::move(device));
}

Result<Argument> readOperator(JsonCursor& json) {
  KERF_TRY(std::string name, json.string());
  if (!isDottedName(name)) return json.failHere("the name of an operator expected");
  return Argument(PythonName{std::move(name)});
}

Result<Argument> readComplex(JsonCursor& json) {
  ComplexNumber value;
  KERF_CHECK(json.forEachMember([&](const std::string& key) -> Result<void> {
    KERF_TRY((key == "real" ? value.real : value.imag), json.number());
    return {};
  }));
  return Argument(value);
}

Result<Argument> readInts(JsonCursor& json) { return readList(json, readInt); }
Result<Argument> readFloats(JsonCursor& json) { return readList(json, readFloat); }
Result<Argument> readBools(JsonCursor& json) { return readList(json, readBool); }
Result<Argument> readStrings(JsonCursor& json) { return readList(json, readString); }
Result<Argument> readIntLists(JsonCursor& json) { return readList(json, readInts); }

struct PlainRow {
  std::string_view key;
  Result<Argument> (*read)(JsonCursor&);
};
constexpr auto plainRows = std::to_array<PlainRow>({{"as_none", readNone},
                                                    {"as_int", readInt},
                                                    {"as_ints", readInts},
                                                    {"as_float", readFloat},
                                                    {"as_floats", readFloats},
                                                    {"as_string", readString},
                                                    {"as_strings", readStrings},
                                                    {"as_bool", readBool},
                                                    {"as_bools", readBools},
                                                    {"as_scalar_type", readScalarType},
                                                    {"as_memory_format", readMemoryFormat},
                                                    {"as_layout", readLayout},
                                                    {"as_device", readDeviceArgument},
                                                    {"as_operator", readOperator},
                                                    {"as_complex", readComplex},
                                                    {"as_int_lists", readIntLists}});

/// {"as_int": 4}, {"as_bool": true} (1), a bare 4 (older schemas) or null; other kinds of hint give none.
Result<std::optional<std::int64_t>> readHint(JsonCursor& json) {
  std::optional<std::int64_t> hint;
  if (json.peek() != '{') {
    if (json.null()) return hint;
    KERF_TRY(hint, json.integer());
    return hint;
  }
  KERF_CHECK(json.forEachMember([&](const std::string& key) -> Result<void> {
    if (key == "as_int") {
      KERF_TRY(hint, json.integer());
    } else if (key == "as_bool") {
      KERF_TRY(const bool value, json.boolean());
      hint = value ? 1 : 0;
    } else {
      KERF_CHECK(json.skip());
    }
    return {};
  }));
  return hint;
}

Result<SymExpr> readExpression(JsonCursor& json) {
  SymExpr symbol;
  KERF_CHECK(json.forEachMember([&](const std::string& key) -> Result<void> {
    if (key == "expr_str") {
      KERF_TRY(const std::string text, json.string());
      const auto expression = Symbolic::parse(text);  // srepr since schema 8.8 (2.8), str() before
      if (!expression) return json.failHere(fmt::format("'{}' is not a symbolic expression", text));
      symbol.text = expression->text();
    } else if (key == "hint") {
      KERF_TRY(symbol.hint, readHint(json));
    } else {
      KERF_CHECK(json.skip());
    }
    return {};
  }));
  if (symbol.text.empty()) return json.failHere("a symbolic expression without text");
  return symbol;
}

Result<std::vector<Dim>> readDims(JsonCursor& json) {
  std::vector<Dim> dims;
  KERF_CHECK(json.forEachElement([&]() -> Result<void> {
    KERF_TRY(Dim dim, readSymbol(json));
    dims.push_back(std::move(dim));
    return {};
  }));
  return dims;
}

Result<void> readMetaField(JsonCursor& json, std::string_view key, TensorMeta& meta, std::int64_t* layout) {
  if (key == "dtype") {
    KERF_TRY(meta.dtype, readDtype(json));
  } else if (key == "sizes") {
    KERF_TRY(meta.sizes, readDims(json));
  } else if (key == "strides") {
    KERF_TRY(meta.strides, readDims(json));
  } else if (key == "storage_offset") {
    KERF_TRY(const SymExpr offset, readSymbol(json));
    meta.storageOffset = offset.hint.value_or(0);
  } else if (key == "device") {
    KERF_TRY(meta.device, readDevice(json));
  } else if (key == "requires_grad") {
    KERF_TRY(meta.requiresGrad, json.boolean());
  } else if (key == "layout" && layout != nullptr) {
    KERF_TRY(*layout, json.integer());
  } else {
    KERF_CHECK(json.skip());
  }
  return {};
}

}  // namespace

Result<SymExpr> readSymbol(JsonCursor& json) {
  SymExpr symbol;
  KERF_CHECK(json.forEachMember([&](const std::string& key) -> Result<void> {
    if (key == "as_int") {
      KERF_TRY(symbol.hint, json.integer());
    } else if (key == "as_expr") {
      KERF_TRY(symbol, readExpression(json));
    } else {
      KERF_TRY(const std::string_view value, json.skip());  // a number or bool of SymFloat and SymBool
      if (isExpression(value)) symbol.text = value;
    }
    return {};
  }));
  return symbol;
}

namespace {

/// As Python text names them: what is written as a repro must read back.
bool isDeviceType(const std::string& type) {
  if (type == "cpu" || type == "cuda") return true;
  const auto text = parsePythonExpression(pythonString(type));
  return isDottedName(type) && text && deviceOf(*text);
}

}  // namespace

Result<Device> readDevice(JsonCursor& json) {
  Device device;
  KERF_CHECK(json.forEachMember([&](const std::string& key) -> Result<void> {
    if (key == "type") {
      KERF_TRY(device.type, json.string());
      if (!isDeviceType(device.type)) return json.failHere("the type of a device expected");
    } else if (key == "index" && !json.null()) {
      KERF_TRY(const std::int64_t index, json.integer());
      if (index < -1 || index > INT16_MAX) return json.failHere("no device has this index");
      device.index = int(index);
    } else if (key != "index") {
      KERF_CHECK(json.skip());
    }
    return {};
  }));
  return device;
}

Result<DType> readDtype(JsonCursor& json) {
  KERF_TRY(const std::int64_t number, json.integer());
  if (const auto dtype = dtypeOf(number)) return *dtype;
  return json.failHere(fmt::format("{} is not a dtype of the schema", number));
}

Result<TensorMeta> readTensorMeta(JsonCursor& json, std::int64_t* layout) {
  TensorMeta meta;
  KERF_CHECK(json.forEachMember([&](const std::string& key) { return readMetaField(json, key, meta, layout); }));
  if (meta.sizes.size() != meta.strides.size())
    return json.failHere(
        fmt::format("a tensor of {} dimensions has {} strides", meta.sizes.size(), meta.strides.size()));
  for (const Dim& size : meta.sizes)
    if (size.hint && *size.hint < 0) return json.failHere(fmt::format("a tensor has the size {}", *size.hint));
  return meta;
}

Result<std::string> readName(JsonCursor& json) {
  std::string name;
  KERF_CHECK(json.forEachMember([&](const std::string& key) -> Result<void> {
    if (key != "name") {
      KERF_CHECK(json.skip());
      return {};
    }
    KERF_TRY(name, json.string());
    return {};
  }));
  return name;
}

Result<std::optional<Argument>> readPlainArgument(JsonCursor& json, std::string_view key) {
  for (const PlainRow& row : plainRows) {
    if (row.key != key) continue;
    KERF_TRY(Argument value, row.read(json));
    return std::optional(std::move(value));
  }
  return std::optional<Argument>();
}

}  // namespace kerf::inline capture::pt2
