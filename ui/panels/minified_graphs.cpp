#include "ui/panels/minified_graphs.h"

#include <QLabel>
#include <QSplitter>
#include <QVBoxLayout>

#include "ui/models/format.h"
#include "ui/panels/candidate_view.h"

namespace kerf::ui::inline panels {
namespace {

/// Names of nodes in the graph that passes and in the one that fails.
struct EditMarks {
  QSet<QString> gone, fresh;    ///< that only one of them has
  QSet<QString> before, after;  ///< that the other has otherwise
};

void add(QSet<QString>& set, const std::vector<std::string>& names) {
  for (const auto& name : names) set.insert(QString::fromStdString(name));
}

EditMarks editMarks(const workbench::GraphDifference& difference) {
  EditMarks marks;
  add(marks.gone, difference.removed);
  add(marks.fresh, difference.added);
  for (const auto& rewrite : difference.rewritten) {
    add(marks.before, rewrite.before);
    add(marks.after, rewrite.after);
  }
  QHash<QString, QString> earlier;
  for (const auto& [before, after] : difference.renamed)
    earlier.insert(QString::fromStdString(after), QString::fromStdString(before));
  for (const auto* changes : {&difference.changed, &difference.metaChanged})
    for (const auto& change : *changes) {
      const auto name = QString::fromStdString(change.name);
      marks.after.insert(name);
      marks.before.insert(earlier.value(name, name));
    }
  return marks;
}

}  // namespace

MinifiedGraphs::MinifiedGraphs(Session& session, QWidget* parent)
    : QWidget(parent),
      m_failing(new CandidateView(session, "candidate", tr("The smallest graph that fails appears here"))),
      m_passing(new CandidateView(session, "passing", tr("The nearest graph that passes appears here"))),
      m_edit(new QLabel) {
  auto* both = new QSplitter(Qt::Horizontal);
  both->addWidget(m_failing);
  both->addWidget(m_passing);
  both->setChildrenCollapsible(false);
  m_edit->setObjectName("quiet");
  m_edit->setWordWrap(true);
  m_edit->setContentsMargins(10, 4, 10, 4);
  m_edit->setMinimumWidth(1);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(both, 1);
  column->addWidget(m_edit);
  setMinified(nullptr);
}

QString MinifiedGraphs::edit() const { return m_edit->text(); }

void MinifiedGraphs::setMinified(const MinifyDoc* doc) {
  const bool running = doc && doc->state == MinifyDoc::State::Running;
  m_failing->setGraph(doc ? doc->candidate : nullptr, running ? tr("Fails still") : tr("Fails"));
  const auto neighbour = doc ? doc->neighbour : nullptr;
  const bool found = neighbour && neighbour->found;
  m_passing->setVisible(found);
  m_edit->setVisible(neighbour != nullptr);
  m_passing->setGraph(found ? neighbour->graph : nullptr, tr("Passes"));
  if (neighbour && !found)
    m_edit->setText(tr("No passing graph is one edit away: each of them fails differently or cannot be tested."));
  if (!neighbour) m_edit->clear();
  if (!found) return m_failing->setMarks({}, {});
  m_edit->setText(tr("One edit apart (%1): %2").arg(text(neighbour->reduction), text(neighbour->description)));
  m_edit->setToolTip(text(neighbour->difference.text));
  const auto marks = editMarks(neighbour->difference);
  m_passing->setMarks(marks.gone, marks.before);
  m_failing->setMarks(marks.fresh, marks.after);
}

QString workersText(const MinifyDoc& doc) {
  QStringList parts;
  if (doc.underWay > 0) parts << MinifiedGraphs::tr("%1 under way").arg(doc.underWay);
  for (std::size_t i = 0; i < doc.workers.size(); ++i) {
    const auto& worker = doc.workers[i];
    if (worker.queries == 0) continue;
    parts << MinifiedGraphs::tr("worker %1: %2 asked, the last %3 (%4)")
                 .arg(i + 1)
                 .arg(formatCount(worker.queries), text(worker.verdict).replace('_', ' '),
                      formatSeconds(worker.seconds));
  }
  return parts.join("  ·  ");
}

}  // namespace kerf::ui::inline panels
