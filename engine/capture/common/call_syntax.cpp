#include "engine/capture/common/call_syntax.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace kerf::inline capture {
namespace {

Result<CallArgument> parseArgument(PythonLexer& lexer, PythonParser& parser) {
  CallArgument argument;
  std::size_t start = lexer.offset();
  KERF_TRY(argument.value, parser.expression());
  if (argument.value.kind == PythonKind::Name && lexer.accept("=")) {
    argument.keyword = std::move(argument.value.text);
    start = lexer.offset();
    KERF_TRY(argument.value, parser.expression());
  }
  argument.text = lexer.source().substr(start, lexer.lastEnd() - start);
  return argument;
}

using Arithmetic = Result<std::int64_t> (*)(std::int64_t, std::int64_t, int line);

std::unexpected<Error> overflow(int line) {
  return failAtLine(line, "this size does not fit 64 bits", ErrorCode::TooLarge);
}

Result<std::int64_t> addSizes(std::int64_t a, std::int64_t b, int line) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return overflow(line);
  return sum;
}

Result<std::int64_t> subtractSizes(std::int64_t a, std::int64_t b, int line) {
  std::int64_t difference = 0;
  if (__builtin_sub_overflow(a, b, &difference)) return overflow(line);
  return difference;
}

Result<std::int64_t> multiplySizes(std::int64_t a, std::int64_t b, int line) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return overflow(line);
  return product;
}

/// Python's rounding: towards minus infinity.
Result<std::int64_t> divideSizes(std::int64_t a, std::int64_t b, int line) {
  if (b == 0) return failAtLine(line, "this size divides by zero");
  if (b == -1) return subtractSizes(0, a, line);
  return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

Result<std::int64_t> remainder(std::int64_t a, std::int64_t b, int line) {
  if (b == 0) return failAtLine(line, "this size divides by zero");
  if (b == -1) return 0;
  const std::int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/// PyTorch writes "s0**2" for the strides of square tensors.
Result<std::int64_t> power(std::int64_t base, std::int64_t exponent, int line) {
  if (exponent < 0) return failAtLine(line, "this size has a negative exponent");
  std::int64_t value = 1;
  for (std::int64_t i = 0; i < exponent && value != 0 && base != 1; ++i) {
    if (base == -1) return exponent % 2 == 0 ? 1 : -1;
    KERF_TRY(value, multiplySizes(value, base, line));
  }
  return value;
}

Result<std::int64_t> maximum(std::int64_t a, std::int64_t b, int) { return std::max(a, b); }
Result<std::int64_t> minimum(std::int64_t a, std::int64_t b, int) { return std::min(a, b); }

struct Operation {
  std::string_view name;
  Arithmetic apply;
};

constexpr Operation operations[] = {
    {"+", addSizes},  {"-", subtractSizes}, {"*", multiplySizes},      {"//", divideSizes},
    {"%", remainder}, {"Max", maximum},     {"max", maximum},          {"Min", minimum},
    {"min", minimum}, {"Mod", remainder},   {"FloorDiv", divideSizes}, {"**", power},
};

Result<std::int64_t> apply(std::string_view name, std::int64_t a, std::int64_t b, int line) {
  for (const Operation& operation : operations)
    if (operation.name == name) return operation.apply(a, b, line);
  return failAtLine(line, fmt::format("'{}' is not known in a size", name));
}

Result<std::int64_t> evaluateCall(const PythonExpression& call, const Symbols& symbols) {
  if (call.positionalCount() == 0 || !call.keywords.empty() || call.items[0].kind != PythonKind::Name)
    return failAtLine(call.line, "this size is a call that is not known");
  const std::string& name = call.items[0].text;
  if (std::none_of(std::begin(operations), std::end(operations), [&](const Operation& o) { return o.name == name; }))
    return failAtLine(call.line, fmt::format("'{}' is not known in a size", name));
  KERF_TRY(std::int64_t value, evaluateInteger(call.positional(0), symbols));
  for (std::size_t i = 1; i < call.positionalCount(); ++i) {
    KERF_TRY(const std::int64_t next, evaluateInteger(call.positional(i), symbols));
    KERF_TRY(value, apply(name, value, next, call.line));
  }
  return value;
}

Result<std::int64_t> literal(const PythonExpression& expression, std::string_view sign = {}) {
  std::string digits = std::string(sign) + expression.text;
  std::erase(digits, '_');
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (problem == std::errc::result_out_of_range) return overflow(expression.line);
  if (problem != std::errc() || end != digits.data() + digits.size())
    return failAtLine(expression.line, fmt::format("'{}' is not a decimal integer", digits));
  return value;
}

Result<std::int64_t> symbolValue(const PythonExpression& name, const Symbols& symbols) {
  const auto found = symbols.find(name.text);
  if (found != symbols.end()) return found->second;
  return failAtLine(name.line, fmt::format("the name '{}' is not defined", name.text));
}

}  // namespace

std::unexpected<Error> failAtLine(int line, std::string message, ErrorCode code) {
  return fail(Error{code, std::move(message), {}, line, {}, {}});
}

const CallArgument* CallSyntax::find(std::size_t position, std::string_view keyword) const {
  std::size_t index = 0;
  for (const CallArgument& argument : arguments) {
    if (argument.keyword.empty() ? index++ == position : argument.keyword == keyword) return &argument;
  }
  return nullptr;
}

Result<CallSyntax> parseCall(PythonLexer& lexer) {
  CallSyntax call;
  PythonParser parser(lexer);
  call.line = lexer.peek().line;
  do {
    if (lexer.peek().kind != PythonTokenKind::Name) return fail(lexer.errorHere("a name"));
    call.function += (call.function.empty() ? "" : ".") + std::string(lexer.take().text);
  } while (lexer.accept("."));
  if (!lexer.accept("(")) return fail(lexer.errorHere("'('"));
  const std::size_t start = lexer.offset();
  while (!lexer.peek().is(")")) {
    KERF_TRY(CallArgument argument, parseArgument(lexer, parser));
    call.arguments.push_back(std::move(argument));
    if (!lexer.accept(",")) break;
  }
  call.text = lexer.source().substr(start, lexer.offset() - start);
  if (!lexer.accept(")")) return fail(lexer.errorHere("',' or ')'"));
  return call;
}

Result<std::int64_t> evaluateInteger(const PythonExpression& expression, const Symbols& symbols) {
  switch (expression.kind) {
    case PythonKind::Integer:
      return literal(expression);
    case PythonKind::Name:
      return symbolValue(expression, symbols);
    case PythonKind::Call:
      return evaluateCall(expression, symbols);
    case PythonKind::Unary: {
      if (expression.text == "-" && expression.items.at(0).kind == PythonKind::Integer)
        return literal(expression.items[0], "-");
      KERF_TRY(const std::int64_t value, evaluateInteger(expression.items.at(0), symbols));
      if (expression.text == "-") return subtractSizes(0, value, expression.line);
      if (expression.text == "+") return value;
      break;
    }
    case PythonKind::Binary: {
      if (expression.items.size() != 2) break;
      KERF_TRY(const std::int64_t left, evaluateInteger(expression.items[0], symbols));
      KERF_TRY(const std::int64_t right, evaluateInteger(expression.items[1], symbols));
      return apply(expression.text, left, right, expression.line);
    }
    default:
      break;
  }
  return failAtLine(expression.line, fmt::format("an integer was expected, found {}", describePython(expression)));
}

Result<Sizes> evaluateIntegers(const PythonExpression& expression, const Symbols& symbols) {
  Sizes values;
  if (expression.kind != PythonKind::Tuple && expression.kind != PythonKind::List) {
    KERF_TRY(const std::int64_t single, evaluateInteger(expression, symbols));
    return Sizes{single};
  }
  for (const PythonExpression& item : expression.items) {
    KERF_TRY(const std::int64_t value, evaluateInteger(item, symbols));
    values.push_back(value);
  }
  return values;
}

bool isSymbolic(const PythonExpression& expression) {
  if (expression.kind == PythonKind::Integer) return false;
  const bool isSigned = expression.kind == PythonKind::Unary && (expression.text == "-" || expression.text == "+");
  if (isSigned || expression.kind == PythonKind::Tuple || expression.kind == PythonKind::List)
    return std::any_of(expression.items.begin(), expression.items.end(), isSymbolic);
  return true;
}

std::vector<std::string> itemTexts(std::string_view text) {
  if (text.size() < 2) return {};
  text = text.substr(1, text.size() - 2);
  std::vector<std::string> items;
  const auto add = [&](std::string_view item) {
    const std::size_t first = item.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return;
    items.emplace_back(item.substr(first, item.find_last_not_of(" \t\r\n") - first + 1));
  };
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '(' || text[at] == '[') ++depth;
    if (text[at] == ')' || text[at] == ']') --depth;
    if (text[at] != ',' || depth != 0) continue;
    add(text.substr(start, at - start));
    start = at + 1;
  }
  add(text.substr(start));
  return items;
}

Result<bool> booleanOf(const CallArgument& argument) {
  const PythonExpression& value = argument.value;
  if (value.kind == PythonKind::Constant && value.text == "True") return true;
  if (value.kind == PythonKind::Constant && value.text == "False") return false;
  return failAtLine(value.line, fmt::format("'{}' must be True or False", argument.keyword));
}

Result<std::string> stringOf(const PythonExpression& expression) {
  if (expression.kind == PythonKind::String) return expression.text;
  return failAtLine(expression.line, fmt::format("a string was expected, found {}", describePython(expression)));
}

Result<DType> dtypeOf(const PythonExpression& expression) {
  if (expression.kind == PythonKind::Name)
    if (const auto dtype = dtypeFromTorchName(expression.text)) return *dtype;
  return failAtLine(expression.line, fmt::format("{} is not a dtype that is known here", describePython(expression)));
}

Result<Device> deviceOf(const PythonExpression& expression) {
  PythonExpression call = expression;
  if (expression.kind == PythonKind::String) {  // 'cuda:0' means torch.device('cuda:0')
    PythonExpression callee;
    callee.kind = PythonKind::Name;
    callee.text = "torch.device";
    call.kind = PythonKind::Call;
    call.text.clear();
    call.items = {std::move(callee), expression};
  }
  const auto argument = pythonToArgument(call);
  if (argument)
    if (const Device* device = argument->as<Device>()) return *device;
  return failAtLine(expression.line, fmt::format("{} is not a device", describePython(expression)));
}

}  // namespace kerf::inline capture
