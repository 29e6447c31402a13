#include "engine/capture/audit/audit_expressions.h"

#include <algorithm>
#include <array>

#include "engine/ir/annotation_type.h"
#include "engine/ir/graph.h"

namespace kerf::inline capture {
namespace {

constexpr int maximumDepth = 400;
constexpr auto binaryOperators = std::to_array<std::string_view>(
    {"+", "-", "*", "/", "//", "%", "**", "@", "<", ">", "<=", ">=", "==", "!=", "&", "|", "^", "<<", ">>"});

constexpr std::array<std::pair<std::string_view, std::string_view>, 3> brackets = {
    {{"(", ")"}, {"[", "]"}, {"{", "}"}}};

}  // namespace

bool AuditExpressions::accept(std::string_view op) {
  if (!peek().is(op)) return false;
  take();
  return true;
}

bool AuditExpressions::acceptName(std::string_view name) {
  if (!peek().isName(name)) return false;
  take();
  return true;
}

std::unexpected<Error> AuditExpressions::refuse(std::string_view what) const {
  const AuditToken& next = peek();
  const std::string found = next.text.empty() ? "the end of the line" : fmt::format("'{}'", next.text.substr(0, 60));
  return auditError(next.line, fmt::format("{} here ({} was expected)", found, what));
}

Result<void> AuditExpressions::expect(std::string_view op) {
  return accept(op) ? Result<void>() : refuse(fmt::format("'{}'", op));
}

Result<void> AuditExpressions::expectKind(AuditKind kind, std::string_view what) {
  if (peek().kind != kind) return refuse(what);
  take();
  return {};
}

Result<void> AuditExpressions::value() {
  KERF_TRY(const AuditValue parsed, expression());
  return use(parsed);
}

Result<std::vector<AuditValue>> AuditExpressions::list() {
  std::vector<AuditValue> items;
  do {
    const AuditToken& next = peek();
    if (!items.empty() && (next.is("=") || next.kind == AuditKind::Newline || next.is(";"))) break;
    KERF_TRY(AuditValue item, expression());
    items.push_back(std::move(item));
  } while (accept(","));
  return items;
}

bool AuditExpressions::nextIsOperator() {
  const AuditToken& next = peek();
  if (next.kind == AuditKind::Operator && std::ranges::find(binaryOperators, next.text) != binaryOperators.end())
    return take(), true;
  if (acceptName("and") || acceptName("or") || acceptName("in")) return true;
  if (acceptName("is")) return acceptName("not"), true;
  return next.isName("not") && peek(1).isName("in") && (take(), take(), true);
}

Result<AuditValue> AuditExpressions::expression() {
  if (++m_depth > maximumDepth) return auditError(peek().line, "an expression as deep as this");
  KERF_TRY(AuditValue first, unary());
  bool isAlone = true;
  for (;;) {
    const bool isIf = acceptName("if");
    if (!isIf && !nextIsOperator()) break;
    if (isAlone) KERF_CHECK(use(first));
    isAlone = false;
    KERF_TRY(const AuditValue next, unary());
    KERF_CHECK(use(next));
    if (!isIf) continue;
    while (nextIsOperator()) {
      KERF_TRY(const AuditValue more, unary());
      KERF_CHECK(use(more));
    }
    if (!acceptName("else")) return refuse("'else'");
    KERF_TRY(const AuditValue otherwise, unary());
    KERF_CHECK(use(otherwise));
  }
  --m_depth;
  return isAlone ? first : AuditValue{AuditValue::Kind::Other, {}, first.line};
}

Result<AuditValue> AuditExpressions::unary() {
  const int line = peek().line;
  bool isSigned = false;
  while (accept("-") || accept("+") || accept("~") || acceptName("not")) isSigned = true;
  KERF_TRY(AuditValue value, postfix());
  if (!isSigned) return value;
  KERF_CHECK(use(value));
  return AuditValue{AuditValue::Kind::Other, {}, line};
}

/// What stands between brackets that are no call's.
Result<void> AuditExpressions::itemsUntil(std::string_view close) {
  while (!peek().is(close)) {
    if (!accept("**")) accept("*");
    if (!(close == "]" && (peek().is(":") || peek().is(",")))) KERF_CHECK(value());
    while (close != ")" && accept(":"))
      if (!peek().is("]") && !peek().is(",") && !peek().is(":")) KERF_CHECK(value());
    if (!accept(",")) break;
  }
  return expect(close);
}

Result<void> AuditExpressions::arguments(const AuditValue& callee) {
  for (std::size_t position = 0; !peek().is(")"); ++position) {
    KERF_CHECK(argument(callee, position));
    if (!accept(",")) break;
  }
  return expect(")");
}

/// One argument. Where the callee calls it, it is a subgraph or a literal; `*` and `**` could hide it.
Result<void> AuditExpressions::argument(const AuditValue& callee, std::size_t position) {
  const CallbackRule* rule = callee.kind == AuditValue::Kind::Path ? callbackRule(callee.path) : nullptr;
  const bool isReader = place == AuditPlace::Loader && callee.path.starts_with("reader.");
  const int line = peek().line;
  if (accept("**") || accept("*")) {
    if (rule != nullptr || isReader || place == AuditPlace::Guard) return auditError(line, "'*' in this call");
    return value();
  }
  const bool isKeyword = peek().kind == AuditKind::Name && peek(1).is("=");
  bool isCalled = rule != nullptr && position == rule->position;
  if (isKeyword) {
    const AuditToken keyword = take();
    take();
    if (isReader && keyword.text == "expr") KERF_CHECK(symbolicText(keyword));
    isCalled = rule != nullptr && rule->isCalledBy(keyword.text);
  } else if (callee.path == "reader.symint" && position > 0) {
    return auditError(line, "a second size of one input");
  }
  KERF_TRY(const AuditValue passed, expression());
  KERF_CHECK(use(passed));
  if (!isCalled || isSubgraph(passed)) return {};
  return auditError(line, fmt::format("a function that '{}' would call", callee.path));
}

/// The text that sympy evaluates: one string, and the whole of the argument.
Result<void> AuditExpressions::symbolicText(const AuditToken& keyword) {
  const auto text = plainString(peek());
  const bool isWhole = peek(1).is(",") || peek(1).is(")");
  if (text && isWhole && isSymbolText(*text)) return {};
  return auditError(keyword.line, "this symbolic expression");
}

Result<AuditValue> AuditExpressions::atom() {
  const AuditToken token = peek();
  AuditValue out{AuditValue::Kind::Other, {}, token.line};
  if (token.kind == AuditKind::String) {
    while (peek().kind == AuditKind::String) take();
    return AuditValue{AuditValue::Kind::Literal, {}, token.line};
  }
  if (token.kind == AuditKind::Number || token.is("..."))
    return take(), AuditValue{AuditValue::Kind::Literal, {}, token.line};
  if (token.is("(") && peek(1).is(")")) return take(), take(), AuditValue{AuditValue::Kind::Empty, {}, token.line};
  for (const auto& [open, close] : brackets)
    if (accept(open)) {
      KERF_CHECK(itemsUntil(close));
      return out;
    }
  if (token.kind != AuditKind::Name) return refuse("a value");
  take();
  if (token.text == "None" || token.text == "True" || token.text == "False")
    return AuditValue{AuditValue::Kind::Literal, {}, token.line};
  if (!isPythonIdentifier(token.text)) return auditError(token.line, fmt::format("the word '{}' here", token.text));
  if (token.text == "getattr" && peek().is("(") && !locals.contains("getattr")) return getattrCall(token.line);
  if (token.text == "globals" && peek().is("(")) {  // globals()['Max'](…): a name that Python has no other form for
    KERF_CHECK(expect("("));
    KERF_CHECK(expect(")"));
    KERF_CHECK(expect("["));
    const auto name = plainString(peek());
    if (!name) return refuse("a name in quotes");
    take();
    KERF_CHECK(expect("]"));
    if (!peek().is("(")) return refuse("a call");  // as a target it would be another name for everyone
    return AuditValue{AuditValue::Kind::Path, std::string(*name), token.line};
  }
  out.kind = AuditValue::Kind::Path;
  out.path = token.text;
  return out;
}

/// `getattr(a.b, "from")` is a.b.from, and judged as that.
Result<AuditValue> AuditExpressions::getattrCall(int line) {
  KERF_CHECK(expect("("));
  KERF_TRY(AuditValue object, expression());
  KERF_CHECK(expect(","));
  const auto name = plainString(peek());
  if (!name || peek(1).kind == AuditKind::String) return auditError(line, "getattr with a name that is computed");
  if (name->starts_with("__")) return auditError(line, fmt::format("the attribute '{}'", *name));
  take();
  if (!peek().is(")")) return auditError(line, "getattr with another argument");
  take();
  if (object.kind == AuditValue::Kind::Path)
    return AuditValue{AuditValue::Kind::Path, object.path + "." + std::string(*name), line};
  KERF_CHECK(use(object));
  return AuditValue{AuditValue::Kind::Method, std::string(*name), line};
}

Result<AuditValue> AuditExpressions::attributeOf(const AuditValue& object) {
  const AuditToken name = take();
  if (name.kind != AuditKind::Name) return auditError(name.line, "a dot without a name behind it");
  if (object.kind == AuditValue::Kind::Path)
    return AuditValue{AuditValue::Kind::Path, object.path + "." + std::string(name.text), object.line};
  KERF_CHECK(use(object));
  return AuditValue{AuditValue::Kind::Method, std::string(name.text), object.line};
}

Result<AuditValue> AuditExpressions::postfix() {
  KERF_TRY(AuditValue out, atom());
  std::string maker;  // of the module that `Linear(…).cuda()` moves
  for (;;) {
    if (accept(".")) {
      maker = out.kind == AuditValue::Kind::Result ? out.path : std::string();
      KERF_TRY(out, attributeOf(out));
    } else if (peek().is("(")) {
      const bool moves = out.kind == AuditValue::Kind::Method && (out.path == "cuda" || out.path == "to");
      KERF_TRY(out, call(out));
      if (moves && place == AuditPlace::Init) out.path = maker;
    } else if (accept("[")) {
      if (place == AuditPlace::Init && out.path == "self.__dict__") {
        KERF_TRY(out, dictionaryItem(out.line));
        continue;
      }
      KERF_CHECK(item(out));
      out = {AuditValue::Kind::Item, {}, out.line};
    } else {
      return out;
    }
  }
}

/// self.__dict__['0'] is how __init__ writes attributes whose names are none.
Result<AuditValue> AuditExpressions::dictionaryItem(int line) {
  const auto name = plainString(peek());
  if (!name || !peek(1).is("]")) return auditError(line, "this use of __dict__");
  take();
  take();
  if (!peek().is("=")) return auditError(line, "this use of __dict__");
  return AuditValue{AuditValue::Kind::Path, "self." + std::string(*name), line};
}

/// `x[…]`.
Result<void> AuditExpressions::item(const AuditValue& object) {
  KERF_CHECK(use(object));
  return itemsUntil("]");
}

Result<AuditValue> AuditExpressions::call(const AuditValue& callee) {
  KERF_CHECK(checkCallee(callee));
  if (++m_depth > maximumDepth) return auditError(callee.line, "an expression as deep as this");
  KERF_CHECK(expect("("));
  const auto name = plainString(peek());
  if (name && place == AuditPlace::Init && callee.path.starts_with("self.register_")) bound[std::string(*name)] = false;
  KERF_CHECK(arguments(callee));
  --m_depth;
  const bool isMethod = callee.kind == AuditValue::Kind::Method;
  return AuditValue{AuditValue::Kind::Result, isMethod ? std::string() : callee.path, callee.line};
}

/// `torch.Tensor`, `list[torch.Tensor]`, `"f32[2]"`.
Result<void> AuditExpressions::annotation() {
  if (++m_depth > maximumDepth) return auditError(peek().line, "a type as deep as this");
  const AuditToken first = take();
  if (const auto text = plainString(first); text && (anyTypeText || text->find('(') == std::string_view::npos))
    return --m_depth, Result<void>();
  if (first.isName("None") || first.is("...")) return --m_depth, Result<void>();
  if (first.kind != AuditKind::Name) return auditError(first.line, "this as a type");
  std::string path(first.text);
  while (accept(".")) path += "." + std::string(take().text);
  if (!isAnnotationType(path) && !classes.contains(path))
    return auditError(first.line, fmt::format("the type '{}'", path));
  if (accept("[")) {
    do KERF_CHECK(annotation());
    while (accept(","));
    KERF_CHECK(expect("]"));
  }
  --m_depth;
  return {};
}

}  // namespace kerf::inline capture
