#include "engine/accuracy/same_two_models.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "engine/accuracy/early_answer.h"
#include "engine/accuracy/fp64_run.h"
#include "engine/accuracy/kept_memory.h"
#include "engine/accuracy/lean_comparison.h"
#include "engine/accuracy/own_attributes.h"
#include "engine/accuracy/run_inputs.h"
#include "engine/accuracy/scalar_loss.h"
#include "engine/ir/interpreter.h"
#include "engine/ops/core/autocast.h"
#include "engine/ops/random/state.h"
#include "engine/tensor/storage.h"

namespace kerf::inline accuracy {
namespace {

/// What the interpreter refuses (a false assertion, an index out of range, a division by zero), the graph or its inputs
/// are to blame for: there is nothing to compare with.
Error referenceError(Error error) {
  if (error.code == ErrorCode::RuntimeFailed || error.code == ErrorCode::CompileFailed)
    error.code = ErrorCode::BadInput;
  error.while_("running the reference");
  return error;
}

/// One comparison: the graph, its values before any run, and what a run gets of them.
class TwoModels {
 public:
  TwoModels(const GraphModule& reference, const OpCaller& ops, const ValueList& inputs, const CompareOptions& options,
            std::stop_token stop, bool isLean)
      : m_reference(reference),
        m_ops(ops),
        m_inputs(inputs),
        m_options(options),
        m_stop(std::move(stop)),
        m_names(reference),
        m_wantsLoss(!options.forwardOnly && requiresBackwardPass(reference, inputs)),
        m_isLean(isLean && options.useFp64 && !options.requireFp64) {}

  Result<ComparisonReport> compare(const RunModel& compiled) {
    KERF_TRY(const GraphModule before, withOwnAttributes(m_reference, m_names.attributes));
    const SharedInputs shared(m_inputs, needOwnMemory(m_inputs, m_names));
    auto ref = runReference();
    if (!ref) return fail(referenceError(ref.error()));
    giveMemoryBack();
    auto res = runCompiled(compiled);
    if (!res) {
      // An op without a kernel is no failure of the compiled side: there is none.
      if (res.error().code == ErrorCode::Cancelled || res.error().code == ErrorCode::UnsupportedOp)
        return fail(res.error());
      m_report.failure = res.error().text();
      m_report.same = true;  // as in PyTorch: an exception is a bug, but not the accuracy bug
      return std::move(m_report);
    }
    const std::vector<std::size_t> overwritten = shared.changed();
    const std::vector<OutputVerdict> structure = structureRows(m_names, *ref, *res);
    giveMemoryBack();
    Results results{before, *ref, *res, compiled, {}};
    const RunResults start{{}, m_inputs, attributesOf(before)};
    const bool isSettled = m_isLean && settleWhatIsClose(results, start);
    if (m_isLean && !isSettled && overwritten.empty()) {
      KERF_TRY(const bool fails, failsEarly(results));
      if (fails) return std::move(m_report);
    }
    KERF_TRY(const auto truth,
             isSettled ? Result<std::optional<RunResults>>(std::nullopt) : runFp64(results, overwritten.empty()));
    SameReport verdict =
        compareValues(m_names, start, *ref, *res, truth ? &*truth : nullptr, m_options.sameOptions(), results.ready);
    std::ranges::copy(structure, std::back_inserter(verdict.outputs));
    verdict.same = std::ranges::all_of(verdict.outputs, &OutputVerdict::same);
    KERF_CHECK(restoreAttributes(before, m_reference, m_names.attributes));
    if (m_wantsLoss) addLoss(results, truth ? &*truth : nullptr, verdict);
    m_report.same = verdict.same && overwritten.empty();
    m_report.outputs = std::move(verdict.outputs);
    for (const std::size_t i : overwritten) m_report.outputs.push_back(strayWrite(m_names.inputs[i]));
    return std::move(m_report);
  }

 private:
  NamedValues attributesOf(const GraphModule& module) const { return attributeValues(module, m_names.attributes); }

  Result<RunResults> runReference() const {
    KERF_TRY(const GraphModule own, withOwnAttributes(m_reference, m_names.attributes));
    RunResults run;
    KERF_TRY(run.inputs, inputsForRun(m_inputs, m_names));
    const AutocastScope autocast;  // as every run begins
    const RandomScope random;      // every run sees the same random numbers
    KERF_TRY(run.outputs, Interpreter(own, m_ops).run(run.inputs, m_stop));
    run.attributes = attributesOf(own);
    return run;
  }

  /// What was run, and what is known of it by now.
  struct Results {
    const GraphModule& before;
    RunResults& ref;
    RunResults& res;
    const RunModel& compiled;
    ReadyRows ready;
    std::map<std::size_t, Value> refLosses{}, resLosses{}, truthLosses{};  ///< of outputs that are not kept
    bool isWhole = true;                                                   ///< all outputs are still there
    std::set<std::size_t> settled{};                                       ///< outputs that need no fp64 reference
    ReadyRows open{};                                                      ///< of the others, without it
  };

  /// Rule 4 comes before rule 5 (formats A.4): what is close enough needs no fp64 reference. True: nothing does. A
  /// loss is made of all outputs, so that nothing is settled where it is off.
  bool settleWhatIsClose(Results& results, const RunResults& start) {
    SameOptions options = m_options.sameOptions();
    options.ignoreNonFloat = false;  // without fp64 that lets floats pass
    ReadyRows rows = rowsOfTensors(results, options);
    bool allClose = compareValues(m_names, start, results.ref, results.res, nullptr, options, rows).same;
    if (allClose && m_wantsLoss) allClose = isLossClose(results, options);
    m_report.fp64Note = allClose ? "every result is close enough without one" : "";
    if (!allClose && m_wantsLoss) return false;
    for (auto& [i, row] : rows) {
      const bool isClose = std::ranges::all_of(row, &OutputVerdict::same);
      if (isClose) results.settled.insert(i);
      (isClose ? results.ready : results.open)[i] = std::move(row);
    }
    if (allClose || liveStorageBytes() <= keptBelow) return allClose;
    for (const std::size_t i : results.settled) forgetBoth(results, i);
    giveMemoryBack();
    return false;
  }

  /// Where all outputs take much memory, one may be enough, and the others go before it is computed in fp64. True: the
  /// report says so.
  Result<bool> failsEarly(Results& results) {
    if (m_wantsLoss || results.open.empty() || liveStorageBytes() <= keptBelow) return false;
    KERF_TRY(const GraphModule own, withOwnAttributes(results.before, m_names.attributes));
    const OpenComparison now{own, m_names, m_inputs, results.ref, results.res, results.open, results.settled};
    bool areGone = false;
    const auto forgetOthers = [&](std::size_t chosen) {
      for (std::size_t i = 0; i < outputCount(results.ref); ++i)
        if (i != chosen) forgetBoth(results, i);
      areGone = true;
      giveMemoryBack();
    };
    KERF_TRY(auto failing, firstFailure(now, m_ops, m_options.sameOptions(), m_stop, forgetOthers));
    if (!failing && areGone) KERF_CHECK(startOver(results));
    if (!failing) return false;
    failing->insert(results.ready.begin(), results.ready.end());
    for (const auto& [i, rows] : *failing) std::ranges::copy(rows, std::back_inserter(m_report.outputs));
    m_report.haveFp64 = true;
    KERF_CHECK(restoreAttributes(results.before, m_reference, m_names.attributes));
    return true;
  }

  /// Without fp64, of the tensors among the outputs; none where the sides return different numbers of values.
  static ReadyRows rowsOfTensors(const Results& results, const SameOptions& options) {
    ReadyRows rows;
    if (outputCount(results.ref) != outputCount(results.res)) return rows;
    for (std::size_t i = 0; i < outputCount(results.ref); ++i) {
      const Value& ref = results.ref.outputs.list()[i];
      if (ref.isTensor())
        rows[i] = sameNamed(fmt::format("out{}", i), ref, results.res.outputs.list()[i], {}, options).outputs;
    }
    return rows;
  }

  bool isLossClose(const Results& results, const SameOptions& options) const {
    const auto left = reduceToScalarLoss(results.ref.outputs, m_ops),
               right = reduceToScalarLoss(results.res.outputs, m_ops);
    return left && right && sameNamed("loss", *left, *right, {}, options).same;
  }

  static std::size_t outputCount(const RunResults& run) { return run.outputs.isList() ? run.outputs.list().size() : 0; }

  static void forgetBoth(Results& results, std::size_t i) {
    forgetOutput(results.ref, i);
    forgetOutput(results.res, i);
    results.isWhole = false;
  }

  /// Compares outputs of the fp64 run as they come, so that they need not be kept, nor what they were compared with.
  OnOutput takerOf(Results& results) const {
    if (outputCount(results.ref) != outputCount(results.res)) return {};
    const bool forgets = liveStorageBytes() > keptBelow;
    return [this, forgets, &results, options = m_options.sameOptions()](std::size_t i, const Value& truth) {
      const Value ref = results.ref.outputs.list()[i], res = results.res.outputs.list()[i];
      results.ready[i] = sameNamed(fmt::format("out{}", i), ref, res, truth, options).outputs;
      noteLoss(ref, i, results.refLosses);
      noteLoss(res, i, results.resLosses);
      noteLoss(truth, i, results.truthLosses);
      if (forgets) forgetBoth(results, i);
    };
  }

  void noteLoss(const Value& output, std::size_t i, std::map<std::size_t, Value>& losses) const {
    if (!m_wantsLoss) return;
    if (auto loss = reduceToScalarLoss(output, m_ops)) losses.insert_or_assign(i, std::move(*loss));
  }

  /// After an fp64 run that failed: nothing that it said holds, and what it let go is computed once more.
  Result<void> startOver(Results& results) const {
    results.ready.clear();
    results.settled.clear();
    for (auto* losses : {&results.refLosses, &results.resLosses, &results.truthLosses}) losses->clear();
    if (results.isWhole) return {};
    KERF_CHECK(restoreAttributes(results.before, m_reference, m_names.attributes));
    KERF_TRY(results.ref, runReference());
    KERF_TRY(results.res, runCompiled(results.compiled));
    results.isWhole = true;
    return {};
  }

  /// The row "loss". PyTorch runs the backward pass of it and compares gradients, which need a joint graph here.
  void addLoss(const Results& results, const RunResults* fp64, SameReport& verdict) {
    m_report.backwardNote =
        "outputs require gradients: their scalar loss is compared, the gradients themselves are not; compare the joint "
        "or the backward graph for those";
    const auto left = scalarLoss(results.ref.outputs, results.refLosses, m_ops),
               right = scalarLoss(results.res.outputs, results.resLosses, m_ops);
    if (!left || !right) {
      m_report.backwardNote += fmt::format(" (no loss: {})", (left ? right : left).error().message);
      return;
    }
    const auto truth = fp64 != nullptr ? scalarLoss(fp64->outputs, results.truthLosses, m_ops) : Result<Value>(Value());
    SameReport rows = sameNamed("loss", *left, *right, truth ? *truth : Value(), m_options.sameOptions());
    verdict.same = verdict.same && rows.same;
    const auto place =
        std::ranges::find_if(verdict.outputs, [](const OutputVerdict& row) { return row.kind != ResultKind::Output; });
    verdict.outputs.insert(place, rows.outputs.begin(), rows.outputs.end());
  }

  Result<RunResults> interpretFp64(const GraphModule& module, Results& results) const {
    const OnOutput taker = takerOf(results);
    KERF_TRY(Float64Run run, Float64Run::start(module, m_ops, m_inputs, m_names, taker, m_stop, results.settled));
    return run.finish();
  }

  /// The fp64 reference, or nothing and a note that says why there is none; an error where one is required. It is the
  /// last run: its outputs are twice as large, and a compiled side that fails needs none.
  Result<std::optional<RunResults>> runFp64(Results& results, bool inputsIntact) {
    if (!m_options.useFp64 || !inputsIntact) {
      m_report.fp64Note = m_options.useFp64 ? "the compiled side wrote into inputs" : "fp64 reference switched off";
      return std::nullopt;
    }
    KERF_TRY(const GraphModule own, withOwnAttributes(results.before, m_names.attributes));
    auto run = interpretFp64(own, results);
    if (!run && run.error().code != ErrorCode::Cancelled) {
      KERF_CHECK(startOver(results));
      auto wide = interpretFp64(withFloat64Types(own), results);
      if (wide) run = std::move(wide);  // else the first error tells more
    }
    m_report.haveFp64 = run.has_value();
    if (run) return std::optional(std::move(*run));
    if (run.error().code == ErrorCode::Cancelled) return fail(run.error());
    run.error().while_("computing the fp64 reference");
    if (m_options.requireFp64) return fail(run.error());
    m_report.fp64Note = run.error().text();
    KERF_CHECK(startOver(results));
    return std::nullopt;
  }

  Result<RunResults> runCompiled(const RunModel& compiled) const {
    RunResults run;
    KERF_TRY(run.inputs, inputsForRun(m_inputs, m_names));
    const AutocastScope autocast;  // as every run begins
    const RandomScope random;
    KERF_TRY(run.outputs, compiled(run.inputs));
    run.attributes = attributesOf(m_reference);
    return run;
  }

  const GraphModule& m_reference;
  const OpCaller& m_ops;
  const ValueList& m_inputs;
  const CompareOptions& m_options;
  std::stop_token m_stop;
  ResultNames m_names;
  bool m_wantsLoss;
  bool m_isLean;  ///< the fp64 reference is computed where rule 5 asks for it only
  ComparisonReport m_report;
};

}  // namespace

Result<ComparisonReport> sameTwoModels(const GraphModule& reference, const OpCaller& ops, const RunModel& compiled,
                                       const ValueList& inputs, const CompareOptions& options, std::stop_token stop) {
  return TwoModels(reference, ops, inputs, options, std::move(stop), false).compare(compiled);
}

Result<ComparisonReport> sameTwoModelsLean(const GraphModule& reference, const OpCaller& ops, const RunModel& compiled,
                                           const ValueList& inputs, const CompareOptions& options,
                                           std::stop_token stop) {
  return TwoModels(reference, ops, inputs, options, std::move(stop), true).compare(compiled);
}

}  // namespace kerf::inline accuracy
