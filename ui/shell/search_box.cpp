#include "ui/shell/search_box.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>

#include "ui/models/format.h"

namespace kerf::ui::inline shell {

SearchBox::SearchBox(GraphPane& pane, QWidget* parent)
    : QWidget(parent), m_pane(pane), m_edit(new QLineEdit), m_count(new QLabel) {
  m_edit->setObjectName("search");
  m_edit->setPlaceholderText(tr("Find: words, op:relu users>1 …  (Ctrl+F)"));
  m_edit->setClearButtonEnabled(true);
  m_edit->setMinimumWidth(120);
  m_edit->setMaximumWidth(300);
  m_edit->setAccessibleName(tr("Find nodes"));
  m_edit->installEventFilter(this);
  m_count->setObjectName("quiet");
  m_count->setMinimumWidth(64);
  m_count->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(8);
  row->addWidget(m_count);
  row->addWidget(m_edit);
  connect(m_edit, &QLineEdit::textChanged, &pane, &GraphPane::search);
  connect(&pane, &GraphPane::searchChanged, this, &SearchBox::showCount);
}

void SearchBox::focus() {
  m_edit->setFocus(Qt::ShortcutFocusReason);
  m_edit->selectAll();
}

QString SearchBox::countText() const { return m_count->text(); }

void SearchBox::showCount() {
  const auto& problem = m_pane.searchProblem();
  m_edit->setToolTip(problem);
  m_count->setToolTip(problem);
  if (m_edit->text().trimmed().isEmpty()) return m_count->clear();
  if (!problem.isEmpty()) return m_count->setText(tr("not understood"));
  const auto count = qint64(m_pane.hits().size());
  if (count == 0) return m_count->setText(tr("not found"));
  m_count->setText(m_pane.currentHit() < 0
                       ? plural(count, "match").replace("matchs", "matches")
                       : tr("%1 of %2").arg(formatCount(m_pane.currentHit() + 1), formatCount(count)));
}

bool SearchBox::eventFilter(QObject* watched, QEvent* event) {
  if (watched != m_edit || event->type() != QEvent::KeyPress) return QWidget::eventFilter(watched, event);
  const auto* key = static_cast<QKeyEvent*>(event);
  if (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) {
    m_pane.nextHit(key->modifiers() & Qt::ShiftModifier ? -1 : 1);
    return true;
  }
  if (key->key() == Qt::Key_Escape) {
    m_edit->clear();
    m_pane.view().setFocus();
    return true;
  }
  return QWidget::eventFilter(watched, event);
}

}  // namespace kerf::ui::inline shell
