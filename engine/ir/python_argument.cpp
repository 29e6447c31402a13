// pythonToArgument: literals of the FX dialect of Python as Arguments.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "engine/ir/python_constants.h"
#include "engine/ir/python_expression.h"

namespace kerf::inline ir {
namespace {

std::string withoutUnderscores(std::string_view text) {
  std::string out(text);
  std::erase(out, '_');
  return out;
}

/// Integers beyond 64 bits keep their text.
Argument integerArgument(std::string_view sign, std::string_view text) {
  const std::string digits = withoutUnderscores(text);
  int base = 10;
  std::size_t skip = 0;
  if (digits.size() > 2 && digits[0] == '0' && std::isalpha(static_cast<unsigned char>(digits[1])) != 0) {
    base = digits[1] == 'x' || digits[1] == 'X' ? 16 : digits[1] == 'o' || digits[1] == 'O' ? 8 : 2;
    skip = 2;
  }
  const std::string number = std::string(sign) + digits.substr(skip);
  std::int64_t value = 0;
  const auto parsed = std::from_chars(number.data(), number.data() + number.size(), value, base);
  if (parsed.ec == std::errc() && parsed.ptr == number.data() + number.size()) return value;
  return PythonName{std::string(sign) + std::string(text)};
}

Result<double> realNumber(std::string_view text, int line) {
  const std::string digits = withoutUnderscores(text);
  double value = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (parsed.ptr != digits.data() + digits.size())
    return pythonError(line, fmt::format("'{}' is not a number", text.substr(0, 40)));
  if (parsed.ec == std::errc::result_out_of_range)
    value = digits.find("e-") == std::string::npos && digits.find("E-") == std::string::npos
                ? std::numeric_limits<double>::infinity()
                : 0.0;
  return value;
}

class Converter {
 public:
  Converter(const PythonNameResolver& names, const PythonExpressionResolver& others)
      : m_names(names), m_others(others) {}

  Result<Argument> convert(const PythonExpression& e) const {
    switch (e.kind) {
      case PythonKind::Name:
        return name(e);
      case PythonKind::Constant:
        return constant(e);
      case PythonKind::Integer:
        return wellFormedInteger(e, "");
      case PythonKind::Float: {
        KERF_TRY(const double value, realNumber(e.text, e.line));
        return Argument(value);
      }
      case PythonKind::Imaginary: {
        KERF_TRY(const double value, realNumber(std::string_view(e.text).substr(0, e.text.size() - 1), e.line));
        return Argument(ComplexNumber{0, value});
      }
      case PythonKind::String:
        return Argument(e.text);
      case PythonKind::Tuple:
      case PythonKind::List: {
        KERF_TRY(auto items, list(e.items));
        return Argument(ListArgument{std::move(items), e.kind == PythonKind::Tuple});
      }
      case PythonKind::Slice: {
        KERF_TRY(auto items, list(e.items));
        return Argument(SliceArgument{std::move(items)});
      }
      case PythonKind::Dict:
        return dict(e);
      case PythonKind::Unary:
        return unary(e);
      case PythonKind::Binary:
        return binary(e);
      case PythonKind::Call:
        return call(e);
      default:
        return m_others(e);
    }
  }

 private:
  Result<Argument> name(const PythonExpression& e) const {
    if (auto known = pythonConstant(e.text)) return std::move(*known);
    if (e.text == "Ellipsis") return Argument(::kerf::Ellipsis{});
    if (e.text.starts_with("torch.")) return Argument(PythonName{e.text});
    return m_names(e.text, e.line);
  }

  static Result<Argument> constant(const PythonExpression& e) {
    if (e.text == "None") return Argument();
    if (e.text == "...") return Argument(Ellipsis{});
    return Argument(e.text == "True");
  }

  static Result<Argument> wellFormedInteger(const PythonExpression& e, std::string_view sign) {
    const auto valid = [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    const bool radix = e.text.size() > 1 && std::isalpha(static_cast<unsigned char>(e.text[1])) != 0;
    const std::string_view digits = std::string_view(e.text).substr(radix ? 2 : 0);
    const bool decimal = std::ranges::all_of(digits, [](char c) { return (c >= '0' && c <= '9') || c == '_'; });
    if (digits.empty() || !std::ranges::all_of(digits, valid) || (!radix && !decimal))
      return pythonError(e.line, fmt::format("'{}' is not a number", std::string_view(e.text).substr(0, 40)));
    return integerArgument(sign, e.text);
  }

  Result<ArgumentList> list(const std::vector<PythonExpression>& items) const {
    ArgumentList out;
    out.reserve(items.size());
    for (const PythonExpression& item : items) {
      KERF_TRY(auto value, convert(item));
      out.push_back(std::move(value));
    }
    return out;
  }

  Result<Argument> dict(const PythonExpression& e) const {
    DictArgument out;
    for (std::size_t i = 0; i + 1 < e.items.size(); i += 2) {
      if (e.items[i].kind != PythonKind::String) return pythonError(e.items[i].line, "a dict key is not a string");
      KERF_TRY(auto value, convert(e.items[i + 1]));
      out.items.emplace_back(e.items[i].text, std::move(value));
    }
    return Argument(std::move(out));
  }

  enum class Numbers { Real, All };

  /// Whether converting `e` gives a number without asking m_others: only then may it be converted before the whole is.
  static bool isNumber(const PythonExpression& e, Numbers which) {
    switch (e.kind) {
      case PythonKind::Integer:
      case PythonKind::Float:
        return true;
      case PythonKind::Imaginary:
        return which == Numbers::All;
      case PythonKind::Unary:
        return (e.text == "-" || e.text == "+") && isNumber(e.items.front(), which);
      case PythonKind::Name: {
        const auto constant = pythonConstant(e.text);
        return constant && constant->as<double>() != nullptr;
      }
      default:
        return false;
    }
  }

  Result<Argument> unary(const PythonExpression& e) const {
    const PythonExpression& operand = e.items.front();
    if ((e.text != "-" && e.text != "+") || !isNumber(operand, Numbers::All)) return m_others(e);
    if (e.text == "-" && operand.kind == PythonKind::Integer) return wellFormedInteger(operand, "-");
    KERF_TRY(auto value, convert(operand));
    const double sign = e.text == "-" ? -1 : 1;
    if (const auto* real = value.as<double>()) return Argument(sign * *real);
    if (const auto* complex = value.as<ComplexNumber>())
      return Argument(ComplexNumber{sign * complex->real, sign * complex->imag});
    const auto* whole = value.as<std::int64_t>();
    if (whole == nullptr || *whole == std::numeric_limits<std::int64_t>::min())
      return pythonError(e.line, "an integer does not fit 64 bits");
    return Argument(e.text == "-" ? -*whole : *whole);
  }

  /// Only complex literals: 1 + 2j.
  Result<Argument> binary(const PythonExpression& e) const {
    const bool sum = e.text == "+" || e.text == "-";
    if (!sum || e.items[1].kind != PythonKind::Imaginary || !isNumber(e.items[0], Numbers::Real)) return m_others(e);
    KERF_TRY(auto real, convert(e.items[0]));
    KERF_TRY(auto imaginary, convert(e.items[1]));
    ComplexNumber out = *imaginary.as<ComplexNumber>();
    if (e.text == "-") out.imag = -out.imag;
    if (const auto* value = real.as<double>())
      out.real = *value;
    else if (const auto* whole = real.as<std::int64_t>())
      out.real = double(*whole);
    else
      return pythonError(e.line, "an integer does not fit 64 bits");
    return Argument(out);
  }

  Result<Argument> call(const PythonExpression& e) const {
    const PythonExpression& callee = e.items.front();
    if (callee.isName("device") || callee.isName("torch.device")) return device(e);
    if (callee.isName("slice") && e.keywords.empty()) return slice(e);
    if (callee.isName("torch.Size") && e.positionalCount() == 1 && e.keywords.empty()) return size(e);
    if (callee.isName("float") && e.positionalCount() == 1 && e.positional(0).kind == PythonKind::String) {
      std::string text = e.positional(0).text;
      const std::string_view digits = std::string_view(text).substr(text.starts_with('-') || text.starts_with('+'));
      KERF_TRY(const double value, realNumber(digits, e.line));
      return Argument(text.starts_with('-') ? -value : value);
    }
    return m_others(e);
  }

  Result<Argument> size(const PythonExpression& e) const {
    const PythonKind kind = e.positional(0).kind;
    if (kind != PythonKind::List && kind != PythonKind::Tuple) return m_others(e);
    KERF_TRY(auto value, convert(e.positional(0)));
    return Argument(ListArgument{value.asList()->items, true});
  }

  Result<Argument> slice(const PythonExpression& e) const {
    KERF_TRY(auto items, list(std::vector<PythonExpression>(e.items.begin() + 1, e.items.end())));
    if (items.empty() || items.size() > 3) return pythonError(e.line, "slice() takes one to three arguments");
    if (items.size() == 1) items.insert(items.begin(), Argument());
    items.resize(3);
    return Argument(SliceArgument{std::move(items)});
  }

  Result<Argument> device(const PythonExpression& e) const {
    const PythonExpression* type = e.positionalCount() > 0 ? &e.positional(0) : e.keyword("type");
    const PythonExpression* index = e.positionalCount() > 1 ? &e.positional(1) : e.keyword("index");
    if (type == nullptr || type->kind != PythonKind::String)
      return pythonError(e.line, "device() needs the device's type as a string");
    auto out = deviceFromText(type->text);
    if (!out) return pythonError(e.line, fmt::format("'{}' is not a device", type->text.substr(0, 40)));
    if (index != nullptr) {
      KERF_TRY(auto number, convert(*index));
      const auto* value = number.as<std::int64_t>();
      if (value == nullptr || *value < 0 || *value > maximumDeviceIndex)
        return pythonError(e.line, "a device index is invalid");
      out->index = int(*value);
    }
    return Argument(std::move(*out));
  }

  const PythonNameResolver& m_names;
  const PythonExpressionResolver& m_others;
};

}  // namespace

Result<Argument> undefinedPythonName(std::string_view name, int line) {
  return pythonError(line, fmt::format("name '{}' is not defined", name.substr(0, 80)));
}

Result<Argument> unsupportedPythonExpression(const PythonExpression& expression) {
  return pythonError(expression.line, fmt::format("'{}' is not supported here", describePython(expression)));
}

Result<Argument> pythonToArgument(const PythonExpression& expression, const PythonNameResolver& resolveName,
                                  const PythonExpressionResolver& resolveOther) {
  return Converter(resolveName, resolveOther).convert(expression);
}

std::string describePython(const PythonExpression& expression) {
  switch (expression.kind) {
    case PythonKind::Call:
      return describePython(expression.items.front()) + "(…)";
    case PythonKind::Attribute:
      return describePython(expression.items.front()) + "." + expression.text;
    case PythonKind::Index:
      return describePython(expression.items.front()) + "[…]";
    case PythonKind::String:
      return pythonString(std::string_view(expression.text).substr(0, 40));
    case PythonKind::Unary:
      return expression.text + (expression.text == "not" ? " " : "") + describePython(expression.items.front());
    case PythonKind::Binary:
      return "… " + expression.text + " …";
    default:
      return expression.text.empty() ? "…" : expression.text.substr(0, 80);
  }
}

}  // namespace kerf::inline ir
