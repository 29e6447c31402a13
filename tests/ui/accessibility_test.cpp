// What people need who use the keyboard, a screen reader, a small screen, or see colours otherwise.
#include <array>
#include <cmath>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAbstractItemView>
#include <QAccessible>
#include <QAction>
#include <QDialog>
#include <QDockWidget>
#include <QLabel>
#include <QLineEdit>
#include <QScrollBar>
#include <QTabBar>
#include <QTreeView>

#include "tests/ui/window_fixture.h"
#include "ui/graph_view/graph_colors.h"
#include "ui/models/theme.h"
#include "ui/panels/accuracy_panel.h"
#include "ui/panels/captures_panel.h"
#include "ui/panels/inspector_panel.h"
#include "ui/panels/minify_panel.h"
#include "ui/panels/passes_panel.h"
#include "ui/shell/search_box.h"

namespace kerf::ui {
namespace {

class WindowAccess : public Window {};

std::string pathOf(const QWidget* widget) {
  std::string path;
  for (; widget != nullptr; widget = widget->parentWidget())
    path = std::string(widget->metaObject()->className()) + "#" + widget->objectName().toStdString() + "/" + path;
  return path;
}

TEST_F(WindowAccess, EveryWidgetThatTakesTheFocusHasAName) {
  openSample();
  m_window->actions()["help"]->trigger();
  int asked = 0;
  for (const auto* widget : m_window->findChildren<QWidget*>()) {
    const bool label = qobject_cast<const QLabel*>(widget) != nullptr;                // these speak their text
    const bool spare = qobject_cast<const QTabBar*>(widget) && !widget->isVisible();  // docks keep some for later
    if (widget->focusPolicy() == Qt::NoFocus || widget->objectName().startsWith("qt_") || label || spare) continue;
    auto* spoken = QAccessible::queryAccessibleInterface(const_cast<QWidget*>(widget));
    ASSERT_NE(spoken, nullptr) << pathOf(widget);
    EXPECT_FALSE(spoken->text(QAccessible::Name).trimmed().isEmpty()) << pathOf(widget);
    ++asked;
  }
  EXPECT_GT(asked, 40);
}

/// What a screen reader finds when it walks the window, as the bus has it.
class SpokenTree {
 public:
  void walk(QAccessibleInterface* spoken, const std::string& path) {
    if (spoken == nullptr || !spoken->isValid() || spoken->state().invisible) return;
    const auto role = spoken->role();
    const auto here = path + "/" + std::to_string(int(role)) + ":" + spoken->text(QAccessible::Name).toStdString();
    if (isControl(role)) {
      ++controls;
      const auto* widget = qobject_cast<const QWidget*>(spoken->object());
      if (spoken->text(QAccessible::Name).trimmed().isEmpty()) nameless.insert(widget ? pathOf(widget) : here);
    }
    if (role == QAccessible::Table || role == QAccessible::Tree || role == QAccessible::List) return;  // texts of rows
    if (role == QAccessible::ComboBox || role == QAccessible::SpinBox) return;                         // one control
    for (int i = 0; i < spoken->childCount(); ++i) walk(spoken->child(i), here);
  }

  std::set<std::string> nameless;
  int controls = 0;

 private:
  static bool isControl(QAccessible::Role role) {
    static const std::set<QAccessible::Role> roles{
        QAccessible::PushButton, QAccessible::ButtonMenu, QAccessible::CheckBox, QAccessible::RadioButton,
        QAccessible::ComboBox,   QAccessible::SpinBox,    QAccessible::Slider,   QAccessible::EditableText,
        QAccessible::PageTab,    QAccessible::MenuItem,   QAccessible::Table,    QAccessible::Tree,
        QAccessible::List};
    return roles.contains(role);
  }
};

TEST_F(WindowAccess, EveryControlThatAScreenReaderFindsHasAName) {
  openSample();
  session().selectNode(QString("relu"));
  SpokenTree tree;
  for (const auto& name : m_window->panelNames()) {
    m_window->raisePanel(name);
    QApplication::processEvents();
    tree.walk(QAccessible::queryAccessibleInterface(m_window.get()), {});
  }
  m_window->minifyPanel().askSettings();
  m_window->actions()["shortcuts"]->trigger();
  QApplication::processEvents();
  for (auto* dialog : m_window->findChildren<QDialog*>()) {
    EXPECT_TRUE(dialog->isVisible());
    tree.walk(QAccessible::queryAccessibleInterface(dialog), {});
    dialog->close();
  }
  EXPECT_GT(tree.controls, 100);
  for (const auto& each : tree.nameless) ADD_FAILURE() << each;
}

TEST_F(WindowAccess, TabReachesTheSearchTheGraphAndEveryDock) {
  openSample();
  m_window->activateWindow();
  m_window->pane().view().setFocus();
  std::set<const QWidget*> reached;
  for (int i = 0; i < 400; ++i) {
    auto* now = QApplication::focusWidget();
    if (now == nullptr || !reached.insert(now).second) break;
    QTest::keyClick(now, Qt::Key_Tab);
  }
  EXPECT_TRUE(reached.contains(&m_window->searchBox().edit()));
  EXPECT_TRUE(reached.contains(&m_window->capturesPanel().tree()));
  EXPECT_GT(reached.size(), 8u);
}

/// Qt makes the first row the current one of a list that takes the focus.
TEST_F(WindowAccess, ToComeByWithTabIsNotToPickARow) {
  openSample();
  m_window->activateWindow();
  session().selectNode(QString("relu"));
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  const auto before = session().location().place();
  int lists = 0;
  for (auto* view : m_window->findChildren<QAbstractItemView*>()) {
    auto* dock = view->parentWidget();
    while (dock && !qobject_cast<QDockWidget*>(dock)) dock = dock->parentWidget();
    if (!dock || !view->model() || view->model()->rowCount() == 0) continue;
    for (const auto& name : m_window->panelNames()) {
      if (view->isVisible()) break;
      m_window->raisePanel(name);
      QApplication::processEvents();
    }
    if (!view->isVisible()) continue;
    view->clearFocus();
    view->reset();  // no current row
    view->setFocus(Qt::TabFocusReason);
    QApplication::processEvents();
    EXPECT_EQ(session().location().place(), before) << pathOf(view);
    if (dynamic_cast<DataTable*>(view) || view->objectName() == "captures") {
      EXPECT_FALSE(view->currentIndex().isValid()) << pathOf(view);  // else a click on the first row would do nothing
    }
    EXPECT_EQ(session().nodeDoc() ? session().nodeDoc()->name : "", "relu") << pathOf(view);
    ++lists;
  }
  EXPECT_GE(lists, 4);
}

TEST_F(WindowAccess, LettersThatAreTypedAreNoShortcuts) {
  openSample();
  int triggered = 0;
  for (auto* action : m_window->actions().all())
    QObject::connect(action, &QAction::triggered, m_window.get(), [&triggered] { ++triggered; });
  const QString letters = "fcdphjk012[]-+=/";
  m_window->activateWindow();
  int typed = 0;
  for (const auto& name : m_window->panelNames()) {
    m_window->raisePanel(name);
    for (auto* edit : m_window->findChildren<QLineEdit*>()) {
      if (!edit->isVisible() || !edit->isEnabled() || edit->isReadOnly()) continue;
      edit->setFocus();
      edit->clear();
      QTest::keyClicks(edit, letters);
      ++typed;
    }
  }
  auto& search = m_window->searchBox().edit();
  search.setFocus();
  search.clear();
  QTest::keyClicks(&search, letters);
  EXPECT_EQ(search.text(), letters);
  EXPECT_GT(typed, 1);
  EXPECT_EQ(triggered, 0);
}

TEST_F(WindowAccess, FitsASmallScreen) {
  openSample();
  for (const auto& name : m_window->panelNames()) m_window->raisePanel(name);
  QTest::qWait(10);
  const auto least = m_window->minimumSizeHint();
  EXPECT_LE(least.width(), 1366);
  EXPECT_LE(least.height(), 768);
  m_window->resize(1366, 768);
  m_window->arrange();
  QTest::qWait(10);
  EXPECT_EQ(m_window->size(), QSize(1366, 768));
  EXPECT_GE(m_window->pane().view().width(), 500);
  EXPECT_GE(m_window->pane().view().height(), 250);
}

TEST_F(WindowAccess, OnASmallScreenNothingIsCutOrPushedAside) {
  m_window->resize(1366, 768);
  m_window->arrange();
  openSample();
  m_window->accuracyPanel().plant().setPlant("relu=accuracy");
  m_window->raisePanel("accuracy");
  const int inspector = m_window->inspectorPanel().width();
  m_window->actions()["compare"]->trigger();
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  QTest::qWait(20);
  EXPECT_EQ(m_window->width(), 1366);
  EXPECT_EQ(m_window->inspectorPanel().width(), inspector) << "the verdict pushes nothing aside";
  EXPECT_TRUE(m_window->accuracyPanel().verdict().contains("first bad: relu"));
  int bars = 0;
  for (const auto* bar : m_window->findChildren<QTabBar*>()) {
    if (bar->parent() != m_window.get() || !bar->isVisible()) continue;
    const auto last = bar->tabRect(bar->count() - 1);
    EXPECT_LE(last.right(), bar->width()) << bar->tabText(bar->count() - 1).toStdString();
    ++bars;
  }
  EXPECT_GE(bars, 1);
  m_window->raisePanel("passes");
  QTest::qWait(20);
  const auto& passes = m_window->passesPanel().table();
  EXPECT_EQ(passes.horizontalScrollBar()->maximum(), 0) << "all columns are seen";
}

/// A colour as somebody sees it whose eye lacks one kind of cone (Viénot, Brettel and Mollon 1999), linear light.
std::array<double, 3> seenWithout(const QColor& color, bool red) {
  const auto linear = [](double value) { return std::pow(value, 2.2); };
  const double r = linear(color.redF()), g = linear(color.greenF()), b = linear(color.blueF());
  const double one = red ? 0.11238 * r + 0.88762 * g : 0.29275 * r + 0.70725 * g;
  const double blue = red ? 0.00401 * r - 0.00401 * g + b : -0.02234 * r + 0.02234 * g + b;
  return {one, one, blue};
}

double apart(const QColor& one, const QColor& other, bool red) {
  const auto a = seenWithout(one, red), b = seenWithout(other, red);
  double sum = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const double difference = std::pow(std::max(0.0, a[i]), 1 / 2.2) - std::pow(std::max(0.0, b[i]), 1 / 2.2);
    sum += difference * difference;
  }
  return std::sqrt(sum);
}

double luminance(const QColor& color) {
  const auto linear = [](double value) {
    return value <= 0.03928 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
}

/// As WCAG has it, from 1 to 21.
double contrast(const QColor& one, const QColor& other) {
  const double a = luminance(one), b = luminance(other);
  return (std::max(a, b) + 0.05) / (std::min(a, b) + 0.05);
}

TEST(Colours, OfTextAndEdgesStandOutFromEveryGround) {
  EXPECT_NEAR(contrast(Qt::black, Qt::white), 21, 1e-9);
  for (const bool dark : {false, true}) {
    setTheme(dark);
    const auto& look = theme();
    const QColor grounds[] = {look.window, look.base, look.raised, look.canvas};
    for (const auto& ground : grounds) {
      for (const auto& text : {look.text, look.muted, look.accent, look.good, look.warn, look.bad})
        EXPECT_GE(contrast(text, ground), 4.5) << text.name().toStdString() << " on " << ground.name().toStdString();
      for (const auto& edge : {look.edge, look.faint, quietEdge()})
        EXPECT_GE(contrast(edge, ground), 3) << edge.name().toStdString() << " on " << ground.name().toStdString();
      for (const auto& kind : look.kinds) EXPECT_GE(contrast(kind, ground), 3) << kind.name().toStdString();
    }
    for (const auto& text : {look.text, look.muted}) EXPECT_GE(contrast(text, look.selection), 4.5);
    EXPECT_GE(contrast(look.onAccent, look.accent), 4.5);
    EXPECT_GE(contrast(look.bad, look.badFill), 4.5);
    EXPECT_GE(contrast(look.palette().color(QPalette::PlaceholderText), look.base), 4.5);
    const auto onBadge = look.dark ? look.window : look.base;
    for (const auto& badge : {look.good, look.warn, look.bad, look.accent}) EXPECT_GE(contrast(onBadge, badge), 4.5);
  }
  setTheme(false);
}

TEST(Colours, OfTheScaleOfErrorsAreToldApartByEveryEye) {
  for (const bool dark : {false, true}) {
    setTheme(dark);
    const QColor good = theme().heat(0), near = theme().heat(0.9), bad = theme().heat(2);
    for (const bool red : {true, false}) {
      EXPECT_GT(apart(good, bad, red), 0.25) << "dark " << dark << " red " << red;
      EXPECT_GT(apart(good, near, red), 0.25) << "dark " << dark << " red " << red;
    }
  }
  setTheme(false);
}

}  // namespace
}  // namespace kerf::ui
