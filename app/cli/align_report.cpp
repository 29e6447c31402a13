#include "app/cli/align_report.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "app/cli/numbers.h"
#include "app/cli/text_table.h"

namespace kerf::cli {

namespace {

using namespace workbench;

constexpr std::size_t listedSteps = 6;
constexpr std::size_t listedRows = 20;

std::string stepsText(const std::vector<AlignedStep>& steps) {
  if (steps.empty()) return "–";
  std::string text;
  for (std::size_t i = 0; i < std::min(steps.size(), listedSteps); ++i) {
    text += (i == 0 ? "" : ", ") + steps[i].name;
    if (!steps[i].op.empty() && steps[i].op != steps[i].name && !steps[i].name.starts_with(steps[i].op + " #"))
      text += " (" + steps[i].op + ")";
  }
  if (steps.size() > listedSteps) text += fmt::format(" and {} more", steps.size() - listedSteps);
  return text;
}

/// The line and module of the last step that has them: that is where results come from.
std::string placeText(const AlignedRow& row) {
  for (const auto* steps : {&row.b, &row.a})
    for (auto step = steps->rbegin(); step != steps->rend(); ++step) {
      std::string text = step->module.empty() ? "" : "in " + step->module;
      if (!step->source.empty()) text += (text.empty() ? "" : ", ") + step->source;
      if (!text.empty()) return text;
    }
  return {};
}

std::string partsText(const AlignedRow& row) {
  const std::vector<std::string>* parts = nullptr;
  for (const auto* steps : {&row.a, &row.b})
    for (const AlignedStep& step : *steps)
      if (step.parts.size() > 1) parts = &step.parts;
  return parts == nullptr ? std::string() : fmt::format("one of {}", fmt::join(*parts, ", "));
}

/// "     from float64: A 1.2e-08, B 0.0034; same() refuses B: …".
std::string fp64Text(const Fp64Distance& distance) {
  if (distance.reference.empty())
    return distance.reason.empty() ? std::string() : fmt::format("     not run in float64: {}\n", distance.reason);
  const auto number = [](double far) { return far < 0 ? std::string("not comparable") : fmt::format("{:.3g}", far); };
  return fmt::format("     from float64: A {}, B {}; same() {}{}\n", number(distance.a), number(distance.b),
                     distance.same ? "takes B for A" : "refuses B",
                     distance.reason.empty() ? "" : ": " + distance.reason);
}

/// "     ulp: 0: 30, up to 1: 2, more than 1024: 1".
std::string ulpsText(const std::vector<std::int64_t>& ulps) {
  constexpr std::string_view upTo[] = {"0", "1", "2", "4", "8", "64", "1024"};
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < ulps.size(); ++i) {
    if (ulps[i] == 0) continue;
    parts.push_back(i < std::size(upTo) ? fmt::format("{}{}: {}", i == 0 ? "" : "up to ", upTo[i], ulps[i])
                                        : fmt::format("more: {}", ulps[i]));
  }
  return parts.empty() ? std::string() : fmt::format("     elements by ulp: {}\n", fmt::join(parts, ", "));
}

std::string rowText(const AlignedRow& row) {
  std::string text = fmt::format("  A  {}\n  B  {}\n", stepsText(row.a), stepsText(row.b));
  if (const std::string place = placeText(row); !place.empty()) text += fmt::format("     {}\n", place);
  if (const std::string parts = partsText(row); !parts.empty()) text += fmt::format("     computes {}\n", parts);
  text += fmt::format("     inputs {}\n     results {}\n", row.inputsText, row.outputsText);
  if (row.own >= 0)
    text += fmt::format("     run again on what each took: {:.3g} of it is the step's own, and rounding makes {:.3g}\n",
                        row.own, row.allowed);
  text += ulpsText(row.ulps) + fp64Text(row.fp64);
  if (!row.cause.empty()) text += fmt::format("     may come from {}\n", row.cause);
  if (!row.evidence.empty()) text += fmt::format("     belong together by {}\n", row.evidence);
  return text;
}

const AlignedRow* rowOf(const AlignDoc& doc, int pair) {
  const auto found = std::ranges::find(doc.rows, pair, &AlignedRow::pair);
  return found == doc.rows.end() ? nullptr : &*found;
}

std::string verdictText(const AlignDoc& doc, bool exact) {
  if (doc.verdict == "same") return "the same: every value that both recorded is equal\n";
  if (doc.verdict == "unknown")
    return "not known: the recordings have no values that can be compared. DebugMode records them with "
           "DebugMode.log_tensor_hashes(hash_inputs=True), kerf record with --values stats\n";
  if (doc.verdict == "rounding")
    return exact ? "different bits: values differ by rounding only\n" : "rounding only: no step is wrong\n";
  return doc.first < 0 ? "different: inputs differ from the start\n"
                       : "different: the first step with equal inputs and unequal results\n";
}

std::string firstText(const AlignDoc& doc) {
  std::string text;
  const AlignedRow* first = rowOf(doc, doc.first);
  if (first != nullptr) text += rowText(*first);
  if (first != nullptr && first->reachesBack >= 0)
    if (const AlignedRow* back = rowOf(doc, first->reachesBack))
      text +=
          "or an earlier one, since the sum of a softmax's results is the same whatever they are:\n" + rowText(*back);
  if (doc.firstUnequal >= 0 && doc.firstUnequal != doc.first)
    if (const AlignedRow* unequal = rowOf(doc, doc.firstUnequal))
      text += "the first with other bits:\n" + rowText(*unequal);
  return text;
}

std::string reproText(const AlignDoc& doc) {
  std::string text;
  if (!doc.repro.empty()) text += fmt::format("the step alone: {}\n", doc.repro);
  if (!doc.reproSays.empty()) text += fmt::format("fails there with {}\n", doc.reproSays);
  if (!doc.reproNote.empty()) text += fmt::format("{}\n", doc.reproNote);
  if (doc.minified)
    text += fmt::format("minified: {} → {} nodes, {} ({})\n", doc.minified->startNodes, doc.minified->nodes,
                        doc.minified->repro, doc.minified->reproId);
  return text;
}

std::string sideText(char letter, const AlignedSide& side) {
  std::string text = fmt::format("{}  {}", letter, side.path);
  if (!side.part.empty()) text += "#" + side.part;
  text += fmt::format("  {}, {}, {} with values\n", side.kind, counted(side.steps, "step"), side.measured);
  for (const auto& note : side.notes) text += fmt::format("   note: {}\n", note);
  return text;
}

}  // namespace

std::string alignmentText(const AlignDoc& doc, bool exact) {
  std::string text = sideText('A', doc.a) + sideText('B', doc.b);
  text += fmt::format(
      "{}: {} the same, {} rounding only, {} wrong, {} follow from those, {} not compared; {} steps only in A, {} only "
      "in B\n\n",
      counted(doc.pairs, "pair"), doc.same, doc.rounding, doc.wrong, doc.follows, doc.unknown, doc.onlyA, doc.onlyB);
  text += verdictText(doc, exact) + firstText(doc);
  std::size_t shown = 0;
  for (const AlignedRow& row : doc.rows) {
    if (row.role != "new") continue;
    if (shown++ == 0) text += "wrong anew, though their inputs agree:\n";
    if (shown <= listedRows) text += rowText(row);
  }
  if (shown > listedRows) text += fmt::format("and {} more\n", shown - listedRows);
  for (const auto& note : doc.notes) text += fmt::format("note: {}\n", note);
  return text + reproText(doc);
}

}  // namespace kerf::cli
