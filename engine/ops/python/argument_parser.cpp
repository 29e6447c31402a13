#include "engine/ops/python/argument_parser.h"

#include <algorithm>
#include <array>

namespace kerf::inline ops {
namespace {

/// Whether an operand is one that a parameter takes; maybe, where too little is known of it.
enum class Fit : std::uint8_t { No, Maybe, Yes };

Fit both(Fit a, Fit b) { return std::min(a, b); }
Fit fitIf(bool condition) { return condition ? Fit::Yes : Fit::No; }

/// A tensor without dimensions and gradient is read as the number that it holds.
Fit asNumber(const CallOperand& operand, bool integral) {
  if (operand.requiresGrad) return Fit::No;
  if (operand.dim && *operand.dim != 0) return Fit::No;
  if (integral && operand.dtype && (!isIntegral(*operand.dtype) || *operand.dtype == DType::Bool)) return Fit::No;
  return operand.dim && (!integral || operand.dtype) ? Fit::Yes : Fit::Maybe;
}

/// As a size, alone or in a list: a tensor of one integer, or of one flag, will do.
Fit asSize(const CallOperand& operand, bool takesFlags = true) {
  if (operand.kind == OperandKind::Int || operand.kind == OperandKind::SymInt) return Fit::Yes;
  if (operand.kind == OperandKind::Unknown) return Fit::Maybe;
  if (operand.kind != OperandKind::Tensor) return Fit::No;
  if (operand.dtype && (!isIntegral(*operand.dtype) || (*operand.dtype == DType::Bool && !takesFlags))) return Fit::No;
  if (operand.elementCount && *operand.elementCount != 1) return Fit::No;
  return operand.dtype && operand.elementCount ? Fit::Yes : Fit::Maybe;
}

Fit fitNumber(ParameterKind kind, const CallOperand& operand) {
  switch (operand.kind) {
    case OperandKind::Tensor:
      return asNumber(operand, kind == ParameterKind::Int);
    case OperandKind::Int:
    case OperandKind::SymInt:
      return Fit::Yes;
    case OperandKind::Bool:
    case OperandKind::Float:
    case OperandKind::SymFloat:
    case OperandKind::SymBool:
      return fitIf(kind != ParameterKind::Int);
    case OperandKind::Complex:
      return fitIf(kind == ParameterKind::Scalar || kind == ParameterKind::Complex);
    default:
      return Fit::No;
  }
}

struct KindFit {
  ParameterKind parameter;
  std::array<OperandKind, 3> operands;
};
constexpr KindFit kindFits[] = {
    {ParameterKind::Bool, {OperandKind::Bool, OperandKind::SymBool, OperandKind::Bool}},
    {ParameterKind::String, {OperandKind::String, OperandKind::Ellipsis, OperandKind::String}},
    {ParameterKind::Dtype, {OperandKind::Dtype, OperandKind::Dtype, OperandKind::Dtype}},
    {ParameterKind::Layout, {OperandKind::Layout, OperandKind::Layout, OperandKind::Layout}},
    {ParameterKind::Device, {OperandKind::Device, OperandKind::String, OperandKind::Int}},
    {ParameterKind::MemoryFormat, {OperandKind::MemoryFormat, OperandKind::MemoryFormat, OperandKind::MemoryFormat}},
    {ParameterKind::Dimname, {OperandKind::String, OperandKind::String, OperandKind::String}},
};

bool isNumberKind(ParameterKind kind) {
  return kind == ParameterKind::Scalar || kind == ParameterKind::Int || kind == ParameterKind::Float ||
         kind == ParameterKind::Complex;
}

bool isPythonNumber(const CallOperand& operand) {
  return operand.kind != OperandKind::Tensor && fitNumber(ParameterKind::Scalar, operand) == Fit::Yes;
}

/// "cuda:1"
bool namesDevice(const std::string& text) {
  static constexpr std::string_view types[] = {"cpu", "cuda", "meta", "mps", "xpu",
                                               "xla", "hpu",  "mtia", "ipu", "lazy"};
  const std::size_t colon = std::min(text.find(':'), text.size());
  return std::ranges::find(types, std::string_view(text).substr(0, colon)) != std::end(types);
}

Fit fitOne(const FormParameter& parameter, const CallOperand& operand, bool numbersAsTensors) {
  if (parameter.kind == ParameterKind::Device && operand.kind == OperandKind::String)
    return fitIf(namesDevice(operand.text));
  if (operand.kind == OperandKind::None) return fitIf(parameter.takesNone);
  if (parameter.kind == ParameterKind::Any) return Fit::Yes;
  if (operand.kind == OperandKind::Unknown) return Fit::Maybe;
  if (parameter.isSize && operand.kind == OperandKind::Tensor) return asSize(operand, false);
  if (isNumberKind(parameter.kind)) return fitNumber(parameter.kind, operand);
  if (parameter.kind == ParameterKind::Tensor)
    return fitIf(operand.kind == OperandKind::Tensor || (numbersAsTensors && isPythonNumber(operand)));
  for (const KindFit& row : kindFits)
    if (row.parameter == parameter.kind)
      return fitIf(std::ranges::find(row.operands, operand.kind) != row.operands.end());
  return Fit::No;
}

/// Of a list of ints the parser looks at the first item alone; a later one that does not fit is an error of its own.
Fit fitItems(const FormParameter& parameter, const std::vector<CallOperand>& items) {
  if (items.empty()) return Fit::Yes;
  if (parameter.kind == ParameterKind::Int) return asSize(items[0], !parameter.isSize);
  FormParameter item = parameter;
  item.isList = false;
  item.takesNone = parameter.kind == ParameterKind::Tensor && items[0].kind == OperandKind::None;
  Fit all = Fit::Yes;
  for (const CallOperand& operand : items) {
    if (parameter.kind == ParameterKind::Tensor && operand.kind == OperandKind::None) continue;  // x[None, index]
    all = both(all, fitOne(item, operand, false));
  }
  return all;
}

Fit fitParameter(const FormParameter& parameter, const CallOperand& operand, bool numbersAsTensors) {
  if (!parameter.isList) return fitOne(parameter, operand, numbersAsTensors);
  if (operand.kind == OperandKind::None) return fitIf(parameter.takesNone);
  if (operand.kind == OperandKind::Unknown) return Fit::Maybe;
  if (operand.kind == OperandKind::List) return fitItems(parameter, operand.items);
  if (!parameter.takesSingle) return Fit::No;
  if (parameter.kind == ParameterKind::Int) return asSize(operand);
  FormParameter single = parameter;
  single.isList = false;
  return fitOne(single, operand, false);
}

struct OtherName {
  std::string_view name;
  std::array<std::string_view, 3> numpy;
};
/// Names of NumPy that the parser takes for its own.
constexpr OtherName otherNames[] = {{"dim", {"axis", "", ""}},
                                    {"keepdim", {"keepdims", "", ""}},
                                    {"input", {"x", "a", "x1"}},
                                    {"other", {"x2", "", ""}}};

std::optional<std::size_t> keywordOf(const FormParameter& parameter, const KeywordOperands& keyword, bool parsed) {
  const auto find = [&](std::string_view name) -> std::optional<std::size_t> {
    const auto found = std::ranges::find(keyword, name, &std::pair<std::string, CallOperand>::first);
    if (name.empty() || found == keyword.end()) return {};
    return std::size_t(found - keyword.begin());
  };
  if (const auto own = find(parameter.name)) return own;
  if (!parsed) return {};
  const auto* other = std::ranges::find(otherNames, parameter.name, &OtherName::name);
  if (other == std::end(otherNames)) return {};
  for (const std::string_view name : other->numpy)
    if (const auto found = find(name)) return found;
  return {};
}

/// One try: the operands against one form.
class Attempt {
 public:
  Attempt(const CallableForms& callable, const CallForm& form, const std::vector<CallOperand>& positional,
          const KeywordOperands& keyword)
      : m_callable(callable), m_form(form), m_positional(positional), m_keyword(keyword) {}

  Fit run(std::vector<ParameterSlot>& slots) {
    if (m_positional.size() > m_form.positionalCount && !takesRest()) return Fit::No;
    for (const FormParameter& parameter : m_form.parameters) {
      ParameterSlot slot;
      m_fit = both(m_fit, place(parameter, slot));
      if (m_fit == Fit::No) return m_fit;
      slots.push_back(slot);
    }
    if (m_next < m_positional.size()) return Fit::No;
    return m_keywordsUsed == m_keyword.size() ? m_fit : Fit::No;
  }

 private:
  const CallableForms& m_callable;
  const CallForm& m_form;
  const std::vector<CallOperand>& m_positional;
  const KeywordOperands& m_keyword;
  std::size_t m_next = 0;
  std::size_t m_keywordsUsed = 0;
  Fit m_fit = Fit::Yes;

  /// view(2, 3) as view((2, 3)): where a list of ints is the only positional parameter.
  bool takesSpreadInts() const {
    if (m_callable.isPythonDefined() || m_form.positionalCount != 1) return false;
    return m_form.parameters[0].kind == ParameterKind::Int && m_form.parameters[0].isList;
  }
  bool takesRest() const {
    return takesSpreadInts() || std::ranges::any_of(m_form.parameters, [](const FormParameter& parameter) {
             return parameter.star == ParameterStar::Positional;
           });
  }

  Fit place(const FormParameter& parameter, ParameterSlot& slot) {
    if (parameter.star == ParameterStar::Keyword) return Fit::Yes;
    if (parameter.star == ParameterStar::Positional) {
      slot = {SlotSource::Rest, std::min(m_next, m_positional.size())};
      m_next = m_positional.size();
      return Fit::Yes;
    }
    if (m_next < m_positional.size()) return parameter.isKeywordOnly ? Fit::No : placePositional(parameter, slot);
    const auto named = keywordOf(parameter, m_keyword, !m_callable.isPythonDefined());
    if (!named) return fitIf(parameter.isOptional);
    slot = {SlotSource::Keyword, *named};
    ++m_keywordsUsed;
    return fit(parameter, m_keyword[*named].second);
  }

  Fit placePositional(const FormParameter& parameter, ParameterSlot& slot) {
    slot = {SlotSource::Positional, m_next};
    const Fit one = fit(parameter, m_positional[m_next]);
    const bool first = m_next == 0;
    ++m_next;
    if (one == Fit::Yes && (m_next == m_positional.size() || !first || !takesSpreadInts())) return one;
    if (!first || !takesSpreadInts()) return one;
    const Fit spread = fitItems(parameter, m_positional);
    if (spread == Fit::No || one == Fit::Yes) return one;
    slot = {SlotSource::Rest, 0};
    m_next = m_positional.size();
    return spread;
  }

  Fit fit(const FormParameter& parameter, const CallOperand& operand) const {
    if (m_callable.isPythonDefined()) return Fit::Yes;
    return fitParameter(parameter, operand, m_callable.takesNumbersAsTensors);
  }
};

std::string typesOf(const std::vector<CallOperand>& positional, const KeywordOperands& keyword) {
  std::string text;
  for (const CallOperand& operand : positional) text += (text.empty() ? "" : ", ") + typeText(operand);
  for (const auto& [name, operand] : keyword)
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, typeText(operand));
  return text;
}

Error refusal(const CallableForms& callable, const std::vector<CallOperand>& positional, const KeywordOperands& keyword,
              std::string_view what) {
  std::string forms;
  for (const CallForm& form : callable.forms) forms += (forms.empty() ? "" : " or ") + form.text;
  return fail(ErrorCode::BadInput, "{} {}: got ({}), but takes {}", callable.name, what, typesOf(positional, keyword),
              forms)
      .error();
}

}  // namespace

Result<BoundForm> parseCall(const CallableForms& callable, const std::vector<CallOperand>& positional,
                            const KeywordOperands& keyword) {
  BoundForm bound{&callable, nullptr, {}};
  Fit best = Fit::No;
  for (const CallForm& form : callable.forms) {
    std::vector<ParameterSlot> slots;
    const Fit fit = Attempt(callable, form, positional, keyword).run(slots);
    if (fit == Fit::No) continue;
    if (best == Fit::Maybe)
      return fail(refusal(callable, positional, keyword, "is ambiguous for values that are not known yet"));
    best = fit;
    bound.form = &form;
    bound.slots = std::move(slots);
    if (fit == Fit::Yes) return bound;
  }
  if (best == Fit::No) return fail(refusal(callable, positional, keyword, "has no form for these arguments"));
  return bound;
}

}  // namespace kerf::inline ops
