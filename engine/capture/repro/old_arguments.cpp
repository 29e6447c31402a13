// The loader of torch 2.0: shapes, strides, dtypes and devices in one list, random data for all of them.
#include "engine/capture/repro/loader_parser.h"

namespace kerf::inline capture {
namespace {

class OldArguments {
 public:
  OldArguments(const Symbols& symbols, const ImportLimits& limits) : m_symbols(symbols), m_limits(limits) {}

  /// One entry of the list: an integer, or (shape, stride, dtype, device[, requires_grad]).
  Result<void> add(const PythonExpression& entry) {
    if (entry.kind == PythonKind::Tuple && entry.items.size() >= 4)
      return addTensor(entry.items, 0, entry.items.size() > 4 ? &entry.items[4] : nullptr, entry.line);
    if (entry.kind == PythonKind::Call) return addCall(entry);
    GraphInput input;
    input.kind = GraphInput::Kind::SymInt;
    input.line = entry.line;
    KERF_TRY(input.sym.hint, evaluateInteger(entry, m_symbols));
    m_contents.inputs.push_back(std::move(input));
    return {};
  }

  LoaderContents take() { return std::move(m_contents); }

 private:
  /// rand_strided(shape, stride, dtype, device), also with .requires_grad_(flag) behind it.
  Result<void> addCall(const PythonExpression& call) {
    const PythonExpression& callee = call.items[0];
    if (callee.kind == PythonKind::Attribute && callee.text == "requires_grad_" &&
        callee.items[0].kind == PythonKind::Call) {
      const std::size_t before = m_contents.inputs.size();
      KERF_CHECK(addCall(callee.items[0]));
      const bool off = call.positionalCount() > 0 && call.positional(0).text == "False";
      if (m_contents.inputs.size() > before) m_contents.inputs.back().requiresGrad = !off;
      return {};
    }
    if (!callee.isName("rand_strided") || call.positionalCount() < 4)
      return failAtLine(call.line, fmt::format("an argument cannot be {}", describePython(call)));
    return addTensor(call.items, 1, nullptr, call.line);
  }

  Result<void> addTensor(const std::vector<PythonExpression>& items, std::size_t at, const PythonExpression* grad,
                         int line) {
    GraphInput input;
    input.line = line;
    input.name = fmt::format("argument {}", m_contents.inputs.size());
    KERF_TRY(input.sizes, evaluateIntegers(items[at], m_symbols));
    KERF_TRY(input.strides, evaluateIntegers(items[at + 1], m_symbols));
    KERF_TRY(input.dtype, dtypeOf(items[at + 2]));
    KERF_TRY(input.device, deviceOf(items[at + 3]));
    input.requiresGrad = grad != nullptr && grad->text == "True";
    input.isLeaf = true;
    if (input.strides.size() != input.sizes.size())
      return failAtLine(line, fmt::format("{} strides for {} sizes", input.strides.size(), input.sizes.size()));
    StorageRef storage;
    storage.line = line;
    storage.device = input.device;
    if (input.dtype != DType::Float32) storage.dtypeHint = input.dtype;
    KERF_TRY(storage.bytes, viewBytes(input, m_limits));
    input.storageIndex = int(m_contents.storages.size());
    input.name.clear();
    m_contents.storages.push_back(std::move(storage));
    m_contents.inputs.push_back(std::move(input));
    return {};
  }

  const Symbols& m_symbols;
  const ImportLimits& m_limits;
  LoaderContents m_contents;
};

/// `args = [ … ]` of tuples; the comprehension that follows it in old files is not such a list.
Result<void> readList(OldArguments& arguments, std::string_view statement, int line) {
  KERF_TRY(const PythonExpression list, parsePythonExpression(statement.substr(statement.find('=') + 1), line));
  if (list.kind != PythonKind::List) return failAtLine(line, "args is not a list");
  for (const PythonExpression& entry : list.items) KERF_CHECK(arguments.add(entry));
  return {};
}

Result<void> readAppend(OldArguments& arguments, std::string_view statement, int line) {
  PythonLexer lexer(statement, line);
  KERF_TRY(const CallSyntax call, parseCall(lexer));
  if (call.arguments.size() != 1) return failAtLine(line, "args.append takes one argument");
  return arguments.add(call.arguments[0].value);
}

}  // namespace

Result<LoaderContents> parseOldArguments(const SourceText& source, LineRange lines, const Symbols& symbols,
                                         const ImportLimits& limits) {
  OldArguments arguments(symbols, limits);
  bool found = false;
  for (std::size_t line = lines.first; line < lines.last; ++line) {
    if (!source.startsStatement(line)) continue;
    const std::string_view first = source.lines[line];
    const int number = int(line + 1);
    const std::string_view statement = source.slice({line, source.statementEnd(line, lines.last)});
    if (first.starts_with("args = [") && statement.find("rand_strided(sh, st") == std::string_view::npos) {
      KERF_CHECK(readList(arguments, statement, number));
      found = true;
    } else if (first.starts_with("args.append(")) {
      KERF_CHECK(readAppend(arguments, statement, number));
      found = true;
    }
  }
  if (!found) return fail(ErrorCode::NotFound, "no arguments");
  return arguments.take();
}

}  // namespace kerf::inline capture
