#include "engine/capture/repro/loader_parser.h"

#include <algorithm>
#include <unordered_map>

#include "engine/capture/common/view_extent.h"

namespace kerf::inline capture {
namespace {

constexpr std::size_t hashDigits = 40;

bool isHash(std::string_view text) {
  return text.size() == hashDigits && text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

class LoaderParser {
 public:
  LoaderParser(const SourceText& source, const Symbols& symbols, const ImportLimits& limits)
      : m_source(source), m_symbols(symbols), m_limits(limits) {}

  Result<LoaderContents> run(LineRange lines) {
    for (std::size_t line = lines.first + 1; line < lines.last;) {
      std::size_t next = line + 1;
      if (m_source.startsStatement(line)) {
        next = m_source.statementEnd(line, lines.last);
        KERF_CHECK(statement({line, next}));
      }
      line = next;
      if (std::int64_t(m_contents.inputs.size()) > m_limits.nodes)
        return failAtLine(int(line), fmt::format("more than {} inputs", m_limits.nodes), ErrorCode::TooLarge);
    }
    return std::move(m_contents);
  }

 private:
  Result<void> statement(LineRange lines) {
    const std::string_view first = trimmed(m_source.lines[lines.first]);
    if (first.starts_with("\"\"\"") || first.starts_with("'''")) return block(lines);
    if (first == "pass" || first.starts_with("return") || first.starts_with("load_args.")) return {};
    PythonLexer lexer(m_source.slice(lines), int(lines.first + 1));
    return call(lexer, false);
  }

  /// The triple-quoted text after `unsupported` of a list. Python ignores it, but it may name storages used later.
  Result<void> block(LineRange lines) {
    std::size_t end = lines.first + 1;
    while (end < lines.last && m_source.inString[end] != 0) ++end;
    for (std::size_t line = lines.first; line < end; ++line) {
      const std::string_view content = trimmed(m_source.lines[line]);
      if (content.starts_with("buf") && content.find("reader.storage(") != std::string_view::npos) {
        PythonLexer lexer(m_source.lines[line], int(line + 1));
        (void)call(lexer, true);  // free text: what does not parse defines nothing
      }
      if (!m_contents.inputs.empty()) m_contents.inputs.back().block.emplace_back(m_source.lines[line]);
    }
    return {};
  }

  Result<void> call(PythonLexer& lexer, bool inBlock) {
    std::string variable;
    PythonLexer ahead = lexer;
    const PythonToken name = ahead.take();
    if (name.kind == PythonTokenKind::Name && ahead.accept("=")) {
      variable = name.text;
      lexer = ahead;
    }
    KERF_TRY(const CallSyntax syntax, parseCall(lexer));
    std::string_view comment;
    if (lexer.peek().kind == PythonTokenKind::Comment) comment = trimmed(lexer.take().text);
    if (lexer.peek().kind == PythonTokenKind::Newline) lexer.take();
    if (lexer.peek().kind != PythonTokenKind::End && lexer.peek().kind != PythonTokenKind::Comment)
      return fail(lexer.errorHere("the end of the line"));
    const bool isArgument = syntax.function == "reader.tensor" || syntax.function == "reader.symint";
    if (!variable.empty() && !isArgument) return storage(syntax, variable, inBlock);
    return argument(syntax, comment);
  }

  Result<void> storage(const CallSyntax& call, const std::string& variable, bool inBlock) {
    if (call.function != "reader.storage")
      return failAtLine(call.line, fmt::format("'{}' is not a line of load_args", call.function));
    StorageRef reference;
    reference.line = call.line;
    reference.inBlock = inBlock;
    KERF_CHECK(readHash(call, reference));
    const CallArgument* bytes = call.find(1, "nbytes");
    if (bytes == nullptr) return failAtLine(call.line, "reader.storage has no number of bytes");
    KERF_TRY(reference.bytes, evaluateInteger(bytes->value, m_symbols));
    if (isSymbolic(bytes->value)) reference.bytesText = plainText(bytes->text);
    if (reference.bytes < 0) return failAtLine(call.line, "a storage cannot have a negative size");
    if (reference.bytes > m_limits.tensorBytes)
      return failAtLine(
          call.line,
          fmt::format("a storage of {} bytes is beyond the limit of {}", reference.bytes, m_limits.tensorBytes),
          ErrorCode::TooLarge);
    if (const CallArgument* device = call.find(2, "device")) {
      KERF_TRY(reference.device, deviceOf(device->value));
    }
    if (const CallArgument* hint = call.find(3, "dtype_hint"); hint != nullptr && !hint->value.isNone()) {
      KERF_TRY(reference.dtypeHint, dtypeOf(hint->value));
    }
    define(variable, std::move(reference));
    return {};
  }

  static Result<void> readHash(const CallSyntax& call, StorageRef& reference) {
    const CallArgument* hash = call.find(0, "storage_hash");
    if (hash == nullptr) return failAtLine(call.line, "reader.storage has no hash");
    if (hash->value.isNone()) return {};
    KERF_TRY(reference.hash, stringOf(hash->value));
    if (!isHash(reference.hash))
      return failAtLine(call.line, fmt::format("'{}' is not a storage hash of 40 hex digits", reference.hash));
    return {};
  }

  void define(const std::string& variable, StorageRef reference) {
    const auto known = m_buffers.find(variable);
    if (known != m_buffers.end()) {
      if (reference.inBlock) return;  // text in a string does not replace what a line has defined
      StorageRef& earlier = m_contents.storages[known->second];
      if (earlier.inBlock && earlier.hash == reference.hash && earlier.bytes == reference.bytes) {
        earlier.inBlock = reference.inBlock;
        return;
      }
    }
    m_buffers[variable] = m_contents.storages.size();
    m_contents.storages.push_back(std::move(reference));
  }

  Result<void> argument(const CallSyntax& call, std::string_view comment) {
    using Reader = Result<void> (LoaderParser::*)(const CallSyntax&, GraphInput&);
    struct Row {
      std::string_view function;
      GraphInput::Kind kind;
      Reader read;
    };
    static constexpr Row rows[] = {
        {"reader.tensor", GraphInput::Kind::Tensor, &LoaderParser::tensor},
        {"reader.symint", GraphInput::Kind::SymInt, &LoaderParser::symint},
        {"reader.const", GraphInput::Kind::Const, &LoaderParser::named},
        {"reader.unsupported", GraphInput::Kind::Unsupported, &LoaderParser::named},
        {"reader.generator", GraphInput::Kind::Generator, &LoaderParser::verbatim},
        {"reader.opaque", GraphInput::Kind::Opaque, &LoaderParser::verbatim},
    };
    for (const Row& row : rows) {
      if (call.function != row.function) continue;
      GraphInput input;
      input.kind = row.kind;
      input.line = call.line;
      input.comment = comment;
      input.name = comment;
      KERF_CHECK((this->*row.read)(call, input));
      m_contents.inputs.push_back(std::move(input));
      return {};
    }
    return failAtLine(call.line, fmt::format("'{}' is not a line of load_args", call.function));
  }

  Result<void> verbatim(const CallSyntax& call, GraphInput& input) {
    input.text = call.text;
    return {};
  }

  Result<void> named(const CallSyntax& call, GraphInput& input) {
    input.text = call.text;
    if (!call.arguments.empty() && call.arguments[0].value.kind == PythonKind::String)
      input.name = call.arguments[0].value.text;
    return {};
  }

  Result<void> symint(const CallSyntax& call, GraphInput& input) {
    const CallArgument* value = call.find(0, "val");
    if (value == nullptr) return failAtLine(call.line, "reader.symint has no value");
    if (value->value.isNone()) {  // unbacked: PyTorch had no value either
      constexpr std::int64_t untold = 8;
      input.sym.hint = untold;
      ++m_contents.valueless;
      return {};
    }
    KERF_TRY(input.sym.hint, evaluateInteger(value->value, m_symbols));
    if (isSymbolic(value->value)) input.sym.text = plainText(value->text);
    if (const CallArgument* text = call.find(1, "expr"); text != nullptr && !text->value.isNone()) {
      KERF_TRY(input.sym.text, stringOf(text->value));
      input.hasExprKeyword = true;
    }
    return {};
  }

  Result<void> tensor(const CallSyntax& call, GraphInput& input) {
    const CallArgument* buffer = call.find(0, "storage");
    const CallArgument* shape = call.find(1, "shape");
    if (buffer == nullptr || shape == nullptr)
      return failAtLine(call.line, "reader.tensor needs a storage and a shape");
    const auto known = m_buffers.find(buffer->value.text);
    if (buffer->value.kind != PythonKind::Name || known == m_buffers.end())
      return failAtLine(call.line, fmt::format("the storage '{}' is not defined", buffer->text));
    input.storageIndex = int(known->second);
    input.device = m_contents.storages[known->second].device;
    KERF_TRY(input.sizes, evaluateIntegers(shape->value, m_symbols));
    KERF_TRY(input.sizeTexts, symbolicTexts(*shape, input.sizes.size()));
    KERF_CHECK(checkSizes(input, call.line));
    KERF_CHECK(strides(call, input));
    KERF_CHECK(keywords(call, input));
    KERF_CHECK(growEmpty(input, m_contents.storages[known->second]));
    return checkBounds(input, m_contents.storages[known->second]);
  }

  /// A storage without contents has none to contradict: it grows, as PyTorch's does. FSDP2 frees its parameters, so that
  /// their storages are written with 0 bytes; sizes in posted texts are edited.
  Result<void> growEmpty(const GraphInput& input, StorageRef& storage) {
    if (!storage.hash.empty() || !storage.bytesText.empty()) return {};
    KERF_TRY(const std::int64_t needed, viewBytes(input, m_limits));
    if (needed > storage.bytes) ++m_contents.grown;
    storage.bytes = std::max(storage.bytes, needed);
    return {};
  }

  /// The text of an expression, comments and line breaks inside it left out.
  static std::string plainText(std::string_view text) {
    if (text.find_first_of("#\n\\") == std::string_view::npos) return std::string(text);
    std::string out;
    const std::string enclosed = "(" + std::string(text) + ")";
    PythonLexer lexer(enclosed);
    std::string_view before;
    while (lexer.peek().kind != PythonTokenKind::End && lexer.peek().kind != PythonTokenKind::Error) {
      const PythonToken token = lexer.take();
      const bool words = token.kind != PythonTokenKind::Operator && !out.empty() &&
                         before.find_first_of("()[],+-*/%") == std::string_view::npos;
      if (token.kind != PythonTokenKind::Newline) out += (words ? " " : "") + std::string(token.text);
      before = token.text;
    }
    return out.size() < 2 ? out : out.substr(1, out.size() - 2);
  }

  /// The items of a symbolic tuple as written; nothing for plain numbers.
  static Result<std::vector<std::string>> symbolicTexts(const CallArgument& tuple, std::size_t count) {
    if (!isSymbolic(tuple.value)) return std::vector<std::string>{};
    const bool sequence = tuple.value.kind == PythonKind::Tuple || tuple.value.kind == PythonKind::List;
    std::vector<std::string> texts = sequence ? itemTexts(plainText(tuple.text)) : std::vector{plainText(tuple.text)};
    if (texts.size() != count) return failAtLine(tuple.value.line, "this is not a tuple of sizes");
    return texts;
  }

  static Result<void> checkSizes(const GraphInput& input, int line) {
    const auto elements = checkedNumel(input.sizes);
    if (!elements) return failAtLine(line, elements.error().message, elements.error().code);
    return {};
  }

  Result<void> strides(const CallSyntax& call, GraphInput& input) {
    const CallArgument* given = call.find(2, "stride");
    if (given == nullptr || given->value.isNone()) {
      input.strides = contiguousStrides(input.sizes);
      if (!input.sizeTexts.empty()) input.strideTexts = contiguousTexts(input.sizes, input.sizeTexts);
      return {};
    }
    KERF_TRY(input.strides, evaluateIntegers(given->value, m_symbols));
    KERF_TRY(input.strideTexts, symbolicTexts(*given, input.strides.size()));
    if (input.strides.size() != input.sizes.size())
      return failAtLine(call.line, fmt::format("{} strides for {} sizes", input.strides.size(), input.sizes.size()));
    input.explicitStrides = true;
    return {};
  }

  Result<void> keywords(const CallSyntax& call, GraphInput& input) {
    for (const CallArgument& argument : call.arguments) {
      const std::string& key = argument.keyword;
      if (key.empty() || key == "storage" || key == "shape" || key == "stride") continue;
      if (key == "dtype") {
        KERF_TRY(input.dtype, dtypeOf(argument.value));
      } else if (key == "storage_offset") {
        KERF_TRY(input.storageOffset, evaluateInteger(argument.value, m_symbols));
        if (isSymbolic(argument.value)) input.offsetText = plainText(argument.text);
      } else if (key == "requires_grad") {
        KERF_TRY(input.requiresGrad, booleanOf(argument));
      } else if (key == "is_leaf") {
        KERF_TRY(input.isLeaf, booleanOf(argument));
      } else {
        input.extra.emplace_back(key, argument.text);
      }
    }
    return {};
  }

  Result<void> checkBounds(const GraphInput& input, const StorageRef& storage) const {
    KERF_TRY(const std::int64_t needed, viewBytes(input, m_limits));
    if (needed <= storage.bytes) return {};
    return failAtLine(input.line, fmt::format("the tensor '{}' needs {} bytes, its storage has {}", input.name, needed,
                                              storage.bytes));
  }

  const SourceText& m_source;
  const Symbols& m_symbols;
  const ImportLimits& m_limits;
  LoaderContents m_contents;
  std::unordered_map<std::string, std::size_t> m_buffers;
};

}  // namespace

Result<LoaderContents> parseLoader(const SourceText& source, LineRange lines, const Symbols& symbols,
                                   const ImportLimits& limits) {
  return LoaderParser(source, symbols, limits).run(lines);
}

}  // namespace kerf::inline capture
