// importRepro: a repro.py, as text, to a Capture. The steps are the parts of the file in order (formats A.1).
#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "engine/capture/common/call_syntax.h"
#include "engine/capture/common/extent.h"
#include "engine/capture/common/source_lines.h"
#include "engine/capture/common/storage_directory.h"
#include "engine/capture/inputs/stand_in_attributes.h"
#include "engine/capture/repro/cut_repro.h"
#include "engine/capture/repro/header.h"
#include "engine/capture/repro/init_parser.h"
#include "engine/capture/repro/main_lines.h"
#include "engine/capture/repro/missing_symbols.h"
#include "engine/capture/text/capture.h"
#include "engine/capture/text/partial_notes.h"
#include "engine/ir/parser.h"

namespace kerf::inline capture {
namespace {

class ReproReader {
 public:
  /// `isCut`: what is there of a repro that is not whole.
  ReproReader(std::string_view text, const std::filesystem::path& path, const ImportLimits& limits, bool isCut = false)
      : m_text(text), m_path(path), m_limits(limits), m_isCut(isCut) {}

  Result<Capture> run() {
    KERF_TRY(m_source, scanSource(m_text, m_limits));
    KERF_TRY(m_sections, findSections(m_source));
    readHeader(m_source, m_sections.header, m_capture.envelope, m_symbols);
    KERF_CHECK(readNested());
    KERF_TRY(m_graph.module, readClass(m_sections.model));
    m_graph.module.symbolRanges = m_capture.envelope.symbolRanges;
    if (m_isCut) addStandInAttributes(m_graph.module, m_limits, &m_capture.notes);
    KERF_CHECK(checkAttributes());
    KERF_CHECK(readInputs());
    KERF_CHECK(readMain());
    matchInputs();
    KERF_CHECK(checkExtent(m_graph, m_limits, m_capture.envelope));
    finish();
    return std::move(m_capture);
  }

 private:
  Result<GraphModule> readClass(const ClassSection& section) {
    if (!isPythonIdentifier(section.name))
      return failAtLine(int(section.all.first + 1),
                        fmt::format("'{}' is not a name for a class", section.name.substr(0, 60)));
    // The class line goes directly above forward, whose lines keep their numbers.
    std::string text = fmt::format("class {}(torch.nn.Module):\n", section.name);
    text += m_source.slice(section.forward);
    text += '\n';
    KERF_TRY(GraphModule module, readForward(text, int(section.forward.first)));
    module.className = section.name;
    if (std::int64_t(module.graph.size()) > m_limits.nodes)
      return failAtLine(int(section.forward.first + 1), fmt::format("forward has more than {} nodes", m_limits.nodes),
                        ErrorCode::TooLarge);
    if (!section.init.empty()) KERF_CHECK(parseInit(m_source, section.init, m_nested, m_limits, module, m_lostTensors));
    assignSourceLines(m_source, section.forward, m_path.string(), module.graph);
    return module;
  }

  Result<GraphModule> readForward(const std::string& text, int line) {
    auto module = parseReadable(text, line);
    if (module || !m_isCut || module.error().code != ErrorCode::BadInput) return module;
    PartialReading partial;
    KERF_TRY(GraphModule part, parsePartialReadable(text, line, partial));
    if (!partial.inputs.empty()) return module;  // load_args does not know them
    std::ranges::move(partialNotes("forward", partial), std::back_inserter(m_capture.notes));
    return throughPython(std::move(part));
  }

  Result<void> readNested() {
    for (const ClassSection& section : m_sections.nested) {
      auto module = readClass(section);
      const bool isUsed = m_source.slice(m_sections.model.init).find(section.name + "(") != std::string_view::npos;
      if (!module && !isUsed) continue;  // the model that was traced, in the same text
      if (!module) return fail(std::move(module).error());
      m_nested[section.name] = std::make_shared<const GraphModule>(std::move(*module));
    }
    return {};
  }

  /// Every `self.x` that forward mentions was made by __init__.
  Result<void> checkAttributes() const {
    const GraphModule& module = m_graph.module;
    std::unordered_set<std::string_view> known;
    for (const auto& [name, attribute] : module.attributes) known.insert(name);
    for (const auto& [name, submodule] : module.submodules) known.insert(name);
    for (const NodeId id : module.graph.order()) {
      const Node& node = module.graph.node(id);
      if (node.op() != Opcode::GetAttr && node.op() != Opcode::CallModule) continue;
      const std::string_view path = node.target();
      if (known.contains(path) || known.contains(path.substr(0, path.find('.')))) continue;
      Error error{ErrorCode::BadInput,
                  fmt::format("self.{} is not defined in __init__", path),
                  {},
                  node.meta().sourceLine,
                  {},
                  {}};
      return fail(std::move(error.atNode(node.name())));
    }
    return {};
  }

  /// Names that load_args uses without a line that defines them get their values here, and their lines on export.
  void defineSymbols(LineRange lines) {
    for (const MissingSymbol& symbol : missingSymbols(m_source, lines, m_symbols)) {
      m_symbols[symbol.name] = symbol.value;
      m_capture.envelope.symbols.emplace_back(symbol.name, symbol.value);
      m_symbolLines.push_back(fmt::format("{} = {}", symbol.name, symbol.value));
      m_capture.notes.push_back(
          fmt::format("{} is not defined in the file: {} is taken, {}", symbol.name, symbol.value,
                      symbol.isGuess ? "as nothing says its value" : "the value of its reader.symint"));
    }
  }

  /// The arguments of a file without load_args: those next above the class, else the first below it.
  Result<LoaderContents> readOldArguments() {
    for (const LineRange lines : {m_sections.header, m_sections.main}) {
      defineSymbols(oldArgumentLines(m_source, lines));
      auto contents = parseOldArguments(m_source, lines, m_symbols, m_limits);
      if (contents && lines.first == 0) dropArgumentLines(lines);
      if (contents || contents.error().code != ErrorCode::NotFound) return contents;
    }
    return fail(ErrorCode::NotFound, "no arguments");
  }

  /// load_args is written in their place.
  void dropArgumentLines(LineRange header) {
    const LineRange lines = oldArgumentLines(m_source, header);
    std::vector<std::string>& kept = m_capture.envelope.headerLines;
    kept.erase(kept.begin() + std::ptrdiff_t(lines.first), kept.begin() + std::ptrdiff_t(lines.last));
    std::erase_if(kept, [](std::string_view line) { return line.starts_with("args = [rand_strided(sh, st"); });
  }

  void noteInputs(const LoaderContents& contents) {
    const auto note = [&](std::size_t count, std::string_view what) {
      if (count > 0) m_capture.notes.push_back(fmt::format("{} {}", count, what));
    };
    note(contents.grown, "storages have 0 bytes in the file, as FSDP2 leaves them: random data of the tensors' sizes");
    note(contents.valueless, "integer inputs have no value in the file (reader.symint(None)): 8 is taken");
    note(contents.madeByCall, "inputs come from calls such as torch.randn: Kerf takes the shape and generates values");
  }

  Result<void> readInputs() {
    if (!m_sections.loader.empty()) defineSymbols(m_sections.loader);
    auto contents = m_sections.loader.empty() ? readOldArguments() : readLoader();
    if (!contents && contents.error().code == ErrorCode::NotFound)
      return failAtLine(int(m_source.lines.size()), "the file has no load_args: truncated?");
    if (!contents) return fail(std::move(contents).error());
    noteInputs(*contents);
    m_graph.inputs = std::move(contents->inputs);
    m_graph.storages = std::move(contents->storages);
    if (m_isCut) KERF_CHECK(addUnsaid());
    return checkArity();
  }

  Result<LoaderContents> readLoader() {
    if (!m_isCut) return parseLoader(m_source, m_sections.loader, m_symbols, m_limits);
    int line = 0;
    auto contents = parseCutLoader(m_source, m_sections.loader, m_symbols, m_limits, line);
    if (contents && line > 0) m_capture.notes.push_back(fmt::format("load_args is read up to line {}", line - 1));
    return contents;
  }

  /// Inputs that stood behind the cut.
  Result<void> addUnsaid() {
    if (m_graph.inputs.empty()) return failAtLine(0, "load_args makes nothing before the cut");
    const std::size_t added = addUnsaidInputs(m_graph);
    if (added > 0)
      m_capture.notes.push_back(fmt::format("load_args says nothing of the last {} of {} inputs, as it is cut", added,
                                            m_graph.inputs.size()));
    return {};
  }

  Result<void> checkArity() const {
    const std::size_t wanted = m_graph.module.graph.placeholders().size();
    if (wanted == m_graph.inputs.size()) return {};
    const std::size_t line = m_sections.loader.empty() ? m_sections.model.forward.first + 1 : m_sections.loader.last;
    return failAtLine(int(line),
                      fmt::format("forward takes {} arguments, load_args makes {}", wanted, m_graph.inputs.size()));
  }

  Result<void> readMain() {
    ReproEnvelope& envelope = m_capture.envelope;
    if (m_sections.loader.empty()) return {};  // written before run_repro existed: the main part is written anew
    if (m_isCut) return {};
    if (!readRunOptions(m_source, m_sections.main, envelope.runOptions))
      return failAtLine(int(m_source.lines.size()), "the file ends without a call of run_repro: truncated?");
    envelope.betweenLines = copyLines(m_source, m_sections.between);
    envelope.mainLines = copyLines(m_source, m_sections.behindLoader);
    std::ranges::move(copyLines(m_source, m_sections.main), std::back_inserter(envelope.mainLines));
    if (m_source.slice(m_sections.main).find("after_dynamo") != std::string_view::npos)
      envelope.runner = "after_dynamo";
    for (const std::string& line : envelope.mainLines) {
      constexpr std::string_view version = "load_args._version = ";
      if (line.starts_with(version)) envelope.loaderVersion = std::atoi(line.c_str() + version.size());
    }
    return {};
  }

  /// Inputs without a name of their own are called as their placeholder.
  void matchInputs() {
    const std::vector<NodeId> placeholders = m_graph.module.graph.placeholders();
    for (std::size_t i = 0; i < m_graph.inputs.size(); ++i)
      if (m_graph.inputs[i].name.empty()) m_graph.inputs[i].name = m_graph.module.graph.node(placeholders[i]).target();
  }

  std::string saveDirectory() const {
    for (const auto& [key, value] : m_capture.envelope.runOptions) {
      if (key != "save_dir") continue;
      const auto expression = parsePythonExpression(value);
      if (expression && expression->kind == PythonKind::String) return expression->text;
    }
    return {};
  }

  void finish() {
    m_graph.name = "forward";
    std::vector<std::string>& header = m_capture.envelope.headerLines;
    header.insert(header.begin(), m_symbolLines.begin(), m_symbolLines.end());
    if (!m_path.empty()) {
      m_graph.namedBySha1 = m_capture.envelope.runner == "after_dynamo" || isWrittenByKerf(m_capture.envelope);
      m_graph.storageDirectory = findStorageDirectory(m_path, saveDirectory(), m_graph.storages);
      noteMissingStorages(m_graph, m_capture.notes);
    }
    if (m_lostTensors > 0)
      m_capture.notes.push_back(
          fmt::format("{} buffers or parameters were saved without values: random data is used", m_lostTensors));
    m_capture.kind = "repro";
    m_capture.path = m_path;
    m_capture.torchVersion = m_capture.envelope.torchVersion;
    m_capture.graphs.push_back(std::move(m_graph));
  }

  std::string_view m_text;
  const std::filesystem::path& m_path;
  const ImportLimits& m_limits;
  bool m_isCut;
  SourceText m_source;
  ReproSections m_sections;
  Symbols m_symbols;
  NestedModules m_nested;
  Capture m_capture;
  CapturedGraph m_graph;
  std::size_t m_lostTensors = 0;
  std::vector<std::string> m_symbolLines;  ///< of symbols that the file uses and does not define
};

}  // namespace

Result<Capture> importRepro(std::string_view text, const std::filesystem::path& path, const ImportLimits& limits) {
  auto capture = ReproReader(text, path, limits).run();
  if (!capture && capture.error().file.empty()) capture.error().atFile(path.string(), capture.error().line);
  return capture;
}

Result<Capture> importCutRepro(std::string_view text, const std::filesystem::path& path, const ImportLimits& limits) {
  KERF_TRY(const std::string_view closed, closedStatements(text, limits));
  return ReproReader(closed, path, limits, true).run();
}

}  // namespace kerf::inline capture
