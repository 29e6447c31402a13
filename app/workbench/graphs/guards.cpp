// perform(GuardsRequest): shape propagation in a ShapeEnv of its own, and what the log says beside it.
#include <algorithm>
#include <map>

#include <nlohmann/json.hpp>

#include "app/workbench/captures/graph_source.h"
#include "engine/capture/common/details.h"
#include "engine/capture/pt2/program.h"
#include "engine/support/read_json.h"
#include "engine/symbolic/conditions.h"
#include "engine/symbolic/shape_env.h"

namespace kerf::workbench {

namespace {

RangeDoc rangeDoc(const ValueRange& range) {
  RangeDoc doc;
  if (range.hasLower()) doc.lower = range.lower;
  if (range.hasUpper()) doc.upper = range.upper;
  return doc;
}

/// What a log recorded for a graph's compile id; of logs that say nothing of symbols, and of other captures, null.
const CompileEntry* compileOf(const GraphSource& source) {
  const GraphOrigin& origin = source.graph().origin;
  if (!source.capture.details || origin.compileId.empty()) return nullptr;
  return source.capture.details->compile(origin.compileId, origin.rank);
}

/// Attempts that were given up made other symbols: each is told.
std::vector<RecordedSymbolDoc> recordedAs(const CompileEntry* compile, const std::string& name) {
  std::vector<RecordedSymbolDoc> docs;
  if (compile == nullptr) return docs;
  for (const TracedSymbol& symbol : compile->tracedSymbols)
    if (symbol.name == name) docs.push_back({symbol.value, {symbol.lower, symbol.upper}, symbol.source, symbol.where});
  return docs;
}

/// The guards of an exported program, as Python texts over its inputs.
std::vector<std::string> guardsCode(const CapturedGraph& graph) {
  std::vector<std::string> texts;
  if (!graph.program) return texts;
  const auto field = graph.program->programFields.find("guards_code");
  if (field == graph.program->programFields.end()) return texts;
  const auto list = readJson<nlohmann::json>(field->second);
  for (const auto& entry : list.is_array() ? list : nlohmann::json::array())
    if (entry.is_string()) texts.push_back(entry.get<std::string>());
  return texts;
}

class GuardsBuilder {
 public:
  GuardsBuilder(const ShapedGraph& source, ShapeEnv& env)
      : m_source(source), m_env(env), m_compile(compileOf(source)) {}

  GuardsDoc build() {
    m_doc.title = m_source.graph().name;
    m_doc.compileId = m_source.graph().origin.compileId;
    addSymbols();
    addGuards();
    addReplacements();
    addDuplicates();
    addRecorded();
    return std::move(m_doc);
  }

 private:
  void addSymbols() {
    m_values = m_env.hints();
    for (const auto& [name, value] : m_source.symbols) m_values.insert_or_assign(name, value);
    std::vector<std::string> assumed;
    for (const ShapeSymbol& symbol : m_env.symbols()) {
      ShapeSymbolDoc doc;
      doc.name = symbol.name;
      doc.unbacked = symbol.name.starts_with('u');
      const ValueRange range = rangeNow(symbol.name);
      doc.range = rangeDoc(range);
      doc.source = symbol.source;
      if (symbol.hint && !symbol.isHintAssumed) doc.value = symbol.hint;
      if (symbol.isHintAssumed) assumed.push_back(fmt::format("{} as {}", symbol.name, *symbol.hint));
      if (const auto given = m_source.symbols.find(symbol.name); given != m_source.symbols.end()) {
        doc.given = given->second;
        doc.fits = range.contains(given->second);
      }
      doc.recorded = recordedAs(m_compile, symbol.name);
      m_doc.symbols.push_back(std::move(doc));
    }
    if (!assumed.empty())
      m_doc.notes.push_back(fmt::format("the capture tells no value: {} decided the guards", fmt::join(assumed, ", ")));
  }

  /// Of what the guards made of the symbol.
  ValueRange rangeNow(const std::string& symbol) {
    const ShapeEnv::Scope scope(m_env);
    const SymInt value = m_env.resolved(m_env.intern(Symbolic::symbol(symbol)));
    return value.isSymbolic() ? m_env.range(value) : ValueRange::single(value.bits());
  }

  void addGuards() {
    for (const ShapeGuard& guard : m_env.guards()) {
      ShapeGuardDoc doc{guard.expression.text(), guard.node, guard.where, guard.reason, guard.deferred};
      const auto holds = m_source.symbols.empty() ? Result<bool>(true) : guard.expression.evaluateBool(m_values);
      doc.holds = !holds || *holds;
      m_derived.push_back(guard.expression);
      m_doc.guards.push_back(std::move(doc));
    }
  }

  /// With what later guards have settled.
  Symbolic settled(const Symbolic& value) {
    const auto known = m_env.parse(value.text());
    return known ? m_env.expression(m_env.resolved(*known)) : value;
  }

  void addReplacements() {
    for (const ShapeEnv::Replacement& replacement : m_env.replacements()) {
      ReplacementDoc doc;
      doc.symbol = replacement.symbol;
      const Symbolic value = settled(replacement.value);
      doc.value = value.text();
      if (replacement.guard < m_env.guards().size()) {
        const ShapeGuard& guard = m_env.guards()[replacement.guard];
        doc.guard = guard.expression.text();
        doc.node = guard.node;
        doc.where = guard.where;
      }
      auto& list = value.asInteger() ? m_doc.specialisations : m_doc.replacements;
      list.push_back(std::move(doc));
    }
  }

  /// Sizes that PyTorch gave one symbol because they were equal when it traced.
  void addDuplicates() {
    std::map<std::string, std::vector<std::string>> places;
    const Graph& graph = m_source.graph().module.graph;
    for (const NodeId id : graph.placeholders()) {
      const Node& node = graph.node(id);
      const TensorMeta* tensor = node.meta().value.tensor();
      if (const SymMeta* sym = node.meta().value.sym()) notePlace(sym->expr, node.name(), places);
      for (std::size_t i = 0; tensor != nullptr && i < tensor->sizes.size(); ++i)
        notePlace(tensor->sizes[i], fmt::format("{}.size()[{}]", node.name(), i), places);
    }
    for (auto& [expression, where] : places)
      if (where.size() > 1) m_doc.duplicates.push_back({expression, std::move(where)});
  }

  static void notePlace(const SymExpr& size, std::string place, std::map<std::string, std::vector<std::string>>& into) {
    if (size.text.find_first_not_of("-0123456789") != std::string::npos) into[size.text].push_back(std::move(place));
  }

  void addRecorded() {
    const ShapeEnv::Scope scope(m_env);
    for (const std::string& code : guardsCode(m_source.graph()))
      m_doc.recorded.push_back({code, "guards_code", {}, {}, 0, matchOf(withSizes(code))});
    if (m_compile == nullptr) return;
    for (const TracedGuard& guard : m_compile->guards)
      m_doc.recorded.push_back(
          {guard.expression, guard.kind, guard.reason, guard.where, guard.line, matchOf(guard.expression)});
  }

  /// "L['x'].size()[0]" as the symbol that the input's annotation has there.
  std::string withSizes(std::string code) const {
    const Graph& graph = m_source.graph().module.graph;
    for (const NodeId id : graph.placeholders()) {
      const TensorMeta* tensor = graph.node(id).meta().value.tensor();
      for (std::size_t i = 0; tensor != nullptr && i < tensor->sizes.size(); ++i) {
        const std::string place = fmt::format("L['{}'].size()[{}]", graph.node(id).target(), i);
        const std::string size = "(" + tensor->sizes[i].text + ")";
        for (std::size_t at = code.find(place); size != "()" && at != std::string::npos; at = code.find(place, at))
          code.replace(at, place.size(), size);
      }
    }
    return code;
  }

  RecordedGuardDoc::Match matchOf(const std::string& text) {
    using Match = RecordedGuardDoc::Match;
    const auto expression = Symbolic::parse(text);
    if (!expression) return Match::Unread;
    bool derived = false;
    for (std::size_t i = 0; i < m_derived.size(); ++i)
      if (sameCondition(m_derived[i], *expression)) {
        m_doc.guards[i].recorded = true;
        derived = true;
      }
    if (derived) return Match::Derived;
    for (const std::string& name : expression->symbols())
      if (m_env.findSymbol(name) == nullptr) return Match::OtherGraph;
    try {
      const auto known = m_env.known(*expression);
      return !known ? Match::NotDerived : *known ? Match::Implied : Match::Contradicted;
    } catch (const SymbolicFailure&) {  // an expression beyond all bounds
      return Match::NotDerived;
    }
  }

  const ShapedGraph& m_source;
  ShapeEnv& m_env;
  const CompileEntry* m_compile;
  SymbolBindings m_values;
  std::vector<Symbolic> m_derived;
  GuardsDoc m_doc;
};

/// Guards hold at the sizes that were traced: given values count only for symbols that have none.
SymbolBindings unknownOf(const CapturedGraph& graph, const SymbolBindings& given) {
  SymbolBindings unknown = given;
  for (const SymExpr& symbol : graph.symbols())
    if (symbol.hint) unknown.erase(symbol.text);
  return unknown;
}

}  // namespace

Result<GuardsDocPtr> perform(Workbench& bench, const GuardsRequest& request, const Job& job) {
  KERF_TRY(auto found, resolveGraph(bench, request.graph, job));
  const SymbolBindings given = found.symbols;
  found.symbols = unknownOf(found.graph(), given);
  ShapeEnv env;
  ShapedGraph source = shapedAsKnown(std::move(found), env);
  source.symbols = given;
  auto doc = std::make_shared<GuardsDoc>(GuardsBuilder(source, env).build());
  if (source.incomplete) doc->notes.push_back("guards up to where shapes are known: " + source.incomplete->text());
  return GuardsDocPtr(std::move(doc));
}

}  // namespace kerf::workbench
