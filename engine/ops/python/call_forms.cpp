#include "engine/ops/python/call_forms.h"

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "engine/ops/python/python_level.h"

namespace kerf::inline ops {
namespace {

struct KindName {
  std::string_view text;
  ParameterKind kind;
};
constexpr KindName kindNames[] = {
    {"Tensor", ParameterKind::Tensor},
    {"Scalar", ParameterKind::Scalar},
    {"int", ParameterKind::Int},
    {"SymInt", ParameterKind::Int},
    {"float", ParameterKind::Float},
    {"complex", ParameterKind::Complex},
    {"bool", ParameterKind::Bool},
    {"str", ParameterKind::String},
    {"ScalarType", ParameterKind::Dtype},
    {"Layout", ParameterKind::Layout},
    {"Device", ParameterKind::Device},
    {"MemoryFormat", ParameterKind::MemoryFormat},
    {"Generator", ParameterKind::Generator},
    {"Dimname", ParameterKind::Dimname},
};

/// "int[1]?" → kind, list, single and none.
void readType(std::string_view type, FormParameter& parameter) {
  if (type.ends_with('?')) {
    parameter.takesNone = true;
    type.remove_suffix(1);
  }
  if (const std::size_t open = type.find('['); open != std::string_view::npos) {
    parameter.isList = true;
    parameter.takesSingle = open + 2 < type.size();
    type = type.substr(0, open);
    if (type.ends_with('?')) type.remove_suffix(1);
  }
  parameter.isSize = type == "SymInt";
  const auto* known = std::ranges::find(kindNames, type, &KindName::text);
  parameter.kind = known == std::end(kindNames) ? ParameterKind::Any : known->kind;
}

/// Where the bracket that opens at `at` closes.
std::size_t closing(std::string_view text, std::size_t at) {
  int depth = 0;
  char quote = 0;
  for (std::size_t i = at; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      quote = c == quote ? 0 : quote;
      continue;
    }
    if (c == '\'' || c == '"') quote = c;
    depth += c == '(' || c == '[' || c == '{';
    depth -= c == ')' || c == ']' || c == '}';
    if (depth == 0) return i;
  }
  return std::string_view::npos;
}

/// `text` taken apart at its commas outside brackets and quotes.
std::vector<std::string_view> parts(std::string_view text) {
  std::vector<std::string_view> found;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && (text[i] == '(' || text[i] == '[' || text[i] == '{' || text[i] == '\'' || text[i] == '"')) {
      const bool quoted = text[i] == '\'' || text[i] == '"';
      i = std::min(quoted ? text.find(text[i], i + 1) : closing(text, i), text.size());
    }
    if (i < text.size() && text[i] != ',') continue;
    std::string_view part = text.substr(begin, std::min(i, text.size()) - begin);
    while (part.starts_with(' ')) part.remove_prefix(1);
    if (!part.empty()) found.push_back(part);
    begin = i + 1;
  }
  return found;
}

FormParameter readParameter(std::string_view part) {
  FormParameter parameter;
  const std::size_t equals = part.find('=');
  std::string_view left = part.substr(0, equals);
  if (equals != std::string_view::npos) {
    parameter.isOptional = true;
    parameter.defaultText = part.substr(equals + 1);
    parameter.takesNone = parameter.defaultText == "None";
    parameter.byDefault = defaultValue(parameter.defaultText);
  }
  if (const std::size_t space = left.rfind(' '); space != std::string_view::npos) {
    readType(left.substr(0, space), parameter);
    left = left.substr(space + 1);
  } else {
    parameter.takesNone = true;  // Python's own functions take anything
  }
  const std::size_t stars = std::min(left.find_first_not_of('*'), std::size_t{2});
  parameter.star = ParameterStar(stars);
  parameter.name = left.substr(stars);
  return parameter;
}

CallForm readForm(std::string_view text) {
  CallForm form;
  form.text = text;
  bool keywordOnly = false;
  for (const std::string_view part : parts(text.substr(1, text.size() - 2))) {
    if (part == "*") {
      keywordOnly = true;
      continue;
    }
    FormParameter parameter = readParameter(part);
    parameter.isKeywordOnly = keywordOnly || parameter.star == ParameterStar::Keyword;
    keywordOnly = keywordOnly || parameter.star == ParameterStar::Positional;
    if (!parameter.isKeywordOnly && parameter.star == ParameterStar::None) ++form.positionalCount;
    form.parameters.push_back(std::move(parameter));
  }
  return form;
}

/// Functions whose Tensor parameters also take Python's numbers.
constexpr std::string_view takingNumbers[] = {
    "add",         "add_",         "sub",          "sub_",          "subtract", "subtract_", "mul",
    "mul_",        "multiply",     "multiply_",    "div",           "div_",     "divide",    "divide_",
    "true_divide", "true_divide_", "floor_divide", "floor_divide_", "to",       "copy_",     "_conj",
};

struct Alias {
  std::string_view prefix;
  std::string_view replacement;
};
/// Other names under which graphs call the table's functions.
constexpr Alias aliases[] = {
    {"method.", "Tensor."},
    {"torch._C.TensorBase.", "Tensor."},
    {"torch._C._TensorBase.", "Tensor."},
    {"torch.Tensor.", "Tensor."},
    {"torch._tensor.Tensor.", "Tensor."},
    {"torch._tensor.", "Tensor."},
    {"torch._C._VariableFunctions.", "torch."},
    {"torch._C._VariableFunctionsClass.", "torch."},
    {"torch.functional.", "torch."},
    {"torch.signal.windows.windows.", "torch.signal.windows."},
    {"torch._C._linalg.linalg_", "torch.linalg."},
    {"torch._C._fft.fft_", "torch.fft."},
    {"torch._C._special.special_", "torch.special."},
    {"torch._jit_internal.", "torch.nn.functional."},
    {"torch._refs.tensor", "torch.tensor"},
    {"builtins.", "Tensor."},
};

using Lines = std::unordered_map<std::string_view, std::string_view>;

const Lines& lines() {
  static const Lines byName = [] {
    Lines found;
    std::string_view text = callFormsText();
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (!line.empty() && line[0] != '#') found.emplace(line.substr(0, line.find(' ')), line);
    }
    return found;
  }();
  return byName;
}

struct Prefix {
  std::string_view python;
  std::string_view aten;
};
constexpr Prefix atenPrefixes[] = {
    {"torch._C._VariableFunctions.", ""},
    {"torch.ops.aten.", ""},
    {"torch.nn.functional.", ""},
    {"torch._C._nn.", ""},
    {"torch.linalg.", "linalg_"},
    {"torch.fft.", "fft_"},
    {"torch.special.", "special_"},
    {"torch.nn.init.", ""},
    {"Tensor.", ""},
    {"torch.", ""},
};

/// For names that the table has not, PyTorch's private ones: the ATen op of that name.
CallableForms formsOfName(const std::string& name) {
  CallableForms callable{name, {}, name.starts_with("Tensor."), false, {}};
  const bool isRecorded = name.starts_with("Tensor.") || name.starts_with("torch.");
  const bool isPacket = name.starts_with("torch.ops.aten.");
  if (isRecorded && !isPacket && name[name.find('.') + 1] != '_') return callable;  // PyTorch has no such name
  for (const auto& [python, aten] : atenPrefixes) {
    if (!name.starts_with(python)) continue;
    callable.atenName = std::string(aten) + name.substr(python.size());
    break;
  }
  if (!callable.atenName.empty() && callable.atenName.find('.') == std::string::npos)
    callable.forms = formsOfOverloads(callable.atenName, callable.isMethod);
  return callable;
}

/// torch.stft is a function in Python around torch._C._VariableFunctions.stft, which takes other arguments, and torch has
/// not all of its names.
bool isBelowPython(std::string_view target, const std::string& name) {
  if (!target.starts_with("torch._C._VariableFunctions.")) return false;
  const auto line = lines().find(name);
  return line == lines().end() || line->second.substr(name.size()).starts_with(" = ");
}

CallableForms makeForms(const std::string& name) {
  const auto line = lines().find(name);
  CallableForms callable = line == lines().end() ? formsOfName(name) : parseCallForms(line->second);
  if (callable.isPythonDefined()) return callable;
  if (callable.forms.empty())
    callable.forms = formsOfOverloads(callable.atenName, callable.isMethod);
  else
    matchOverloads(callable);
  callable.takesNumbersAsTensors = std::ranges::find(takingNumbers, callable.atenName) != std::end(takingNumbers);
  return callable;
}

}  // namespace

CallableForms parseCallForms(std::string_view line) {
  CallableForms callable;
  const std::size_t space = std::min(line.find(' '), line.size());
  callable.name = line.substr(0, space);
  callable.isMethod = callable.name.starts_with("Tensor.");
  std::string_view rest = line.substr(std::min(space + 1, line.size()));
  const std::size_t second = std::min(rest.find(' '), rest.size());
  if (rest.substr(0, second) != "=") callable.atenName = rest.substr(0, second);
  for (std::size_t open = rest.find('(', second); open != std::string_view::npos;) {
    const std::size_t close = closing(rest, open);
    if (close == std::string_view::npos) return {};
    callable.forms.push_back(readForm(rest.substr(open, close + 1 - open)));
    open = rest.find('(', close);
  }
  return callable;
}

std::string callableName(std::string_view target) {
  for (const auto& [prefix, replacement] : aliases)
    if (target.starts_with(prefix)) return std::string(replacement) + std::string(target.substr(prefix.size()));
  return std::string(target);
}

const CallableForms* findCallForms(std::string_view target) {
  static std::mutex mutex;
  static std::unordered_map<std::string, std::unique_ptr<const CallableForms>> known;
  std::string name = callableName(target);
  if (isBelowPython(target, name)) name = target;
  const std::lock_guard lock(mutex);
  auto found = known.find(name);
  if (found == known.end()) found = known.emplace(name, std::make_unique<const CallableForms>(makeForms(name))).first;
  return found->second->forms.empty() ? nullptr : found->second.get();
}

}  // namespace kerf::inline ops
