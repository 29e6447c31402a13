#include "engine/capture/pt2/argument_writer.h"

#include <algorithm>

#include "engine/capture/common/json.h"
#include "engine/capture/pt2/schema.h"
#include "engine/symbolic/srepr.h"

namespace kerf::inline capture::pt2 {
namespace {

std::string object(std::string_view key, std::string_view value) { return fmt::format("{{\"{}\": {}}}", key, value); }

bool isSymbolKey(std::string_view key) { return key.starts_with("as_sym_"); }

class ArgumentWriter {
 public:
  explicit ArgumentWriter(const ArgumentNames& names) : m_names(names) {}

  Result<std::string> write(const Argument& argument) const {
    return std::visit([&](const auto& value) { return one(value); }, argument.variant());
  }

 private:
  using Text = Result<std::string>;
  Text one(std::monostate) const { return object("as_none", "true"); }
  Text one(bool value) const { return object("as_bool", value ? "true" : "false"); }
  Text one(std::int64_t value) const { return object("as_int", std::to_string(value)); }
  Text one(double value) const { return object("as_float", jsonFloat(value)); }
  Text one(const std::string& value) const { return object("as_string", quotedJson(value)); }
  Text one(DType value) const {
    if (numberOf(value) == 0)
      return fail(ErrorCode::BadInput, "{} has no place in the schema", dtypeInfo(value).torchName);
    return object("as_scalar_type", std::to_string(numberOf(value)));
  }
  Text one(const Device& value) const { return object("as_device", deviceJson(value)); }
  Text one(Layout value) const { return object("as_layout", std::to_string(numberOf(value))); }
  Text one(MemoryFormat value) const { return object("as_memory_format", std::to_string(numberOf(value))); }
  Text one(const ComplexNumber& value) const {
    return object("as_complex",
                  fmt::format("{{\"real\": {}, \"imag\": {}}}", jsonFloat(value.real), jsonFloat(value.imag)));
  }
  Text one(const PythonName& value) const { return object("as_operator", quotedJson(value.text)); }
  Text one(NodeId node) const {
    KERF_TRY(const std::string value, m_names.valueOf(node));
    const std::string key = m_names.keyOf(node);
    return object(key, isSymbolKey(key) ? object("as_name", value) : value);
  }
  Text one(const SymExpr& value) const {
    if (value.hint) return object("as_int", std::to_string(*value.hint));
    return fail(ErrorCode::BadInput, "the symbol '{}' has no value", value.text);
  }
  Text one(Ellipsis) const { return fail(ErrorCode::BadInput, "'...' has no place in an exported program"); }
  Text one(const SubgraphRef& value) const {
    return fail(ErrorCode::BadInput, "the nested graph '{}' is used without a get_attr node", value.path);
  }
  Text one(const std::shared_ptr<const SliceArgument>&) const {
    return fail(ErrorCode::BadInput, "a slice has no place in an exported program");
  }
  Text one(const std::shared_ptr<const DictArgument>& dict) const {
    std::vector<std::string> items;
    for (const auto& [key, value] : dict->items) {
      KERF_TRY(const std::string text, write(value));
      items.push_back(quotedJson(key) + ": " + text);
    }
    return object("as_string_to_argument", "{" + joined(items) + "}");
  }
  Text one(const std::shared_ptr<const ListArgument>& list) const { return listJson(list->items); }

  template <class T>
  static bool all(const ArgumentList& items) {
    return std::ranges::all_of(items, [](const Argument& item) { return item.as<T>() != nullptr; });
  }
  bool allTensors(const ArgumentList& items) const {
    return std::ranges::all_of(items, [&](const Argument& item) {
      const auto* node = item.as<NodeId>();
      return node != nullptr && m_names.keyOf(*node) == "as_tensor";
    });
  }

  template <class Format>
  static std::string list(std::string_view key, const ArgumentList& items, Format format) {
    std::vector<std::string> texts;
    for (const Argument& item : items) texts.push_back(format(item));
    return object(key, "[" + joined(texts) + "]");
  }

  Text listJson(const ArgumentList& items) const {
    if (all<std::int64_t>(items))
      return list("as_ints", items, [](const Argument& item) { return std::to_string(*item.as<std::int64_t>()); });
    if (all<bool>(items))
      return list("as_bools", items, [](const Argument& item) { return *item.as<bool>() ? "true" : "false"; });
    if (all<std::string>(items))
      return list("as_strings", items, [](const Argument& item) { return quotedJson(*item.as<std::string>()); });
    if (all<double>(items))
      return list("as_floats", items, [](const Argument& item) { return jsonFloat(*item.as<double>()); });
    if (std::ranges::all_of(items, [](const Argument& item) { return item.asList() != nullptr; }))
      return listOfLists(items);
    return listOfNodes(items);
  }

  Text listOfLists(const ArgumentList& items) const {
    const auto numeric = [](const Argument& item) { return all<std::int64_t>(item.asList()->items); };
    const auto tensors = [&](const Argument& item) { return allTensors(item.asList()->items); };
    const bool numbers = std::ranges::all_of(items, numeric);
    if (!numbers && !std::ranges::all_of(items, tensors))
      return fail(ErrorCode::BadInput, "a list of lists may hold integers or tensors only");
    std::vector<std::string> texts;
    for (const Argument& item : items) {
      KERF_TRY(std::string text, write(item));
      texts.push_back(text.substr(text.find('['), text.rfind(']') - text.find('[') + 1));
    }
    return object(numbers ? "as_int_lists" : "as_nested_tensors", "[" + joined(texts) + "]");
  }

  static std::unexpected<Error> mixed() {
    return fail(ErrorCode::BadInput, "a list that mixes kinds of values has no place in an exported program");
  }

  Text listOfNodes(const ArgumentList& items) const {
    for (const Argument& item : items)
      if (const auto* node = item.as<NodeId>(); node != nullptr && isSymbolKey(m_names.keyOf(*node)))
        return listOfSymbols(items, m_names.keyOf(*node));
    return listOfTensors(items);
  }

  /// Symbolic numbers among plain ones.
  Text listOfSymbols(const ArgumentList& items, const std::string& key) const {
    std::vector<std::string> texts;
    for (const Argument& item : items) {
      const auto* node = item.as<NodeId>();
      const bool plain =
          item.as<std::int64_t>() != nullptr || item.as<double>() != nullptr || item.as<bool>() != nullptr;
      if (!plain && (node == nullptr || !isSymbolKey(m_names.keyOf(*node)))) return mixed();
      KERF_TRY(std::string text, node != nullptr ? m_names.valueOf(*node) : write(item));
      texts.push_back(node != nullptr ? object("as_name", text) : std::move(text));
    }
    return object(key + "s", "[" + joined(texts) + "]");
  }

  /// Tensors, or optional tensors.
  Text listOfTensors(const ArgumentList& items) const {
    const bool optional = std::ranges::any_of(items, [](const Argument& item) { return item.isNone(); });
    std::vector<std::string> texts;
    for (const Argument& item : items) {
      const auto* node = item.as<NodeId>();
      if (node == nullptr ? !item.isNone() : m_names.keyOf(*node) != "as_tensor") return mixed();
      KERF_TRY(std::string text, node != nullptr ? m_names.valueOf(*node) : write(item));
      texts.push_back(node != nullptr && optional ? object("as_tensor", text) : std::move(text));
    }
    return object(optional ? "as_optional_tensors" : "as_tensors", "[" + joined(texts) + "]");
  }

  const ArgumentNames& m_names;
};

}  // namespace

std::string joined(const std::vector<std::string>& items) { return fmt::format("{}", fmt::join(items, ", ")); }

std::string nameJson(std::string_view name) { return object("name", quotedJson(name)); }

std::string symbolJson(const SymExpr& symbol, std::string_view hint) {
  if (symbol.text.empty()) return object("as_int", std::to_string(symbol.hint.value_or(0)));
  const std::string value = symbol.hint ? object(hint, hint == "as_bool"    ? (*symbol.hint != 0 ? "true" : "false")
                                                       : hint == "as_float" ? jsonFloat(double(*symbol.hint))
                                                                            : std::to_string(*symbol.hint))
                                        : "null";
  const auto expression = Symbolic::parse(symbol.text);
  const std::string text = expression ? sreprOf(*expression) : symbol.text;
  return object("as_expr", fmt::format("{{\"expr_str\": {}, \"hint\": {}}}", quotedJson(text), value));
}

std::string deviceJson(const Device& device) {
  return fmt::format("{{\"type\": {}, \"index\": {}}}", quotedJson(device.type),
                     device.index < 0 ? "null" : std::to_string(device.index));
}

namespace {

/// Those of the meta; row-major where it shows none, as annotations without strides mean it.
std::vector<Dim> stridesOf(const TensorMeta& meta) {
  if (!meta.strides.empty()) return meta.strides;
  std::vector<Dim> strides(meta.sizes.size());
  Symbolic product = Symbolic::integer(1);
  std::optional<std::int64_t> hint = 1;
  for (std::size_t i = strides.size(); i-- > 0;) {
    const auto number = product.asInteger();
    strides[i] = number ? dim(*number) : Dim{product.text(), hint};
    const Dim& size = meta.sizes[i];
    const std::int64_t value = std::max<std::int64_t>(size.hint.value_or(1), 1);
    const auto factor = Symbolic::parse(size.text.empty() ? std::to_string(value) : size.text);
    product = product * factor.value_or(Symbolic::integer(value));
    std::int64_t next = 0;
    const bool known = hint && size.hint && !__builtin_mul_overflow(*hint, value, &next);
    hint = known ? std::optional(next) : std::nullopt;
  }
  return strides;
}

}  // namespace

Result<std::string> tensorMetaJson(const TensorMeta& meta, std::int64_t layout) {
  const auto dims = [](const std::vector<Dim>& values) {
    std::vector<std::string> texts;
    for (const Dim& dim : values) texts.push_back(symbolJson(dim));
    return joined(texts);
  };
  if (numberOf(meta.dtype) == 0)
    return fail(ErrorCode::BadInput, "{} has no place in the schema", dtypeInfo(meta.dtype).torchName);
  return fmt::format(
      "{{\"dtype\": {}, \"sizes\": [{}], \"requires_grad\": {}, \"device\": {}, \"strides\": [{}], \"storage_offset\": "
      "{{\"as_int\": {}}}, \"layout\": {}}}",
      numberOf(meta.dtype), dims(meta.sizes), meta.requiresGrad, deviceJson(meta.device), dims(stridesOf(meta)),
      meta.storageOffset, layout);
}

Result<std::string> argumentJson(const Argument& argument, const ArgumentNames& names) {
  return ArgumentWriter(names).write(argument);
}

}  // namespace kerf::inline capture::pt2
