#include "engine/ops/python/bind_python_call.h"

#include <algorithm>

namespace kerf::inline ops {
namespace {

Result<const CallableForms*> formsOf(std::string_view target) {
  const CallableForms* callable = findCallForms(target);
  if (callable == nullptr) return fail(ErrorCode::UnsupportedOp, "no kernel for {}", target);
  return callable;
}

/// Writes what slots say as arguments of the form's parameters.
class Writer {
 public:
  Writer(const BoundForm& bound, const ArgumentList& args, const KeywordArguments& kwargs)
      : m_bound(bound), m_args(args), m_kwargs(kwargs), m_first(bound.callable->isMethod ? 1 : 0) {}

  Argument valueOf(std::size_t parameter) const {
    const ParameterSlot& slot = m_bound.slots[parameter];
    if (slot.source == SlotSource::Keyword) return m_kwargs[slot.index].second;
    if (slot.source == SlotSource::Positional) return m_args[m_first + slot.index];
    return Argument::list(ArgumentList(m_args.begin() + std::ptrdiff_t(m_first + slot.index), m_args.end()));
  }
  bool isGiven(int parameter) const {
    return parameter >= 0 && m_bound.slots[std::size_t(parameter)].source != SlotSource::Absent;
  }
  /// Given to the schema's argument: None is not, for a list that takes none.
  bool isGiven(int parameter, const SchemaArgument& argument) const {
    const bool isDefaulted = argument.defaultValue && argument.type.contains('[') && !argument.type.ends_with('?');
    return isGiven(parameter) && !(isDefaulted && valueOf(std::size_t(parameter)).isNone());
  }

  /// As the ATen overload takes them.
  BoundPythonCall asAten() const {
    const OpSchema& schema = m_bound.form->op->schema;
    BoundPythonCall call{"torch.ops." + schema.qualifiedName(), {}, {}};
    bool byPosition = true;
    for (std::size_t i = 0; i < schema.arguments.size(); ++i) {
      const int from = m_bound.form->fromSchema[i];
      const Value* own = from >= 0 && !isGiven(from)
                             ? ownDefault(m_bound.form->parameters[std::size_t(from)], m_bound.form->op->defaults[i])
                             : nullptr;
      const bool given = from == -2 || isGiven(from, schema.arguments[i]) || own != nullptr;
      byPosition = byPosition && given && !schema.arguments[i].keywordOnly;
      if (!given) continue;
      Argument value = from == -2       ? m_args[0]
                       : own != nullptr ? Argument(*own->as<std::int64_t>())
                                        : valueOf(std::size_t(from));
      if (byPosition)
        call.args.push_back(std::move(value));
      else
        call.kwargs.emplace_back(schema.arguments[i].name, std::move(value));
    }
    return call;
  }

  /// As the function itself takes them.
  BoundPythonCall asPython() const {
    BoundPythonCall call{m_bound.callable->name, {}, {}};
    if (m_first > 0) call.args.push_back(m_args[0]);
    bool byPosition = true;
    for (std::size_t i = 0; i < m_bound.slots.size(); ++i) {
      const FormParameter& parameter = m_bound.form->parameters[i];
      if (!isGiven(int(i))) {
        byPosition = false;
        continue;
      }
      if (parameter.star == ParameterStar::Positional) {
        const std::size_t from = m_first + m_bound.slots[i].index;
        call.args.insert(call.args.end(), m_args.begin() + std::ptrdiff_t(from), m_args.end());
      } else if (byPosition && !parameter.isKeywordOnly) {
        call.args.push_back(valueOf(i));
      } else {
        call.kwargs.emplace_back(parameter.name, valueOf(i));
      }
    }
    return call;
  }

 private:
  const BoundForm& m_bound;
  const ArgumentList& m_args;
  const KeywordArguments& m_kwargs;
  std::size_t m_first;
};

/// out= and requires_grad= are Python's alone: such a call stays one of the function.
bool isAllAten(const BoundForm& bound, const Writer& writer) {
  if (bound.form->op == nullptr) return false;
  for (std::size_t i = 0; i < bound.slots.size(); ++i)
    if (writer.isGiven(int(i)) && std::ranges::find(bound.form->fromSchema, int(i)) == bound.form->fromSchema.end())
      return false;
  return true;
}

template <class List>
Result<std::size_t> selfCount(const CallableForms& callable, const List& args) {
  if (!callable.isMethod) return 0;
  if (args.empty()) return fail(ErrorCode::BadInput, "{} is called without its tensor", callable.name);
  return 1;
}

}  // namespace

Result<BoundPythonCall> bindPythonCall(std::string_view target, const ArgumentList& args,
                                       const KeywordArguments& kwargs,
                                       const std::function<CallOperand(NodeId)>& nodes) {
  KERF_TRY(const CallableForms* callable, formsOf(target));
  KERF_TRY(const std::size_t first, selfCount(*callable, args));
  std::vector<CallOperand> positional;
  for (std::size_t i = first; i < args.size(); ++i) positional.push_back(operandOf(args[i], nodes));
  KeywordOperands keyword;
  for (const auto& [name, value] : kwargs) keyword.emplace_back(name, operandOf(value, nodes));
  KERF_TRY(const BoundForm bound, parseCall(*callable, positional, keyword));
  const Writer writer(bound, args, kwargs);
  return isAllAten(bound, writer) ? writer.asAten() : writer.asPython();
}

Result<BoundForm> bindPythonCall(std::string_view target, const ValueList& args, const KeywordValues& kwargs) {
  KERF_TRY(const CallableForms* callable, formsOf(target));
  KERF_TRY(const std::size_t first, selfCount(*callable, args));
  std::vector<CallOperand> positional;
  for (std::size_t i = first; i < args.size(); ++i) positional.push_back(operandOf(args[i]));
  KeywordOperands keyword;
  for (const auto& [name, value] : kwargs) keyword.emplace_back(name, operandOf(value));
  return parseCall(*callable, positional, keyword);
}

}  // namespace kerf::inline ops
