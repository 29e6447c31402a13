#include <charconv>

#include "engine/ops/core/op_registry.h"

namespace kerf::inline ops {
namespace {

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// Parts of `text` between `separator`s that are outside brackets and quotes.
std::vector<std::string_view> splitOutside(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  int depth = 0;
  char quote = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0)
      quote = c == quote ? 0 : quote;
    else if (c == '\'' || c == '"')
      quote = c;
    else if (c == '(' || c == '[')
      ++depth;
    else if (c == ')' || c == ']')
      --depth;
    else if (c == separator && depth == 0) {
      parts.push_back(trim(text.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  if (const auto last = trim(text.substr(begin)); !last.empty() || !parts.empty()) parts.push_back(last);
  return parts;
}

struct NamedConstant {
  std::string_view text;
  Argument value;
};

Result<Argument> parseConstant(std::string_view text, std::string_view type);

Result<Argument> parseListConstant(std::string_view text, std::string_view type) {
  ArgumentList items;
  for (std::string_view part : splitOutside(text.substr(1, text.size() - 2), ',')) {
    KERF_TRY(Argument item, parseConstant(part, type));
    items.push_back(std::move(item));
  }
  return Argument::list(std::move(items));
}

Result<Argument> parseNumber(std::string_view text) {
  std::int64_t integer = 0;
  const char* end = text.data() + text.size();
  if (const auto [at, error] = std::from_chars(text.data(), end, integer); error == std::errc() && at == end)
    return Argument(integer);
  double number = 0;
  if (const auto [at, error] = std::from_chars(text.data(), end, number); error == std::errc() && at == end)
    return Argument(number);
  return fail(ErrorCode::BadInput, "'{}' is not a schema constant", text);
}

/// A default value. A ScalarType default is written as ATen's number for it; the schemas in use only have 4 (int64).
Result<Argument> parseConstant(std::string_view text, std::string_view type) {
  static const NamedConstant names[] = {{"None", Argument()},
                                        {"True", Argument(true)},
                                        {"False", Argument(false)},
                                        {"Mean", Argument(1)},
                                        {"contiguous_format", Argument(MemoryFormat::Contiguous)},
                                        {"long", Argument(DType::Int64)},
                                        {"inf", Argument(std::numeric_limits<double>::infinity())}};
  for (const auto& name : names)
    if (name.text == text) return name.value;
  if (text.size() >= 2 && (text[0] == '\'' || text[0] == '"'))
    return Argument(std::string(text.substr(1, text.size() - 2)));
  if (text.size() >= 2 && text[0] == '[' && text.back() == ']') return parseListConstant(text, type);
  if (type.starts_with("ScalarType") && text == "4") return Argument(DType::Int64);
  if (type.starts_with("MemoryFormat") && text == "0") return Argument(MemoryFormat::Contiguous);
  KERF_TRY(Argument number, parseNumber(text));
  if (type.starts_with("float"))
    if (const auto* integer = number.as<std::int64_t>()) return Argument(double(*integer));
  return number;
}

/// Takes "(a!)" out of "Tensor(a!)[]" and returns what stood inside ("a!", and "a" of "a -> *").
std::string takeAlias(std::string& type) {
  const auto open = type.find('(');
  const auto close = type.find(')');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  std::string alias = type.substr(open + 1, close - open - 1);
  type.erase(open, close - open + 1);
  return alias.substr(0, alias.find(' '));
}

Result<SchemaArgument> parseArgument(std::string_view text, bool keywordOnly) {
  SchemaArgument result;
  result.keywordOnly = keywordOnly;
  const auto halves = splitOutside(text, '=');
  const auto words = splitOutside(halves[0], ' ');
  if (words.size() != 2 || halves.size() > 2) return fail(ErrorCode::BadInput, "'{}' is not a schema argument", text);
  result.type = words[0];
  result.name = words[1];
  result.alias = takeAlias(result.type);
  if (halves.size() == 2) {
    KERF_TRY(result.defaultValue, parseConstant(halves[1], result.type));
  }
  return result;
}

/// Position of the bracket that closes the one at `open`; npos if none does.
std::size_t closingBracket(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0) return i;
  }
  return std::string_view::npos;
}

Result<void> parseArguments(std::string_view text, OpSchema& schema) {
  bool keywordOnly = false;
  for (std::string_view part : splitOutside(text, ',')) {
    if (part == "*") {
      keywordOnly = true;
      continue;
    }
    KERF_TRY(SchemaArgument argument, parseArgument(part, keywordOnly));
    schema.arguments.push_back(std::move(argument));
  }
  return {};
}

void parseReturns(std::string_view text, OpSchema& schema) {
  text = trim(text);
  const bool tuple = text.size() >= 2 && text.front() == '(' && text.back() == ')';
  for (std::string_view part : splitOutside(tuple ? text.substr(1, text.size() - 2) : text, ','))
    schema.returns.emplace_back(splitOutside(part, ' ').front());
}

}  // namespace

std::string OpSchema::qualifiedName() const {
  std::string result = name;
  if (const auto colons = result.find("::"); colons != std::string::npos) result.replace(colons, 2, ".");
  if (name.starts_with("operator::") || name.starts_with("torch::") || name.starts_with("math::")) return result;
  return result + "." + (overload.empty() ? "default" : overload);
}

Result<OpSchema> parseSchema(std::string_view text) {
  OpSchema schema;
  schema.text = text;
  const auto open = text.find('(');
  const auto close = open == std::string_view::npos ? open : closingBracket(text, open);
  const auto arrow = close == std::string_view::npos ? close : text.find("->", close);
  if (arrow == std::string_view::npos)
    return fail(ErrorCode::BadInput, "'{}' is not an op schema: expected 'name(arguments) -> returns'", text);
  const std::string_view fullName = trim(text.substr(0, open));
  const auto dot = fullName.find('.');
  schema.name = fullName.substr(0, dot);
  if (dot != std::string_view::npos) schema.overload = fullName.substr(dot + 1);
  if (schema.name.empty()) return fail(ErrorCode::BadInput, "'{}' is not an op schema: it has no name", text);
  KERF_CHECK(parseArguments(text.substr(open + 1, close - open - 1), schema));
  parseReturns(text.substr(arrow + 2), schema);
  return schema;
}

}  // namespace kerf::inline ops
