#include "ui/panels/stage_strip.h"

#include <QHBoxLayout>
#include <QMenu>
#include <QToolButton>
#include <QVBoxLayout>

namespace kerf::ui::inline panels {

StageStrip::StageStrip(Session& session, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_lanes(new StageLanes),
      m_verify(new QToolButton),
      m_baseline(new QToolButton) {
  setObjectName("stageStrip");
  setAttribute(Qt::WA_StyledBackground);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 8, 0);
  row->setSpacing(6);
  auto* buttons = new QVBoxLayout;
  buttons->setContentsMargins(0, 3, 0, 3);
  buttons->setSpacing(1);
  for (auto* button : {m_baseline, m_verify}) {
    button->setToolButtonStyle(Qt::ToolButtonTextOnly);
    button->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    buttons->addWidget(button);
  }
  row->addWidget(m_lanes, 1);
  row->addLayout(buttons);
  m_verify->setObjectName("verifyStages");
  m_baseline->setObjectName("baseline");
  m_baseline->setPopupMode(QToolButton::InstantPopup);
  auto* menu = new QMenu(m_baseline);
  menu->addAction(tr("The stage before"), this, [this] { m_session.compareWith({}); });
  menu->addAction(tr("Another graph…"), this, &StageStrip::compareWithRequested);
  m_baseline->setMenu(menu);
  connect(m_lanes, &StageLanes::cellPicked, this, &StageStrip::go);
  connect(m_verify, &QToolButton::clicked, this, [this] {
    const auto verified = m_session.verified();
    verified && verified->running ? m_session.cancelVerify() : m_session.verifyStages();
  });
  for (const auto signal : {&Session::stagesChanged, &Session::compiledChanged, &Session::locationChanged,
                            &Session::verifiedChanged, &Session::differenceChanged})
    connect(&session, signal, this, &StageStrip::showStages);
  showStages();
}

void StageStrip::go(int lane, int cell) {
  const auto& picked = m_lanes->lanes()[std::size_t(lane)].cells[std::size_t(cell)];
  if (picked.record >= 0) return m_session.showRecord(picked.place.capture, picked.record);
  m_session.scrubTo(picked.place);
}

void StageStrip::showStages() {
  setVisible(m_wanted && m_session.location().capture >= 0);
  m_lanes->setLanes(stageLanes(m_session));
  showButtons();
}

void StageStrip::setWanted(bool wanted) {
  m_wanted = wanted;
  setVisible(m_wanted && m_session.location().capture >= 0);
}

void StageStrip::showButtons() {
  const auto verified = m_session.verified();
  const auto recorded = m_session.recordedStages();
  const bool running = verified && verified->running;
  m_verify->setVisible(recorded && recorded->stages.size() > 1);
  m_verify->setText(running ? tr("Stop verifying") : tr("Verify stages"));
  m_verify->setToolTip(running ? verified->progress
                               : tr("Compare the results of every recorded stage with those of the stage before it"));
  const auto difference = m_session.difference();
  const bool chosen = m_session.chosenBaseline().has_value();
  m_baseline->setText(chosen ? tr("Compared with…") : tr("Compare with…"));
  m_baseline->setToolTip(difference ? tr("Compared with %1").arg(difference->title)
                                    : tr("What the shown graph is compared with"));
}

}  // namespace kerf::ui::inline panels
