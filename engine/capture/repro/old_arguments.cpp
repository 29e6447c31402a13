// Arguments without load_args: shapes, strides, dtypes and devices in one list, random data for all of them.
#include <algorithm>
#include <array>

#include "engine/capture/common/view_extent.h"
#include "engine/capture/repro/loader_parser.h"

namespace kerf::inline capture {
namespace {

/// Functions that make a tensor of the shape they are given.
constexpr std::array<std::string_view, 9> makers = {"torch.randn", "torch.rand",  "torch.ones",
                                                    "torch.zeros", "torch.empty", "torch.randint",
                                                    "torch.full",  "randn",       "rand"};

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
    if (callee.isName("rand_strided") && call.positionalCount() >= 4)
      return addTensor(call.items, 1, nullptr, call.line);
    if (callee.kind == PythonKind::Name && std::ranges::find(makers, callee.text) != makers.end()) return addMade(call);
    return failAtLine(call.line, fmt::format("an argument cannot be {}", describePython(call)));
  }

  /// torch.randn(2, 3, dtype=…, device=…), also with the sizes in a list.
  Result<void> addMade(const PythonExpression& call) {
    const bool drawsIntegers = call.items[0].text.ends_with("randint");
    PythonExpression sizes{PythonKind::Tuple, call.line, 0, {}, {}, {}};
    if (const PythonExpression* given = call.keyword("size"))
      sizes = *given;
    else if (drawsIntegers && call.positionalCount() > 0)
      sizes = call.positional(call.positionalCount() - 1);
    else if (call.positionalCount() > 0 && isSequence(call.positional(0)))
      sizes = call.positional(0);
    else
      for (std::size_t i = 0; i < call.positionalCount(); ++i) sizes.items.push_back(call.positional(i));
    GraphInput input;
    KERF_TRY(input.sizes, evaluateIntegers(sizes, m_symbols));
    KERF_CHECK(checkedNumel(input.sizes));
    input.strides = contiguousStrides(input.sizes);
    if (drawsIntegers) input.dtype = DType::Int64;
    if (const PythonExpression* dtype = call.keyword("dtype")) {
      KERF_TRY(input.dtype, dtypeOf(*dtype));
    }
    if (const PythonExpression* device = call.keyword("device")) {
      KERF_TRY(input.device, deviceOf(*device));
    }
    ++m_contents.madeByCall;
    return addInput(std::move(input), call.keyword("requires_grad"), call.line);
  }

  static bool isSequence(const PythonExpression& e) {
    return e.kind == PythonKind::List || e.kind == PythonKind::Tuple;
  }

  Result<void> addTensor(const std::vector<PythonExpression>& items, std::size_t at, const PythonExpression* grad,
                         int line) {
    GraphInput input;
    KERF_TRY(input.sizes, evaluateIntegers(items[at], m_symbols));
    KERF_TRY(input.strides, evaluateIntegers(items[at + 1], m_symbols));
    KERF_TRY(input.dtype, dtypeOf(items[at + 2]));
    KERF_TRY(input.device, deviceOf(items[at + 3]));
    return addInput(std::move(input), grad, line);
  }

  Result<void> addInput(GraphInput input, const PythonExpression* grad, int line) {
    input.line = line;
    input.name = fmt::format("argument {}", m_contents.inputs.size());
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

/// Whether a statement makes the arguments; the comprehension that follows the list in old files does not.
bool isArguments(std::string_view statement) {
  const bool isList = statement.starts_with("args = [") || statement.starts_with("args = (") ||
                      statement.starts_with("args=[") || statement.starts_with("args=(");
  const bool isAppend = statement.starts_with("args.append(");
  return isAppend || (isList && statement.find("rand_strided(sh, st") == std::string_view::npos);
}

/// The list that `def make_inputs():` returns, which is all that it does.
std::string_view returnedBy(const SourceText& source, std::size_t line, std::size_t end) {
  for (std::size_t at = line + 1; at < end; ++at) {
    if (!source.startsStatement(at)) continue;
    const std::string_view first = trimmed(source.lines[at]);
    if (!first.starts_with("return [") && !first.starts_with("return (")) return {};
    return trimmed(source.slice({at, source.statementEnd(at, end)})).substr(6);
  }
  return {};
}

Result<void> readList(OldArguments& arguments, std::string_view text, int line) {
  PythonLexer lexer(text, line);
  KERF_TRY(const PythonExpression list, PythonParser(lexer).expressionList());
  if (list.kind != PythonKind::List && list.kind != PythonKind::Tuple) return failAtLine(line, "args is not a list");
  for (const PythonExpression& entry : list.items) KERF_CHECK(arguments.add(entry));
  return {};
}

Result<void> readAppend(OldArguments& arguments, std::string_view statement, int line) {
  PythonLexer lexer(statement, line);
  KERF_TRY(const CallSyntax call, parseCall(lexer));
  if (call.arguments.size() != 1) return failAtLine(line, "args.append takes one argument");
  return arguments.add(call.arguments[0].value);
}

bool isMaker(std::string_view line) {
  return line.starts_with("def make_inputs(") || line.starts_with("def get_inputs(") ||
         line.starts_with("def make_args(");
}

/// `reader = torch._dynamo.repro.after_aot.InputReader(…)`, as torch 2.0 wrote it below the class.
bool isReader(std::string_view line) {
  return line.starts_with("reader = ") && line.find("InputReader(") != std::string_view::npos;
}

/// From there to `args = [t0, t1]`, which lists what the lines between have read; none if there is no such reader.
LineRange readerLines(const SourceText& source, LineRange lines) {
  LineRange found;
  for (std::size_t line = lines.first; line < lines.last; ++line) {
    if (!source.startsStatement(line)) continue;
    if (isReader(source.lines[line])) found.first = line;
    const bool isBehind = found.first > 0 && line > found.first;
    if (isBehind && isArguments(source.lines[line])) return {found.first, line};
  }
  return {};
}

}  // namespace

LineRange oldArgumentLines(const SourceText& source, LineRange lines) {
  LineRange found = readerLines(source, lines);
  if (!found.empty()) return found;
  for (std::size_t line = lines.first; line < lines.last; ++line) {
    if (!source.startsStatement(line) || (!isArguments(source.lines[line]) && !isMaker(source.lines[line]))) continue;
    if (found.empty()) found.first = line;
    found.last = source.statementEnd(line, lines.last);
    if (isMaker(source.lines[line])) found.last = std::min(found.last + 1, lines.last);
  }
  return found;
}

Result<LoaderContents> parseOldArguments(const SourceText& source, LineRange lines, const Symbols& symbols,
                                         const ImportLimits& limits) {
  if (const LineRange reader = readerLines(source, lines); !reader.empty())
    return parseLoader(source, reader, symbols, limits);
  OldArguments arguments(symbols, limits);
  bool found = false;
  for (std::size_t line = lines.first; line < lines.last; ++line) {
    if (!source.startsStatement(line)) continue;
    const std::string_view first = source.lines[line];
    const int number = int(line + 1);
    const std::string_view statement = source.slice({line, source.statementEnd(line, lines.last)});
    const bool isAppend = first.starts_with("args.append(");
    if (isMaker(first)) {
      const std::string_view list = returnedBy(source, line, lines.last);
      if (list.empty()) continue;
      KERF_CHECK(readList(arguments, list, number));
    } else if (isArguments(statement)) {
      if (!isAppend && found) break;  // the same list once more, or that of another graph
      KERF_CHECK(isAppend ? readAppend(arguments, statement, number)
                          : readList(arguments, statement.substr(statement.find('=') + 1), number));
    } else {
      continue;
    }
    found = true;
  }
  if (!found) return fail(ErrorCode::NotFound, "no arguments");
  return arguments.take();
}

}  // namespace kerf::inline capture
