// Forms: where the JSON of a struct is not simply its fields' names and values. Keys stay as scripts know them, whatever
// the fields are called.
#pragma once

#include "app/cli/json_of.h"

namespace kerf::cli {

/// Where NaN and infinities are null.
inline Json nullIfNotFinite(const double& value) { return value; }

// Names of enums.

template <std::size_t size, class Enum>
constexpr std::string_view nameIn(const std::string_view (&names)[size], Enum value) {
  return names[std::size_t(value)];
}

constexpr std::string_view verdictNames[] = {"passes", "fails", "fails_differently", "cannot_test"};
template <>
inline constexpr std::string_view (*jsonName<JudgeAnswer::Verdict>)(JudgeAnswer::Verdict) =
    [](JudgeAnswer::Verdict verdict) { return nameIn(verdictNames, verdict); };

constexpr std::string_view stateNames[] = {"fails",      "passes", "cannot_test", "not_opened", "fails_differently",
                                           "not_reached"};
template <>
inline constexpr std::string_view (*jsonName<TriageRow::State>)(TriageRow::State) =
    [](TriageRow::State state) { return nameIn(stateNames, state); };

constexpr std::string_view spanNames[] = {"definition", "access", "call"};
template <>
inline constexpr std::string_view (*jsonName<CodeSpan::Kind>)(CodeSpan::Kind) =
    [](CodeSpan::Kind kind) { return nameIn(spanNames, kind); };

template <>
inline constexpr std::string_view (*jsonName<RecordedGuardDoc::Match>)(RecordedGuardDoc::Match) = matchName;

template <>
inline constexpr std::string_view (*jsonName<ResultKind>)(ResultKind) = resultKindName;

// Captures.

template <>
inline constexpr auto jsonForm<GraphEntry> =
    forms(written(orNull, &GraphEntry::hash, &GraphEntry::compileId, &GraphEntry::stage, &GraphEntry::file),
          written(nullBelow<0>, &GraphEntry::nodes, &GraphEntry::rank), written(nullBelow<1>, &GraphEntry::line),
          leftOut(&GraphEntry::inputs));

/// Without its graph, which is an index.
template <>
inline constexpr auto jsonForm<RecordEntry> =
    forms(written(orNull, &RecordEntry::compileId, &RecordEntry::file), written(nullBelow<0>, &RecordEntry::rank),
          written(nullBelow<1>, &RecordEntry::line), leftOut(&RecordEntry::graph));

/// Without its graphs, which are indices.
template <>
inline constexpr auto jsonForm<CompileEntryDoc> = forms(
    written(orNull, &CompileEntryDoc::failure, &CompileEntryDoc::frame), written(nullBelow<0>, &CompileEntryDoc::rank),
    named(&CompileEntryDoc::seconds, "elapsed_ms",
          [](const double& seconds) { return seconds < 0 ? Json() : Json(seconds * 1000); }),
    written([](const std::vector<int>& records) { return Json(records.size()); }, &CompileEntryDoc::records),
    leftOut(&CompileEntryDoc::graphs, &CompileEntryDoc::metrics));

template <>
inline constexpr auto jsonForm<FusionRow> =
    forms(written(orNull, &FusionRow::kernel, &FusionRow::compileId, &FusionRow::stage),
          written(nullBelow<0>, &FusionRow::rank));

inline Json fromMicroseconds(const std::int64_t& time) { return double(time) / 1000; }
template <>
inline constexpr auto jsonForm<TimelineTotal> = forms(named(&TimelineTotal::totalUs, "total_ms", fromMicroseconds),
                                                      named(&TimelineTotal::selfUs, "self_ms", fromMicroseconds),
                                                      named(&TimelineTotal::longestUs, "longest_ms", fromMicroseconds));
template <>
inline constexpr auto jsonForm<TimelineSummary> = named(&TimelineSummary::spanUs, "span_ms", fromMicroseconds);

template <>
inline constexpr auto jsonForm<LogSentence> = named(&LogSentence::section, "table");

// The store.

/// Nothing is known of a graph that is only indexed.
template <auto field>
Json ifParsed(const ImportedGraph& graph) {
  return graph.nodes < 0 ? Json() : jsonOf(graph.*field);
}
template <>
inline constexpr auto jsonForm<ImportedGraph> = forms(
    written(nullBelow<0>, &ImportedGraph::nodes, &ImportedGraph::rank),
    writtenOf(&ImportedGraph::inputs, "", ifParsed<&ImportedGraph::inputs>),
    writtenOf(&ImportedGraph::storages, "", ifParsed<&ImportedGraph::storages>),
    writtenOf(&ImportedGraph::unknownOps, "", ifParsed<&ImportedGraph::unknownOps>),
    writtenOf(&ImportedGraph::missingStorages, "", ifParsed<&ImportedGraph::missingStorages>),
    written(orNull, &ImportedGraph::compileId, &ImportedGraph::stage), written(nullBelow<1>, &ImportedGraph::line));

template <>
inline constexpr auto jsonForm<StoredRun> = named(&StoredRun::milliseconds, "elapsed_ms", nullIfNotFinite);
template <>
inline constexpr auto jsonForm<StoredRepro> = written(orNull, &StoredRepro::reduction);

template <>
inline constexpr auto jsonForm<StoreInfo> =
    forms(named(&StoreInfo::checkedPages, "page_checksums"),
          named(&StoreInfo::rows, "kinds", [](const std::vector<StoreInfoRow>& rows) {
            Json kinds = Json::object();
            for (const auto& row : rows) kinds[row.kind] = {{"count", row.count}, {"bytes", row.bytes}};
            return kinds;
          }));
template <>
inline constexpr auto jsonForm<StoreFinding> = written(orNull, &StoreFinding::id);
template <>
inline constexpr auto jsonForm<StoreVerdict> =
    forms(addedBehind(&StoreVerdict::store, "whole",
                      [](const StoreVerdict& verdict) { return Json(verdict.findings.empty()); }),
          named(&StoreVerdict::checkedPages, "page_checksums"), named(&StoreVerdict::contents, "graph_texts"),
          named(&StoreVerdict::findings, "damage"));
template <>
inline constexpr auto jsonForm<Swept> =
    forms(named(&Swept::contents, "graph_texts"), named(&Swept::files, "temporary_files"),
          named(&Swept::reductions, "reductions_ended"));

// Runs and comparisons.

template <>
inline constexpr auto jsonForm<EmulatedRow> =
    forms(leftOut(&EmulatedRow::name), named(&EmulatedRow::error, "max_abs_error"));
template <>
inline constexpr auto jsonForm<KernelTime> =
    forms(named(&KernelTime::name, "kernel"), named(&KernelTime::time, "ms"),
          written(nullIfNotFinite, &KernelTime::bytes, &KernelTime::flops, &KernelTime::share));
template <>
inline constexpr auto jsonForm<GradientRow> =
    written(nullIfNotFinite, &GradientRow::gradientError, &GradientRow::jvpError, &GradientRow::dualError);
template <>
inline constexpr auto jsonForm<MemoryRow> =
    forms(named(&MemoryRow::name, "kernel"), named(&MemoryRow::planned, "planned_bytes"),
          named(&MemoryRow::live, "live_bytes"), named(&MemoryRow::peak, "peak_bytes"));

// Stages against each other.

template <>
inline constexpr auto jsonForm<StageValueRow> =
    forms(written(orNull, &StageValueRow::reason), named(&StageValueRow::relativeError, "relative_error_fp64"),
          named(&StageValueRow::error, "max_abs_error"));
template <>
inline constexpr auto jsonForm<ChangedNodeDoc> = written(orNull, &ChangedNodeDoc::before, &ChangedNodeDoc::callBefore);
template <>
inline constexpr auto jsonForm<GradientDoc> = written(orNull, &GradientDoc::why);
template <>
inline constexpr auto jsonForm<StagePairDoc> = forms(
    written(orNull, &StagePairDoc::why),
    addedBehind(&StagePairDoc::why, "worst",
                [](const StagePairDoc& pair) { return pair.values.empty() ? Json() : Json(pair.values.front().name); }),
    named(&StagePairDoc::changed, "first_bad",
          [](const ChangedNodeDoc& changed) { return changed.node.empty() ? Json() : jsonOf(changed); }),
    leftOut(&StagePairDoc::haveGradients),
    writtenOf(&StagePairDoc::gradients, "gradients",
              [](const StagePairDoc& pair) { return pair.haveGradients ? jsonOf(pair.gradients) : Json(); }),
    named(&StagePairDoc::time, "ms"));
template <>
inline constexpr auto jsonForm<CompileVerification> =
    forms(named(&CompileVerification::compile, "compile_id"), written(orNull, &CompileVerification::odd));

// AOTAutograd's stages.

template <>
inline constexpr auto jsonForm<AotStageDoc> =
    forms(named(&AotStageDoc::name, "stage"), written(orNull, &AotStageDoc::error));
template <>
inline constexpr auto jsonForm<AotOutputDoc> =
    forms(written(orNull, &AotOutputDoc::alias), written(nullBelow<0>, &AotOutputDoc::base));

// Passes and patterns.

template <>
inline constexpr auto jsonForm<PassDoc> =
    forms(written(orNull, &PassDoc::part), named(&PassDoc::milliseconds, "elapsed_ms", nullIfNotFinite),
          leftOut(&PassDoc::added, &PassDoc::removed));
template <>
inline constexpr auto jsonForm<PassOptionDoc> = leftOut(&PassOptionDoc::pass, &PassOptionDoc::option);
template <>
inline constexpr auto jsonForm<PassEntry> =
    forms(named(&PassEntry::usual, "default"), written(
                                                   [](const std::vector<PassOptionDoc>& options) {
                                                     Json object = Json::object();
                                                     for (const auto& option : options)
                                                       object[option.option] = jsonOf(option);
                                                     return object;
                                                   },
                                                   &PassEntry::options));
template <>
inline constexpr auto jsonForm<PassCheckDoc> =
    forms(leftOut(&PassCheckDoc::asked),
          written(orNull, &PassCheckDoc::failure, &PassCheckDoc::pass, &PassCheckDoc::result, &PassCheckDoc::node,
                  &PassCheckDoc::reason),
          named(&PassCheckDoc::error, "max_abs_error", nullIfNotFinite));
template <>
inline constexpr auto jsonForm<NearMissDoc> = written(orNull, &NearMissDoc::result, &NearMissDoc::node);

// Guards.

template <>
inline constexpr auto jsonForm<RecordedSymbolDoc> =
    written(orNull, &RecordedSymbolDoc::source, &RecordedSymbolDoc::where);
template <>
inline constexpr auto jsonForm<ShapeSymbolDoc> = written(orNull, &ShapeSymbolDoc::source);
template <>
inline constexpr auto jsonForm<ShapeGuardDoc> =
    forms(named(&ShapeGuardDoc::expression, "guard"),
          written(orNull, &ShapeGuardDoc::node, &ShapeGuardDoc::where, &ShapeGuardDoc::reason));
template <>
inline constexpr auto jsonForm<RecordedGuardDoc> =
    forms(named(&RecordedGuardDoc::expression, "guard"), named(&RecordedGuardDoc::kind, "record"),
          written(orNull, &RecordedGuardDoc::reason, &RecordedGuardDoc::where),
          written(nullBelow<1>, &RecordedGuardDoc::line));
template <>
inline constexpr auto jsonForm<ReplacementDoc> =
    written(orNull, &ReplacementDoc::guard, &ReplacementDoc::node, &ReplacementDoc::where);
template <>
inline constexpr auto jsonForm<DuplicateShapeDoc> = named(&DuplicateShapeDoc::expression, "size");
template <>
inline constexpr auto jsonForm<GuardsDoc> =
    forms(named(&GuardsDoc::title, "name"), written(orNull, &GuardsDoc::compileId),
          named(&GuardsDoc::recorded, "recorded_guards"), named(&GuardsDoc::duplicates, "duplicate_shapes"));

// Differences and lives of nodes.

template <>
inline constexpr auto jsonForm<RewriteDoc> =
    forms(named(&RewriteDoc::opsBefore, "calls_before"), named(&RewriteDoc::opsAfter, "calls_after"));
template <>
inline constexpr auto jsonForm<OpCountDoc> = named(&OpCountDoc::op, "call");
template <>
inline constexpr auto jsonForm<FigureChange> = named(&FigureChange::name, "figure");
template <>
inline constexpr auto jsonForm<LifeNode> = forms(written(orNull, &LifeNode::how), named(&LifeNode::call, "text"));
template <>
inline constexpr auto jsonForm<LifeStage> = named(&LifeStage::part, "stage");
template <>
inline constexpr auto jsonForm<LifeKernel> =
    forms(written(orNull, &LifeKernel::part), written(nullBelow<1>, &LifeKernel::definedAt, &LifeKernel::calledAt),
          named(&LifeKernel::callText, "call", orNull));
template <>
inline constexpr auto jsonForm<NodeLife> = written(orNull, &NodeLife::compileId, &NodeLife::source);

// Reductions and triage.

template <>
inline constexpr auto jsonForm<Minified> = forms(
    named(&Minified::startNodes, "start"),
    addedBehind(&Minified::nodes, "best", [](const Minified& minified) { return Json(minified.nodes); }),
    written(orNull, &Minified::torchSays, &Minified::stoppedBy), written(nullIfNotFinite, &Minified::failureRate));
template <>
inline constexpr auto jsonForm<MinifyEvent> =
    forms(named(&MinifyEvent::startNodes, "start"), named(&MinifyEvent::bestNodes, "best"),
          named(&MinifyEvent::elapsed, "elapsed_ms"),
          named(&MinifyEvent::secondsLeft, "eta_ms",
                [](const double& seconds) { return seconds < 0 ? Json() : Json(seconds * 1000); }),
          leftOut(&MinifyEvent::step));
template <>
inline constexpr auto jsonForm<TriageRow> = forms(
    written(orNull, &TriageRow::graph, &TriageRow::trouble, &TriageRow::sameAs), named(&TriageRow::startNodes, "start"),
    named(&TriageRow::reduction, "reduction_id", orNull), written(nullBelow<1>, &TriageRow::cluster));
template <>
inline constexpr auto jsonForm<TriageCluster> = written(orNull, &TriageCluster::repro);
template <>
inline constexpr auto jsonForm<Triage> = named(&Triage::rows, "graphs");

// Recorded code.

template <>
inline constexpr auto jsonForm<CodeSpan> =
    forms(named(&CodeSpan::first, "first_line", [](const int& line) { return Json(line + 1); }),
          named(&CodeSpan::last, "last_line", [](const int& line) { return Json(line + 1); }));
template <>
inline constexpr auto jsonForm<RecordedProgram> =
    forms(written([](const int& record) { return Json(fmt::format("r{}", record + 1)); }, &RecordedProgram::record),
          written(orNull, &RecordedProgram::part, &RecordedProgram::note));

}  // namespace kerf::cli
