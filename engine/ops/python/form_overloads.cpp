// Which ATen overload a form of the argument parser is: the one whose schema has the same parameters.
#include <algorithm>
#include <array>

#include "engine/ops/python/call_forms.h"

namespace kerf::inline ops {
namespace {

bool isWritten(const SchemaArgument& argument) {
  return argument.keywordOnly && argument.alias.find('!') != std::string::npos;
}

bool writesInto(const OpInfo& op) { return std::ranges::any_of(op.schema.arguments, isWritten); }

/// Overloads in the order in which most functions have them; for those whose order the table does not say.
int overloadRank(std::string_view overload) {
  static constexpr std::array<std::string_view, 9> order = {"default", "Tensor", "Tensor_Scalar", "Scalar",    "dim",
                                                            "int",     "self",   "dim_IntList",   "using_ints"};
  return int(std::ranges::find(order, overload) - order.begin());
}

std::vector<const OpInfo*> overloadsNamed(const std::string& name) {
  const std::string start = "aten." + name + ".";
  std::vector<const OpInfo*> found;
  const auto all = allOps();
  auto first = std::ranges::lower_bound(all, start, {}, [](const OpInfo& op) { return op.schema.qualifiedName(); });
  for (; first != all.end() && first->schema.qualifiedName().starts_with(start); ++first)
    if (!writesInto(*first) && first->kernel != nullptr) found.push_back(&*first);
  std::ranges::sort(found, {}, [&](const OpInfo* op) {
    const std::string full = op->schema.qualifiedName();
    return std::pair(overloadRank(std::string_view(full).substr(start.size())), full);
  });
  return found;
}

/// "__and__" is what ATen's table here calls bitwise_and.
std::string otherName(const std::string& name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 4> bitwise = {
      {{"__and__", "bitwise_and"},
       {"__or__", "bitwise_or"},
       {"__xor__", "bitwise_xor"},
       {"__invert__", "bitwise_not"}}};
  for (const auto& [dunder, aten] : bitwise)
    if (name == dunder) return std::string(aten);
  if (name.size() > 4 && name.starts_with("__") && name.ends_with("__")) return name.substr(2, name.size() - 4);
  return {};
}

/// Names that ATen has for another op, and this op table has not or has as plain programs.
constexpr std::array<std::pair<std::string_view, std::string_view>, 14> sameOps = {{{"true_divide", "div"},
                                                                                    {"true_divide_", "div_"},
                                                                                    {"divide", "div"},
                                                                                    {"divide_", "div_"},
                                                                                    {"multiply", "mul"},
                                                                                    {"multiply_", "mul_"},
                                                                                    {"subtract", "sub"},
                                                                                    {"subtract_", "sub_"},
                                                                                    {"moveaxis", "movedim"},
                                                                                    {"linalg_matmul", "matmul"},
                                                                                    {"embedding_bag", "_embedding_bag"},
                                                                                    {"row_stack", "vstack"},
                                                                                    {"absolute", "abs"},
                                                                                    {"concatenate", "cat"}}};

std::vector<const OpInfo*> overloadsOf(const std::string& name) {
  const auto* same = std::ranges::find(sameOps, name, &std::pair<std::string_view, std::string_view>::first);
  std::vector<const OpInfo*> found = overloadsNamed(same != sameOps.end() ? std::string(same->second) : name);
  if (found.empty()) found = overloadsNamed(name);
  if (found.empty()) found = overloadsNamed(otherName(name));
  return found;
}

/// The schema's type as a parameter of a form.
FormParameter parameterOf(const SchemaArgument& argument) {
  FormParameter parameter = parseCallForms(fmt::format("x x ({} x)", argument.type)).forms[0].parameters[0];
  parameter.name = argument.name;
  parameter.isOptional = argument.defaultValue.has_value();
  parameter.isKeywordOnly = argument.keywordOnly;
  return parameter;
}

/// The table of ops writes Any where it does not look; a Scalar of the parser may be a float of the schema.
bool isSameType(const FormParameter& form, const FormParameter& schema) {
  if (schema.kind == ParameterKind::Any || form.kind == ParameterKind::Any) return true;
  return form.kind == schema.kind && form.isList == schema.isList;
}

/// Parameters that ATen has not.
constexpr std::string_view onlyOfPython[] = {"out", "requires_grad", "names", "pin_memory", "layout", "device"};

int findParameter(const CallForm& form, const SchemaArgument& argument, bool isFirst) {
  const auto index = [&](std::string_view name) {
    const auto found = std::ranges::find(form.parameters, name, &FormParameter::name);
    return found == form.parameters.end() ? -1 : int(found - form.parameters.begin());
  };
  int found = index(argument.name);
  if (found < 0 && argument.name == "self") found = index("input");
  if (found < 0 && argument.name == "input" && isFirst) found = index("self");
  if (found < 0 && argument.name == "from") found = index("from_");  // a keyword of Python
  if (found < 0 && argument.name == "src") found = index("other");   // copy_
  return found;
}

/// Parameter of each argument of the schema; empty when this form is another overload. The self of a method is -2.
std::vector<int> matched(const CallForm& form, const OpInfo& op, bool isMethod) {
  std::vector<int> from;
  std::size_t used = 0;
  for (std::size_t i = 0; i < op.schema.arguments.size(); ++i) {
    const SchemaArgument& argument = op.schema.arguments[i];
    const bool isTensor = argument.type.starts_with("Tensor");
    const bool isSelf = isMethod && isTensor && (argument.name == "self" || (i == 0 && argument.name == "input"));
    const int found = isSelf ? -2 : findParameter(form, argument, i == 0);
    from.push_back(found);
    if (isSelf) continue;
    if (found < 0 && !argument.defaultValue) return {};
    if (found < 0) continue;
    if (!isSameType(form.parameters[std::size_t(found)], parameterOf(argument))) return {};
    ++used;
  }
  for (std::size_t p = 0; p < form.parameters.size(); ++p)
    if (std::ranges::find(from, int(p)) == from.end() &&
        std::ranges::find(onlyOfPython, form.parameters[p].name) == std::end(onlyOfPython))
      return {};
  return from;
}

/// Where a single int and None may stand, the schema knows exactly.
void refine(CallForm& form) {
  for (std::size_t i = 0; i < form.fromSchema.size(); ++i) {
    if (form.fromSchema[i] < 0) continue;
    FormParameter& parameter = form.parameters[std::size_t(form.fromSchema[i])];
    const FormParameter exact = parameterOf(form.op->schema.arguments[i]);
    if (exact.kind == ParameterKind::Any) continue;
    const bool takesNone = parameter.kind != ParameterKind::Any && parameter.takesNone;
    if (parameter.kind == ParameterKind::Any) parameter.kind = exact.kind;
    parameter.isSize = exact.isSize;
    parameter.isList = exact.isList;
    if (exact.isList && exact.takesSingle) parameter.takesSingle = true;
    parameter.takesNone = takesNone || exact.takesNone || parameter.defaultText == "None";
  }
}

CallForm formOf(const OpInfo& op, bool isMethod) {
  CallForm form;
  form.op = &op;
  std::string text;
  for (const SchemaArgument& argument : op.schema.arguments) {
    FormParameter parameter = parameterOf(argument);
    if (const auto& value = op.defaults[form.fromSchema.size()]) parameter.byDefault = *value;
    const bool isSelf = form.fromSchema.empty() && parameter.name == "self";
    if (isSelf && isMethod) {
      form.fromSchema.push_back(-2);
      continue;
    }
    if (isSelf) parameter.name = "input";
    form.fromSchema.push_back(int(form.parameters.size()));
    if (!parameter.isKeywordOnly) ++form.positionalCount;
    fmt::format_to(std::back_inserter(text), "{}{} {}", text.empty() ? "" : ", ", argument.type, parameter.name);
    form.parameters.push_back(std::move(parameter));
  }
  form.text = "(" + text + ")";
  FormParameter out = parseCallForms("x x (*, Any? out=None)").forms[0].parameters[0];
  if (!isMethod) form.parameters.push_back(std::move(out));
  return form;
}

}  // namespace

const Value* ownDefault(const FormParameter& parameter, const std::optional<Value>& ofAten) {
  const auto* own = parameter.isOptional ? parameter.byDefault.as<std::int64_t>() : nullptr;
  const auto* other = ofAten ? ofAten->as<std::int64_t>() : nullptr;
  return own != nullptr && other != nullptr && *own != *other ? &parameter.byDefault : nullptr;
}

void matchOverloads(CallableForms& callable) {
  const std::vector<const OpInfo*> overloads = overloadsOf(callable.atenName);
  for (CallForm& form : callable.forms) {
    for (const OpInfo* op : overloads) {
      form.fromSchema = matched(form, *op, callable.isMethod);
      if (form.fromSchema.empty() && !op->schema.arguments.empty()) continue;
      form.op = op;
      refine(form);
      break;
    }
  }
}

std::vector<CallForm> formsOfOverloads(const std::string& atenName, bool isMethod) {
  std::vector<CallForm> forms;
  for (const OpInfo* op : overloadsOf(atenName)) forms.push_back(formOf(*op, isMethod));
  return forms;
}

}  // namespace kerf::inline ops
