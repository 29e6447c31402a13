#include "app/workbench/captures/graph_source.h"

#include <algorithm>

#include "app/workbench/captures/aot_stage.h"
#include "app/workbench/captures/calm_loops.h"
#include "app/workbench/captures/capture_source.h"
#include "app/workbench/captures/exported_programs.h"
#include "app/workbench/captures/given_inputs.h"
#include "app/workbench/captures/memory_need.h"
#include "app/workbench/captures/store_id.h"
#include "app/workbench/captures/symbols.h"
#include "engine/autograd/function_levels.h"
#include "engine/capture/common/recorded_shapes.h"
#include "engine/capture/common/storage_directory.h"
#include "engine/capture/inputs/generated_inputs.h"
#include "engine/ir/parser.h"
#include "engine/ops/core/op_registry.h"
#include "engine/ops/core/shape_conflicts.h"
#include "engine/passes/pass_names.h"
#include "engine/process/temporary_folder.h"
#include "engine/support/log.h"

namespace kerf::workbench {

namespace {

namespace fs = std::filesystem;

/// A graph that the store wrote into a folder of its own; `original` is where it comes from.
Result<AddressedGraph> importMaterialized(const std::string& text, const fs::path& file, TemporaryFolder folder,
                                          const fs::path& original) {
  trustStorages(file.parent_path() / "storages");
  KERF_TRY(auto capture, importCapture(file));
  if (capture.graphs.empty()) return fail(ErrorCode::Internal, "{} reads back without a graph", text);
  AddressedGraph source{text, std::move(capture), 0, {}, std::make_shared<TemporaryFolder>(std::move(folder))};
  source.capture.path = text;
  nameOriginal(source.graph(), file, original);
  return source;
}

Result<GraphRow> onlyGraph(Store& store, std::int64_t captureId) {
  KERF_TRY(auto graphs, store.graphs(captureId));
  KERF_CHECK(store.capture(captureId));
  if (graphs.size() == 1) return graphs.front();
  return fail(ErrorCode::BadUsage, Hint{Advice::ListGraphs, fmt::format("c{}", captureId)},
              "capture c{} holds {} graphs; choose one, as in c{}/g1", captureId, graphs.size(), captureId);
}

/// The graph as it was after pass `pass` of the newest run that recorded it.
Result<Graph> graphAfterPass(Store& store, const GraphRow& row, const std::string& pass) {
  KERF_TRY(const auto runs, store.runs(row.id));
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    KERF_TRY(const auto passes, store.passes(run->id));
    for (auto record = passes.rbegin(); record != passes.rend(); ++record) {
      if (currentPassName(record->pass) != currentPassName(pass)) continue;
      KERF_TRY(const auto text, store.snapshotText(record->hashAfter));
      return parseGraphText(text);
    }
  }
  return fail(ErrorCode::NotFound, Hint{Advice::RecordPasses, fmt::format("c{}/g{}", row.captureId, row.ordinal)},
              "no stored run of c{}/g{} has a pass \"{}\"", row.captureId, row.ordinal, pass);
}

/// Annotations of the inputs, which the text of a graph after a pass does not have.
void annotateLike(const Graph& before, Graph& after) {
  for (const NodeId id : after.placeholders())
    if (const auto known = before.find(after.node(id).name()); known && !after.node(id).meta().value.known())
      after.setValueMeta(id, before.node(*known).meta().value);
}

/// The graph of `row` in its capture, read again from the original files.
Result<std::size_t> findStored(const Capture& capture, const GraphRow& row) {
  for (std::size_t i = 0; i < capture.graphs.size(); ++i) {
    if (capture.graphs[i].name == row.name) return i;
  }
  for (std::size_t i = 0; i < capture.graphs.size(); ++i) {  // another version may have named it otherwise
    const auto& origin = capture.graphs[i].origin;
    const bool same = origin.stage == row.source.stage && origin.compileId == row.source.compileId;
    if (same && row.source.line > 0 && origin.line == row.source.line) return i;
  }
  return fail(ErrorCode::NotFound, "c{}/g{} ({}) is not in its files any more; import them again", row.captureId,
              row.ordinal, row.name);
}

Result<AddressedGraph> readStored(Workbench& bench, Store& store, const std::string& text, const GraphRow& row,
                                  const Job& job) {
  KERF_TRY(const auto capture, store.capture(row.captureId));
  if (isKeptAsFiles(capture)) {
    KERF_TRY(const auto files, openStoredFiles(bench, row.captureId, job));
    KERF_TRY(const auto index, findStored(files->capture, row));
    return AddressedGraph{text, files->capture, index, {}, files};
  }
  KERF_TRY(auto folder, TemporaryFolder::create());
  KERF_TRY(const auto file, store.materialize(row.id, folder.path()));
  KERF_TRY(auto source, importMaterialized(text, file, std::move(folder), capture.path));
  KERF_TRY(const auto exported, exportedTexts(store, capture));
  if (const auto printed = exported.find(row.name); printed != exported.end())
    applyExported(printed->second, source.graph());
  return source;
}

Result<AddressedGraph> fromCapture(Workbench& bench, const std::string& text, const StoreId& id, const Job& job) {
  if (id.record != 0)
    return fail(ErrorCode::BadUsage, Hint{Advice::ShowRecord, text}, "{} is a record, not a graph", text);
  KERF_TRY(auto* store, bench.store());
  KERF_TRY(const auto row, id.graph == 0 ? onlyGraph(*store, id.number) : store->graph(id.number, id.graph));
  KERF_TRY(auto source, readStored(bench, *store, text, row, job));
  source.graph().name = row.name;
  source.graphId = row.id;
  KERF_CHECK(source.graph().ensureLoaded());
  if (id.selector != "pass") return source;
  KERF_TRY(auto after, graphAfterPass(*store, row, id.value));
  annotateLike(source.graph().module.graph, after);
  source.graph().module.graph = std::move(after);
  source.graphId.reset();  // the edited graph is not the stored one
  source.edited = true;
  return source;
}

Result<StepRow> chosenStep(Store& store, const StoreId& id) {
  KERF_CHECK(store.reduction(id.number));
  KERF_TRY(const auto steps, store.steps(id.number));
  if (steps.empty()) return fail(ErrorCode::NotFound, "reduction m{} has no accepted step yet", id.number);
  if (id.selector.empty()) return steps.back();
  for (const auto& step : steps) {
    if (std::to_string(step.index) == id.value) return step;
  }
  return fail(ErrorCode::NotFound, "reduction m{} has no step {}; its last one is {}", id.number, id.value,
              steps.back().index);
}

Result<SlipRow> chosenSlip(Store& store, const StoreId& id) {
  KERF_CHECK(store.reduction(id.number));
  KERF_TRY(const auto slips, store.slips(id.number));
  const auto found = std::ranges::find(slips, id.slip, &SlipRow::number);
  if (found != slips.end()) return *found;
  return fail(ErrorCode::NotFound, "reduction m{} met {} other failures, and none of number {}", id.number,
              slips.size(), id.slip);
}

Result<fs::path> materializeOf(Store& store, const StoreId& id, const fs::path& folder) {
  if (id.slip != 0) {
    KERF_TRY(const auto slip, chosenSlip(store, id));
    return store.materializeSlip(slip.id, folder);
  }
  KERF_TRY(const auto step, chosenStep(store, id));
  return store.materializeStep(step.id, folder);
}

Result<AddressedGraph> fromReduction(Workbench& bench, const std::string& text, const StoreId& id, const Job&) {
  KERF_TRY(auto* store, bench.store());
  KERF_TRY(auto folder, TemporaryFolder::create());
  KERF_TRY(const auto file, materializeOf(*store, id, folder.path()));
  KERF_TRY(auto source, importMaterialized(text, file, std::move(folder), text));
  source.edited = true;
  return source;
}

Result<AddressedGraph> fromRepro(Workbench& bench, const std::string& text, const StoreId& id, const Job&) {
  KERF_TRY(auto* store, bench.store());
  KERF_CHECK(store->repro(id.number));
  KERF_TRY(auto folder, TemporaryFolder::create());
  KERF_TRY(const auto file, store->materializeRepro(id.number, folder.path()));
  KERF_TRY(auto source, importMaterialized(text, file, std::move(folder), text));
  source.edited = true;
  return source;
}

/// The graph that `choose` finds in an opened capture.
template <class Choose>
Result<AddressedGraph> fromOpened(Workbench& bench, const std::string& text, const std::string& path, const Job& job,
                                  Choose choose) {
  KERF_TRY(const auto opened, openCapture(bench, path, job));
  KERF_TRY(const auto index, choose(opened->capture));
  AddressedGraph source{text, opened->capture, index, {}, opened};
  KERF_CHECK(source.graph().ensureLoaded());
  return source;
}

Result<AddressedGraph> resolveText(Workbench& bench, const std::string& text, const Job& job);

Result<AddressedGraph> fromPath(Workbench& bench, const std::string& text, const Job& job) {
  std::error_code ignored;
  const auto [path, name] = splitAtHash(text);
  const auto id = parseStoreId(path);
  if (!name.empty() && id && id->kind == 'c' && !fs::exists(path, ignored)) {
    KERF_TRY(const auto stored, openCapture(bench, path, job));
    KERF_TRY(const auto index, chooseGraph(stored->capture, path, name));
    return resolveText(bench, fmt::format("{}/g{}", path, index + 1), job);
  }
  if (!fs::exists(path, ignored))
    return fail(ErrorCode::NotFound, Hint{Advice::ListIds}, "{} is neither a file nor a store id", text);
  return fromOpened(bench, text, path, job, [&, &path = path, &name = name](const Capture& capture) {
    return chooseGraph(capture, path, name);
  });
}

struct IdReader {
  char kind;
  Result<AddressedGraph> (*read)(Workbench&, const std::string&, const StoreId&, const Job&);
};
constexpr IdReader idReaders[] = {{'c', fromCapture}, {'m', fromReduction}, {'p', fromRepro}};

Result<AddressedGraph> resolveText(Workbench& bench, const std::string& text, const Job& job) {
  const auto id = parseStoreId(text);
  if (!id) return fromPath(bench, text, job);
  return std::ranges::find(idReaders, id->kind, &IdReader::kind)->read(bench, text, *id, job);
}

/// Graph number `index` of the capture `text`.
Result<AddressedGraph> resolveIndex(Workbench& bench, const std::string& text, std::size_t index, const Job& job) {
  if (const auto id = parseStoreId(text))
    return resolveText(bench, id->isWholeCapture() ? fmt::format("{}/g{}", text, index + 1) : text, job);
  return fromOpened(bench, text, text, job, [&](const Capture& capture) -> Result<std::size_t> {
    if (index < capture.graphs.size()) return index;
    return fail(ErrorCode::NotFound, "{} has {} graphs, and none of number {}", text, capture.graphs.size(), index + 1);
  });
}

/// The sizes that a placeholder's value has, under the texts that the graph has for them.
ValueMeta sizedLike(const ValueMeta& before, const Value& value) {
  ValueMeta meta = before;
  if (const auto* integer = value.as<std::int64_t>(); integer != nullptr && meta.sym() != nullptr)
    std::get<SymMeta>(meta.value).expr.hint = *integer;
  if (!value.isTensor() || meta.tensor() == nullptr) return meta;
  auto& tensor = std::get<TensorMeta>(meta.value);
  const auto& given = value.tensor();
  if (tensor.sizes.size() != given.sizes().size()) return meta;
  tensor.strides.resize(given.strides().size());
  for (std::size_t i = 0; i < tensor.sizes.size(); ++i) {
    tensor.sizes[i].hint = given.sizes()[i];
    tensor.strides[i].hint = given.strides()[i];
  }
  return meta;
}

/// Whether only annotations say what the graph takes (text, logs).
bool annotatedOnly(const CapturedGraph& graph) {
  return graph.inputs.empty() && !graph.module.graph.placeholders().empty();
}

/// Shapes of all nodes, as far as they are found.
Result<void> annotate(CapturedGraph& graph, const SymbolBindings& symbols, ShapeEnv& env) {
  if (!annotatedOnly(graph)) KERF_CHECK(graph.annotateInputs());
  if (annotatedOnly(graph) || !symbols.empty()) {
    SymbolBindings all = symbols;
    for (const auto& symbol : graph.symbols()) {
      if (symbol.hint) all.emplace(symbol.text, *symbol.hint);
    }
    bindAnnotations(graph.module, all);
  }
  return annotatedOnly(graph) ? propagateShapes(graph.module, env) : propagateRecorded(graph.module, env);
}

/// Makes every shape of the graph the one that it has for these inputs.
Result<void> bindShapes(GraphModule& module, const ValueList& inputs) {
  auto& graph = module.graph;
  const auto placeholders = graph.placeholders();
  for (std::size_t i = 0; i < std::min(placeholders.size(), inputs.size()); ++i)
    graph.setValueMeta(placeholders[i], sizedLike(graph.node(placeholders[i]).meta().value, inputs[i]));
  return propagateShapes(module);
}

/// What runs of a graph with calls of torch.func's levels: the ops that they stand for.
Result<GraphSource> withoutLevels(GraphSource source) {
  if (!holdsFunctionLevels(source.graph().module)) return source;
  return stageOf(std::move(source), {.stage = AotStage::Functional}, Job{});
}

}  // namespace

Result<GraphSource> resolveGraph(Workbench& bench, const GraphAddress& address, const Job& job) {
  KERF_TRY(auto bindings, parseSymbols(address.symbols));
  KERF_TRY(auto choice, parseInputChoice(address.inputs));
  auto [text, stageName] = splitAtStage(address.text);
  if (!address.stage.empty()) stageName = address.stage;
  KERF_TRY(const auto stage, parseStage(stageName));
  KERF_TRY(auto addressed, address.index < 0 ? resolveText(bench, text, job)
                                             : resolveIndex(bench, text, std::size_t(address.index), job));
  KERF_CHECK(checkSymbols(addressed.graph(), bindings));
  GraphSource source{std::move(addressed), std::move(bindings), choice.fill, address.seed, std::move(choice.file)};
  return stage ? stageOf(std::move(source), *stage, job) : std::move(source);
}

ShapedGraph shapedAsKnown(GraphSource source) {
  ShapeEnv env;
  return shapedAsKnown(std::move(source), env);
}

ShapedGraph shapedAsKnown(GraphSource source, ShapeEnv& env) {
  ShapedGraph known{std::move(source)};
  if (auto complete = annotate(known.graph(), known.symbols, env); !complete)
    known.incomplete = std::move(complete.error());
  return known;
}

Result<ShapedGraph> shaped(GraphSource source) {
  KERF_TRY(source, withoutLevels(std::move(source)));
  ShapedGraph known = shapedAsKnown(std::move(source));
  if (known.incomplete) return fail(std::move(*known.incomplete));
  return known;
}

ShapedGraph shapedAsRecorded(GraphSource source, const Job& job) {
  const auto conflicts = shapeConflicts(source.graph().module);
  ShapedGraph known = shapedForReading(std::move(source), job);
  restoreRecorded(conflicts, known.graph().module.graph);
  for (const std::string& note : conflictNotes(conflicts)) job.warn(note);
  return known;
}

ShapedGraph shapedForReading(GraphSource source, const Job& job) {
  ShapedGraph known = shapedAsKnown(std::move(source));
  if (known.incomplete)
    job.tell(NoteEvent{NoteEvent::Weight::Detail, "shapes are not complete: " + known.incomplete->text()});
  return known;
}

LoadOptions loadOptions(const GraphSource& source) {
  LoadOptions options;
  options.symbols = source.symbols;
  options.fill = source.fill;
  options.seed = source.seed;
  return options;
}

Result<RunnableGraph> runnable(GraphSource source, const Job& job) {
  if (source.inputFile.empty()) return runnableOnRecorded(std::move(source), job);
  const std::string file = source.inputFile;
  return runnableOnFile(std::move(source), file, job);
}

Result<RunnableGraph> runnableOnRecorded(GraphSource source, const Job& job) {
  KERF_TRY(source, withoutLevels(std::move(source)));
  RunnableGraph ready{shapedAsKnown(std::move(source))};
  auto& graph = ready.graph();
  if (ready.incomplete && !annotatedOnly(graph)) return fail(std::move(*ready.incomplete));
  KERF_CHECK(checkMemory(graph, false));
  std::vector<std::string> notes;
  LoadOptions options = loadOptions(ready);
  options.origins = &ready.origins;
  KERF_TRY(ready.inputs, graph.loadInputs(options, &notes));
  for (const auto& note : notes)
    if (!ready.allGiven || !note.starts_with("the graph has no data")) job.warn(note);
  if (annotatedOnly(graph)) {
    // Torch's own functions have no shape rules; what the annotations say stays.
    (void)bindShapes(graph.module, ready.inputs);
  } else if (!ready.symbols.empty()) {
    KERF_CHECK(bindShapes(graph.module, ready.inputs));
  }
  KERF_CHECK(calmLoops(ready, job));
  return ready;
}

}  // namespace kerf::workbench
