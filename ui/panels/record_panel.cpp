#include "ui/panels/record_panel.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

namespace kerf::ui::inline panels {

RecordPanel::RecordPanel(Session& session, QWidget* parent)
    : QWidget(parent), m_session(session), m_title(new QLabel), m_detail(new QLabel), m_code(new CodeView) {
  m_title->setObjectName("stripTitle");
  m_detail->setObjectName("quiet");
  for (auto* label : {m_title, m_detail}) label->setTextFormat(Qt::PlainText);
  auto* head = new QHBoxLayout;
  head->setContentsMargins(12, 6, 8, 6);
  head->addWidget(m_title);
  head->addWidget(m_detail);
  head->addStretch(1);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(head);
  column->addWidget(m_code, 1);
  m_code->setAccessibleName(tr("Record"));
  connect(&session, &Session::recordChanged, this, &RecordPanel::showRecord);
  showRecord();
}

QString RecordPanel::title() const { return m_title->text(); }

void RecordPanel::showRecord() {
  const auto record = m_session.record();
  m_title->setText(record ? record->title : QString());
  m_detail->setText(record ? record->detail : QString());
  m_code->setHint(record ? tr("This record has no text.")
                         : tr("Choose a record of a trace or a file of a debug folder in the capture tree."));
  m_code->setCode(record ? record->text : QString());
}

}  // namespace kerf::ui::inline panels
