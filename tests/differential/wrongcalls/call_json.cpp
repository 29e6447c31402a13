#include "tests/differential/wrongcalls/call_json.h"

#include <nlohmann/json.hpp>

namespace kerf::wrongcalls {
namespace {

using Json = nlohmann::json;

struct JsonWriter {
  std::vector<const Storage*> storages;
  Json bytes = Json::array();

  std::size_t storageOf(const Storage& storage) {
    for (std::size_t i = 0; i < storages.size(); ++i)
      if (storages[i] == &storage) return i;
    storages.push_back(&storage);
    std::string hex;
    for (const std::byte byte : storage.view()) hex += fmt::format("{:02x}", unsigned(byte));
    bytes.push_back(std::move(hex));
    return storages.size() - 1;
  }

  Json tensor(const Tensor& t) {
    return {{"tensor", storageOf(*t.storage())},
            {"dtype", std::string(dtypeInfo(t.dtype()).torchName.substr(6))},
            {"shape", t.sizes()},
            {"stride", t.strides()},
            {"offset", t.offset()}};
  }

  Json write(const Value& value) {
    if (value.isTensor()) return tensor(value.tensor());
    if (value.isList()) {
      Json items = Json::array();
      for (const Value& item : value.list()) items.push_back(write(item));
      return items;
    }
    if (const auto* flag = value.as<bool>()) return *flag;
    if (const auto* number = value.as<std::int64_t>()) return {{"int", *number}};
    if (const auto* number = value.as<double>()) return {{"float", fmt::to_string(*number)}};
    if (const auto* text = value.as<std::string>()) return {{"str", *text}};
    if (const auto* dtype = value.as<DType>()) return {{"dtype", std::string(dtypeInfo(*dtype).torchName.substr(6))}};
    if (value.isNone()) return nullptr;
    return {{"other", value.variant().index()}};
  }
};

/// Values of a line; `complete` is false after one that lines do not say.
struct JsonReader {
  std::vector<StoragePtr> storages{};
  bool complete = true;

  void readStorages(const Json& list) {
    for (const Json& item : list) {
      const auto text = item.get<std::string>();
      auto storage = Storage::allocate(std::int64_t(text.size() / 2));
      for (std::size_t i = 0; storage && i + 1 < text.size(); i += 2)
        (*storage)->data()[i / 2] = std::byte(std::stoi(text.substr(i, 2), nullptr, 16));
      storages.push_back(storage ? *storage : nullptr);
    }
  }

  Value tensor(const Json& json) {
    const auto dtype = dtypeFromTorchName(json.at("dtype").get<std::string>());
    const std::size_t at = json.at("tensor").get<std::size_t>();
    complete = complete && dtype && at < storages.size();
    if (!complete) return {};
    const auto sizes = [&](const char* key) {
      Sizes result;
      for (const Json& item : json.at(key)) result.push_back(item.get<std::int64_t>());
      return result;
    };
    return Value(Tensor(storages[at], *dtype, sizes("shape"), sizes("stride"), json.at("offset").get<std::int64_t>()));
  }

  Value read(const Json& json) {
    if (json.is_null()) return {};
    if (json.is_boolean()) return Value(json.get<bool>());
    if (json.is_array()) {
      ValueList items;
      for (const Json& item : json) items.push_back(read(item));
      return Value(std::move(items));
    }
    if (json.contains("tensor")) return tensor(json);
    if (json.contains("int")) return Value(json["int"].get<std::int64_t>());
    if (json.contains("float")) return Value(std::strtod(json["float"].get<std::string>().c_str(), nullptr));
    if (json.contains("str")) return Value(json["str"].get<std::string>());
    const auto dtype = json.contains("dtype") ? dtypeFromTorchName(json["dtype"].get<std::string>()) : std::nullopt;
    complete = complete && dtype;
    return dtype ? Value(*dtype) : Value();
  }
};

}  // namespace

std::optional<CallCase> callOfJson(std::string_view line) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) return {};
  CallCase call;
  call.op = findOp(OpTarget(json.at("op").get<std::string>()));
  if (!call.op) return {};
  JsonReader reader;
  reader.readStorages(json.at("storages"));
  for (const Json& item : json.at("args")) call.args.push_back(reader.read(item));
  for (const auto& [name, item] : json.at("kwargs").items()) call.kwargs.emplace_back(name, reader.read(item));
  for (const Json& item : json.value("wrongs", Json::array())) call.wrongs.push_back(item.get<std::string>());
  return reader.complete ? std::optional(std::move(call)) : std::nullopt;
}

std::string jsonOf(const CallCase& call, std::string_view refusal) {
  JsonWriter writer;
  Json json{{"op", call.op->schema.qualifiedName()}, {"args", Json::array()}, {"kwargs", Json::object()}};
  for (const Value& value : call.args) json["args"].push_back(writer.write(value));
  for (const auto& [name, value] : call.kwargs) json["kwargs"][name] = writer.write(value);
  json["storages"] = std::move(writer.bytes);
  json["wrongs"] = call.wrongs;
  if (has(call.op->traits, OpTrait::Pointwise)) json["pointwise"] = true;
  if (!refusal.empty()) json["refusal"] = refusal;
  return json.dump();
}

}  // namespace kerf::wrongcalls
