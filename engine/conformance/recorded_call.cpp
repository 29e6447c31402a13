#include "engine/conformance/recorded_call.h"

#include <charconv>
#include <cmath>
#include <unordered_map>

#include <nlohmann/json.hpp>

#include "engine/support/read_json.h"
#include "engine/tensor/copy.h"

namespace kerf::inline conformance {
namespace {

using Json = nlohmann::json;

struct Reader {
  const SafetensorsFile& tensors;
  std::vector<Tensor>* seen = nullptr;  ///< collects tensors of the arguments

  Result<Sizes> sizes(const Json& list) const {
    Sizes result;
    if (!list.is_array() || list.size() > 64) return fail(ErrorCode::BadInput, "expected a list of sizes");
    for (const Json& item : list) {
      if (!item.is_number_integer() || item.get<std::int64_t>() < 0)
        return fail(ErrorCode::BadInput, "expected a size");
      result.push_back(item.get<std::int64_t>());
    }
    return result;
  }

  /// Contents are saved row-major; the tensor gets the recorded strides and offset.
  Result<Value> tensor(const Json& json) const {
    const Tensor* saved = tensors.find(json.value("tensor", std::string()));
    const auto dtype = dtypeFromTorchName(json.value("dtype", std::string()));
    if (!saved || !dtype)
      return fail(ErrorCode::BadInput, "no tensor '{}' of a known dtype", json.value("tensor", std::string()));
    KERF_TRY(const Sizes shape, sizes(json.at("shape")));
    KERF_TRY(const Sizes strides, sizes(json.at("stride")));
    const auto offset = json.value("offset", std::int64_t{0});
    if (shape.size() != strides.size() || offset < 0 || offset > (1LL << 32) || saved->sizes() != shape ||
        saved->dtype() != *dtype)
      return fail(ErrorCode::BadInput, "the record of '{}' does not fit its data", json.value("tensor", std::string()));
    std::int64_t extent = offset + 1;
    for (std::size_t d = 0; d < shape.size(); ++d) extent += std::max<std::int64_t>(shape[d] - 1, 0) * strides[d];
    KERF_TRY(const Tensor base, Tensor::zeros(*dtype, {extent}));
    const Tensor result = base.viewAs(shape, strides, offset);
    Sizes once = shape, from = saved->strides();
    for (std::size_t d = 0; d < shape.size(); ++d)
      if (strides[d] == 0 && once[d] > 1) once[d] = 1;  // repeated elements need writing once
    KERF_CHECK(copyElements(saved->viewAs(once, from, saved->offset()), result.viewAs(once, strides, offset)));
    if (seen) seen->push_back(result);
    return Value(result);
  }

  Result<Value> list(const Json& json) const {
    ValueList items;
    for (const Json& item : json) {
      KERF_TRY(Value value, read(item));
      items.push_back(std::move(value));
    }
    return Value(std::move(items));
  }

  Result<Value> read(const Json& json) const {
    if (json.is_null()) return Value();
    if (json.is_boolean()) return Value(json.get<bool>());
    if (json.is_array()) return list(json);
    if (!json.is_object() || json.empty())
      return fail(ErrorCode::BadInput, "unexpected value {}", json.dump().substr(0, 80));
    return tagged(json);
  }

  static double number(const std::string& text) {
    if (text == "inf") return std::numeric_limits<double>::infinity();
    if (text == "-inf") return -std::numeric_limits<double>::infinity();
    if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
    double result = 0;
    std::from_chars(text.data(), text.data() + text.size(), result);
    return result;
  }

  Result<Value> tagged(const Json& json) const {
    if (json.contains("tensor")) return tensor(json);
    const std::string& tag = json.begin().key();
    const Json& content = json.begin().value();
    const std::string text = content.is_string() ? content.get<std::string>() : std::string();
    if (tag == "int" && content.is_number_integer()) return Value(content.get<std::int64_t>());
    if (tag == "float") return Value(content.is_number() ? content.get<double>() : number(text));
    if (tag == "bool" && content.is_boolean()) return Value(content.get<bool>());
    if (tag == "str") return Value(text);
    if (tag == "device") return Value(Device{text, -1});
    if (tag == "layout") return Value(Layout::Strided);
    if (tag == "memory_format") return Value(formatNamed(text));
    if (tag == "dtype")
      if (const auto dtype = dtypeFromTorchName(text)) return Value(*dtype);
    return fail(ErrorCode::BadInput, "unexpected value {}", json.dump().substr(0, 80));
  }

  static MemoryFormat formatNamed(std::string_view name) {
    if (name.ends_with("channels_last")) return MemoryFormat::ChannelsLast;
    if (name.ends_with("channels_last_3d")) return MemoryFormat::ChannelsLast3d;
    return name.ends_with("preserve_format") ? MemoryFormat::Preserve : MemoryFormat::Contiguous;
  }
};

Result<void> fill(const Json& json, const SafetensorsFile& tensors, RecordedCall& call) {
  call.id = json.value("id", std::int64_t{0});
  call.op = json.value("op", std::string());
  call.mutates = json.value("mutates", false);
  if (call.op.empty() || !json.contains("args") || !json.contains("out"))
    return fail(ErrorCode::BadInput, "a record needs 'op', 'args' and 'out'");
  const Reader arguments{tensors, &call.tensorArguments};
  KERF_TRY(const Value args, arguments.read(json.at("args")));
  if (args.isList()) call.args = args.list();
  const Json kwargs = json.value("kwargs", Json::object());
  for (auto entry = kwargs.begin(); entry != kwargs.end(); ++entry) {
    KERF_TRY(Value value, arguments.read(entry.value()));
    call.kwargs.emplace_back(entry.key(), std::move(value));
  }
  const Reader results{tensors};
  KERF_TRY(const Value out, results.read(json.at("out")));
  if (out.isList()) call.out = out.list();
  for (const Json& key : json.value("post", Json::array())) {
    const Tensor* saved = key.is_string() ? tensors.find(key.get<std::string>()) : nullptr;
    if (!saved) return fail(ErrorCode::BadInput, "no tensor {}", key.dump());
    call.post.push_back(*saved);
  }
  return {};
}

}  // namespace

Result<RecordedCall> readRecordedCall(std::string_view line, const SafetensorsFile& tensors) {
  RecordedCall call;
  try {
    const Json tree = readJson<Json>(line);
    if (tree.is_discarded()) return fail(ErrorCode::BadInput, "the line {}", whyNoJson(line));
    KERF_CHECK(fill(tree, tensors, call));
  } catch (const Json::exception& error) {
    return fail(ErrorCode::BadInput, "{}", error.what());
  }
  return call;
}

}  // namespace kerf::inline conformance
