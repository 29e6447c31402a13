#include "ui/shell/work_places.h"

#include <algorithm>

#include <QButtonGroup>
#include <QDockWidget>
#include <QHBoxLayout>
#include <QStackedWidget>
#include <QToolButton>

namespace kerf::ui::inline shell {
namespace {

struct PlaceTitle {
  const char *name, *title, *tip;
};
constexpr PlaceTitle placeTitles[workPlaces] = {
    {"placeOverview", "Overview", "What happened in this capture  (Alt+1)"},
    {"placeGraph", "Graph", "The graph with its text, differences and code  (Alt+2)"},
    {"placeNumbers", "Numbers", "Accuracy, values, bisection and partition  (Alt+3)"},
    {"placeReduce", "Reduce", "Minify the failing graph, and what the store holds  (Alt+4)"}};

QWidget* row(const char* name) {
  auto* widget = new QWidget;
  widget->setObjectName(name);
  auto* layout = new QHBoxLayout(widget);
  layout->setContentsMargins(4, 0, 4, 0);
  layout->setSpacing(2);
  return widget;
}

}  // namespace

WorkPlaces::WorkPlaces(QDockWidget& dock, QObject* parent)
    : QObject(parent),
      m_dock(dock),
      m_stack(new QStackedWidget),
      m_panelButtons(row("panelButtons")),
      m_placeButtons(row("placeButtons")),
      m_placeGroup(new QButtonGroup(this)) {
  // Whatever is in it, the height is the user's.
  m_stack->setMinimumSize(1, 90);
  m_dock.setWidget(m_stack);
  buildPlaces();
}

void WorkPlaces::buildPlaces() {
  for (int i = 0; i < workPlaces; ++i) {
    auto* button = new QToolButton;
    button->setObjectName(placeTitles[i].name);
    button->setText(tr(placeTitles[i].title));
    button->setToolTip(tr(placeTitles[i].tip));
    button->setAccessibleName(tr(placeTitles[i].title));
    button->setCheckable(true);
    button->setFocusPolicy(Qt::TabFocus);
    m_placeGroup->addButton(button, i);
    m_placeButtons->layout()->addWidget(button);
  }
  m_placeGroup->button(int(m_place))->setChecked(true);
  connect(m_placeGroup, &QButtonGroup::idClicked, this, [this](int id) { go(WorkPlace(id)); });
}

void WorkPlaces::add(Panel panel) {
  const int index = int(m_panels.size());
  auto* button = new QToolButton;
  button->setObjectName("open_" + panel.name);
  button->setText(panel.title);
  button->setAccessibleName(panel.title);
  button->setToolTip(tr("Open or close the panel %1").arg(panel.title));
  button->setCheckable(true);
  button->setFocusPolicy(Qt::TabFocus);
  m_panelButtons->layout()->addWidget(button);
  connect(button, &QToolButton::clicked, this, [this, index] { press(index); });
  panel.widget->setMinimumSize(1, 1);
  m_stack->addWidget(panel.widget);
  for (const auto place : panel.places)
    if (place != WorkPlace::Overview && m_current[int(place)] < 0) m_current[int(place)] = index;
  m_panels.push_back(std::move(panel));
  m_buttons.push_back(button);
}

QStringList WorkPlaces::names() const {
  QStringList names;
  for (const auto& panel : m_panels) names << panel.name;
  return names;
}

int WorkPlaces::indexOf(const QString& name) const {
  const auto found = std::ranges::find(m_panels, name, &Panel::name);
  return found == m_panels.end() ? -1 : int(found - m_panels.begin());
}

QString WorkPlaces::title(const QString& name) const {
  const int index = indexOf(name);
  return index < 0 ? QString() : m_panels[std::size_t(index)].title;
}

QAbstractButton* WorkPlaces::buttonOf(const QString& name) const {
  const int index = indexOf(name);
  return index < 0 ? nullptr : m_buttons[std::size_t(index)];
}

bool WorkPlaces::belongs(int panel, WorkPlace place) const {
  return std::ranges::find(m_panels[std::size_t(panel)].places, place) != m_panels[std::size_t(panel)].places.end();
}

bool WorkPlaces::raise(const QString& name) {
  const int index = indexOf(name);
  if (index < 0) return false;
  const auto& panel = m_panels[std::size_t(index)];
  if (panel.hasContent && !panel.hasContent()) m_asked.insert(index);
  const auto place = belongs(index, m_place) ? m_place : panel.places.front();
  m_current[int(place)] = index;
  m_open[int(place)] = true;
  go(place);
  return true;
}

void WorkPlaces::go(WorkPlace place) {
  m_place = place;
  m_placeGroup->button(int(place))->setChecked(true);
  show(m_open[int(place)] ? m_current[int(place)] : -1);
  emit placeChanged();
}

void WorkPlaces::show(int panel) {
  if (panel >= 0) m_stack->setCurrentIndex(panel);
  m_dock.setVisible(panel >= 0);
  refresh();
}

/// A second press closes it.
void WorkPlaces::press(int panel) {
  auto& open = m_open[int(m_place)];
  auto& current = m_current[int(m_place)];
  open = !(open && current == panel);
  current = panel;
  show(open ? panel : -1);
}

void WorkPlaces::close() {
  m_open[int(m_place)] = false;
  show(-1);
}

QString WorkPlaces::open() const {
  const int current = m_current[int(m_place)];
  return m_open[int(m_place)] && current >= 0 ? m_panels[std::size_t(current)].name : QString();
}

void WorkPlaces::refresh() {
  const auto opened = open();
  for (std::size_t i = 0; i < m_panels.size(); ++i) {
    const auto& panel = m_panels[i];
    const bool shown = !panel.hasContent || m_asked.contains(int(i)) || panel.name == opened || panel.hasContent();
    m_buttons[i]->setVisible(shown && belongs(int(i), m_place) && m_placeButtons->isEnabled());
    m_buttons[i]->setChecked(panel.name == opened);
  }
}

void WorkPlaces::setEnabled(bool enabled) {
  m_placeButtons->setEnabled(enabled);
  m_panelButtons->setEnabled(enabled);
  if (!enabled) m_dock.hide();
  if (enabled) show(m_open[int(m_place)] ? m_current[int(m_place)] : -1);
  refresh();
}

}  // namespace kerf::ui::inline shell
