#include "ui/panels/align_text.h"

#include <algorithm>
#include <array>

#include <QCoreApplication>

#include "ui/models/format.h"
#include "ui/models/theme.h"

namespace kerf::ui::inline panels {
namespace {

using workbench::AlignedRow, workbench::AlignedStep, workbench::Fp64Distance;

constexpr std::size_t mostListed = 12;

QString sayAligned(const char* words) { return QCoreApplication::translate("AlignView", words); }

QString escapedStep(const std::string& value) { return text(value).toHtmlEscaped(); }

QString alignedLine(const QString& label, const QString& html) {
  return html.isEmpty() ? QString() : "<tr><td class='quiet'>" + label + "</td><td>" + html + "</td></tr>";
}

QString alignedStepHtml(const AlignedStep& step) {
  QString html = "<code>" + escapedStep(step.name) + "</code>";
  if (!step.op.empty() && step.op != step.name) html += " <span class='quiet'>" + escapedStep(step.op) + "</span>";
  for (const auto* place : {&step.module, &step.source})
    if (!place->empty()) html += "<br><span class='quiet'>" + escapedStep(*place) + "</span>";
  if (step.parts.size() > 1)
    html += "<br><span class='quiet'>" +
            sayAligned("computes one of %1").arg(texts(step.parts).join(", ").toHtmlEscaped()) + "</span>";
  return html;
}

QString alignedStepsHtml(const std::vector<AlignedStep>& steps) {
  QStringList parts;
  for (std::size_t i = 0; i < std::min(steps.size(), mostListed); ++i) parts << alignedStepHtml(steps[i]);
  if (steps.size() > mostListed) parts << sayAligned("and %1 more").arg(steps.size() - mostListed);
  return steps.empty() ? sayAligned("no such step") : parts.join("<br>");
}

/// How many elements are how many units in the last place apart.
QString ulpsHtml(const std::vector<std::int64_t>& ulps) {
  constexpr std::array upTo{"0", "1", "2", "4", "8", "64", "1024"};
  QStringList parts;
  for (std::size_t i = 0; i < ulps.size(); ++i)
    if (ulps[i] > 0)
      parts << QString("%1: %2").arg(i >= upTo.size() ? sayAligned("more")
                                     : i == 0         ? QString("0")
                                                      : sayAligned("up to %1").arg(upTo[i]),
                                     formatCount(ulps[i]));
  return parts.join(", ");
}

QString fp64Html(const Fp64Distance& distance) {
  if (distance.reference.empty())
    return distance.reason.empty() ? QString() : sayAligned("not run: %1").arg(escapedStep(distance.reason));
  const auto far = [](double value) {
    return value < 0 ? sayAligned("not comparable") : QString::number(value, 'g', 3);
  };
  auto html =
      sayAligned("first %1, second %2").arg(far(distance.a), far(distance.b)) + "<br>" +
      (distance.same ? sayAligned("the second is accepted for the first") : sayAligned("the second is refused"));
  return distance.reason.empty() ? html : html + ": " + escapedStep(distance.reason);
}

QString alignVerdict(const AlignmentDoc& doc) {
  if (doc.verdict == "same") return sayAligned("The same: every value that both recorded is equal");
  if (doc.verdict == "unknown") return sayAligned("Not known: the recordings have no values that can be compared");
  if (doc.verdict == "rounding") return sayAligned("Rounding only: no step is wrong");
  const auto* first = doc.rowOf(doc.first);
  if (first == nullptr) return sayAligned("Different: inputs differ from the start");
  const auto& steps = first->b.empty() ? first->a : first->b;
  return sayAligned("Different: the first step with equal inputs and unequal results is %1")
      .arg(steps.empty() ? QString::number(first->pair) : text(steps.back().name));
}

}  // namespace

QString alignmentHeadline(const AlignmentDoc& doc) {
  QStringList counts;
  const std::pair<int, const char*> kinds[] = {
      {doc.same, "%1 the same"},           {doc.rounding, "%1 rounding"},    {doc.wrong, "%1 wrong"},
      {doc.follows, "%1 that follow"},     {doc.unknown, "%1 not compared"}, {doc.onlyA, "%1 only in the first"},
      {doc.onlyB, "%1 only in the second"}};
  for (const auto& [count, words] : kinds)
    if (count > 0) counts << sayAligned(words).arg(formatCount(count));
  return alignVerdict(doc) + "  ·  " + plural(doc.pairs, "pair") + ": " + counts.join(", ");
}

QString alignedRowHtml(const AlignedRow& aligned) {
  const auto style =
      QString("<style>.quiet { color: %1; } code { font-family: '%2'; } td { padding: 2px 10px 2px 0; }</style>")
          .arg(theme().muted.name(), codeFont().family());
  return style + "<table>" + alignedLine(sayAligned("First"), alignedStepsHtml(aligned.a)) +
         alignedLine(sayAligned("Second"), alignedStepsHtml(aligned.b)) +
         alignedLine(sayAligned("Together by"), escapedStep(aligned.evidence)) +
         alignedLine(sayAligned("Inputs"), escapedStep(aligned.inputsText)) +
         alignedLine(sayAligned("Results"), escapedStep(aligned.outputsText)) +
         alignedLine(sayAligned("Elements by ulp"), ulpsHtml(aligned.ulps)) +
         alignedLine(sayAligned("From float64"), fp64Html(aligned.fp64)) +
         alignedLine(sayAligned("May come from"), escapedStep(aligned.cause)) +
         alignedLine(sayAligned("In the graph"), escapedStep(aligned.node)) + "</table>";
}

}  // namespace kerf::ui::inline panels
